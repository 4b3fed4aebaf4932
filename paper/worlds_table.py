"""What "depends on order", a high frequency and a small q-value are worth in worlds of many kinds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from paper.section import Section
from paper.worlds import LOOKBACK, WORLDS, World
from summarkov.evidence import exact_intervals
from summarkov.models import BSuMM, InfluenceGraph

#: Ways to be sure of an edge.
CLAIMS = ("an edge", "depends on order", "frequency 0.9")


@dataclass(frozen=True)
class Claimed:
    """How many edges are claimed of one world, how many of the claims are true, and how many edges are."""

    claimed: Mapping[str, int]
    true: Mapping[str, int]
    n_true: int


def examine_world(world: World, n: int) -> Claimed:
    """Learn a graph with default settings, and claim edges in each of the ways.

    A claim is true if the edge is, with its direction. ``n`` is the number of graphs from resampled data.
    Of those that depend on order, crowding out is left out.
    """
    graph = InfluenceGraph(BSuMM(lookback=LOOKBACK)).fit(world.events)
    order = graph.order_test(world.events)
    claims = {
        "an edge": {(e.influencer, e.target): e.ratio for e in graph.edges_},
        "depends on order": {
            (e.influencer, e.target): e.ratio for e in order.depends_on_order if not e.is_crowding_out
        },
        "frequency 0.9": {
            (e.influencer, e.target): e.ratio for e in graph.confidence(world.events, n=n).stable(0.9)
        },
    }
    true = {
        how: sum(
            pair in world.truth and (ratio > 1) == (world.truth[pair] > 1) for pair, ratio in some.items()
        )
        for how, some in claims.items()
    }
    return Claimed({how: len(some) for how, some in claims.items()}, true, len(world.truth))


def worlds_table(
    graphs: int = 20,
    n: int = 50,
    names: Iterable[str] = WORLDS,
    progress: Callable[[int, int], None] | None = None,
) -> Section:
    """Learn ``graphs`` graphs of each world."""
    names = list(names)
    rows = []
    for at, name in enumerate(names):
        found = []
        for seed in range(graphs):
            found.append(examine_world(WORLDS[name](np.random.default_rng([seed, at])), n))
            if progress is not None:
                progress(at * graphs + seed + 1, len(names) * graphs)
        rows.append([name, *_cells(found)])
    return Section(
        "Worlds as they may be",
        f"Means over {graphs} graphs of each world, default settings, look-back {LOOKBACK}. "
        "Of each way to be sure of an edge: how many false edges there are in a graph, and (of worlds with "
        "true edges) which share of what is claimed is true, with its 95% interval, and which share of the "
        "true edges is found. Crowding out counts as false unless it is called that.",
        ["world", *(f"{how}: {what}" for how in CLAIMS for what in ("false", "true", "found"))],
        rows,
        [
            "Depends on order: the order test, edges that are more than crowding out.",
            f"Frequency 0.9: edges that at least 90% of {n} graphs from resampled sequences have.",
        ],
    )


def _cells(found: Sequence[Claimed]) -> list[str]:
    cells = []
    n_true = sum(one.n_true for one in found)
    for how in CLAIMS:
        claimed, true = sum(one.claimed[how] for one in found), sum(one.true[how] for one in found)
        low, high = exact_intervals([true], [claimed])[0] if claimed else (0.0, 1.0)
        cells.append(f"{(claimed - true) / len(found):.2f}")
        share = f"{true / claimed:.0%} ({low:.0%} to {high:.0%})" if claimed else "none claimed"
        cells += [share, f"{true / n_true:.0%}"] if n_true else ["", ""]
    return cells
