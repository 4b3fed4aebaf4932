"""Attributes of sequences: what is refused, and that whatever keeps the sequences keeps their attributes."""

import copy
import pickle

import numpy as np
import pytest

from summarkov import read_events
from summarkov.errors import DataError
from summarkov.events import Attributes, EventSequences
from summarkov.events.attributes import join_attributes

#: Numbers as the paper counts them.
pytestmark = pytest.mark.cut_off

NAMES = ("age=(missing)", "age=30 to 50", "region=north", "region=south")
PRESENT = np.array([[0, 1, 1, 0], [1, 0, 1, 0], [0, 1, 0, 1]], bool)


@pytest.fixture
def attributes() -> Attributes:
    return Attributes(NAMES, PRESENT)


@pytest.fixture
def events(attributes) -> EventSequences:
    plain = EventSequences.from_lists([["A", "A", "B"], [], ["C"]], ids=["x", "y", "z"])
    return EventSequences(plain.codes, plain.offsets, plain.labels, plain.ids, attributes=attributes)


def test_values_of_a_column(attributes):
    assert attributes.columns == ("age", "region")
    assert attributes.values("region") == ["region=north", "region=north", "region=south"]
    assert attributes.values("age") == ["age=30 to 50", "age=(missing)", "age=30 to 50"]
    with pytest.raises(DataError, match="no attribute 'regoin'; did you mean 'region'"):
        attributes.values("regoin")


def test_nobody_changes_them(attributes):
    given = PRESENT.copy()
    found = Attributes(NAMES, given)
    given[:] = False
    assert found == attributes
    with pytest.raises(ValueError, match="read-only"):
        attributes.present[0, 0] = True


@pytest.mark.parametrize(
    ("names", "present", "why"),
    [
        (("x=b", "x=a"), PRESENT[:, :2], "sorted"),
        (("x=a", "x=a"), PRESENT[:, :2], "without repeats"),
        (("x=a", "x=b"), PRESENT, "2 columns"),
        (("x=a", "x=b"), PRESENT[:, :2].astype(int), "truth values"),
        (("x=a", 1), PRESENT[:, :2], "text"),
        (("old", "x=a"), PRESENT[:, :2], "its column, '=' and its value, .* 'old' is not; rename it"),
    ],
)
def test_what_is_no_attribute(names, present, why):
    with pytest.raises(DataError, match=why):
        Attributes(names, present)


@pytest.mark.parametrize(
    ("change", "kept"),
    [
        (lambda events: events[[2, 0]], [2, 0]),
        (lambda events: events[1:], [1, 2]),
        (lambda events: events[np.array([True, False, True])], [0, 2]),
        (lambda events: events.recode(["A", "B", "C", "D"]), [0, 1, 2]),
        (lambda events: events.restrict(["A"]), [0, 1, 2]),
        (lambda events: events.map_labels({"B": "C"}), [0, 1, 2]),
        (lambda events: events.pool_rare(2), [0, 1, 2]),
        (lambda events: events.collapse_repeats(), [0, 1, 2]),
        (lambda events: events.add_start(), [0, 1, 2]),
        (lambda events: events.with_weights([1, 2, 3]), [0, 1, 2]),
        (lambda events: read_events(events), [0, 1, 2]),
        (copy.deepcopy, [0, 1, 2]),
        (lambda events: pickle.loads(pickle.dumps(events)), [0, 1, 2]),
    ],
)
def test_events_keep_them_and_how_they_end(events, change, kept):
    complete = [True, False, True]
    found = change(events.with_ends(complete))
    assert found.attributes.names == NAMES
    assert found.attributes.present.tolist() == PRESENT[kept].tolist()
    assert found.complete.tolist() == [complete[k] for k in kept]


def test_events_with_other_attributes_differ(events):
    plain = EventSequences(events.codes, events.offsets, events.labels, events.ids)
    assert plain.attributes is None
    assert plain != events
    assert events == copy.deepcopy(events)


def test_attributes_must_fit_the_events(attributes):
    with pytest.raises(DataError, match="1 sequences but attributes of 3"):
        EventSequences([0], [0, 1], ["A"], attributes=attributes)
    with pytest.raises(DataError, match="'region=north' is both a label and the name of an attribute"):
        EventSequences([0], [0, 1, 1, 1], ["region=north"], attributes=attributes)


def test_joined(attributes):
    other = Attributes(["age=51 to 80", "region=north"], [[True, True]])
    found = join_attributes([attributes, other])
    assert found.names == ("age=(missing)", "age=30 to 50", "age=51 to 80", "region=north", "region=south")
    assert found.values("age") == [*attributes.values("age"), "age=51 to 80"]
    assert join_attributes([None, None]) is None
    for parts in ([attributes, None], [attributes, Attributes(["x=1"], [[True]])]):
        with pytest.raises(DataError, match="attributes that others lack"):
            join_attributes(parts)
