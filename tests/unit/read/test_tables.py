"""read_events from data frames and other tables: one body over pandas, polars, pyarrow and DuckDB."""

import duckdb
import numpy as np
import pyarrow
import pytest

from summarkov.errors import DataError, UnknownLabelError
from summarkov.read import read_events

pandas = pytest.importorskip("pandas")
polars = pytest.importorskip("polars")

#: What is said of many ties is the topic of test_ties_warning.
pytestmark = pytest.mark.filterwarnings("ignore::summarkov.errors.TiesWarning")


def relation(columns):
    return duckdb.from_arrow(pyarrow.table(columns))


class OnlyAnArray:
    """A record batch that offers the array interface and nothing else."""

    def __init__(self, columns):
        self.batch = pyarrow.record_batch(columns)

    def __arrow_c_array__(self, requested_schema=None):
        return self.batch.__arrow_c_array__(requested_schema)


MAKERS = {
    "pandas": pandas.DataFrame,
    "polars": polars.DataFrame,
    "pyarrow": pyarrow.table,
    "record batch": pyarrow.record_batch,
    "reader": lambda columns: pyarrow.table(columns).to_reader(),
    "array": OnlyAnArray,
    "duckdb": relation,
}


@pytest.fixture(params=MAKERS)
def make(request):
    return MAKERS[request.param]


def test_rows(make):
    events = read_events(
        make({"case": ["y", "y", "x", "z"], "event": ["b", "a", "b", "c"], "cost": [1, 2, 3, 4]})
    )
    assert events.to_lists() == [["b", "a"], ["b"], ["c"]]
    assert events.ids == ("y", "x", "z")
    assert events.labels == ("a", "b", "c")
    assert events.tied_order == 0


def test_scattered_rows_come_by_first_appearance(make):
    events = read_events(make({"case": ["y", "x", "y", "x", "y"], "event": ["1", "2", "3", "4", "5"]}))
    assert dict(zip(events.ids, events.to_lists(), strict=True)) == {"y": ["1", "3", "5"], "x": ["2", "4"]}
    assert events.ids == ("y", "x")


def test_order_with_ties(make):
    events = read_events(
        make({"who": ["y", "x", "y", "x", "y"], "what": list("abcde"), "when": [2, 1, 1, 1, 2]}),
        case="who",
        event="what",
        order="when",
    )
    assert events.to_lists() == [["c", "a", "e"], ["b", "d"]]
    assert events.tied_order == 2
    assert events.describe().tied_order == 2


def test_sorted_rows_stay_in_place_and_ties_do_not_cross_cases(make):
    columns = {"case": ["x", "x", "y", "y"], "event": list("badc"), "time": [1, 5, 5, 5]}
    events = read_events(make(columns))
    assert events.to_lists() == [["b", "a"], ["d", "c"]]
    assert events.tied_order == 1


def test_row_order_on_request(make):
    columns = {"case": ["x", "x"], "event": ["b", "a"], "time": [2, 1]}
    assert read_events(make(columns)).to_lists() == [["a", "b"]]
    assert read_events(make(columns), order=False).to_lists() == [["b", "a"]]


def test_numbers_are_labels(make):
    events = read_events(make({"case": [10, 10, 9], "event": [7, 30, 7]}))
    assert events.ids == ("10", "9")
    assert events.labels == ("30", "7")
    assert events.to_lists() == [["7", "30"], ["7"]]


def test_floats_and_truth_values_as_python_writes_them(make):
    events = read_events(make({"case": ["x"] * 3, "event": [1.0, 0.1, 1e300]}))
    assert events.to_lists() == [["1.0", "0.1", "1e+300"]]
    assert read_events(make({"case": ["x"] * 2, "event": [True, False]})).to_lists() == [["True", "False"]]


def test_lists_a_row(make):
    events = read_events(make({"id": [3, 4, 4], "events": [["b", "a"], [], ["b"]]}))
    assert events.to_lists() == [["b", "a"], [], ["b"]]
    assert events.ids == ("3", "4", "4")
    without = read_events(make({"steps": [[2], [10, 2]]}), event="steps")
    assert without.to_lists() == [["2"], ["10", "2"]]
    assert without.ids == ("0", "1")


def test_declared_vocabulary(make):
    columns = {"case": ["x", "x"], "event": ["b", "a"]}
    assert read_events(make(columns), labels=["c", "b", "a"]).labels == ("a", "b", "c")
    with pytest.raises(UnknownLabelError, match="unknown label 'b'"):
        read_events(make(columns), labels=["a", "c"])


def test_no_rows(make):
    if make is OnlyAnArray or make is pandas.DataFrame:
        columns = {"case": np.array([], dtype="int64"), "event": np.array([], dtype="int64")}
    else:
        columns = {"case": pyarrow.array([], "string"), "event": pyarrow.array([], "string")}
    events = read_events(make(columns), labels=["a"])
    assert (len(events), events.n_events, events.labels) == (0, 0, ("a",))


def test_missing_values(make):
    columns = {"case": ["x", "x", "x"], "event": ["a", None, None]}
    with pytest.raises(DataError) as error:
        read_events(make(columns))
    assert str(error.value) == (
        "column 'event' of the table has no value in 2 rows, the first is row 2 "
        "(the first row of data is 1); fill or drop them"
    )


def test_wrong_column(make):
    with pytest.raises(DataError) as error:
        read_events(make({"user": ["x"], "page": ["a"]}), case="usr", event="page")
    assert str(error.value).startswith("the table has no column 'usr'; the columns are ")
    assert str(error.value).endswith("; did you mean 'user'?")
    assert "'user'" in str(error.value)
    assert "'page'" in str(error.value)
