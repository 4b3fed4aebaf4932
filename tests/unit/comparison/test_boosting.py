"""Gradient boosting as a contender."""

import numpy as np
import pytest

from summarkov.comparison import BoostingContender, Trees
from summarkov.comparison.learners import recency_features
from summarkov.errors import SettingError
from summarkov.events import EventSequences

pytestmark = pytest.mark.needs("sklearn")

SMALL = (Trees(5, 0.1, 1.0), Trees(3, 0.3, 0.0))


def two_back(seed: int, n: int = 30, length: int = 10) -> EventSequences:
    """B stands two events after an A, with probability .9; A and C come at random otherwise."""
    rng = np.random.default_rng(seed)
    lists = []
    for _ in range(n):
        sequence: list[str] = []
        for i in range(length):
            after = i >= 2 and sequence[-2] == "A" and rng.random() < 0.9
            sequence.append("B" if after else str(rng.choice(["A", "C"])))
        lists.append(sequence)
    return EventSequences.from_lists([[], *lists], labels=["A", "B", "C", "never"])


def test_stages_equal_fitting_with_fewer_iterations():
    train, new = two_back(0), two_back(1, n=4)
    contender = BoostingContender(SMALL, iterations=12, every=5)
    found = list(contender.fit_each(train, ["A", "B"]))
    assert [settings["iterations"] for settings, _ in found] == [1, 5, 10, 12] * 2
    assert found[4][0] == {"leaves": 3, "learning_rate": 0.3, "l2": 0.0, "iterations": 1}
    for settings, predictor in reversed(found):  # also going back
        kind = (settings["leaves"], settings["learning_rate"], settings["l2"])
        alone = BoostingContender([kind], iterations=settings["iterations"], every=1000)
        *_, (_, refitted) = alone.fit_each(train, ["B"])
        assert predictor.probability(new, "B").tolist() == refitted.probability(new, "B").tolist()


def test_probabilities_are_scikit_learns():
    from sklearn.ensemble import HistGradientBoostingClassifier

    train, new = two_back(0), two_back(1, n=4)
    *_, (_, predictor) = BoostingContender([Trees(8, 0.1, 2.0)], iterations=7).fit_each(train, ["B"])
    model = HistGradientBoostingClassifier(
        learning_rate=0.1, max_leaf_nodes=8, l2_regularization=2.0, max_iter=7, min_samples_leaf=5
    ).fit(recency_features(train), train.codes == train.code("B"))
    expected = model.predict_proba(recency_features(new))[:, 1]
    assert predictor.probability(new, "B") == pytest.approx(expected, rel=1e-9)


def test_it_finds_what_stands_two_events_back():
    *_, (_, predictor) = BoostingContender(SMALL[:1], iterations=60).fit_each(two_back(2), ["B"])
    new = EventSequences.from_lists([["C", "A", "C", "C", "C"]], labels=["A", "B", "C", "never"])
    probability = predictor.probability(new, "B")
    assert probability[3] > 0.8
    assert probability[[0, 1, 2, 4]].max() < 0.1
    assert predictor.influencers("B") is None


def test_each_events_object_has_its_own_stages():
    train, one, other = two_back(0), two_back(1, n=3), two_back(2, n=5)
    found = list(BoostingContender(SMALL[:1], iterations=10).fit_each(train, ["B"]))
    for _, predictor in found:
        first = predictor.probability(one, "B")
        assert predictor.probability(other, "B").shape == (other.n_events,)
        assert predictor.probability(one, "B").tolist() == first.tolist()


def test_probabilities_for_every_kind_of_events():
    train = two_back(3)
    targets = list(train.labels)
    nothing = EventSequences.from_lists([[], []], labels=train.labels)
    for _, predictor in BoostingContender(SMALL, iterations=5).fit_each(train, targets):
        for new in (two_back(4, n=2), nothing):
            for target in targets:
                probability = predictor.probability(new, target)
                assert probability.shape == (new.n_events,)
                assert ((probability > 0) & (probability < 1)).all()
        share = 0.5 / (train.n_events + 1)
        assert predictor.probability(train, "never").tolist() == [share] * train.n_events


def test_settings():
    assert BoostingContender().checkpoints == (1, *range(5, 301, 5))
    assert {kind.leaves for kind in BoostingContender().grid} == {5, 8, 15}
    with pytest.raises(SettingError, match="leaves must be a whole number from 2 on, not 1"):
        BoostingContender([(1, 0.1, 0.0)])
    with pytest.raises(SettingError, match="learning_rate must be finite numbers above 0, not 0"):
        BoostingContender([(5, 0.0, 0.0)])
    with pytest.raises(SettingError, match="grid must hold at least one"):
        BoostingContender([])
    with pytest.raises(SettingError, match=r"iterations must be a whole number from 1 on, not 2\.5"):
        BoostingContender(iterations=2.5)
