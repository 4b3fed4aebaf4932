"""Preparation does what its slow twin does, changes nothing in place, and keeps ids and ties."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracle_preparation as oracle
from summarkov.errors import DataError, SettingError
from summarkov.events import EventSequences

#: Numbers as the paper counts them.
pytestmark = pytest.mark.cut_off

LISTS = st.lists(st.lists(st.sampled_from("ABCDE"), max_size=8), max_size=6)


def made(lists, labels="ABCDEF"):
    """Events with a declared vocabulary (F never occurs), ids and ties."""
    plain = EventSequences.from_lists(lists, labels=list(labels))
    ids = [f"s{n}" for n in range(len(lists))]
    return EventSequences(plain.codes, plain.offsets, plain.labels, ids, tied_order=3)


def same_but(events, before):
    assert events.ids == before.ids
    assert before.labels == tuple("ABCDEF")
    assert not events.codes.flags.writeable
    return events.to_lists()


@given(lists=LISTS, least=st.integers(0, 6))
def test_pool_rare(lists, least):
    events = made(lists)
    pooled = events.pool_rare(least, into="<other>")
    assert same_but(pooled, events) == oracle.pool_rare(lists, least, "<other>")
    assert pooled.tied_order == 3
    counts = dict(zip(events.labels, events.label_counts.tolist(), strict=True))
    kept = sorted(label for label in "ABCDEF" if counts[label] >= least)
    assert pooled.labels == tuple(sorted([*kept, "<other>"] if len(kept) < 6 else kept))


@given(lists=LISTS)
def test_collapse_repeats(lists):
    events = made(lists)
    collapsed = events.collapse_repeats()
    assert same_but(collapsed, events) == oracle.collapse_repeats(lists)
    assert collapsed.labels == events.labels
    assert collapsed.collapse_repeats() == collapsed


@given(lists=LISTS, label=st.sampled_from(["(start)", "@", "Z", "BB"]))
def test_add_start(lists, label):
    events = made(lists)
    begun = events.add_start(label)
    assert same_but(begun, events) == oracle.add_start(lists, label)
    assert begun.labels == tuple(sorted([*"ABCDEF", label]))
    assert begun.tied_order == 3


@given(lists=LISTS, mapping=st.dictionaries(st.sampled_from("ABCDEF"), st.sampled_from(["A", "new", ""])))
def test_map_labels(lists, mapping):
    events = made(lists)
    mapped = events.map_labels(mapping)
    assert same_but(mapped, events) == oracle.map_labels(lists, mapping)
    assert mapped == events.map_labels(lambda label: mapping.get(label, label))
    assert mapped.labels == tuple(sorted({mapping.get(label, label) for label in "ABCDEF"}))
    assert mapped.tied_order == 3


def test_other_events_by_the_labels_that_were_kept():
    train = EventSequences.from_lists([["a", "a", "b"]]).pool_rare(2)
    test = EventSequences.from_lists([["b", "c", "a"]])
    assert test.map_labels(lambda label: label if label in train.labels else "(rare)").to_lists() == [
        ["(rare)", "(rare)", "a"]
    ]


@pytest.mark.parametrize(
    ("prepare", "kind", "message"),
    [
        (lambda e: e.pool_rare(-1), SettingError, "min_count must be a whole number from 0 on, not -1"),
        (
            lambda e: e.pool_rare(2, into="A"),
            SettingError,
            "there is a label 'A' already; rename it first, or",
        ),
        (lambda e: e.pool_rare(2, into=None), SettingError, "into must be a label, not None"),
        (lambda e: e.add_start("B"), SettingError, "there is a label 'B' already; rename it first, or"),
        (lambda e: e.map_labels({"AA": "x"}), DataError, "none of the labels in the mapping is in the data,"),
        (
            lambda e: e.map_labels({"A": None}),
            SettingError,
            "labels must become labels, and 'A' becomes None",
        ),
        (lambda e: e.map_labels(["A"]), SettingError, "labels are mapped by a dict or a function, not ['A']"),
    ],
)
def test_refused(prepare, kind, message):
    with pytest.raises(kind) as error:
        prepare(EventSequences.from_lists([["A", "B"]]))
    assert str(error.value).startswith(message)


@pytest.mark.parametrize("prepare", ["collapse_repeats", "add_start", "pool_rare"])
def test_events_of_no_label_are_refused(prepare):
    events = EventSequences.from_lists([["A", "B"]]).recode(["A"], unknown="ignore")
    with pytest.raises(DataError, match="some events have a label outside the vocabulary"):
        getattr(events, prepare)(*[2] * (prepare == "pool_rare"))


def test_nothing_to_prepare():
    nothing = EventSequences([], [0], [])
    for events in (nothing.pool_rare(5), nothing.collapse_repeats(), nothing.map_labels({})):
        assert events == nothing
    assert nothing.add_start().labels == ("(start)",)
    assert nothing.pool_rare(np.int64(2)) == nothing
