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
from summarkov.kernels.numpy_kernels import Window
from summarkov.kernels.shuffles import PresenceAsked, Seeds
from summarkov.typing import BoolArray, CodeArray, IntArray

#: Positions are 32 bits wide in C++. No look-back with a limit reaches further than this.
_FAR = -(2**30)


def window_states(index: Index, influencers: CodeArray, window: Window) -> tuple[IntArray, CodeArray]:
    """See :func:`summarkov.kernels.numpy_kernels.window_states`."""
    ids, keys = _native.states(_shard(index), influencers, *window)
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
        *window,
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


def tree_leaves(index: Index, tree: IntArray) -> IntArray:
    """See :func:`summarkov.kernels.history_tests.tree_leaves`."""
    return _native.leaves(_shard(index), tree, max(1, int(tree[:, 3].max())))


def add_rows(cells: IntArray, rows: IntArray, weights: IntArray, n_cells: int) -> IntArray:
    """See :func:`summarkov.kernels.numpy_kernels.add_rows`."""
    sums: IntArray = _native.add_rows(cells, rows, weights, n_cells)
    return sums


def count_followed(index: Index, weights: IntArray | None, pairs: IntArray) -> tuple[IntArray, CodeArray]:
    """See :func:`summarkov.kernels.numpy_kernels.count_followed`."""
    counts, ends = _native.followed(_shard(index), weights, np.ascontiguousarray(pairs))
    return counts, ends


def count_presence(
    index: Index, begun: int, weights: IntArray | None, asked: PresenceAsked
) -> list[tuple[CodeArray, IntArray]]:
    """See :func:`summarkov.kernels.shuffles.count_presence`."""
    return _native.presence(
        index.codes,
        index.offsets,
        index.past_positions,
        index.past_codes,
        index.n_labels,
        begun,
        weights,
        *asked,
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
        index.kept["native"] = _native.Index(
            index.codes, index.offsets, past, index.past_codes, index.n_labels
        )
    return index.kept["native"]


def _totals(index: Index, weights: IntArray | None, window: Window) -> IntArray:
    """At how many positions each label is present, by level: the same for all influencers."""
    name = (window.kind, window.lookback.tobytes(), window.delay, window.cap)
    found = index.kept.get(name)
    if found is None or found[0] is not weights:
        found = index.kept[name] = (weights, _native.totals(_shard(index), weights, *window))
    totals: IntArray = found[1]
    return totals
