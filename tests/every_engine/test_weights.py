"""Weights: whole ones repeat a sequence, others are multiples of 2^-20, and none is absence."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strategies import Data, assert_counted, assert_same, data, examples, expected, requests, specs
from summarkov.engines import MemorySource, StateCounts
from summarkov.engines.counts import FIXED_POINT
from summarkov.search.criteria import SCORES, Scorer

pytestmark = pytest.mark.cut_off


@st.composite
def questions(draw, weight):
    """Data, one weight per sequence, a summary, and a request of either type."""
    events = draw(data())
    n = len(events.sequences)
    weights = draw(st.lists(weight, min_size=n, max_size=n))
    spec = draw(specs(events.labels))
    request, target = draw(requests(events, spec))
    return events, weights, spec, target, request


def ask(events, weights, request):
    source = MemorySource(events.events, sample_weight=weights)
    (answer,) = source.count([request])
    return source, answer


def dropped_empty(answer):
    """Without the states that nothing was counted in."""
    some = answer.counts.any(axis=1)
    if isinstance(answer, StateCounts):
        return StateCounts(answer.keys[some], answer.counts[some])
    return type(answer)(answer.keys[some], answer.counts[some], answer.present[:, some])


@examples(80)
@given(questions(st.integers(0, 3)))
def test_whole_weights_repeat_sequences(question):
    events, weights, *_, request = question
    repeated = Data(
        events.labels, [s for s, w in zip(events.sequences, weights, strict=True) for _ in range(w)]
    )
    source, answer = ask(events, weights, request)
    plain, direct = ask(repeated, None, request)
    assert source.scale == 1
    assert source.label_counts.tolist() == plain.label_counts.tolist()
    assert_same(dropped_empty(answer), direct)  # a state that only occurs with weight 0 is kept, empty


@examples(80)
@given(questions(st.just(0.0) | st.floats(2**-20, 100)))
def test_other_weights_are_multiples_of_a_millionth(question):
    events, weights, spec, target, request = question
    source, answer = ask(events, weights, request)
    scale = 1 if all(w == int(w) for w in weights) else FIXED_POINT
    assert source.scale == scale
    stored = [round(Fraction(w) * scale) for w in weights]
    for given_, kept in zip(weights, stored, strict=True):
        assert abs(Fraction(given_) - Fraction(kept, scale)) <= Fraction(1, 2 * FIXED_POINT)
    assert_counted(answer, request, spec, events, target, stored)
    # So no count is further from the exact one than the resolution times the number of events.
    influencers = [events.labels[z] for z in request.influencers]
    exact = expected(events, target, spec.state(influencers), weights)
    for key, row in zip(answer.keys.tolist(), answer.counts.tolist(), strict=True):
        near = exact.get(spec.read_key(key, events.labels), [0] * len(row))
        for n, value in zip(row, near, strict=True):
            assert abs(n / scale - value) <= events.n_events / FIXED_POINT + 1e-9


@examples(80)
@given(questions(st.integers(0, 2)), st.sampled_from(SCORES), st.sampled_from(["uniform", "base-rate"]))
def test_weight_0_is_absence(question, kind, prior):
    """States that only occur with weight 0 stay in the table with no counts; no score sees them."""
    events, weights, spec, target, request = question
    some = Data(events.labels, [s for s, w in zip(events.sequences, weights, strict=True) if w])
    _, answer = ask(events, weights, request)
    _, direct = ask(some, [w for w in weights if w], request)
    assert_same(dropped_empty(answer), direct)
    assert_counted(answer, request, spec, events, target, weights)
    scorer = Scorer(kind, alpha=0.5, prior=prior)
    settings = {"n_influencers": 1, "n_states": 4, "n_candidates": 3, "n_events": 10}
    with_empty, without = scorer(answer.counts, **settings), scorer(direct.counts, **settings)
    assert float(with_empty) == pytest.approx(float(without), rel=1e-12, abs=1e-12)
