"""How many edges does pure noise have, and what does it cost to have so few?"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from paper.section import Section
from paper.worlds import LOOKBACK, Random, World, alike, drawn, random_edges
from summarkov.models import BSuMM, InfluenceGraph

Progress = Callable[[int, int], None] | None

#: Ways to learn a graph, each with the bound of chance and without.
SETTINGS: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        "default": {"lookback": LOOKBACK},
        'look-back "auto"': {"lookback": "auto"},
        "marginal": {"lookback": LOOKBACK, "criterion": "marginal"},
        "marginal, alpha 10, base rate": {
            "lookback": LOOKBACK,
            "criterion": "marginal",
            "alpha": 10,
            "prior": "base-rate",
        },
        "gamma 0.5, alpha 20, base rate": {
            "lookback": LOOKBACK,
            "gamma": 0.5,
            "alpha": 20,
            "prior": "base-rate",
        },
    }
)
#: Labels, events and graphs.
SIZES = (
    *((10, 10**3, 40), (10, 10**4, 20), (10, 10**5, 10), (10, 10**6, 4)),
    *((30, 10**3, 20), (30, 10**4, 10), (30, 10**5, 5), (30, 10**6, 2)),
    *((100, 10**3, 10), (100, 10**4, 10), (100, 10**5, 5), (100, 10**6, 1)),
    *((300, 10**3, 5), (300, 10**4, 5), (300, 10**5, 2), (300, 10**6, 1)),
)
#: Without the bound of chance large vocabularies take long: they are learned with at most this many labels.
_MOST_FREE = 30


def learned(world: World, settings: Mapping[str, Any]) -> InfluenceGraph:
    """A graph of a world."""
    return InfluenceGraph(BSuMM(**settings), n_jobs=-1).fit(world.events)


def noise_table(sizes: Sequence[tuple[int, int, int]] = SIZES, progress: Progress = None) -> Section:
    """Edges of graphs of independent labels, by the number of labels and events."""
    rows, done, total = [], 0, sum(graphs for *_, graphs in sizes)
    for n_labels, n_events, graphs in sizes:
        bounded = np.zeros((len(SETTINGS), graphs), int)
        free = np.zeros_like(bounded)
        is_small = n_labels <= _MOST_FREE and n_events <= 10**4
        for seed in range(graphs):
            rng = np.random.default_rng([seed, n_labels, n_events])
            world = drawn(rng, alike(rng, n_events // 40, 40, n_labels))
            for at, settings in enumerate(SETTINGS.values()):
                bounded[at, seed] = len(learned(world, settings).edges_)
                if is_small:
                    free[at, seed] = len(learned(world, {**settings, "false_edges": None}).edges_)
            done += 1
            if progress is not None:
                progress(done, total)
        cells = [
            f"{mean:.2f}" + (f" ({without:.1f})" if is_small else "")
            for mean, without in zip(bounded.mean(axis=1), free.mean(axis=1), strict=True)
        ]
        rows.append([str(n_labels), f"{n_events:,}", str(graphs), *cells])
    return Section(
        "Edges in pure noise",
        "Independent labels with random rates in sequences of 40 events: every edge is false. Edges per "
        "graph, with `false_edges=0.2` as by default, which promises 0.2 at most; in brackets with "
        "`false_edges=None`, the paper's search.",
        ["labels", "events", "graphs", *SETTINGS],
        rows,
    )


#: Worlds with true edges that are hard to find.
HARD: Mapping[str, Callable[[Random], World]] = MappingProxyType(
    {
        "100 labels, 10,000 events, 20 edges x4": lambda rng: drawn(
            rng, alike(rng, 250, 40, 100), random_edges(rng, 100, 20, 4.0)
        ),
        "100 labels, 10,000 events, 20 edges x8": lambda rng: drawn(
            rng, alike(rng, 250, 40, 100), random_edges(rng, 100, 20, 8.0)
        ),
        "30 labels, 2,000 events, 20 edges x3": lambda rng: drawn(
            rng, alike(rng, 50, 40, 30), random_edges(rng, 30, 20, 3.0)
        ),
        "10 labels, 10,000 events, 8 edges x1.5": lambda rng: drawn(
            rng, alike(rng, 250, 40, 10), random_edges(rng, 10, 8, 1.5)
        ),
    }
)
_PRECISIONS = (0.99, 0.95, 0.9, 0.8)


@dataclass(frozen=True)
class Ranking:
    """Edges of several graphs together: their evidence, and whether they are true."""

    evidence: np.ndarray[tuple[int], np.dtype[np.float64]]
    is_true: np.ndarray[tuple[int], np.dtype[np.bool_]]
    n_true: int  # of all edges that there are

    @property
    def precision(self) -> float:
        """Share of the edges that are true."""
        return float(self.is_true.mean()) if len(self.is_true) else 1.0

    @property
    def recall(self) -> float:
        """Share of the true edges that are there."""
        return float(self.is_true.sum() / self.n_true)

    def recall_at(self, precision: float) -> float:
        """The largest share of the true edges among those of most evidence that have this precision."""
        found = np.cumsum(self.is_true[np.argsort(-self.evidence, kind="stable")])
        precise = found / np.arange(1, len(found) + 1) >= precision
        return float(found[precise].max(initial=0) / self.n_true)


def ranking(worlds: Sequence[World], settings: Mapping[str, Any]) -> Ranking:
    """Learn a graph of each world and rank all edges by their evidence."""
    edges = [
        (edge.evidence, (edge.influencer, edge.target) in world.truth)
        for world in worlds
        for edge in learned(world, settings).edges_
    ]
    evidence, is_true = np.array(edges, float).reshape(-1, 2).T
    return Ranking(evidence, is_true.astype(bool), sum(len(world.truth) for world in worlds))


def recall_table(graphs: int = 10, names: Sequence[str] = tuple(HARD), progress: Progress = None) -> Section:
    """What the bound of chance costs: precision and recall, with and without it."""
    rows = []
    for at, name in enumerate(names):
        worlds = [HARD[name](np.random.default_rng([seed, 77])) for seed in range(graphs)]
        with_bound, free = (
            ranking(worlds, {**SETTINGS["default"], "false_edges": allowed}) for allowed in (0.2, None)
        )
        for which, found in (("false_edges=0.2", with_bound), ("None", free)):
            rows.append(
                [
                    name,
                    which,
                    f"{found.precision:.3f}",
                    f"{found.recall:.3f}",
                    f"{found.recall_at(with_bound.precision):.3f}",
                    *(f"{found.recall_at(precision):.3f}" for precision in _PRECISIONS),
                ]
            )
        if progress is not None:
            progress(at + 1, len(names))
    return Section(
        "What the bound of chance costs",
        f"{graphs} graphs of each world, learned with default settings and without the bound. Precision is "
        "the share of the edges that are true, recall the share of the true ones that are found. Then the "
        "edges are ranked by evidence, and cut where the precision is that of the default, or as given.",
        [
            *("world", "false_edges", "precision", "recall", "recall at the default's precision"),
            *(f"at {precision:g}" for precision in _PRECISIONS),
        ],
        rows,
    )
