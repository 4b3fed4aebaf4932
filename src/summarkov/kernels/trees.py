"""Decision trees in NumPy: tests of the history, and what each further test would tell apart; boosted trees.

A tree is an array with one row per node, the root first: kind, label, other label, count, look-back, and the
rows of the yes and the no branch. Its tests are

- ``OCCURS``: the lag to the count-th most recent occurrence of the label, in positions or in time, is at most
  the look-back; of an attribute it is 0;
- ``MORE_RECENT``: the last occurrence of the label is more recent than that of the other;
- ``START``: fewer events than the look-back precede in the sequence.

What is counted at a leaf is not tests but recency, from which every test follows by sums.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import count as numbers
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from summarkov.kernels.index import ABSENT, MOST_CELLS, UNLIMITED, Index
from summarkov.kernels.numpy_kernels import add, outcomes_counted
from summarkov.typing import BoolArray, CodeArray, FloatArray, IntArray

LEAF, OCCURS, MORE_RECENT, START = range(4)


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
    shapes = recency.shapes(int(slots.max(initial=-1)) + 1, n_outcomes)
    counts, lags, starts, pairs = (np.zeros(shape, np.int64) for shape in shapes)
    past = _Past(index, recency.in_time)
    slot_of = slots[past.leaves(tree)]
    for outcomes, weight in outcomes_counted(index, weights, outcome_of):
        (rows,) = np.nonzero((slot_of >= 0) & (outcomes >= 0))
        slot, x, each = slot_of[rows], outcomes[rows], None if weight is None else weight[rows]
        add(counts, slot * n_outcomes + x, np.ones(len(rows), bool), each)
        begun, n_starts = np.searchsorted(recency.starts, past.begun[rows], side="right"), len(recency.starts)
        add(starts, (slot * n_starts + begun) * n_outcomes + x, begun < n_starts, each)
        last = [past.last(rows, label) for label in recency.labels.tolist()]
        for z, label in enumerate(recency.labels.tolist()):
            for c in range(recency.depth):
                lag = past.lag(rows, label, c + 1)
                place = np.searchsorted(recency.lookbacks, lag)
                seen = (lag < -ABSENT) & (place < len(recency.lookbacks))
                cell = ((slot * len(last) + z) * recency.depth + c) * len(recency.lookbacks) + place
                add(lags, cell * n_outcomes + x, seen, each)
            for y, other in enumerate(last if recency.order else ()):
                cell = (slot * len(last) + z) * len(last) + y
                add(pairs, cell * n_outcomes + x, (last[z] > other) & (other > ABSENT), each)
    return counts, lags, starts, pairs


def tree_leaves(index: Index, tree: IntArray, in_time: bool = False) -> IntArray:
    """The leaf, as a row of the tree, at which each row ends."""
    return _Past(index, in_time).leaves(tree)


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
        self.begun = index.tick - index.bounds[index.sequence]  # how many positions precede

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

    def leaves(self, tree: IntArray) -> IntArray:
        """The leaf at which each row ends."""
        found = np.zeros(len(self.begun), np.int64)
        waiting = [(0, np.arange(len(found)))]
        while waiting:
            node, rows = waiting.pop()
            found[rows] = node
            if tree[node, 0] != LEAF:
                yes = self._passes(tree[node], rows)
                waiting += [(int(tree[node, 5]), rows[yes]), (int(tree[node, 6]), rows[~yes])]
        return found

    def _passes(self, test: IntArray, rows: IntArray) -> BoolArray:
        kind, label, other, count, within = test[:5].tolist()
        if kind == START:
            return np.asarray(self.begun[rows] < within)
        if kind == OCCURS:
            return np.asarray(self.lag(rows, label, count) <= within)
        return np.asarray(self.last(rows, label) > self.last(rows, other))


# ---------------------------------------------------------------------- small trees over levels of features

#: Levels of features, one row per feature.
LevelArray = npt.NDArray[np.uint8]
#: No split.
NONE = -1


class Growth(NamedTuple):
    """How far trees grow: ``leaves`` at most, and what a split must bring.

    Values are whole multiples of ``unit``. A leaf with the sums G and H of both values is worth G^2 / (H +
    penalty). A split must gain more than ``least_gain``, and each side have an H above ``least``.
    """

    n_levels: int
    leaves: int
    penalty: float
    unit: float
    least_gain: float
    least: float


class Grown(NamedTuple):
    """Trees: split k of tree t sends the rows of ``leaf[t, k]`` with a higher level to leaf k + 1.

    Where a tree has fewer splits the leaf is -1. ``sums[t, l]`` are those of both values in each leaf.
    """

    leaf: CodeArray
    feature: CodeArray
    level: CodeArray
    sums: IntArray


#: Grows a tree for each of ``values[tree, row, 2]``, from what it may look at, some rows, and how.
Grower = Callable[[BoolArray, CodeArray, IntArray, Growth], Grown]


def tree_grower(levels: LevelArray) -> Grower:
    """What grows trees on some rows of ``levels[feature, row]``.

    Tree t looks only at features with ``allowed[t, feature]``. The most worthwhile split comes first; of
    equal ones the first leaf, feature and level.

    >>> grow = tree_grower(np.array([[0, 1, 1, 2]], np.uint8))
    >>> values = np.array([[[-3, 1], [2, 1], [2, 1], [2, 1]]])
    >>> how = Growth(n_levels=3, leaves=3, penalty=1.0, unit=1.0, least_gain=0.1, least=0.0)
    >>> grow(np.ones((1, 1), bool), np.arange(4, dtype=np.int32), values, how)
    Grown(leaf=array([[ 0, -1]], dtype=int32), feature=array([[ 0, -1]], dtype=int32), \
level=array([[0, 0]], dtype=int32), sums=array([[[-3,  1],
            [ 6,  3],
            [ 0,  0]]]))
    """
    return partial(_grow_trees, levels)


def _grow_trees(
    levels: LevelArray, allowed: BoolArray, rows: CodeArray, values: IntArray, how: Growth
) -> Grown:
    shape = len(values), how.leaves - 1
    split, feature = np.full((2, *shape), NONE, np.int32)
    sums = np.zeros((len(values), how.leaves, 2), np.int64)
    found = Grown(split, feature, np.zeros(shape, np.int32), sums)
    for t, own in enumerate(values):
        features, parts = np.flatnonzero(allowed[t]), [rows]
        for k in range(how.leaves - 1):
            best = [_best(_level_sums(levels, features, some, own, how.n_levels), how) for some in parts]
            leaf = max(range(len(best)), key=lambda i: best[i][0])
            gain, at, level = best[leaf]
            if gain <= how.least_gain:
                break
            found.leaf[t, k], found.feature[t, k], found.level[t, k] = leaf, features[at], level
            above = levels[features[at], parts[leaf]] > level
            parts.append(parts[leaf][above])
            parts[leaf] = parts[leaf][~above]
        for leaf, some in enumerate(parts):
            found.sums[t, leaf] = own[some].sum(axis=0)
    return found


def _level_sums(
    levels: LevelArray, features: IntArray, rows: CodeArray, values: IntArray, n_levels: int
) -> IntArray:
    """Sums ``[feature, level, 2]`` of ``values[row, 2]`` over some rows."""
    sums = np.zeros((len(features), n_levels, 2), np.int64)
    for f, feature in enumerate(features.tolist()):
        np.add.at(sums[f], levels[feature, rows], values[rows])
    return sums


def _best(sums: IntArray, how: Growth) -> tuple[float, int, int]:
    """The largest gain, and the feature and level that have it.

    No step can be rounded differently by a machine that multiplies and adds at once, so both kernels agree.
    """
    if not sums.size:
        return 0.0, 0, 0
    below = np.asarray(np.cumsum(sums, axis=1) * how.unit, np.float64)
    whole, low = below[:, -1:], below[:, :-1]
    high = whole - low
    gain = _worth(low, how) + _worth(high, how) - _worth(whole, how)
    gain = np.where((low[..., 1] > how.least) & (high[..., 1] > how.least), gain, 0.0)
    if not gain.size or gain.max() <= 0:
        return 0.0, 0, 0
    at, level = np.unravel_index(gain.argmax(), gain.shape)
    return float(gain[at, level]), int(at), int(level)


def _worth(sums: FloatArray, how: Growth) -> FloatArray:
    return np.asarray(sums[..., 0] * sums[..., 0] / (sums[..., 1] + how.penalty))


def said_by_trees(
    levels: LevelArray,
    leaf: CodeArray,
    feature: CodeArray,
    level: CodeArray,
    value: FloatArray,
    n_outcomes: int,
) -> FloatArray:
    """What trees add up to in each row of ``levels[feature, row]``: ``[outcome, row]``.

    Tree t is for outcome ``t % n_outcomes`` and adds ``value[t, l]`` where a row ends in leaf l; trees are
    added one after the other.

    >>> split = np.array([[0], [0]], np.int32)
    >>> value = np.array([[1.0, 2.0], [10.0, 20.0]])
    >>> said_by_trees(np.array([[0, 1, 2]], np.uint8), split, split, split + 1, value, 1).tolist()
    [[11.0, 11.0, 22.0]]
    """
    said = np.zeros((n_outcomes, levels.shape[1]))
    for start in range(0, len(leaf), n_outcomes):
        some = slice(start, start + n_outcomes)
        ends = np.zeros((len(leaf[some]), levels.shape[1]), np.intp)
        for from_leaf, by, limit, k in zip(leaf[some].T, feature[some].T, level[some].T, numbers(1)):
            ends[(ends == from_leaf[:, None]) & (levels[np.maximum(by, 0)] > limit[:, None])] = k
        said[: len(ends)] += np.take_along_axis(value[some], ends, axis=1)
    return said
