"""``summarkov groups``: how two groups of sequences differ."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.text import Text

from summarkov.cli.console import output, print_json, progress
from summarkov.cli.options import EventsFile, Jobs, Json
from summarkov.cli.reading import PLAIN, Reading, reads_events
from summarkov.cli.templates import make_template
from summarkov.cli.text import factor, label, new_table, page_width, plural, widest

if TYPE_CHECKING:
    from summarkov.confidence import EdgeDifference, GroupComparison


@reads_events
def groups(
    first: EventsFile,
    second: Annotated[Path, typer.Argument(metavar="FILE", help="Events of the other group.")],
    model: Annotated[
        str, typer.Option("--model", "-m", metavar="KIND", help="bsumm, osumm or csumm.")
    ] = "bsumm",
    target: Annotated[
        list[str] | None,
        typer.Option(
            "--target", "-t", metavar="LABEL", help="Only what influences this label; repeat for more."
        ),
    ] = None,
    lookback: Annotated[
        str | None,
        typer.Option("--lookback", "-k", metavar="K", help="How many events back to look. Default 5."),
    ] = None,
    alpha: Annotated[float | None, typer.Option(metavar="A", help="Pseudo-count. Default 0.1.")] = None,
    gamma: Annotated[
        float | None,
        typer.Option(metavar="G", help="Weight of the penalty; larger: fewer influencers. Default 1."),
    ] = None,
    n: Annotated[
        int, typer.Option("--divisions", "-n", metavar="N", help="How many random divisions.")
    ] = 200,
    level: Annotated[float, typer.Option(metavar="P", help="Of the intervals of differences.")] = 0.95,
    seed: Annotated[int, typer.Option(metavar="N", help="For the random draws.")] = 0,
    rows: Annotated[
        int, typer.Option("--rows", min=0, metavar="N", help="At most so many edges; 0 for all.")
    ] = 30,
    reading: Reading = PLAIN,
    jobs: Jobs = None,
    json: Json = False,
) -> None:
    """Learn the same graph from two files of events, and say which edges differ.

    A difference is sure if hardly any random division of all sequences into two
    groups of these sizes gives an edge that differs as much.
    """
    given = {"lookback": lookback, "alpha": alpha, "gamma": gamma}
    template = make_template(model, {name: value for name, value in given.items() if value is not None})
    from summarkov.models import compare_groups

    events = reading.prepare_several([reading.events(path) for path in (first, second)], first=False)
    with progress("Comparing", 5, "steps") as advance:
        found = compare_groups(
            template,
            *events,
            targets=target or None,
            n=n,
            seed=seed,
            level=level,
            n_jobs=jobs,
            progress=advance,
        )
    if json:
        edges = [
            {name: None if isinstance(v, float) and math.isnan(v) else v for name, v in vars(edge).items()}
            for edge in found.edges
        ]
        print_json({**vars(found), "edges": edges})
    else:
        _print_groups(output(), found, rows)


def _print_groups(console: Console, found: GroupComparison, most: int) -> None:
    if not found.edges:
        console.print("No influence was found, neither in one of the files nor in both together.")
        return
    sure = found.differing()
    console.print(
        Text(
            f"{len(sure)} of {plural(len(found.edges), 'edge')} {'differs' if len(sure) == 1 else 'differ'} "
            f"between {plural(found.sizes[0], 'sequence')} and {plural(found.sizes[1], 'sequence')}",
            style="bold",
        )
    )
    console.print()
    shown = found.edges[: most or None]
    _print_edges(console, found, shown)
    if len(shown) < len(found.edges):
        console.print(f"... and {len(found.edges) - len(shown)} more; --rows 0 prints all")
    console.print(
        Text(
            "\nFirst, Second: by what the influencer multiplies the target's probability; in brackets if the "
            f"group's own graph has not the edge. Second by First: {found.level:.0%} interval. Chance: the "
            f"share of {found.n} random divisions of all sequences in which some edge differs as much; 0.05 "
            "or less is called a difference.",
            style="dim",
        )
    )


def _print_edges(console: Console, found: GroupComparison, shown: tuple[EdgeDifference, ...]) -> None:
    room = max(10, (page_width(console) - 46) // 2)
    names = [
        min(room, max(10, widest([getattr(e, side) for e in shown]))) for side in ("influencer", "target")
    ]
    table = new_table()
    table.add_column("Influencer", no_wrap=True, width=names[0])
    table.add_column("Target", no_wrap=True, width=names[1])
    for heading in ("First", "Second", "Second by First", "Chance"):
        table.add_column(heading, justify="right", no_wrap=True)
    for edge in shown:
        style = "bold" if edge.adjusted <= 0.05 else ""
        table.add_row(
            label(edge.influencer, names[0], style),
            label(edge.target, names[1], style),
            _strength(edge.strength_first, edge.in_first),
            _strength(edge.strength_second, edge.in_second),
            "" if math.isnan(edge.low) else f"{_factor(edge.low)} to {_factor(edge.high)}",
            Text(f"{edge.adjusted:.3f}", style=style),
        )
    console.print(table)


def _strength(strength: float, is_there: bool) -> str:
    if math.isnan(strength):
        return "?"
    return _factor(strength) if is_there else f"({_factor(strength)})"


def _factor(strength: float) -> str:
    return factor(math.exp(min(strength, 700.0)))
