"""Logarithms of the gamma function and of its ratios, precise for small and for very large arguments."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from summarkov.typing import FloatArray

#: From here on Stirling's series with four terms is exact to the last bit or two.
_STIRLING = 20.0


def log_gamma(x: npt.ArrayLike) -> FloatArray:
    """The logarithm of the gamma function, elementwise.

    >>> log_gamma([1.0, 5.0]).round(4)
    array([0.    , 3.1781])
    """
    # NumPy has no log-gamma; counts repeat, so each distinct value is worked out once.
    given = np.asarray(x, dtype=float)
    values, where = np.unique(given, return_inverse=True)
    return np.array([math.lgamma(v) for v in values.tolist()])[where].reshape(given.shape)


def log_rising(a: npt.ArrayLike, n: npt.ArrayLike) -> FloatArray:
    r"""The logarithm of :math:`\Gamma(a + n) / \Gamma(a) = a (a + 1) \cdots (a + n - 1)`, elementwise.

    As a difference of two logarithms it would lose all digits where a is large: at a = 1e12 they are 2.7e13,
    which a float holds to 0.004. From 20 on the difference is therefore that of Stirling's series, term by
    term:

    .. math:: n \log(a + n) - n + (a - \tfrac12) \log(1 + n/a) + \tfrac{1}{12 (a+n)} - \tfrac{1}{12 a} - \dots

    >>> log_rising([2.0, 1e12], [3.0, 2.0]).round(4), round(float(np.log(24.0)), 4)
    (array([ 3.1781, 55.262 ]), 3.1781)
    """
    low, by = np.broadcast_arrays(np.asarray(a, dtype=float), np.asarray(n, dtype=float))
    rising = np.zeros(low.shape)
    small = low < _STIRLING
    rising[small] = log_gamma(low[small] + by[small]) - log_gamma(low[small])
    large, by = low[~small], by[~small]
    high = large + by
    rising[~small] = (
        by * np.log(high) - by + (large - 0.5) * np.log1p(by / large) + _series(high) - _series(large)
    )
    return rising


def _series(x: FloatArray) -> FloatArray:
    """What Stirling's formula leaves out of the logarithm of the gamma function."""
    square = x * x
    return np.asarray((1 / 12 - (1 / 360 - (1 / 1260 - 1 / (1680 * square)) / square) / square) / x)
