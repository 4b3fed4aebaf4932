"""The slow, obvious twin of counting, scoring and searching.

Every function is one definition, written so that it can be checked by eye. The package must agree with
this file; this file uses the standard library only and imports nothing of the package.

Data are plain Python: ``sequences`` is a list of lists of labels (str), ``weights`` a list of ints, one a
sequence. A *history* is the list of the labels before a position, so the position is ``len(history)``,
counted from 0. A *state* is any hashable value. *Counts* are a dict from state to a list with one int an
outcome of the target: ``counts[s][x]`` is N(x; s).
"""

import itertools
import math

from oracle_chance import gain_by_chance

# --- Histories and windows


def history(sequence, position):
    """History of a position (0-based): the labels before it in its sequence, oldest first.

    >>> history(["A", "A", "C", "B"], 3)
    ['A', 'A', 'C']
    """
    return [sequence[j] for j in range(position)]


def window(position, lookback, delay=0):
    """Window of position i for look-back k and delay d: the positions j >= 0 with d < i - j <= k.

    Both ends: j >= i - k and j <= i - d - 1. A look-back of None is the whole past.

    >>> list(window(5, 3)), list(window(5, 3, 1)), list(window(5, None, 1)), list(window(0, 3))
    ([2, 3, 4], [2, 3], [0, 1, 2, 3], [])
    """
    oldest = 0 if lookback is None else max(0, position - lookback)
    newest = position - delay - 1
    return range(oldest, newest + 1)


def lookback_of(label, lookback):
    """The look-back of one label: `lookback` is a dict from label to int or None, or one for all labels."""
    return lookback[label] if isinstance(lookback, dict) else lookback


def occurrences(history, label, lookback, delay=0):
    """The positions in the window of the next event at which `label` occurred, oldest first."""
    return [j for j in window(len(history), lookback_of(label, lookback), delay) if history[j] == label]


# --- Summaries: history -> state


def binary_state(history, influencers, lookback, delay=0):
    """Binary summary (BSuMM): for each Z in U, did Z occur in its window? 1 if so, else 0.

    >>> binary_state(["A", "A", "C"], ("A", "B", "C"), None)
    (1, 0, 1)
    """
    return tuple(1 if occurrences(history, label, lookback, delay) else 0 for label in influencers)


def count_state(history, influencers, lookback, delay=0, cap=2):
    """Count summary (CSuMM): how often each Z of U occurred in its window, capped at c.

    >>> count_state(["A", "A", "C", "A"], ("A", "B", "C"), None, cap=2)
    (2, 0, 1)
    """
    return tuple(min(cap, len(occurrences(history, label, lookback, delay))) for label in influencers)


def ordinal_order(history, influencers, lookback, delay=0, mask="last"):
    """Ordinal summary (OSuMM): the labels of U that occurred in the (one) window, oldest first.

    They are in the order of their last occurrence (mask "last") or of their first occurrence in the
    window (mask "first").

    >>> ordinal_order(["A", "B", "A"], ("A", "B"), 3)
    ['B', 'A']
    >>> ordinal_order(["A", "B", "A"], ("A", "B"), 3, mask="first")
    ['A', 'B']
    """
    kept = []  # (the one position of the label that counts, label)
    for label in influencers:
        positions = occurrences(history, label, lookback, delay)
        if positions:
            kept.append(({"last": max, "first": min}[mask](positions), label))
    return [label for position, label in sorted(kept)]


def ordinal_state(history, influencers, lookback, delay=0, mask="last"):
    """The ordinal summary as ranks, in the order of `influencers`: 1 is the oldest, 0 is absent.

    >>> ordinal_state(["A", "B", "A"], ("A", "B", "C"), 3)
    (2, 1, 0)
    """
    order = ordinal_order(history, influencers, lookback, delay, mask)
    return tuple(order.index(label) + 1 if label in order else 0 for label in influencers)


def chain_state(history, order):
    """Chain: the labels at lags 1..k themselves, most recent first; shorter at the start of a sequence.

    >>> chain_state(["A", "B", "C"], 2), chain_state(["A"], 2), chain_state([], 2)
    (('C', 'B'), ('A',), ())
    """
    position = len(history)
    return tuple(history[position - lag] for lag in range(1, order + 1) if lag <= position)


# --- Numbers of states


def n_states(kind, n_influencers=None, cap=2, n_labels=None, order=None):
    """|S(U)|, always the closed formula, whether or not a state can be reached at the look-back.

    binary 2^|U|; ordinal sum over i=0..|U| of |U|!/i!; count (c+1)^|U|; chain sum over i=0..k of M^i.

    >>> n_states("binary", 3), n_states("ordinal", 3), n_states("count", 3)
    (8, 16, 27)
    >>> n_states("chain", n_labels=3, order=2)
    13
    """
    if kind == "binary":
        return 2**n_influencers
    if kind == "ordinal":
        return sum(math.factorial(n_influencers) // math.factorial(i) for i in range(n_influencers + 1))
    if kind == "count":
        return (cap + 1) ** n_influencers
    if kind == "chain":
        return sum(n_labels**i for i in range(order + 1))
    raise ValueError(f"unknown kind of summary: {kind!r}")


def n_reachable(kind, lookbacks, delay=0, cap=2, length=None):
    """The number of states that some history produces, by trying every history.

    `lookbacks` has one int or None per influencer (for "ordinal" all are equal). Every position of the
    history older than the delay holds one of the influencers or some other label; the `delay` most recent
    positions are in no window, so they hold the other label throughout.

    `length` is how many positions older than the delay are tried: by default the longest look-back less
    the delay, but never more than one an influencer (binary, ordinal) or `cap` an influencer (count).
    That is enough: events that a state does not depend on can be deleted, and the ones that remain only
    move closer, without entering the delay.

    >>> n_reachable("binary", [1, 1, 1]), n_reachable("binary", [3, 3, 3]), n_reachable("ordinal", [None] * 3)
    (4, 8, 16)
    """
    if kind == "ordinal" and len(set(lookbacks)) > 1:
        raise ValueError("an ordinal summary has one look-back")
    influencers = tuple(range(len(lookbacks)))
    other = "other"
    lookback = dict(enumerate(lookbacks))
    if length is None:
        length = len(lookbacks) * (cap if kind == "count" else 1)
        if None not in lookbacks:
            length = min(length, max([k - delay for k in lookbacks], default=0))

    reached = set()
    for older in itertools.product([*influencers, other], repeat=length):
        past = [*older] + [other] * delay
        if kind == "binary":
            reached.add(binary_state(past, influencers, lookback, delay))
        elif kind == "ordinal":
            reached.add(ordinal_state(past, influencers, lookback, delay))
        elif kind == "count":
            reached.add(count_state(past, influencers, lookback, delay, cap))
        else:
            raise ValueError(f"unknown kind of summary: {kind!r}")
    return len(reached)


# --- Counts


def outcome(label, target):
    """State of the target variable: the index of `label` in X, or |X| for the residual state.

    >>> outcome("A", ("A", "B")), outcome("B", ("A", "B")), outcome("C", ("A", "B"))
    (0, 1, 2)
    """
    return target.index(label) if label in target else len(target)


def n_outcomes(target, labels):
    """Number of states of the target variable: one per label of X, plus one residual unless X = L.

    >>> n_outcomes(("A",), {"A", "B"}), n_outcomes(("A", "B"), {"A", "B"})
    (2, 2)
    """
    return len(target) if set(target) == set(labels) else len(target) + 1


def counts(sequences, target, state, weights=None, labels=None):
    """N(x; s) over all positions of all sequences, each counted `weight` times.

    `state` is a function from history to state; `labels` is the vocabulary L (by default the labels that
    occur). States that were never seen, or only with weight 0, are not in the dict.

    >>> counts([["A", "B", "A", "C"]], ("A",), lambda past: binary_state(past, ("A",), 1))
    {(0,): [2, 0], (1,): [0, 2]}
    """
    if labels is None:
        labels = {label for sequence in sequences for label in sequence}
    if weights is None:
        weights = [1] * len(sequences)
    table = {}
    for sequence, weight in zip(sequences, weights, strict=True):
        if weight == 0:
            continue
        for position in range(len(sequence)):
            s = state(history(sequence, position))
            x = outcome(sequence[position], target)
            if s not in table:
                table[s] = [0] * n_outcomes(target, labels)
            table[s][x] += weight
    return table


# --- Estimates


def prior_mean(counts, prior="uniform"):
    """What a state never seen gets, one number per outcome.

    "uniform": 1/|X|. "base-rate": (N(x) + 1/2) / (N + |X|/2), N(x) being the totals over all states. Here
    and below |X| is the number of states of the target variable.

    >>> prior_mean({0: [8, 2], 1: [1, 9]}), prior_mean({0: [3, 0]}, "base-rate")
    ([0.5, 0.5], [0.875, 0.125])
    """
    if not counts:
        raise ValueError("no counts: the number of outcomes is not known")
    totals = [sum(column) for column in zip(*counts.values(), strict=True)]  # N(x)
    if prior == "uniform":
        return [1 / len(totals) for _ in totals]
    if prior == "base-rate":
        return [(n + 1 / 2) / (sum(totals) + len(totals) / 2) for n in totals]
    raise ValueError(f"unknown prior: {prior!r}")


def pseudo_counts(counts, alpha, prior="uniform"):
    """Weights of the prior, one an outcome: a total of alpha * |X|, centred on the prior mean.

    Under the uniform prior each is alpha.

    >>> pseudo_counts({0: [3, 0]}, 1.0), pseudo_counts({0: [3, 0]}, 1.0, "base-rate")
    ([1.0, 1.0], [1.75, 0.25])
    """
    mean = prior_mean(counts, prior)
    if prior == "uniform":
        return [alpha for _ in mean]
    return [alpha * len(mean) * m for m in mean]


def theta(counts, alpha, prior="uniform"):
    """theta(x|s) = (alpha + N(x;s)) / (alpha*|X| + N(s)), as a dict from state to a list.

    Under another prior than the uniform one, alpha in the numerator is the pseudo-count of x.

    >>> theta({0: [8, 2], 1: [1, 7]}, alpha=1.0)
    {0: [0.75, 0.25], 1: [0.2, 0.8]}
    """
    pseudo = pseudo_counts(counts, alpha, prior)
    return {
        s: [(a + n) / (alpha * len(row) + sum(row)) for a, n in zip(pseudo, row, strict=True)]
        for s, row in counts.items()
    }


def predict(sequences, target, state, counts, alpha, prior="uniform"):
    """theta(.|s) at every position of every sequence in turn; a state never seen gets the prior mean.

    `counts` come from the training sequences.

    >>> predict([["A", "B"]], ("A",), lambda past: len(past), {0: [8, 2]}, alpha=1.0)
    [[0.75, 0.25], [0.5, 0.5]]
    """
    estimates = theta(counts, alpha, prior)
    unseen = prior_mean(counts, prior)
    if len(unseen) not in (len(target), len(target) + 1):
        raise ValueError("the counts are not of this target")
    rows = []
    for sequence in sequences:
        for position in range(len(sequence)):
            s = state(history(sequence, position))
            rows.append(list(estimates.get(s, unseen)))
    return rows


# --- Scores


def log_likelihood(counts, alpha, prior="uniform"):
    """LL = sum over x and s of N(x;s) log theta(x|s), natural log. N(x;s) = 0 adds nothing.

    >>> round(log_likelihood({0: [8, 2], 1: [1, 9]}, alpha=1.0), 3)
    -8.507
    """
    estimates = theta(counts, alpha, prior)
    return math.fsum(
        n * math.log(estimates[s][x]) for s, row in counts.items() for x, n in enumerate(row) if n > 0
    )


def n_parameters(counts, n_states):
    """|P| = (|X| - 1) * |S(U)|.

    >>> n_parameters({0: [8, 2, 0], 1: [1, 9, 0]}, n_states=4)
    8
    """
    return (len(prior_mean(counts)) - 1) * n_states


def bic(counts, n_states, n_events, alpha, gamma=1.0, prior="uniform"):
    """BIC = LL - gamma * |P| * log(N)/2, N being all events of the data set."""
    penalty = gamma * n_parameters(counts, n_states) * math.log(max(n_events, 1)) / 2
    return log_likelihood(counts, alpha, prior) - penalty


def aic(counts, n_states, alpha, prior="uniform"):
    """AIC = LL - |P|."""
    return log_likelihood(counts, alpha, prior) - n_parameters(counts, n_states)


def extended_bic(
    counts,
    n_states,
    n_events,
    alpha,
    n_candidates,
    n_influencers,
    gamma=1.0,
    xi=1.0,
    prior="uniform",
    n_lookbacks=1,
):
    """Extended BIC = BIC - xi * log(C(m, |U|) r^|U|), of m candidate labels and r look-backs for each."""
    choices = math.comb(n_candidates, n_influencers) * n_lookbacks**n_influencers
    return bic(counts, n_states, n_events, alpha, gamma, prior) - xi * math.log(choices)


def marginal(counts, alpha, prior="uniform"):
    """Log of the Dirichlet marginal likelihood of the sequences: no |P|, no gamma.

    The sum over s of log G(A) - log G(A + N(s)) + sum over x of [log G(a(x) + N(x;s)) - log G(a(x))], G
    being the gamma function, a(x) the pseudo-counts and A = alpha * |X| their total.
    """
    pseudo = pseudo_counts(counts, alpha, prior)
    terms = []
    for row in counts.values():
        terms.append(math.lgamma(alpha * len(row)) - math.lgamma(alpha * len(row) + sum(row)))
        for a, n in zip(pseudo, row, strict=True):
            terms.append(math.lgamma(a + n) - math.lgamma(a))
    return math.fsum(terms)


def score(
    kind_of_score,
    counts,
    n_states=None,
    n_events=None,
    alpha=1.0,
    gamma=1.0,
    xi=1.0,
    n_candidates=None,
    n_influencers=None,
    prior="uniform",
    false_edges=None,
    n_targets=1,
    n_lookbacks=1,
):
    """One of the scores by its name: "bic", "aic", "extended_bic" or "marginal".

    With ``false_edges`` no more than what no influencers score, the likelihood gained beyond theirs, and less
    what noise would gain.
    """

    def criterion(counts, n_states, n_influencers):
        if kind_of_score == "bic":
            return bic(counts, n_states, n_events, alpha, gamma, prior)
        if kind_of_score == "aic":
            return aic(counts, n_states, alpha, prior)
        if kind_of_score == "extended_bic":
            choice = (n_candidates, n_influencers, gamma, xi, prior, n_lookbacks)
            return extended_bic(counts, n_states, n_events, alpha, *choice)
        if kind_of_score == "marginal":
            return marginal(counts, alpha, prior)
        raise ValueError(f"unknown score: {kind_of_score!r}")

    value = criterion(counts, n_states, n_influencers)
    if false_edges is None:
        return value
    whole = {(): [sum(column) for column in zip(*counts.values(), strict=True)]}
    beyond = n_parameters(counts, n_states) - n_parameters(whole, 1)
    chance = gain_by_chance(n_influencers, beyond, n_targets * n_candidates * n_lookbacks, false_edges)
    gained = log_likelihood(counts, alpha, prior) - log_likelihood(whole, alpha, prior)
    return min(value, criterion(whole, 1, 0) + gained - chance)


# --- Searches: score_of(sorted tuple of labels) -> float


def ties(a, b):
    """Differences below 1e-9 (relative) are ties: |a - b| <= 1e-9 * max(1, |a|, |b|).

    An infinite score ties with itself only.

    >>> ties(1e6, 1e6 + 1e-4), ties(0.0, 1e-8), ties(-math.inf, 0.0)
    (True, False, False)
    """
    if math.isinf(a) or math.isinf(b):
        return a == b
    return abs(a - b) <= 1e-9 * max(1, abs(a), abs(b))


def improves(new, old):
    """A score improves if it is larger, and not a tie."""
    return new > old and not ties(new, old)


def first_best(scored):
    """Of pairs (thing, score): the first that ties with the largest score.

    >>> first_best([("A", 0.0), ("B", 1.0), ("C", 1.0 + 1e-12)])
    ('B', 1.0)
    """
    largest = max(value for _, value in scored)
    return next((thing, value) for thing, value in scored if ties(value, largest))


def allowed_labels(labels, required=(), forbidden=(), candidates=None):
    """The labels a search may add, sorted: the candidates (None: all labels), less forbidden and required."""
    return [
        label
        for label in sorted(labels)
        if (candidates is None or label in candidates) and label not in forbidden and label not in required
    ]


def greedy(labels, score_of, required=(), forbidden=(), candidates=None, max_influencers=None):
    """Greedy search: forward rounds, then backward rounds.

    Forward, from score -inf (so the first round always adds the best label): each round adds the label
    that scores best, while that improves. Backward: each round removes the label whose removal scores
    best, while that improves, down to the empty set. Ties go to the first label in sorted order, and are
    not improvements. The required labels are there from the start and are never removed; they count
    towards `max_influencers`.

    Returns the influencers, their score, and the trace: a list of (action, label, score after it).
    """
    allowed = allowed_labels(labels, required, forbidden, candidates)
    chosen = set(required)
    current = -math.inf
    trace = []

    while max_influencers is None or len(chosen) < max_influencers:
        round_ = [(z, score_of(tuple(sorted(chosen | {z})))) for z in allowed if z not in chosen]
        if not round_:
            break
        label, value = first_best(round_)
        if not improves(value, current):
            break
        chosen.add(label)
        current = value
        trace.append(("add", label, value))

    if not trace:  # nothing could be added
        current = score_of(tuple(sorted(chosen)))

    while chosen - set(required):
        round_ = [(z, score_of(tuple(sorted(chosen - {z})))) for z in sorted(chosen - set(required))]
        label, value = first_best(round_)
        if not improves(value, current):
            break
        chosen.remove(label)
        current = value
        trace.append(("remove", label, value))

    return tuple(sorted(chosen)), current, trace


def sweep(labels, score_of, required=(), forbidden=(), candidates=None, max_influencers=None):
    """Algorithm 1 read literally: one sweep over the labels in sorted order, then one back.

    Forward, from score -inf: each allowed label in turn is added if that improves. Backward: each label
    then chosen, in turn, is removed if that improves. Otherwise as `greedy`.
    """
    chosen = set(required)
    current = -math.inf
    trace = []

    for label in allowed_labels(labels, required, forbidden, candidates):
        if max_influencers is not None and len(chosen) >= max_influencers:
            break
        value = score_of(tuple(sorted(chosen | {label})))
        if improves(value, current):
            chosen.add(label)
            current = value
            trace.append(("add", label, value))

    if not trace:  # nothing could be added
        current = score_of(tuple(sorted(chosen)))

    for label in sorted(chosen - set(required)):
        value = score_of(tuple(sorted(chosen - {label})))
        if improves(value, current):
            chosen.remove(label)
            current = value
            trace.append(("remove", label, value))

    return tuple(sorted(chosen)), current, trace


def allowed_sets(labels, required=(), forbidden=(), candidates=None, max_influencers=None):
    """All sets of influencers that a search may choose from, the smaller first, then in sorted order."""
    allowed = allowed_labels(labels, required, forbidden, candidates)
    most = len(allowed) if max_influencers is None else max_influencers - len(required)
    sets = [
        tuple(sorted((*required, *some)))
        for size in range(min(most, len(allowed)) + 1)
        for some in itertools.combinations(allowed, size)
    ]
    return sorted(sets, key=lambda u: (len(u), u))


def exhaustive(labels, score_of, required=(), forbidden=(), candidates=None, max_influencers=None):
    """The best of all sets that a search may choose from, and its score.

    Ties go to the smaller set, then to the first in sorted order.
    """
    sets = allowed_sets(labels, required, forbidden, candidates, max_influencers)
    return first_best([(u, score_of(u)) for u in sets])
