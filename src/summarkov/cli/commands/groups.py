"""``summarkov groups``: how groups of sequences differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from rich.table import Column
from rich.text import Text

from summarkov.cli.options import EventsFile, Jobs, Json, make_template, option
from summarkov.cli.printing import Page, new_table, print_result, progress, shorten, widest
from summarkov.cli.reading import Reading
from summarkov.errors import SettingError
from summarkov.wording import factor, factor_interval, percent, plural

if TYPE_CHECKING:
    from summarkov.confidence import Difference
    from summarkov.explain import GroupComparison, Influence, SeveralGroups
    from summarkov.explain.group_comparison import GroupShare

#: The kinds of models whose edges are compared.
_MODELS = ("bsumm", "osumm", "csumm", "tree")
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
    from summarkov.models import compare_groups, compare_groups_by

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
            several = compare_groups_by(template, reading.read(first), by, **asked, progress=advance)
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
    console.print()
    columns = [(shorten(name, 16), [_shares(reach[x, name]) for x in labels]) for name in found.names]
    _print_columns(console, "Label", [[x] for x in labels], columns)
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
    _print_labels(console, found, names, most)
    if found.edges:
        console.print()
        _print_edges(console, found, names, most)
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


def _print_labels(console: Page, found: GroupComparison, names: list[str], most: int) -> None:
    shown = found.labels[: most or None]
    by = shorten(f"{names[1]} by {names[0]}", 16)
    columns: list[tuple[str, Sequence[str | Text]]] = [
        ("Reach", [f"{percent(one.reach_first)} → {percent(one.reach_second)}" for one in shown]),
        (by, [_change(one.reach) for one in shown]),
        ("Share", [f"{percent(one.rate_first)} → {percent(one.rate_second)}" for one in shown]),
        (by, [_change(one.rate) for one in shown]),
    ]
    _print_columns(console, "Label", [[one.label] for one in shown], columns, len(found.labels))


def _print_edges(console: Page, found: GroupComparison, names: list[str], most: int) -> None:
    shown = found.edges[: most or None]
    columns: list[tuple[str, Sequence[str | Text]]] = [
        (names[0], [_ratio(e.first, e.in_first) for e in shown]),
        (names[1], [_ratio(e.second, e.in_second) for e in shown]),
        (shorten(f"{names[1]} by {names[0]}", 16), [_change(e.change) for e in shown]),
    ]
    _print_columns(console, "Influence", [[e.influencer, e.target] for e in shown], columns, len(found.edges))


def _print_columns(
    console: Page,
    title: str,
    names: Sequence[Sequence[str]],
    columns: Sequence[tuple[str, Sequence[str | Text]]],
    total: int = 0,
) -> None:
    """A table of names, shortened to the room that is left, and of as many columns as there is room for.

    ``total`` is the number of rows that there are, if the table has the first of them.
    """
    widths = [widest([heading, *map(str, cells)]) for heading, cells in columns]
    parts = max((len(each) for each in names), default=1)

    def room() -> int:
        return (console.page_width - sum(widths) - 2 * len(widths) - 3 * (parts - 1)) // parts

    while room() < _LEAST and len(widths) > 1:
        widths.pop()
    columns, least = columns[: len(widths)], max(_LEAST, room())
    shown = (Column(name, no_wrap=True, width=w) for (name, _), w in zip(columns, widths, strict=True))
    table = new_table(title, *shown)
    for at, each in enumerate(names):
        told = " → ".join(shorten(name, least) for name in each)
        table.add_row(Text(told), *(cells[at] for _, cells in columns))
    console.print(table)
    if len(names) < total:
        console.print(f"... and {total - len(names)} more; --rows 0 prints all")


def _shares(one: GroupShare) -> str:
    return f"{percent(one.reach)}, {percent(one.rate)}"


def _ratio(edge: Influence, is_there: bool) -> str:
    told = factor(edge.ratio) or "?"
    return told if is_there else f"({told})"


def _change(found: Difference) -> Text:
    """The interval of a difference; bold and with a star where it leaves out 1."""
    sure = found.low > 1 or found.high < 1
    words = factor_interval(found.low, found.high)
    return Text(f"{words} *", style="bold") if sure else Text(words, style="dim")
