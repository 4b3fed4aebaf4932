"""Estimates and scores against their formulas; and what noise gains by chance."""

import math

import numpy as np
import pytest
from scipy.special import gammaln
from scipy.stats import betabinom, dirichlet_multinomial

from summarkov.errors import SettingError
from summarkov.search.criteria import SCORES, Scorer, gain_by_chance, pseudo_counts
from summarkov.search.trees import likeliest, split_gains


def test_the_marginal_likelihood_of_one_state_is_a_beta_binomial():
    """Up to the number of orders in which the outcomes could have come."""
    found = float(Scorer("marginal", alpha=0.3)([[7, 5]], 0, 1, 5, 12.0))
    assert found == pytest.approx(betabinom.logpmf(7, 12, 0.3, 0.3) - math.log(math.comb(12, 7)), rel=1e-10)
    found = float(Scorer("marginal", alpha=0.3)([[7, 5, 2]], 0, 1, 5, 14.0))
    orders = gammaln(15) - gammaln(8) - gammaln(6) - gammaln(3)
    assert found == pytest.approx(dirichlet_multinomial.logpmf([7, 5, 2], [0.3] * 3, 14) - orders, rel=1e-10)


def test_the_marginal_likelihood_is_that_of_predicting_one_by_one():
    """The chain rule: the estimate before each event, with the counts so far."""
    outcomes = [0, 0, 1, 0, 1, 1, 1, 0, 0, 0]
    seen, total = np.zeros(2), 0.0
    for x in outcomes:
        total += math.log((0.4 + seen[x]) / (0.8 + seen.sum()))
        seen[x] += 1
    assert float(Scorer("marginal", alpha=0.4)([seen], 0, 1, 3, 10.0)) == pytest.approx(total, rel=1e-12)


@pytest.mark.parametrize("kind", ["bic", "extended-bic", "marginal"])
def test_no_events_at_all_score_nothing(kind):
    """As a resample has that drew empty sequences only."""
    assert float(Scorer(kind, xi=0)([[0, 0]], 0, 1, 3, 0.0)) == 0.0
    tables, n_events = np.array([[[0, 0]], [[3, 1]]]), np.array([0.0, 4.0])
    alone = float(Scorer(kind, xi=0)(tables[1], 0, 1, 3, 4.0))
    assert Scorer(kind, xi=0)(tables, 0, 1, 3, n_events).tolist() == [0.0, alone]


@pytest.mark.parametrize("kind", ["", "BIC", None, 3, "extended_bic"])
def test_unknown_scores(kind):
    with pytest.raises(SettingError, match=f"criterion must be one of {', '.join(SCORES)}, not"):
        Scorer(kind)
    with pytest.raises(SettingError, match="prior must be 'uniform' or 'base-rate', not 'jeffreys'"):
        pseudo_counts([1, 2], 1.0, "jeffreys")


def largest(*counts):
    """The log-likelihood at the shares themselves."""
    return sum(n * math.log(n / sum(counts)) for n in counts if n > 0)


def test_gains_of_splits():
    """Counts are below 1 where sequences weigh little; a part that is empty gains nothing."""
    yes, whole = np.array([[0.25, 0.5], [0.0, 0.75], [0.0, 0.0], [1.0, 0.75]]), np.array([1.0, 0.75])
    parts = [((0.25, 0.5), (0.75, 0.25)), ((0.75,), (1.0,)), ((), (1.0, 0.75)), ((1.0, 0.75), ())]
    expected = [largest(*a) + largest(*b) - largest(1.0, 0.75) for a, b in parts]
    assert split_gains(yes, whole) == pytest.approx(np.array(expected), rel=1e-12)
    assert expected[2:] == [0.0, 0.0]
    assert likeliest(yes) == pytest.approx(
        np.array([largest(*row) for row in yes.tolist()]), rel=1e-12, abs=0
    )


# ------------------------------------------------------------------ what noise gains by chance


def q(d, level):
    return float(gain_by_chance(1, d, 1, level))


@pytest.mark.parametrize("level", [0.3, 0.05, 1e-4, 1e-12])
def test_one_influencer_by_hand(level):
    """Half a chi-squared variable exceeds t with probability erfc(sqrt(t)) for d = 1, exp(-t) for d = 2."""
    assert math.erfc(math.sqrt(q(1, level))) == pytest.approx(level, rel=1e-9)
    assert q(2, level) == pytest.approx(-math.log(level), rel=1e-9)


@pytest.mark.parametrize("level", [0.2, 0.02, 1e-3, 1e-5, 1e-8])
def test_each_further_influencer_must_be_beyond_chance(level):
    """Whatever the states of the summary are: 2, 3 or 9 times as many, or one, two or five more."""
    for size in range(1, 12):
        sets = [(size, states**size - 1, states ** (size + 1) - 1) for states in (2, 3, 9)]
        sets += [(size, more * size, more * (size + 1)) for more in (1, 2, 5)]
        for u, before, after in sets:
            least = float(gain_by_chance(u, before, 1, level)) + q(after - before, level)
            assert float(gain_by_chance(u + 1, after, 1, level)) >= least * (1 - 1e-12)


def test_learning_look_backs_costs_about_their_logarithm():
    for n_choices in (100, 10_000, 90_000):
        more = gain_by_chance(1, 1.0, 7 * n_choices, 0.2) - gain_by_chance(1, 1.0, n_choices, 0.2)
        assert 0.9 * math.log(7) < more < math.log(7)


def test_nothing_is_asked_of_no_influencers_and_everything_of_infinitely_many_states():
    found = gain_by_chance(np.array([0, 1, 1, 2]), np.array([0.0, 0.0, math.inf, 1e200]), 9, 0.2)
    assert found[:3].tolist() == [0.0, 0.0, math.inf]
    assert found[3] == pytest.approx(5e199, rel=1e-6)
    assert gain_by_chance(1, 5.0, 2, 2.0) == 0.0  # any two may be there by chance
