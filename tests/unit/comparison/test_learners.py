"""Learners of matrices: features against naive loops, models as scikit-learn fits them, ticks."""

import math

import numpy as np
import pytest

import summarkov as sm
from summarkov.comparison import MatrixContender
from summarkov.comparison.contenders import is_target, recency_features, window_features
from summarkov.errors import SettingError
from summarkov.events import EventSequences
from summarkov.events.attributes import Attributes

LABELS = ("A", "B", "C", "never")
FEATURES = ["presence", "counts", "onehot"]
learned = pytest.mark.needs("sklearn")


def regression(lookback, features="presence", strengths=(math.inf,)):
    return MatrixContender(f"lr-{features}", [{"C": strength} for strength in strengths], lookback, features)


def boosting(grid, sizes):
    names = ("max_leaf_nodes", "learning_rate", "l2_regularization", "max_iter")
    settings = [dict(zip(names, (*kind, n), strict=True)) for kind in grid for n in sizes]
    return MatrixContender("boosting", settings)


# ------------------------------------------------------------------ features


def random_events(seed):
    """Sequences of A, B and C, two of them empty, over a vocabulary with one more label."""
    rng = np.random.default_rng(seed)
    lists = [[*map(str, rng.choice(list("ABC"), n))] for n in [0, *rng.integers(0, 10, 10).tolist(), 0]]
    return EventSequences.from_lists(lists, labels=LABELS)


def random_ticks(seed):
    """The same with sets of labels, some of them empty, in the place of single ones."""
    rng = np.random.default_rng(seed)
    lists = [[[x for x in "ABC" if rng.random() < 0.5] for _ in range(n)] for n in (0, 7, 1, 5, 3, 4, 0)]
    return EventSequences.from_lists(lists, labels=LABELS)


def naive_window(events, lookback, features):
    rows = []
    for sequence in events.to_lists():
        for i in range(len(sequence)):
            seen = [sequence[i - lag] if i - lag >= 0 else "" for lag in range(1, lookback + 1)]
            if features == "onehot":
                rows.append([float(label in at) for at in seen for label in events.labels])
            elif features == "counts":
                rows.append([float(sum(label in at for at in seen)) for label in events.labels])
            else:
                rows.append([float(any(label in at for at in seen)) for label in events.labels])
    return rows


def naive_recency(events, longest_lag, last_position):
    rows = []
    for sequence in events.to_lists():
        for i in range(len(sequence)):
            lags = [[lag for lag in range(1, i + 1) if x in sequence[i - lag]] for x in events.labels]
            rows.append([*(float(min([*each, longest_lag])) for each in lags), float(min(i, last_position))])
    return rows


@pytest.mark.parametrize("made", [random_events, random_ticks])
def test_features_equal_naive_loops(made):
    events, nothing = made(1), EventSequences.from_lists([[], []], labels=LABELS)
    for features in FEATURES:
        for lookback in (1, 2, 50):
            matrix = window_features(events, lookback, features)
            assert matrix.indices.dtype == np.int32
            assert matrix.toarray().tolist() == naive_window(events, lookback, features)
        assert window_features(nothing, 3, features).shape == (0, 12 if features == "onehot" else 4)
    for longest_lag, last_position in ((200, 50), (3, 4)):
        matrix = recency_features(events, longest_lag=longest_lag, last_position=last_position)
        assert matrix.tolist() == naive_recency(events, longest_lag, last_position)
    assert recency_features(nothing).shape == (0, 5)


def test_unknown_events_attributes_and_ticks_by_hand():
    unknown = EventSequences.from_lists([["A", "X", "B"]]).recode(("A", "B"), unknown="ignore")
    assert window_features(unknown, 1, "presence").toarray().tolist() == [[0, 0], [1, 0], [0, 0]]
    assert window_features(unknown, 2, "onehot").toarray().tolist() == [[0] * 4, [1, 0, 0, 0], [0, 0, 1, 0]]
    assert recency_features(unknown).tolist() == [[200, 200, 0], [1, 200, 1], [2, 200, 2]]
    events = EventSequences.from_lists([[["A", "B"], ["A"]], [["B"]]]).with_attributes(
        Attributes(["r=n", "r=s"], [[True, False], [False, True]])
    )
    names = ["r=m", "r=n", "r=s"]  # of the training data
    window = window_features(events, 1, "presence", names).toarray().astype(int)
    assert window.tolist() == [[0, 0, 0, 1, 0], [1, 1, 0, 1, 0], [0, 0, 0, 0, 1]]
    recent = recency_features(events, names).astype(int)
    assert recent.tolist() == [[200, 200, 0, 0, 1, 0], [1, 1, 1, 0, 1, 0], [200, 200, 0, 0, 0, 1]]
    assert is_target(events, "B").tolist() == [True, False, True]


# ------------------------------------------------------------------ logistic regression


def made(seed, n, length, chance):
    """B comes with a chance that depends on the past, A and C share the rest; one sequence is empty."""
    rng = np.random.default_rng(seed)
    lists = [[] for _ in range(n + 1)]
    for sequence in lists[:-1]:
        for _ in range(length):
            p = chance(sequence)
            sequence.append(str(rng.choice(["B", "A", "C"], p=[p, (1 - p) / 2, (1 - p) / 2])))
    return EventSequences.from_lists(lists, labels=LABELS)


def planted(seed, n=120, length=12):
    """B has probability .8 after an A among the last two events and .1 otherwise."""
    return made(seed, n, length, lambda past: 0.8 if "A" in past[-2:] else 0.1)


@learned
def test_presence_recovers_a_planted_effect():
    train = planted(0)
    [(settings, predictor)] = regression(2).fit_each(train, ["B"])
    assert settings == {"C": math.inf}
    new = EventSequences.from_lists([["A", "C", "C", "C"]], labels=LABELS)
    probability = predictor.probability(new, "B")
    assert probability[[1, 2]] == pytest.approx([0.8, 0.8], abs=0.06)
    assert probability[[0, 3]] == pytest.approx([0.1, 0.1], abs=0.06)
    assert predictor.influencers("B") == ("A", "B", "C")
    share = (train.codes == train.code("B")).mean()  # without a penalty the mean is that of the data
    assert predictor.probability(train, "B").mean() == pytest.approx(share, abs=1e-4)


@learned
@pytest.mark.parametrize("features", FEATURES)
def test_one_candidate_a_strength_fitted_as_scikit_learn_does(features):
    from sklearn.linear_model import LogisticRegression

    events, new = planted(2, n=30), planted(3, n=5)
    found = list(regression(3, features, (0.1, 10.0)).fit_each(events, ["A", "B"]))
    assert [settings for settings, _ in found] == [{"C": 0.1}, {"C": 10.0}]
    for settings, predictor in found:  # all of them stay valid
        model = LogisticRegression(C=settings["C"], tol=1e-5, max_iter=1000)
        model.fit(window_features(events, 3, features).toarray(), events.codes == events.code("A"))
        expected = model.predict_proba(window_features(new, 3, features).toarray())[:, 1]
        assert predictor.probability(new, "A") == pytest.approx(expected, rel=1e-6)


@learned
@pytest.mark.parametrize(
    "contender",
    [regression(2, "onehot", (0.1, 1.0)), regression(2), boosting([(5, 0.1, 1.0), (3, 0.3, 0.0)], [5])],
    ids=lambda contender: contender.name,
)
def test_probabilities_for_every_kind_of_events(contender):
    train = planted(4, n=20)
    nothing = EventSequences.from_lists([[], []], labels=LABELS)
    for _, predictor in contender.fit_each(train, LABELS):
        for new in (planted(5, n=3), nothing):
            for target in LABELS:
                probability = predictor.probability(new, target)
                assert probability.shape == (new.n_events,)
                assert ((probability > 0) & (probability < 1)).all()
        share = 0.5 / (train.n_events + 1)
        assert predictor.probability(train, "never").tolist() == [share] * train.n_events
    for _, predictor in contender.fit_each(nothing, ["A"]):
        assert predictor.probability(EventSequences.from_lists([["A", "A"]]), "A").tolist() == [0.5, 0.5]


@learned
def test_labels_are_matched_by_name():
    events = planted(6, n=20)
    [(_, predictor)] = regression(2).fit_each(events, ["B"])
    other = EventSequences.from_lists([["C", "B"]])
    same = EventSequences.from_lists([["C", "B"]], labels=LABELS)
    assert predictor.probability(other, "B").tolist() == predictor.probability(same, "B").tolist()
    unknown = predictor.probability(EventSequences.from_lists([["X", "B"]]), "B")
    assert unknown[1] == unknown[0]  # it keeps its place, and says nothing


def test_settings_that_make_no_sense():
    with pytest.raises(SettingError, match="features must be one of presence, counts, onehot, not 'lags'"):
        regression(5, "lags")
    with pytest.raises(SettingError, match="lookback must be a whole number from 1 on, not 0"):
        regression(0)


# ------------------------------------------------------------------ gradient boosting


def two_back(seed, n=30, length=10):
    """B stands two events after an A, with probability .9."""
    return made(seed, n, length, lambda past: 0.9 if past[-2:-1] == ["A"] else 0.0)


@learned
def test_trees_are_those_of_scikit_learn():
    from sklearn.ensemble import HistGradientBoostingClassifier

    train, new, other = two_back(0), two_back(1, n=4), two_back(2, n=5)
    found = list(boosting([(5, 0.1, 1.0), (3, 0.3, 0.0)], [1, 12]).fit_each(train, ["A", "B"]))
    assert [settings["max_iter"] for settings, _ in found] == [1, 12] * 2
    for settings, predictor in found:
        model = HistGradientBoostingClassifier(**settings, min_samples_leaf=5)
        model.fit(recency_features(train), train.codes == train.code("B"))
        expected = model.predict_proba(recency_features(new))[:, 1]
        assert predictor.probability(new, "B") == pytest.approx(expected, rel=1e-9)
        assert predictor.probability(other, "B").shape == (other.n_events,)
        assert predictor.influencers("B") is None


# ------------------------------------------------------------------ ticks and attributes


@pytest.mark.parametrize("name", ["chain-1", "joint"])
def test_what_tells_of_events_in_a_row_alone_refuses_ticks_and_attributes(name):
    with pytest.raises(SettingError, match="some of these happened together; use BSuMM"):
        sm.compare([[["A", "B"], ["A"]], [["A"]] * 4] * 10, models=[name], targets=["A"])
    in_a_row = sm.read_events([["A", "B"], ["B"]] * 9).with_attributes(
        Attributes(["at=north"], [[True], [False]] * 9)
    )
    with pytest.raises(SettingError, match="and these have attributes; use BSuMM"):
        sm.compare(in_a_row, models=[name])
