"""Kernels: arrays in, int64 counts out."""

from summarkov.kernels.index import UNLIMITED, Index
from summarkov.kernels.numpy_kernels import (
    BINARY,
    COUNT,
    ORDINAL_FIRST,
    ORDINAL_LAST,
    Window,
    chain_states,
    count_candidates,
    count_states,
    merge_keys,
    tabulate,
    window_states,
)

__all__ = [
    "BINARY",
    "COUNT",
    "ORDINAL_FIRST",
    "ORDINAL_LAST",
    "UNLIMITED",
    "Index",
    "Window",
    "chain_states",
    "count_candidates",
    "count_states",
    "merge_keys",
    "tabulate",
    "window_states",
]
