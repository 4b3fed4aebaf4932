"""Predictions, evaluations and updates equal the oracle's."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracle
import summarkov as sm
from strategies import UNKNOWN, data, examples, expected, found, specs, subsets, targets, weights_of
from summarkov.engines import MemorySource
from summarkov.errors import SettingError, UnknownLabelError

#: Numbers as the paper counts them.
pytestmark = pytest.mark.cut_off

ALPHAS = st.sampled_from([0.1, 1.0, 5.0])
PRIORS = st.sampled_from(["uniform", "base-rate"])


@st.composite
def fits(draw, **which):
    """Training data, their weights, a summary, a target, its influencers, and the fitted model."""
    train = draw(data(nonempty=True))
    weights = draw(weights_of(train))
    if weights is not None and not any(w and s for w, s in zip(weights, train.sequences, strict=True)):
        weights = None
    spec = draw(specs(train.labels, **which))
    target = draw(targets(train.labels))
    settings = {"alpha": draw(ALPHAS), "prior": draw(PRIORS)}
    influencers = ()
    if spec.kind != "chain":
        influencers = draw(subsets(train.labels, max_size=3))
        settings |= {"required": influencers, "candidates": (), "false_edges": None}
    model = spec.model(target, **settings).fit(train.events, sample_weight=weights)
    return train, weights, spec, target, influencers, model


def naive_rows(train, weights, spec, target, influencers, model, test):
    """The oracle's probabilities at every position of `test`."""
    counts = expected(train, target, spec.state(influencers), weights)
    return oracle.predict(test.sequences, target, spec.state(influencers), counts, model.alpha, model.prior)


def outcomes(test, target, model):
    """The outcome at every position, None where it is not counted."""
    every = [oracle.outcome(label, target) for sequence in test.sequences for label in sequence]
    return [x if x < len(model.outcomes_) else None for x in every]


@examples(110)
@given(fits(), st.data())
def test_predictions_equal_the_oracle(fit, draw):
    train, weights, spec, target, influencers, model = fit
    test = draw.draw(data(labels=train.labels, unknown=True))
    rows = model.predict_proba(test.events, unknown="ignore")
    naive = naive_rows(*fit, test)
    assert rows.shape == (test.n_events, len(model.outcomes_))
    assert rows == pytest.approx(np.array(naive).reshape(rows.shape), rel=1e-12)
    if spec.kind != "chain":
        assert model.influencers_ == influencers
    assert model.target_ == target

    seen = expected(train, target, spec.state(influencers), weights)
    assert found(model.fitted.table, spec, train.labels) == seen
    value = oracle.log_likelihood(seen, model.alpha, model.prior)
    assert model.log_likelihood_ == pytest.approx(value, rel=1e-9, abs=1e-12)
    histories = [sequence[:n] for sequence in test.sequences for n in range(len(sequence))]
    assert (model.predict_next(histories, unknown="ignore").probabilities == rows).all()  # bit for bit

    theta = oracle.theta(seen, model.alpha, model.prior)
    keys = [spec.read_key(key, train.labels) for key in model.fitted.table.keys.tolist()]
    for key, row in zip(keys, model.table_, strict=True):
        assert list(row.counts) == seen.get(key, [0] * len(model.outcomes_))
        assert row.n == sum(row.counts)
        estimate = theta.get(key, oracle.prior_mean(seen, model.prior))
        assert row.probabilities == pytest.approx(estimate, rel=1e-12)
        assert len(row.intervals) == len(model.outcomes_)
        assert all(0 <= low <= high <= 1 for low, high in row.intervals)


@examples(80)
@given(fits(), st.data())
def test_evaluations_equal_the_naive_ones(fit, draw):
    train, *_, target, _, model = fit
    test = draw.draw(data(labels=train.labels, unknown=True))
    weights = draw.draw(weights_of(test) | floats_of(test))
    every = [1] * len(test.sequences) if weights is None else weights
    by_position = [w for sequence, w in zip(test.sequences, every, strict=True) for _ in sequence]
    cases = [
        (w, row, x)
        for w, row, x in zip(by_position, naive_rows(*fit, test), outcomes(test, target, model), strict=True)
        if x is not None
    ]
    total = math.fsum(w for w, _, _ in cases)
    value = math.fsum(w * math.log(row[x]) for w, row, x in cases)
    found_ = model.log_likelihood(test.events, unknown="ignore", sample_weight=weights)
    assert found_ == pytest.approx(value, rel=1e-9, abs=1e-12)

    squares = [
        (
            w,
            (row[0] - (x == 0)) ** 2
            if len(row) == 2
            else sum((p - (x == y)) ** 2 for y, p in enumerate(row)),
        )
        for w, row, x in cases
    ]
    naive = math.fsum(w * s for w, s in squares) / total if total else 0.0
    found_ = model.brier_score(test.events, unknown="ignore", sample_weight=weights)
    assert found_ == pytest.approx(naive, rel=1e-9, abs=1e-12)

    if UNKNOWN not in {label for sequence in test.sequences for label in sequence}:
        found_ = model.score(test.events, sample_weight=weights)
        assert found_ == pytest.approx(value / total if total else 0.0, rel=1e-9, abs=1e-12)


def floats_of(test):
    """One weight per sequence that is kept exactly: a multiple of 1/8."""
    n = len(test.sequences)
    return st.lists(st.integers(0, 30).map(lambda w: w / 8), min_size=n, max_size=n)


@examples(80)
@given(st.data())
def test_sample_weights_of_a_fit(draw):
    """Whole weights repeat sequences, weight 0 is absence; halves count half."""
    train = draw.draw(data(nonempty=True))
    spec = draw.draw(specs(train.labels, kinds=("binary", "ordinal", "count", "custom")))
    target = draw.draw(targets(train.labels))
    n = len(train.sequences)
    weights = draw.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n))
    again = [s for s, w in zip(train.sequences, weights, strict=True) for _ in range(w)]
    repeated = type(train)(train.labels, again)
    if not repeated.n_events:
        return
    a = spec.model(target).fit(train.events, sample_weight=weights)
    b = spec.model(target).fit(repeated.events)
    assert a.influencers_ == b.influencers_
    assert a.score_ == pytest.approx(b.score_, rel=1e-12)
    assert [(s.action, s.label) for s in a.trace_] == [(s.action, s.label) for s in b.trace_]
    assert a.predict_proba(train.events) == pytest.approx(b.predict_proba(train.events), rel=1e-12)
    assert a.base_rates_ == b.base_rates_

    if repeated.n_events < 4:  # halves of fewer weigh too little for a penalty, and are refused
        return
    halves = [w / 2 for w in weights]
    given = {"required": a.influencers_, "candidates": (), "false_edges": None}
    c = spec.model(target, **given).fit(train.events, sample_weight=halves)
    naive = expected(train, target, spec.state(a.influencers_), halves)
    size = spec.n_states(len(a.influencers_), len(train.labels))
    score = oracle.bic(naive, size, repeated.n_events / 2, c.alpha)
    assert c.score_ == pytest.approx(score, rel=1e-9, abs=1e-9)


def test_an_unknown_label_is_an_error_unless_ignored():
    model = sm.BSuMM("B", lookback=1).fit([["A", "B", "A", "B"]] * 3)
    for use in (model.predict_proba, model.log_likelihood, model.score, model.brier_score):
        with pytest.raises(UnknownLabelError, match="'Z'"):
            use([["A", "Z"]])
    with pytest.raises(UnknownLabelError, match="'Z'"):
        model.predict_next([["Z"]])
    rows = model.predict_proba([["A", "Z", "B"]], unknown="ignore")
    assert (rows[0] == rows[2]).all()  # after Z, as after nothing: it says nothing, but keeps its place
    assert not (rows[0] == rows[1]).all()


def test_weights_are_not_dropped_silently():
    """A source has weights of its own, so others beside it are refused."""
    source = MemorySource(sm.read_events([["A", "B"]]))
    model = sm.BSuMM("B", lookback=1).fit([["A", "B", "A", "B"]] * 3)
    for use in (model.log_likelihood, model.score, model.brier_score):
        with pytest.raises(SettingError, match="sample_weight"):
            use(source, sample_weight=[5])
    assert model.fitted.n_events == 12
