"""What is said of an edge, counted the slow and obvious way. Standard library only."""

import math
from statistics import NormalDist


def tables(sequences, windows, z, x, others=()):
    """Hits and positions with z, then without, for every configuration of the others."""
    found = {}
    for sequence in sequences:
        for i, label in enumerate(sequence):
            there = {}
            for name in {z, *others}:
                delay, lookback = windows[name]
                nearest = 0 if lookback is None else max(0, i - lookback)
                there[name] = name in sequence[nearest : max(0, i - delay)]
            table = found.setdefault(tuple(there[y] for y in sorted(set(others) - {z})), [0, 0, 0, 0])
            first = 0 if there[z] else 2
            table[first] += label == x
            table[first + 1] += 1
    return [tuple(table) for table in found.values()]


def two_by_two(sequences, window, z, x):
    """Hits with z in its window (delay, look-back), positions with it, hits without, positions without."""
    return next(iter(tables(sequences, {z: window}, z, x)), (0, 0, 0, 0))


def strata(sequences, windows, z, x, others):
    """The same for every configuration of the others that was seen both with z and without."""
    return [table for table in tables(sequences, windows, z, x, others) if table[1] and table[3]]


def mantel_haenszel(tables):
    """The ratio; infinite, or NaN where nothing can be compared."""
    above = math.fsum(a * n0 / (n1 + n0) for a, n1, b, n0 in tables)
    below = math.fsum(b * n1 / (n1 + n0) for a, n1, b, n0 in tables)
    if below == 0:
        return math.nan if above == 0 else math.inf
    return above / below


def greenland_robins(tables, level=0.95):
    """The interval by the variance of the logarithm; only where both sums are more than 0."""
    above = math.fsum(a * n0 / (n1 + n0) for a, n1, b, n0 in tables)
    below = math.fsum(b * n1 / (n1 + n0) for a, n1, b, n0 in tables)
    spread = math.fsum(((a + b) * n1 * n0 - a * b * (n1 + n0)) / (n1 + n0) ** 2 for a, n1, b, n0 in tables)
    far = NormalDist().inv_cdf(0.5 + level / 2) * math.sqrt(spread / (above * below))
    return above / below * math.exp(-far), above / below * math.exp(far)
