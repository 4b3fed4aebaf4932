"""EventSequences pass through scikit-learn's splitters."""

import numpy as np
import pytest

from summarkov.events import EventSequences

pytestmark = pytest.mark.needs("sklearn")


@pytest.fixture
def selection():
    """scikit-learn's ways to split, which take long to import."""
    from sklearn import model_selection

    return model_selection


@pytest.fixture
def events() -> EventSequences:
    return EventSequences.from_lists([["A"] * n + ["B"] for n in range(10)])


def test_k_fold(selection, events):
    tested: list[str] = []
    for train, test in selection.KFold(5).split(events):
        assert len(events[train]) == 8
        assert events[test].to_lists() == [events.to_lists()[s] for s in test]
        tested.extend(events[test].ids)
    assert tested == [str(s) for s in range(10)]


def test_train_test_split(selection, events):
    train, test = selection.train_test_split(events, test_size=0.3, random_state=0)
    assert isinstance(train, EventSequences)
    assert (len(train), len(test)) == (7, 3)
    assert train.labels == test.labels == events.labels
    assert sorted(train.ids + test.ids) == list(events.ids)
    for part in (train, test):
        assert part.lengths.tolist() == [int(name) + 1 for name in part.ids]


def test_train_test_split_beside_groups(selection, events):
    groups = np.arange(10) // 2
    train, test, train_groups, test_groups = selection.train_test_split(events, groups, random_state=1)
    assert [int(name) // 2 for name in train.ids] == train_groups.tolist()
    assert [int(name) // 2 for name in test.ids] == test_groups.tolist()
