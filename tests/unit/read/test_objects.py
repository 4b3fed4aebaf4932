"""read_events from lists, dicts and EventSequences."""

import subprocess
import sys

import numpy as np
import pytest

from summarkov.errors import DataError, SettingError, UnknownLabelError
from summarkov.events import EventSequences
from summarkov.read import read_events

LISTS = [["b", "a"], [], ["b"]]


@pytest.mark.parametrize(
    "source",
    [
        LISTS,
        tuple(tuple(sequence) for sequence in LISTS),
        (iter(sequence) for sequence in LISTS),
        [np.array(["b", "a"]), np.array([]), ["b"]],
    ],
    ids=["lists", "tuples", "iterators", "arrays"],
)
def test_lists(source):
    events = read_events(source)
    assert events.to_lists() == LISTS
    assert events.labels == ("a", "b")
    assert events.ids == ("0", "1", "2")


def test_dict_keeps_its_order_and_names():
    events = read_events({"y": ["b"], 7: [], "x": ["a", "b"]})
    assert events.to_lists() == [["b"], [], ["a", "b"]]
    assert events.ids == ("y", "7", "x")


def test_event_sequences_are_returned_as_they_are():
    events = EventSequences.from_lists(LISTS, ids=["x", "y", "z"])
    assert read_events(events) is events
    wider = read_events(events, labels=["c", "b", "a"])
    assert wider.labels == ("a", "b", "c")
    assert wider.to_lists() == LISTS
    assert wider.ids == ("x", "y", "z")
    with pytest.raises(UnknownLabelError, match="unknown label 'b'"):
        read_events(events, labels=["a"])


def test_declared_vocabulary_is_sorted_and_numbers_become_text():
    events = read_events([[2, 10]], labels=[10, 2, "1", 2])
    assert events.labels == ("1", "10", "2")
    assert events.codes.tolist() == [2, 1]
    with pytest.raises(UnknownLabelError) as error:
        read_events([["protset"]], labels=["riot", "protest"])
    assert str(error.value) == "unknown label 'protset'; did you mean 'protest'?"


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (["a", "b"], "a sequence must be a list of labels, not 'a'; wrap it in a list"),
        ([1, 2], "a sequence must be a list of labels, not 1; wrap it in a list"),
        ({"x": "a"}, "a sequence must be a list of labels, not 'a'; wrap it in a list"),
        ({None: ["a"]}, "a sequence has no id (None); give it a name"),
        ([["a", None]], "an event has no label (None or nan); drop it or give it a name"),
        (
            5,
            "cannot read events from an int; give lists of labels, a dict of them, "
            "a table (pandas, polars, pyarrow, DuckDB; of a lazy one .collect()) or the path of a file",
        ),
    ],
)
def test_what_cannot_be_read(source, message):
    with pytest.raises(DataError) as error:
        read_events(source)
    assert str(error.value) == message


@pytest.mark.parametrize(
    ("source", "settings", "message"),
    [
        (
            {"x": ["a", "b"]},
            {"case": "case"},
            "case, event, order_by, weight, lifecycle, date_format, ties, times, session_gap and "
            "drop_duplicates are about columns, and a dict has none; make it a table first, for example with "
            "pandas.DataFrame",
        ),
        ([], {"format": "csv"}, "format='csv' is for files; leave it out for a list"),
        ([], {"case": 3}, "case must be the name of a column, not 3"),
        ([], {"event": False}, "event must be the name of a column, not False"),
        (
            [],
            {"order_by": True},
            "order_by must be the name of a column, or a list of names, or False for the order of the rows, "
            "not True",
        ),
        (
            [],
            {"case": "x", "event": "x"},
            "case, event, order_by, weight and attributes must be different columns",
        ),
    ],
)
def test_settings_that_make_no_sense(source, settings, message):
    with pytest.raises(SettingError) as error:
        read_events(source, **settings)
    assert str(error.value) == message


@pytest.mark.parametrize(
    ("call", "library"),
    [("read_events([['a']], labels=['a', 'b'])", "pyarrow"), ("read_events('log.csv')", "pandas")],
)
def test_libraries_are_imported_only_when_needed(call, library, tmp_path):
    (tmp_path / "log.csv").write_text("case,event,time\nx,a,2\nx,b,1\n")
    script = f"import sys; from summarkov.read import read_events; {call}; print({library!r} in sys.modules)"
    run = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert run.stdout == "False\n"
