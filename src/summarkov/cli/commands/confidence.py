"""``summarkov confidence``: how sure each edge of a graph is, and whether it is about order."""

from __future__ import annotations

import math
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.table import Column
from rich.text import Text

from summarkov.cli.files import TABLES, check_output, columns_of, load_model, save_model, saving, write_rows
from summarkov.cli.options import EventsPath, Jobs, Json, ModelFile, SafeCsv, Within, flag, option
from summarkov.cli.printing import (
    Page,
    errors,
    label,
    new_table,
    print_json,
    print_result,
    progress,
    results,
    widest,
)
from summarkov.cli.printing.graph import print_graph
from summarkov.cli.reading import Opening
from summarkov.errors import SettingError
from summarkov.wording import factor, factor_interval, plural

if TYPE_CHECKING:
    from summarkov.confidence import Discoveries
    from summarkov.engines import EventSource
    from summarkov.events import EventSequences
    from summarkov.models import InfluenceGraph


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
        "Test too whether each edge is about order, or whether shuffled sequences show it.",
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
    period = period_of(within) if order_test else None
    with opening.open(file, graph.labels_, jobs=jobs, period=period) as events:
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
        from summarkov.models.stored_results import confidence_document, order_document

        tested = {} if graph.order_ is None else {"order": order_document(graph.order_)}
        assert graph.confidence_ is not None  # it was added
        print_json({"saved": saved, **confidence_document(graph.confidence_), **tested})
    else:
        print_graph(results(), graph)
        if saved is not None:
            results().print()
            results().print_line(f"Saved the graph as {saved}")


def add_confidence(graph: InfluenceGraph, events: EventSequences | EventSource, **settings: Any) -> None:
    """Ask for the confidence of a graph, with a bar."""
    with progress("Resampling", len(graph.models_), "labels") as advance:
        graph.confidence(events, progress=advance, **settings)


#: What stands at either end of an edge.
_SIDES = ("Influencer", "Target")


def _print_discoveries(console: Page, found: Discoveries) -> None:
    """Print the edges that were tested, the surest first."""
    console.print(
        f"{len(found.kept)} of {plural(len(found.tested), 'edge')} hold at a false-discovery rate of "
        f"{found.rate:g}",
        style="bold",
    )
    console.print(
        f"Proposed by one half of {found.n_units:,} {found.units}, tested on the other; seed {found.seed}",
        style="dim",
    )
    console.print()
    room = max(8, (console.page_width - 55) // 2)
    edges = sorted(found.tested, key=lambda edge: edge.adjusted)
    widths = [min(room, widest([getattr(e, side.lower()) for e in edges] + [side])) for side in _SIDES]
    sides = (Column(side, no_wrap=True, width=width) for side, width in zip(_SIDES, widths, strict=True))
    table = new_table(*sides, "Factor", "95% interval", ">p", ">Adjusted", ">")
    for edge in edges:
        table.add_row(
            label(edge.influencer, widths[0]),
            label(edge.target, widths[1]),
            factor(edge.ratio),
            factor_interval(edge.low, edge.high),
            _small(edge.p_value),
            _small(edge.adjusted),
            Text("kept", style="green") if edge.is_kept else "",
        )
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


#: How many times as long as learning the test may take; or how many seconds, if that is more.
TIMES, SECONDS = 10, 20.0
SHUFFLES = 99


class _TooSlow(Exception):
    """The test would take longer than it may."""


def blocks_of(text: str) -> int | str:
    """A number of positions, a time, or the name of a column."""
    return int(text) if text.strip().isdecimal() else text


def period_of(within: str | None) -> str | None:
    """The column that ``--within`` names, which events are then read with; else None."""
    from summarkov.settings import read_time

    if within is None or read_time(within, "--within") is not None:
        return None
    return within


def add_order_test(
    graph: InfluenceGraph,
    events: EventSequences | EventSource,
    *,
    within: str | None = None,
    seed: int = 0,
    learned_in: float | None = None,
) -> None:
    """Test the edges of a graph, unless that takes far longer than it took to learn them.

    ``learned_in`` are the seconds of learning; without them it is done however long it takes.
    """
    began = time.monotonic()
    allowed = None if learned_in is None else max(TIMES * learned_in, SECONDS)
    with progress("Shuffling", SHUFFLES, "shuffles") as advance:

        def told(done: int, total: int) -> None:
            advance(done, total)
            needed = (time.monotonic() - began) / max(done, 1) * total
            if allowed is not None and done < total and needed > allowed:
                raise _TooSlow(needed)

        try:
            graph.order_test(
                events,
                n=SHUFFLES,
                within="auto" if within is None else blocks_of(within),
                seed=seed,
                progress=told,
            )
        except _TooSlow as slow:
            minutes = f"{float(slow.args[0]) / 60:.0f} minutes"
            errors().print_line(
                f"No order test: it would take about {minutes}. --order-test does it all the same, "
                "--no-order-test says nothing.",
            )


def has_edges(graph: InfluenceGraph) -> bool:
    """Whether there is something to test."""
    first = next(iter(graph.models_.values()))
    return first.fitted.summary.by_label and any(graph.influencers_.values())
