"""Grouping and sorting of rows against a plain dict of lists."""

import datetime
import itertools
from decimal import Decimal

import numpy as np
import pyarrow
import pytest
from hypothesis import given
from hypothesis import strategies as st

from summarkov.errors import DataError
from summarkov.read import read_events
from summarkov.read.ordering import group, sort_keys, stable_order, tied

#: What is said of many ties is the topic of test_ties_warning.
pytestmark = pytest.mark.filterwarnings("ignore::summarkov.errors.TiesWarning")

ROWS = st.lists(st.tuples(st.integers(0, 5), st.integers(-3, 3)), max_size=40)


def naive(rows):
    """Row numbers by case of first appearance, sorted stably by key, and the number of ties."""
    cases: dict[int, list[int]] = {}
    for row, (case, _) in enumerate(rows):
        cases.setdefault(case, []).append(row)
    for numbers in cases.values():
        numbers.sort(key=lambda row: rows[row][1])
    ties = sum(
        rows[before][1] == rows[after][1]
        for numbers in cases.values()
        for before, after in itertools.pairwise(numbers)
    )
    return cases, ties


def arrays(rows):
    return (np.array([row[i] for row in rows], dtype=np.int32) for i in (0, 1))


@given(ROWS)
def test_group_by_case(rows):
    case, _ = arrays(rows)
    expected, _ = naive([(case, 0) for case, _ in rows])
    moved, offsets, cases = group(case)
    moved = np.arange(len(rows)) if moved is None else moved
    assert moved.tolist() == [row for numbers in expected.values() for row in numbers]
    assert cases.tolist() == list(expected)
    assert np.diff(offsets).tolist() == [len(numbers) for numbers in expected.values()]


@given(ROWS)
def test_group_and_sort(rows):
    expected, ties = naive(rows)
    case, order = arrays(rows)
    moved, offsets, cases = group(case, [order])
    moved = np.arange(len(rows)) if moved is None else moved
    assert moved.tolist() == [row for numbers in expected.values() for row in numbers]
    assert cases.tolist() == list(expected)
    if rows:
        assert tied([order[moved]], offsets[:-1]).sum() == ties


def test_rows_in_place_are_not_sorted():
    assert group(np.array([5, 5, 2, 9]))[0] is None
    assert group(np.array([5, 5, 2, 9]), [np.array([1, 1, 0, -4])])[0] is None
    assert group(np.array([5, 5, 2, 9]), [np.array([2, 1, 0, -4])])[0].tolist() == [1, 0, 2, 3]
    assert group(np.array([5, 2, 5]))[0].tolist() == [0, 2, 1]


@given(st.lists(st.integers(0, 2**31 - 1), max_size=30))
def test_stable_order(keys):
    keys = np.array(keys, dtype=np.int32)
    assert stable_order(keys).tolist() == np.argsort(keys, kind="stable").tolist()


def day(number):
    return datetime.datetime(2024, 1, number)


@pytest.mark.parametrize(
    "column",
    [
        pyarrow.array([10, -9, 10], pyarrow.int8()),
        pyarrow.array([2**64 - 1, 2**63, 2**64 - 1], pyarrow.uint64()),
        pyarrow.array([0.5, float("-inf"), 0.5], pyarrow.float32()),
        pyarrow.array([Decimal("10.5"), Decimal("9.75"), Decimal("10.50")]),
        pyarrow.array([day(10), day(9), day(10)], pyarrow.date32()),
        pyarrow.array([day(10), day(9), day(10)], pyarrow.date64()),
        pyarrow.array([day(10), day(9), day(10)], pyarrow.timestamp("s")),
        pyarrow.array([day(10), day(9), day(10)], pyarrow.timestamp("ns", "Europe/Berlin")),
        pyarrow.array([10, 9, 10], pyarrow.duration("us")),
        pyarrow.array([10, 9, 10], pyarrow.time32("s")),
        pyarrow.array([10, 9, 10], pyarrow.time64("ns")),
        pyarrow.array(["10", "9", "10"]),
        pyarrow.array(["10", "9.5", "1e1"], pyarrow.large_string()),
        pyarrow.array(["10", "9", "10"], pyarrow.string_view()),
        pyarrow.array(["2024-01-10 18:30:00.5", "2024-01-09", "2024-01-10T18:30:00.500"]),
        pyarrow.array(["2024-01-10T08:00:00+09:00", "2024-01-09T22:00:00Z", "2024-01-10T00:00:00+01:00"]),
        pyarrow.array(
            [
                "2024-01-10 00:00:00.000000002",
                "2024-01-10 00:00:00.000000001",
                "2024-01-10 00:00:00.000000002",
            ]
        ),
        pyarrow.array(["10", "9", "10"]).dictionary_encode(),
    ],
    ids=lambda column: f"{column.type} {column[:1].cast(pyarrow.string())[0]}",
)
def test_kinds_of_order(column):
    keys = sort_keys(pyarrow.chunked_array([column[:1], column[1:]]), "time", "the table")
    assert keys[0] > keys[1]
    assert keys[0] == keys[2]
    events = read_events(pyarrow.table({"case": ["x"] * 3, "event": list("abc"), "time": column}))
    assert events.to_lists() == [["b", "a", "c"]]
    assert events.tied_order == 1


@pytest.mark.parametrize(
    ("column", "message"),
    [
        (pyarrow.array([True]), "order column 'time' of the table holds bool; it must hold numbers"),
        (pyarrow.array([[1]]), "order column 'time' of the table holds list<"),
        (pyarrow.array(["1", "x" * 99]), f"row 2 of the data holds '{'x' * 40}'; write all of it as numbers"),
        (
            pyarrow.array([1, None, None]),
            "column 'time' of the table has no value in 2 rows, the first is row 2",
        ),
        (pyarrow.array([1.5, float("nan")]), "column 'time' of the table has no value in 1 row"),
        (pyarrow.nulls(1), "column 'time' of the table has no value in 1 row"),
    ],
    ids=str,
)
def test_order_that_is_none(column, message):
    with pytest.raises(DataError) as error:
        sort_keys(pyarrow.chunked_array([column]), "time", "the table")
    assert message in str(error.value)
