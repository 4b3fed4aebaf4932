"""Passes over steps and cases: what an edge adds to the event just before, and which orders are fixed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np

from summarkov.engines.counts import StateCounts
from summarkov.engines.source import EventSource, Shard
from summarkov.events.vocabulary import END
from summarkov.kernels import Index
from summarkov.summaries import Reach
from summarkov.typing import FloatArray, IntArray

# ---------------------------------------------------------------------- beyond the previous step


class Step(NamedTuple):
    """An edge from influencer to target, and the window in which the influencer is looked for."""

    influencer: int
    target: int
    window: Reach


def count_steps(source: EventSource, steps: Sequence[Step]) -> list[FloatArray]:
    """Hits and positions with the influencer, and without it: ``[4, stratum]`` for each edge.

    A stratum has one event just before, or none; the target in the window, or not; and full windows, or those
    near the start, which reach beyond it. Strata in which the influencer itself is just before are left out:
    the rest tells what the edge says beyond the previous step.
    """
    found = []
    for step, table in zip(steps, source.map(_count_steps, steps) if steps else (), strict=True):
        counts = table.counts[table.keys[:, 0] // 4 != step.influencer] / source.scale
        n_with, hits_with, n, hits = counts.T
        found.append(np.stack([hits_with, n_with, hits - hits_with, n - n_with]))
    return found


def _count_steps(shard: Shard, steps: Sequence[Step]) -> list[StateCounts]:
    """Positions and hits with the influencer, and all positions and hits, by stratum, in one shard."""
    index, found = shard.index, list[StateCounts]()
    order = np.argsort(shard.codes, kind="stable")
    starts = np.searchsorted(shard.codes[order], np.arange(len(shard.labels) + 1))

    def tally(keys: IntArray, rows: IntArray) -> IntArray:
        counts = np.zeros(4 * (len(shard.labels) + 1), np.int64)
        if shard.weights is None:
            return np.bincount(keys, minlength=len(counts))
        np.add.at(counts, keys, shard.weights[index.sequence[rows]])
        return counts

    def rows_of(label: int) -> IntArray:
        return order[starts[label] : starts[label + 1]]

    def rows_with(label: int) -> IntArray:
        """The rows in whose window a label is."""
        which = rows_of(label)
        after, last = index.following[which], ends[which]
        last = np.where(after < 0, last, np.minimum(last, firsts[after] - 1))
        sizes = np.maximum(last - firsts[which] + 1, 0)
        return np.repeat(firsts[which] - np.cumsum(sizes) + sizes, sizes) + np.arange(sizes.sum())

    has_target = np.zeros(len(shard.codes), np.int64)
    positions, by_window = np.flatnonzero(index.heads), dict[Reach, tuple[IntArray, ...]]()
    for (x, window), edges in groupby(steps, lambda step: (step.target, step.window)):
        if window not in by_window:
            strata = _strata(index, window)
            far = index.firsts(window.delay_span), index.ends(window.lookback_span)
            by_window[window] = strata, tally(strata[positions], positions), *far
        strata, every, firsts, ends = by_window[window]
        rows, hits = rows_with(x), rows_of(x)
        has_target[rows] = 1
        present = tally(strata[rows], rows)
        n = every - present + np.append(0, present[:-1])  # strata are even, and odd with the target
        all_ = n, tally(strata[hits] + has_target[hits], hits)
        keys = np.flatnonzero(n)
        for step in edges:
            with_ = rows_with(step.influencer)
            hit = with_[shard.codes[with_] == x]
            mine = (tally(strata[some] + has_target[some], some) for some in (with_, hit))
            counts = np.stack([*mine, *all_], axis=1)
            found.append(StateCounts(keys[:, None].astype(np.int32), counts[keys]))
        has_target[rows] = 0
    return found


def _strata(index: Index, window: Reach) -> IntArray:
    """Four times the label just before each row (``n_labels``: none is), and 2 near the start."""
    codes, span = index.codes, window.lookback_span
    before = np.append(index.n_labels, codes[:-1]).astype(np.int64)[: len(codes)]
    is_first = index.tick == index.bounds[index.sequence]
    before[is_first | (before < 0)] = index.n_labels
    reach = 1 if span.in_time else span.size
    return 4 * before + 2 * (index.tick - index.bounds[index.sequence] < reach)


# ---------------------------------------------------------------------- fixed successions

#: A pair is in fixed succession in so large a share of the cases with either, and in so many cases at least.
SUCCESSION_SHARE, SUCCESSION_CASES = 0.95, 20
#: Labels of which successions are looked for: those that the most cases have.
MOST_LABELS = 1000
#: Cells of tables of cases by labels that are made at a time.
_CELLS = 1 << 22


@dataclass(frozen=True)
class Chain:
    """Labels that always come in this order: in so many of the cases that have any of them."""

    labels: tuple[str, ...]
    cases: float
    cases_with_any: float


def fixed_successions(source: EventSource) -> tuple[list[Chain], set[tuple[int, int]]]:
    """The chains of what always comes in one order, and all pairs behind them.

    In at least 95% of the cases with Z, x comes after the last Z; in at least 95% of the cases with x, a Z
    comes before the first x. Chains are what is left of the pairs without those that follow from others.
    """
    import networkx

    if source.outcomes:
        return [], set()
    n_cases = source.map(_count_cases)
    n_cases[np.isin(source.labels, (END, *source.attributes))] = 0
    often = np.flatnonzero(n_cases >= SUCCESSION_CASES * source.scale)
    often = np.sort(often[np.argsort(-n_cases[often], kind="stable")][:MOST_LABELS])
    both = source.map(partial(_count_both, often)).tocoo()
    z, x = often[both.row], often[both.col]
    pairs = np.stack([z, x], axis=1)[
        (z != x) & (both.data >= SUCCESSION_SHARE * np.maximum(n_cases[z], n_cases[x]))
    ]
    if not len(pairs):
        return [], set()
    enough = source.map(partial(_count_successions, pairs)) >= SUCCESSION_SHARE * n_cases[pairs]
    fixed = set(map(tuple, pairs[enough.all(axis=1)].tolist()))
    if not fixed:
        return [], set()
    graph = networkx.DiGraph(sorted(fixed))
    if networkx.is_directed_acyclic_graph(graph):
        graph = networkx.transitive_reduction(graph)
    paths = sorted(_paths(graph))
    cases = source.map(partial(_count_chains, paths)) / source.scale
    chains = [
        Chain(tuple(source.labels[z] for z in path), *n)
        for path, n in zip(paths, cases.tolist(), strict=True)
    ]
    return sorted(chains, key=lambda chain: (-len(chain.labels), -chain.cases, chain.labels)), fixed


def _paths(graph: Any) -> list[tuple[int, ...]]:
    """The edges of a graph as paths that end where it branches or joins."""
    inner = {z for z in graph if graph.in_degree(z) == graph.out_degree(z) == 1}
    paths = []
    for first, second in graph.edges:
        if first in inner:
            continue
        path = [first, second]
        while path[-1] in inner:
            path += graph.successors(path[-1])
        paths.append(tuple(path))
    return paths


def _count_cases(shard: Shard) -> IntArray:
    """How many cases have each label, each with its weight."""
    index, counts = shard.index, np.zeros(len(shard.labels), np.int64)
    last = np.flatnonzero((shard.codes >= 0) & (index.following < 0))  # one row for each label of a case
    np.add.at(counts, shard.codes[last], 1 if shard.weights is None else shard.weights[index.sequence[last]])
    return counts


def _count_both(labels: IntArray, shard: Shard) -> Any:
    """How many cases have each two of some labels, each with its weight: a sparse matrix."""
    from scipy.sparse import csr_array

    column_of = np.full(len(shard.labels) + 1, -1)
    column_of[labels] = np.arange(len(labels))
    rows = np.flatnonzero((column_of[shard.codes] >= 0) & (shard.index.following < 0))
    case, column = shard.index.sequence[rows], column_of[shard.codes[rows]]
    has = csr_array((np.ones(len(rows), np.int64), (case, column)), shape=(shard.n_sequences, len(labels)))
    return has.T @ (has if shard.weights is None else has.multiply(shard.weights[:, None]).tocsr())


def _count_successions(pairs: IntArray, shard: Shard) -> IntArray:
    """In how many cases x comes after the last z, and z before the first x: ``[pair, 2]``."""
    counts = np.zeros((len(pairs), 2), np.int64)
    labels, columns = np.unique(pairs, return_inverse=True)
    z, x = columns.reshape(pairs.shape).T
    for first, last, weights in _first_and_last(shard, labels):
        for at in range(len(pairs)):
            both = (first[:, z[at]] >= 0) & (first[:, x[at]] >= 0)
            counts[at, 0] += weights[both & (last[:, x[at]] > last[:, z[at]])].sum()
            counts[at, 1] += weights[both & (first[:, z[at]] < first[:, x[at]])].sum()
    return counts


def _count_chains(paths: Sequence[Sequence[int]], shard: Shard) -> IntArray:
    """In how many cases the last of each label come in this order, and how many have any: ``[path, 2]``."""
    counts = np.zeros((len(paths), 2), np.int64)
    for at, path in enumerate(paths):
        for _, last, weights in _first_and_last(shard, np.array(path)):
            in_order = (np.diff(last, axis=1) > 0).all(axis=1) & (last[:, 0] >= 0)
            counts[at] += weights[in_order].sum(), weights[(last >= 0).any(axis=1)].sum()
    return counts


def _first_and_last(shard: Shard, labels: IntArray) -> Iterator[tuple[IntArray, IntArray, IntArray]]:
    """The first and the last tick of labels in each case (-1: none), and its weight; some cases at a time."""
    index, column_of = shard.index, np.full(len(shard.labels) + 1, -1)
    column_of[labels] = np.arange(len(labels))
    weights = np.ones(shard.n_sequences, np.int64) if shard.weights is None else shard.weights
    column = column_of[shard.codes]
    ends = [
        np.flatnonzero((column >= 0) & (neighbour < 0)) for neighbour in (index.previous, index.following)
    ]
    step = max(1, _CELLS // len(labels))
    for start in range(0, shard.n_sequences, step):
        stop = min(start + step, shard.n_sequences)
        ticks = np.full((2, stop - start, len(labels)), -1)
        for of, rows in zip(ticks, ends, strict=True):
            begin, end = np.searchsorted(rows, shard.offsets[[start, stop]])
            some = rows[begin:end]
            of[index.sequence[some] - start, column[some]] = index.tick[some]
        yield ticks[0], ticks[1], weights[start:stop]
