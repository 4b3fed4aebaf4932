"""Context trees equal their slow twins, and reduce to chains where they must."""

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import oracle
import oracle_trees as trees
import summarkov as sm
from strategies import UNKNOWN, assert_same, data, examples, expected, targets, vocabularies, weights_of
from summarkov.summaries.contexts import LABEL, START

#: Numbers as the paper counts them.
pytestmark = pytest.mark.cut_off

ALPHAS = st.sampled_from([0.1, 0.5, 1.0, 5.0])
PRIORS = st.sampled_from(["uniform", "base-rate"])
GAMMAS = st.sampled_from([0.0, 0.1, 0.5, 1.0, 3.0])


@st.composite
def cases(draw, most_labels=4, max_order=3):
    """Training data with some known label in it, its weights, a target, and settings for a model."""
    train = draw(data(labels=draw(vocabularies(most_labels)), nonempty=True))
    weights = draw(weights_of(train))
    target = draw(targets(train.labels))
    settings = {"max_order": draw(st.integers(0, max_order)), "alpha": draw(ALPHAS), "prior": draw(PRIORS)}
    case = Case(train, weights, target, settings)
    assume(case.n_events)
    return case


class Case:
    """A problem, and the oracle's counts."""

    def __init__(self, train, weights, target, settings):
        self.train, self.weights, self.target, self.settings = train, weights, target, settings
        every = [1] * len(train.sequences) if weights is None else weights
        self.n_events = sum(
            w
            for sequence, w in zip(train.sequences, every, strict=True)
            for z in sequence
            if z in train.labels
        )
        self.counts = expected(train, target, self.context, weights)
        self.totals = trees.totals(self.counts)
        if self.counts:
            self.pseudo = oracle.pseudo_counts(self.counts, settings["alpha"], settings["prior"])

    def __repr__(self):
        return f"Case({self.train!r}, {self.weights!r}, {self.target!r}, {self.settings!r})"

    def context(self, history):
        return trees.context(history, self.settings["max_order"], self.train.labels)

    def contexts(self, test):
        return [self.context(s[:i]) for s in test.sequences for i in range(len(s))]

    def fit(self, family, **settings):
        model = family(self.target, **self.settings, **settings)
        return model.fit(self.train.events, sample_weight=self.weights)


def contexts_of(model):
    """The contexts of a fitted model in the oracle's terms."""
    labels = model.labels_
    return [
        tuple(trees.START if s == START else labels[s - LABEL] for s in key if s)
        for key in model.fitted.table.keys.tolist()
    ]


def assert_rows(found, naive):
    assert found == pytest.approx(np.array(naive).reshape(found.shape), rel=1e-9)


# ------------------------------------------------------------------ the pruned tree


@examples(150)
@given(cases(), GAMMAS, st.data())
def test_the_kept_contexts_and_predictions_equal_the_oracle(case, gamma, draw):
    model = case.fit(sm.VariableOrderChain, gamma=gamma)
    penalty = gamma * (len(model.outcomes_) - 1) * math.log(case.n_events) / 2
    kept, _ = trees.keep((), case.totals, penalty)
    if len(model.outcomes_) == 1:
        kept = {()}  # always the same, whatever came before
    assert set(contexts_of(model)) == kept
    assert model.influencers_ == tuple(sorted({z for s in kept for z in s if z is not trees.START}))

    theta = {s: trees.estimate(case.totals[s], case.pseudo) for s in kept}
    test = draw.draw(data(labels=case.train.labels, unknown=True))
    rows = model.predict_proba(test.events, unknown="ignore")
    assert_rows(rows, [theta[trees.longest(s, kept)] for s in case.contexts(test)])

    value = math.fsum(
        n * math.log(theta[trees.longest(s, kept)][x])
        for s, row in case.counts.items()
        for x, n in enumerate(row)
    )
    assert model.log_likelihood_ == pytest.approx(value, rel=1e-9, abs=1e-12)
    assert model.score_ == pytest.approx(value - len(kept) * penalty, rel=1e-9, abs=1e-9)
    for s, row in zip(contexts_of(model), model.table_, strict=True):
        assert list(row.counts) == case.totals[s]
        assert row.probabilities == pytest.approx(theta[s], rel=1e-12)
        # The mean of a very skew posterior can lie outside an interval with equal tails.
        assert all(0 <= low <= high <= 1 for low, high in row.intervals)


@examples(60)
@given(cases(most_labels=2, max_order=2), GAMMAS)
def test_no_pruning_has_a_larger_penalised_likelihood(case, gamma):
    model = case.fit(sm.VariableOrderChain, gamma=gamma)
    penalty = gamma * (len(model.outcomes_) - 1) * math.log(case.n_events) / 2  # of one outcome: all gain 0

    def worth(kept):
        return math.fsum(trees.gain(s, case.totals) - penalty for s in kept if s)

    best = max(worth(kept) for kept in trees.all_prunings((), case.totals))
    assert worth(contexts_of(model)) == pytest.approx(best, rel=1e-9, abs=1e-8)


# ------------------------------------------------------------------ what all models do


@examples(40)
@given(cases(), st.data())
def test_a_graph_holds_the_models_of_its_labels(case, draw):
    graph = sm.InfluenceGraph(sm.VariableOrderChain(**case.settings)).fit(
        case.train.events, sample_weight=case.weights
    )
    test = draw.draw(data(labels=case.train.labels, unknown=True))
    columns = []
    for label, model in graph.models_.items():
        alone = sm.VariableOrderChain(label, **case.settings).fit(
            case.train.events, sample_weight=case.weights
        )
        assert_same(model.fitted.table, alone.fitted.table)
        assert model.score_ == alone.score_
        columns.append(alone.predict_proba(test.events, unknown="ignore")[:, 0])
    p = np.column_stack(columns)
    found = graph.predict_proba(test.events, unknown="ignore")
    assert found == pytest.approx(p / p.sum(axis=1, keepdims=True), rel=1e-12)
    histories = [sequence[:n] for sequence in test.sequences for n in range(len(sequence))]
    assert (graph.predict_next(histories, unknown="ignore").probabilities == found).all()
    assert UNKNOWN not in graph.labels_
