"""Whatever one way of reading makes of an order column, every other way makes of it too."""

from __future__ import annotations

import datetime as dt
import decimal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import summarkov as sm
from summarkov.errors import DataError, SummarkovError

duckdb = pytest.importorskip("duckdb")
pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")

#: What is said of many ties is the topic of test_ties_warning.
pytestmark = [pytest.mark.cut_off, pytest.mark.filterwarnings("ignore::summarkov.errors.TiesWarning")]

CASES = ["a", "b", "a", "b", "a", "b"]  # never together, so that rows must be grouped
EVENTS = ["p", "q", "r", "s", "t", "u"]

#: Three times for each case, and the events of case a in order, or what the refusal says.
TEXTS = {
    "numbers": (["3", "1", "10"], "rpt"),
    "padded": ([" 3", "1\t", "10 "], "rpt"),
    "plus": (["+3", "1", "10"], "rpt"),
    "floats": (["3", "1.5", "10"], "rpt"),
    "exponents": (["3e0", "1", "1e1"], "rpt"),
    "infinite": (["3", "-inf", "inf"], "rpt"),
    "nan": (["3", "nan", "1"], "row 3 of the data holds 'nan'"),
    "NaN": (["3", "NaN", "1"], "row 3 of the data holds 'NaN'"),
    "NaT": (["2024-01-02", "NaT", "2024-01-01"], "row 3 of the data holds 'NaT'"),
    "missing": (["3", None, "1"], ", the first is row 3 "),
    "words": (["3", "soon", "1"], "row 3 of the data holds 'soon'"),
    "truth": (["true", "false", "true"], "row 1 of the data holds 'true'"),
    "clock": (["09:30", "09:00", "10:00"], "rpt"),
    "clock with fractions": (["09:00:00.5", "09:00:00.25", "10:00:00"], "rpt"),
    "clock and dates": (["09:00", "2024-01-01", "10:00"], "row 1 of the data holds '09:00'"),
    "dates": (["2024-01-03", "2024-01-02", "2024-01-10"], "rpt"),
    "other dates": (["03.01.2024", "2024/01/02", "2024-01-10"], "rpt"),
    "zones": (["2024-01-01T02:00+01:00", "2024-01-01T00:30Z", "2024-01-01T01:30-01:00"], "rpt"),
    "zones in part": (["2024-01-01T02:00+01:00", "2024-01-01T00:30", "2024-01-01"], "row 1 of the data"),
    "nanoseconds": (["2024-01-01T00:00:00.000000002", "2024-01-01T00:00:00.000000001", "2024-01-02"], "rpt"),
    "numbers and dates": (["3", "2024-01-01", "1"], "row 1 of the data holds '3'"),
    "beyond 2^53": (["9007199254740993", "9007199254740992", "9007199254740994"], "rpt"),
    "floats beyond 2^53": (["9007199254740993", "0.5", "9007199254740992"], "rpt"),  # two are a tie
    "beyond 2^63": (["18446744073709551615", "1", "18446744073709550000"], "rtp"),
    "long": (["3", "x" * 2000, "2"], "row 3 of the data holds 'xxxx"),
}


KNOWN = (", the first is row", ": row", ": event", "; it must hold numbers, dates or times")


def outcome(read) -> tuple[object, ...]:
    """The labels of every case in order and the ties; or the refusal, whatever the source is called."""
    try:
        return read()
    except SummarkovError as refused:
        words = str(refused)
        return type(refused), next(words[words.index(known) :] for known in KNOWN if known in words)


def in_memory(source, **settings) -> tuple[object, ...]:
    events = sm.read_events(source, **settings)
    return dict(zip(events.ids, map("".join, events.to_lists()), strict=True)), events.tied_order


def streamed(path: Path, scratch: Path, memory: int = 1 << 20) -> tuple[object, ...]:
    with sm.scan_events(
        path, case="case", event="event", order_by="time", memory=memory, scratch=scratch, names=True
    ) as source:
        return dict(zip(source.ids, map("".join, source.to_lists()), strict=True)), source.tied_order


def columns_of(times: list[str | None]) -> dict[str, list[str | None]]:
    return {"case": CASES, "event": EVENTS, "time": [time for time in times for _ in "ab"]}


def csv_of(path: Path, columns) -> Path:
    rows = [
        "case,event,time",
        *(",".join(cell or "" for cell in row) for row in zip(*columns.values(), strict=True)),
    ]
    path.write_text("\n".join(rows) + "\n")
    return path


def xes_of(path: Path, columns) -> Path:
    traces = []
    for case in "ab":
        rows = [row for row in zip(*columns.values(), strict=True) if row[0] == case]
        events = "".join(
            f'<event><string key="concept:name" value="{event}"/><string key="time" value="{time}"/></event>'
            for _, event, time in rows
        )
        traces.append(f'<trace><string key="concept:name" value="{case}"/>{events}</trace>')
    path.write_text(f"<log>{''.join(traces)}</log>")
    return path


def text_types() -> list[pa.DataType]:
    return [pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int32(), pa.string())]


@pytest.mark.parametrize("name", TEXTS)
def test_text(tmp_path, name):
    times, expected = TEXTS[name]
    columns = columns_of(times)
    table = pa.table(columns)
    ways = {"pyarrow": lambda: in_memory(table)}
    csv = csv_of(tmp_path / "log.csv", columns)
    ways |= {"csv": lambda: in_memory(csv), "csv streamed": lambda: streamed(csv, tmp_path)}
    ways["csv in little memory"] = lambda: streamed(csv, tmp_path, 1)
    ways["pandas"] = lambda: in_memory(pd.DataFrame(columns))
    ways["pandas objects"] = lambda: in_memory(pd.DataFrame(columns, dtype=object))
    ways["pandas categories"] = lambda: in_memory(pd.DataFrame(columns).astype({"time": "category"}))
    ways["polars"] = lambda: in_memory(pl.DataFrame(columns))
    ways["polars categories"] = lambda: in_memory(
        pl.DataFrame(columns).with_columns(pl.col("time").cast(pl.Categorical))
    )
    ways["duckdb"] = lambda: in_memory(duckdb.from_arrow(table))
    for number, kind in enumerate(text_types()):
        typed = table.set_column(2, "time", table.column("time").cast(kind))
        parquet = tmp_path / f"{number}.parquet"
        pq.write_table(typed, parquet)
        ways[f"{kind}"] = lambda typed=typed: in_memory(typed)
        ways[f"{kind} in Parquet"] = lambda path=parquet: in_memory(path)
        ways[f"{kind} streamed"] = lambda path=parquet: streamed(path, tmp_path)
        ways[f"{kind} in little memory"] = lambda path=parquet: streamed(path, tmp_path, 1)
    if None not in times:
        xes = xes_of(tmp_path / "log.xes", columns)
        if isinstance(outcome(ways["pyarrow"])[0], dict):  # the rows of a refusal have other numbers there
            ways["xes"] = lambda: in_memory(xes, order_by="time")
        else:
            refusal, told = outcome(lambda: in_memory(xes, order_by="time"))
            assert issubclass(refusal, DataError)
            assert told.startswith(": event")
    found = {way: outcome(read) for way, read in ways.items()}
    assert found == dict.fromkeys(ways, found["pyarrow"])
    first, second = found["pyarrow"]
    assert first["a"] == expected if isinstance(first, dict) else expected in second


_ZONED = [dt.datetime(2024, 1, 1, hour, tzinfo=dt.UTC) for hour in (3, 1, 10)]
#: Columns that are not text, each of three times for both cases.
TYPED = {
    "int64": pa.array([2**53 + 1, 2**53, 2**53 + 2]),
    "uint64": pa.array([2**64 - 1, 2**63, 5], pa.uint64()),
    "int8": pa.array([3, -1, 10], pa.int8()),
    "float": pa.array([3.5, -1.0, float("inf")]),
    "float32": pa.array([3.5, -1.0, 10.0], pa.float32()),
    "nan": pa.array([3.5, float("nan"), 1.0]),
    "missing": pa.array([3, None, 1]),
    "date32": pa.array([dt.date(2024, 1, day) for day in (3, 1, 10)]),
    "timestamp": pa.array([moment.replace(tzinfo=None) for moment in _ZONED], pa.timestamp("us")),
    "seconds": pa.array([moment.replace(tzinfo=None) for moment in _ZONED], pa.timestamp("s")),
    "zoned": pa.array(_ZONED, pa.timestamp("us", "Europe/Berlin")),
    "NaT": pa.array([_ZONED[0], None, _ZONED[1]], pa.timestamp("us", "UTC")),
    "time": pa.array([dt.time(9, 30), dt.time(9), dt.time(10)]),
    "duration": pa.array([dt.timedelta(hours=hours) for hours in (3, 1, 10)]),
    "decimal": pa.array([decimal.Decimal(text) for text in ("3.50", "1.25", "10.00")]),
    "categories of numbers": pa.array([10, 9, 11]).dictionary_encode(),
    "truth": pa.array([True, False, True]),
    "bytes": pa.array([b"3", b"1", b"2"]),
}


@pytest.mark.parametrize("name", TYPED)
def test_types(tmp_path, name):
    times = TYPED[name].take(pa.array([0, 0, 1, 1, 2, 2]))
    table = pa.table({"case": CASES, "event": EVENTS, "time": times})
    path = tmp_path / "log.parquet"
    pq.write_table(table, path)
    ways = {
        "pyarrow": lambda: in_memory(table),
        "Parquet": lambda: in_memory(path),
        "streamed": lambda: streamed(path, tmp_path),
        "pandas": lambda: in_memory(table.to_pandas()),
        "pandas of Arrow": lambda: in_memory(table.to_pandas(types_mapper=pd.ArrowDtype)),
        "polars": lambda: in_memory(pl.from_arrow(table)),
        "duckdb": lambda: in_memory(duckdb.from_arrow(table)),
    }
    if name == "duration":  # DuckDB makes of it an interval of months, days and nanoseconds
        del ways["duckdb"]
    if name != "decimal":  # a case that does not fit into memory cannot be sorted by these
        ways["in little memory"] = lambda: streamed(path, tmp_path, 1)
    kept = {way: outcome(read) for way, read in ways.items()}
    if isinstance(kept["pyarrow"][0], dict):
        assert kept == dict.fromkeys(ways, kept["pyarrow"])
        keys = np.array(TYPED[name].to_pylist())
        assert kept["pyarrow"][0]["a"] == "".join(np.array(list("prt"))[np.argsort(keys, kind="stable")])
    else:
        assert {found[0] for found in kept.values()} == {DataError}


def test_nan_far_from_the_beginning(tmp_path):
    rows = [f"{'ab'[i % 2]},x,{i}" for i in range(3000)]
    rows[2500] = "a,x,nan"
    csv = tmp_path / "log.csv"
    csv.write_text("\n".join(["case,event,time", *rows]) + "\n")
    ways = [
        outcome(lambda: in_memory(csv)),
        *(outcome(lambda m=m: streamed(csv, tmp_path, m)) for m in (1, 1 << 22)),
    ]
    assert ways == [(DataError, ways[0][1])] * 3
    assert ": row 2501 of the data holds 'nan'" in ways[0][1]


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
