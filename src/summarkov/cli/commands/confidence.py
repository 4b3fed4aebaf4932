"""``summarkov confidence`` and ``groups``: how sure edges are, and how groups of sequences differ."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from rich.table import Column
from rich.text import Text

from summarkov.cli.commands import add_confidence, add_order_test, has_edges
from summarkov.cli.files import TABLES, check_output, columns_of, load_model, save_model, saving, write_rows
from summarkov.cli.options import (
    EventsFile,
    EventsPath,
    Jobs,
    Json,
    ModelFile,
    SafeCsv,
    Within,
    flag,
    make_template,
    option,
)
from summarkov.cli.printing import (
    Page,
    label,
    new_table,
    print_json,
    print_result,
    progress,
    results,
    shorten,
    widest,
)
from summarkov.cli.printing.graph import print_graph
from summarkov.cli.reading import Opening, Reading
from summarkov.errors import SettingError
from summarkov.wording import factor, factor_interval, percent, plural

if TYPE_CHECKING:
    from summarkov.confidence import Difference, Discoveries
    from summarkov.explain import GroupComparison, Influence, SeveralGroups


def confidence(
    model: ModelFile,
    file: EventsPath,
    n: int = option("N", "How many graphs to learn.", "--graphs -n", default=100),
    blocks: int | None = option(
        "N", "Draw blocks of N events in a row instead of sequences. Default for one single sequence."
    ),
    level: float = option("P", "Level of the intervals of ratios.", default=0.95),
    rate: float | None = option(
        "Q",
        "Instead: test the edges that one half of the sequences proposes on the other half, and "
        "keep those among which at most this share is false, on average.",
    ),
    order_test: bool = flag(
        "--order-test/--no-order-test",
        "Test too whether each edge depends on order, or whether shuffled cases show it.",
        default=True,
    ),
    within: Within = None,
    seed: int = option("N", "For the random draws.", default=0),
    opening: Opening = Opening(),
    jobs: Jobs = None,
    output: Path | None = option("MODEL", "Save the graph with its confidence.", "--output -o"),
    pairs: Path | None = option(
        "TABLE",
        "Write a ranking of every pair of labels, edge or not, as .csv or .parquet: for curves of "
        "precision and recall.",
    ),
    safe_csv: SafeCsv = False,
    json: Json = False,
) -> None:
    """Say how sure each edge of a graph is: learn it again from resampled events.

    FILE must be what MODEL was learned from. Each of the graphs is learned from
    as many sequences, drawn with replacement; an edge is sure if most have it.
    """
    from summarkov.models import InfluenceGraph

    if rate is not None and output is not None:
        raise SettingError("--rate keeps nothing with the graph; leave out --output")
    if pairs is not None and rate is not None:
        raise SettingError("--rate ranks no pairs; leave out --pairs")
    check_output(pairs, file, model, output, endings=f"one of {', '.join(TABLES)}", safe_csv=safe_csv)
    check_output(output, file)  # into the model itself is fine: nothing in it is lost
    graph = load_model(model)
    if not isinstance(graph, InfluenceGraph):
        raise SettingError(f"{model} is a model of one target; confidence is about the edges of a graph")
    graph = graph.set_params(n_jobs=jobs)
    opening = opening.as_learned(graph.layout_)
    with opening.open(file, graph.labels_, jobs=jobs) as events:
        if rate is None:
            if order_test and has_edges(graph):
                add_order_test(graph, events, within=within, seed=seed)
            add_confidence(graph, events, n=n, blocks=blocks, level=level, seed=seed)
            if pairs is not None:
                with saving(pairs):
                    write_rows([columns_of(graph.ranking(events))], pairs, safe_csv=safe_csv)
        else:
            found = graph.discoveries(events, rate=rate, seed=seed, blocks=blocks)
    if rate is not None:
        document = {**vars(found), "tested": [vars(edge) for edge in found.tested]}
        print_result(json, document, _print_discoveries, found)
        return
    saved = save_model(graph, output)
    if json:
        from summarkov.models.files import confidence_document, order_document

        tested = {} if graph.order_ is None else {"order": order_document(graph.order_)}
        assert graph.confidence_ is not None  # it was added
        print_json({"saved": saved, **confidence_document(graph.confidence_), **tested})
    else:
        print_graph(results(), graph)
        if saved is not None:
            results().print()
            results().print_line(f"Saved the graph as {saved}")


#: What stands at either end of an edge.
_SIDES = ("Influencer", "Target")


def _print_discoveries(console: Page, found: Discoveries) -> None:
    """Print the edges that were tested, the surest first."""
    kept = f"{len(found.kept)} of {plural(len(found.tested), 'edge')}"
    console.print(f"{kept} hold at a false-discovery rate of {found.rate:g}", style="bold")
    half = f"one half of {found.n_units:,} {found.units}"
    console.print(f"Proposed by {half}, tested on the other; seed {found.seed}", style="dim")
    console.print()
    room = max(8, (console.page_width - 55) // 2)
    edges = sorted(found.tested, key=lambda edge: edge.adjusted)
    widths = [min(room, widest([getattr(e, side.lower()) for e in edges] + [side])) for side in _SIDES]
    sides = (Column(side, no_wrap=True, width=width) for side, width in zip(_SIDES, widths, strict=True))
    table = new_table(*sides, "Factor", "95% interval", ">p", ">Adjusted", ">")
    for edge in edges:
        ends = label(edge.influencer, widths[0]), label(edge.target, widths[1])
        size = factor(edge.ratio), factor_interval(edge.low, edge.high)
        chance = _small(edge.p_value), _small(edge.adjusted)
        table.add_row(*ends, *size, *chance, Text("kept", style="green") if edge.is_kept else "")
    if edges:
        console.print(table)
    console.print(
        "\nAdjusted: the least rate at which the edge is kept (Benjamini and Yekutieli). Half of the "
        "data finds less than all, so what is not kept need not be wrong.",
        style="dim",
    )


def _small(p: float) -> str:
    """A p-value with two digits."""
    return "0" if p == 0 else f"{p:.1e}" if p < 0.001 else f"{p:.{1 - math.floor(math.log10(p))}f}"


#: The kinds of models whose edges are compared.
_MODELS = ("bsumm", "osumm", "csumm", "tree")
#: Headings, and what stands below each in a row.
Columns = Sequence[tuple[str, Callable[[Any], str | Text]]]
#: A name is shown at least this wide.
_LEAST = 6


def groups(
    first: EventsFile,
    second: Path | None = typer.Argument(
        None, metavar="[FILE]", help="Events of the other group, unless --by is given."
    ),
    by: str | None = option("COLUMN", "Make groups of one file, by a column that is constant per sequence."),
    model: str = option("KIND", "bsumm, osumm, csumm or tree.", "--model -m", default="bsumm"),
    target: list[str] | None = option(
        "LABEL", "Only what influences this label; repeat for more.", "--target -t"
    ),
    lookback: str | None = option(
        "K", "How far back to look: events, or a time as 6h; a tree finds it. Default 5.", "--lookback -k"
    ),
    alpha: float | None = option("A", "Pseudo-count. Default 0.1."),
    gamma: float | None = option("G", "Weight of the penalty; larger: fewer influencers. Default 1."),
    names: str | None = option("A,B", "What the groups are called. Default: the files' names."),
    n: int = option("N", "How many resampled groups.", "--resamples -n", default=200),
    level: float = option("P", "Level of the intervals.", default=0.95),
    seed: int = option("N", "For the random draws.", default=0),
    rows: int = option("N", "At most this many labels and edges; 0 for all.", min=0, default=30),
    reading: Reading = Reading(),
    jobs: Jobs = None,
    json: Json = False,
) -> None:
    """Learn the same graph from groups of sequences, and say how they differ.

    The groups are two files, or with --by the values of a column of one file; more than two are each compared
    with all others.


    Labels come first: in which share of the sequences each occurs, and its share
    of all events. Then influences: by how much each changes from one group to the
    other. A difference is sure if its interval, which allows for all comparisons
    of its kind, leaves out 1.
    """
    from summarkov.models import compare_groups

    template = make_template(model, {"lookback": lookback, "alpha": alpha, "gamma": gamma}, _MODELS)
    reading = reading.for_models(template)
    asked: dict[str, Any] = {"targets": target or None, "n": n, "seed": seed, "level": level, "n_jobs": jobs}
    if (second is None) == (by is None):
        raise SettingError("groups are two files, or one file and --by; give one of these")
    if by is not None:
        if names is not None:
            raise SettingError("--names are for two files; with --by the groups are called as their values")
        if reading.attributes is None and by not in (reading.attribute or ()):
            reading = replace(reading, attribute=[*(reading.attribute or ()), by])
        with progress("Comparing", 1, "groups") as advance:
            several = compare_groups(template, reading.read(first), by=by, **asked, progress=advance)
        print_result(json, asdict(several), print_several, several, rows)
        return
    assert second is not None
    events = reading.prepare_several([reading.events(path) for path in (first, second)], first=False)
    with progress("Comparing", 5, "steps") as advance:
        called = _names(names, first, second)
        found = compare_groups(template, *events, names=called, **asked, progress=advance)
    print_result(json, asdict(found), print_groups, found, rows)


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


def print_several(console: Page, found: SeveralGroups, most: int) -> None:
    """Print how several groups differ: first how often labels come in each, then influences."""
    total = sum(found.sizes) + sum(found.left_out.values())
    console.print(f"{plural(len(found.names), 'group')} by {shorten(found.by, 40)}", style="bold")
    for name, size in zip(found.names, found.sizes, strict=True):
        console.print(f"  {shorten(name, 40)}: {plural(size, 'sequence')}, {percent(size / total)}")
    for name, size in found.left_out.items():
        console.print(f"  {shorten(name, 40)}: {plural(size, 'sequence')}, too few to compare")
    labels = list(dict.fromkeys(one.label for one in found.shares))[: most or None]
    reach = {(one.label, one.group): one for one in found.shares}

    def shares(group: str) -> Callable[[str], str]:
        return lambda x: f"{percent(reach[x, group].reach)}, {percent(reach[x, group].rate)}"

    console.print()
    columns = [(shorten(name, 16), shares(name)) for name in found.names]
    _print_columns(console, "Label", labels, lambda x: [x], columns)
    console.print("Share of sequences with the label, and its share of events.", style="dim")
    for one in found.comparisons:
        console.print()
        print_groups(console, one, most)


def print_groups(console: Page, found: GroupComparison, most: int) -> None:
    """Print how groups differ; ``most`` limits the rows, 0 does not."""
    names, sizes = [shorten(name, 20) for name in found.names], found.sizes
    labels, edges = found.differing_labels(), found.differing()
    what = [
        f"{len(some)} of {plural(len(all_), thing)}"
        for some, all_, thing in ((labels, found.labels, "label"), (edges, found.edges, "influence"))
    ]
    sides = [f"{name} ({plural(size, 'sequence')})" for name, size in zip(names, sizes, strict=True)]
    console.print(f"{what[0]} and {what[1]} differ between {sides[0]} and {sides[1]}", style="bold")
    console.print()
    by = shorten(f"{names[1]} by {names[0]}", 16)
    columns: Columns = [
        ("Reach", lambda one: f"{percent(one.reach_first)} → {percent(one.reach_second)}"),
        (by, lambda one: _change(one.reach)),
        ("Share", lambda one: f"{percent(one.rate_first)} → {percent(one.rate_second)}"),
        (by, lambda one: _change(one.rate)),
    ]
    _print_columns(console, "Label", found.labels, lambda one: [one.label], columns, most)
    if found.edges:
        console.print()
        columns = [
            (names[0], lambda edge: _ratio(edge.first, edge.in_first)),
            (names[1], lambda edge: _ratio(edge.second, edge.in_second)),
            (by, lambda edge: _change(edge.change)),
        ]
        _print_columns(
            console, "Influence", found.edges, lambda edge: [edge.influencer, edge.target], columns, most
        )
    else:
        console.print("\nNo influence was found, neither in one of the groups nor in both together.")
    console.print(
        f"\n{names[1]} by {names[0]}: how many times as large, with a {found.level:.0%} interval that "
        "allows for all rows of its table; * where that leaves out 1. Reach: share of sequences in "
        "which the label occurs. Share: of all events; not known where fewer than ten sequences of a "
        "group have the label. Influences: by how much the influencer multiplies the label's "
        "probability, other influencers equal; in brackets if the group's own graph does not have it.",
        style="dim",
    )


def _print_columns(
    console: Page,
    title: str,
    rows: Sequence[Any],
    names_of: Callable[[Any], Sequence[str]],
    columns: Columns,
    most: int = 0,
) -> None:
    """A table of names, shortened to the room that is left, and of as many columns as there is room for.

    ``most`` limits the rows, 0 does not.
    """
    shown = rows[: most or None]
    cells = [[heading, *map(tell, shown)] for heading, tell in columns]
    widths = [widest([*map(str, each)]) for each in cells]
    names = [names_of(row) for row in shown]
    parts = max((len(each) for each in names), default=1)

    def room() -> int:
        return (console.page_width - sum(widths) - 2 * len(widths) - 3 * (parts - 1)) // parts

    while room() < _LEAST and len(widths) > 1:
        widths.pop()
    least = max(_LEAST, room())
    headings = (Column(name, no_wrap=True, width=w) for (name, _), w in zip(columns, widths, strict=False))
    table = new_table(title, *headings)
    for each, *told in zip(names, *(column[1:] for column in cells[: len(widths)]), strict=True):
        table.add_row(Text(" → ".join(shorten(name, least) for name in each)), *told)
    console.print(table)
    if len(shown) < len(rows):
        console.print(f"... and {len(rows) - len(shown)} more; --rows 0 prints all")


def _ratio(edge: Influence, is_there: bool) -> str:
    told = factor(edge.ratio) or "?"
    return told if is_there else f"({told})"


def _change(found: Difference) -> Text:
    """The interval of a difference; bold and with a star where it leaves out 1."""
    sure = found.low > 1 or found.high < 1
    words = factor_interval(found.low, found.high)
    return Text(f"{words} *", style="bold") if sure else Text(words, style="dim")
