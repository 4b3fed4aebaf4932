"""Weights of sequences in fixed point."""

import re

import numpy as np
import pytest

import summarkov as sm
from summarkov.engines.counts import FIXED_POINT, fixed_point
from summarkov.errors import SettingError
from summarkov.search.criteria import Scorer
from summarkov.simulate.example import web_shop

#: Numbers as the paper counts them.
pytestmark = pytest.mark.cut_off


@pytest.mark.parametrize(
    "given",
    [[0, 1, 7], [0.0, 1.0, 7.0], np.array([0, 1, 7], np.uint8), np.array([0, 1, 7], np.float32), (0, 1, 7)],
)
def test_whole_weights_stay_as_they_are(given):
    weights, scale = fixed_point(given, 3)
    assert scale == 1
    assert weights.dtype == np.int64
    assert weights.tolist() == [0, 1, 7]


def test_others_become_multiples_of_a_millionth_or_so():
    weights, scale = fixed_point([0.5, 1, 0.1, 1e-6, 3.25], 5)
    assert scale == FIXED_POINT == 2**20
    assert weights.tolist() == [2**19, 2**20, round(0.1 * 2**20), 1, 13 * 2**18]
    assert weights / scale == pytest.approx([0.5, 1, 0.1, 2**-20, 3.25], abs=2**-21)

    halves = np.array([0.75, 1.5, 2.5]) * 2.0**-20  # round to even
    assert fixed_point(halves, 3)[0].tolist() == [1, 2, 2]
    assert fixed_point([2**42], 1)[0].tolist() == [2**42]
    assert fixed_point([2.0**22 - 0.5], 1)[0].tolist() == [2**42 - 2**19]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ([1], "one number per sequence (2), not shape (1,)"),
        ([[1, 2]], "not shape (1, 2)"),
        (1.5, "not shape ()"),
        *(([1, wrong], "must be finite numbers from 0 on") for wrong in (-1, np.nan, np.inf, "2", None, 1j)),
        ([1, 2**42 + 1], "is too large; scale the weights down"),
        ([0.5, 2**23], "sample_weight 8.38861e+06 is too large; scale the weights down"),
        *(([1.0, each], "this would be 0; scale the weights up") for each in (1e-9, 2.0**-21, 5e-324)),
    ],
)
def test_weights_that_make_no_sense(given, words):
    with pytest.raises(SettingError, match=re.escape(words)):
        fixed_point(given, 2)


# ---------------------------------------------------------------------- everywhere counts are made


@pytest.fixture(scope="module")
def weighted():
    """Events, whole weights, and the same events with as many copies of every sequence."""
    events = web_shop().simulate(n_sequences=60, length=20, random_state=6)
    weights = np.arange(60) % 3
    return events, weights, events[np.repeat(np.arange(60), weights)]


@pytest.mark.parametrize(
    "template",
    [
        sm.BSuMM(lookback=4),
        sm.OSuMM(lookback=3),
        sm.CSuMM(lookback=4),
        sm.MarkovChain(),
        sm.VariableOrderChain(),
        sm.BSuMM(lookback=4, criterion="extended-bic"),
        sm.BSuMM(lookback="auto"),
    ],
    ids=str,
)
def test_a_weight_is_as_many_copies(template, weighted):
    """Fitting, adding and measuring; N in the penalty is the weighted number of events."""
    events, weights, copies = weighted
    one = template.copy(target="purchase").fit(events, sample_weight=weights)
    other = template.copy(target="purchase").fit(copies)
    assert one.fitted.n_events == copies.n_events == 20 * weights.sum()
    assert one.influencers_ == other.influencers_
    assert one.score_ == pytest.approx(other.score_, rel=1e-12)
    for measure in ("log_likelihood", "score", "brier_score"):
        weighted_value = getattr(one, measure)(events, sample_weight=weights)
        assert weighted_value == pytest.approx(getattr(other, measure)(copies), rel=1e-12)
        assert weighted_value != pytest.approx(getattr(one, measure)(events), rel=1e-6)


def test_a_weight_is_as_many_copies_for_graphs(weighted):
    events, weights, copies = weighted
    one = sm.InfluenceGraph(sm.BSuMM(lookback=4)).fit(events, sample_weight=weights)
    other = sm.InfluenceGraph(sm.BSuMM(lookback=4)).fit(copies)
    assert one.edges_ == other.edges_
    for measure in ("log_likelihood", "score", "brier_score"):
        weighted_value = getattr(one, measure)(events, sample_weight=weights)
        assert weighted_value == pytest.approx(getattr(other, measure)(copies), rel=1e-12)
        assert weighted_value != pytest.approx(getattr(one, measure)(events), rel=1e-6)
    half = sm.InfluenceGraph(sm.BSuMM(lookback=4)).fit(events, sample_weight=weights / 2)
    assert half.models_["purchase"].fitted.n_events == copies.n_events / 2
    with pytest.raises(SettingError, match="one number per sequence"):
        one.log_likelihood(events, sample_weight=[1])


def test_confidence_with_weights(weighted):
    """Sequences of weight 0 are not drawn; those of weight 2 are drawn as one, and count twice."""
    events, weights, _ = weighted
    graph = sm.InfluenceGraph(sm.BSuMM(lookback=4)).fit(events, sample_weight=weights)
    sure = graph.confidence(events, n=6, sample_weight=weights)
    assert sure.n_sequences == 40
    held = np.flatnonzero(weights)
    again = sm.InfluenceGraph(sm.BSuMM(lookback=4)).fit(events[held], sample_weight=weights[held])
    assert again.confidence(events[held], n=6, sample_weight=weights[held]) == sure


def test_weights_near_0_do_not_reward_complexity():
    events = sm.EventSequences.from_lists([["a", "b", "c", "d", "a", "c"], ["c", "a", "d", "b"]] * 50)
    graph = sm.InfluenceGraph(sm.BSuMM(lookback=2))
    for weight in (1e-5, 1e-3):
        with pytest.raises(SettingError, match=r"the events weigh 0\.\d+ together, and no penalty"):
            graph.fit(events, sample_weight=np.full(len(events), weight))
    graph.fit(events, sample_weight=np.full(len(events), 0.25))
    few = sm.InfluenceGraph(sm.BSuMM(lookback=2)).fit(events[:25])
    assert len(graph.edges_) <= len(few.edges_) + 2


@pytest.mark.parametrize("n_events", [0.0, 1e-9, 0.5, 1.0])
def test_the_penalty_of_less_than_one_event_is_none(n_events):
    counts = [[0.2, 0.1], [0.1, 0.05]]
    assert Scorer()(counts, 1, 2, 3, n_events) == Scorer(gamma=0)(counts, 1, 2, 3, n_events)
