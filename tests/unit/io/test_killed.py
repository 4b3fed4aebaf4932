"""Killed or interrupted at any stage: nothing half-written, nothing left for good."""

import inspect
import os
import signal
import subprocess
import sys

import pyarrow as pa
import pytest
from pyarrow import parquet

import summarkov as sm
from summarkov.io.temporary import replacing
from summarkov.simulate.example import web_shop

#: Numbers as the paper counts them.
pytestmark = pytest.mark.cut_off


def learn_and_predict(folder, scratch, out, stage="", how=""):
    """Learns from files that are not grouped and writes predictions; strikes itself down at a stage."""
    import os
    import signal
    from pathlib import Path

    import summarkov as sm
    from summarkov.cli.files import write_rows
    from summarkov.models.predictions import prediction_rows

    def strike(*told):
        if told[-1] == stage:
            os.kill(os.getpid(), getattr(signal, how))

    def rows():
        for number, part in enumerate(prediction_rows(graph, source)):
            if number == 2:
                strike("writing")
            yield part

    with sm.scan_events(folder, memory=1 << 16, scratch=scratch, progress=strike, names=True) as source:
        graph = sm.InfluenceGraph(sm.BSuMM()).fit(source, progress=lambda *_: strike("learning"))
        write_rows(rows(), Path(out))


SCRIPT = f"import sys\n{inspect.getsource(learn_and_predict)}\nlearn_and_predict(*sys.argv[1:])"


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


def run(log, tmp_path, stage, how):
    scratch = tmp_path / "scratch"
    scratch.mkdir(exist_ok=True)
    out = tmp_path / "out"
    out.mkdir(exist_ok=True)
    command = [sys.executable, "-c", SCRIPT, str(log), str(scratch), str(out / "p.parquet"), stage, how]
    done = subprocess.run(command, capture_output=True, check=False, text=True)
    return done, list(scratch.iterdir()), sorted(os.listdir(out))


@pytest.mark.parametrize("stage", ["reading", "grouping", "learning", "writing"])
def test_killed(stage, log, tmp_path):
    done, scratch, out = run(log, tmp_path, stage, "SIGKILL")
    assert done.returncode == -signal.SIGKILL
    assert len(scratch) == 1  # nobody was there to remove it
    assert len(out) == (stage == "writing")
    assert "p.parquet" not in out
    learn_and_predict(log, tmp_path / "scratch", tmp_path / "out" / "p.parquet")
    assert os.listdir(tmp_path / "scratch") == []
    assert os.listdir(tmp_path / "out") == ["p.parquet"]
    assert parquet.read_table(tmp_path / "out" / "p.parquet").num_rows == 1800


@pytest.mark.parametrize("stage", ["reading", "grouping", "learning", "writing"])
def test_interrupted(stage, log, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "p.parquet").write_text("what was there before")
    done, scratch, out = run(log, tmp_path, stage, "SIGINT")
    assert "KeyboardInterrupt" in done.stderr
    assert (scratch, out) == ([], ["p.parquet"])
    assert (tmp_path / "out" / "p.parquet").read_text() == "what was there before"


def test_files_of_the_living_are_left_alone(tmp_path):
    """Nor is any other file of such a name removed, nor that of another target."""
    path = tmp_path / "model.json"
    mine = [tmp_path / ".model.json.notes.tmp", tmp_path / ".other.json.0123456789ab.tmp"]
    for file in mine:
        file.write_text("mine")
    dead = tmp_path / ".model.json.0123456789ab.tmp"
    dead.write_text("half")
    with replacing(path) as first, replacing(path) as second:
        assert not dead.exists()
        assert first.exists()
        second.write_text("second")
        first.write_text("first")
    assert path.read_text() == "first"
    assert sorted(tmp_path.iterdir()) == sorted([path, *mine])


def test_an_error_leaves_what_was_there(tmp_path):
    path = tmp_path / "model.json"
    path.write_text("before")
    with pytest.raises(ZeroDivisionError), replacing(path) as temporary:
        temporary.write_text(f"half {1 / 0}")
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]
    sm.BSuMM("A").fit([["A", "B"]] * 3).save(path)
    assert sm.load(path).target_ == ("A",)


@pytest.mark.parametrize("stage", ["reading", "grouping", "learning"])
def test_asked_to_end(stage, log, tmp_path):
    """Python cleans nothing up on SIGTERM, but the folder goes, and the process ends by the signal."""
    done, scratch, _ = run(log, tmp_path, stage, "SIGTERM")
    assert done.returncode == -signal.SIGTERM
    assert scratch == []


def test_signals_are_left_as_they_were(log):
    before = signal.getsignal(signal.SIGTERM)
    with sm.scan_events(log):
        assert signal.getsignal(signal.SIGTERM) is not before
    assert signal.getsignal(signal.SIGTERM) is before
