"""Full disks, Ctrl-C, and two processes at once: what was there stays whole, and nothing is left about."""

import errno
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest
from fuzz import CORPUS
from typer.testing import CliRunner

import summarkov as sm
from summarkov.cli.main import app
from summarkov.errors import StoreError
from summarkov.simulate.example import web_shop

GRAPH = CORPUS / "model" / "graph.json"
LOGS = Path(__file__).parents[2] / "docs" / "guide" / "harbour.jsonl"
OLD = "what was there before\n"

#: The commands that write a file, each in its own way: arguments before ``-o FILE``, and the file's ending.
WRITERS = {
    "learn": (["learn", "events.jsonl", "--confidence", "3"], ".json"),
    "confidence": (["confidence", "own.json", "events.jsonl", "-n", "3"], ".json"),
    "predict": (["predict", "own.json", "events.jsonl"], ".csv"),
    "predict streamed": (["predict", "own.json", "events.jsonl", "--engine", "stream"], ".parquet"),
    "convert": (["convert", "events.jsonl"], ".csv.gz"),
    "convert to Parquet": (["convert", "events.jsonl"], ".parquet"),
    "simulate": (["simulate", str(GRAPH), "-n", "5"], ".jsonl"),
    "report": (["report", str(GRAPH)], ".html"),
    "export": (["export", str(GRAPH)], ".csv"),
    "draw": (["export", str(GRAPH)], ".svg"),
    "compare": (["compare", "events.jsonl", "-m", "chain-0", "-m", "chain-1"], ".json"),
    "topics": (["text", str(LOGS), "--topics", "3"], ".jsonl"),
}
NEEDS = {"draw": ("matplotlib",), "topics": ("sklearn",)}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with events, and a model of them."""
    monkeypatch.chdir(tmp_path)
    events = [["a", "b", "c", "a", "b"], ["c", "c", "a", "b"], ["b", "a", "c", "b"], ["a", "c"]] * 3
    Path("events.jsonl").write_text("".join(f"{json.dumps(each)}\n" for each in events))
    sm.InfluenceGraph(sm.BSuMM(lookback=1)).fit(events).save("own.json")
    return tmp_path


def files(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.needs(*NEEDS.get(name, ()))) for name in WRITERS]
)
@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_full_disk_or_an_interruption_while_writing(name, step, folder, monkeypatch):
    """It is named, and the old file stays; ``compare`` keeps what it goes on from."""

    def fail(*args):
        raise OSError(errno.ENOSPC, "No space left on device") if step == "fsync" else KeyboardInterrupt

    monkeypatch.setattr(f"summarkov.read.files.os.{step}", fail)
    arguments, ending = WRITERS[name]
    out = folder / f"out{ending}"
    out.write_text(OLD)
    before = files(folder)
    ended = CliRunner().invoke(app, [*arguments, *([] if arguments[0] == "convert" else ["-o"]), str(out)])
    assert ended.exit_code == (2 if step == "fsync" else 130)
    if step == "fsync":
        said = r"out\.\S+: cannot be written \(No space left on device\); make room on its disk"
        assert re.match(f"Error: {re.escape(str(folder))}/{said}", ended.stderr)
    assert ended.stderr.count("Error") == 1
    assert out.read_text() == OLD
    assert set(files(folder)) - set(before) <= {f"out{ending}.partial"}


# ------------------------------------------------------------------------------- what is read, and odd files

READ = [
    ["learn", "events.jsonl", "-o", "events.jsonl"],
    ["learn", "events.jsonl", "-o", "link.jsonl"],
    ["learn", "*.jsonl", "-o", "events.jsonl"],
    ["learn", "events.jsonl", "--map", "map.json", "-o", "map.json"],
    ["learn", "log", "--format", "csv", "-o", "log/a.csv"],
    ["convert", "events.jsonl", "events.jsonl"],
    ["convert", "link.jsonl", "events.jsonl"],
    ["predict", "own.json", "events.jsonl", "-o", "events.jsonl"],
    ["report", "own.json", "-o", "own.json"],
    ["confidence", "own.json", "events.jsonl", "-n", "3", "-o", "events.jsonl"],
    ["compare", "own.json", "-o", "own.json"],
    ["simulate", "own.csv", "-o", "own.csv"],
    ["text", "events.jsonl", "--topics", "3", "-o", "events.jsonl"],
]


@pytest.mark.parametrize("command", READ, ids=" ".join)
def test_what_is_read_is_not_written_over(command, folder):
    Path("link.jsonl").symlink_to("events.jsonl")
    Path("map.json").write_text('{"a": "b"}')
    Path("own.csv").write_text(Path("own.json").read_text())
    Path("log").mkdir()
    Path("log/a.csv").write_text("case,event\n1,a\n")
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    ended = CliRunner().invoke(app, command)
    assert ended.exit_code == 2
    said = f"Error: cannot write {command[-1]}: it is read here, and would be lost; name another file\n"
    assert ended.stderr == said
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


def test_links_are_followed(folder):
    """The file they lead to is replaced, whether or not it is there yet; the link stays."""
    Path("real").mkdir()
    link = Path("link.json")
    link.symlink_to("real/model.json")
    for _ in range(2):
        assert CliRunner().invoke(app, ["learn", "events.jsonl", "-o", "link.json"]).exit_code == 0
        assert link.is_symlink()
        assert files(folder / "real") == ["model.json"]


def test_devices_and_pipes_are_not_replaced(folder):
    os.mkfifo("pipe.json")
    ended = CliRunner().invoke(app, ["learn", "events.jsonl", "-o", "pipe.json"])
    assert ended.stderr == "Error: cannot write pipe.json: it is not a regular file; name one\n"
    with pytest.raises(StoreError, match=r"pipe\.json: cannot be written, it is not a regular file"):
        sm.load("own.json").save("pipe.json")
    assert Path("pipe.json").is_fifo()


# ------------------------------------------------------------------------------- real disks and signals


def summarkov(*arguments, stdout=subprocess.PIPE, **options):
    """Start the command as people do."""
    command = [sys.executable, "-m", "summarkov", *map(str, arguments)]
    return subprocess.Popen(command, stdout=stdout, stderr=subprocess.PIPE, text=True, **options)


@pytest.fixture
def small_disk(tmp_path):
    """A disk of 64 kB."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(disk)]
    try:
        refused = subprocess.run(mount, capture_output=True).returncode
    except FileNotFoundError:
        refused = 1
    if refused:
        pytest.skip("mounting a small disk is not permitted here")
    yield disk
    subprocess.run(["umount", str(disk)], check=True)


def test_a_disk_that_is_really_full(small_disk):
    out = small_disk / "new.jsonl"
    out.write_text(OLD)
    ended = CliRunner().invoke(app, ["simulate", str(GRAPH), "-n", "500", "--length", "40", "-o", str(out)])
    assert ended.exit_code == 2
    assert ended.stderr.startswith(f"Error: {out}: cannot be written (No space left on device)")
    assert ended.stderr.count("\n") == 1
    assert files(small_disk) == [out.name]
    assert out.read_text() == OLD


#: What is kept on a disk beside codes: outcomes and attributes, times, ticks.
KEPT = {
    "outcome": ["outcome", "--column", "result=y", "--attribute", "kind"],
    "times": ["learn", "--times", "--lookback", "3d", "--attribute", "kind", "--no-order-test"],
    "together": ["learn", "--ties", "together", "--no-order-test"],
}


@pytest.mark.parametrize("what", KEPT)
def test_no_room_for_temporary_files(what, small_disk, tmp_path, monkeypatch):
    """The model that was there stays."""
    events, model = tmp_path / "events.csv", small_disk / "model.json"
    rows = (
        f"{n % 9973},{'abc'[n % 3]},2024-01-{1 + n * 7 % 28:02d},{n % 9973 % 2},{'yn'[n % 9973 % 2]}\n"
        for n in range(60_000)
    )
    events.write_text(f"case,event,time,kind,result\n{''.join(rows)}")
    model.write_text(OLD)
    monkeypatch.setattr(tempfile, "tempdir", str(small_disk))
    command, *options = KEPT[what]
    ended = CliRunner().invoke(app, [command, str(events), *options, "--engine", "stream", "-o", str(model)])
    assert ended.exit_code == 2
    assert f"Error: {small_disk}: cannot be written (No space left on device)" in ended.stderr
    assert files(small_disk) == ["model.json"]
    assert model.read_text() == OLD


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full here")
def test_standard_output_to_a_full_disk():
    with open("/dev/full", "w") as full:
        running = summarkov("simulate", GRAPH, stdout=full)
        _, said = running.communicate()
    assert running.returncode == 2
    assert said == "Error: the output cannot be written: no space left on device\n"


def wait_for(running, there):
    """Wait until something is there; the process must still be at work."""
    while not there():
        assert running.poll() is None, running.communicate()
        time.sleep(0.005)


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    """Events that keep a command busy for a while, and a graph of them."""
    folder = tmp_path_factory.mktemp("many")
    events = web_shop().simulate(6000, 30, random_state=1)
    sm.write_events(events, folder / "events.jsonl")
    sm.InfluenceGraph(sm.BSuMM(lookback=5)).fit(events[:200]).save(folder / "graph.json")
    return folder


WRITING = [
    (signal.SIGINT, "memory", ".jsonl"),
    (signal.SIGTERM, "stream", ".parquet"),
    (signal.SIGHUP, "stream", ".jsonl"),
]


@pytest.mark.parametrize(("number", "engine", "ending"), WRITING)
def test_signals_while_writing(many, tmp_path, number, engine, ending):
    """Ctrl-C, ``kill`` and others: the signal comes while the temporary file is there."""
    out, scratch = tmp_path / f"out{ending}", tmp_path / "scratch"
    scratch.mkdir()
    out.write_text(OLD)
    running = summarkov(
        "predict", many / "graph.json", many / "events.jsonl", "--engine", engine, "-o", out,
        env={**os.environ, "TMPDIR": str(scratch)},
    )  # fmt: skip
    wait_for(running, lambda: len(files(tmp_path)) > 2)
    running.send_signal(number)
    _, said = running.communicate()
    assert running.returncode == 128 + number
    assert said == "Error: interrupted\n"
    assert out.read_text() == OLD
    assert files(tmp_path) == sorted([out.name, "scratch"])
    assert files(scratch) == []


# ------------------------------------------------------------------------------- two at once

WRITE = """
import sys, summarkov as sm
model = sm.BSuMM(sys.argv[2], lookback=2).fit([["a", "b", "c"] * 20, ["c", "b"]] * 3)
for _ in range(20):
    model.save(sys.argv[1])
"""


def test_two_processes_that_write_the_same_file(tmp_path):
    """Whoever reads meanwhile sees the file of one or of the other."""
    out = tmp_path / "m.json"
    sm.BSuMM("a").fit([["a", "b", "c"]]).save(out)
    both = [subprocess.Popen([sys.executable, "-c", WRITE, str(out), x]) for x in ("a", "b")]
    seen = set()
    while any(running.poll() is None for running in both):
        seen.add(sm.load(out).target_)
    assert [running.returncode for running in both] == [0, 0]
    assert seen <= {("a",), ("b",)}
    assert sm.load(out).target_ in seen
    assert files(tmp_path) == ["m.json"]
