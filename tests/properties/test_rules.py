"""Trees of history tests equal their slow twins: growing, pruning, estimates, predictions."""

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import oracle
import oracle_rules as rules
import summarkov as sm
from rule_strategies import test_sets, tree_of
from strategies import UNKNOWN, data, examples, subsets, targets, vocabularies, weights_of
from summarkov.engines import source as sources

#: Numbers as the paper counts them.
pytestmark = pytest.mark.cut_off

ALPHAS = st.sampled_from([0.1, 0.5, 2.5, 10.0])
PRIORS = st.sampled_from(["uniform", "base-rate"])
GAMMAS = st.sampled_from([0.05, 0.1, 0.2, 0.5, 1.0])


class Case:
    """A problem in the package's terms and in the oracle's."""

    def __init__(self, train, weights, target, tests, candidates, settings):
        self.train, self.weights, self.target, self.candidates = train, weights, target, candidates
        self.settings = {**settings, **tests.settings, "candidates": candidates}
        self.tests = tests.all(candidates)
        self.cases = rules.cases(train.sequences, target, train.labels, weights)
        self.n_outcomes = oracle.n_outcomes(target, train.labels)
        self.n_events = sum(w for _, _, w in self.cases)

    def __repr__(self):
        return f"Case({self.train!r}, {self.weights!r}, {self.target!r}, {self.settings!r})"

    @property
    def penalty(self):
        parameters = (self.n_outcomes - 1) * math.log(self.n_events) / 2
        return self.settings["gamma"] * (parameters + math.log(max(1, len(self.tests))))

    @property
    def pseudo(self):
        row = rules.tabulate(self.cases, self.n_outcomes)
        return oracle.pseudo_counts({0: row}, self.settings["alpha"], self.settings["prior"])

    def fit(self, **settings):
        model = sm.TreeSuMM(self.target, **{**self.settings, **settings})
        return model.fit(self.train.events, sample_weight=self.weights)

    def grow(self):
        return rules.grow(self.cases, self.tests, self.n_outcomes, self.penalty, self.settings["max_depth"])[
            0
        ]

    def estimates(self, tree):
        pseudo = self.pseudo
        above = [a / sum(pseudo) for a in pseudo]
        return rules.estimates(tree, self.cases, above, sum(pseudo), self.n_outcomes)


@st.composite
def cases(draw, max_depth=4):
    train = draw(data(labels=draw(vocabularies(4)), nonempty=True, max_length=30))
    settings = {
        "alpha": draw(ALPHAS),
        "prior": draw(PRIORS),
        "gamma": draw(GAMMAS),
        "max_depth": draw(st.integers(0, max_depth)),
    }
    weights = draw(weights_of(train))
    case = Case(
        train, weights, draw(targets(train.labels)), draw(test_sets), draw(subsets(train.labels)), settings
    )
    assume(case.n_events)
    return case


def histories(data):
    return [s[:i] for s in data.sequences for i in range(len(s))]


@examples(150)
@given(cases(), st.data())
def test_tree_estimates_and_predictions_equal_the_oracle(case, draw):
    model = case.fit()
    tree = case.grow()
    assert tree_of(model.fitted.summary, case.train.labels) == tree
    assert model.influencers_ == tuple(sorted(rules.labels_of(tree)))
    theta = case.estimates(tree)
    paths = rules.leaves(tree)
    for path, row in zip(paths, model.table_, strict=True):
        here = [c for c in case.cases if rules.leaf(tree, c[0]) == path]
        assert list(row.counts) == rules.tabulate(here, case.n_outcomes)
        assert row.probabilities == pytest.approx(theta[path], rel=1e-9)
        assert all(0 <= low <= high <= 1 for low, high in row.intervals)
    value = math.fsum(w * math.log(theta[rules.leaf(tree, past)][x]) for past, x, w in case.cases)
    assert model.log_likelihood_ == pytest.approx(value, rel=1e-9, abs=1e-9)
    root = case.settings["gamma"] * (case.n_outcomes - 1) * math.log(case.n_events) / 2
    expected = value - root - (len(paths) - 1) * case.penalty
    assert model.score_ == pytest.approx(expected, rel=1e-9, abs=1e-9)
    assert len(model.trace_) == len(paths) - 1
    if model.trace_:
        assert model.trace_[-1].score == pytest.approx(model.score_, rel=1e-9, abs=1e-9)

    test = draw.draw(data(labels=case.train.labels, unknown=True))
    found = model.predict_proba(test.events, unknown="ignore")
    naive = [theta[rules.leaf(tree, past)] for past in histories(test)]
    assert found == pytest.approx(np.array(naive).reshape(found.shape), rel=1e-9)
    assert np.array_equal(model.predict_next(histories(test), unknown="ignore").probabilities, found)
    value = 0.0
    for row, event in zip(naive, [e for s in test.sequences for e in s], strict=True):
        x = oracle.outcome(event, case.target)
        if x < case.n_outcomes and (event != UNKNOWN or case.n_outcomes > len(case.target)):
            value += math.log(row[x])
    assert model.log_likelihood(test.events, unknown="ignore") == pytest.approx(value, rel=1e-9, abs=1e-9)


@examples(60)
@given(cases(), st.integers(1, 9), st.integers(1, 3))
def test_shards_and_threads_give_the_same_model(case, size, n_jobs):
    model = case.fit()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sources, "SHARD_EVENTS", size)
        other = case.fit(n_jobs=n_jobs)
    assert other.fitted.summary == model.fitted.summary
    assert other.score_ == model.score_
    assert np.array_equal(other.fitted.theta, model.fitted.theta)


@examples(60)
@given(cases(), GAMMAS, ALPHAS)
def test_other_settings_without_the_data_equal_a_new_fit(case, gamma, alpha):
    model = case.fit()
    settings = {"gamma": max(gamma, model.gamma), "alpha": alpha}
    again, new = model.with_settings(**settings), case.fit(**settings)
    assert again.fitted.summary == new.fitted.summary
    assert again.score_ == pytest.approx(new.score_, rel=1e-12)
    assert np.array_equal(again.fitted.theta, new.fitted.theta)
    assert again.trace_ == new.trace_
