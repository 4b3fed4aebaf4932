"""The kernels in C++ (``native/``): same names, same results to the last bit, much faster.

Importing this module fails where the extension was not built.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from summarkov.kernels import _native
from summarkov.kernels.edges import (
    ClusterSums,
    ClusterTarget,
    ClusterValues,
    OrderCounts,
    OrderEdges,
    OrderEvents,
)
from summarkov.kernels.index import MOST_CELLS, Index
from summarkov.kernels.trees import Grower, Grown, LevelArray, Recency
from summarkov.typing import IntArray

# These take and give what their twins do.
said_by_trees = _native.said_by_trees  # :func:`summarkov.kernels.trees.said_by_trees`


def _shard(index: Index) -> Any:
    """Rows with the positions of every label, and all that is looked up of them, made once."""

    def make() -> Any:
        held = np.zeros(index.n_labels + 1, bool) if index.attributes is None else index.attributes
        rows = index.codes, index.offsets, index.n_labels, index.starts, held
        return _native.Index(*rows, index.times, index.unit, index.asked)

    return index.keep("native", make)


def _of_rows(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """A kernel that takes nothing but the arrays that its twin does."""
    return lambda index, *asked: kernel(_shard(index), *asked)


window_states = _of_rows(_native.states)  # :func:`summarkov.kernels.numpy_kernels.window_states`
count_followed = _of_rows(_native.followed)  # :func:`summarkov.kernels.edges.count_followed`


def count_candidates(index: Index, *asked: Any, given: int | None = None) -> Any:
    """See :func:`summarkov.kernels.numpy_kernels.count_candidates`."""
    arguments: list[Any] = [*asked, given, MOST_CELLS]
    return _native.count(_shard(index), *arguments)


def count_tests(index: Index, weights: Any, tree: Any, slots: Any, recency: Recency, *outcomes: Any) -> Any:
    """See :func:`summarkov.kernels.trees.count_tests`."""
    shapes = recency.shapes(int(slots.max(initial=-1)) + 1, outcomes[-1])
    arguments: list[Any] = [weights, tree, slots, recency, *outcomes, shapes]
    return _native.tests(_shard(index), *arguments)


def tree_leaves(index: Index, tree: IntArray, in_time: bool = False) -> IntArray:
    """See :func:`summarkov.kernels.trees.tree_leaves`."""
    return _native.leaves(_shard(index), tree, in_time and index.times is not None)


def cluster_presence(
    index: Index, weights: IntArray | None, targets: Sequence[ClusterTarget], values: Sequence[ClusterValues]
) -> list[ClusterSums]:
    """See :func:`summarkov.kernels.edges.cluster_presence`."""
    blocks = {block: index.block_starts(block) for block in {one.block for one in values}}
    asked: list[tuple[object, ...]] = [
        (*target[:3], target.labels, one.present, one.base, one.hit, blocks[one.block])
        for target, one in zip(targets, values, strict=True)
    ]
    found = _native.clusters(_shard(index), weights, asked, *targets[0].delay)
    return [
        ClusterSums(squares.reshape(2, *one.base.shape[1:]), clusters)
        for (squares, clusters), one in zip(found, values, strict=True)
    ]


def order_counts(events: OrderEvents, edges: OrderEdges, replicates: IntArray) -> list[OrderCounts]:
    """See :func:`summarkov.kernels.edges.order_counts`."""
    return _native.order_counts(events, edges, replicates)


def tree_grower(levels: LevelArray) -> Grower:
    """See :func:`summarkov.kernels.trees.tree_grower`."""
    grower = _native.Grower(levels)
    return lambda allowed, rows, values, how: Grown(*grower.grow(allowed, rows, values, *how))
