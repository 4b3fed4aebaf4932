"""Contexts of any length: the last labels, as many as a context tree asks for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from summarkov import kernels
from summarkov.settings import check_whole
from summarkov.summaries.base import Summary
from summarkov.typing import IntArray, KeyArray

#: What stands in a key: nothing further is asked, the sequence had not begun, or a label (its code + 2).
END, START, LABEL = 0, 1, 2


@dataclass(frozen=True)
class ContextSummary(Summary):
    r"""The longest context of a history: the labels at lags 1 to k, or as far back as its sequence goes.

    .. math:: |S| = \sum_{i=0}^{k} M^i + \sum_{i=0}^{k-1} M^i

    counts the contexts of all lengths, with and without the start. A key has k entries, the most recent
    label first. It ends with the start, which is a symbol of its own, or before an event of no known label.

    >>> ContextSummary(max_order=2).n_states(0, n_labels=10)
    122
    """

    max_order: int = 4

    def __post_init__(self) -> None:
        check_whole("max_order", self.max_order, 0, 1000)

    def n_states(self, n_influencers: int, n_labels: int) -> int:
        return sum(n_labels**i for order in (self.max_order + 1, self.max_order) for i in range(order))

    def encode(
        self, index: kernels.Index, influencers: Sequence[int], labels: Sequence[str]
    ) -> tuple[IntArray, KeyArray]:
        ids, chain = kernels.chain_states(index, self.max_order)
        unknown = chain > index.n_labels
        before = np.cumsum((chain == 0) | unknown, axis=1) - (chain == 0)  # how many of them came first
        keys, (where,) = kernels.merge_keys([np.where(before > 0, END, chain + 1).astype(np.int32)])
        return where[ids] if len(where) else ids, keys

    def state(self, key: Sequence[int], influencers: Sequence[str], labels: Sequence[str]) -> tuple[str, ...]:
        """The labels of the context, oldest first."""
        return tuple(labels[symbol - LABEL] for symbol in reversed(key) if symbol >= LABEL)

    def words(self, key: Sequence[int], influencers: Sequence[str], labels: Sequence[str]) -> str:
        start = ["start"] if START in key else []
        return " ".join([*start, *self.state(key, influencers, labels)]) or "any history"

    def memory(self) -> tuple[int, int | None]:
        return int(self.max_order), None


def with_shorter(keys: KeyArray) -> tuple[KeyArray, IntArray]:
    """Some contexts (distinct, in order) and all shorter ones that they end with; and where the given are.

    >>> with_shorter(np.array([[2, 1], [3, 2]], np.int32))[0].tolist()
    [[0, 0], [2, 0], [2, 1], [3, 0], [3, 2]]
    """
    n, width = keys.shape
    lengths = (keys != END).sum(axis=1)
    differs = np.ones((n, width + 1), bool)  # from the key before, in its first 0, 1, ... symbols
    differs[1:, 0] = False
    differs[1:, 1:] = np.logical_or.accumulate(keys[1:] != keys[:-1], axis=1)
    new = differs & (np.arange(width + 1) <= lengths[:, None])
    row, length = np.nonzero(new)
    every = np.where(np.arange(width) < length[:, None], keys[row], END).astype(np.int32)
    return every, np.cumsum(new.sum(axis=1)) - 1


def parents(contexts: KeyArray) -> IntArray:
    """The parent of each context: the one without its oldest symbol; -1 for the empty one.

    ``contexts`` are distinct, in order, and hold the parent of each.

    >>> parents(np.array([[0, 0], [2, 0], [2, 1], [3, 0], [3, 2]]))
    array([-1,  0,  1,  0,  3])
    """
    lengths = (contexts != END).sum(axis=1)
    parent = np.full(len(contexts), -1, np.int64)
    for length in range(1, contexts.shape[1] + 1):
        shorter, here = np.flatnonzero(lengths == length - 1), np.flatnonzero(lengths == length)
        if not len(here):
            break
        parent[here] = shorter[np.searchsorted(shorter, here) - 1]  # the last before it
    return parent


def longest(contexts: KeyArray, keys: KeyArray) -> IntArray:
    """The row of the longest of ``contexts`` (as for :func:`parents`) that each key ends with.

    >>> longest(np.array([[0, 0], [2, 0], [2, 1]]), np.array([[2, 3], [3, 2], [2, 1]]))
    array([1, 0, 2])
    """
    lengths = (contexts != END).sum(axis=1)
    parent = parents(contexts)
    row = np.zeros(len(keys), np.int64)
    on = np.arange(len(keys))  # keys whose context of this length is there
    n_symbols = int(max(contexts.max(initial=0), keys.max(initial=0))) + 1
    for length in range(1, contexts.shape[1] + 1):
        here = np.flatnonzero(lengths == length)
        on = on[keys[on, length - 1] != END]
        if not len(here) or not len(on):
            break
        known = parent[here] * n_symbols + contexts[here, length - 1]  # in order
        wanted = row[on] * n_symbols + keys[on, length - 1]
        at = np.minimum(np.searchsorted(known, wanted), len(known) - 1)
        found = known[at] == wanted
        on = on[found]
        row[on] = here[at[found]]
    return row
