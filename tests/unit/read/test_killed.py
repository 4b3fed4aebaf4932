"""Interrupted at any stage: nothing half-written, nothing left."""

import inspect
import subprocess
import sys

import pyarrow as pa
import pytest
from pyarrow import parquet

import summarkov as sm
from summarkov.read.temporary import replacing
from summarkov.simulate.example import web_shop

#: Numbers as the paper counts them.
pytestmark = pytest.mark.cut_off


def learn(folder, scratch, stage="", how=""):
    """Learns from files that are not grouped; strikes itself down at a stage."""
    import os
    import signal

    import summarkov as sm

    def strike(*told):
        if told[-1] == stage:
            os.kill(os.getpid(), getattr(signal, how))

    with sm.scan_events(folder, memory=1 << 16, scratch=scratch, progress=strike) as events:
        sm.InfluenceGraph(sm.BSuMM()).fit(events, progress=lambda *_: strike("learning"))


SCRIPT = f"import sys\n{inspect.getsource(learn)}\nlearn(*sys.argv[1:])"


@pytest.fixture
def log(tmp_path):
    """A folder of files in which no case is together."""
    folder = tmp_path / "log"
    folder.mkdir()
    lists = web_shop().simulate(60, 30, seed=1).to_lists()
    case = [k for k, sequence in enumerate(lists) for _ in sequence]
    table = pa.table({"case": case, "event": [x for sequence in lists for x in sequence]})
    parquet.write_table(
        table.take(pa.array(range(len(table))[::-1])).take(
            pa.array(sorted(range(len(table)), key=lambda i: i % 7))
        ),
        folder / "log.parquet",
    )
    return folder


@pytest.mark.parametrize("stage", ["reading", "grouping", "learning"])
def test_interrupted(stage, log, tmp_path):
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    command = [sys.executable, "-c", SCRIPT, str(log), str(scratch), stage, "SIGINT"]
    done = subprocess.run(command, capture_output=True, check=False, text=True)
    assert "KeyboardInterrupt" in done.stderr
    assert list(scratch.iterdir()) == []


def test_two_writers(tmp_path):
    path = tmp_path / "model.json"
    with replacing(path) as first, replacing(path) as second:
        second.write_text("second")
        first.write_text("first")
    assert path.read_text() == "first"
    assert list(tmp_path.iterdir()) == [path]


def test_an_error_leaves_what_was_there(tmp_path):
    path = tmp_path / "model.json"
    path.write_text("before")
    with pytest.raises(ZeroDivisionError), replacing(path) as temporary:
        temporary.write_text(f"half {1 / 0}")
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]
    sm.BSuMM("A").fit([["A", "B"]] * 3).save(path)
    assert sm.load(path).target_ == ("A",)
