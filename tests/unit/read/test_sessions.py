"""Cases cut into sessions by a gap of time."""

from datetime import datetime, timedelta

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracle_preparation as oracle
from summarkov.errors import SettingError
from summarkov.read import read_events

#: What is said of many ties is the topic of test_ties_warning.
pytestmark = pytest.mark.filterwarnings("ignore::summarkov.errors.TiesWarning")

ROWS = st.lists(st.tuples(st.sampled_from("xyz"), st.sampled_from("AB"), st.integers(-5, 30)), max_size=25)


def table(rows, kind=None):
    case, event, time = zip(*rows, strict=True) if rows else ((), (), ())
    text = pa.string()
    return pa.table(
        {
            "case": pa.array(case, text),
            "event": pa.array(event, text),
            "time": pa.array(time, kind or pa.int64()),
        }
    )


def as_dict(events):
    return dict(zip(events.ids, events.to_lists(), strict=True))


@given(rows=ROWS, gap=st.integers(0, 12), half=st.booleans())
def test_numbers(rows, gap, half):
    gap = gap + 0.5 if half else gap
    expected = oracle.sessions(rows, gap)
    assert as_dict(read_events(table(rows), session_gap=gap)) == expected
    assert as_dict(read_events(table(rows, pa.float64()), session_gap=gap)) == expected
    assert as_dict(read_events(table(rows), session_gap=str(gap))) == expected


@given(rows=ROWS, minutes=st.integers(0, 12), unit=st.sampled_from(["s", "ms", "us", "ns"]))
def test_times(rows, minutes, unit):
    expected = oracle.sessions(rows, minutes)
    times = [(case, label, datetime(2024, 1, 1) + timedelta(minutes=at)) for case, label, at in rows]
    column = table(times, pa.timestamp(unit))
    for gap in (f"{minutes}min", 60 * minutes, timedelta(minutes=minutes), f"{60000 * minutes} ms"):
        assert as_dict(read_events(column, session_gap=gap)) == expected
    assert (
        as_dict(
            read_events(table([(c, e, str(t)) for c, e, t in times], pa.string()), session_gap=60 * minutes)
        )
        == expected
    )


def test_differences_that_do_not_fit_are_exact():
    least, most = -(2**63), 2**63 - 1
    rows = [("x", "A", least), ("x", "B", 0), ("x", "C", most)]
    assert read_events(table(rows), session_gap=2.0**62).to_lists() == [["A"], ["B"], ["C"]]
    assert read_events(table(rows), session_gap=2.0**63).to_lists() == [["A", "B", "C"]]
    assert read_events(table(rows), session_gap=2**63 - 1).to_lists() == [["A"], ["B", "C"]]
    unsigned = table([("x", "A", 0), ("x", "B", 2**64 - 1)], pa.uint64())
    assert read_events(unsigned, session_gap=2**64 - 2).to_lists() == [["A"], ["B"]]
    assert read_events(unsigned, session_gap=2**64).to_lists() == [["A", "B"]]


def test_infinite_places():
    rows = table(
        [("x", label, at) for label, at in zip("ABCD", [-np.inf, -np.inf, 0.0, np.inf], strict=True)],
        pa.float64(),
    )
    assert read_events(rows, session_gap=5).to_lists() == [["A", "B"], ["C"], ["D"]]


@pytest.mark.parametrize(
    "given", ["", "soon", "-1s", -1, float("nan"), float("inf"), 10**400, True, [1], timedelta(-1), "1 month"]
)
def test_gaps_that_cannot(given):
    with pytest.raises(SettingError, match="session_gap must be a time such as '30min'"):
        read_events(table([]), session_gap=given)


def test_what_has_no_times(tmp_path):
    rows = [("x", "A", 0)]
    with pytest.raises(SettingError, match="order column 'time' of the table holds numbers, not times; give"):
        read_events(table(rows), session_gap="5min")
    with pytest.raises(
        SettingError, match="for session_gap the place of every event must be known, and the table has"
    ):
        read_events(table(rows), order_by=False, session_gap=5)
    with pytest.raises(
        SettingError, match="times, session_gap and drop_duplicates are about columns, and a list"
    ):
        read_events([["A"]], session_gap=5)
    assert read_events(table([*rows, ("x", "A", 9)], pa.decimal128(5)), session_gap=5).ids == ("x/1", "x/2")
    (tmp_path / "log.jsonl").write_text("[]\n")
    with pytest.raises(SettingError, match=r"log\.jsonl a line is a whole sequence"):
        read_events(tmp_path / "log.jsonl", session_gap=5)
