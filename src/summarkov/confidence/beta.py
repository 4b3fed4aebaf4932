"""Quantiles of the beta distribution (NumPy has none, and SciPy would be a heavy thing to need for one)."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]

_log_gamma = np.vectorize(math.lgamma, otypes=[float])
#: From here on (both parameters) the Cornish-Fisher expansion is exact to 1e-5 standard deviations.
_LARGE = 2000.0


def beta_quantile(q: npt.ArrayLike, a: npt.ArrayLike, b: npt.ArrayLike) -> FloatArray:
    """The q-quantile of Beta(a, b), elementwise.

    >>> beta_quantile([0.025, 0.5], 9.0, 3.0).round(4)
    array([0.4822, 0.7642])
    """
    q, a, b = (np.array(v, dtype=float) for v in np.broadcast_arrays(q, a, b))
    shape = q.shape
    q, a, b = q.ravel(), a.ravel(), b.ravel()
    x = np.empty(len(q))
    large = np.minimum(a, b) >= _LARGE
    x[large] = _cornish_fisher(q[large], a[large], b[large])
    x[~large] = _bisect(q[~large], a[~large], b[~large])
    return x.reshape(shape)


def _bisect(q: FloatArray, a: FloatArray, b: FloatArray) -> FloatArray:
    """Solve I_x(a, b) = q for logit(x), so that quantiles next to 0 and 1 come out precisely."""
    low, high = np.full(len(q), -700.0), np.full(len(q), 700.0)
    log_beta = _log_gamma(a) + _log_gamma(b) - _log_gamma(a + b) if len(q) else q
    for _ in range(60):
        middle = (low + high) / 2
        below = _cdf(1 / (1 + np.exp(-middle)), 1 / (1 + np.exp(middle)), a, b, log_beta) < q
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return np.asarray(1 / (1 + np.exp(-(low + high) / 2)))


def _cdf(x: FloatArray, y: FloatArray, a: FloatArray, b: FloatArray, log_beta: FloatArray) -> FloatArray:
    """The regularised incomplete beta function I_x(a, b), with y = 1 - x given for precision."""
    swap = x > (a + 1) / (a + b + 2)  # where the continued fraction of the other tail converges faster
    x, y, a, b = np.where(swap, y, x), np.where(swap, x, y), np.where(swap, b, a), np.where(swap, a, b)
    front = np.exp(a * np.log(x) + b * np.log(y) - np.log(a) - log_beta)
    tail = front * _continued_fraction(x, a, b)
    return np.where(swap, 1 - tail, tail)


def _continued_fraction(x: FloatArray, a: FloatArray, b: FloatArray) -> FloatArray:
    """The continued fraction of the incomplete beta function by Lentz's method."""
    tiny = 1e-300
    c, d = np.ones(len(x)), 1 - (a + b) * x / (a + 1)
    d = 1 / np.where(np.abs(d) < tiny, tiny, d)
    result, value, at = np.empty(len(x)), d, np.arange(len(x))
    for m in range(1, 2000):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for term in (even, odd):
            d = 1 + term * d
            d = 1 / np.where(np.abs(d) < tiny, tiny, d)
            c = 1 + term / c
            c = np.where(np.abs(c) < tiny, tiny, c)
            value = value * c * d
        if m % 8 == 0:  # go on with those that have not settled
            result[at] = value
            on = np.abs(c * d - 1) > 1e-14
            if not on.any():
                break
            x, a, b, c, d, value = (v[on] for v in (x, a, b, c, d, value))
            at = at[on]
    return result


def _cornish_fisher(q: FloatArray, a: FloatArray, b: FloatArray) -> FloatArray:
    """The quantile from the first four moments."""
    z = np.array([NormalDist().inv_cdf(float(p)) for p in q])
    n = a + b
    sd = np.sqrt(a * b / (n * n * (n + 1)))
    skew = 2 * (b - a) * np.sqrt(n + 1) / ((n + 2) * np.sqrt(a * b))
    excess = 6 * ((a - b) ** 2 * (n + 1) - a * b * (n + 2)) / (a * b * (n + 2) * (n + 3))
    w = z + skew * (z**2 - 1) / 6 + excess * (z**3 - 3 * z) / 24 - skew**2 * (2 * z**3 - 5 * z) / 36
    return np.asarray(a / n + sd * w)
