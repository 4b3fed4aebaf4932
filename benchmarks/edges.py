"""Which method ranks true edges first? Average precision over all pairs, in worlds whose edges are known."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import combinations

import numpy as np
from paper.worlds import LOOKBACK, WORLDS, World, alike, drawn, random_edges

import summarkov as sm
from benchmarks.data import presence
from benchmarks.timing import Row

#: A ranking gives every pair (influencer, target) a number; larger is likelier an edge.
Ranks = Mapping[tuple[str, str], float]
#: Penalties of the lasso, the strongest first.
PENALTIES = (16.0, 8.0, 6.0, 4.0, 3.0, 2.5, 2.0, 1.5, 1.0)


def by_graph(world: World) -> Ranks:
    """By the evidence of the edges of a graph of binary summary Markov models; other pairs come last."""
    return _ranks(_fit(world), world, {})


def by_frequency(world: World) -> Ranks:
    """By how many of 100 resampled graphs have the edge, then as before."""
    graph = _fit(world)
    sure = graph.confidence(world.events, n=100)
    found = {(z, x): float(k) for z, x, k in sure.seldom}
    return _ranks(
        graph,
        world,
        found | {(e.influencer, e.target): 100 * (e.frequency or 0) for e in (*sure.edges, *sure.others)},
    )


def by_order(world: World) -> Ranks:
    """As the first, but edges that pass the order test and are more than crowding out first."""
    graph = _fit(world)
    passed = (e for e in graph.order_test(world.events).depends_on_order if not e.is_crowding_out)
    return _ranks(graph, world, {(edge.influencer, edge.target): 2 - edge.p_value for edge in passed})


def _fit(world: World) -> sm.InfluenceGraph:
    return sm.InfluenceGraph(sm.BSuMM(lookback=LOOKBACK)).fit(world.events)


def _ranks(graph: sm.InfluenceGraph, world: World, first: Ranks) -> Ranks:
    """All pairs by a number, those of the same number by the evidence of the graph's edges."""
    evidence = {(edge.influencer, edge.target): 1 - at / 1e6 for at, edge in enumerate(graph.edges_)}
    pairs = [(z, x) for z in world.events.labels for x in world.events.labels]
    return {pair: first.get(pair, 0.0) + evidence.get(pair, 0.0) / 2 for pair in pairs}


def by_lasso(world: World) -> Ranks:
    """Logistic regression of each label on presence: the strongest penalty that leaves a coefficient.

    Presence is standardised and penalties are in standard deviations of the gradient without any influence,
    so that those of different targets can be compared.
    """
    from sklearn.linear_model import LogisticRegression

    seen, labels = presence(world.events, LOOKBACK).astype(float), world.events.labels
    seen = (seen - seen.mean(axis=0)) / np.maximum(seen.std(axis=0), 1e-12)
    ranks: dict[tuple[str, str], float] = {}
    for x, target in enumerate(labels):
        occurred = world.events.codes == x
        entered = np.zeros(len(labels))
        for penalty in PENALTIES:
            strength = penalty * np.sqrt(len(occurred) * occurred.mean() * (1 - occurred.mean()))
            model = LogisticRegression(C=1 / strength, l1_ratio=1, solver="liblinear", tol=1e-3)
            size = np.abs(model.fit(seen, occurred).coef_[0])
            entered = np.where(entered > 0, entered, np.where(size > 0, penalty + np.tanh(size), 0.0))
        ranks |= {(label, target): entered[z] for z, label in enumerate(labels)}
    return ranks


def by_pairwise_test(world: World) -> Ranks:
    """A G-test of each pair by itself."""
    return by_pc(world, deepest=0)


def by_pc(world: World, deepest: int = 2, level: float = 0.01) -> Ranks:
    """The skeleton of the PC algorithm on lagged presence: the largest p-value of any test of a pair.

    Edges go from the past to the present, so only targets are tested. A pair stays while it depends given
    every set of up to ``deepest`` others that still stay, G-tests at ``level``.
    """
    seen, labels = presence(world.events, LOOKBACK).astype(np.int64), world.events.labels
    ranks: dict[tuple[str, str], float] = {}
    for x, target in enumerate(labels):
        occurred = (world.events.codes == x).astype(np.int64)
        least = {z: _log_p(occurred, seen[:, z], seen[:, ()]) for z in range(len(labels))}
        staying = [z for z, p in least.items() if p < np.log(level)]
        for size in range(1, deepest + 1):
            for z in sorted(staying, key=lambda z: -least[z]):
                others = [u for u in staying if u != z]
                for given in combinations(others, size):
                    least[z] = max(least[z], _log_p(occurred, seen[:, z], seen[:, given]))
                    if least[z] >= np.log(level):
                        staying.remove(z)
                        break
        ranks |= {(label, target): -least[z] for z, label in enumerate(labels)}
    return ranks


def _log_p(occurred: np.ndarray, with_: np.ndarray, given: np.ndarray) -> float:
    """The logarithm of the p-value of a G-test of independence, given others."""
    from scipy.stats import chi2

    state = given @ (1 << np.arange(given.shape[1])) if given.shape[1] else np.zeros(len(given), np.int64)
    cells = np.bincount(4 * state + 2 * with_ + occurred, minlength=4 << given.shape[1])
    table = cells.reshape(-1, 2, 2).astype(float)
    expected = table.sum(axis=1, keepdims=True) * table.sum(axis=2, keepdims=True)
    expected /= np.maximum(table.sum(axis=(1, 2), keepdims=True), 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        statistic = 2 * np.where(table > 0, table * np.log(table / expected), 0.0).sum()
    return float(chi2.logsf(max(statistic, 0.0), (expected.min(axis=(1, 2)) > 0).sum() or 1))


METHODS: Mapping[str, Callable[[World], Ranks]] = {
    "evidence": by_graph,
    "frequency in 100 resampled graphs": by_frequency,
    "evidence after the order test": by_order,
    "lasso": by_lasso,
    "PC": by_pc,
    "pairwise": by_pairwise_test,
}

#: Worlds with true edges, the weak and the many included.
CHOSEN: Mapping[str, Callable[[np.random.Generator], World]] = {
    **{name: make for name, make in WORLDS.items() if "true" in name},
    "all alike, 100 sequences, 8 true edges x2": lambda rng: drawn(
        rng, alike(rng, 100, 40, 10, 100.0), random_edges(rng, 10, 8, 2.0)
    ),
}


def average_precision(ranks: Ranks, world: World) -> float:
    """The mean, over true edges, of the share of true ones among all pairs that rank no lower."""
    names = list(ranks)
    values = np.array([ranks[name] for name in names])
    true = np.array([name in world.truth for name in names])
    return float(np.mean([true[values >= value].mean() for value in values[true]]))


def rows(times: int = 5) -> Iterator[Row]:
    """Average precision of each method in each world."""
    for at, (name, make) in enumerate(CHOSEN.items()):
        worlds = [make(np.random.default_rng([1000 + seed, at])) for seed in range(times)]
        found = {
            method: np.mean([average_precision(rank(world), world) for world in worlds])
            for method, rank in METHODS.items()
        }
        told = ", ".join(f"{method} {value:.2f}" for method, value in found.items())
        yield Row(f"average precision of edges, {name}", told, "reported")
