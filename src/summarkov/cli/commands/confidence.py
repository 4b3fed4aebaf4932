"""``summarkov confidence`` and ``groups``: how sure edges are, and how groups of sequences differ."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from summarkov.cli.commands import add_confidence, add_order_test
from summarkov.cli.files import TABLES, check_output, load_model, save_model, save_table
from summarkov.cli.learned import learned
from summarkov.cli.options import command, make_template
from summarkov.cli.page import Document, Headline, Line, Note, Part, Table, name, progress, sheet, shorten
from summarkov.cli.reading import Reading
from summarkov.errors import SettingError
from summarkov.wording import factor, factor_interval, percent, plural

if TYPE_CHECKING:
    from summarkov.confidence import Difference, Discoveries
    from summarkov.explain import GroupComparison, Influence, SeveralGroups


@command
def confidence(given: Any) -> Document:
    """Say how sure each edge of a graph is: learn it again from resampled events.

    FILE must be what MODEL was learned from. Each of the graphs is learned from
    as many sequences, drawn with replacement; an edge is sure if most have it.

    Options:
    <model>
    <path>
    --graphs -n N  How many graphs to learn. [default: 100]
    --blocks N  Draw blocks of N events in a row instead of sequences. Default for one single sequence.
    --level P  Level of the intervals of ratios. [default: 0.95]
    --rate Q  Instead: test the edges that one half of the sequences proposes on the other half, and keep
        those among which at most this share is false, on average.
    --order-test/--no-order-test  Test too whether each edge depends on order, or whether shuffled cases show
        it. [default: yes]
    <within>
    --seed N  For the random draws. [default: 0]
    <jobs>
    --output -o MODEL  Save the graph with its confidence.
    --pairs TABLE  Write a ranking of every pair of labels, edge or not, as .csv or .parquet: for curves of
        precision and recall.
    <safe-csv>
    <json>
    <opening>
    """
    from summarkov.models import InfluenceGraph
    from summarkov.models.files import confidence_document, order_document

    file, output, pairs, seed = given.file, given.output, given.pairs, given.seed
    if given.rate is not None and output is not None:
        raise SettingError("--rate keeps nothing with the graph; leave out --output")
    if given.rate is not None and pairs is not None:
        raise SettingError("--rate ranks no pairs; leave out --pairs")
    endings = f"one of {', '.join(TABLES)}"
    check_output(pairs, file, given.model, output, endings=endings, safe_csv=given.safe_csv)
    check_output(output, file)  # into the model itself is fine: nothing in it is lost
    graph = load_model(given.model)
    if not isinstance(graph, InfluenceGraph):
        raise SettingError(
            f"{given.model} is a model of one target; confidence is about the edges of a graph"
        )
    graph = graph.set_params(n_jobs=given.jobs)
    with Reading(given).as_learned(graph.layout_).open(file, graph.labels_, jobs=given.jobs) as events:
        if given.rate is not None:
            found = graph.discoveries(events, rate=given.rate, seed=seed, blocks=given.blocks)
            tested = [vars(edge) for edge in found.tested]
            return Document(lambda: {**vars(found), "tested": tested}, _discoveries(found))
        if given.order_test:
            add_order_test(graph, events, within=given.within, seed=seed)
        add_confidence(graph, events, n=given.graphs, blocks=given.blocks, level=given.level, seed=seed)
        if pairs is not None:
            save_table(graph.ranking(events), pairs, safe_csv=given.safe_csv)
    saved = save_model(graph, output)

    def data() -> dict[str, Any]:
        tested = {} if graph.order_ is None else {"order": order_document(graph.order_)}
        assert graph.confidence_ is not None  # it was added
        return {"saved": saved, **confidence_document(graph.confidence_), **tested}

    def parts() -> Iterator[Part]:
        yield from learned(graph)
        if saved is not None:
            yield ""
            yield Line(f"Saved the graph as {saved}")

    return Document(data, parts())


def _discoveries(found: Discoveries) -> Iterator[Part]:
    """The edges that were tested, the surest first."""
    yield from sheet(found.summary())
    yield Note(
        f"One half of {found.n_units:,} {found.units} proposed them, the other tested them. Adjusted: the "
        "least rate at which an edge is kept (Benjamini and Yekutieli). Half of the data finds less than "
        "all, so what is not kept need not be wrong."
    )


#: The kinds of models whose edges are compared.
_MODELS = ("bsumm", "osumm", "csumm", "tree")


@command
def groups(given: Any) -> Document:
    """Learn the same graph from groups of sequences, and say how they differ.

    The groups are two files, or with --by the values of a column of one file; more
    than two are each compared with all others.

    Labels come first: in which share of the sequences each occurs, and its share
    of all events. Then influences: by how much each changes from one group to the
    other. A difference is sure if its interval, which allows for all comparisons
    of its kind, leaves out 1.

    Options:
    <file>
    second:[FILE]  Events of the other group, unless --by is given.
    --by COLUMN  Make groups of one file, by a column that is constant per sequence.
    --model -m KIND  bsumm, osumm, csumm or tree. [default: bsumm]
    --target -t LABEL...  Only what influences this label; repeat for more.
    --lookback -k N|TIME  How far back to look: events, or a time as 6h; a tree finds it. Default 5.
    --alpha A  Pseudo-count. Default 0.1.
    --gamma G  Weight of the penalty; larger: fewer influencers. Default 1.
    --names A,B  What the groups are called. Default: the files' names.
    --resamples -n N  How many resampled groups. [default: 200]
    --level P  Level of the intervals. [default: 0.95]
    --seed N  For the random draws. [default: 0]
    --rows N>=0  At most this many labels and edges; 0 for all. [default: 30]
    <jobs>
    <json>
    <reading>
    """
    from summarkov.models import compare_groups

    first, second, by = given.file, given.second, given.by
    settings = {name: getattr(given, name) for name in ("lookback", "alpha", "gamma")}
    template = make_template(given.model, settings, _MODELS)
    reading = Reading(given).for_models(template)
    asked: dict[str, Any] = {"targets": given.target or None, "n": given.resamples, "seed": given.seed}
    asked |= {"level": given.level, "n_jobs": given.jobs}
    if (second is None) == (by is None):
        raise SettingError("groups are two files, or one file and --by; give one of these")
    if by is not None:
        if given.names is not None:
            raise SettingError("--names are for two files; with --by the groups are called as their values")
        if given.attributes is None and by not in reading.attributes:
            reading = reading.changed(attribute=[*reading.attributes, by])
        with progress("Comparing", 1, "groups") as advance:
            several = compare_groups(template, reading.read(first), by=by, **asked, progress=advance)
        return Document(lambda: asdict(several), _several_groups(several, given.rows))
    events = reading.prepare_several([reading.events(path) for path in (first, second)], first=False)
    with progress("Comparing", 5, "steps") as advance:
        called = _names(given.names, first, second)
        found = compare_groups(template, *events, names=called, **asked, progress=advance)
    return Document(lambda: asdict(found), _two_groups(found, given.rows))


def _names(given: str | None, first: Path, second: Path) -> tuple[str, str]:
    """What the groups are called: as asked for, or as their files are."""
    if given is None:
        return (first.stem, second.stem) if first.stem != second.stem else ("first", "second")
    a, comma, b = given.partition(",")
    if not comma or not a.strip() or not b.strip() or "," in b:
        raise SettingError(
            f"--names takes two names with a comma between them, such as men,women, not {given!r}"
        )
    return a.strip(), b.strip()


def _several_groups(found: SeveralGroups, most: int) -> Iterator[Part]:
    """How several groups differ: first how often labels come in each, then influences."""
    total = sum(found.sizes) + sum(found.left_out.values())
    yield Headline(f"{plural(len(found.names), 'group')} by {shorten(found.by, 40)}")
    for group, size in zip(found.names, found.sizes, strict=True):
        yield f"  {shorten(group, 40)}: {plural(size, 'sequence')}, {percent(size / total)}"
    for group, size in found.left_out.items():
        yield f"  {shorten(group, 40)}: {plural(size, 'sequence')}, too few to compare"
    shares = {(one.label, one.group): f"{percent(one.reach)}, {percent(one.rate)}" for one in found.shares}
    labels = list(dict.fromkeys(one.label for one in found.shares))
    rows = [[name(x), *(shares[x, group] for group in found.names)] for x in labels]
    yield _table(("*Label", *(shorten(group, 16) for group in found.names)), rows, most)
    yield Note("Share of sequences with the label, and its share of events.")
    for one in found.comparisons:
        yield ""
        yield from _two_groups(one, most)


def _table(head: Sequence[str], rows: Sequence[Sequence[str]], most: int) -> Table:
    """A table of ``most`` rows at most; 0: of all."""
    left = len(rows) - (most or len(rows))
    return Table(
        head, rows[: most or None], more=f"... and {left} more; --rows 0 prints all" if left > 0 else ""
    )


def _two_groups(found: GroupComparison, most: int) -> Iterator[Part]:
    """How groups differ; ``most`` limits the rows, 0 does not."""
    one, two = (shorten(group, 20) for group in found.names)
    labels = f"{len(found.differing_labels())} of {plural(len(found.labels), 'label')}"
    edges = f"{len(found.differing())} of {plural(len(found.edges), 'influence')}"
    sizes = [plural(size, "sequence") for size in found.sizes]
    yield Headline(f"{labels} and {edges} differ between {one} ({sizes[0]}) and {two} ({sizes[1]})")
    by = shorten(f"{two} by {one}", 16)
    rows = [
        [
            name(each.label),
            f"{percent(each.reach_first)} → {percent(each.reach_second)}",
            _change(each.reach),
            f"{percent(each.rate_first)} → {percent(each.rate_second)}",
            _change(each.rate),
        ]
        for each in found.labels
    ]
    yield _table(("*Label", "Reach", by, "Share", by), rows, most)
    rows = [
        [
            f"{name(each.influencer)} → {name(each.target)}",
            _ratio(each.first, each.in_first),
            _ratio(each.second, each.in_second),
            _change(each.change),
        ]
        for each in found.edges
    ]
    if rows:
        yield _table(("*Influence", one, two, by), rows, most)
    else:
        yield "No influence was found, neither in one of the groups nor in both together."
    yield Note(
        f"{two} by {one}: how many times as large, with a {found.level:.0%} interval that allows for all "
        "rows of its table; * where that leaves out 1. Reach: share of sequences in which the label occurs. "
        "Share: of all events; not known where fewer than ten sequences of a group have the label. "
        "Influences: by how much the influencer multiplies the label's probability, other influencers "
        "equal; in brackets if the group's own graph does not have it."
    )


def _ratio(edge: Influence, is_there: bool) -> str:
    words = factor(edge.ratio) or "?"
    return words if is_there else f"({words})"


def _change(found: Difference) -> str:
    """The interval of a difference, with a star where it leaves out 1."""
    words = factor_interval(found.low, found.high)
    return f"{words} *" if found.low > 1 or found.high < 1 else words
