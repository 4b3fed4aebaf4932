"""Ratios that allow for selection."""

from __future__ import annotations

import math
from statistics import NormalDist

import pytest

import summarkov as sm
from summarkov.evidence import Influence, Strata, given_selected, rate_ratio
from summarkov.evidence.ratios import _conditional
from summarkov.evidence.words import verdict
from summarkov.simulate.example import web_shop

#: Numbers as the paper counts them.
pytestmark = pytest.mark.cut_off

STRATA = Strata.of([40], [400], [250], [5000])
EVENTS = web_shop().simulate(n_sequences=80, length=30, random_state=1)


def test_nothing_is_left_out_just_where_the_share_nearer_to_the_mean_is_the_level() -> None:
    x, c = 3.4, 3.0
    normal = NormalDist()
    _, low, high = _conditional(x, c, 0.95)
    for mean in (low, high):
        off = abs(x - mean)
        seen = normal.cdf(mean - c) + normal.cdf(-mean - c)
        nearer = max(normal.cdf(off) - normal.cdf(max(-off, c - mean)), 0.0)
        nearer += max(normal.cdf(min(off, -c - mean)) - normal.cdf(-off), 0.0)
        assert nearer / seen == pytest.approx(0.95, abs=1e-3)


def test_a_wide_margin_changes_nothing_and_a_narrow_one_draws_the_ratio_towards_1() -> None:
    plain = rate_ratio(STRATA)
    same = given_selected(STRATA, 50.0)
    assert same == (float(plain.ratio), float(plain.low), float(plain.high))
    assert given_selected(STRATA, math.inf) == same
    ratios = [given_selected(STRATA, margin)[0] for margin in (0.0, 0.5, 2.0, 8.0)]
    assert ratios == sorted(ratios)
    assert 1 < ratios[0] < 1.3
    assert ratios[-1] <= float(plain.ratio)
    for margin in (0.0, 0.5, 2.0, 8.0):
        _, low, high = given_selected(STRATA, margin)
        assert low <= float(plain.low)
        assert high >= float(plain.high)


def test_an_inhibition_mirrors_an_amplification() -> None:
    turned = Strata(STRATA.hits_without, STRATA.n_without, STRATA.hits_with, STRATA.n_with)
    ratio, low, high = given_selected(turned, 1.0)
    as_before = given_selected(STRATA, 1.0)
    assert (1 / ratio, 1 / high, 1 / low) == pytest.approx(as_before)


def test_empty_cells_leave_the_interval_open() -> None:
    ratio, low, high = given_selected(Strata.of([0], [700], [60], [9000]), 0.4)
    assert low == 0
    assert 0.1 < ratio < 1 < high
    ratio, low, high = given_selected(Strata.of([30], [700], [0], [9000]), 0.1)
    assert high == math.inf
    assert ratio > 1
    assert math.isnan(given_selected(Strata.of([0], [0], [3], [90]), 0.4)[0])


def test_the_margin_is_what_the_score_loses_without_the_influencer() -> None:
    model = sm.BSuMM("purchase", lookback=5).fit(EVENTS)
    assert model.influencers_ == ("add to cart",)
    without = sm.BSuMM("purchase", lookback=5, candidates=[]).fit(EVENTS)
    assert model.fitted.margins == pytest.approx((model.score_ - without.score_,))
    learned = sm.BSuMM("purchase", lookback="auto", criterion="extended-bic").fit(EVENTS)
    rest = sm.BSuMM("purchase", lookback="auto", criterion="extended-bic", candidates=[]).fit(EVENTS)
    assert len(learned.influencers_) == 1
    assert learned.fitted.margins == pytest.approx((learned.score_ - rest.score_,))


def test_required_influencers_were_not_selected_and_trees_have_no_margin() -> None:
    model = sm.BSuMM("purchase", lookback=5, required=["search"]).fit(EVENTS)
    (edge,) = (edge for edge in model.influences_ if edge.influencer == "search")
    assert (edge.corrected_ratio, edge.corrected_low, edge.corrected_high) == (
        edge.ratio,
        edge.low,
        edge.high,
    )
    edges = sm.TreeSuMM("purchase").fit(EVENTS).influences_
    assert len(edges) > 0
    assert all(edge.corrected_ratio is None and not edge.is_narrow for edge in edges)


def test_graphs_tell_it_everywhere_and_keep_it(tmp_path) -> None:
    graph = sm.InfluenceGraph(sm.BSuMM(lookback=5)).fit(EVENTS)
    narrow = [edge for edge in graph.edges_ if edge.is_narrow]
    assert [(edge.influencer, edge.target) for edge in narrow] == [("out of stock", "add to cart")]
    before = narrow[0].corrected_low
    graph.confidence(EVENTS, n=30)
    names = "out of stock", "add to cart"
    edge = next(edge for edge in graph.edges_ if (edge.influencer, edge.target) == names)
    sure = graph.confidence_.of(*names)
    assert edge.corrected_low == sure.corrected_low <= before
    assert edge.is_narrow
    assert None not in {e.corrected_low for e in graph.confidence_.edges}
    graph.save(tmp_path / "graph.json")
    again = sm.load(tmp_path / "graph.json")
    assert again.edges_ == graph.edges_
    assert again.confidence_ == graph.confidence_
    assert "is_narrow" in graph.edges_.to_frame("pyarrow").column_names


def test_it_is_said_of_an_edge_that_was_selected_narrowly() -> None:
    narrow = {"corrected_ratio": 1.2, "corrected_low": 0.95, "corrected_high": 2.4}
    edge = Influence("A", "B", "amplifies", 1.8, 1.3, 2.4, 36, 200, 20, 200, **narrow)
    assert edge.is_narrow
    assert verdict(edge).endswith("1.3 to 2.4); barely selected, selection-adjusted ×1.2 (0.95 to 2.4)")
