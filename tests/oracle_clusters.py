"""How much sequences, and blocks of them, move the ratio of an edge: the slow and obvious way.

Standard library only. The ratio is taken as a function of the weights of clusters, and its derivative by each
of them with a complex step, which loses no digits. Cases are those of ``oracle_ticks``.
"""

import cmath

import oracle_ticks as ticks

STEP = 1e-30


def sequences_of(cases):
    """Each case is one cluster: a list of (case, position)."""
    return [[(number, i) for i in range(len(case[1]))] for number, case in enumerate(cases)]


def blocks_of(cases, size, in_time=False):
    """Each case in blocks of a number of ticks, or of a time; the last of a case takes what is left."""
    clusters = []
    for number, (_, places) in enumerate(cases):
        where = [time - places[0][0] for time, _ in places] if in_time else list(range(len(places)))
        length = where[-1] if in_time and where else len(places)
        most = max(1, length // size)
        for block in range(most):
            inside = [i for i, place in enumerate(where) if min(place // size, most - 1) == block]
            if inside:
                clusters.append([(number, i) for i in inside])
    return clusters


def edge(cases, weights, clusters, z, x, others, lookbacks, delay):
    """The sum of squares over clusters, and how many there are with z at some position and without."""
    tables = [_table(cases, cluster, z, x, others, lookbacks, delay) for cluster in clusters]
    each = [weights[cluster[0][0]] for cluster in clusters]
    squares = 0.0
    for at, weight in enumerate(each):
        if weight:
            moved = [w + (STEP * 1j if at == other else 0) for other, w in enumerate(each)]
            squares += weight * (_log_ratio(tables, moved).imag / STEP) ** 2
    with_ = sum(w for table, w in zip(tables, each, strict=True) if any(t[1] for t in table.values()))
    without = sum(w for table, w in zip(tables, each, strict=True) if any(t[3] for t in table.values()))
    return squares, with_, without


def _table(cases, cluster, z, x, others, lookbacks, delay):
    """Hits and positions with z and without, for each configuration of the others."""
    found = {}
    for number, i in cluster:
        case = cases[number]
        there = {y: bool(ticks.occurrences(case, i, y, lookbacks[y], delay)) for y in {z, *others}}
        table = found.setdefault(tuple(there[y] for y in sorted(set(others) - {z})), [0, 0, 0, 0])
        first = 0 if there[z] else 2
        table[first] += x in case[1][i][1]
        table[first + 1] += 1
    return found


def _log_ratio(tables, weights):
    """The logarithm of Mantel and Haenszel's ratio; 0 where it is not finite."""
    sums = {}
    for table, weight in zip(tables, weights, strict=True):
        for key, numbers in table.items():
            sums[key] = [s + weight * n for s, n in zip(sums.get(key, [0j] * 4), numbers, strict=True)]
    compared = [t for t in sums.values() if t[1].real > 0 and t[3].real > 0]
    above = sum(a * n0 / (n1 + n0) for a, n1, b, n0 in compared)
    below = sum(b * n1 / (n1 + n0) for a, n1, b, n0 in compared)
    return cmath.log(above / below) if above.real > 0 and below.real > 0 else 0j
