"""What happened together, and when, is counted alike in memory and streamed, wherever sequences are cut."""

import json
from datetime import datetime, timedelta

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv, parquet

import summarkov as sm
import summarkov.engines
from summarkov.errors import DataError
from summarkov.events.moments import BILLIONTHS, WHOLE_NUMBERS, TimeUnit

pytestmark = pytest.mark.cut_off

START = datetime(2024, 1, 1)
#: How times are written, and what they are measured in.
KINDS = {
    "whole": (lambda t: t, WHOLE_NUMBERS, 1),
    "float": (lambda t: t + 0.5, BILLIONTHS, 10**9),
    "text": (str, WHOLE_NUMBERS, 1),
    "clock": (lambda t: START + timedelta(hours=t), TimeUnit(1000, is_clock=True), 3600 * 10**6),
    "date": (lambda t: (START + timedelta(days=t)).date(), TimeUnit(86400 * 10**9, is_clock=True), 1),
}


def made(seed=1, n=12):
    """Sequences of ticks: times, and the labels of each."""
    rng = np.random.default_rng(seed)
    sequences = []
    for length in rng.integers(1, 14, size=n).tolist():
        times = np.cumsum(rng.integers(1, 5, size=length)).tolist()
        ticks = [sorted(rng.choice(list("DBCA"), size=rng.integers(1, 4), replace=False)) for _ in times]
        sequences.append(list(zip(times, [[str(label) for label in tick] for tick in ticks], strict=True)))
    return sequences


def table_of(sequences, kind="whole", seed=2):
    """One row per event, in any order, and some of them twice."""
    rows = [
        (f"case {k}", label, KINDS[kind][0](time))
        for k, sequence in enumerate(sequences)
        for time, tick in sequence
        for label in tick
    ]
    case, event, when = zip(*rows, strict=True)
    table = pa.table({"case": case, "event": event, "time": when})
    rng = np.random.default_rng(seed)
    chosen = np.append(np.arange(len(rows)), rng.integers(len(rows), size=len(rows) // 4))
    rng.shuffle(chosen)
    return table.take(pa.array(chosen))


def whole(events):
    """By its name each sequence of (time, label, begins a tick)."""
    found = {}
    times = [None] * events.n_rows if events.times is None else events.times.tolist()
    labels = [events.labels[code] for code in events.codes.tolist()]
    starts = [True] * events.n_rows if events.moments is None else events.moments.starts.tolist()
    rows = list(zip(times, labels, starts, strict=True))
    for name, start, stop in zip(events.ids, events.offsets[:-1], events.offsets[1:], strict=True):
        found[name] = rows[start:stop]
    return found


def models(data, path):
    """The files of some models."""
    found = []
    for model in (sm.BSuMM(lookback=2), sm.BSuMM(lookback="5"), sm.CSuMM(lookback=None), sm.TreeSuMM()):
        sm.InfluenceGraph(model).fit(data).save(path)
        found.append(json.loads(path.read_text()))
    return found


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("memory", [1, 2**30])
def test_ticks_and_times_of_rows(kind, memory, tmp_path):
    sequences = made()
    table = table_of(sequences, kind)
    _, unit, step = KINDS[kind]
    zero = {"clock": int(START.timestamp()) * 10**6, "date": (START - datetime(1970, 1, 1)).days}.get(kind, 0)
    timed = {
        f"case {k}": [
            (int((time + (kind == "float") / 2) * step) + zero, label, at == 0)
            for time, tick in sequence
            for at, label in enumerate(tick)
        ]
        for k, sequence in enumerate(sequences)
    }
    events = sm.read_events(table, ties="together", times=True)
    assert (events.moments.unit, events.tied_order) == (unit, 0)
    assert sorted(events.ids) == sorted(timed)
    for name, sequence in zip(events.ids, events.to_lists(), strict=True):
        assert sequence == [list(tick) for _, tick in sequences[int(name.split()[1])]]
    half = len(table) // 2
    parquet.write_table(table[:half], tmp_path / "0.parquet")
    parquet.write_table(table[half:], tmp_path / "1.parquet")
    csv.write_csv(table, tmp_path / "all.csv")
    for path in (tmp_path / "*.parquet", tmp_path / "all.csv"):
        with sm.scan_events(path, ties="together", times=True, memory=memory, names=True) as source:
            assert source.has_ticks
            rows = path if path.suffix == ".csv" else table
            assert source.time_unit == sm.read_events(rows, ties="together", times=True).moments.unit
            assert source.n_events == events.n_events
            assert source.n_ticks == events.n_ticks
            assert source.label_counts.tolist() == events.label_counts.tolist()
            assert source.time_unit != unit or whole(source) == timed


def test_nested_lists(tmp_path):
    lists = [["b", ["c", "a", "c"], "a"], [], [["a", "b"]]]
    (tmp_path / "log.jsonl").write_text("".join(json.dumps(one) + "\n" for one in lists))
    events = sm.read_events(lists)
    assert events.to_lists() == [[["b"], ["a", "c"], ["a"]], [], [["a", "b"]]]
    assert sm.read_events(tmp_path / "log.jsonl") == events
    with sm.scan_events(tmp_path / "log.jsonl") as source:
        assert (source.has_ticks, source.time_unit, source.n_ticks) == (True, None, events.n_ticks)
        assert source == events


@pytest.mark.parametrize(
    ("time", "message"),
    [([1, 2**62, 3], "too large to be times"), ([1.0, float("inf"), 3.0], "too large to be times")],
)
def test_times_that_do_not_fit_are_refused(time, message, tmp_path):
    table = pa.table({"case": ["x"] * 3, "event": list("abc"), "time": time})
    parquet.write_table(table, tmp_path / "log.parquet")
    for read in (sm.read_events, sm.scan_events):
        with pytest.raises(DataError, match=message):
            read(tmp_path / "log.parquet", times=True)


def with_attributes(table):
    """The rows of a table with a region and an age per case, of which some are missing."""
    number = [int(name.split()[1]) for name in table.column("case").to_pylist()]
    regions = [["north", "south", None][k % 3] for k in number]
    return table.append_column("region", [regions]).append_column("age", [[7 * k % 31 for k in number]])


@pytest.mark.parametrize("ties", ["together", "in row order"])
@pytest.mark.parametrize("memory", [3000, 2**30])
def test_attributes(ties, memory, tmp_path):
    table = with_attributes(table_of(made(seed=4, n=40)))
    asked = {"attributes": ["region", "age"], "ties": ties, "times": True, "cuts": {"age": [10, 20]}}
    events = sm.read_events(table, **asked)
    assert events.attributes.names == (
        "age=10 to <20",
        "age=20 or more",
        "age=below 10",
        "region=(missing)",
        "region=north",
        "region=south",
    )
    parquet.write_table(table, tmp_path / "log.parquet")
    with sm.scan_events(tmp_path / "log.parquet", memory=memory, **asked) as source:
        stream, held = sm.engines.MemorySource(source), sm.engines.MemorySource(events)
        assert source.attributes == events.attributes
        assert stream.labels == held.labels
        assert stream.label_counts.tolist() == held.label_counts.tolist()
        assert source.codes.tolist() == events.codes.tolist()
        assert models(source, tmp_path / "model.json") == models(events, tmp_path / "model.json")
        few = [label for label in stream.labels if label not in ("A", "region=north", "age=below 10")]
        recoded = [each.recode(few, unknown="ignore") for each in (stream, held)]
        tables = [str(sm.BSuMM("B", lookback=2).fit(each).table_) for each in recoded]
        assert tables[0] == tables[1]


def test_attributes_that_change_or_clash_are_refused(tmp_path):
    table = with_attributes(table_of(made(n=3)))
    changed = table.set_column(3, "region", [["north"] + ["south"] * (len(table) - 1)])
    parquet.write_table(changed, tmp_path / "changed.parquet")
    with pytest.raises(DataError, match=r"'region' of .* changes during case 'case \d'"):
        sm.scan_events(tmp_path / "changed.parquet", attributes=["region"])
    named = pa.table({"case": ["x"], "event": ["region=north"], "region": ["north"]})
    parquet.write_table(named, tmp_path / "named.parquet")
    with pytest.raises(DataError, match="both a label and the name of an attribute"):
        sm.scan_events(tmp_path / "named.parquet", attributes=["region"])
