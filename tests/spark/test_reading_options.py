"""The settings of reading on Spark: what they make of rows is what they make of them in memory."""

import datetime

import numpy as np
import pyarrow as pa
import pytest

import summarkov as sm
from on_workers import scan
from summarkov.engines import MemorySource, StatesRequest, Target
from summarkov.engines.memory import make_source
from summarkov.errors import DataError, SettingError, TiesWarning

N = 80


def log(seed=3):
    """Rows in any order, each with all kinds of columns."""
    draw = np.random.default_rng(seed)
    case = draw.integers(6, size=N)
    day = draw.integers(1, 10, size=N)
    start = datetime.datetime(2024, 1, 1)
    activity = draw.choice(["ask", "pay", "walk"], size=N).tolist()
    activity[5] = activity[17] = None
    return pa.table(
        {
            "case": case,
            "activity": pa.array(activity, pa.string()),
            "lifecycle:transition": draw.choice(["start", "COMPLETE", "complete"], size=N).tolist(),
            "day": [f"{d}/1/2024" for d in day.tolist()],
            "hour": draw.integers(3, size=N),
            "row": draw.permutation(N),
            "at": [start + datetime.timedelta(hours=int(h)) for h in draw.integers(30, size=N)],
            "region": [f"r{c % 3}" for c in case.tolist()],
            "age": pa.array([None if c == 2 else 20 + 10 * c for c in case.tolist()], pa.int64()),
            "weight": [1.0 + c for c in case.tolist()],
        }
    )


READ = {
    "several order columns": {"order": ["hour", "row"]},
    "a format of dates, then a number": {"order": ["day", "row"], "date_format": "%d/%m/%Y"},
    "ties in row order": {"order": "hour", "ties": "in row order"},
    "ties together": {"order": "hour", "ties": "together"},
    "ties of several columns together": {
        "order": ["hour", "day"],
        "date_format": "%d/%m/%Y",
        "ties": "together",
    },
    "lifecycle": {"order": "row", "lifecycle": "complete"},
    "labels joined": {"order": "row", "event": ["activity", "lifecycle:transition"], "separator": " / "},
    "a label for missing ones": {"order": "row", "missing": "nobody"},
    "without duplicates": {"order": "hour", "ties": "in row order", "drop_duplicates": True},
    "days as text without duplicates": {
        "order": "day",
        "date_format": "%d/%m/%Y",
        "ties": "in row order",
        "drop_duplicates": True,
    },
    "times": {"order": ["at", "row"], "times": True},
    "attributes": {"order": "row", "attributes": ["region", "age"], "cuts": {"age": [30, 50]}},
    "weights": {"order": "row", "weight": "weight", "lifecycle": "complete"},
    "sessions": {"order": ["at", "row"], "session_gap": "3h", "attributes": ["region"], "weight": "weight"},
    "sessions of days as text": {"order": ["day", "row"], "date_format": "%d/%m/%Y", "session_gap": "1 day"},
    "sessions and quartiles": {"order": ["at", "row"], "session_gap": "3h", "attributes": ["age"]},
    "closed by labels": {"order": "row", "closed_by": ["pay"]},
    "open since a time": {"order": ["at", "row"], "open_since": "2024-01-02"},
    "a table of attributes": {"order": "row", "attributes": {"case": [0, 1, 3], "sex": ["f", None, "m"]}},
}


#: Those that Spark itself is asked for; all are asked of what its workers do.
ON_SPARK = ["several order columns", "ties in row order", "attributes", "sessions"]


def same(source, events, how):
    memory = make_source(events)
    assert source.labels == memory.labels
    assert source.label_counts.tolist() == memory.label_counts.tolist()
    assert (source.n_sequences, source.tied_order) == (len(events), events.tied_order)
    assert (source.n_events, source.n_positions) == (memory.n_events, memory.n_positions)
    assert (source.has_ticks, source.time_unit) == (memory.has_ticks, memory.time_unit)
    assert source.attributes == memory.attributes
    told, expected = source.origin, events.origin
    assert (told.unlabelled, told.other_lifecycle) == (expected.unlabelled, expected.other_lifecycle)
    assert (told.caseless, told.dropped) == (expected.caseless, expected.dropped)
    assert told.to_dict() == expected.to_dict()
    summary = sm.OSuMM(lookback="5h" if how.get("times") else 3).make_summary()
    targets = Target((len(memory.labels) - 1,), len(memory.labels))
    requests = [StatesRequest(summary, (0, 1), targets)]
    (mine,), (others,) = source.count(requests), memory.count(requests)
    assert mine.keys.tolist() == others.keys.tolist()
    assert [t.tolist() for t in mine.tables] == [t.tolist() for t in others.tables]


@pytest.mark.parametrize("kind", READ)
def test_equal_to_memory(monkeypatch, kind):
    how = {"case": "case", "event": "activity", "missing": "skip"} | READ[kind]
    same(scan(monkeypatch, log(), **how), sm.read_events(log(), **how), how)


@pytest.mark.parametrize("kind", ON_SPARK)
def test_equal_to_memory_on_spark(spark, kind):
    how = {"case": "case", "event": "activity", "missing": "skip"} | READ[kind]
    with sm.scan_spark(spark.createDataFrame(log()), partitions=2, **how) as source:
        same(source, sm.read_events(log(), **how), how)


BLANKS = ["", " ", "\t", "\u00a0", "\u3000", "\x1c", None]


def test_rows_without_a_case(spark):
    cases = [*BLANKS, "x", "y", "x ", *BLANKS]
    n = len(cases)
    time = [None if not (case or "").strip() else at for at, case in enumerate(cases)]
    rows = [(case, "ab"[at % 2], time[at]) for at, case in enumerate(cases)]
    frame = spark.createDataFrame(rows, "case string, event string, time long")
    table = pa.table({"case": cases, "event": [row[1] for row in rows], "time": pa.array(time, pa.int64())})
    how = {"missing": "skip", "lifecycle": None}
    events = sm.read_events(table, **how)
    with sm.scan_spark(frame, partitions=2, **how) as source:
        assert (source.n_sequences, source.n_events) == (len(events), events.n_events) == (3, 3)
        assert source.origin.caseless == events.origin.caseless == n - 3
        assert source.origin.unlabelled == 0
    with pytest.raises(DataError, match=r"or only blanks, in some rows.*missing="):
        sm.scan_spark(frame)


def test_many_ties(spark):
    table = log().select(["case", "region", "hour"])
    frame, names = spark.createDataFrame(table), {"case": "case", "event": "region", "order": "hour"}
    with pytest.warns(TiesWarning) as caught, sm.scan_spark(frame, **names) as source:
        n = source.tied_order
    with pytest.warns(TiesWarning):
        events = sm.read_events(table, **names)
    assert n == events.tied_order > 0
    tied = [name for name, labels in zip(events.ids, events.lengths, strict=True) if labels > 3]
    (mine,) = (each for each in caught if each.category is TiesWarning)  # pyspark may warn of others
    assert str(mine.message) == (
        f"{n} events of the dataframe with the same 'hour' as the one before, for example in case "
        f"{min(tied)!r}; they keep the order of the input, which may be an accident; say ties='together' if "
        "they happened at once, or ties='in row order' if the rows are in order"
    )
    with pytest.raises(DataError, match=rf"{n} events of the dataframe with the same 'hour' .*; say ties="):
        sm.scan_spark(frame, **names, ties="error")


@pytest.mark.parametrize(
    ("how", "error", "told"),
    [
        (
            {"weight": "region"},
            DataError,
            r"weight column 'region' of the dataframe holds 'r\d'; a weight is",
        ),
        (
            {"session_gap": "1h"},
            SettingError,
            r"'row' of the dataframe holds numbers, not times; give session",
        ),
        ({"session_gap": 1, "order": False}, SettingError, r"^session_gap needs the time of every event"),
        ({"missing": "error"}, DataError, r"column 'activity' of the dataframe has no value in some rows"),
        (
            {"lifecycle": "done"},
            DataError,
            r"no event of the dataframe has lifecycle='done'; there are 'COMPLETE'",
        ),
        ({"order": "day"}, DataError, r"order column 'day' of the dataframe .*'\d/1/2024'"),
        ({"closed_by": ["x"]}, SettingError, r"closed_by names 'x', which is no label of the data"),
        ({"ties": "error", "order": "hour"}, DataError, r"60 events of the dataframe with the same 'hour'"),
        ({"attributes": ["hour2"]}, DataError, r"the dataframe has no column 'hour2'"),
        (
            {"attributes": ["hour"]},
            DataError,
            r"column 'hour' of the dataframe changes during case '\d': '\d' in one row",
        ),
    ],
)
def test_refused(monkeypatch, how, error, told):
    given = {"case": "case", "event": "activity", "order": "row", "missing": "skip"} | how
    with pytest.raises(error, match=told):
        scan(monkeypatch, log(), **given)


def test_a_dataframe_of_attributes_is_joined_by_spark(spark):
    frame = spark.createDataFrame(log())
    asked = {"case": "case", "event": "activity", "order": "row", "missing": "skip"}
    table = pa.table({"case": [0, 1, 3, 5, 9], "sex": ["f", None, "m", "f", "m"]})
    cases = spark.createDataFrame(table)
    with pytest.raises(SettingError, match=r"join the dataframe of attributes to that of events, frame.join"):
        sm.scan_spark(frame, **asked, attributes=cases)
    events = sm.read_events(log(), **asked, attributes=table)
    with sm.scan_spark(frame.join(cases, "case", "left"), **asked, attributes=["sex"]) as source:
        assert source.attributes == events.attributes.names
        assert source.label_counts.tolist() == MemorySource(events).label_counts.tolist()
