"""Streamed files give to the last bit what is learned in memory, however they are cut and ordered."""

import itertools
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import csv, parquet

import summarkov as sm
from strategies import EVENT_BYTES, assert_same, data, examples, requests, specs, target_of
from summarkov.engines import MemorySource, StatesRequest, make_source
from summarkov.errors import DataError, SettingError, UnknownLabelError
from summarkov.read.scan import PREFIX

#: What is said of many ties is the topic of test_ties_warning.
pytestmark = [pytest.mark.cut_off, pytest.mark.filterwarnings("ignore::summarkov.errors.TiesWarning")]


@pytest.fixture
def scratch(tmp_path):
    """Where temporary folders are made; none may be left at the end of a test."""
    folder = tmp_path / "scratch"
    folder.mkdir()
    yield folder
    assert list(folder.iterdir()) == []


def long_table(sequences, *, order=True):
    """One row per event, as many columns as asked for."""
    case = [f"case {k}" for k, sequence in enumerate(sequences) for _ in sequence]
    step = [i for sequence in sequences for i, _ in enumerate(sequence)]
    event = list(itertools.chain(*sequences))
    columns = {"case": pa.array(case, pa.string()), "event": pa.array(event, pa.string())}
    return pa.table(columns | ({"order": pa.array(step, pa.int64())} if order else {}))


def write_parts(table, folder, cuts, write=parquet.write_table, ending="parquet"):
    """A table as several files."""
    places = [0, *sorted(cuts), table.num_rows]
    for number, (a, b) in enumerate(itertools.pairwise(places)):
        write(table.slice(a, b - a), folder / f"part-{number:03}.{ending}")


@st.composite
def logs(draw):
    """Sequences without empty ones, which a long table cannot hold, and a way to cut and stream them."""
    events = draw(data(nonempty=True))
    sequences = [sequence for sequence in events.sequences if sequence]
    table = long_table(sequences)
    if draw(st.booleans()):
        table = table.take(pa.array(np.random.default_rng(draw(st.integers(0, 99))).permutation(len(table))))
    cuts = draw(st.lists(st.integers(0, table.num_rows), max_size=3))
    memory = draw(st.sampled_from([1, 2 * EVENT_BYTES, 5 * EVENT_BYTES, 1 << 13, 3 << 12, 1 << 20, 1 << 30]))
    return type(events)(events.labels, sequences), table, cuts, memory


@examples(40)
@given(logs(), st.data(), st.integers(1, 3))
def test_counts_are_those_in_memory(log, draw, n_jobs):
    events, table, cuts, memory = log
    asked = [draw.draw(requests(events, draw.draw(specs(events.labels))))[0] for _ in range(3)]
    local = MemorySource(events.events)
    with tempfile.TemporaryDirectory() as name:
        write_parts(table, Path(name), cuts)
        with sm.scan_events(name, labels=events.labels, memory=memory, scratch=name) as scanned:
            source = make_source(scanned, n_jobs=n_jobs)
            assert source.labels == events.labels
            assert source.label_counts.tolist() == local.label_counts.tolist()
            assert (source.n_sequences, source.n_events) == (local.n_sequences, events.n_events)
            assert source.tied_order == 0
            for got, expected in zip(source.count(asked), local.count(asked), strict=True):
                assert_same(got, expected)
        assert [path for path in os.listdir(name) if path.startswith(PREFIX)] == []


def shop(n=60, length=25):
    from summarkov.simulate.example import web_shop

    return web_shop().simulate(n, length, random_state=3)


def same_counts(source, events):
    request = StatesRequest(
        sm.OSuMM(lookback=None).make_summary(), (0, 1), target_of(events, events.labels[:1])
    )
    (got,), (expected,) = make_source(source).count([request]), MemorySource(events).count([request])
    assert_same(got, expected)
    assert source.labels == events.labels
    assert source.n_sequences == len(events)
    assert source.tied_order == events.tied_order
    return True


@pytest.mark.parametrize(("memory", "n_cases"), [(1, 40), (1 << 30, 2)])
@pytest.mark.parametrize("order", ["number", "text", "date", "none", "decimal"])
def test_any_order_column_shuffled(memory, n_cases, order, tmp_path, scratch):
    """Ties included: what does not fit into memory is sorted in parts, and equal keys stay in order."""
    rng = np.random.default_rng(5)
    n = 120
    case = rng.integers(n_cases, size=n)
    step = rng.integers(30, size=n)
    column = {
        "number": pa.array(step),
        "text": pa.array([str(i) for i in step]),
        "date": pa.array([f"2024-01-{i + 1:02}" for i in step]),
        "none": None,
        "decimal": pa.array(step).cast(pa.decimal128(20, 0)),
    }[order]
    table = pa.table({"case": case, "event": rng.choice(["A", "B", "C", "D"], size=n)})
    if column is not None:
        table = table.append_column("time", column)
    write_parts(table, tmp_path, [50])
    events = sm.read_events(table)
    with sm.scan_events(tmp_path, memory=memory, scratch=scratch) as source:
        assert same_counts(source, events)
    if column is not None:
        assert events.tied_order > 0


@pytest.mark.parametrize("memory", [1, 1 << 30])
def test_other_formats(memory, tmp_path, scratch):
    events = shop(20, 12)
    table = long_table(events.to_lists())
    for name in ("csv", "lines"):
        (tmp_path / name).mkdir()
    write_parts(table, tmp_path / "csv", [3, 77], csv.write_csv, "csv")
    tabs = csv.WriteOptions(delimiter="\t")
    csv.write_csv(table.slice(0, 0), tmp_path / "csv" / "part-9.tsv", tabs)
    first = tmp_path / "csv" / "part-000.csv"  # as Excel writes it
    first.write_bytes(b"\xef\xbb\xbf" + first.read_bytes())
    lines = [json.dumps(sequence) for sequence in events.to_lists()]
    (tmp_path / "lines" / "a.jsonl").write_text("\n".join(lines[:7]))
    (tmp_path / "lines" / "b.jsonl").write_text("\n\n".join(lines[7:]))
    settings = {"memory": memory, "scratch": scratch}
    with sm.scan_events(tmp_path / "csv", **settings) as source:
        assert same_counts(source, events)
    with sm.scan_events(tmp_path / "lines", **settings) as source:
        assert same_counts(source, events)


def test_empty_sequences_and_no_events(tmp_path, scratch):
    (tmp_path / "a.jsonl").write_text('[]\n["A", "B"]\n[]\n[]\n')
    with sm.scan_events(tmp_path / "a.jsonl", memory=1, scratch=scratch) as source:
        assert (source.n_sequences, source.n_events, source.labels) == (4, 2, ("A", "B"))
    parquet.write_table(long_table([["A"]]).slice(0, 0), tmp_path / "b.parquet")
    with sm.scan_events(tmp_path / "b.parquet", labels=["A"], scratch=scratch) as source:
        assert (source.n_sequences, source.n_events, source.labels) == (0, 0, ("A",))
        request = StatesRequest(sm.BSuMM().make_summary(), (), target_of(source, ("A",)))
        nothing = sm.EventSequences([], [0], ["A"])
        assert_same(make_source(source).count([request])[0], MemorySource(nothing).count([request])[0])
        with pytest.raises(DataError, match="no events to learn from"):
            sm.BSuMM("A").fit(source)


def test_a_stream_can_be_closed(tmp_path, scratch):
    parquet.write_table(long_table([["A", "B"]]), tmp_path / "log.parquet")
    source = sm.scan_events(tmp_path / "log.parquet", scratch=scratch)
    assert isinstance(source, sm.EventSequences)
    assert len(list(scratch.iterdir())) == 1
    source.close()
    source.close()
    with pytest.raises(DataError, match="closed"):
        sm.BSuMM("A").fit(source)


def test_what_is_read_is_told(tmp_path, scratch):
    write_parts(long_table(shop(30, 20).to_lists()).take(pa.array(range(600)[::-1])), tmp_path, [200, 400])
    told = []
    sm.scan_events(
        tmp_path, memory=1 << 18, scratch=scratch, progress=lambda *what: told.append(what)
    ).close()
    size = sum(path.stat().st_size for path in tmp_path.glob("*.parquet"))
    assert (size, size, "reading") in told
    assert told[-1] == (600, 600, "grouping")
    grouped = [done for done, _, what in told if what == "grouping"]
    assert grouped == sorted(grouped)


def test_bad_files(tmp_path, scratch):
    def refuse(words, path, error=DataError, **settings):
        with pytest.raises(error, match=words):
            sm.scan_events(path, scratch=scratch, **settings)

    refuse("source must be the path of a file or a folder, a pattern", [["A", "B"]], error=SettingError)
    refuse("there is no file", tmp_path / "no.parquet")
    refuse("no file fits the pattern", tmp_path / "*.parquet")
    refuse("holds no parquet files", tmp_path, format="parquet")
    (tmp_path / "_SUCCESS.parquet").write_text("not data")
    refuse("holds no parquet, csv or jsonl files", tmp_path)
    parquet.write_table(long_table([["A", "B"]]), tmp_path / "a.parquet")
    with sm.scan_events(tmp_path, scratch=scratch) as source:
        assert source.n_events == 2
    refuse("unknown label 'B'", tmp_path, error=UnknownLabelError, labels=["A"])
    refuse("has no column 'who'", tmp_path, case="who")
    refuse("memory must be a number of bytes", tmp_path, error=SettingError, memory="1 GB")
    refuse("must be different columns", tmp_path, error=SettingError, case="case", event="case")
    parquet.write_table(pa.table({"case": ["x"], "event": ["A"]}), tmp_path / "b.parquet")
    refuse("b.parquet has no column 'order'", tmp_path)
    parquet.write_table(pa.table({"case": ["x"], "event": ["A"], "order": ["z"]}), tmp_path / "b.parquet")
    refuse("column 'order' holds int64 in .*a.parquet and string in .*b.parquet", tmp_path)
    (tmp_path / "b.parquet").write_bytes(b"PAR1 and nothing")
    refuse("b.parquet cannot be read as Parquet", tmp_path)
    (tmp_path / "log.csv").write_text("case,event\nx,A\nx,B,C\n")
    refuse("holds parquet and csv files; say which to read with format=", tmp_path)
    refuse("row 3 .*3 cells where the header has 2", tmp_path / "log.csv")
    (tmp_path / "log.jsonl").write_text('["A"]\n["A", null]\n')
    refuse("line 2: an event has no label", tmp_path / "log.jsonl")
    with pytest.raises(SettingError, match="there is no folder"):
        sm.scan_events(tmp_path / "a.parquet", scratch=tmp_path / "nowhere")


@pytest.mark.parametrize("stage", ["reading", "grouping"])
def test_an_interrupt_leaves_no_temporary_files(stage, tmp_path, scratch):
    write_parts(long_table(shop(30, 20).to_lists()).take(pa.array(range(600)[::-1])), tmp_path, [200])

    def interrupt(done, total, what):
        if what == stage:
            assert len(list(scratch.iterdir())) == 1
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sm.scan_events(tmp_path, memory=1 << 16, scratch=scratch, progress=interrupt)


def test_sources_that_are_dropped_leave_nothing(tmp_path, scratch):
    parquet.write_table(long_table([["A", "B"]]), tmp_path / "log.parquet")
    source = sm.scan_events(tmp_path / "log.parquet", scratch=scratch)
    del source
    assert list(scratch.iterdir()) == []
    code = f"import summarkov as sm; s = sm.scan_events({str(tmp_path)!r}, scratch={str(scratch)!r})"
    subprocess.run([sys.executable, "-c", code], check=True)
    assert list(scratch.iterdir()) == []
