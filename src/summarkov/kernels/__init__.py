"""Kernels: arrays in, int64 counts out.

Each exists twice, in NumPy and in C++, and which one serves changes nothing but the time. The C++ ones are
taken where they were built, unless the environment variable ``SUMMARKOV_KERNELS`` is ``numpy`` (or
``native``, to insist).
"""

import os
from types import ModuleType

from summarkov.kernels import boosted, history_tests, numpy_kernels, shuffles
from summarkov.kernels.boosted import NONE, Grown, Growth, LevelArray
from summarkov.kernels.history_tests import LEAF, MORE_RECENT, OCCURS, START, Recency
from summarkov.kernels.index import UNLIMITED, Index, Places, Span, in_units
from summarkov.kernels.numpy_kernels import chain_states, distinct, merge_keys, outcomes_counted, tabulate
from summarkov.kernels.shuffles import PresenceAsked, Seeds, block_seeds, sequence_seeds
from summarkov.kernels.window import BINARY, COUNT, ORDINAL_FIRST, ORDINAL_LAST, Window


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
count_states = _chosen.count_states
count_candidates = _chosen.count_candidates
count_followed = _chosen.count_followed
_tests = history_tests if _chosen is numpy_kernels else _chosen
count_tests = _tests.count_tests
tree_leaves = _tests.tree_leaves
add_rows = _chosen.add_rows
_boosted = boosted if _chosen is numpy_kernels else _chosen
tree_grower = _boosted.tree_grower
said_by_trees = _boosted.said_by_trees
count_presence = (shuffles if _chosen is numpy_kernels else _chosen).count_presence
shuffled = (shuffles if _chosen is numpy_kernels else _chosen).shuffled


def backend() -> str:
    """Tell which kernels serve: "native" or "numpy"."""
    return "numpy" if _chosen is numpy_kernels else "native"
