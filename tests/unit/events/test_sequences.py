"""EventSequences: parts, immutability, labels, splits."""

import copy
import pickle

import numpy as np
import pytest

from summarkov.errors import DataError, UnknownLabelError
from summarkov.events import EventSequences
from summarkov.events.sequences import join_events

#: Numbers as the paper counts them.
pytestmark = pytest.mark.cut_off

LISTS = [["A", "B", "A", "C"], ["B"], [], ["C", "C"]]


@pytest.fixture
def events() -> EventSequences:
    return EventSequences.from_lists(LISTS, ids=["w", "x", "y", "z"])


def test_arrays(events):
    assert events.codes.dtype == np.int32
    assert events.codes.tolist() == [0, 1, 0, 2, 1, 2, 2]
    assert events.offsets.dtype == np.int64
    assert events.offsets.tolist() == [0, 4, 5, 5, 7]
    assert events.labels == ("A", "B", "C")
    assert events.lengths.tolist() == [4, 1, 0, 2]
    assert events.label_counts.tolist() == [2, 2, 3]
    assert (len(events), events.n_events, events.shape) == (4, 7, (4,))
    assert repr(events) == "EventSequences(4 sequences, 7 events, 3 labels)"


@pytest.mark.parametrize(
    ("which", "chosen"),
    [
        (slice(1, 3), [1, 2]),
        (slice(None, None, -1), [3, 2, 1, 0]),
        (np.array([3, 0, 0]), [3, 0, 0]),
        ([2, -1], [2, 3]),
        ([], []),
        (np.array([True, False, False, True]), [0, 3]),
        ([False, True, False, False], [1]),
        (1, [1]),
        (np.int64(-1), [3]),
        ((np.array([1, 3]), Ellipsis), [1, 3]),
    ],
)
def test_indexing_keeps_the_vocabulary(events, which, chosen):
    part = events[which]
    assert part.to_lists() == [LISTS[s] for s in chosen]
    assert part.ids == tuple("wxyz"[s] for s in chosen)
    assert part.labels == ("A", "B", "C")


@pytest.mark.parametrize("which", [4, [0, 9], [True, False], None, [[0, 1], [2, 3]]])
def test_indexing_out_of_range(events, which):
    with pytest.raises(IndexError) as error:
        events[which]
    assert str(error.value)


def test_equality(events):
    assert EventSequences.from_lists(LISTS)[2:].ids == ("2", "3")
    assert events == EventSequences.from_lists(LISTS, ids=["w", "x", "y", "z"])
    assert events != EventSequences.from_lists(LISTS)
    assert events != EventSequences.from_lists(LISTS, labels=list("ABCD"), ids=events.ids)
    assert events != LISTS
    with pytest.raises(TypeError, match="unhashable"):
        hash(events)


def test_nothing_can_be_changed(events):
    with pytest.raises(AttributeError, match="cannot be changed"):
        events.labels = ("Z",)
    for array in (events.codes, events.offsets):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
        with pytest.raises(ValueError, match="WRITEABLE"):
            array.flags.writeable = True


def test_arrays_of_the_caller_are_copied_unless_read_only(events):
    codes, offsets = np.array([0, 1], dtype=np.int32), np.array([0, 2])
    made = EventSequences(codes, offsets, ["A", "B"])
    codes[0], offsets[1] = 1, 0
    assert made.to_lists() == [["A", "B"]]
    codes.flags.writeable = False
    assert np.shares_memory(EventSequences(codes, [0, 2], ["A", "B"]).codes, codes)
    weights, ends = np.ones(4), np.ones(4, bool)
    found = events.with_weights(weights).with_ends(ends)
    weights[0], ends[0] = 7, False
    assert found.weights.tolist() == [1] * 4
    assert found.complete.all()
    assert events.weights is None


def test_copies_are_equal():
    events = EventSequences([0], [0, 1], ["A"], ["x"], tied_order=3)
    for again in (copy.copy(events), copy.deepcopy(events), pickle.loads(pickle.dumps(events))):
        assert again == events
        assert again.tied_order == 3
        assert not again.codes.flags.writeable


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0], [0, 1], ["B", "A"]), "labels must be sorted and without repeats"),
        (([0], [0, 1], ["A", "A"]), "labels must be sorted and without repeats"),
        (([0], [0, 1], [1]), "labels must be text"),
        (([0], [0, 2], ["A"]), "offsets must start at 0 and end at the number of events"),
        (([0, 0], [0, 2, 1, 2], ["A"]), "offsets must not decrease"),
        (([1], [0, 1], ["A"]), "codes must be one flat array of indices into labels"),
        (([[0]], [0, 1], ["A"]), "codes must be one flat array of indices into labels"),
        (([0.5], [0, 1], ["A"]), "codes must be whole numbers, not float64"),
        (([2**32], [0, 1], ["A"]), "codes must fit int32"),
        (([0], [0, 1], ["A"], ["x", "y"]), "there are 1 sequences but 2 ids"),
    ],
)
def test_arrays_that_make_no_sense(arguments, message):
    with pytest.raises(DataError) as error:
        EventSequences(*arguments)
    assert str(error.value) == message


def test_numbers_are_labels():
    events = EventSequences.from_lists([[7, np.int64(10), 1.0, True], np.array(["x"])])
    assert events.to_lists() == [["7", "10", "1.0", "True"], ["x"]]
    assert all(type(label) is str for label in events.labels)


@pytest.mark.parametrize(
    ("sequences", "message"),
    [
        (["AB"], "a sequence must be a list of labels, not 'AB'; wrap it in a list"),
        ([{"A": 1}], "a sequence must be a list of labels, not {'A': 1}; wrap it in a list"),
        ([{"A"}], "a sequence must be a list of labels, not {'A'}, which has no order"),
        ([["A", None]], "an event has no label (None or nan); drop it or give it a name"),
        ([[float("nan")]], "an event has no label (None or nan); drop it or give it a name"),
        ([[b"A"]], "a label must be text or a number, not bytes"),
        ([[[["A"]]]], "a label must be text or a number, not list"),
    ],
)
def test_lists_that_are_no_sequences(sequences, message):
    with pytest.raises(DataError) as error:
        EventSequences.from_lists(sequences)
    assert str(error.value) == message
    with pytest.raises(DataError, match="labels must be a list of labels, not 'AB'; wrap it in a list"):
        EventSequences.from_lists([["A"]], labels="AB")


@pytest.mark.needs("pandas")
def test_missing_values_of_pandas_and_numpy_are_no_labels():
    import pandas

    for missing in (pandas.NA, pandas.NaT, np.datetime64("NaT")):
        with pytest.raises(DataError, match="an event has no label"):
            EventSequences.from_lists([[missing]])


def test_code(events):
    assert events.code("C") == 2
    with pytest.raises(UnknownLabelError, match=r"unknown label 'D'; the labels are 'A', 'B', 'C'"):
        events.code("D")


def test_recode(events):
    wider = events.recode(["A", "AA", "B", "C"])
    assert wider.to_lists() == LISTS
    assert wider.codes.tolist() == [0, 2, 0, 3, 2, 3, 3]
    assert wider.ids == events.ids
    assert events.recode(("A", "B", "C")) is events
    with pytest.raises(UnknownLabelError, match="unknown label 'B'"):
        events.recode(["A", "C"])
    assert events[3].recode(["A", "C"]).to_lists() == [["C", "C"]], "labels that do not occur may go"


def test_recode_ignoring_unknown_labels_keeps_their_places(events):
    narrower = events.recode(["A", "C"], unknown="ignore")
    assert narrower.codes.tolist() == [0, -1, 0, 1, -1, 1, 1]
    assert narrower.to_lists()[0] == ["A", "?", "A", "C"]
    assert narrower.label_counts.tolist() == [2, 3]
    assert narrower.restrict(["A"]).to_lists() == [["A", "A"], [], [], []]
    with pytest.raises(DataError, match="unknown='drop' is not known; use 'error' or 'ignore'"):
        events.recode(["A"], unknown="drop")


def test_restrict_closes_the_gaps(events):
    assert events.restrict(["C", "A"]).to_lists() == [["A", "A", "C"], [], [], ["C", "C"]]
    assert events.restrict(["C", "A"]).labels == ("A", "C")
    assert events.restrict([]).n_events == 0
    with pytest.raises(UnknownLabelError, match="unknown label 'D'"):
        events.restrict(["D"])


def test_split_is_a_partition_and_repeats_with_its_seed():
    events = EventSequences.from_lists([[str(s)] for s in range(20)])
    parts = events.split((0.7, 0.15, 0.15), random_state=3)
    assert [len(part) for part in parts] == [14, 3, 3]
    assert sorted(int(name) for part in parts for name in part.ids) == list(range(20))
    assert parts == events.split(random_state=3)
    assert parts != events.split(random_state=4)
    assert all(list(part.ids) == sorted(part.ids, key=int) for part in parts), "the order is kept"


@pytest.mark.parametrize("fractions", [(0.5, 0.6), (1.5, -0.5), (), (float("nan"), 1)])
def test_split_refuses_fractions_that_make_no_sense(events, fractions):
    with pytest.raises(DataError, match="fractions must be positive and sum to 1"):
        events.split(fractions)


def test_describe(events):
    found = events.describe()
    assert found.to_dict() == {
        "n_sequences": 4,
        "n_events": 7,
        "n_labels": 3,
        "n_empty": 1,
        "shortest": 0,
        "median_length": 1.5,
        "longest": 4,
        "label_counts": {"A": 2, "B": 2, "C": 3},
        "tied_order": 0,
        "look_alikes": [],
        "columns": None,
        "left_out": {"unlabelled": 0, "other_lifecycle": 0, "caseless": 0, "duplicates": 0},
        "duplicates": 0,
        "mixed_lifecycles": None,
        "first_event": None,
        "backwards": 0,
        "tied_case": None,
        "n_ticks": None,
        "attribute_counts": {},
        "ends": {"n_cases": 4, "n_complete": 0, "one_length": None, "late": 0, "late_since": None},
    }
    assert str(found).splitlines() == [
        "4 sequences, 7 events, 3 labels",
        "Events per sequence: 0 to 4, median 1.5",
        "All 4 cases are taken as cut off: their ends do not count.",
        "Empty sequences: 1",
        "label  events  share",
        "C           3  42.9%",
        "A           2  28.6%",
        "B           2  28.6%",
    ]


def test_describe_ties_many_labels_and_labels_that_look_alike():
    many = EventSequences(np.arange(25), [0, 25], [f"{i:02d}" for i in range(25)], tied_order=2)
    text = str(many.describe())
    assert "2 events with the same place as the one before; they keep the order of the input.\n" in text
    assert text.endswith("... and 5 more")
    labels = ["Pay", "pay", "pay ", "Caf\u00e9", "Cafe\u0301", "leave"]
    found = EventSequences.from_lists([labels]).describe()
    assert found.n_labels == 6
    assert found.look_alikes == [("Cafe\u0301", "Caf\u00e9"), ("Pay", "pay", "pay ")]
    assert "'Pay' and 'pay' and 'pay ' differ only in capitals, blanks or how characters" in str(found)


def test_no_sequences_at_all():
    events = EventSequences.from_lists([])
    assert (len(events), events.n_events, events.labels) == (0, 0, ())
    assert events.describe().longest == 0
    assert [len(part) for part in events.split((0.5, 0.5))] == [0, 0]


def test_empty_ticks_stay_when_data_sets_are_joined():
    parts = [EventSequences.from_lists(each) for each in ([["A", []]], [["B"]])]
    joined = join_events(parts)
    assert joined.to_lists() == [[["A"], []], [["B"]]]
    assert (joined.n_events, joined.n_ticks) == (2, 3)


@pytest.mark.needs("sklearn")
def test_they_pass_through_the_splitters_of_scikit_learn():
    from sklearn import model_selection

    events = EventSequences.from_lists([["A"] * n + ["B"] for n in range(10)])
    tested = []
    for train, test in model_selection.KFold(5).split(events):
        assert len(events[train]) == 8
        tested.extend(events[test].ids)
    assert tested == [str(s) for s in range(10)]
    groups = np.arange(10) // 2
    train, test, *parts = model_selection.train_test_split(events, groups, test_size=0.3, random_state=0)
    assert isinstance(train, EventSequences)
    assert (len(train), len(test)) == (7, 3)
    assert train.labels == test.labels == events.labels
    for part, of in zip((train, test), parts, strict=True):
        assert [int(name) // 2 for name in part.ids] == of.tolist()
        assert part.lengths.tolist() == [int(name) + 1 for name in part.ids]
