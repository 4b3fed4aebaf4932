"""Tests of the history in NumPy: where a decision tree leads, and what each further test would tell apart.

A tree is an array with one row per node, the root first: kind, label, other label, count, look-back, and the
rows of the yes and the no branch. Its tests are

- ``OCCURS``: the lag to the count-th most recent occurrence of the label, in positions or in time, is at most
  the look-back; of an attribute it is 0;
- ``MORE_RECENT``: the last occurrence of the label is more recent than that of the other;
- ``START``: fewer events than the look-back precede in the sequence.

What is counted at a leaf is not tests but recency, from which every test follows by sums.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from summarkov.kernels.index import ABSENT, MOST_CELLS, UNLIMITED, Index
from summarkov.kernels.numpy_kernels import add, outcomes_counted
from summarkov.typing import BoolArray, CodeArray, IntArray

LEAF, OCCURS, MORE_RECENT, START = range(4)
#: Positions whose lags are in memory at once.
_AT_ONCE = 1 << 16


class Recency(NamedTuple):
    """What is told apart: of these labels, the bins of the lags of the last ``depth`` occurrences.

    ``lookbacks`` are sorted upper ends of the bins (``UNLIMITED`` for the whole past), ``starts`` likewise
    the numbers of preceding events; ``order`` asks for pairs of labels by which was more recent. ``depth`` is
    at least the largest count that the tree asks for. ``in_time`` says that look-backs, also those of the
    tree, are times.
    """

    labels: CodeArray
    lookbacks: IntArray
    depth: int
    starts: IntArray
    order: bool
    in_time: bool = False

    def shapes(self, n_open: int, n_outcomes: int) -> list[tuple[int, ...]]:
        """The shapes of the tables; more cells than memory should hold are refused."""
        n = len(self.labels)
        shapes: list[tuple[int, ...]] = [
            (n_open, n_outcomes),
            (n_open, n, self.depth, len(self.lookbacks), n_outcomes),
            (n_open, len(self.starts), n_outcomes),
            (n_open, n, n, n_outcomes) if self.order else (n_open, 0, 0, n_outcomes),
        ]
        if sum(int(np.prod([int(s) for s in shape], dtype=object)) for shape in shapes) > MOST_CELLS:
            raise MemoryError
        return shapes


def count_tests(
    index: Index,
    weights: IntArray | None,
    tree: IntArray,
    slots: IntArray,
    recency: Recency,
    outcome_of: CodeArray,
    n_outcomes: int,
) -> tuple[IntArray, IntArray, IntArray, IntArray]:
    """Count the outcomes at some leaves of a tree by the recency of every label.

    ``slots`` has the place of each node in the tables, -1 for all but the leaves that are asked for. Returns
    ``counts[open, x]``; ``lags[open, label, c, bin, x]``, where the c-th most recent occurrence is in a bin
    of look-backs; ``starts[open, bin, x]``; and ``pairs[open, z, y, x]``, where z and y occurred and z is the
    more recent.
    """
    counts, lags, starts, pairs = (
        np.zeros(shape, np.int64) for shape in recency.shapes(int(slots.max(initial=-1)) + 1, n_outcomes)
    )
    past = _Past(index, recency.in_time)
    counted = outcomes_counted(index, weights, outcome_of)
    for block in _blocks(index):
        slots_here = np.full(len(block), -1)
        for node, rows in past.leaves(tree, block):
            slots_here[rows - block[0]] = slots[node]
        for outcomes, weight in counted:
            some = (slots_here >= 0) & (outcomes[block] >= 0)
            rows, slot = block[some], slots_here[some]
            x, each = outcomes[rows], None if weight is None else weight[rows]
            add(counts, slot * n_outcomes + x, np.ones(len(rows), bool), each)
            begun = np.searchsorted(recency.starts, past.since_start(rows), side="right")
            n_starts = len(recency.starts)
            add(starts, (slot * n_starts + begun) * n_outcomes + x, begun < n_starts, each)
            last = []
            for number, label in enumerate(recency.labels.tolist()):
                for c in range(recency.depth):
                    lag = past.lag(rows, label, c + 1)
                    place = np.searchsorted(recency.lookbacks, lag)
                    seen = (lag < -ABSENT) & (place < len(recency.lookbacks))
                    cell = (slot * len(recency.labels) + number) * recency.depth + c
                    add(lags, (cell * len(recency.lookbacks) + place) * n_outcomes + x, seen, each)
                last.append(past.last(rows, label))
            if recency.order:
                for z, mine in enumerate(last):
                    for y, other in enumerate(last):
                        cell = (slot * len(last) + z) * len(last) + y
                        add(pairs, cell * n_outcomes + x, (mine > other) & (other > ABSENT), each)
    return counts, lags, starts, pairs


def tree_leaves(index: Index, tree: IntArray, in_time: bool = False) -> IntArray:
    """The leaf, as a row of the tree, at which each row ends."""
    past, found = _Past(index, in_time), np.zeros(len(index.codes), np.int64)
    for block in _blocks(index):
        for node, rows in past.leaves(tree, block):
            found[rows] = node
    return found


def _blocks(index: Index) -> Iterator[IntArray]:
    for start in range(0, len(index.codes), _AT_ONCE):
        yield np.arange(start, min(start + _AT_ONCE, len(index.codes)))


def in_units(sizes: IntArray, unit: int) -> IntArray:
    """Spans of time in the unit of times."""
    return np.where(sizes == UNLIMITED, UNLIMITED, sizes // unit)


class _Past:
    """Looks up how far back things are."""

    def __init__(self, index: Index, in_time: bool) -> None:
        self._index, order = index, np.argsort(index.codes, kind="stable")
        ends = np.searchsorted(index.codes[order], np.arange(index.n_labels + 1))
        self._of_label = np.split(order, ends)[1:-1]  # the rows of each label
        self._first = index.first_rows(index.tick, index.sequence)
        self._clock = index.times if in_time and index.times is not None else index.tick
        self._now = self._clock if not in_time or index.asked is None else index.asked

    def last(self, rows: IntArray, label: int, count: int = 1) -> IntArray:
        """The row of the count-th most recent occurrence of a label; ABSENT: there is none."""
        of_label = self._of_label[label]
        place = np.searchsorted(of_label, self._first[rows]) - count
        if not len(of_label):
            return np.full(len(rows), ABSENT)
        found = of_label[np.maximum(place, 0)]
        return np.where(
            (place >= 0) & (found >= self._index.offsets[self._index.sequence[rows]]), found, ABSENT
        )

    def lag(self, rows: IntArray, label: int, count: int) -> IntArray:
        """How far back the count-th most recent occurrence of a label is; -ABSENT or more: there is none."""
        last, given = self.last(rows, label, count), self._index.attributes
        since = self._now[rows] - self._clock[np.maximum(last, 0)]
        if given is not None and given[label]:
            since = np.zeros_like(since)
        return np.where(last > ABSENT, since, -2 * (ABSENT // 2))

    def since_start(self, rows: IntArray) -> IntArray:
        """How many positions precede."""
        return np.asarray(self._index.tick[rows] - self._index.bounds[self._index.sequence[rows]])

    def leaves(self, tree: IntArray, rows: IntArray) -> Iterator[tuple[int, IntArray]]:
        """The leaves, and the positions that end there."""
        waiting = [(0, rows)]
        while waiting:
            node, rows = waiting.pop()
            if tree[node, 0] == LEAF:
                yield node, rows
                continue
            yes = self._passes(tree[node], rows)
            waiting += [(int(tree[node, 5]), rows[yes]), (int(tree[node, 6]), rows[~yes])]

    def _passes(self, test: IntArray, rows: IntArray) -> BoolArray:
        kind, label, other, count, within = test[:5].tolist()
        if kind == OCCURS:
            return np.asarray(self.lag(rows, label, count) <= within)
        if kind == MORE_RECENT:
            return np.asarray(self.last(rows, label) > self.last(rows, other))
        return np.asarray(self.since_start(rows) < within)
