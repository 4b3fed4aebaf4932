"""The feature matrices of the baselines against naive loops, and the small helpers."""

import numpy as np
import pytest

from summarkov.comparison.learners import TINY, EventCache, base_rate, clip
from summarkov.events import EventSequences
from summarkov.events.attributes import Attributes

LABELS = ("A", "B", "C", "never")


def random_events(seed: int, n_sequences: int = 12, longest: int = 9) -> EventSequences:
    """Sequences of A, B and C, two of them empty, over a vocabulary with one more label."""
    rng = np.random.default_rng(seed)
    lengths = [0, *rng.integers(0, longest + 1, n_sequences - 2).tolist(), 0]
    lists = [[str(label) for label in rng.choice(list("ABC"), n)] for n in lengths]
    return EventSequences.from_lists(lists, labels=LABELS)


def random_ticks(seed: int) -> EventSequences:
    """The same with sets of labels, some of them empty, in the place of single ones."""
    rng = np.random.default_rng(seed)
    lists = [
        [sorted(rng.choice(list("ABC"), rng.integers(0, 4), replace=False).tolist()) for _ in range(n)]
        for n in [0, *rng.integers(0, 8, 10).tolist(), 0]
    ]
    return EventSequences.from_lists(lists, labels=LABELS)


def naive_window(events: EventSequences, lookback: int, features: str) -> list[list[float]]:
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


def naive_recency(events: EventSequences, longest_lag: int, last_position: int) -> list[list[float]]:
    rows = []
    for sequence in events.to_lists():
        for i in range(len(sequence)):
            row = []
            for label in events.labels:
                lags = [lag for lag in range(1, i + 1) if label in sequence[i - lag]]
                row.append(float(min([*lags, longest_lag])))
            rows.append([*row, float(min(i, last_position))])
    return rows


@pytest.mark.parametrize("features", ["presence", "counts", "onehot"])
@pytest.mark.parametrize("lookback", [1, 2, 5, 50])
@pytest.mark.parametrize("made", [random_events, random_ticks])
@pytest.mark.parametrize("seed", [0, 1])
def test_window_features_equal_a_naive_loop(features, lookback, made, seed):
    from summarkov.comparison.learners import window_features

    events = made(seed)
    matrix = window_features(events, lookback, features)
    assert matrix.indices.dtype == np.int32
    assert matrix.toarray().tolist() == naive_window(events, lookback, features)


@pytest.mark.parametrize("features", ["presence", "counts", "onehot"])
def test_window_features_of_no_events(features):
    from summarkov.comparison.learners import window_features

    nothing = EventSequences.from_lists([[], []], labels=LABELS)
    assert window_features(nothing, 3, features).shape == (0, 12 if features == "onehot" else 4)


def test_an_unknown_event_keeps_its_place_and_says_nothing():
    from summarkov.comparison.learners import recency_features, window_features

    events = EventSequences.from_lists([["A", "X", "B"]]).recode(("A", "B"), unknown="ignore")
    assert window_features(events, 1, "presence").toarray().tolist() == [[0, 0], [1, 0], [0, 0]]
    assert window_features(events, 2, "onehot").toarray().tolist() == [[0] * 4, [1, 0, 0, 0], [0, 0, 1, 0]]
    assert recency_features(events).tolist() == [[200, 200, 0], [1, 200, 1], [2, 200, 2]]


@pytest.mark.parametrize(("longest_lag", "last_position"), [(200, 50), (3, 4)])
@pytest.mark.parametrize("made", [random_events, random_ticks])
@pytest.mark.parametrize("seed", [0, 1])
def test_recency_features_equal_a_naive_loop(longest_lag, last_position, made, seed):
    from summarkov.comparison.learners import recency_features

    events = made(seed)
    matrix = recency_features(events, longest_lag=longest_lag, last_position=last_position)
    assert matrix.tolist() == naive_recency(events, longest_lag, last_position)


def test_attributes_are_columns_and_the_target_is_looked_for_in_ticks():
    from summarkov.comparison.learners import is_target, recency_features, window_features

    present = [[True, False], [False, True]]
    events = EventSequences.from_lists([[["A", "B"], ["A"]], [["B"]]]).with_attributes(
        Attributes(["r=n", "r=s"], ["r", "r"], present)
    )
    names = ["r=m", "r=n", "r=s"]  # of the training data
    window = window_features(events, 1, "presence", names).toarray().astype(int)
    assert window.tolist() == [[0, 0, 0, 1, 0], [1, 1, 0, 1, 0], [0, 0, 0, 0, 1]]
    recent = recency_features(events, names).astype(int)
    assert recent.tolist() == [[200, 200, 0, 0, 1, 0], [1, 1, 1, 0, 1, 0], [200, 200, 0, 0, 0, 1]]
    assert is_target(events, "B").tolist() == [True, False, True]


def test_recency_features_of_no_events():
    from summarkov.comparison.learners import recency_features

    assert recency_features(EventSequences.from_lists([[], []], labels=LABELS)).shape == (0, 5)


def test_probabilities_stay_away_from_0_and_1():
    assert clip([0.0, 0.3, 1.0]).tolist() == [TINY, 0.3, 1 - TINY]


def test_base_rate_is_smoothed():
    assert base_rate(np.array([True, False, False])) == 0.375
    assert base_rate(np.array([], dtype=bool)) == 0.5


def test_remembered_computes_once_and_forgets_the_oldest():
    a, b, c = (random_events(0) for _ in range(3))
    calls = []

    def compute(name):
        return lambda: calls.append(name) or name

    kept: EventCache[str] = EventCache(most=2)
    assert [kept.get(a, 0, compute("a")), kept.get(b, 0, compute("b")), kept.get(a, 0, compute("a"))] == list(
        "aba"
    )
    assert calls == ["a", "b"]  # equal events, but not the same
    kept.get(c, 0, compute("c"))  # b is the oldest now
    kept.get(a, 0, compute("a"))
    assert calls == ["a", "b", "c"]
    kept.get(b, 0, compute("b"))
    kept.get(b, 1, compute("b1"))
    assert calls == ["a", "b", "c", "b", "b1"]
