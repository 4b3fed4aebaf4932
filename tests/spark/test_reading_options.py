"""The settings of reading on Spark: what they make of rows is what they make of them in memory."""

import datetime

import numpy as np
import pyarrow as pa
import pytest

import summarkov as sm
from summarkov.engines import MemorySource, StatesRequest, Target
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
    "times": {"order": ["at", "row"], "times": True},
    "attributes": {"order": "row", "attributes": ["region", "age"], "cuts": {"age": [30, 50]}},
}


@pytest.mark.parametrize("kind", READ)
def test_equal_to_memory(spark, kind):
    how = {"case": "case", "event": "activity", "missing": "skip"} | READ[kind]
    table = log()
    events = sm.read_events(table, **how)
    memory = MemorySource(events)
    with sm.scan_spark(spark.createDataFrame(table), partitions=2, **how) as source:
        assert source.labels == memory.labels
        assert source.label_counts.tolist() == memory.label_counts.tolist()
        assert (source.n_sequences, source.tied_order) == (len(events), events.tied_order)
        assert (source.n_events, source.n_positions) == (memory.n_events, memory.n_positions)
        assert (source.has_ticks, source.time_unit) == (memory.has_ticks, memory.time_unit)
        assert source.attributes == memory.attributes
        told, expected = source.origin, events.origin
        assert (told.unlabelled, told.other_lifecycle) == (expected.unlabelled, expected.other_lifecycle)
        assert told.to_dict() == expected.to_dict()
        summary = sm.OSuMM(lookback="5h" if how.get("times") else 3).make_summary()
        targets = Target((len(memory.labels) - 1,), len(memory.labels))
        requests = [StatesRequest(summary, (0, 1), targets)]
        (mine,), (others,) = source.count(requests), memory.count(requests)
        assert mine.keys.tolist() == others.keys.tolist()
        assert [t.tolist() for t in mine.tables] == [t.tolist() for t in others.tables]


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
            {"weight": "weight"},
            SettingError,
            r"^weight=, session_gap and a table of attributes need .* write it",
        ),
        ({"session_gap": "1h"}, SettingError, r"^weight=, session_gap and a table of attributes need"),
        ({"attributes": {"case": [1], "sex": ["f"]}}, SettingError, r"^weight=, session_gap and a table of"),
        ({"missing": "error"}, DataError, r"column 'activity' of the dataframe has no value in 2 rows"),
        (
            {"lifecycle": "done"},
            DataError,
            r"no event of the dataframe has lifecycle='done'; there are 'COMPLETE'",
        ),
        ({"order": "day"}, DataError, r"order column 'day' of the dataframe .*'\d/1/2024'"),
        ({"attributes": ["hour2"]}, DataError, r"the dataframe has no column 'hour2'"),
        (
            {"attributes": ["hour"]},
            DataError,
            r"column 'hour' of the dataframe changes during case '\d': '\d' in one row",
        ),
    ],
)
def test_refused(spark, how, error, told):
    given = {"case": "case", "event": "activity", "order": "row", "missing": "skip"} | how
    with pytest.raises(error, match=told):
        sm.scan_spark(spark.createDataFrame(log()), **given)
