"""Look-backs are learned as the oracle learns them, for binary and count summaries."""

from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracle
import summarkov as sm
from oracle_lookbacks import greedy_lookbacks
from problems import Recorder
from strategies import data, examples, expected, subsets, targets, weights_of
from summarkov.engines import CandidatesRequest
from summarkov.search.criteria import SCORES

#: Numbers as the paper counts them.
pytestmark = pytest.mark.cut_off


@st.composite
def problems(draw):
    events = draw(data(nonempty=True))
    labels = events.labels
    weights = draw(weights_of(events, least=0))
    if weights is not None and not any(w and s for w, s in zip(weights, events.sequences, strict=True)):
        weights = None
    delay = draw(st.sampled_from([0, 0, 1]))
    lookbacks = draw(
        st.lists(st.sampled_from([2, 3, 4, None] + [1] * (delay == 0)), min_size=1, max_size=3, unique=True)
    )
    required = draw(subsets(labels, max_size=2))
    limits = {
        "required": required,
        "forbidden": draw(subsets([z for z in labels if z not in required], max_size=1)),
        "candidates": draw(st.none() | subsets(labels)),
        "max_influencers": draw(st.none() | st.integers(len(required), 4)),
    }
    score = {
        "alpha": draw(st.sampled_from([0.1, 1.0])),
        "gamma": draw(st.sampled_from([0.0, 0.1, 1.0])),
        "xi": draw(st.sampled_from([0.0, 1.0])),
        "prior": draw(st.sampled_from(["uniform", "base-rate"])),
        "false_edges": draw(st.sampled_from([None, 0.2, 3.0])),
    }
    return events, weights, tuple(lookbacks), delay, draw(targets(labels)), limits, score


def naive(problem, kind, reachable=False, cap=None):
    """What the oracle finds."""
    events, weights, lookbacks, delay, target, limits, score = problem
    n_events = sum(sum(row) for row in expected(events, target, lambda past: (), weights).values())
    allowed = oracle.allowed_labels(
        events.labels, limits["required"], limits["forbidden"], limits["candidates"]
    )
    n_candidates = len(allowed) + len(limits["required"])
    levels = {"cap": cap} if cap else {}
    family = "count" if cap else "binary"

    @cache
    def by_items(items):
        place = dict(items)
        influencers = tuple(sorted(place))
        state = oracle.count_state if cap else oracle.binary_state
        counts = expected(
            events, target, lambda past: state(past, influencers, place, delay, **levels), weights
        )
        n_states = oracle.n_states(family, len(place), **levels)
        if reachable:
            n_states = oracle.n_reachable(family, [place[z] for z in influencers], delay, **levels)
        return oracle.score(
            kind.replace("-", "_"),
            counts,
            n_states=n_states,
            n_events=n_events,
            n_candidates=n_candidates,
            n_influencers=len(place),
            n_lookbacks=len(lookbacks),
            **score,
        )

    if len(events.labels) == 1:  # the one outcome is certain: there is nothing to search for
        limits = limits | {"max_influencers": len(limits["required"])}
    found = greedy_lookbacks(
        events.labels, lookbacks, lambda place: by_items(tuple(sorted(place.items(), key=str))), **limits
    )
    return found, by_items


def check(model, problem, found):
    place, score, trace = found
    recorder = Recorder(problem[0], problem[1])
    model.fit(recorder)
    assert model.lookbacks_ == place
    assert model.influencers_ == tuple(sorted(place))
    assert model.score_ == pytest.approx(score, rel=1e-9, abs=1e-9)
    assert [(s.action, s.label, s.lookback) for s in model.trace_] == [step[:3] for step in trace]
    for step, (*_, value) in zip(model.trace_, trace, strict=True):
        assert step.score == pytest.approx(value, rel=1e-9, abs=1e-9)
    return recorder


@pytest.mark.parametrize("kind", SCORES)
@examples(40)
@given(problem=problems())
def test_the_search_equals_the_oracle(kind, problem):
    _, _, lookbacks, delay, target, limits, score = problem
    model = sm.BSuMM(target, lookback=lookbacks, delay=delay, criterion=kind, **limits, **score)
    recorder = check(model, problem, naive(problem, kind)[0])
    # a pass a move, one a required label, one that found nothing better, one for the table
    assert len(recorder.passes) <= len(model.trace_) + len(limits["required"]) + 2
    for requests in recorder.passes:
        assert requests
        joining = [request for request in requests if isinstance(request, CandidatesRequest)]
        assert len(joining) in (0, len(lookbacks))  # all look-backs in one pass
        for request in requests:
            assert limits["max_influencers"] is None or len(request.influencers) <= limits["max_influencers"]


@examples(40)
@given(problem=problems(), cap=st.sampled_from([1, 2, 3]))
def test_count_summaries_learn_look_backs_too(problem, cap):
    _, _, lookbacks, delay, target, limits, score = problem
    model = sm.CSuMM(target, lookback=lookbacks, delay=delay, cap=cap, **limits, **score)
    check(model, problem, naive(problem, "bic", cap=cap)[0])
    limits = limits | {"max_influencers": max(2, len(limits["required"]))}
    problem = (*problem[:5], limits, score)
    model = sm.BSuMM(target, lookback=lookbacks, delay=delay, parameters="reachable", **limits, **score)
    check(model, problem, naive(problem, "bic", reachable=True)[0])


@examples(40)
@given(problem=problems(), cut=st.integers(1, 12))
def test_a_learned_model_is_the_model_with_these_look_backs(problem, cut):
    """Predictions, likelihoods and adding counts are those of a mapping given by hand."""
    events, weights, lookbacks, delay, target, limits, score = problem
    learned = sm.BSuMM(target, lookback=lookbacks, delay=delay, **limits, **score)
    learned.fit(events.events, sample_weight=weights)
    found = learned.lookbacks_
    by_hand = sm.BSuMM(
        target, lookback=found, delay=delay, required=tuple(found), candidates=(), **score
    ).fit(events.events, sample_weight=weights)
    assert learned.log_likelihood_ == by_hand.log_likelihood_
    assert (learned.predict_proba(events.events) == by_hand.predict_proba(events.events)).all()
    assert [row.words for row in learned.table_] == [row.words for row in by_hand.table_]
    histories = [sequence[:n] for sequence in events.sequences for n in range(len(sequence))]
    assert (learned.predict_next(histories).probabilities == learned.predict_proba(events.events)).all()
