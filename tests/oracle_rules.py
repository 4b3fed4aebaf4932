"""The slow, obvious twin of trees of history tests; standard library only, imports nothing of the package.

A *test* is a tuple: ("occurs", z, k, c), ("more recent", z, y) or ("start", k). A *tree* is None for a leaf,
or (test, yes tree, no tree). A *case* is (history, outcome, weight); *cases* are all positions that count.
"""

import itertools
import math

import oracle


def lags(history, z):
    """How far back each occurrence of z is, the most recent first.

    >>> lags(["A", "B", "A"], "A")
    [1, 3]
    """
    return [len(history) - j for j in reversed(range(len(history))) if history[j] == z]


def passes(test, history):
    """The answer of a test.

    >>> passes(("occurs", "A", 2, 2), ["A", "A", "B"]), passes(("occurs", "A", None, 2), ["A", "A", "B"])
    (False, True)
    >>> passes(("more recent", "A", "B"), ["A"]), passes(("more recent", "A", "B"), ["A", "B"])
    (True, False)
    """
    if test[0] == "occurs":
        _, z, k, c = test
        return sum(k is None or lag <= k for lag in lags(history, z)) >= c
    if test[0] == "more recent":
        _, z, y = test
        return min(lags(history, z), default=math.inf) < min(lags(history, y), default=math.inf)
    return len(history) < test[1]


def all_tests(candidates, lookbacks, counts, starts, order):
    """Every test in canonical order."""
    tests = [("occurs", z, k, 1) for z in candidates for k in lookbacks]
    tests += [("start", k) for k in starts]
    if order:
        tests += [("more recent", z, y) for z, y in itertools.permutations(candidates, 2)]
    for c in counts:
        tests += [("occurs", z, k, c) for z in candidates for k in lookbacks if k is None or k >= c]
    return tests


def cases(sequences, target, labels, weights=None):
    """All positions with their outcomes; an event of no known label is residual, or left out."""
    found = []
    n = oracle.n_outcomes(target, labels)
    for number, sequence in enumerate(sequences):
        for i, label in enumerate(sequence):
            x = oracle.outcome(label, target)
            if x < n:
                found.append((sequence[:i], x, 1 if weights is None else weights[number]))
    return found


def tabulate(cases, n):
    """How much weight each outcome has."""
    return [sum(w for _, x, w in cases if x == outcome) for outcome in range(n)]


def best_fit(row):
    """The largest log-likelihood of a table of one state."""
    return math.fsum(k * math.log(k / sum(row)) for k in row if k)


def divide(cases, test):
    return [c for c in cases if passes(test, c[0])], [c for c in cases if not passes(test, c[0])]


def gain(cases, test, n):
    """What a split gains; 0 if one side is empty."""
    parts = [tabulate(part, n) for part in divide(cases, test)]
    if not all(sum(part) for part in parts):
        return 0.0
    return max(0.0, math.fsum(map(best_fit, parts)) - best_fit(tabulate(cases, n)))


def grow(cases, tests, n, penalty, depth):
    """Split by the first best test while that may be worth it, and prune on the way back.

    Returns the tree and what it gains beyond its penalties.
    """
    if depth == 0 or not tests or -best_fit(tabulate(cases, n)) <= penalty:
        return None, 0.0
    test, gained = oracle.first_best([(t, gain(cases, t, n)) for t in tests])
    if gained <= max(0.3 * penalty, 1e-9 * sum(w for _, _, w in cases)):
        return None, 0.0
    (yes, more), (no, most) = (grow(part, tests, n, penalty, depth - 1) for part in divide(cases, test))
    worth = gained - penalty + more + most
    return ((test, yes, no), worth) if worth >= -1e-9 else (None, 0.0)


def leaf(tree, history):
    """The answers on the way to the leaf of a history."""
    path = ()
    while tree is not None:
        answer = passes(tree[0], history)
        path += (answer,)
        tree = tree[1] if answer else tree[2]
    return path


def leaves(tree, path=()):
    """All leaves, depth first, the yes branch first."""
    if tree is None:
        return [path]
    return leaves(tree[1], (*path, True)) + leaves(tree[2], (*path, False))


def labels_of(tree):
    """The labels that a tree tests."""
    if tree is None:
        return set()
    named = {"occurs": tree[0][1:2], "more recent": tree[0][1:], "start": ()}[tree[0][0]]
    return {*named, *labels_of(tree[1]), *labels_of(tree[2])}


def estimates(tree, cases, above, weight, n, path=()):
    """The shrunken estimate of every node, by the answers on the way to it."""
    row = tabulate(cases, n)
    here = [(k + weight * p) / (sum(row) + weight) for k, p in zip(row, above, strict=True)]
    found = {path: here}
    if tree is not None:
        yes, no = divide(cases, tree[0])
        found |= estimates(tree[1], yes, here, weight, n, (*path, True))
        found |= estimates(tree[2], no, here, weight, n, (*path, False))
    return found
