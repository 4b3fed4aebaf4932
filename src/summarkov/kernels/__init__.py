"""Kernels: arrays in, int64 counts out.

Each exists twice, in NumPy and in C++, and which one serves changes nothing but the time. The C++ ones are
taken where they were built, unless the environment variable ``SUMMARKOV_KERNELS`` is ``numpy`` (or
``native``, to insist).
"""

import os

from summarkov.kernels.edges import (
    EVERY_POSITION,
    EVERY_SEQUENCE,
    LAG_BINS,
    ClusterSums,
    ClusterTarget,
    ClusterValues,
    OrderEdges,
    OrderEvents,
    cluster_presence,
    cluster_states,
    count_followed,
    order_counts,
)
from summarkov.kernels.index import BINARY, COUNT, ORDINAL_FIRST, ORDINAL_LAST, UNLIMITED, Index, Span, Window
from summarkov.kernels.numpy_kernels import (
    block_seeds,
    chain_states,
    count_candidates,
    group,
    merge_keys,
    outcomes_counted,
    sequence_seeds,
    tabulate,
    window_states,
)
from summarkov.kernels.trees import (
    LEAF,
    MORE_RECENT,
    NONE,
    OCCURS,
    START,
    Growth,
    LevelArray,
    Recency,
    count_tests,
    in_units,
    said_by_trees,
    tree_grower,
    tree_leaves,
)

_backend, _wish = "numpy", os.environ.get("SUMMARKOV_KERNELS", "")
if _wish not in ("", "numpy", "native"):
    raise ImportError(f"SUMMARKOV_KERNELS is {_wish!r}; use 'numpy', 'native' or leave it unset")
if _wish != "numpy":
    try:
        from summarkov.kernels.native_kernels import (  # type: ignore[assignment]
            cluster_presence,
            count_candidates,
            count_followed,
            count_tests,
            order_counts,
            said_by_trees,
            tree_grower,
            tree_leaves,
            window_states,
        )

        _backend = "native"
    except ImportError:
        if _wish == "native":
            raise


def backend() -> str:
    """Tell which kernels serve: "native" or "numpy"."""
    return _backend
