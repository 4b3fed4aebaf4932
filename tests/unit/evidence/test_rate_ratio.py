"""Ratios of rates over strata, and their intervals, against formulas, SciPy and statsmodels."""

import math

import numpy as np
import pytest
from scipy.stats import beta

from oracle_effects import greenland_robins, mantel_haenszel
from summarkov.evidence import Strata, rate_ratio, widened, widening
from summarkov.evidence.ratios import directions


def columns(tables):
    return Strata.of(*np.array(tables, float).T)


def limits(tables, level=0.95):
    found = rate_ratio(columns(tables), level)
    return float(found.ratio), float(found.low), float(found.high), float(found.p_value)


MANY = [(30, 100, 20, 200), (15, 50, 14, 100), (3, 20, 5, 60)]


def test_with_enough_hits_it_is_greenland_and_robins():
    ratio, low, high, p_value = limits(MANY)
    assert ratio == pytest.approx(mantel_haenszel(MANY), rel=1e-12)
    assert (low, high) == pytest.approx(greenland_robins(MANY), rel=1e-9)
    assert 1 < low < ratio < high
    assert p_value < 0.05


def test_other_levels_give_other_limits_and_the_p_value_is_where_one_is_on_the_edge():
    for tables in (MANY, [(4, 30, 40, 900)], [(0, 100, 50, 1000)], [(7, 9, 0, 40)]):
        p_value = limits(tables)[3]
        _, low, high, _ = limits(tables, 1 - p_value)
        assert min(abs(math.log(low or 1e-9)), abs(math.log(min(high, 1e9)))) == pytest.approx(0, abs=1e-6)
        _, low, high, _ = limits(tables, 1 - p_value * 0.9)
        assert low < 1 < high


@pytest.mark.parametrize("table", [(1, 52, 0, 12203), (0, 100, 50, 1000), (3, 40, 7, 300), (8, 8, 90, 120)])
def test_with_few_hits_the_limits_of_one_stratum_are_those_of_clopper_and_pearson(table):
    a, n1, b, n0 = table
    _, low, high, _ = limits([table])
    share = beta.ppf(0.025, a, b + 1) if a else 0.0
    assert low == pytest.approx(share / (1 - share) * n0 / n1, rel=1e-9)
    if b:
        share = beta.ppf(0.975, a + 1, b)
        assert high == pytest.approx(share / (1 - share) * n0 / n1, rel=1e-9)
    else:
        assert high == math.inf


def test_sums_of_zero_have_one_sided_bounds():
    assert limits([(0, 25336, 13087, 236864)])[:2] == (0.0, 0.0)
    assert limits([(0, 25336, 13087, 236864)])[2] < 0.01
    ratio, low, high, _ = limits([(419, 419, 0, 1000)])
    assert (ratio, high) == (math.inf, math.inf)
    assert low > 100
    ratio, low, high, p_value = limits([(0, 5, 0, 50)])
    assert math.isnan(ratio)
    assert (low, high, p_value) == (0.0, math.inf, 1.0)
    assert math.isnan(limits([(0, 0, 3, 5)])[0])  # never seen with
    _, low, high, _ = limits([(1, 1, 5, 100)])  # one hit of one says next to nothing
    assert low < 1 < high


def test_strata_that_were_seen_on_one_side_only_have_no_say():
    assert limits([*MANY, (5, 9, 0, 0), (0, 0, 4, 7)]) == limits(MANY)


def test_large_counts():
    ratio, low, high, _ = limits([(10**9, 10**12, 5 * 10**8, 10**12)])
    assert ratio == pytest.approx(2, rel=1e-12)
    assert low < 2 < high
    assert high / low - 1 < 1e-3


@pytest.mark.parametrize("base", [0.005, 0.05, 0.5])
@pytest.mark.parametrize("ratio", [0.3, 1.0, 1.8])
def test_intervals_cover(base, ratio):
    """In 2,000 data sets of six strata; 0.93 of them are nine standard deviations below 0.99."""
    rng = np.random.default_rng(int(1000 * base + 10 * ratio))
    rates = base * rng.uniform(0.4, 1.0, 6)
    n1, n0 = rng.integers(1, 60, (2000, 6)), rng.integers(1, 400, (2000, 6))
    hits, others = rng.binomial(n1, rates * ratio), rng.binomial(n0, rates)
    found = rate_ratio(Strata.of(hits, n1, others, n0))
    assert ((found.low <= ratio) & (ratio <= found.high)).mean() >= 0.935


# ----------------------------------------------------------------------------------------------- directions


def test_directions_allow_for_the_number_of_strata():
    one = columns([(12, 20, 20, 200)])
    assert [side.tolist() for side in directions(one)] == [[True], [False]]
    few = [(4, 20, 8, 200)]
    assert directions(columns(few))[0].tolist() == [True]
    assert directions(columns(few * 40))[0].sum() == 0


def test_directions_of_common_hits_look_at_misses():
    more, less = directions(columns([(198, 200, 150, 200), (100, 200, 198, 200), (0, 0, 1, 2)]))
    assert more.tolist() == [True, False, False]
    assert less.tolist() == [False, True, False]


def test_equal_rates_have_directions_by_chance_only():
    rng = np.random.default_rng(3)
    n1, n0 = rng.integers(1, 60, (3000, 5)), rng.integers(1, 200, (3000, 5))
    p = rng.uniform(0.001, 0.999, (3000, 5))
    more, less = directions(Strata.of(rng.binomial(n1, p), n1, rng.binomial(n0, p), n0))
    assert (more | less).any(axis=1).mean() <= 0.05


# ----------------------------------------------------------------------------------------------- widening


def test_intervals_widen_if_resampled_ratios_spread_more():
    found = rate_ratio(columns(MANY))
    rng = np.random.default_rng(1)
    counted = math.log(float(found.high / found.low)) / (2 * 1.959964)
    calm, wild = (np.exp(rng.normal(0, spread, 4000)) for spread in (counted / 2, 3 * counted))
    assert float(widening(found, calm)) == 1.0
    assert float(widening(found, wild)) == pytest.approx(3, rel=0.05)
    low, high = widened(found, np.array(2.0))
    assert float(found.ratio / low) == pytest.approx(float(found.ratio / found.low) ** 2, rel=1e-9)
    assert float(high / found.ratio) == pytest.approx(float(found.high / found.ratio) ** 2, rel=1e-9)
    assert float(widening(found, np.array([0.0, np.inf, np.nan, 2.0]))) == 1.0  # too few that say something
    nothing = rate_ratio(columns([(0, 100, 50, 1000)]))
    assert [float(each) for each in widened(nothing, np.array(5.0))] == [
        float(nothing.low),
        float(nothing.high),
    ]
