"""``summarkov confidence``, ``groups``, ``compare``, ``sensitivity``: how far to believe what was found."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from summarkov.cli.learn import add_confidence, add_order_test, refuse_nothing_to_learn
from summarkov.cli.learned import learned
from summarkov.cli.page import Document, Headline, Line, Note, Part, progress, shorten, shown
from summarkov.cli.reading import (
    Reading,
    check_output,
    load_model,
    make_template,
    read_values,
    save_model,
    write_text,
)
from summarkov.errors import SettingError
from summarkov.frames import Sheet
from summarkov.wording import factor, factor_interval, percent, plural

if TYPE_CHECKING:
    from summarkov.evidence import Difference, GroupComparison, Influence, SeveralGroups

#: The kinds of models whose edges are compared.
_KINDS = ("bsumm", "osumm", "csumm")


def confidence(given: Any) -> Document:
    """How sure each edge of a graph is."""
    from summarkov.models import InfluenceGraph
    from summarkov.models.files import order_document

    output, seed = given.output, given.seed
    check_output(output, given.file)  # into the model itself is fine: nothing in it is lost
    graph = load_model(given.model)
    if not isinstance(graph, InfluenceGraph):
        raise SettingError(
            f"{given.model} is a model of one target; confidence is about the edges of a graph"
        )
    graph = graph.set_params(n_jobs=given.jobs)
    with Reading(given).as_learned(graph.layout_).open(given.file, known=graph.labels_) as (events,):
        if given.order_test:
            add_order_test(graph, events, within=given.within, seed=seed)
        add_confidence(
            graph, events, n=given.graphs, blocks=given.blocks, level=given.level, random_state=seed
        )
    saved = save_model(graph, output)

    def data() -> dict[str, Any]:
        tested = {} if graph.order_ is None else {"order": order_document(graph.order_)}
        return {"saved": saved, **vars(graph.confidence_), **tested}

    said = [] if saved is None else ["", Line(f"Saved the graph as {saved}")]
    return Document(data, [*learned(graph), *said])


# ---------------------------------------------------------------------- groups


def groups(given: Any) -> Document:
    """How groups of sequences differ."""
    from summarkov.models import compare_groups

    first, second, by = given.file, given.second, given.by
    template = make_template(given, _KINDS)
    reading = Reading(given).for_models(template)
    if (second is None) == (by is None):
        raise SettingError("groups are two files, or one file and --by; give one of these")
    asked: dict[str, Any] = {"by": by}
    if by is None:
        several = first.stem != second.stem
        asked = {"names": (first.stem, second.stem) if several else ("first", "second")}
    elif given.attributes is None:
        reading = reading.with_attribute(by)
    asked |= {"targets": given.target or None, "level": given.level, "n_jobs": given.jobs}
    files = [first] if second is None else [first, second]
    events = reading.read(*files, first=False)
    with progress("Comparing", 1, "steps") as advance:
        found = compare_groups(template, *([events] if by else events), **asked, progress=advance)
    return Document(lambda: found, (_several_groups if by else _two_groups)(found, given.rows))


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
    rows = [[x, *(shares[x, group] for group in found.names)] for x in labels]
    note = "Share of sequences with the label, and its share of events."
    head = ("Label", *(shorten(group, 16) for group in found.names))
    yield Sheet("", head, rows[: most or None], len(rows), [note])
    for one in found.comparisons:
        yield ""
        yield from _two_groups(one, most)


def _two_groups(found: GroupComparison, most: int) -> Iterator[Part]:
    """How groups differ; ``most`` limits the rows, 0 does not."""
    one, two = (shorten(group, 20) for group in found.names)
    labels = f"{len(found.differing_labels())} of {plural(len(found.labels), 'label')}"
    edges = f"{len(found.differing())} of {plural(len(found.edges), 'influence')}"
    sizes = [plural(size, "sequence") for size in found.sizes]
    yield Headline(f"{labels} and {edges} differ between {one} ({sizes[0]}) and {two} ({sizes[1]})")
    by = shorten(f"{two} by {one}", 16)

    def ratio(edge: Influence, is_there: bool) -> str:
        words = factor(edge.ratio) or "?"
        return words if is_there else f"({words})"

    def change(of: Difference) -> str:
        """The interval of a difference, with a star where it leaves out 1."""
        return factor_interval(of.low, of.high) + (" *" if of.low > 1 or of.high < 1 else "")

    def shares(first: float, second: float, of: Difference) -> tuple[str, str]:
        return f"{percent(first)} → {percent(second)}", change(of)

    rows = [
        [
            e.label,
            *shares(e.reach_first, e.reach_second, e.reach),
            *shares(e.rate_first, e.rate_second, e.rate),
        ]
        for e in found.labels
    ]
    yield Sheet("", ("Label", "Reach", by, "Share", by), rows[: most or None], len(rows))
    rows = [
        [
            f"{shorten(e.influencer, 60)} → {shorten(e.target, 60)}",
            ratio(e.first, e.in_first),
            ratio(e.second, e.in_second),
            change(e.change),
        ]
        for e in found.edges
    ]
    if rows:
        yield Sheet("", ("Influence", one, two, by), rows[: most or None], len(rows))
    else:
        yield "No influence was found, neither in one of the groups nor in both together."
    star = "; * where that leaves out 1" if found.differing_labels() or found.differing() else ""
    yield Note(
        f"{two} by {one}: how many times as large, with a {found.level:.0%} interval that allows for all "
        f"rows of its table{star}. Reach: share of sequences in which the label occurs. "
        "Share: of all events; not known where fewer than ten sequences of a group have the label. "
        "Influences: by how much the influencer multiplies the label's probability, other influencers "
        "equal; in brackets if the group's own graph does not have it."
    )


# ---------------------------------------------------------------------- other models, other settings


def compare(given: Any) -> Document:
    """Other models on the same events."""
    from summarkov.comparison import DEFAULT, NAMES
    from summarkov.comparison import compare as run
    from summarkov.comparison.tuning import lineup

    parts, output = given.parts or [], given.output
    names = list(NAMES) if given.model and "all" in given.model else given.model or None
    if parts and len(parts) != 2:
        raise SettingError("give one file to have it split, or three: train, dev and test")
    check_output(output, given.file, *parts, endings=".json")
    reading = Reading(given).for_models(*(getattr(each, "template", None) for each in lineup(names or ())))
    with (
        reading.open(given.file, *parts) as data,
        progress("Comparing", given.splits * len(names or DEFAULT), "models") as advance,
    ):
        result = run(
            *data,
            models=names,
            targets=given.target,
            random_state=given.seed,
            n_jobs=given.jobs,
            splits=given.splits,
            progress=lambda done, total, what: advance(done, total),
        )

    def show() -> Iterator[Part]:
        yield result.summary()
        yield (
            f"Log-likelihood of the test {result.unit}s, mean over the target labels; log loss and Brier "
            f"per {result.unit} and label. Worse: the interval, from resampling the test sequences, lies "
            "below 0. The others this data cannot tell apart. For the next event the probabilities of all "
            "labels are divided by their sum; of equally likely ones the first by name counts."
        )
        if chosen := result.settings:
            yield ""
            yield "Settings that were best on dev for all labels together:"
            yield from (f"{model}: {words}" for model, words in chosen.items())

    def save() -> Iterator[Part]:
        if output is not None:
            write_text(output, result.to_dict())
            yield ""
            yield Line(f"Saved {shown(output)}")

    return Document(result.to_dict, show(), save)


def sensitivity(given: Any) -> Document:
    """Which influences stay with other settings."""
    from summarkov.models import InfluenceGraph
    from summarkov.models import sensitivity as run

    template = make_template(given, _KINDS, but=("gamma", "lookback"))
    gammas, lookbacks = read_values(given.gamma), read_values(given.lookback)
    reading = Reading(given).for_models(*(template.copy(lookback=k) for k in lookbacks))
    events = reading.read(given.file)
    refuse_nothing_to_learn(events, given.file)
    graph = InfluenceGraph(template, targets=given.target, n_jobs=given.jobs)
    total = len(set(given.target or events.labels)) * len(gammas) * len(lookbacks)
    with progress("Learning", total, "models") as advance:
        found = run(graph, events, gamma=gammas, lookback=lookbacks, progress=advance)
    return Document(
        lambda: {"paths": found.paths, "edges": found.edges, "rows": found.rows},
        [found.summary()],
        more="--json has all",
    )
