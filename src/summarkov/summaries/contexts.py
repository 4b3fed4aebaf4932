"""The last labels themselves: as many as a chain has, or as many as a context tree asks for."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from summarkov import kernels
from summarkov.errors import StoreError
from summarkov.settings import check_whole
from summarkov.summaries.base import Encoded, Key, Names, Summary
from summarkov.typing import IntArray, KeyArray

#: What stands in the key of a context: nothing further is asked, the sequence had not begun, or a label.
END, START, LABEL = 0, 1, 2


class LastLabels(Summary):
    """Keys of the last labels, the most recent first: their codes + ``first``. ``first`` - 1 is the start."""

    keys_on_page: ClassVar[bool] = True
    first: ClassVar[int]
    #: What the page calls it.
    page_kind: ClassVar[str]

    def state(self, key: Key, names: Names) -> tuple[str, ...]:
        """The last labels, oldest first."""
        codes = (symbol - self.first for symbol in reversed(key))
        return tuple(names.labels[code] if code < len(names.labels) else "?" for code in codes if code >= 0)

    def words(self, key: Key, names: Names) -> str:
        start = ["start"] if self.first - 1 in key else []
        return " ".join([*start, *self.state(key, names)]) or "any history"

    @property
    def horizon(self) -> int | None:
        return self.key_width(0)

    def page_form(self, names: Names) -> dict[str, Any]:
        return {"kind": self.page_kind, "order": self.key_width(0)}

    def state_document(self, key: Key, names: Names) -> Any:
        """The last labels, the most recent first; null before the start."""
        codes = (symbol - self.first for symbol in key)
        return [names.labels[code] if code >= 0 else None for code in codes if code >= -1]


@dataclass(frozen=True)
class ChainSummary(LastLabels):
    r"""The labels at lags 1..k; contexts cut short by the start of a sequence are contexts of their own.

    .. math:: |S| = \sum_{i=0}^{k} M^i

    >>> ChainSummary(order=2).n_states(0, n_labels=10)
    111
    """

    order: int = 1

    first: ClassVar[int] = 1
    page_kind: ClassVar[str] = "chain"

    def __post_init__(self) -> None:
        check_whole("order", self.order, 0, 1000)

    @property
    def takes_ticks(self) -> bool:  # type: ignore[override]  # depends on the order
        return self.order == 0

    def n_states(self, n_influencers: int, n_labels: int) -> int:
        return sum(n_labels**i for i in range(self.order + 1))

    def encode(self, index: kernels.Index, influencers: Sequence[int], labels: Sequence[str]) -> Encoded:
        return kernels.chain_states(index, self.order)

    def key_width(self, n_influencers: int) -> int:
        return int(self.order)

    def read_key(self, state: Any, names: Names) -> tuple[int, ...]:
        key = tuple(code + 1 for code in codes_or_start(state, names.codes))
        if len(key) != self.order or any(a == 0 < b for a, b in itertools.pairwise(key)):
            raise StoreError.expected(f"{self.order} labels, or null where the sequence had not begun", state)
        return key


def codes_or_start(state: Any, codes: Mapping[str, int]) -> list[int]:
    """The labels of a context in a file as codes, the most recent first; -1 for null, before the start."""
    labels = state if isinstance(state, list) else [()]
    if not all(label is None or (isinstance(label, str) and label in codes) for label in labels):
        raise StoreError.expected("labels of 'data', or null before the start", state)
    return [-1 if label is None else codes[label] for label in state]


@dataclass(frozen=True)
class ContextSummary(LastLabels):
    r"""The longest context of a history: the labels at lags 1 to k, or as far back as its sequence goes.

    .. math:: |S| = \sum_{i=0}^{k} M^i + \sum_{i=0}^{k-1} M^i

    counts the contexts of all lengths, with and without the start. A key has k entries, the most recent
    label first. It ends with the start, which is a symbol of its own, or before an event of no known label.

    >>> ContextSummary(max_order=2).n_states(0, n_labels=10)
    122
    """

    max_order: int = 4

    first: ClassVar[int] = LABEL
    page_kind: ClassVar[str] = "contexts"

    def __post_init__(self) -> None:
        check_whole("max_order", self.max_order, 0, 1000)

    def n_states(self, n_influencers: int, n_labels: int) -> int:
        return sum(n_labels**i for order in (self.max_order + 1, self.max_order) for i in range(order))

    def encode(self, index: kernels.Index, influencers: Sequence[int], labels: Sequence[str]) -> Encoded:
        ids, chain = kernels.chain_states(index, self.max_order)
        unknown = chain > index.n_labels
        before = np.cumsum((chain == 0) | unknown, axis=1) - (chain == 0)  # how many of them came first
        keys, (where,) = kernels.merge_keys([np.where(before > 0, END, chain + 1).astype(np.int32)])
        return where[ids] if len(where) else ids, keys

    def key_width(self, n_influencers: int) -> int:
        return int(self.max_order)

    def read_key(self, state: Any, names: Names) -> tuple[int, ...]:
        key = tuple(START if code < 0 else code + LABEL for code in codes_or_start(state, names.codes))
        if len(key) > self.max_order or START in key[:-1]:
            raise StoreError.expected(
                f"at most {self.max_order} labels, the last null if the sequence had not begun", state
            )
        return (*key, *[END] * (self.max_order - len(key)))

    def read_table(self, states: Sequence[Any], counts: IntArray, names: Names) -> tuple[KeyArray, IntArray]:
        """The contexts, each with all shorter ones that it ends with, and the counts of each alone.

        A file has the counts of all histories that end with a context.
        """
        keys, _ = super().read_table(states, counts, names)
        if not len(keys) or keys[0].any() or not counts.any(axis=1).all():
            raise StoreError("expected the empty context first, and counts of each that was seen")
        there = {tuple(key) for key in keys.tolist()}
        for state, key in zip(states[1:], keys[1:].tolist(), strict=True):
            last = sum(symbol != END for symbol in key) - 1
            if (*key[:last], END, *key[last + 1 :]) not in there:
                raise StoreError.expected("a context of which the next shorter one is there too", state)
        own, precise = counts.copy(), counts.astype(float)
        for left in (own, precise):
            np.subtract.at(left, parents(keys)[1:], counts[1:])
        wrapped = precise < -(2.0**62)  # more than an integer holds
        if ((own < 0) | wrapped).any():
            raise StoreError("expected counts of at least those of longer contexts that end with one")
        return keys, own


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
