"""Text in the order column of a Spark dataframe means what it means to every other reader."""

from __future__ import annotations

import pytest

import summarkov as sm
from summarkov.errors import DataError

#: What is said of many ties is the topic of test_ties_warning.
pytestmark = pytest.mark.filterwarnings("ignore::summarkov.errors.TiesWarning")

CASES, EVENTS = ["a", "b"] * 3, list("pqrstu")


@pytest.mark.parametrize(
    "times",
    [
        [" 3", "1 ", "10"],
        ["09:30", "09:00", "10:00"],
        ["3", "-inf", "inf"],
        ["2024-01-01T02:00+01:00", "2024-01-01T00:30Z", "2024-01-01T01:30-01:00"],
        ["9007199254740993", "9007199254740992", "1"],
    ],
    ids=["padded", "clock", "infinite", "zones", "beyond 2^53"],
)
def test_read_alike(spark, times):
    rows = [
        (case, event, times[number // 2])
        for number, (case, event) in enumerate(zip(CASES, EVENTS, strict=True))
    ]
    table = {"case": CASES, "event": EVENTS, "time": [row[2] for row in rows]}
    import pyarrow as pa

    events = sm.read_events(pa.table(table))
    frame = spark.createDataFrame(rows, "case string, event string, time string")
    with sm.scan_spark(frame) as source:
        model = sm.MarkovChain(("r",), order=1).fit(source)
        assert model.log_likelihood_ == sm.MarkovChain(("r",), order=1).fit(events).log_likelihood_
        assert source.tied_order == events.tied_order


@pytest.mark.parametrize("value", ["nan", "NaN", "soon", "09:00"])
def test_refused_alike(spark, value):
    rows = [("a", "p", "1"), ("a", "q", value), ("a", "r", "2")]
    frame = spark.createDataFrame(rows, "case string, event string, time string")
    with pytest.raises(
        DataError, match="order column 'time' of the dataframe cannot be put in order: a row holds"
    ):
        sm.scan_spark(frame)


def test_cases_with_text_of_different_kinds(spark):
    """Each case could be put in order, and not all of them in the same way."""
    rows = [(f"{case}", "p", "1" if case < 5 else "2024-01-31") for case in range(20)]
    frame = spark.createDataFrame(rows, "case string, event string, time string")
    with pytest.raises(DataError, match="cannot be put in order"):
        sm.scan_spark(frame, partitions=6)
