"""The slow, obvious twin of context trees: pruned ones, and all prunings together.

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


# ---------------------------------------------------------------------------------------------------------
# One pruning
# ---------------------------------------------------------------------------------------------------------


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


# ---------------------------------------------------------------------------------------------------------
# All prunings together
# ---------------------------------------------------------------------------------------------------------


def sequential(row, pseudo):
    """Probability of outcomes, one after the other, each estimated from those before it.

    >>> sequential([1, 1], [0.5, 0.5])
    0.125
    """
    p, seen = 1.0, 0
    for n, a in zip(row, pseudo, strict=True):
        for i in range(n):
            p *= (a + i) / (sum(pseudo) + seen)
            seen += 1
    return p


def trees(s, totals, split):
    """Every tree from s on, as its prior probability and the set of its contexts.

    A context is split, into all longer ones that were seen, with probability `split`; one that has none
    cannot be.
    """
    if not (longer := children(s, totals)):
        return [(1.0, frozenset({s}))]
    found = [(1 - split, frozenset({s}))]
    for parts in itertools.product(*(trees(child, totals, split) for child in longer)):
        prior = split * math.prod(p for p, _ in parts)
        found.append((prior, frozenset({s}).union(*(contexts for _, contexts in parts))))
    return found


def probability(tree, totals, counts, pseudo):
    """Probability of the data given a tree: of the totals of leaves, and of what ends at inner contexts."""
    p = 1.0
    for s in tree:
        row = counts.get(s, [0] * len(pseudo)) if children(s, tree) else totals[s]
        p *= sequential(row, pseudo)
    return p


def weighted(s, totals, counts, pseudo, split):
    """The sum over all trees of prior times probability, by the recursion of Willems et al. (1995)."""
    here = sequential(totals[s], pseudo)
    if not (longer := children(s, totals)):
        return here
    left = sequential(counts.get(s, [0] * len(pseudo)), pseudo)
    return (1 - split) * here + split * left * math.prod(
        weighted(child, totals, counts, pseudo, split) for child in longer
    )


def averaged(contexts, totals, counts, pseudo, split):
    """Probabilities after each of some contexts: the mean over all trees by their posterior probability."""
    posterior = [
        (prior * probability(tree, totals, counts, pseudo), tree) for prior, tree in trees((), totals, split)
    ]
    whole = math.fsum(p for p, _ in posterior)
    rows = []
    for s in contexts:
        each = [(p, estimate(totals[longest(s, tree)], pseudo)) for p, tree in posterior]
        rows.append([math.fsum(p * row[x] for p, row in each) / whole for x in range(len(pseudo))])
    return rows
