"""What is read does not depend on how it is read, nor on hash seeds, time zones and kernels."""

from __future__ import annotations

import json
import os
import random
import shlex
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from fuzz import CORPUS, check_of, differential, kept, tables
from fuzz import __main__ as fuzzing
from fuzz.__main__ import BYTES, bounded
from fuzz.differential import SETTINGS, check
from fuzz.tables import FromBytes, in_memory, random_table, streamed

import summarkov as sm
from summarkov.errors import DataError
from summarkov.events.draws import stable_hashes
from summarkov.read import scan_events

#: What is said of many ties is the topic of test_ties_warning.
pytestmark = [pytest.mark.cut_off, pytest.mark.filterwarnings("ignore::summarkov.errors.TiesWarning")]

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.needs("pandas", "polars")
@pytest.mark.parametrize("first", range(0, 40, 20))
def test_random_tables(tmp_path, first):
    found = [check(random.Random(seed), tmp_path)[0] for seed in range(first, first + 20)]
    assert sum(each is not None for each in found) >= 5
    assert sum(each is None for each in found) >= 1


def test_bytes_choose_the_table():
    found = [random_table(FromBytes(path.read_bytes())) for path in kept("differential")]
    assert len({str(table.schema) for table in found}) == len(found) == 8
    data = kept("differential")[0].read_bytes()
    assert random_table(FromBytes(data)) == random_table(FromBytes(data + b"beyond"))
    assert random_table(FromBytes(b"")).num_rows == 0
    changed = {
        str(random_table(FromBytes(bytes([*data[:i], data[i] ^ 1, *data[i + 1 :]])))) for i in range(40)
    }
    assert len(changed) > 10  # so that who looks for other tables finds some by changing single bytes


@pytest.mark.needs("pandas", "polars")
def test_the_door_notices_a_reader_that_differs(monkeypatch):
    data = (CORPUS / "differential" / "bool").read_bytes()
    assert check_of("differential")(data) is None
    monkeypatch.setattr(tables, "streamed", lambda *way: ([("nobody", ("a",))], 0))
    with pytest.raises(AssertionError, match=r"Parquet streamed finds .*'nobody'.*is found in memory"):
        check_of("differential")(data)


@pytest.mark.needs("pandas", "polars")
def test_hash_seeds_time_zones_and_kernels():
    command = [sys.executable, "-m", "fuzz.differential", "--inside", "--tables", "12", "--first", "1000"]
    each = [
        json.loads(
            subprocess.run(
                command, cwd=ROOT, env={**os.environ, **setting}, capture_output=True, check=True
            ).stdout
        )
        for setting in SETTINGS
    ]
    assert each[0] == each[1] == each[2]
    assert each[0]["readings"] > 100


def test_hashes_are_those_of_the_texts_alone():
    assert stable_hashes(["case 1", ""]).tolist() == [15038037065762313579, 13020603013274838756]
    assert len(set(stable_hashes(map(str, range(10_000))).tolist())) == 10_000


@pytest.mark.parametrize("memory", [1, 1 << 12, 1 << 16, 1 << 26])
def test_sequences_come_in_the_order_of_their_first_rows(tmp_path, memory):
    cases = [f"case {(7 * i) % 40}" for i in range(400)]
    events = [str(i) for i in range(400)]
    pq.write_table(pa.table({"case": cases, "event": events}), tmp_path / "log.parquet", row_group_size=37)
    whole = in_memory(tmp_path / "log.parquet")
    assert [name for name, _ in whole[0]][:3] == ["case 0", "case 7", "case 14"]
    assert streamed(tmp_path / "log.parquet", memory, tmp_path) == whole


@pytest.mark.parametrize("seed", ["0", "1", "2"])
def test_streamed_predictions_do_not_depend_on_the_hash_seed(tmp_path, seed):
    rows = {"case": [f"c{i % 50}" for i in range(500)], "event": ["abc"[i * i % 3] for i in range(500)]}
    pq.write_table(pa.table(rows), tmp_path / "log.parquet")
    sm.InfluenceGraph(sm.BSuMM(lookback=1)).fit(tmp_path / "log.parquet").save(tmp_path / "graph.json")
    script = [sys.executable, "-m", "summarkov", "predict", "graph.json", "log.parquet", "-o"]
    outputs = []
    for name, more in (
        ("m.csv", ["--engine", "memory"]),
        ("s.csv", ["--engine", "stream", "--memory", "8K"]),
    ):
        subprocess.run(
            [*script, name, *more],
            cwd=tmp_path,
            env={**os.environ, "PYTHONHASHSEED": seed},
            check=True,
            stdout=subprocess.DEVNULL,
        )
        outputs.append((tmp_path / name).read_text())
    assert outputs[0] == outputs[1]


FAR = 2**53


@pytest.mark.parametrize(
    ("times", "expected"),
    [
        ([f"{FAR + 1}", f"{FAR}", "0.5"], "zxy"),  # as floats the first two are a tie
        ([f"{FAR + 1}", f"{FAR}", "5"], "zyx"),
        (["2024-01-01T00:00:00", "2024-01-01T00:00:00Z", "2024-01-02"], None),
    ],
    ids=["floats", "whole", "zones"],
)
@pytest.mark.parametrize("memory", [1, 1 << 14, 1 << 26])
def test_types_are_decided_over_all_files(tmp_path, times, expected, memory):
    """Whichever rows come to stand together on the way."""
    folder = tmp_path / "log"
    folder.mkdir()
    for number, (time, label) in enumerate(zip(times, "xyz", strict=True)):
        (folder / f"{number}.csv").write_text(f"case,event,time\nb,w,{times[0]}\na,{label},{time}\n")

    def read():
        return scan_events(folder, memory=memory, scratch=tmp_path, names=True)

    if expected is None:
        with pytest.raises(DataError, match="cannot be put in order: row 1 of the data holds"):
            read()
        return
    with read() as source:
        assert "".join(source.to_lists()[source.ids.index("a")]) == expected


def test_a_name_that_is_half_of_a_character(tmp_path):
    path = tmp_path / "log.jsonl"
    path.write_text('{"id": "\\ud800", "events": ["a", "b"]}\n')
    assert sm.read_events(path).n_events == 2
    with sm.scan_events(path, scratch=tmp_path) as source:
        assert source.n_events == 2  # without names
    assert streamed(path, 1 << 20, tmp_path) == in_memory(path)


def test_the_fuzzers_notice_what_takes_too_much():
    script = "from fuzz.__main__ import BYTES, bounded\nbounded(lambda data: bytes(data) * (2 * BYTES))(b'x')"
    # by way of a shell: a process that is started from a large one counts that one's memory as its own
    command = f"{shlex.join([sys.executable, '-c', script])}; exit $?"
    run = subprocess.run(["sh", "-c", command], cwd=ROOT, capture_output=True, text=True)
    assert "bytes more" in run.stderr
    assert bounded(lambda data: None)(b"x" * 4096) is None
    assert BYTES >= 1 << 27


def test_the_fuzzers_notice_what_takes_too_long(monkeypatch):
    monkeypatch.setattr(fuzzing, "SECONDS", 0.0)
    monkeypatch.setattr(fuzzing, "SECONDS_PER_STEP", 1e-9)
    with pytest.raises(AssertionError, match=r"took 0\.\d s"):
        bounded(lambda data: sum(range(10**5 * len(data))) and None)(b"xy")


def test_an_attribute_of_views_may_be_missing():
    cases, regions = ["x", "x", "y"], ["north", "north", None]
    columns = {"case": cases, "event": ["a", "b", "a"], "region": pa.array(regions, pa.string_view())}
    found = sm.read_events(pa.table(columns), attributes=["region"], order=False).attributes
    plain = {**columns, "region": pa.array(regions, pa.string())}
    expected = sm.read_events(pa.table(plain), attributes=["region"], order=False).attributes
    assert found.names == expected.names == ("region=(missing)", "region=north")
    assert "region=north" in found.names


def test_no_rows_of_decimal_times_are_no_events(tmp_path):
    kinds = {"case": pa.string(), "event": pa.string(), "time": pa.decimal128(10, 2)}
    table = pa.table({name: pa.array([], kind) for name, kind in kinds.items()})
    pq.write_table(table, tmp_path / "log.parquet")
    assert in_memory(table, times=True) == streamed(tmp_path / "log.parquet", 1 << 14, tmp_path, times=True)
    assert in_memory(table, times=True) == ([], 0)


def test_tables_are_compared_between_settings_some_at_a_time(monkeypatch, capsys):
    tried = []

    def apart(some, setting):
        tried.append((some.start, len(some)))
        return {"readings": len(some), "digest": "same" if some.start < 1000 else setting["TZ"]}

    monkeypatch.setattr(differential, "_apart", apart)
    monkeypatch.setattr(sys, "argv", ["fuzz.differential", "--tables", "700", "--first", "100"])
    differential.main()
    assert tried == [(100, 500)] * 3 + [(600, 200)] * 3
    assert capsys.readouterr().out.splitlines()[-1] == "equal with each of 3 settings: {'readings': 700}"
    monkeypatch.setattr(sys, "argv", ["fuzz.differential", "--tables", "1", "--first", "1000"])
    with pytest.raises(SystemExit, match="depends on the seed of hashes"):
        differential.main()
