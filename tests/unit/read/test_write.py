"""Events written and read again are the same events, or refused with what to do."""

import gzip
import json
import os
import re
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

import summarkov as sm
from summarkov.errors import DataError, SettingError, StoreError
from summarkov.events import EventSequences
from summarkov.events.attributes import Attributes
from summarkov.events.moments import BILLIONTHS, WHOLE_NUMBERS, Moments, TimeUnit

TEXT = st.text(max_size=5)
_ODD = [
    "",
    " ",
    "a\nb",
    "\r\n",
    "\r",
    '"',
    "a,b;c",
    "\t",
    "-1",
    "-2",
    "#x",
    "@ITEM=1=x",
    "é",
    "e\u0301",
    "NA",
]
AWKWARD = st.sampled_from([*_ODD, "\ufeff", "007", "7", "\u2028", "\x85"])
LABELS = st.one_of(st.sampled_from("AB"), AWKWARD, TEXT)
LISTS = st.lists(st.tuples(st.one_of(AWKWARD, TEXT), st.lists(st.one_of(LABELS), max_size=5)), max_size=5)

FORMATS = ["csv", "tsv", "parquet", "jsonl"]
PACKED = ["", ".gz", ".zst"]


def events_of(pairs):
    return sm.EventSequences.from_lists([labels for _, labels in pairs], ids=[name for name, _ in pairs])


def holds(events, format):
    """Whether a format can hold these events, said once more and in other words than in the code."""
    used = [*events.ids, *(label for labels in events for label in labels)]
    if format == "jsonl":
        return not any("\ud800" <= c <= "\udfff" for text in used for c in text)
    surrogate = re.compile("[\ud800-\udfff]")
    return (
        not any(surrogate.search(text) for text in used)
        and all(list(events))
        and len(set(events.ids)) == len(events)
        and all(name.strip() for name in events.ids)
    )


@pytest.mark.parametrize("format", FORMATS)
@given(pairs=LISTS, packed=st.sampled_from(PACKED))
def test_round_trip(format, pairs, packed):
    events = events_of(pairs)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"events.{format}{'' if format == 'parquet' else packed}"
        if holds(events, format):
            sm.write_events(events, path)
            assert sm.read_events(path) == events
            assert os.listdir(folder) == [path.name]
        else:
            with pytest.raises(DataError):
                sm.write_events(events, path)
            assert os.listdir(folder) == []


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


EVENTS = {"ann": ["a", "b <c>"], "bob": ["b <c>"]}
WRITTEN = {
    "events.csv": '"sequence","position","event"\n"ann",1,"a"\n"ann",2,"b <c>"\n"bob",1,"b <c>"\n',
    "events.tsv": '"sequence"\t"position"\t"event"\n"ann"\t1\t"a"\n"ann"\t2\t"b <c>"\n"bob"\t1\t"b <c>"\n',
    "events.jsonl": '{"id": "ann", "events": ["a", "b <c>"]}\n{"id": "bob", "events": ["b <c>"]}\n',
}


@pytest.mark.parametrize("name", WRITTEN)
def test_what_is_written(here, name):
    sm.write_events(EVENTS, name)
    assert Path(name).read_text() == WRITTEN[name]
    sm.write_events(EVENTS, f"{name}.gz")
    assert gzip.decompress(Path(f"{name}.gz").read_bytes()).decode() == WRITTEN[name]


def test_parquet_is_a_long_table(here):
    sm.write_events(EVENTS, "events.parquet")
    assert pyarrow.parquet.read_table("events.parquet").to_pydict() == {
        "sequence": ["ann", "ann", "bob"],
        "position": [1, 2, 1],
        "event": ["a", "b <c>", "b <c>"],
    }


TWINS = sm.EventSequences.from_lists([["a"], ["a"]], ids=["x", "x"])
ONE = [["a"]]
REFUSED = [
    ({"x": []}, "e.csv", DataError, "sequence 'x' is empty, which .* write .jsonl, or leave such"),
    (TWINS, "e.parquet", DataError, "2 sequences are named 'x', which .* would make one; write .jsonl, or"),
    ([["\ud800"]], "e.csv", DataError, "a label .* holds '.ud800', half of a character, .*; mend the data"),
    (ONE, "e.dat", SettingError, "cannot tell the format of e.dat; let its name end in one of .csv, .tsv, "),
    (ONE, "e.txt", SettingError, "events are not written as text, SPMF or XES, .*; use one of .csv, .tsv, "),
    (
        ONE,
        "e.parquet.gz",
        SettingError,
        "e.parquet.gz: Parquet packs its columns itself; let the name end in",
    ),
    (ONE, "no/e.csv", StoreError, "no/e.csv: cannot be written .No such file or directory.$"),
]


@pytest.mark.parametrize(("events", "name", "kind", "message"), REFUSED)
def test_what_cannot_be_written(here, events, name, kind, message):
    if "/" not in name:
        Path(name).write_text("what stood there before")
    with pytest.raises(kind, match=f"^{message}"):
        sm.write_events(events, name)
    if "/" not in name:
        assert Path(name).read_text() == "what stood there before"
    assert len(list(here.iterdir())) == ("/" not in name)


def test_events_of_no_known_label(here):
    events = sm.read_events([["a", "b"]]).recode(["a"], unknown="ignore")
    with pytest.raises(DataError, match="some events have a label outside the vocabulary"):
        sm.write_events(events, "e.jsonl")


# ------------------------------------------------------------------ ticks, times, attributes, weights

DAY = 86400 * 10**9
UNITS = [*(TimeUnit(size, True) for size in (1, 10**3, 10**6, 10**9, DAY)), WHOLE_NUMBERS, BILLIONTHS]
NAMES = ["age=below 30", "age=30 to <50", "age=50 or more", "region=(missing)", "region=", "region=a=b"]


@st.composite
def data_sets(draw, empty):
    """Events with or without ticks, times, attributes and weights; ``empty``: some hold nothing."""
    some = st.lists(
        st.lists(st.sampled_from("abc"), min_size=1 - empty, max_size=3), min_size=1 - empty, max_size=4
    )
    lists = draw(st.lists(some, min_size=1, max_size=4))
    if not draw(st.booleans()):
        lists = [[tick[0] for tick in sequence if tick] or ["a"] for sequence in lists]
    ids = draw(st.lists(st.text("xyz", min_size=1), min_size=len(lists), max_size=len(lists), unique=True))
    events = EventSequences.from_lists(lists, ids=ids)
    if draw(st.booleans()):
        unit = draw(st.sampled_from(UNITS))
        far = 20_000 if unit.size == DAY else 10**9
        starts = np.ones(events.n_rows, bool) if events.moments is None else events.moments.starts
        times = []
        for first, last in zip(events.offsets[:-1], events.offsets[1:], strict=True):
            now = draw(st.integers(-far, far))
            for start in starts[first:last].tolist():
                now += draw(st.integers(0, 3)) if start else 0
                times.append(now)
        has_empty = events.moments is not None and events.moments.has_empty
        moments = Moments(starts, np.array(times, np.int64), unit, has_empty=has_empty)
        events = events.but(moments=moments)
    if draw(st.booleans()):
        ages, regions = (
            draw(st.lists(st.sampled_from(some), min_size=len(lists), max_size=len(lists)))
            for some in (NAMES[:3], NAMES[3:])
        )
        regions[0] = "region=a=b"  # an attribute that no sequence has is refused
        names = sorted({*ages, *regions})
        present = [[name in both for name in names] for both in zip(ages, regions, strict=True)]
        events = events.with_attributes(Attributes(names, present))
    if draw(st.booleans()):
        events = events.with_weights(
            draw(st.lists(st.sampled_from([0, 0.25, 3]), min_size=len(lists), max_size=len(lists)))
        )
    return events


def how_to_read(events):
    columns = None if events.attributes is None else list(events.attributes.columns)
    weight = None if events.weights is None else "weight"
    return {
        "times": events.times is not None,
        "attributes": columns,
        "weight": weight,
        "labels": events.labels,
    }


@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet", "jsonl", "jsonl.gz"])
@given(data=st.data())
def test_files_of_all_that_events_may_have(ending, data):
    events = data.draw(data_sets(empty=ending.startswith("jsonl")))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"log.{ending}")
        sm.write_events(events, path)
        assert sm.read_events(path, **how_to_read(events)) == events
        if events.times is None or not ending.startswith("jsonl"):
            with sm.scan_events(path, **how_to_read(events)) as source:
                assert (source.n_events, source.n_sequences) == (events.n_events, len(events))
                assert source.has_ticks == (events.moments is not None and events.moments.has_ticks)
                assert source.tied_order == 0


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
@given(data=st.data())
def test_frames(library, data):
    pytest.importorskip(library)
    events = data.draw(data_sets(empty=False))
    assert sm.read_events(events.to_frame(library), **how_to_read(events)) == events


def test_what_the_columns_are_called():
    events = EventSequences.from_lists([["a", ["b", "c"]]])
    frame = events.to_frame("pyarrow")
    assert frame.column_names == ["sequence", "tick", "event"]
    assert sm.read_events(frame) == events
    assert sm.read_events(frame, ties="in row order").to_lists() == [["a", "b", "c"]]
    table = pa.table({"case": [1, 1, 1], "event": ["a", "b", "c"], "position": [2, 1, 3], "Time": [5, 5, 4]})
    found = sm.read_events(table)
    assert (found.to_lists(), found.origin.order) == ([["c", "b", "a"]], ("Time", "position"))


def test_empty_ticks_are_rows_without_events_in_frames_only(tmp_path):
    events = EventSequences.from_lists([["a", [], "b"]])
    assert events.to_frame("pyarrow").column("event").to_pylist() == ["a", None, "b"]
    with pytest.raises(DataError, match=r"a tick is empty, .*; write .jsonl"):
        sm.write_events(events, tmp_path / "log.csv")


def test_an_attribute_must_not_take_the_name_of_another_column(tmp_path):
    given = Attributes(["time=1"], [[True]])
    for name in ("log.csv", "log.parquet"):
        with pytest.raises(
            DataError, match=r"there is an attribute 'time', and .*; read it under another name"
        ):
            sm.write_events(EventSequences.from_lists([["a"]]).with_attributes(given), tmp_path / name)


def test_times_of_json_lines(tmp_path):
    path = tmp_path / "log.jsonl"
    path.write_text('{"events": ["a", ["b", "c"]], "when": ["2024-01-01", "2024-01-02T12:00:00"]}\n')
    found = sm.read_events(path, order_by="when", times=True)
    assert (found.times[1:] - found.times[0]).tolist() == [1.5 * DAY / found.moments.unit.size] * 2
    for line, message in (
        ('["a"]', r"line 1: expected 'times', a list of 1 times, one per event"),
        ('{"events": ["a", "b"], "times": [1]}', r"line 1: expected 'times', a list of 2 times"),
        (
            '{"id": "x", "events": ["a", "b"], "times": [2, 1]}',
            r"'times' of .* run backwards in sequence 'x'",
        ),
        ('{"events": ["a", "b"], "times": ["2024-01-01", "yesterday"]}', r"'yesterday'"),
    ):
        path.write_text(f"{line}\n")
        for read in (sm.read_events, sm.scan_events):
            with pytest.raises(DataError, match=message):
                read(path, times=True)


def test_times_of_json_lines_in_a_stream(tmp_path, monkeypatch):
    """Whole numbers first, others later: all are read as the same kind, in whatever parts they come."""
    monkeypatch.setattr("summarkov.read.lines._EVENTS", 7)
    rng, lines = np.random.default_rng(1), []
    for case in range(40):
        events = [str(label) for label in rng.choice([*"abc"], 6)]
        times = np.cumsum(rng.integers(1, 4, 6)) / (1 if case < 30 else 4)
        lines.append(json.dumps({"id": f"s{case}", "events": [*events, ["a", "b"]], "times": [*times, 99]}))
    path = tmp_path / "log.jsonl"
    path.write_text("\n".join(lines).replace(".0,", ","))
    events = sm.read_events(path, times=True)
    model = sm.InfluenceGraph(sm.BSuMM(lookback="3", gamma=0.1))
    with sm.scan_events(path, times=True) as source:
        streamed = sm.InfluenceGraph(sm.BSuMM(lookback="3", gamma=0.1)).fit(source)
    assert streamed.to_document() == model.fit(events).to_document()
    assert len(streamed.edges_) > 0
