"""The kernels in C++ (``native/``): same names, same results to the last bit, much faster.

Importing this module fails where the extension was not built.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from summarkov.kernels import _native
from summarkov.kernels.boosted import Grown, Growth, LevelArray
from summarkov.kernels.history_tests import Recency
from summarkov.kernels.index import MOST_CELLS, Index
from summarkov.kernels.numpy_kernels import BINARY, Window
from summarkov.kernels.places import Span
from summarkov.kernels.shuffles import PresenceAsked, Seeds
from summarkov.typing import BoolArray, CodeArray, IntArray

#: Positions are 32 bits wide in C++. No look-back with a limit reaches further than this.
_FAR = -(2**30)


def window_states(index: Index, influencers: CodeArray, window: Window) -> tuple[IntArray, CodeArray]:
    """See :func:`summarkov.kernels.numpy_kernels.window_states`."""
    ids, keys = _native.states(
        _shard(index),
        influencers,
        window.kind,
        window.lookback,
        window.delay,
        window.cap,
        _reach(index, window),
    )
    return ids, keys


def count_states(
    index: Index,
    weights: IntArray | None,
    influencers: CodeArray,
    outcome_of: CodeArray,
    n_outcomes: int,
    window: Window,
) -> tuple[CodeArray, IntArray]:
    """See :func:`summarkov.kernels.numpy_kernels.count_states`."""
    nobody = np.empty(0, np.int32)
    keys, counts, _ = count_candidates(index, weights, influencers, nobody, outcome_of, n_outcomes, window)
    return keys, counts


def count_candidates(
    index: Index,
    weights: IntArray | None,
    influencers: CodeArray,
    candidates: CodeArray,
    outcome_of: CodeArray,
    n_outcomes: int,
    window: Window,
) -> tuple[CodeArray, IntArray, IntArray]:
    """See :func:`summarkov.kernels.numpy_kernels.count_candidates`."""
    keys, counts, present = _native.count(
        _shard(index),
        weights,
        influencers,
        candidates,
        outcome_of,
        n_outcomes,
        window.kind,
        window.lookback,
        window.delay,
        window.cap,
        _reach(index, window),
        _totals(index, weights, window) if len(candidates) else np.empty(0, np.int64),
        MOST_CELLS,
    )
    return keys, counts, present


def count_tests(
    index: Index,
    weights: IntArray | None,
    tree: IntArray,
    slots: IntArray,
    recency: Recency,
    outcome_of: CodeArray,
    n_outcomes: int,
) -> tuple[IntArray, IntArray, IntArray, IntArray]:
    """See :func:`summarkov.kernels.history_tests.count_tests`."""
    shapes = recency.shapes(int(slots.max(initial=-1)) + 1, n_outcomes)
    return _native.tests(
        _shard(index),
        _clock(index, recency.in_time),
        weights,
        tree,
        slots,
        recency.labels,
        recency.lookbacks,
        recency.depth,
        recency.starts,
        recency.order,
        outcome_of,
        n_outcomes,
        shapes,
    )


def tree_leaves(index: Index, tree: IntArray, in_time: bool = False) -> IntArray:
    """See :func:`summarkov.kernels.history_tests.tree_leaves`."""
    return _native.leaves(_shard(index), _clock(index, in_time), tree, max(1, int(tree[:, 3].max())))


def add_rows(cells: IntArray, rows: IntArray, weights: IntArray, n_cells: int) -> IntArray:
    """See :func:`summarkov.kernels.numpy_kernels.add_rows`."""
    sums: IntArray = _native.add_rows(cells, rows, weights, n_cells)
    return sums


def count_followed(index: Index, weights: IntArray | None, pairs: IntArray) -> tuple[IntArray, CodeArray]:
    """See :func:`summarkov.kernels.numpy_kernels.count_followed`."""
    reaches = []
    if index.places is not None:
        for z, _, delay, lookback, delay_in_time, in_time in pairs.tolist():
            lookbacks = np.zeros(index.n_labels, np.int64)
            lookbacks[z] = lookback
            window = Window(
                BINARY, lookbacks, delay, 1, np.full(index.n_labels, bool(in_time)), bool(delay_in_time)
            )
            reaches.append(_reach(index, window))
    counts, ends = _native.followed(_shard(index), weights, np.ascontiguousarray(pairs), reaches)
    return counts, ends


def count_presence(
    index: Index, begun: int, weights: IntArray | None, asked: PresenceAsked
) -> list[tuple[CodeArray, IntArray]]:
    """See :func:`summarkov.kernels.shuffles.count_presence`."""
    lookbacks, reach_of = np.unique(
        np.stack([asked.lookbacks, asked.in_time.astype(np.int64)]), axis=1, return_inverse=True
    )
    nothing = np.empty(0, np.int32)
    placed: tuple[Any, ...] = nothing, nothing, [], np.empty(0, bool)
    past = index.past_positions
    if index.places is not None:
        spans = [Span(size, bool(in_time)) for size, in_time in lookbacks.T.tolist()]
        firsts = index.firsts(Span(asked.delay, asked.delay_in_time))
        placed = firsts, _before(index), [index.ends(span) for span in spans], index.places.attributes
        past = np.arange(-len(past), 0)
    return _native.presence(
        index.codes,
        index.offsets,
        past,
        index.past_codes,
        index.n_labels,
        begun,
        weights,
        asked.influencers,
        np.ascontiguousarray(lookbacks[0]),
        reach_of.reshape(-1).tolist(),
        asked.starts,
        asked.labels,
        asked.labels_starts,
        asked.ends,
        asked.delay,
        *placed,
    )


def shuffled(
    codes: CodeArray, offsets: IntArray, seeds: Seeds, begun: int, kept: int, within: int
) -> CodeArray:
    """See :func:`summarkov.kernels.shuffles.shuffled`."""
    made: CodeArray = _native.shuffled(codes, offsets, seeds, begun, kept, within)
    return made


def grow_trees(
    levels: LevelArray, allowed: BoolArray, rows: CodeArray, values: IntArray, how: Growth
) -> Grown:
    """See :func:`summarkov.kernels.boosted.grow_trees`."""
    return Grown(*_native.grow_trees(levels, allowed, rows, values, *how))


def leaves_of(levels: LevelArray, leaf: CodeArray, feature: CodeArray, level: CodeArray) -> LevelArray:
    """See :func:`summarkov.kernels.boosted.leaves_of`."""
    found: LevelArray = _native.leaves_of(levels, leaf, feature, level)
    return found


def _shard(index: Index) -> Any:
    """The shard with the positions of every label, made once."""
    if "native" not in index.kept:
        past = index.past_positions
        far = past < _FAR  # only their order matters
        past = np.where(far, _FAR - np.cumsum(far[::-1])[::-1], past)
        if index.places is not None:
            past = np.arange(-len(past), 0)
        index.kept["native"] = _native.Index(
            index.codes, index.offsets, past, index.past_codes, index.n_labels
        )
    return index.kept["native"]


def _before(index: Index) -> CodeArray:
    """How many positions begin before each row, and in all."""
    return index.ticks.before.astype(np.int32)


def _reach(index: Index, window: Window) -> Any:
    """Where rows stand in the windows, made once for each; None where every row is a position of its own."""
    if index.places is None:
        return None
    name = ("reach", window.name[1:])
    if name not in index.kept:
        spans, of = window.spans()
        ends = [index.ends(span) for span in spans]
        first = index.firsts(Span(window.delay, window.delay_in_time))
        index.kept[name] = _native.Reach(first, _before(index), ends, of, index.places.attributes)
    return index.kept[name]


def _clock(index: Index, in_time: bool) -> Any:
    """What trees measure distances by; None where every row is a position of its own."""
    if index.places is None:
        return None
    ticks = np.append(index.past_positions, index.ticks.of)
    clock = ticks
    if in_time:
        assert index.places.times is not None
        clock = np.append(
            np.zeros(0, np.int64) if index.places.past_times is None else index.places.past_times,
            index.places.times,
        )
    return _native.Clock(clock, ticks, _before(index), index.places.attributes)


def _totals(index: Index, weights: IntArray | None, window: Window) -> IntArray:
    """At how many positions each label is present, by level: the same for all influencers."""
    name = ("totals", window.name)
    found = index.kept.get(name)
    if found is None or found[0] is not weights:
        asked = window.kind, window.lookback, window.delay, window.cap, _reach(index, window)
        found = index.kept[name] = (weights, _native.totals(_shard(index), weights, *asked))
    totals: IntArray = found[1]
    return totals
