"""Small trees that are added to a softmax one after the other, each where it helps one label most."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from summarkov import kernels
from summarkov.kernels import LevelArray
from summarkov.scores.softmax import softmax
from summarkov.typing import BoolArray, CodeArray, FloatArray, IntArray

#: Gradients are added up as whole multiples of this, so that sums do not depend on their order.
_UNIT = 2.0**-30
#: A split must gain more than this, and a leaf have this much to go by (the variance of its hits).
_LEAST_GAIN, _LEAST_VARIANCE = 1e-6, 1e-3
#: No split.
NONE = -1
#: Numbers in memory at once while trees are read.
_AT_ONCE = 1 << 24


@dataclass(frozen=True)
class Boosting:
    """How trees are grown.

    Parameters
    ----------
    leaves : int
        The most leaves of a tree.
    learning_rate : float
        The share of the best step that a tree takes.
    penalty : float
        Of the square of a leaf's value.
    features, rows : float
        The share of features that a tree may look at, and of rows that a round does.
    """

    leaves: int = 4
    learning_rate: float = 0.1
    penalty: float = 10.0
    features: float = 0.5
    rows: float = 0.8


@dataclass(frozen=True)
class Trees:
    """Trees of all outcomes, round by round: tree t is for outcome ``t % n_outcomes``.

    Split k of tree t sends the rows of leaf ``leaf[t, k]`` whose level of ``feature[t, k]`` is above
    ``level[t, k]`` to leaf k + 1; where there are fewer splits the leaf is -1. ``value[t, l]`` is added to
    the logarithm of the outcome's probability.
    """

    leaf: CodeArray
    feature: CodeArray
    level: CodeArray
    value: FloatArray
    n_outcomes: int

    @classmethod
    def none(cls, n_outcomes: int, leaves: int) -> Trees:
        """No trees yet."""
        empty = np.zeros((0, leaves - 1), np.int32)
        return cls(empty, empty, empty, np.zeros((0, leaves)), n_outcomes)

    def __add__(self, other: Trees) -> Trees:
        return Trees(
            np.concatenate([self.leaf, other.leaf]),
            np.concatenate([self.feature, other.feature]),
            np.concatenate([self.level, other.level]),
            np.concatenate([self.value, other.value]),
            self.n_outcomes,
        )

    def first(self, rounds: int) -> Trees:
        """The trees of the first rounds."""
        n = rounds * self.n_outcomes
        return Trees(self.leaf[:n], self.feature[:n], self.level[:n], self.value[:n], self.n_outcomes)

    def __len__(self) -> int:
        return len(self.value)

    @property
    def rounds(self) -> int:
        """How many trees each outcome has."""
        return len(self) // self.n_outcomes

    def add_to(self, logits: FloatArray, levels: LevelArray) -> None:
        """Add what the trees say of rows with these ``levels[feature, row]``."""
        n = len(logits)
        step = max(_AT_ONCE // max(n * self.n_outcomes, 1), 1) * self.n_outcomes
        for start in range(0, len(self), step):
            some = slice(start, start + step)
            leaf = np.zeros((len(self.value[some]), n), np.int8)
            for k in range(self.leaf.shape[1]):
                above = levels[np.maximum(self.feature[some, k], 0)] > self.level[some, k, None]
                leaf[above & (leaf == self.leaf[some, k, None])] = k + 1
            said = np.take_along_axis(self.value[some], leaf.astype(np.intp), axis=1)
            logits += said.reshape(-1, self.n_outcomes, n).sum(axis=0).T


def boost(
    levels: LevelArray,
    counts: FloatArray,
    logits: FloatArray,
    how: Boosting,
    rounds: int,
    seed: int,
    allowed: BoolArray,
) -> Iterator[Trees]:
    r"""Grow one tree per outcome in each round; yields the trees of every round.

    With p the softmax so far, a leaf l of a tree for x has

    .. math:: v = \eta \frac{G_l}{H_l + \lambda}, \quad
              G_l = \sum_{s \in l} N(x; s) - N(s) p(x|s), \quad H_l = \sum_{s \in l} N(s) p(x|s) (1 - p(x|s))

    a Newton step of the log-likelihood, and splits are those with the largest gain in :math:`G^2 / (H +
    \lambda)`. ``counts[row, x]`` and ``logits[row, x]`` belong to ``levels[feature, row]``;
    ``allowed[feature, x]`` says what the trees of an outcome may look at.

    Reference: Friedman, "Greedy function approximation: a gradient boosting machine", Annals of Statistics 29
    (2001), with Newton steps as in Friedman, Hastie, Tibshirani, "Additive logistic regression" (2000).
    """
    rng = np.random.default_rng(seed)
    logits, n = logits.copy(), counts.sum(axis=1)
    n_features, n_rows = levels.shape
    n_levels = int(levels.max(initial=0)) + 1
    n_outcomes = counts.shape[1]
    for _ in range(rounds):
        p = softmax(logits)
        gradient, variance = counts - n[:, None] * p, n[:, None] * p * (1 - p)
        rows = np.flatnonzero(rng.random(n_rows) < how.rows).astype(np.int32)
        grown = []
        for x in range(n_outcomes):
            features = np.flatnonzero(allowed[:, x] & (rng.random(n_features) < how.features)).astype(
                np.int32
            )
            values = np.round(np.column_stack([gradient[:, x], variance[:, x]]) / _UNIT).astype(np.int64)
            grown.append(_Growing(levels, features, values, how, n_levels).tree(rows))
        leaf, feature, level, value = (np.array(part) for part in zip(*grown, strict=True))
        trees = Trees(
            leaf.astype(np.int32), feature.astype(np.int32), level.astype(np.int32), value, n_outcomes
        )
        trees.add_to(logits, levels)
        yield trees


@dataclass(frozen=True)
class _Growing:
    """One tree while it grows, leaf by leaf, the most worthwhile split first."""

    levels: LevelArray
    features: CodeArray
    values: IntArray
    how: Boosting
    n_levels: int

    def tree(self, rows: CodeArray) -> tuple[list[int], list[int], list[int], list[float]]:
        """The splits (leaf, feature, level) and the values of a tree that is grown on some rows."""
        splits: list[tuple[int, int, int]] = []
        of_leaf, sums = [rows], [self._sums(rows)]
        best = [self._best(sums[0])]
        while len(of_leaf) < self.how.leaves:
            leaf = max(range(len(best)), key=lambda i: best[i][0])
            gain, at, level = best[leaf]
            if gain <= _LEAST_GAIN:
                break
            feature = int(self.features[at])
            above = self.levels[feature, of_leaf[leaf]] > level
            parts = of_leaf[leaf][~above], of_leaf[leaf][above]
            small = int(len(parts[1]) < len(parts[0]))
            counted = self._sums(parts[small])
            rest = sums[leaf] - counted
            both = (rest, counted) if small else (counted, rest)
            splits.append((leaf, feature, level))
            of_leaf[leaf], sums[leaf], best[leaf] = parts[0], both[0], self._best(both[0])
            of_leaf.append(parts[1])
            sums.append(both[1])
            best.append(self._best(both[1]))
        splits += [(NONE, NONE, 0)] * (self.how.leaves - 1 - len(splits))
        value = [self._value(rows) for rows in of_leaf] + [0.0] * (self.how.leaves - len(of_leaf))
        leaves, features, levels = (list(part) for part in zip(*splits, strict=True))
        return leaves, features, levels, value

    def _sums(self, rows: CodeArray) -> IntArray:
        sums: IntArray = kernels.level_sums(self.levels, self.features, rows, self.values, self.n_levels)
        return sums

    def _best(self, sums: IntArray) -> tuple[float, int, int]:
        """The largest gain, and the feature and level that have it."""
        if not len(sums):
            return 0.0, 0, 0
        below = np.cumsum(sums, axis=1)
        whole = np.asarray(below[:, -1:] * _UNIT, dtype=np.float64)
        low = np.asarray(below[:, :-1] * _UNIT, dtype=np.float64)
        high = whole - low
        gain = self._worth(low) + self._worth(high) - self._worth(whole)
        enough = (low[..., 1] > _LEAST_VARIANCE) & (high[..., 1] > _LEAST_VARIANCE)
        gain = np.where(enough, gain, 0.0)
        if not gain.size:
            return 0.0, 0, 0
        at, level = np.unravel_index(gain.argmax(), gain.shape)
        return float(gain[at, level]), int(at), int(level)

    def _worth(self, sums: FloatArray) -> FloatArray:
        return np.asarray(sums[..., 0] ** 2 / (sums[..., 1] + self.how.penalty))

    def _value(self, rows: CodeArray) -> float:
        gradient, variance = (self.values[rows].sum(axis=0) * _UNIT).tolist()
        return float(self.how.learning_rate * gradient / (variance + self.how.penalty))
