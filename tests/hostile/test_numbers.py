"""Numbers and data at their edges: pseudo-counts, counts, states, weights, seeds, events and labels."""

import math
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import partial

import numpy as np
import pytest

import summarkov as sm
from summarkov.errors import SettingError, UnknownLabelError
from summarkov.search.criteria import Scorer, log_evidence, log_likelihood, probabilities, pseudo_counts
from summarkov.simulate.example import web_shop

#: Numbers as the paper counts them.
pytestmark = pytest.mark.cut_off

SEQUENCES = [["A", "B", "C", "A", "B"], ["C", "C", "A", "B"], ["B", "A", "C", "B"], ["A", "C"]]
EVENTS = sm.read_events(SEQUENCES * 5, ends="cut off")

#: Every family, given what is different from these.
FAMILIES = {
    "binary": partial(sm.BSuMM, target="B", lookback=2),
    "ordinal": partial(sm.OSuMM, target="B", lookback=2),
    "count": partial(sm.CSuMM, target="B", lookback=2),
    "learned": partial(sm.BSuMM, target="B", lookback="auto"),
    "exact": partial(sm.BSuMM, target="B", lookback=2, search="exact"),
    "tree": partial(sm.TreeSuMM, target="B"),
    "chain": partial(sm.MarkovChain, target="B", order=2),
    "variable": partial(sm.VariableOrderChain, target="B"),
}
ALPHAS = (1e-15, 1e-12, 1e12, 1e15)
#: Counts of two outcomes: none, few, 10^9, the largest weight there is.
TABLES = ([0, 0], [1, 0], [3, 2], [1000, 1], [10**9, 0], [10**9, 1], [10**9, 10**9], [5, 10**9], [2**42, 3])


# ------------------------------------------------------------------------------- exact twins


def exact_log(number: Fraction) -> Decimal:
    """The logarithm of a fraction, to 50 digits."""
    with localcontext(prec=60):
        return Decimal(number.numerator).ln() - Decimal(number.denominator).ln()


def exact_likelihood(table, alphas) -> float:
    """Sum of N(x; s) log theta, theta a fraction."""
    total = Decimal(0)
    with localcontext(prec=60):
        for row in table:
            n = [Fraction(v) for v in row]
            for x, alpha in enumerate(alphas):
                theta = (Fraction(alpha) + n[x]) / (sum(map(Fraction, alphas)) + sum(n))
                total += Decimal(int(n[x])) * exact_log(theta)
        return float(total)


_BERNOULLI = ("1/6", "-1/30", "1/42", "-1/30", "5/66", "-691/2730", "7/6", "-3617/510", "43867/798")
_PI = Decimal("3.14159265358979323846264338327950288419716939937510582097494")


def exact_log_gamma(x: Decimal) -> Decimal:
    """Stirling's series beyond 200, where it has 40 digits, and down from there by recurrence."""
    with localcontext(prec=60):
        less = Decimal(0)
        while x < 200:
            less += x.ln()
            x += 1
        value = (x - Decimal("0.5")) * x.ln() - x + (2 * _PI).ln() / 2
        for k, number in enumerate(map(Fraction, _BERNOULLI), start=1):
            term = Decimal(number.numerator) / Decimal(number.denominator)
            value += term / (2 * k * (2 * k - 1) * x ** (2 * k - 1))
        return value - less


def exact_evidence(row, alphas) -> float:
    with localcontext(prec=60):
        n, a = [Decimal(v) for v in row], [Decimal(v) for v in alphas]
        total = exact_log_gamma(sum(a)) - exact_log_gamma(sum(a) + sum(n))
        return float(
            total + sum(exact_log_gamma(b + v) - exact_log_gamma(b) for b, v in zip(a, n, strict=True))
        )


# ------------------------------------------------------------------------------- scores


@pytest.mark.parametrize("alpha", [*ALPHAS, 0.1, 5.0])
@pytest.mark.parametrize("row", TABLES, ids=str)
def test_estimates_are_the_fractions(row, alpha):
    theta = probabilities([row], pseudo_counts(row, alpha))[0]
    for x in (0, 1):
        exact = (Fraction(alpha) + row[x]) / (2 * Fraction(alpha) + sum(row))
        assert theta[x] == pytest.approx(float(exact), rel=1e-15, abs=0)


@pytest.mark.parametrize("alpha", [*ALPHAS, 0.1, 5.0])
@pytest.mark.parametrize("row", TABLES, ids=str)
def test_likelihood_at_the_edges(row, alpha):
    """A probability next to 1 is known to 2^-53, so n of them to n times that."""
    table = [row, [7, 3]]
    found = float(log_likelihood(table, np.array([alpha, alpha])))
    exact = exact_likelihood(table, [alpha, alpha])
    assert found == pytest.approx(exact, rel=1e-12, abs=max(1e-12, 2.0**-52 * sum(row)))


@pytest.mark.parametrize(
    "alphas", [*((a, a) for a in (1e-15, 1e-12, 0.1, 0.5, 19.9, 20.0)), (1e-12, 3e12)], ids=str
)
@pytest.mark.parametrize("row", TABLES, ids=str)
def test_evidence_at_the_edges(row, alphas):
    """As differences of log-gamma these lose many digits where counts are large."""
    found = float(log_evidence([row], np.array(alphas))[0])
    assert found == pytest.approx(exact_evidence(row, alphas), rel=1e-12, abs=1e-300)


# ------------------------------------------------------------------------------- models


def check_numbers(model, events=EVENTS):
    """Everything that people read off a model is a number, and probabilities are probabilities."""
    p = model.predict_proba(events)
    assert (p >= 0).all()
    assert p.sum(axis=1) == pytest.approx(1, rel=1e-9)
    assert math.isfinite(model.score(events))
    assert math.isfinite(model.log_likelihood_)
    for row in model.table_:
        assert all(0 <= low <= high <= 1 for low, high in row.intervals)
    assert all(not math.isnan(edge.low) for edge in model.influences_)
    assert 0 <= model.explain(model.labels_[:2]).probability <= 1


@pytest.mark.parametrize(("alpha", "prior"), [(1e-15, "uniform"), (1e15, "base-rate")])
@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_at_the_ends_of_alpha(family, alpha, prior):
    check_numbers(FAMILIES[family](alpha=alpha, prior=prior).fit(EVENTS))


@pytest.mark.parametrize("gamma", [0.0, 1e-300, 1e15])
@pytest.mark.parametrize("family", ["binary", "ordinal", "count", "learned", "exact", "tree", "variable"])
def test_gamma_at_its_ends(family, gamma):
    made = FAMILIES[family](gamma=gamma)
    if "false_edges" in made.get_params():  # else chance has a say beside gamma
        made.set_params(false_edges=None)
    model = made.fit(EVENTS)
    check_numbers(model)
    if gamma == 0 and family not in ("tree", "variable"):
        assert model.score_ == pytest.approx(model.log_likelihood_, rel=1e-12)


#: Sequences, the labels that are declared, and the targets.
ENDS = {
    "one sequence": ([["A", "B", "C", "A", "B", "C", "A"]], None, "A"),
    "one event": ([["A"]], None, "A"),
    "one label": ([["A", "A", "A"], ["A"]], None, "A"),
    "no sequence longer than 1": ([["A"], ["B"], ["A"]], None, "A"),
    "empty sequences": ([[], ["A", "B"], [], ["A"], []], None, "A"),
    "all labels as the target": (SEQUENCES, None, ["A", "B", "C"]),
    "a target that always occurs": ([["A"] * 9] * 5, ["A", "B"], "A"),
    "a target that never occurs": ([["A", "B", "A", "B", "B"]] * 20, ["A", "B", "never"], "never"),
}


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("end", ENDS)
def test_data_at_its_ends(family, end, tmp_path):
    sequences, labels, target = ENDS[end]
    events = sm.read_events(sequences, labels=labels)
    model = FAMILIES[family](target=target).fit(events)
    p = model.predict_proba(events)
    assert p.sum(axis=1) == pytest.approx(1, rel=1e-12)
    assert (p > 0).all()
    assert math.isfinite(model.score(events))
    if "always" in end:
        assert p[:, 0].min() > 0.7
    if "never" in end:
        assert p[:, 0].max() < 0.11
    if end == "one label":  # which is the whole vocabulary: one outcome
        assert p.tolist() == [[1.0]] * 4
    model.save(tmp_path / "m.json")
    assert np.array_equal(sm.load(tmp_path / "m.json").predict_proba(events), p)


@pytest.mark.parametrize("family", FAMILIES)
def test_unknown_labels(family):
    with pytest.raises(UnknownLabelError, match="unknown label 'nowhere'"):
        FAMILIES[family](target="nowhere").fit(EVENTS)
    model = FAMILIES[family]().fit(EVENTS)
    new = [["A", "zzz", "B"], ["zzz"], ["B", "A", "zzz", "zzz", "C"]]
    for refused in (lambda: model.predict_proba(new), lambda: model.explain(["zzz"])):
        with pytest.raises(UnknownLabelError, match="unknown label 'zzz'"):
            refused()
    p = model.predict_proba(new, unknown="ignore")
    assert p.shape[0] == 9
    assert p.sum(axis=1) == pytest.approx(1, rel=1e-12)
    assert 0 < model.explain(["A", "zzz"], unknown="ignore").probability < 1


# ------------------------------------------------------------------------------- state spaces


def many_labels(n):
    """Sequences over n labels."""
    labels = [f"L{i:04}" for i in range(n)]
    return sm.read_events([labels[i : i + 5] for i in range(n - 5)])


@pytest.mark.parametrize(
    ("family", "gamma"),
    [(sm.BSuMM, 0.0), (sm.BSuMM, 1e15), (sm.BSuMM, 1e-12), (sm.OSuMM, 1e-12), (sm.CSuMM, 1e-12)],
)
def test_more_states_than_2_to_the_63(family, gamma):
    """With 66 required influencers there are 2^66, 3^66 or 1e93 states: the penalty is that large."""
    events = many_labels(70)
    model = family(
        "L0007", lookback=5, gamma=gamma, false_edges=None, required=events.labels[:66], candidates=[]
    )
    model.fit(events)
    check_numbers(model, events)
    n = model.fitted.summary.n_states(66, 70)
    assert n > 2**63
    penalty = gamma * n * math.log(events.n_events) / 2
    assert model.score_ == pytest.approx(model.log_likelihood_ - penalty, rel=1e-12)


def test_the_penalty_of_infinitely_many_states_is_infinite_and_nothing_at_gamma_0():
    counts = [[8, 2], [1, 9]]
    assert Scorer(gamma=1.0)(counts, 1, math.inf, 3, 20) == -math.inf
    assert Scorer(gamma=1e15)(counts, 1, 1e300, 3, 20) == -math.inf
    free = Scorer(gamma=0.0)(counts, 1, math.inf, 3, 20)
    assert free == log_likelihood(counts, np.array([0.1, 0.1]))


@pytest.mark.parametrize("family", FAMILIES)
def test_states_without_counts(family):
    """A state never seen has the prior's probability; one that is seen with weight 0 as well."""
    weights = [1, 1, 1, 0] * 5
    model = FAMILIES[family]().fit(EVENTS, sample_weight=weights)
    check_numbers(model)
    unseen = model.fitted.theta[-1]
    assert unseen.sum() == pytest.approx(1, rel=1e-12)
    if family not in ("tree", "variable"):  # there a longer past has a shorter one's
        assert unseen.tolist() == [0.5, 0.5]


# ------------------------------------------------------------------------------- large counts


def exact_table(weights, lookback=1):
    """N(x; A present just before) of target B by plain integers."""
    counts = {}
    for sequence, weight in zip(SEQUENCES, weights, strict=True):
        for i, label in enumerate(sequence):
            key = int("A" in sequence[max(0, i - lookback) : i])
            row = counts.setdefault(key, [0, 0])
            row[label != "B"] += weight
    return [counts[key] for key in sorted(counts)]


@pytest.mark.parametrize(
    "weights", [[10**9] * 4, [10**9, 1, 7, 2**42], [2**42] * 4, [2**30, 0, 3, 1]], ids=str
)
@pytest.mark.parametrize("alpha", [1e-12, 0.1, 1e12])
def test_a_billion_counts(weights, alpha):
    model = sm.BSuMM("B", lookback=1, alpha=alpha, required=["A"], candidates=[])
    model.fit(SEQUENCES, sample_weight=weights)
    table = exact_table(weights)
    assert model.fitted.table.counts.tolist() == table
    for row, theta in zip(table, model.fitted.theta, strict=False):
        exact = (Fraction(alpha) + row[0]) / (2 * Fraction(alpha) + sum(row))
        assert theta[0] == pytest.approx(float(exact), rel=1e-15, abs=0)
    exact = exact_likelihood(table, [alpha, alpha])
    assert model.log_likelihood_ == pytest.approx(exact, rel=1e-12, abs=2.0**-52 * sum(map(sum, table)))
    check_numbers(model, SEQUENCES)


def test_weights_that_would_overflow_are_refused_before_counting():
    long = sm.read_events([["A", "B"] * 2**19, ["B", "A"] * 2**19])
    for weights in ([2**42, 2**42], [2.0**22 - 0.5, 1.0]):
        with pytest.raises(SettingError, match=r"^the events weigh .* together, more than can be counted"):
            sm.BSuMM("B", lookback=1).fit(long, sample_weight=weights)


# ------------------------------------------------------------------------------- seeds and replicates

LARGEST = 2**62


def graph():
    return sm.InfluenceGraph(sm.BSuMM(lookback=1)).fit(EVENTS)


def compare(**settings):
    return sm.compare(EVENTS, models=[sm.MarkovChain(order=1)], **settings)


#: Everything that takes a seed, with it as an argument.
SEEDED = {
    "order_test": lambda seed: graph().order_test(EVENTS, n=19, random_state=seed),
    "confidence": lambda seed: graph().confidence(EVENTS, n=5, random_state=seed),
    "simulate": lambda seed: graph().simulate(2, 3, random_state=seed),
    "dynamics": lambda seed: web_shop().simulate(2, 3, random_state=seed),
    "split": lambda seed: EVENTS.split((0.5, 0.5), random_state=seed),
    "compare": lambda seed: compare(random_state=seed, n_bootstrap=9),
}


@pytest.mark.parametrize("name", SEEDED)
def test_seeds(name):
    for seed in (-1, LARGEST + 1, 1.5, None):
        with pytest.raises(SettingError, match=r"^random_state must be a whole number from 0 to 2\^62, not "):
            SEEDED[name](seed)
    assert SEEDED[name](LARGEST) is not None


@pytest.mark.parametrize("asked", ["order_test", "confidence"])
def test_the_largest_seed_is_kept_in_a_file(tmp_path, asked):
    """What a file cannot hold must not be taken: the model could be saved, and not loaded."""
    found = graph()
    getattr(found, asked)(EVENTS, n=19, random_state=LARGEST)
    found.save(tmp_path / "graph.json")
    loaded = sm.load(tmp_path / "graph.json")
    assert (loaded.order_ or loaded.confidence_).seed == LARGEST


@pytest.mark.parametrize("n", [10**6 + 1, 2**63])
def test_more_replicates_than_anyone_can_wait_for(n):
    limit = r"must be a whole number from \d to 1000000, not "
    for ask in (graph().order_test, graph().confidence):
        with pytest.raises(SettingError, match=f"^n {limit}"):
            ask(EVENTS, n=n)
    with pytest.raises(SettingError, match=f"^n_bootstrap {limit}"):
        compare(n_bootstrap=n)


def test_more_shuffles_than_there_is_memory_for():
    with pytest.raises(SettingError, match="n must be at most 100,000 shuffles, not 100,001: the counts of"):
        graph().order_test(EVENTS, n=100_001)


def test_blocks_of_an_order_test():
    limit = r"within must be a number of positions from 2 on and at most 2\^62, a time"
    for within in (LARGEST + 1, 1, -5):
        with pytest.raises(SettingError, match=limit):
            graph().order_test(EVENTS, n=19, within=within)
    as_whole, blocks = (graph().order_test(EVENTS, n=19, within=within) for within in (None, LARGEST))
    assert [edge.ratio for edge in as_whole.edges] == [edge.ratio for edge in blocks.edges]
