"""Outcomes of sequences are learned alike in memory and streamed, wherever sequences are cut."""

import math
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

import summarkov as sm
from oracle_outcomes import open_cases, told
from summarkov.errors import DataError, SettingError

#: Numbers as the paper counts them.
pytestmark = pytest.mark.cut_off

READING = {"order": "time", "times": True, "ties": "together", "attributes": ["region", "result"]}
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


def twin(rows, asked):
    """Whether each case has the outcome, the ticks looked at, why it is left out, and all of its ticks."""
    cases = {}
    for row in rows.to_pylist():
        ticks, _ = cases.setdefault(row["case"], ({}, row["result"]))
        ticks.setdefault(row["time"], set()).add(row["event"])
    found = [(list(by_time.items()), result) for by_time, result in cases.values()]
    return [(*told(ticks, result, asked, "tick"), ticks) for ticks, result in found]


@pytest.mark.parametrize("window", [(0, None), (0, "3"), ("1", "6"), ("2", None)])
@pytest.mark.parametrize("asked", ASKED.values(), ids=ASKED)
def test_outcomes_are_those_counted_by_hand(asked, window):
    rows, (delay, lookback) = table(), window
    template = sm.BSuMM(lookback=lookback, delay=delay, required=["A", "B"], max_influencers=2)
    model = sm.OutcomeModel(template, **asked).fit(sm.read_events(rows, **READING))
    in_table, left_out, everywhere = {}, {}, []
    for hit, looked_at, reason, ticks in twin(rows, asked):
        if reason is None:
            in_table.setdefault(states(looked_at, window)[-1], [0, 0])[not hit] += 1
        else:
            left_out[reason] = left_out.get(reason, 0) + 1
        reached = [n for n, (_, labels) in enumerate(ticks, 1) if asked.get("contains") in labels]
        everywhere.append((states(ticks, window), hit, 1, min(reached, default=None)))
    assert model.left_out_ == left_out
    assert {row.state: list(row.counts) for row in model.table_} == in_table
    opened, order = model.open_cases, [model.yes, 1 - model.yes]
    for n, expected in enumerate(open_cases(everywhere)):
        keys = [tuple(z for z, level in zip("AB", key, strict=True) if level) for key in opened.keys.tolist()]
        found = dict(zip(keys, opened.counts[n][:, order].tolist(), strict=True))
        assert {state: counts for state, counts in found.items() if any(counts)} == expected


def states(ticks, window):
    """Which of A and B is in the window after each beginning of a sequence, at the time of its last tick."""
    delay, lookback = int(window[0]) if window[0] else -1, math.inf if window[1] is None else int(window[1])
    beginnings = [ticks[:n] for n in range(len(ticks) + 1)]
    seen = [{z for t, tick in b for z in tick if delay < b[-1][0] - t <= lookback} for b in beginnings]
    return [tuple(z for z in "AB" if z in labels) for labels in seen]


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


@pytest.mark.parametrize("asked", ASKED.values(), ids=ASKED)
@pytest.mark.parametrize("memory", [1, 5000])
def test_streams_learn_what_is_learned_in_memory(asked, memory, tmp_path):
    rows = table()
    expected = sm.OutcomeModel(**asked).fit(sm.read_events(rows, **READING)).to_document()
    with scanned(rows, tmp_path, memory) as source:
        assert sm.OutcomeModel(**asked).fit(source).to_document() == expected


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


def test_what_weighs_nothing_is_never_drawn(tmp_path):
    rows = table()
    weights = [int(name[-2:]) % 3 for name in rows["case"].to_pylist()]
    rows = rows.append_column("weight", pa.array(weights))
    template = sm.BSuMM(lookback=None, required=["A"])
    model, found = sm.OutcomeModel(template, **ASKED["column"]), []
    for some in (rows, rows.filter(pa.array([weight > 0 for weight in weights]))):
        events = sm.read_events(some, **READING, weight="weight")
        found.append(model.fit(events).confidence(events, n=9))
    with scanned(rows, tmp_path, weight="weight") as source:
        found.append(model.fit(source).confidence(source, n=9))
    assert found[0] == found[1] == found[2]


def test_weights_of_a_column_are_those_in_memory(tmp_path):
    rows = table()
    numbers = [int(name[-2:]) for name in rows["case"].to_pylist()]
    rows = rows.append_column("weight", pa.array([0.5 + number % 3 for number in numbers]))
    events = sm.read_events(rows, **READING, weight="weight")
    model = sm.OutcomeModel(**ASKED["column"]).fit(events)
    with scanned(rows, tmp_path, weight="weight") as source:
        streamed = sm.OutcomeModel(**ASKED["column"]).fit(source)
        assert streamed.to_document() == model.to_document()
        assert streamed.confidence(source, n=5) == model.confidence(events, n=5)
    hits = [(hit, 0.5 + number % 3) for number, (hit, *_) in enumerate(twin(rows, ASKED["column"]))]
    known = [(hit, weight) for hit, weight in hits if hit is not None]
    share = sum(weight for hit, weight in known if hit) / sum(weight for _, weight in known)
    assert model.base_rate_ == pytest.approx(share, rel=1e-9)
    assert sum(model.left_out_.values()) == 3


def test_what_a_stream_cannot_be_asked(tmp_path):
    with scanned(table(), tmp_path) as source:
        with pytest.raises(DataError, match="there are 40 sequences but 2 outcomes"):
            sm.OutcomeModel(value="x").fit(source, ["x", "y"])
        with pytest.raises(DataError, match="no attribute 'resalt'; did you mean 'result'"):
            sm.OutcomeModel(outcome="resalt").fit(source)
        with pytest.raises(SettingError, match="is an attribute of sequences, and not a label of events"):
            sm.OutcomeModel(ends_with="region=n").fit(source)
