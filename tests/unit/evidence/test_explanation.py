"""One prediction explained, on data small enough to count by hand; and the marks of states hardly seen."""

import dataclasses
import json
import re

import pytest

import summarkov as sm
from summarkov.evidence import Active, Counterfactual, seen

#: Numbers as the paper counts them.
pytestmark = pytest.mark.cut_off

# B follows A 24 times of 30, and A then X 3 times of 6; otherwise never.
EVENTS = (
    [["A", "B"]] * 24 + [["A", "C"]] * 6 + [["A", "X", "B"]] * 3 + [["A", "X", "C"]] * 3 + [["C", "C"]] * 40
)


@pytest.fixture(scope="module")
def model() -> sm.BSuMM:
    return sm.BSuMM("B", lookback=2, required=["A", "X"], candidates=[]).fit(EVENTS)


def test_in_words(model):
    assert str(Active("A", (1,), (9,))) == "A just before"
    assert str(Active("A", (2,), (8,))) == "A 2 events before"
    assert str(Active("A", (1, 3, 4), (9, 7, 6))) == "A 1, 3 and 4 events before"
    assert str(Active("A", (2, 3), (8, 7), "tick")) == "A 2 and 3 ticks before"
    assert str(Active("A", (1, 3), (9, 7), "tick", ("0s", "5h"))) == "A 0s and 5h before"
    lines = str(model.explain(["A", "X"])).split("\n")
    assert lines[0].endswith("in history state: A, X (seen 6 times, hardly)")
    assert lines[1] == "  had A not occurred: never seen; the prior alone says 50.0%"
    assert lines[2].startswith("  had X not occurred: 66.6% (49.0% to 81.4%")
    now = Counterfactual("A", True, (), "A", 9, 0.25, (0.1, 0.5), "hardly")
    assert str(now) == "had A occurred just now: 25.0% (10.0% to 50.0%, hardly seen)"
    json.dumps(dataclasses.asdict(model.explain(["A", "X"])), allow_nan=False)
    # a label within the delay does not count yet, so nothing is said about it
    delayed = sm.BSuMM("B", lookback=3, delay=1, required=["A", "X"], candidates=[]).fit(EVENTS)
    assert [(c.label, c.occurred) for c in delayed.explain(["A", "C"]).counterfactuals] == [("A", False)]


def test_marks(model):
    assert [seen(n) for n in (0, 0.5, 9.9, 10, 1000)] == ["never", "hardly", "hardly", "often", "often"]
    assert [seen(n, 40.0) for n in (0, 39, 40)] == ["never", "hardly", "often"]
    assert [(row.n, row.seen) for row in model.table_] == [(116, "often"), (36, "often"), (6, "hardly")]
    lines = repr(model.table_).splitlines()
    assert lines[-1].endswith(" to 88.2%  hardly seen")
    shares = [re.findall("[0-9.]+%", line)[0] for line in lines[-3:]]
    assert shares == ["0%", "66.7%", "50.0%"]  # as counted: 0 of 116, 24 of 36, 3 of 6
    assert [row.seen for row in model.table_] == ["often", "often", "hardly"]
    cautious = sm.BSuMM("B", lookback=2, alpha=20, required=["A", "X"], candidates=[]).fit(EVENTS)
    assert [row.seen for row in cautious.table_] == ["often", "hardly", "hardly"]  # the prior counts for 40
