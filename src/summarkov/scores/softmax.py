"""The likelihood of a softmax over all labels, and the weights at which it is largest."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count
from typing import Any

import numpy as np

from summarkov.settings import OnStep, untold
from summarkov.typing import FloatArray

#: When the search for the best weights stops: steps at most, and the relative gain of one.
MOST_STEPS, LEAST_GAIN = 300, 1e-9


@dataclass(frozen=True)
class Weights:
    """The weights of a softmax.

    ``level[x]`` is for every row, ``shared[f, x]`` for a feature that all labels look at, and ``own[o, x]``
    for the o-th feature that a label x has for itself.
    """

    level: FloatArray
    shared: FloatArray
    own: FloatArray

    @classmethod
    def unflat(cls, flat: FloatArray, n_labels: int, n_shared: int) -> Weights:
        """Read what :attr:`flat` wrote."""
        every = flat.reshape(-1, n_labels)
        return cls(every[0], every[1 : 1 + n_shared], every[1 + n_shared :])

    @property
    def flat(self) -> FloatArray:
        """All weights in one row."""
        return np.concatenate([self.level, self.shared.ravel(), self.own.ravel()])


@dataclass(frozen=True)
class Features:
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

    def sums(self, values: FloatArray, power: int = 1) -> Weights:
        """The sums over rows of ``values[row, x]`` times each feature, or times a power of it."""
        shared, own = (self.shared, self.own) if power == 1 else (self.shared**power, self.own**power)
        each = np.array([(feature * values).sum(axis=0) for feature in own])
        return Weights(values.sum(axis=0), np.asarray(shared.T @ values), each.reshape(-1, values.shape[1]))


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


def log_likelihood(logits: FloatArray, counts: FloatArray) -> float:
    """Log-likelihood of ``counts[row, x]``.

    >>> round(log_likelihood(np.log([[1.0, 3.0]]), np.array([[2.0, 1.0]])), 3)
    -3.06
    """
    top = logits.max(axis=1, keepdims=True, initial=-np.inf)
    norm = top[:, 0] + np.log(np.exp(logits - top).sum(axis=1))
    return float((counts * logits).sum() - counts.sum(axis=1) @ norm)


def penalised(
    features: Features, counts: FloatArray, weights: Weights, penalty: Weights
) -> tuple[float, Weights]:
    r"""The penalised log-likelihood, and its gradient.

    .. math:: \sum_{s,x} N(x; s) \log p(x \mid s) - \frac12 \sum_j \lambda_j w_j^2

    with p the softmax of :math:`w_x + \sum_f w_{fx} f(s) + \sum_o w_{ox} o_x(s)`.
    """
    logits, n = features.logits(weights), counts.sum(axis=1, keepdims=True)
    top = logits.max(axis=1, keepdims=True, initial=-np.inf)
    expected = np.exp(logits - top)
    total = expected.sum(axis=1, keepdims=True)
    value = float((counts * logits).sum() - n[:, 0] @ (top + np.log(total))[:, 0])
    expected /= total
    expected *= n
    rest = features.sums(counts - expected)
    parts = []
    for name in ("level", "shared", "own"):
        weight, strength = getattr(weights, name), getattr(penalty, name)
        value -= float(0.5 * (strength * weight**2).sum())
        parts.append(getattr(rest, name) - strength * weight)
    return value, Weights(*parts)


def maximise(
    features: Features,
    counts: FloatArray,
    penalty: Weights,
    start: Weights,
    on_step: OnStep = untold,
) -> Weights:
    """The weights of the largest penalised likelihood, by L-BFGS on weights of about equal curvature.

    A weight whose penalty is infinite stays at 0. ``on_step`` is called after each step with the most that
    may follow.
    """
    from scipy.optimize import minimize

    n_labels, n_shared = counts.shape[1], len(start.shared)
    n = max(counts.sum(), 1.0)
    rate = (counts.sum(axis=0) + 0.5) / (n + 0.5 * n_labels)
    curvature = features.sums(counts.sum(axis=1, keepdims=True) * (rate * (1 - rate)), power=2).flat
    strength = penalty.flat
    free = np.flatnonzero(np.isfinite(strength))
    scale = 1 / np.sqrt(curvature[free] + strength[free] + 1e-12)
    inner = Weights.unflat(np.where(np.isfinite(strength), strength, 0.0), n_labels, n_shared)

    def value(t: FloatArray) -> tuple[float, FloatArray]:
        flat = np.zeros(len(strength))
        flat[free] = t * scale
        found, gradient = penalised(features, counts, Weights.unflat(flat, n_labels, n_shared), inner)
        return -found / n, -gradient.flat[free] * scale / n

    begin, left = start.flat[free] / scale, count(MOST_STEPS - 1, -1)
    best = minimize(
        value,
        begin,
        jac=True,
        method="L-BFGS-B",
        callback=lambda _: on_step(next(left)),
        options={"maxiter": MOST_STEPS, "maxcor": 20, "ftol": LEAST_GAIN, "gtol": 1e-7},
    )
    flat = np.zeros(len(strength))
    flat[free] = best.x * scale
    return Weights.unflat(flat, n_labels, n_shared)


def zero_weights(n_labels: int, n_shared: int, n_own: int) -> Weights:
    """Weights that say nothing."""
    return Weights(np.zeros(n_labels), np.zeros((n_shared, n_labels)), np.zeros((n_own, n_labels)))
