"""Outcomes of sequences are learned alike in memory and streamed, wherever sequences are cut."""

from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

import summarkov as sm
from summarkov.errors import DataError, SettingError

pytestmark = pytest.mark.cut_off

READING = {"order_by": "time", "times": True, "ties": "together", "attributes": ["region", "result"]}
#: How outcomes are told.
ASKED = {
    "column": {"outcome": "result", "value": "bad"},
    "column, beginnings": {"outcome": "result", "value": "bad", "after": 3},
    "last": {"ends_with": "D"},
    "last, beginnings": {"ends_with": "D", "after": 2},
    "contained": {"contains": "C"},
    "contained, beginnings": {"contains": "C", "after": 2},
    "contained, at an age": {"contains": "C", "after": "5"},
}


def table(n=40, seed=3):
    """Cases of ticks with times, one region per case, and a result, which some do not have."""
    rng = np.random.default_rng(seed)
    rows = []
    for case in range(n):
        region, time, seen = "ns"[case % 2], 0, set()
        ticks = []
        for _ in range(int(rng.integers(1, 9))):
            time += int(rng.integers(1, 5))
            ticks.append((time, sorted(rng.choice(list("ABCD"), size=rng.integers(1, 4), replace=False))))
            seen |= set(ticks[-1][1])
        chance = 0.85 if "A" in seen and region == "n" else 0.15
        result = None if case % 15 == 0 else "bad" if rng.random() < chance else "good"
        rows += [(f"case {case:02}", str(x), t, region, result) for t, tick in ticks for x in tick]
    names = ("case", "event", "time", "region", "result")
    return pa.table(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)))


def test_a_tree_asks_of_beginnings_at_the_same_times():
    events = sm.read_events(table(200), **READING)
    asked = {"lookbacks": ("3",), "counts": (), "pairs": False, "starts": (), "candidates": list("ABCD")}
    tree = sm.TreeSuMM(gamma=0.01, max_depth=1, **asked)
    model = sm.OutcomeModel(tree, **ASKED["column"]).fit(events)
    (label,) = model.influencers_
    plain = sm.BSuMM(lookback="3", required=[label], candidates=[label])
    expected = sm.OutcomeModel(plain, **ASKED["column"]).fit(events)
    for after in (None, 1, 4):
        tables = [sorted(row.counts for row in each.open_table(after)) for each in (model, expected)]
        assert tables[0] == tables[1]
        assert len(tables[0]) == 2
    assert sorted(row.counts for row in model.table_) == sorted(row.counts for row in expected.table_)


def scanned(rows, folder, memory=2**30, **reading):
    """The rows in three files, streamed."""
    cuts = [len(rows) * number // 3 for number in range(4)]
    for start, stop in pairwise(cuts):
        parquet.write_table(rows[start:stop], folder / f"{start:04}.parquet")
    return sm.scan_events(folder, memory=memory, **READING, **reading)


@pytest.mark.parametrize("asked", ["column", "contained, beginnings"])
def test_so_are_trees_windows_in_time_confidence_and_order(asked, tmp_path):
    rows, settings = table(), ASKED[asked]
    events = sm.read_events(rows, **READING)
    with scanned(rows, tmp_path, 5000) as source:
        for data in (events, source):
            tree = sm.OutcomeModel(sm.TreeSuMM(), **settings).fit(data).to_document()
            near = sm.OutcomeModel(sm.BSuMM(lookback="6", required=["A"]), **settings).fit(data)
            sure, tested = near.confidence(data, n=5), near.order_test(data, n=19)
            found = tree, near.to_document(), sure, tested
            if data is events:
                expected = found
    assert found == expected
    assert [edge.influencer for edge in tested.edges] == ["A"]


def test_what_a_stream_cannot_be_asked(tmp_path):
    with scanned(table(), tmp_path) as source:
        with pytest.raises(DataError, match="there are 40 sequences but 2 outcomes"):
            sm.OutcomeModel(value="x").fit(source, ["x", "y"])
        with pytest.raises(DataError, match="no attribute 'resalt'; did you mean 'result'"):
            sm.OutcomeModel(outcome="resalt").fit(source)
        with pytest.raises(SettingError, match="is an attribute of sequences, and not a label of events"):
            sm.OutcomeModel(ends_with="region=n").fit(source)
