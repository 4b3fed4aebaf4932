"""A ranking of every pair of labels."""

from __future__ import annotations

import numpy as np
import pytest

import summarkov as sm
from strategies import from_counts
from summarkov.errors import SettingError
from summarkov.simulate.example import web_shop

EVENTS = web_shop().simulate(n_sequences=80, length=30, random_state=1)


@pytest.mark.parametrize(
    "model",
    [
        sm.BSuMM(lookback=5),
        sm.BSuMM(lookback=(1, 5)),
        sm.OSuMM(lookback=3),
        sm.CSuMM(lookback=4),
        sm.BSuMM(lookback=5, criterion="extended-bic"),
    ],
)
def test_every_pair_is_what_a_model_with_that_influencer_says(model) -> None:
    graph = sm.InfluenceGraph(model).fit(EVENTS)
    pairs = graph.ranking(EVENTS).pairs
    assert len(pairs) == 100
    assert {(p.influencer, p.target) for p in pairs if p.in_graph} == {
        (e.influencer, e.target) for e in graph.edges_
    }
    assert [pair.z for pair in pairs] == sorted((pair.z for pair in pairs), reverse=True)
    for pair in pairs[::7]:
        beside = graph.influencers_[pair.target]
        with_ = _given(graph, pair.target, {*beside, pair.influencer})
        without = _given(graph, pair.target, {*beside} - {pair.influencer})
        assert pair.gain == pytest.approx(with_.score_ - without.score_)
        assert (pair.gain > 0) or not pair.in_graph
        edge = next(e for e in from_counts(with_) if e.influencer == pair.influencer)
        assert (pair.ratio, pair.low, pair.high) == pytest.approx((edge.ratio, edge.low, edge.high))


def _given(graph: sm.InfluenceGraph, target: str, influencers: set[str]):
    """The model of a target with these influencers, at the best look-backs where these are learned.

    As sure as in the graph, whose false edges come from ten targets, and from all look-backs.
    """
    n_lookbacks = len(graph.model.lookback) if isinstance(graph.model.lookback, tuple) else 1
    settings = {
        "required": sorted(influencers),
        "max_influencers": len(influencers),
        "false_edges": graph.model.false_edges / (10 * n_lookbacks),
    }
    if graph.model.lookback != (1, 5):
        return graph.model.copy(target=target, **settings).fit(EVENTS)
    own = graph.models_[target].lookbacks_
    tried = [{z: own.get(z, k) for z in influencers} or 1 for k in (1, 5)]
    fits = [graph.model.copy(target=target, lookback=one, **settings).fit(EVENTS) for one in tried]
    return max(fits, key=lambda fit: fit.score_)


def test_frequencies_are_told_of_all_pairs_and_kept(tmp_path) -> None:
    graph = sm.InfluenceGraph(sm.BSuMM(lookback=5)).fit(EVENTS)
    assert all(pair.frequency is None for pair in graph.ranking(EVENTS).pairs)
    sure = graph.confidence(EVENTS, n=30)
    assert sure.seldom
    assert all(0 < k < 3 for _, _, k in sure.seldom)
    frequency = {(p.influencer, p.target): p.frequency for p in graph.ranking(EVENTS).pairs}
    for edge in sure.edges:
        assert frequency[edge.influencer, edge.target] == edge.frequency
    for z, x, k in sure.seldom:
        assert frequency[z, x] == k / 30
    others = len(sure.edges) + len(sure.seldom)
    assert sum(value == 0 for value in frequency.values()) == 100 - others
    graph.save(tmp_path / "graph.json")
    again = sm.load(tmp_path / "graph.json")
    assert again.confidence_ == sure
    assert again.ranking(EVENTS) == graph.ranking(EVENTS)


def test_required_influencers_come_with_an_infinite_gain_and_forbidden_ones_not_at_all() -> None:
    model = sm.BSuMM(lookback=5, required=["search"], forbidden=["browse"])
    pairs = sm.InfluenceGraph(model).fit(EVENTS).ranking(EVENTS).pairs
    assert len(pairs) == 90
    assert all(np.isinf(pair.gain) == (pair.influencer == "search") for pair in pairs)


def test_trees_rank_no_pairs() -> None:
    with pytest.raises(SettingError, match="pairs are not ranked for a TreeSuMM; use a BSuMM"):
        sm.InfluenceGraph(sm.TreeSuMM()).fit(EVENTS).ranking(EVENTS)
