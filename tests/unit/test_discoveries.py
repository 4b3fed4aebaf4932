"""False-discovery control: the test, its tail, the adjustment, and all of it on graphs."""

import math

import numpy as np
import pytest

import summarkov as sm
from summarkov.confidence import benjamini_yekutieli, conditional_test
from summarkov.confidence.gamma import chi_squared_tail
from summarkov.engines import StateCounts
from summarkov.errors import DataError, SettingError
from summarkov.simulate.example import web_shop
from summarkov.summaries import BinarySummary, OrdinalSummary


@pytest.mark.parametrize("degrees", [1, 2, 3, 4, 7, 30, 101, 1000])
def test_the_tail_is_scipys(degrees):
    stats = pytest.importorskip("scipy.stats")
    for x in [1e-9, 0.01, 0.3, 1, 2, 5, degrees * 0.9, degrees, degrees * 1.1, degrees + 60, 900, 1300]:
        exact = stats.chi2.sf(x, degrees)
        assert chi_squared_tail(x, degrees) == pytest.approx(exact, rel=1e-9, abs=1e-300)


def test_the_tail_at_its_ends():
    assert chi_squared_tail(0, 3) == 1
    assert chi_squared_tail(5, 0) == 1
    assert chi_squared_tail(1e6, 1) == 0
    assert chi_squared_tail(10, 2) == pytest.approx(math.exp(-5), rel=1e-14)


def g(*tables):
    """The statistic by hand: 2 times the sum of observed times the log of observed by expected."""
    total = 0.0
    for table in tables:
        n = sum(map(sum, table))
        for row in table:
            for x, cell in enumerate(row):
                if cell:
                    total += 2 * cell * math.log(cell * n / (sum(row) * sum(r[x] for r in table)))
    return total


def test_each_influencer_is_tested_given_the_others():
    keys = np.array([(0, 0), (0, 1), (1, 0), (1, 1)], np.int32)
    table = StateCounts(keys, np.array([[30, 70], [60, 40], [33, 67], [55, 45]]))
    first = conditional_test(table, BinarySummary(), 0)
    assert first.statistic == pytest.approx(g([[30, 70], [33, 67]], [[60, 40], [55, 45]]))
    assert first.degrees == 2
    assert first.p_value > 0.5
    second = conditional_test(table, BinarySummary(), 1)
    assert second.statistic == pytest.approx(g([[30, 70], [60, 40]], [[33, 67], [55, 45]]))
    assert second.p_value < 1e-5
    doubled = StateCounts(keys, table.counts * 1024)
    assert conditional_test(doubled, BinarySummary(), 1, scale=1024) == second


def test_thin_strata_are_left_out_and_nothing_left_says_nothing():
    keys = np.array([(0, 0), (0, 1), (1, 0), (1, 1)], np.int32)
    table = StateCounts(keys, np.array([[30, 70], [60, 40], [2, 8], [9, 1]]))
    test = conditional_test(table, BinarySummary(), 1)
    assert test.statistic == pytest.approx(g([[30, 70], [60, 40]]))
    assert test.degrees == 1
    thin = conditional_test(StateCounts(keys, table.counts // 10), BinarySummary(), 1)
    assert (thin.statistic, thin.degrees, thin.p_value) == (0.0, 0, 1.0)
    never = np.array([[30, 0], [60, 0], [20, 0], [90, 0]])
    assert conditional_test(StateCounts(keys, never), BinarySummary(), 1).degrees == 0


def test_ordinal_strata_have_more_than_two_states():
    keys = np.array([(0, 0), (0, 1), (1, 0), (1, 2), (2, 1)], np.int32)
    counts = np.array([[50, 50], [40, 60], [30, 70], [20, 80], [60, 40]])
    test = conditional_test(StateCounts(keys, counts), OrdinalSummary(), 1)  # without it: none, or the first
    assert test.degrees == 1 + 2
    assert test.statistic == pytest.approx(g([[50, 50], [40, 60]], [[30, 70], [20, 80], [60, 40]]))


def test_the_adjustment_is_scipys():
    stats = pytest.importorskip("scipy.stats")
    rng = np.random.default_rng(1)
    for m in (1, 2, 7, 60):
        p = rng.uniform(size=m) ** 3
        assert benjamini_yekutieli(p.tolist()) == pytest.approx(stats.false_discovery_control(p, method="by"))
    assert benjamini_yekutieli([]) == []


# ----------------------------------------------------------------------------------------------- on graphs


@pytest.fixture(scope="module")
def events():
    return web_shop().simulate(n_sequences=300, length=30, seed=1)


def test_edges_are_proposed_by_one_half_and_tested_on_the_other(events):
    from summarkov.models.halves import Halves

    graph = sm.InfluenceGraph(sm.BSuMM(lookback=5)).fit(events)
    found = graph.discoveries(events, rate=0.05, seed=3)
    one, other = (Halves(3).weights(half, 300) for half in (0, 1))
    assert (one + other == 1).all()
    assert one.sum() == 150
    proposing = sm.InfluenceGraph(sm.BSuMM(lookback=5)).fit(events, sample_weight=one)
    assert [(edge.influencer, edge.target) for edge in found.tested] == [
        (z, x) for x, u in proposing.influencers_.items() for z in u
    ]
    assert [edge.is_kept for edge in found.tested] == [edge.adjusted <= 0.05 for edge in found.tested]
    for edge in found.tested:
        u = proposing.influencers_[edge.target]
        fixed = sm.BSuMM(edge.target, lookback=5, required=u, candidates=[]).fit(events, sample_weight=other)
        test = conditional_test(fixed.fitted.table, fixed.fitted.summary, u.index(edge.influencer))
        assert (edge.statistic, edge.degrees, edge.p_value) == (test.statistic, test.degrees, test.p_value)
    assert len(found.kept) >= 8
    assert (found.units, found.n_units) == ("sequences", 300)


def test_labels_without_influence_are_not_discovered():
    rng = np.random.default_rng(0)
    noise = sm.read_events([rng.choice(list("ABCDEF"), 50).tolist() for _ in range(100)])
    template = sm.BSuMM(lookback=2, gamma=0.0, max_influencers=3)  # proposes whatever there is
    graph = sm.InfluenceGraph(template).fit(noise)
    found = [graph.discoveries(noise, rate=0.1, seed=seed) for seed in range(5)]
    assert min(len(one.tested) for one in found) > 10
    assert sum(len(one.kept) for one in found) <= 2


def test_settings_that_make_no_sense_are_refused(events):
    graph = sm.InfluenceGraph(sm.BSuMM(lookback=5)).fit(events)
    for rate in (0, 1, True, "x"):
        with pytest.raises(SettingError, match="rate must be"):
            graph.discoveries(events, rate=rate)
    with pytest.raises(DataError, match="nothing to split"):
        graph.discoveries(events, blocks=["all"] * len(events))
