"""Outcomes of the sequences of a Spark dataframe: the model that is learned in memory, to the last bit."""

import numpy as np
import pytest

import summarkov as sm

pd = pytest.importorskip("pandas")


def cases(n=60, seed=5):
    """One row per event: a case that has A in the north mostly ends badly; some results are not known."""
    rng = np.random.default_rng(seed)
    rows = []
    for case in range(n):
        events = rng.choice(list("ABCD"), size=rng.integers(1, 9)).tolist()
        region = "ns"[case % 2]
        chance = 0.9 if "A" in events and region == "n" else 0.1
        result = None if case % 20 == 0 else "bad" if rng.random() < chance else "good"
        rows += [(f"{case:02}", event, time, region, result) for time, event in enumerate(events)]
    return pd.DataFrame(rows, columns=["case", "event", "time", "region", "result"])


def test_outcomes_equal_to_memory(spark):
    frame = cases()
    reading = {"order_by": "time", "attributes": ["region", "result"]}
    events = sm.read_events(frame, **reading)
    with sm.scan_spark(spark.createDataFrame(frame), partitions=3, **reading) as source:
        for asked in (
            {"outcome": "result", "value": "bad"},
            {"contains": "A", "after": 2},
            {"ends_with": "A"},
        ):
            model = sm.OutcomeModel(**asked).fit(events)
            assert sm.OutcomeModel(**asked).fit(source).to_document() == model.to_document()
        near = sm.OutcomeModel(sm.BSuMM(lookback=2, required=["A"]), outcome="result", value="bad")
        expected = near.fit(events).confidence(events, n=4)
        assert near.fit(source).confidence(source, n=4) == expected
    assert len(expected.edges) > 0


def test_ticks_and_look_backs_in_time(spark):
    """Two events of each case happen together, every third one late: only windows in time tell them apart."""
    frame = cases(seed=6)
    frame["time"] = frame["time"] // 2 * 3 + frame["time"] // 5 * 20
    reading = {"order_by": "time", "times": True, "ties": "together", "attributes": ["region", "result"]}
    events = sm.read_events(frame, **reading)
    templates = [
        sm.BSuMM(lookback="4", required=["A"], candidates=["A"]),
        sm.BSuMM(lookback="9", delay="3", required=["A"], given=["region"]),
        sm.TreeSuMM(lookbacks=("4", "9", None)),
    ]
    with sm.scan_spark(spark.createDataFrame(frame), partitions=3, **reading) as source:
        for template in templates:
            model = sm.OutcomeModel(template, outcome="result", value="bad")
            expected = model.copy().fit(events).to_document()
            assert model.copy().fit(source).to_document() == expected
