"""The slow, obvious twin of context trees.

Standard library only, and nothing of the package. A *context* is a tuple of labels, the most recent first;
it may end with START, the time before the sequence began. *Counts* are as in ``oracle``, with the longest
context of each position for a state; *totals* count, for every context, all positions whose history ends
with it.
"""

import itertools
import math

START = None


def context(history, order, labels):
    """The longest context of a history: `order` labels, or up to the start; it ends before an unknown label.

    >>> context(["A", "B"], 1, "AB"), context(["A", "B"], 3, "AB"), context(["A", "?", "B"], 3, "AB")
    (('B',), ('B', 'A', None), ('B',))
    """
    symbols = []
    for back in range(1, order + 1):
        if back > len(history):
            return (*symbols, START)
        if history[-back] not in labels:
            break
        symbols.append(history[-back])
    return tuple(symbols)


def shorter(s):
    """A context and all that it ends with, the empty one first.

    >>> shorter(("B", "A"))
    [(), ('B',), ('B', 'A')]
    """
    return [s[:length] for length in range(len(s) + 1)]


def totals(counts):
    """Counts of every context from those of the longest ones.

    >>> totals({("A",): [1, 2], ("B",): [0, 4]})
    {(): [1, 6], ('A',): [1, 2], ('B',): [0, 4]}
    """
    table = {}
    for s, row in counts.items():
        for t in shorter(s):
            table[t] = [a + b for a, b in zip(table.get(t, [0] * len(row)), row, strict=True)]
    return table


def children(s, contexts):
    """The contexts that are longer by one than s."""
    return [t for t in contexts if len(t) == len(s) + 1 and t[:-1] == s]


def longest(s, kept):
    """The longest of the kept contexts that s ends with."""
    return max((t for t in shorter(s) if t in kept), key=len)


def estimate(row, pseudo):
    """(pseudo-count + count) / (their total), one per outcome."""
    return [(a + n) / (sum(pseudo) + sum(row)) for a, n in zip(pseudo, row, strict=True)]


def gain(s, totals):
    """Largest log-likelihood of what followed s, less that at the shares of the next shorter context.

    >>> gain(("A",), {(): [2, 2], ("A",): [2, 0]}) == 2 * math.log(2)
    True
    """
    mine, parent = totals[s], totals[s[:-1]]
    return math.fsum(
        n * (math.log(n / sum(mine)) - math.log(p / sum(parent)))
        for n, p in zip(mine, parent, strict=True)
        if n > 0
    )


def keep(s, totals, penalty):
    """The contexts from s on that are kept, and what they gain beyond their penalties; ties are kept."""
    kept, worth = {s}, (gain(s, totals) if s else 0.0) - (penalty if s else 0.0)
    for child in children(s, totals):
        below, value = keep(child, totals, penalty)
        if value >= -1e-9:
            kept, worth = kept | below, worth + value
    return kept, worth


def all_prunings(s, totals):
    """Every set of contexts from s on that holds s and, with each context, the shorter ones."""
    choices = [[frozenset(), *all_prunings(child, totals)] for child in children(s, totals)]
    return [frozenset({s}).union(*chosen) for chosen in itertools.product(*choices)]
