"""The tail of the chi-squared distribution, without SciPy (see decision 0006)."""

from __future__ import annotations

import math

_PRECISION = 1e-16
_TINY = 1e-300


def chi_squared_tail(statistic: float, degrees: float) -> float:
    r"""The probability that chi-squared with ``degrees`` degrees of freedom is at least ``statistic``.

    .. math:: Q(k/2, x/2) = \Gamma(k/2, x/2) / \Gamma(k/2)

    By the series of the lower incomplete gamma function left of its mean, by the continued fraction of the
    upper one (Lentz's method) right of it; relative errors stay below 1e-10. Without degrees of
    freedom it is 1.

    >>> round(chi_squared_tail(3.841458820694124, 1), 6)
    0.05
    """
    a, x = degrees / 2, statistic / 2
    if a <= 0 or x <= 0:
        return 1.0
    log_front = a * math.log(x) - x - math.lgamma(a)
    if x < a + 1:
        term = total = 1 / a
        n = a
        while abs(term) > abs(total) * _PRECISION:
            n += 1
            term *= x / n
            total += term
        return max(0.0, 1 - math.exp(log_front) * total)
    b = x + 1 - a
    c, d = 1 / _TINY, 1 / b
    fraction = d
    for i in range(1, 100_000):
        an = -i * (i - a)
        b += 2
        d = an * d + b
        d = 1 / (d if abs(d) > _TINY else _TINY)
        c = b + an / c
        c = c if abs(c) > _TINY else _TINY
        fraction *= d * c
        if abs(d * c - 1) < _PRECISION * 10:
            break
    return math.exp(log_front) * fraction
