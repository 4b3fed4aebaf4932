"""What noise gains by chance: by hand, and that each further influencer must be beyond chance as well."""

import math

import numpy as np
import pytest

from summarkov.search.criteria import gain_by_chance


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
