"""Grouping and sorting of rows against a plain dict of lists."""

import numpy as np
import pyarrow
import pytest
from hypothesis import given
from hypothesis import strategies as st

from summarkov.errors import DataError
from summarkov.read import read_events
from summarkov.read.ordering import group, tied

#: What is said of many ties is the topic of test_ties_warning.
pytestmark = pytest.mark.filterwarnings("ignore::summarkov.errors.TiesWarning")

ROWS = st.lists(st.tuples(st.integers(0, 5), st.integers(-3, 3)), max_size=40)


@given(ROWS, st.booleans())
def test_group_and_sort(rows, sort):
    cases: dict[int, list[int]] = {}
    for row, (case, _) in enumerate(rows):
        cases.setdefault(case, []).append(row)
    for numbers in cases.values():
        numbers.sort(key=lambda row: rows[row][1] if sort else 0)
    case, order = (np.array([row[i] for row in rows], dtype=np.int32) for i in (0, 1))
    moved, starts, found = group(case, [order] if sort else ())
    moved = np.arange(len(rows)) if moved is None else moved
    assert moved.tolist() == [row for numbers in cases.values() for row in numbers]
    assert found.tolist() == list(cases)
    assert np.diff(np.append(starts, len(rows))).tolist() == [len(numbers) for numbers in cases.values()]
    if rows and sort:
        ties = sum(len(numbers) - len({rows[row][1] for row in numbers}) for numbers in cases.values())
        assert tied([order[moved]], starts).sum() == ties


def test_rows_in_place_are_not_sorted():
    assert group(np.array([5, 5, 2, 9]))[0] is None
    assert group(np.array([5, 5, 2, 9]), [np.array([1, 1, 0, -4])])[0] is None
    assert group(np.array([5, 5, 2, 9]), [np.array([2, 1, 0, -4])])[0].tolist() == [1, 0, 2, 3]
    assert group(np.array([5, 2, 5]))[0].tolist() == [0, 2, 1]


@pytest.mark.parametrize(
    ("column", "message"),
    [
        (pyarrow.array([True]), "order column 'time' of the table holds bool; it must hold numbers"),
        (pyarrow.array([[1]]), "order column 'time' of the table holds list<"),
        (pyarrow.array(["1", "x" * 99]), f"row 2 of the data holds '{'x' * 40}'; write all of it as numbers"),
        (pyarrow.array([1, None, None]), "'time' of the table has no value in 2 rows, the first is row 2"),
        (pyarrow.array([1.5, float("nan")]), "column 'time' of the table has no value in 1 row"),
        (pyarrow.nulls(1), "column 'time' of the table has no value in 1 row"),
    ],
    ids=str,
)
def test_order_that_is_none(column, message):
    table = {"case": ["x"] * len(column), "event": ["a"] * len(column), "time": column}
    with pytest.raises(DataError) as error:
        read_events(pyarrow.table(table))
    assert message in str(error.value)
