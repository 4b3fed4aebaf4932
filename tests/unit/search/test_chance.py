"""What noise gains by chance: by hand, and that each further influencer must be beyond chance as well."""

import math

import numpy as np
import pytest

from summarkov.search.criteria import Scorer, gain_by_chance


def q(d, level):
    return float(gain_by_chance(1, d, 1, level))


@pytest.mark.parametrize("level", [0.3, 0.05, 1e-4, 1e-12])
def test_one_influencer_by_hand(level):
    """Half a chi-squared variable exceeds t with probability erfc(sqrt(t)) for d = 1, exp(-t) for d = 2."""
    assert math.erfc(math.sqrt(q(1, level))) == pytest.approx(level, rel=1e-9)
    assert q(2, level) == pytest.approx(-math.log(level), rel=1e-9)


def test_choices_divide_the_level():
    assert gain_by_chance(1, 2.0, 500, 0.2) == pytest.approx(math.log(500 / 0.2), rel=1e-12)
    assert gain_by_chance(3, 6.0, 500, 0.2) == pytest.approx(3 * math.log(500 / 0.2), rel=1e-12)


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


@pytest.mark.parametrize("kind", ["bic", "aic", "extended-bic", "marginal"])
def test_what_is_beyond_chance_scores_as_before(kind):
    """A table far from even scores what the criterion says, one that is even much less than that."""
    strong, even = [[900, 100], [100, 900]], [[500, 500], [480, 520]]
    free, bound = (Scorer(kind, gamma=0.1, xi=0.0, false_edges=e) for e in (None, 0.2))
    whole = bound([[1000, 1000]], 0, 1, 100, 2000.0, 100)
    assert whole == free([[1000, 1000]], 0, 1, 100, 2000.0, 100)
    if kind == "marginal":  # which has a penalty of its own, and a larger one
        assert bound(strong, 1, 2, 1, 2000.0) == free(strong, 1, 2, 1, 2000.0)
    assert bound(strong, 1, 2, 100, 2000.0, 100) > whole + 500
    least = gain_by_chance(1, 1.0, 100 * 100, 0.2)
    likelihood = (Scorer(gamma=0.0)(table, 1, 2, 1, 2000.0) for table in (even, [[980, 1020]]))
    gained = next(likelihood) - next(likelihood)
    empty = bound([[980, 1020]], 0, 1, 100, 2000.0, 100)
    assert bound(even, 1, 2, 100, 2000.0, 100) == pytest.approx(empty + gained - least, rel=1e-9)
