"""What is made of the values of an order column, in memory and streamed.

That all other ways of reading make the same of them is compared by ``fuzz.differential``, which
``test_differential`` runs.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import decimal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import summarkov as sm
from summarkov.errors import DataError, SummarkovError

#: What is said of many ties is the topic of test_ties_warning.
pytestmark = pytest.mark.filterwarnings("ignore::summarkov.errors.TiesWarning")

CASES = ["a", "b", "a", "b", "a", "b"]  # never together, so that rows must be grouped
EVENTS = ["p", "q", "r", "s", "t", "u"]

#: Three times for each case, and the events of case a in order, or what the refusal says.
TEXTS = {
    "padded numbers": ([" 3", "1\t", "10 "], "rpt"),
    "plus": (["+3", "1", "10"], "rpt"),
    "floats": (["3", "1.5", "10"], "rpt"),
    "exponents": (["3e0", "1", "1e1"], "rpt"),
    "infinite": (["3", "-inf", "inf"], "rpt"),
    "nan": (["3", "nan", "1"], "row 3 of the data holds 'nan'"),
    "NaT": (["2024-01-02", "NaT", "2024-01-01"], "row 3 of the data holds 'NaT'"),
    "missing": (["3", None, "1"], ", the first is row 3 "),
    "words": (["3", "soon", "1"], "row 3 of the data holds 'soon'"),
    "truth": (["true", "false", "true"], "row 1 of the data holds 'true'"),
    "clock": (["09:30", "09:00", "10:00"], "rpt"),
    "clock with fractions": (["09:00:00.5", "09:00:00.25", "10:00:00"], "rpt"),
    "clock and dates": (["09:00", "2024-01-01", "10:00"], "row 1 of the data holds '09:00'"),
    "dates": (["03.01.2024", "2024/01/02", "2024-01-10"], "rpt"),
    "zones": (["2024-01-01T02:00+01:00", "2024-01-01T00:30Z", "2024-01-01T01:30-01:00"], "rpt"),
    "zones in part": (["2024-01-01T02:00+01:00", "2024-01-01T00:30", "2024-01-01"], "row 1 of the data"),
    "nanoseconds": (["2024-01-01T00:00:00.000000002", "2024-01-01T00:00:00.000000001", "2024-01-02"], "rpt"),
    "numbers and dates": (["3", "2024-01-01", "1"], "row 1 of the data holds '3'"),
    "beyond 2^53": (["9007199254740993", "9007199254740992", "9007199254740994"], "rpt"),
    "floats beyond 2^53": (["9007199254740993", "0.5", "9007199254740992"], "rpt"),  # two are a tie
    "beyond 2^63": (["18446744073709551615", "1", "18446744073709550000"], "rtp"),
    "long": (["3", "x" * 2000, "2"], "row 3 of the data holds 'xxxx"),
}


def found_by(ways):
    """The labels of case a in order and the ties, or the refusal but for the name of the source; alike."""

    def outcome(read):
        try:
            with read() as events:
                return "".join(events.to_lists()[events.ids.index("a")]), events.tied_order
        except SummarkovError as refused:
            words = str(refused)
            known = (", the first is row", ": row", "; it must hold numbers, dates or times")
            return type(refused), next(words[words.index(each) :] for each in known if each in words)

    first, *others = map(outcome, ways)
    assert others == [first] * len(others)
    return first


def in_memory(source):
    return contextlib.nullcontext(sm.read_events(source))


def streamed(path, memory=1 << 20):
    return sm.scan_events(path, memory=memory, scratch=path.parent, names=True)


@pytest.mark.parametrize("name", TEXTS)
def test_text(tmp_path, name):
    times, expected = TEXTS[name]
    columns = {"case": CASES, "event": EVENTS, "time": [time for time in times for _ in "ab"]}
    csv = tmp_path / "log.csv"
    rows = [",".join(cell or "" for cell in row) for row in zip(*columns.values(), strict=True)]
    csv.write_text("\n".join(["case,event,time", *rows]) + "\n")
    found, more = found_by(
        [
            lambda: in_memory(pa.table(columns)),
            lambda: in_memory(csv),
            lambda: streamed(csv),
            lambda: streamed(csv, 1),
        ]
    )
    assert found == expected if isinstance(found, str) else expected in more


def test_text_in_xes(tmp_path):
    """The rows of a refusal have other numbers there."""
    path = tmp_path / "log.xes"
    for times, _ in TEXTS.values():
        if None in times:
            continue
        events = "".join(
            f'<event><string key="concept:name" value="{event}"/><string key="time" value="{time}"/></event>'
            for event, time in zip("prt", times, strict=True)
        )
        path.write_text(f'<log><trace><string key="concept:name" value="a"/>{events}</trace></log>')
        table = pa.table({"case": ["a"] * 3, "event": [*"prt"], "time": times})
        try:
            expected = sm.read_events(table).to_lists()
        except DataError:
            with pytest.raises(DataError, match=": event "):
                sm.read_events(path, order_by="time")
        else:
            assert sm.read_events(path, order_by="time").to_lists() == expected


_ZONED = [dt.datetime(2024, 1, 1, hour, tzinfo=dt.UTC) for hour in (3, 1, 10)]
#: Columns that are not text, each of three times for both cases.
TYPED = {
    "int64": pa.array([2**53 + 1, 2**53, 2**53 + 2]),
    "uint64": pa.array([2**64 - 1, 2**63, 5], pa.uint64()),
    "float": pa.array([3.5, -1.0, float("inf")]),
    "float32": pa.array([3.5, -1.0, 10.0], pa.float32()),
    "nan": pa.array([3.5, float("nan"), 1.0]),
    "missing": pa.array([3, None, 1]),
    "date32": pa.array([dt.date(2024, 1, day) for day in (3, 1, 10)]),
    "timestamp": pa.array([moment.replace(tzinfo=None) for moment in _ZONED], pa.timestamp("s")),
    "zoned": pa.array(_ZONED, pa.timestamp("us", "Europe/Berlin")),
    "time": pa.array([dt.time(9, 30), dt.time(9), dt.time(10)]),
    "duration": pa.array([dt.timedelta(hours=hours) for hours in (3, 1, 10)]),
    "decimal": pa.array([decimal.Decimal(text) for text in ("3.50", "1.25", "10.00")]),
    "categories of numbers": pa.array([10, 9, 11]).dictionary_encode(),
    "truth": pa.array([True, False, True]),
    "bytes": pa.array([b"3", b"1", b"2"]),
}


@pytest.mark.parametrize("name", TYPED)
def test_types(tmp_path, name):
    table = pa.table({"case": CASES, "event": EVENTS, "time": TYPED[name].take(pa.array([0, 0, 1, 1, 2, 2]))})
    path = tmp_path / "log.parquet"
    pq.write_table(table, path)
    read = [lambda: in_memory(table), lambda: in_memory(path), lambda: streamed(path)]
    found, _ = found_by(read)
    if isinstance(found, str):
        keys = np.array(TYPED[name].to_pylist())
        assert found == "".join(np.array(list("prt"))[np.argsort(keys, kind="stable")])
    else:
        assert (found, name in ("nan", "missing", "truth", "bytes")) == (DataError, True)


def test_nan_far_from_the_beginning(tmp_path):
    rows = [f"{'ab'[i % 2]},x,{i}" for i in range(3000)]
    rows[2500] = "a,x,nan"
    csv = tmp_path / "log.csv"
    csv.write_text("\n".join(["case,event,time", *rows]) + "\n")
    found = found_by([lambda: in_memory(csv), lambda: streamed(csv, 1), lambda: streamed(csv, 1 << 22)])
    assert found[0] is DataError
    assert ": row 2501 of the data holds 'nan'" in found[1]


def test_times_with_and_without_a_zone_in_two_files(tmp_path):
    (tmp_path / "log").mkdir()
    for number, zone in enumerate((None, "UTC")):
        moments = pa.array([1, 2], pa.timestamp("us", zone))
        pq.write_table(
            pa.table({"case": ["a", "a"], "event": ["p", "q"], "time": moments}),
            tmp_path / "log" / f"{number}.parquet",
        )
    with pytest.raises(DataError, match=r"holds timestamp\[us\] in .* and timestamp\[us, tz=UTC\] in"):
        sm.scan_events(tmp_path / "log", scratch=tmp_path)
