"""Kernels: arrays in, int64 counts out.

Each exists twice, in NumPy and in C++, and which one serves changes nothing but the time. The C++ ones are
taken where they were built, unless the environment variable ``SUMMARKOV_KERNELS`` is ``numpy`` (or
``native``, to insist).
"""

import os
from types import ModuleType

from summarkov.kernels import boosted, clusters, followed, history_tests, numpy_kernels, order
from summarkov.kernels.boosted import NONE, Grown, Growth, LevelArray
from summarkov.kernels.clusters import ClusterSums, ClusterTarget, ClusterValues, cluster_states
from summarkov.kernels.followed import EVERY_POSITION, EVERY_SEQUENCE, LAG_BINS
from summarkov.kernels.history_tests import LEAF, MORE_RECENT, OCCURS, START, Recency, in_units
from summarkov.kernels.index import BINARY, COUNT, ORDINAL_FIRST, ORDINAL_LAST, UNLIMITED, Index, Span, Window
from summarkov.kernels.numpy_kernels import (
    block_seeds,
    chain_states,
    group,
    merge_keys,
    outcomes_counted,
    sequence_seeds,
    tabulate,
)
from summarkov.kernels.order import OrderCounts, OrderEdges, OrderEvents


def _choose(wish: str) -> ModuleType:
    if wish not in ("", "numpy", "native"):
        raise ImportError(f"SUMMARKOV_KERNELS is {wish!r}; use 'numpy', 'native' or leave it unset")
    if wish == "numpy":
        return numpy_kernels
    try:
        from summarkov.kernels import native_kernels
    except ImportError:
        if wish == "native":
            raise
        return numpy_kernels
    return native_kernels


_chosen = _choose(os.environ.get("SUMMARKOV_KERNELS", ""))
window_states = _chosen.window_states
count_candidates = _chosen.count_candidates
add_rows = _chosen.add_rows
_tests, _boosted, _order, _clusters, _followed = (
    (history_tests, boosted, order, clusters, followed) if _chosen is numpy_kernels else [_chosen] * 5
)
count_tests = _tests.count_tests
tree_leaves = _tests.tree_leaves
tree_grower = _boosted.tree_grower
said_by_trees = _boosted.said_by_trees
order_counts = _order.order_counts
count_followed = _followed.count_followed
cluster_presence = _clusters.cluster_presence


def backend() -> str:
    """Tell which kernels serve: "native" or "numpy"."""
    return "numpy" if _chosen is numpy_kernels else "native"
