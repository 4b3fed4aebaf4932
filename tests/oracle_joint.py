"""The joint model's features, likelihood and gradient, by the letter and with the standard library only."""

import math
from collections import Counter
from fractions import Fraction

WITHIN = (1, 2, 3, 5, 10, 20)
STARTS = (1, 2, 3, 5, 10, 20, 50)
START = "(start)"


def share(n, size, rate):
    return math.log((n + 5 * rate) / ((size + 5) * rate))


def shared_features(history, labels, rates, near=20, lookback=500):
    """The features that all labels look at; `rates` are base rates by label."""
    window = history[-lookback:]
    found = []
    for z in labels:
        if z not in window:
            found += [0.0] * (len(WITHIN) + 5)
            continue
        lag = window[::-1].index(z) + 1
        found += [float(lag <= k) for k in WITHIN] + [1.0]
        found += [float(len(window) >= place and window[-place] == z) for place in (2, 3)]
        close = window[-near:]
        found.append(share(close.count(z), len(close), rates[z]))
        found.append(share(window.count(z), len(window), rates[z]))
    return found + [float(len(window) < start) for start in STARTS]


def habits(history, outcomes, outcome_rates, lookback=500):
    """The own features of every outcome: one list per order, with one number per outcome.

    `outcomes` are sets of labels.
    """
    window = history[-lookback:]
    shares = []
    for labels, rate in zip(outcomes, outcome_rates, strict=True):
        n = sum(window.count(x) for x in labels)
        shares.append((n + 5 * rate) / (len(window) + 5))
    rows = [[math.log(s / r) for s, r in zip(shares, outcome_rates, strict=True)]]
    for order in (1, 2, 3):
        after = []
        if len(window) >= order:
            context = window[-order:]
            after = [window[i] for i in range(order, len(window)) if window[i - order : i] == context]
        counts = [sum(after.count(x) for x in labels) for labels in outcomes]
        longer = [(n + 2 * s) / (sum(counts) + 2) for n, s in zip(counts, shares, strict=True)]
        rows.append([math.log(a / b) for a, b in zip(longer, shares, strict=True)])
        shares = longer
    return rows


def logits(features, own, level, shared, own_weights):
    """`shared[f][x]` and `own_weights[o][x]` are weights, `own[o][x]` the habits at one place."""
    return [
        level[x]
        + sum(value * shared[f][x] for f, value in enumerate(features))
        + sum(own[o][x] * own_weights[o][x] for o in range(len(own)))
        for x in range(len(level))
    ]


def softmax(values):
    top = max(values)
    exps = [math.exp(v - top) for v in values]
    return [e / sum(exps) for e in exps]


def log_likelihood(places, weights):
    """`places` are (features, habits, outcome)."""
    return sum(math.log(softmax(logits(f, o, *weights))[x]) for f, o, x in places)


def gradient(places, weights):
    """The derivatives by level, shared and own weights, as lists of the same shapes."""
    level, shared, own_weights = weights
    n = len(level)
    by_level = [0.0] * n
    by_shared = [[0.0] * n for _ in shared]
    by_own = [[0.0] * n for _ in own_weights]
    for features, own, happened in places:
        p = softmax(logits(features, own, *weights))
        for x in range(n):
            rest = (x == happened) - p[x]
            by_level[x] += rest
            for f, value in enumerate(features):
                by_shared[f][x] += rest * value
            for o in range(len(own)):
                by_own[o][x] += rest * own[o][x]
    return by_level, by_shared, by_own


def after_last_labels(sequences, labels, order, history):
    """Kneser and Ney's estimate: the textbook's recursion, from n-grams that are listed one by one."""
    grams = Counter()
    for sequence in sequences:
        padded = [START] * order + sequence
        for at in range(order, len(padded)):
            grams[tuple(padded[at - order : at + 1])] += 1
    p = {x: Fraction(1, len(labels)) for x in labels}
    levels = [grams]
    for _ in range(order):
        levels.append(Counter(gram[1:] for gram in levels[-1]))
    past = [START] * order + history
    for length, counts in enumerate(reversed(levels)):
        ones, twos = (sum(n == k for n in counts.values()) for k in (1, 2))
        discount = Fraction(ones, ones + 2 * twos) if ones else Fraction(1, 2)
        context = tuple(past[len(past) - length :])
        after = {x: counts[*context, x] for x in labels}
        total = sum(after.values())
        if total:
            kinds = sum(n > 0 for n in after.values())
            p = {x: (max(after[x] - discount, 0) + discount * kinds * p[x]) / total for x in labels}
    return [p[x] for x in labels]
