"""The joint model equals its oracle: features, likelihood, gradient, probabilities."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracle_joint
import summarkov as sm
from strategies import examples
from summarkov.engines import MemorySource, Target
from summarkov.models.joint import JointData
from summarkov.models.joint_parts import ProfileSummary, Weights, penalised

#: Numbers as the paper counts them.
pytestmark = pytest.mark.cut_off

LABELS = ("A", "B", "C")
SEQUENCES = st.lists(st.lists(st.sampled_from(LABELS), max_size=12), min_size=1, max_size=4)
LOOKBACK = 20


def places(sequences, data, target):
    """Every place of the sequences as the oracle has it."""
    rates = dict(zip(LABELS, data.features.base_rates.tolist(), strict=True))
    outcomes = [{LABELS[code]} for code in target.codes]
    if target.has_residual:
        outcomes.append(set(LABELS).difference(*outcomes))
    outcome_rates = [sum(rates[x] for x in each) for each in outcomes]
    return [
        (
            oracle_joint.shared_features(sequence[:i], LABELS, rates, lookback=LOOKBACK),
            oracle_joint.habits(sequence[:i], outcomes, outcome_rates, lookback=LOOKBACK),
            next(at for at, each in enumerate(outcomes) if sequence[i] in each),
        )
        for sequence in sequences
        for i in range(len(sequence))
    ]


def parts(weights):
    """Weights as the oracle takes them."""
    return weights.level.tolist(), weights.shared.tolist(), weights.own.tolist()


@examples(40)
@given(
    SEQUENCES.filter(lambda each: any(each)), st.sampled_from([(0, 1, 2), (1,), (0, 2)]), st.integers(0, 9)
)
def test_the_likelihood_and_its_gradient_are_the_oracles(sequences, codes, seed):
    events = sm.EventSequences.from_lists(sequences, labels=LABELS)
    target = Target(codes, len(LABELS))
    data = JointData.of(MemorySource(events), target, ProfileSummary(LOOKBACK))
    n, rng = target.n_outcomes, np.random.default_rng(seed)
    weights = Weights(rng.normal(size=(45, n)), 40)
    value, gradient = penalised(data.rows, data.counts, weights, np.zeros((45, n)))
    plain, found = parts(weights), Weights(gradient, 40)
    expected = places(sequences, data, target)
    np.testing.assert_allclose(value, oracle_joint.log_likelihood(expected, plain), rtol=1e-9, atol=1e-9)
    for part, naive in zip(parts(found), oracle_joint.gradient(expected, plain), strict=True):
        np.testing.assert_allclose(part, naive, rtol=1e-7, atol=1e-8)


@examples(15)
@given(SEQUENCES.filter(lambda each: sum(map(len, each)) > 3), SEQUENCES, st.sampled_from([0.0, 0.3]))
def test_probabilities_are_the_oracles_and_sum_to_one(train, test, contexts):
    events = sm.EventSequences.from_lists(train, labels=LABELS)
    model = sm.JointSuMM(penalty=2.0, gamma=0.0, lookback=LOOKBACK, contexts=contexts).fit(events)
    weights = parts(model.fitted.weights)
    data = JointData.of(MemorySource(events), model.fitted.features.target, model.fitted.summary)
    said = [
        oracle_joint.logits(features, own, *weights)
        for features, own, _ in places(test, data, model.fitted.features.target)
    ]
    after = [
        oracle_joint.after_last_labels(train, LABELS, 2, sequence[:i])
        for sequence in test
        for i in range(len(sequence))
    ]
    naive = [
        oracle_joint.softmax(
            [(1 - contexts) * z + contexts * math.log(p) for z, p in zip(*each, strict=True)]
        )
        for each in zip(said, after, strict=True)
    ]
    found = model.predict_proba(sm.EventSequences.from_lists(test, labels=LABELS))
    np.testing.assert_allclose(found, np.array(naive).reshape(found.shape), rtol=1e-8)
    np.testing.assert_allclose(found.sum(axis=1), 1.0, rtol=1e-12)
