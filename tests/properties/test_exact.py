"""Exact search finds what going through all sets finds, and its certificate tells the truth."""

import itertools
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracle
from problems import Recorder, naive_score, reachable, search_problems
from strategies import WINDOWS, Data, Spec, codes, examples, specs
from summarkov.engines import MemorySource, StatesRequest, Target
from summarkov.search import Problem
from summarkov.search.criteria import SCORES, Scorer
from summarkov.search.exact import JointTable, Penalties

#: Numbers as the paper counts them.
pytestmark = pytest.mark.cut_off

MANY = ("A", "B", "C", "D", "E", "F", "G", "H")


def check(model, events, weights, score_of, limits):
    """Fit and compare with all sets; return what was asked for."""
    if len(events.labels) == 1:  # the one outcome is certain: there is nothing to search for
        limits = limits | {"max_influencers": len(limits["required"])}
    score_of = cache(score_of)
    sets = oracle.allowed_sets(events.labels, **limits)
    best, score = oracle.exhaustive(events.labels, score_of, **limits)
    recorder = Recorder(events, weights)
    model.set_params(search="exact").fit(recorder)
    found = model.trace_.certificate
    close = {"rel": 1e-9, "abs": 1e-9}
    assert model.score_ == pytest.approx(score_of(model.influencers_), **close)
    assert model.influencers_ in sets
    assert found.examined + found.pruned + found.open == len(sets)
    top = max(score_of(u) for u in sets)
    assert found.bound >= top - 1e-9 * max(1, abs(top))
    assert found.bound == pytest.approx(model.score_ + found.gap, **close)
    by_greedy = oracle.greedy(events.labels, score_of, **limits)
    assert found.greedy == by_greedy[0]
    assert found.greedy_gap == pytest.approx(model.score_ - by_greedy[1], rel=1e-9, abs=1e-9 * max(1, -score))
    if model.max_sets is None:
        assert found.is_optimal
        assert found.gap == 0
        assert model.influencers_ == best
    else:
        assert found.examined <= max(1, model.max_sets)
    return recorder


@pytest.mark.parametrize("kind", SCORES)
@examples(80)
@given(problem=search_problems(kinds=WINDOWS), parameters=st.sampled_from(["all", "reachable"]))
def test_exact_search_equals_all_sets(kind, problem, parameters):
    events, weights, spec, target, limits, score = problem
    spec = Spec(spec.kind, spec.lookback, spec.delay, spec.mask, min(spec.cap, 2))
    model = spec.model(target, criterion=kind, parameters=parameters, max_sets=None, **limits, **score)
    states = reachable(spec) if parameters == "reachable" else None
    score_of = naive_score(events, weights, spec, target, kind, limits, score, states)
    recorder = check(model, events, weights, score_of, limits)
    assert [len(requests) for requests in recorder.passes] == [1]  # one question is enough


@st.composite
def planted(draw):
    """Eight labels, some tens of events, in which two labels change how likely A is."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    causes = draw(st.sampled_from([("B", "C"), ("A", "H"), ("D", "G")]))
    chance = draw(st.sampled_from([(0.05, 0.75, 0.75, 0.05), tuple(rng.dirichlet(np.ones(4)) * 2)]))
    sequence = []
    for _ in range(draw(st.sampled_from([60, 120]))):
        both = oracle.binary_state(sequence, causes, 3)
        likely = min(0.9, chance[2 * both[0] + both[1]])
        sequence.append("A" if rng.random() < likely else str(rng.choice(MANY[1:])))
    return Data(MANY, [sequence])


@pytest.mark.parametrize("kind", ["bic", "aic", "extended-bic", "marginal"])
@examples(6)
@given(
    events=planted(),
    spec=specs(MANY, kinds=WINDOWS, longest=3),
    gamma=st.sampled_from([0.1, 0.5, 1.0]),
    target=st.sampled_from([("A",), ("A", "B")]),
    false_edges=st.sampled_from([None, 0.2]),
)
def test_exact_search_over_eight_labels(kind, events, spec, gamma, target, false_edges):
    limits = {"required": (), "forbidden": (), "candidates": None, "max_influencers": None}
    score = {"alpha": 0.1, "gamma": gamma, "xi": 1.0, "prior": "uniform", "false_edges": false_edges}
    model = spec.model(target, criterion=kind, max_sets=None, **score)
    check(model, events, None, naive_score(events, None, spec, target, kind, limits, score), limits)


@pytest.mark.parametrize("kind", SCORES)
@examples(40)
@given(problem=search_problems(kinds=WINDOWS), max_sets=st.integers(1, 20))
def test_a_stopped_search_says_how_far_it_came(kind, problem, max_sets):
    events, weights, spec, target, limits, score = problem
    model = spec.model(target, criterion=kind, max_sets=max_sets, **limits, **score)
    check(model, events, weights, naive_score(events, weights, spec, target, kind, limits, score), limits)


@pytest.mark.parametrize("parameters", ["all", "reachable"])
@pytest.mark.parametrize("kind", SCORES)
@examples(60)
@given(problem=search_problems(kinds=WINDOWS), drawn=st.data())
def test_no_set_scores_above_its_bound(kind, parameters, problem, drawn):
    """Whatever is still to be decided: the largest likelihood less the least penalty is above every score."""
    events, weights, spec, target, limits, score = problem
    spec = Spec(spec.kind, spec.lookback, spec.delay, spec.mask, min(spec.cap, 2))
    model = spec.model(target, criterion=kind, parameters=parameters, **limits, **score)
    states = reachable(spec) if parameters == "reachable" else None
    score_of = cache(naive_score(events, weights, spec, target, kind, limits, score, states))
    source = MemorySource(events.events, sample_weight=weights)
    n_events = float(source.label_counts.sum() / source.scale)
    summary, of = spec.summary(), Target(codes(events.labels, target), len(events.labels))
    problem = model.make_problem(
        Problem(summary, of, Scorer(), events.labels, n_events, source.scale, (), ())
    )
    everyone = tuple(sorted((*problem.required, *problem.optional)))
    (table,) = source.count([StatesRequest(summary, everyone, of)])
    joint, penalties = JointTable(summary, everyone, table, source.scale), Penalties(problem)

    order = drawn.draw(st.permutations(problem.optional))
    cut = drawn.draw(st.integers(0, len(order)))
    chosen, rest = tuple(sorted((*problem.required, *order[:cut]))), tuple(order[cut:])
    largest = joint.likelihoods(chosen, rest)[0]
    limit = limits["max_influencers"]
    room = len(rest) if limit is None else max(0, min(len(rest), limit - len(chosen)))
    if of.n_outcomes == 1:
        room = 0
    for fewest in (1, 2):
        sets = [
            tuple(events.labels[z] for z in sorted((*chosen, *more)))
            for n in range(fewest, room + 1)
            for more in itertools.combinations(rest, n)
        ]
        assert penalties.n_sets(chosen, rest, fewest) == len(sets)
        if sets:
            least = penalties.least(chosen, rest, fewest)
            nothing = np.zeros((1, problem.target.n_outcomes))
            assert least <= min(
                -float(problem.scores(nothing, len(u), problem.n_states(codes(events.labels, u))))
                for u in sets
            )
            bound = largest - least
            top = max(map(score_of, sets))
            assert bound >= top - 1e-9 * max(1, abs(top))
