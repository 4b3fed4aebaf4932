"""The slow, obvious twin of what influencers that mean nothing gain by chance; standard library only."""

import functools
import math


def upper_tail(a, x):
    """Q(a, x): the probability that a gamma variable of shape a is above x.

    By the power series of its complement, sum of x^n / (a (a + 1) ... (a + n)), where x is small, and else by
    the continued fraction of Legendre.

    >>> math.isclose(upper_tail(1, 3), math.exp(-3)), math.isclose(upper_tail(0.5, 2), math.erfc(2**0.5))
    (True, True)
    """
    if x <= 0:
        return 1.0
    front = math.exp(-x + a * math.log(x) - math.lgamma(a))
    if x < a + 1:
        term = total = 1 / a
        n = a
        while term > total * 1e-17:
            n += 1
            term *= x / n
            total += term
        return 1 - front * total
    value = 0.0
    for n in range(2000, 0, -1):
        value = n * (n - a) / (2 * n + 1 + x - a - value)
    return front / (1 + x - a - value)


@functools.cache
def quantile(d, level):
    """What half of a chi-squared variable of d degrees of freedom exceeds with probability ``level``.

    >>> round(quantile(2, 0.01), 12) == round(-math.log(0.01), 12)
    True
    """
    if level >= 1:
        return 0.0
    low, high = 0.0, 1.0
    while upper_tail(d / 2, high) > level:
        high *= 2
    while low < (middle := (low + high) / 2) < high:  # until no float lies between
        low, high = (middle, high) if upper_tail(d / 2, middle) > level else (low, middle)
    return high


def gain_by_chance(n_influencers, n_parameters, n_choices, false_edges):
    """g(U) = |U| q(D / |U|): what |U| influencers with D parameters must gain to be beyond chance."""
    if n_influencers == 0 or n_parameters <= 0:
        return 0.0
    return n_influencers * quantile(n_parameters / n_influencers, false_edges / n_choices)
