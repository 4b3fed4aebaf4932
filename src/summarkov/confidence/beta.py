"""Quantiles of the beta distribution (NumPy has none, and SciPy would be a heavy thing to need for one)."""

from __future__ import annotations

from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from summarkov.scores.gamma import log_gamma, log_rising

FloatArray = npt.NDArray[np.float64]

#: From here on (both parameters) the Cornish-Fisher expansion is exact to 1e-5 standard deviations.
_LARGE = 2000.0


def beta_quantile(q: npt.ArrayLike, a: npt.ArrayLike, b: npt.ArrayLike) -> FloatArray:
    """The q-quantile of Beta(a, b), elementwise; all the mass is at 1 where b is 0, at 0 where a is.

    >>> beta_quantile([0.025, 0.5], 9.0, 3.0).round(4)
    array([0.4822, 0.7642])
    """
    q, a, b = (np.array(v, dtype=float) for v in np.broadcast_arrays(q, a, b))
    shape = q.shape
    q, a, b = q.ravel(), a.ravel(), b.ravel()
    x = np.where(b == 0, 1.0, 0.0)
    spread = (a > 0) & (b > 0)
    large = np.minimum(a, b) >= _LARGE
    x[large] = _cornish_fisher(q[large], a[large], b[large])
    small = spread & ~large
    x[small] = _solve(q[small], a[small], b[small])
    return x.reshape(shape)


def _solve(q: FloatArray, a: FloatArray, b: FloatArray) -> FloatArray:
    """Solve I_x(a, b) = q for t = logit(x), so that quantiles next to 0 and 1 come out precisely.

    Quantiles above the median are mirrored, 1 - x having the distribution Beta(b, a). Below it, Newton's
    and Halley's method on log I: as a function of t that is concave, so the method cannot run away, and where
    the density is a power of x, as for small a, it is straight.
    """
    mirror = q > 0.5
    goal = np.log(np.where(mirror, 1 - q, q))
    a, b = np.where(mirror, b, a), np.where(mirror, a, b)
    less = np.minimum(a, b)
    log_beta = log_gamma(less) - log_rising(np.maximum(a, b), less)
    t = np.where(
        np.minimum(a, b) >= 1,
        _logit_quantile(np.exp(goal), a, b),
        (goal + np.log(a) + log_beta) / a,  # as if the density were a power of x throughout
    )
    on = np.arange(len(q))
    for _ in range(100):
        value, slope, slope_of_density = _log_cdf(t[on], a[on], b[on], log_beta[on])
        step = (goal[on] - value) / slope
        bend = 1 + step * (slope_of_density - slope) / 2  # Halley's correction, where it is safe
        step = np.where((bend > 0.5) & (bend < 2), step / np.clip(bend, 0.5, 2), step)
        t[on] += step
        on = on[np.abs(step) > 1e-4 * np.minimum(1, 1 / slope)]  # the next error is of the order of its cube
        if not len(on):
            break
    t = np.where(mirror, -t, t)
    return np.asarray(np.exp(-np.logaddexp(0, -t)))


def _logit_quantile(q: FloatArray, a: FloatArray, b: FloatArray) -> FloatArray:
    """Roughly the quantile of logit(x), from its first three cumulants; for parameters from 1 on."""
    z = np.array([NormalDist().inv_cdf(p) for p in q.tolist()])
    mean = np.log(a) - np.log(b) - 0.5 / a + 0.5 / b
    variance = 1 / a + 1 / b + 0.5 / a**2 + 0.5 / b**2
    skew = (1 / b**2 + 1 / b**3 - 1 / a**2 - 1 / a**3) / variance**1.5
    return np.asarray(mean + np.sqrt(variance) * (z + skew * (z**2 - 1) / 6))


def _log_cdf(
    t: FloatArray, a: FloatArray, b: FloatArray, log_beta: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Logarithm of the regularised incomplete beta function at x with logit t, and its slope in t.

    Also the slope of the logarithm of its density.
    """
    log_x, log_y = -np.logaddexp(0, -t), -np.logaddexp(0, t)
    density = a * log_x + b * log_y - log_beta  # of t, its logarithm
    other = log_x > np.log((a + 1) / (a + b + 2))  # where the continued fraction of the upper tail is faster
    fraction = _continued_fraction(
        np.exp(np.where(other, log_y, log_x)), np.where(other, b, a), np.where(other, a, b)
    )
    tail = density + np.log(fraction) - np.log(np.where(other, b, a))
    tail = np.where(other, np.log1p(-np.exp(np.where(other, np.minimum(tail, -1e-16), -1.0))), tail)
    return tail, np.exp(density - tail), a * np.exp(log_y) - b * np.exp(log_x)


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


def matched_intervals(mean: FloatArray, square: FloatArray, level: float) -> FloatArray:
    """Intervals ``[..., (low, high)]`` of beta distributions with a given mean and mean square.

    For mixtures of beta distributions, which have no quantiles in closed form.

    >>> matched_intervals(np.array([0.5]), np.array([1 / 3]), 0.9).round(3)  # uniform
    array([[0.05, 0.95]])
    """
    spread = np.maximum(square - mean**2, 0.0)
    size = np.divide(mean - square, spread, out=np.ones_like(mean), where=spread > 0)
    quantiles = [0.5 - level / 2, 0.5 + level / 2]
    return beta_quantile(quantiles, (mean * size)[..., None], ((1 - mean) * size)[..., None])
