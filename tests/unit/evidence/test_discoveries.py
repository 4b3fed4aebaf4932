"""False-discovery control: the adjustment, and all of it on graphs."""

import numpy as np
import pytest

import summarkov as sm
from strategies import drawn_weights, from_counts
from summarkov.errors import DataError, SettingError
from summarkov.evidence import benjamini_yekutieli
from summarkov.simulate.example import web_shop


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
    return web_shop().simulate(n_sequences=300, length=30, random_state=1)


def test_edges_are_proposed_by_one_half_and_tested_on_the_other(events):
    from summarkov.models.tested import Halves

    graph = sm.InfluenceGraph(sm.BSuMM(lookback=5)).fit(events)
    found = graph.discoveries(events, rate=0.05, random_state=3)
    one, other = (drawn_weights(Halves(3), half, 300) for half in (0, 1))
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
        same = next(i for i in from_counts(fixed) if i.influencer == edge.influencer)
        assert (edge.ratio, edge.low, edge.high) == (same.ratio, same.low, same.high)
        assert (edge.p_value < 0.05) == (not edge.low <= 1 <= edge.high)
    assert len(found.kept) >= 8
    assert (found.units, found.n_units) == ("sequences", 300)


def test_an_edge_that_never_fails_is_kept():
    """B follows A always and nothing else ever: cells are empty, and nothing could be surer."""
    rng = np.random.default_rng(0)
    events = [
        [label for z in rng.choice(list("ACD"), 12) for label in (["A", "B"] if z == "A" else [z])]
        for _ in range(60)
    ]
    found = sm.InfluenceGraph(sm.BSuMM(lookback=1)).fit(events).discoveries(events, rate=0.05)
    edge = next(e for e in found.tested if (e.influencer, e.target) == ("A", "B"))
    assert (edge.ratio, edge.high, edge.is_kept) == (np.inf, np.inf, True)
    assert edge.p_value < 1e-12


def test_labels_without_influence_are_not_discovered():
    rng = np.random.default_rng(0)
    noise = sm.read_events([rng.choice(list("ABCDEF"), 50).tolist() for _ in range(100)])
    template = sm.BSuMM(
        lookback=2, gamma=0.0, false_edges=None, max_influencers=3
    )  # proposes whatever there is
    graph = sm.InfluenceGraph(template).fit(noise)
    found = [graph.discoveries(noise, rate=0.1, random_state=seed) for seed in range(5)]
    assert min(len(one.tested) for one in found) > 10
    assert sum(len(one.kept) for one in found) <= 2


def test_settings_that_make_no_sense_are_refused(events):
    graph = sm.InfluenceGraph(sm.BSuMM(lookback=5)).fit(events)
    for rate in (0, 1, True, "x"):
        with pytest.raises(SettingError, match="rate must be"):
            graph.discoveries(events, rate=rate)
    with pytest.raises(DataError, match="nothing to split"):
        graph.discoveries(events, blocks=["all"] * len(events))
