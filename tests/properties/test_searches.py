"""Searches find what the oracle's searches find, step by step, and ask for nothing they may not use."""

from functools import cache

import numpy as np
import pytest
from hypothesis import given

import oracle
from problems import Recorder, naive_score, reachable, search_problems
from strategies import WINDOWS, Data, Spec, examples
from summarkov.engines import CandidatesRequest
from summarkov.search.criteria import SCORES

#: Numbers as the paper counts them.
pytestmark = pytest.mark.cut_off


def check(model, events, weights, search, score_of, limits):
    """Fit and compare influencers, score and trace; return what was asked for."""
    naive = {"greedy": oracle.greedy, "sweep": oracle.sweep}[search]
    if len(events.labels) == 1:  # the one outcome is certain: there is nothing to search for
        limits = limits | {"max_influencers": len(limits["required"])}
    influencers, score, trace = naive(events.labels, score_of, **limits)
    recorder = Recorder(events, weights)
    model.set_params(search=search).fit(recorder)
    assert model.influencers_ == influencers
    assert model.score_ == pytest.approx(score, rel=1e-9, abs=1e-9)
    assert [(step.action, step.label) for step in model.trace_] == [step[:2] for step in trace]
    chosen = set(limits["required"])
    for step, (action, label, value) in zip(model.trace_, trace, strict=True):
        before = score_of(tuple(sorted(chosen)))
        chosen ^= {label}
        assert step.score == pytest.approx(value, rel=1e-9, abs=1e-9)
        assert step.gain == pytest.approx(value - before, rel=1e-9, abs=1e-9 * max(1, abs(value)))
        assert (label in chosen) == (action == "add")
    return recorder


@pytest.mark.parametrize("search", ["greedy", "sweep"])
@pytest.mark.parametrize("kind", SCORES)
@examples(40)
@given(problem=search_problems())
def test_searches_equal_the_oracle(search, kind, problem):
    events, weights, spec, target, limits, score = problem
    model = spec.model(target, criterion=kind, **limits, **score)
    score_of = naive_score(events, weights, spec, target, kind, limits, score)
    recorder = check(model, events, weights, search, score_of, limits)

    # A pass an influencer that entered, one more that found nothing better, one for the table.
    if spec.kind in WINDOWS:
        assert len(recorder.passes) <= sum(step.action == "add" for step in model.trace_) + 2
    assert all(recorder.passes)

    # Pruned up front: a label that may not be an influencer is never asked about.
    allowed = {
        *limits["required"],
        *(limits["candidates"] if limits["candidates"] is not None else events.labels),
    }
    allowed -= set(limits["forbidden"])
    most = limits["max_influencers"]
    for request in (request for requests in recorder.passes for request in requests):
        asked = {events.labels[z] for z in request.influencers}
        joining = set()
        if isinstance(request, CandidatesRequest):
            joining = {events.labels[z] for z in request.candidates}
        assert asked | joining <= allowed
        assert not asked & joining
        assert most is None or len(asked) + bool(joining) <= most


@pytest.mark.parametrize("search", ["greedy", "sweep"])
@examples(40)
@given(problem=search_problems(kinds=WINDOWS))
def test_reachable_parameters_equal_the_oracle(search, problem):
    events, weights, spec, target, limits, score = problem
    spec = Spec(spec.kind, spec.lookback, spec.delay, spec.mask, min(spec.cap, 2))
    limits = limits | {"max_influencers": max(2, len(limits["required"]))}
    model = spec.model(target, parameters="reachable", **limits, **score)
    score_of = naive_score(events, weights, spec, target, "bic", limits, score, reachable(spec))
    check(model, events, weights, search, score_of, limits)


@examples(60)
@given(problem=search_problems(kinds=("chain",)))
def test_a_chain_is_scored_by_bic(problem):
    events, weights, spec, target, limits, score = problem
    model = spec.model(target, alpha=score["alpha"], prior=score["prior"]).fit(
        events.events, sample_weight=weights
    )
    naive = naive_score(
        events, weights, spec, target, "bic", limits, score | {"gamma": 1.0, "false_edges": None}
    )(())
    assert model.score_ == pytest.approx(naive, rel=1e-9, abs=1e-9)
    assert model.trace_ == ()


def test_a_sweep_does_not_come_back():
    """X depends on B and C together, so B may help only once C is there; a sweep has passed it by then."""
    limits = {"required": (), "forbidden": (), "candidates": ("A", "B", "C"), "max_influencers": None}
    score = {"alpha": 0.1, "gamma": 1.0, "xi": 1.0, "prior": "uniform", "false_edges": None}
    chance = {(0, 0): 0.3, (0, 1): 0.5, (1, 0): 0.1, (1, 1): 0.7}
    spec, passed_by = Spec("binary", 2), 0
    for seed in range(4):
        rng, sequence = np.random.default_rng(seed), []
        for _ in range(250):
            likely = chance[oracle.binary_state(sequence, ("B", "C"), 2)]
            sequence.append("X" if rng.random() < likely else str(rng.choice(["A", "B", "C"])))
        events = Data(("A", "B", "C", "X"), [sequence])
        score_of = cache(naive_score(events, None, spec, ("X",), "bic", limits, score))
        for search in ("greedy", "sweep"):
            model = spec.model(("X",), criterion="bic", **limits, **score)
            check(model, events, None, search, score_of, limits)
        kept = {step.label for step in model.trace_ if step.action == "add"}
        now = score_of(tuple(sorted(kept)))
        passed_by += any(score_of(tuple(sorted({*kept, z}))) > now + 1e-6 for z in {"A", "B", "C"} - kept)
    assert passed_by > 0
