"""The parts of a joint model: a softmax, boosted trees, and what followed the last labels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any, NamedTuple

import numpy as np

from summarkov import kernels
from summarkov.kernels import LevelArray
from summarkov.settings import OnStep, untold
from summarkov.typing import BoolArray, CodeArray, FloatArray

#: When the search for the best weights stops: steps at most, and the relative gain of one.
MOST_STEPS, LEAST_GAIN = 300, 1e-9
#: Gradients are added up as whole multiples of this, so that sums do not depend on their order.
_UNIT = 2.0**-30
#: A split must gain more than this, and a leaf have this much to go by (the variance of its hits).
_LEAST_GAIN, _LEAST_VARIANCE = 1e-6, 1e-3
#: The penalty of the square of a leaf's value.
_LEAF_PENALTY = 10.0
#: The share of features that a tree may look at, and of rows that a round does.
_FEATURES, _ROWS = 0.5, 0.8


# ---------------------------------------------------------------------- softmax


@dataclass(frozen=True)
class Weights:
    """The weights of a softmax, ``every[weight, x]``: of the level, of shared features, of a label's own."""

    every: FloatArray
    n_shared: int

    @classmethod
    def zero(cls, n_labels: int, n_shared: int, n_own: int) -> Weights:
        """Weights that say nothing."""
        return cls(np.zeros((1 + n_shared + n_own, n_labels)), n_shared)

    @property
    def level(self) -> FloatArray:
        """``level[x]`` is for every row."""
        return np.asarray(self.every[0])

    @property
    def shared(self) -> FloatArray:
        """``shared[f, x]`` is for a feature that all labels look at."""
        return np.asarray(self.every[1 : 1 + self.n_shared])

    @property
    def own(self) -> FloatArray:
        """``own[o, x]`` is for the o-th feature that a label x has for itself."""
        return np.asarray(self.every[1 + self.n_shared :])


class Features(NamedTuple):
    """One row per state: features for all labels (a matrix, sparse or not), and those of each label."""

    shared: Any  # [row, feature]
    own: FloatArray  # [o, row, x]

    def logits(self, weights: Weights) -> FloatArray:
        """The logarithm of each label's probability, up to a number per row."""
        z = np.asarray(self.shared @ weights.shared)
        z += weights.level
        for feature, weight in zip(self.own, weights.own, strict=True):
            z += feature * weight
        return z

    def sums(self, values: FloatArray, power: int = 1) -> FloatArray:
        """The sums over rows of ``values[row, x]`` times each feature, or times a power of it."""
        shared, own = (self.shared, self.own) if power == 1 else (self.shared**power, self.own**power)
        each = [(feature * values).sum(axis=0) for feature in own]
        return np.vstack([values.sum(axis=0), np.asarray(shared.T @ values), *each])


def dense(matrix: Any) -> FloatArray:
    """A matrix in full, whether or not it is a sparse one."""
    return matrix if isinstance(matrix, np.ndarray) else np.asarray(matrix.toarray())


def softmax(logits: FloatArray) -> FloatArray:
    """Probabilities from their logarithms, which may all be off by one number per row.

    >>> softmax(np.log([[1.0, 3.0]])).round(3)
    array([[0.25, 0.75]])
    """
    p = np.exp(logits - logits.max(axis=1, keepdims=True, initial=-np.inf))
    return np.asarray(p / p.sum(axis=1, keepdims=True))


def likelihood(logits: FloatArray, counts: FloatArray) -> tuple[float, FloatArray]:
    """Log-likelihood of ``counts[row, x]``, and how often each label is expected.

    >>> value, expected = likelihood(np.log([[1.0, 3.0]]), np.array([[2.0, 1.0]]))
    >>> round(value, 3), expected.tolist()
    (-3.06, [[0.75, 2.25]])
    """
    n = counts.sum(axis=1, keepdims=True)
    top = logits.max(axis=1, keepdims=True, initial=-np.inf)
    expected = np.exp(logits - top)
    total = expected.sum(axis=1, keepdims=True)
    value = float((counts * logits).sum() - n[:, 0] @ (top + np.log(total))[:, 0])
    return value, np.asarray(expected / total * n)


def penalised(
    features: Features, counts: FloatArray, weights: Weights, penalty: FloatArray
) -> tuple[float, FloatArray]:
    r"""The penalised log-likelihood, and its gradient.

    .. math:: \sum_{s,x} N(x; s) \log p(x \mid s) - \frac12 \sum_j \lambda_j w_j^2

    with p the softmax of :math:`w_x + \sum_f w_{fx} f(s) + \sum_o w_{ox} o_x(s)`.
    """
    value, expected = likelihood(features.logits(weights), counts)
    squares = Weights(penalty * weights.every**2, weights.n_shared)
    for part in (squares.level, squares.shared, squares.own):
        value -= float(0.5 * part.sum())
    return value, features.sums(counts - expected) - penalty * weights.every


def maximise(
    features: Features, counts: FloatArray, penalty: FloatArray, start: Weights, on_step: OnStep = untold
) -> Weights:
    """The weights of the largest penalised likelihood, by L-BFGS on weights of about equal curvature.

    A weight whose penalty is infinite stays at 0. ``on_step`` is called after each step with the most that
    may follow.
    """
    from scipy.optimize import minimize

    n = max(counts.sum(), 1.0)
    rate = (counts.sum(axis=0) + 0.5) / (n + 0.5 * counts.shape[1])
    curvature = features.sums(counts.sum(axis=1, keepdims=True) * (rate * (1 - rate)), power=2)
    free = np.isfinite(penalty)
    scale = 1 / np.sqrt(curvature[free] + penalty[free] + 1e-12)
    inner = np.where(free, penalty, 0.0)

    def at(t: FloatArray) -> Weights:
        every = np.zeros(penalty.shape)
        every[free] = t * scale
        return Weights(every, start.n_shared)

    def value(t: FloatArray) -> tuple[float, FloatArray]:
        found, gradient = penalised(features, counts, at(t), inner)
        return -found / n, -gradient[free] * scale / n

    left = count(MOST_STEPS - 1, -1)
    best = minimize(
        value,
        start.every[free] / scale,
        jac=True,
        method="L-BFGS-B",
        callback=lambda _: on_step(next(left)),
        options={"maxiter": MOST_STEPS, "maxcor": 20, "ftol": LEAST_GAIN, "gtol": 1e-7},
    )
    return at(best.x)


# ---------------------------------------------------------------------- boosted trees


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

    def __len__(self) -> int:
        return len(self.value)

    def add_to(self, logits: FloatArray, levels: LevelArray) -> None:
        """Add what the trees say of rows with these ``levels[feature, row]``."""
        logits += kernels.said_by_trees(
            levels, self.leaf, self.feature, self.level, self.value, self.n_outcomes
        ).T


def boost(
    levels: LevelArray,
    counts: FloatArray,
    logits: FloatArray,
    leaves: int,
    learning_rate: float,
    rounds: Sequence[int],
    seed: int,
    allowed: BoolArray,
    on_step: OnStep = untold,
) -> Iterator[tuple[Trees, FloatArray]]:
    r"""Grow one tree per outcome in each round; yield the trees, and ``logits`` with what they add.

    Both after each of the numbers of ``rounds``, which grow; so trees are grown only as far as is asked for.

    With p the softmax so far, a leaf l of a tree for x has

    .. math:: v = \eta \frac{G_l}{H_l + \lambda}, \quad
              G_l = \sum_{s \in l} N(x; s) - N(s) p(x|s), \quad H_l = \sum_{s \in l} N(s) p(x|s) (1 - p(x|s))

    a Newton step of the log-likelihood, of which ``learning_rate`` is the share that is taken. Splits are
    those with the largest gain in :math:`G^2 / (H + \lambda)`. ``counts[row, x]`` and ``logits[row, x]``
    belong to ``levels[feature, row]``; ``allowed[feature, x]`` says what the trees of an outcome may look at;
    ``on_step`` is called after each round with the number of rounds left.

    Reference: Friedman, "Greedy function approximation: a gradient boosting machine", Annals of Statistics 29
    (2001), with Newton steps as in Friedman, Hastie, Tibshirani, "Additive logistic regression" (2000).
    """
    rng, n_outcomes = np.random.default_rng(seed), counts.shape[1]
    grown, logits, n = [Trees.none(n_outcomes, leaves)], logits.copy(), counts.sum(axis=1, keepdims=True)
    whole = np.empty((*counts.T.shape, 2), np.int64)
    grow = kernels.tree_grower(levels) if rounds[-1] else None
    n_levels = int(levels.max(initial=0)) + 1
    growth = kernels.Growth(n_levels, leaves, _LEAF_PENALTY, _UNIT, _LEAST_GAIN, _LEAST_VARIANCE)
    for done in range(rounds[-1] + 1):
        if done in rounds:
            leaf, feature, level, value = (
                np.concatenate([getattr(one, part) for one in grown])
                for part in ("leaf", "feature", "level", "value")
            )
            grown = [Trees(leaf, feature, level, value, n_outcomes)]
            yield grown[0], logits.copy()
        if grow is None or done == rounds[-1]:
            return
        p = softmax(logits)
        expected = n * p
        whole[..., 0] = np.round((counts - expected) / _UNIT).T
        whole[..., 1] = np.round(expected * (1 - p) / _UNIT).T
        rows = np.flatnonzero(rng.random(len(n)) < _ROWS).astype(np.int32)
        features = allowed.T & (rng.random(allowed.T.shape) < _FEATURES)
        leaf, feature, level, sums = grow(features, rows, whole, growth)
        gradient, variance = np.moveaxis(sums * _UNIT, -1, 0)
        value = learning_rate * gradient / (variance + _LEAF_PENALTY)
        grown.append(Trees(leaf, feature, level, value, n_outcomes))
        grown[-1].add_to(logits, levels)
        on_step(rounds[-1] - done - 1)


# ---------------------------------------------------------------------- what followed the last labels


class Followers(NamedTuple):
    """What contexts of one length give every outcome, and what each leaves to the shorter one."""

    rows: dict[bytes, int]  # the row of each context
    own: FloatArray  # [context, outcome]
    left: FloatArray  # [context]

    @classmethod
    def of(cls, keys: CodeArray, counts: FloatArray) -> Followers:
        """With the discount that Ney, Essen and Kneser estimate from the counts of 1 and of 2."""
        once = int(((counts > 0) & (counts <= 1)).sum())
        twice = int(((counts > 1) & (counts <= 2)).sum())
        taken = np.minimum(counts, once / (once + 2 * twice) if once else 0.5)
        total, rows = counts.sum(axis=1), {key.tobytes(): row for row, key in enumerate(keys)}
        return cls(rows, (counts - taken) / total[:, None], taken.sum(axis=1) / total)


@dataclass(frozen=True, eq=False)
class LastLabels:
    """Interpolated Kneser-Ney smoothing: the distribution after the last labels.

    The probability after k labels is what their counts say, less a discount, and the rest goes to what is
    said after the last k - 1. There an outcome does not count as often as it occurred, but once for each
    different label before. What stands under all is that outcomes are equally likely.

    ``keys[c]`` are the codes of a context, the last label first; ``counts[c, x]`` is how often x followed;
    ``levels`` tells of contexts by their length, from 0 on.

    >>> after = LastLabels.of(np.array([[1], [2]], np.int32), np.array([[3.0, 1.0], [0.0, 2.0]]))
    >>> after.at(np.array([[1], [2], [3]], np.int32)).round(3).tolist()
    [[0.722, 0.278], [0.056, 0.944], [0.333, 0.667]]

    Reference: Kneser and Ney, "Improved backing-off for m-gram language modeling", ICASSP 1995.
    """

    keys: CodeArray
    counts: FloatArray
    levels: tuple[Followers, ...]

    @classmethod
    def of(cls, keys: CodeArray, counts: FloatArray) -> LastLabels:
        """From rows that may have equal contexts; those without any count are left out."""
        seen = counts.sum(axis=1) > 0
        first = keys, counts = _merged(keys[seen], counts[seen])
        levels = [Followers.of(*first)]
        for length in range(keys.shape[1] - 1, -1, -1):
            keys, counts = _merged(keys[:, :length], (counts > 0).astype(float))
            levels.insert(0, Followers.of(keys, counts))
        return cls(*first, tuple(levels))

    def at(self, keys: CodeArray) -> FloatArray:
        """The distribution after each context."""
        n = self.counts.shape[1]
        p = np.full((len(keys), n), 1 / n)
        for length, level in enumerate(self.levels):
            shorter = np.ascontiguousarray(keys[:, :length])
            found = np.array([level.rows.get(key.tobytes(), -1) for key in shorter], np.int64)
            known = np.flatnonzero(found >= 0)
            p[known] = level.own[found[known]] + level.left[found[known], None] * p[known]
        return p


def _merged(keys: CodeArray, counts: FloatArray) -> tuple[CodeArray, FloatArray]:
    """Equal rows of ``keys`` as one, in sorted order, and the sums of their counts."""
    found, where = np.unique(keys, axis=0, return_inverse=True)
    sums = np.zeros((len(found), counts.shape[1]))
    np.add.at(sums, where.reshape(-1), counts)
    return np.ascontiguousarray(found), sums
