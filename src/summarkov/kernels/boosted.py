"""Small trees over levels of features: grown where they gain most, and read."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import count
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from summarkov.typing import BoolArray, CodeArray, FloatArray, IntArray

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
        best = [_best(_level_sums(levels, features, rows, own, how.n_levels), how)]
        for k in range(how.leaves - 1):
            leaf = max(range(len(best)), key=lambda i: best[i][0])
            gain, at, level = best[leaf]
            if gain <= how.least_gain:
                break
            found.leaf[t, k], found.feature[t, k], found.level[t, k] = leaf, features[at], level
            above = levels[features[at], parts[leaf]] > level
            parts.append(parts[leaf][above])
            parts[leaf] = parts[leaf][~above]
            best.append((0.0, 0, 0))
            for i in (leaf, -1) if k + 2 < how.leaves else ():  # what may be split further
                best[i] = _best(_level_sums(levels, features, parts[i], own, how.n_levels), how)
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
        for from_leaf, by, limit, k in zip(leaf[some].T, feature[some].T, level[some].T, count(1)):
            ends[(ends == from_leaf[:, None]) & (levels[np.maximum(by, 0)] > limit[:, None])] = k
        said[: len(ends)] += np.take_along_axis(value[some], ends, axis=1)
    return said
