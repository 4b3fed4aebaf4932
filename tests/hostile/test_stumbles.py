"""What a program may stumble over: sizes out of all proportion, odd names, narrow pages, full disks."""

from __future__ import annotations

import csv
import io
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import summarkov as sm
from summarkov.cli.main import app
from summarkov.errors import SettingError
from summarkov.kernels import backend

MEMORY = "--memory must be a size such as 500M or 4G"
EVENTS = [["a", "b", "c", "a", "b"], ["c", "c", "a", "b"]] * 10


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    events = sm.EventSequences.from_lists(EVENTS)
    sm.InfluenceGraph(sm.BSuMM(lookback=2)).fit(events).save("graph.json")
    sm.write_events(events, "log.jsonl")
    return tmp_path


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["learn", "log.jsonl", "--memory", "9" * 400], f"{MEMORY}, 1K at least, not '999"),
        (["learn", "log.jsonl", "--memory", "5"], f"{MEMORY}, 1K at least, not '5'"),
        (["learn", "log.jsonl", "--memory", "9999999T"], MEMORY),
        (
            ["learn", "log.jsonl", "--jobs", str(2**31)],
            "--jobs 2147483648 is too large; it may be 1024 at most",
        ),
        (
            ["simulate", "graph.json", "-n", str(2**63 - 1)],
            "n_sequences must be a whole number from 0 to 1073",
        ),
        (
            ["simulate", "graph.json", "--length", str(2**62)],
            "100 sequences of 4,611,686,018,427,387,904 events",
        ),
        (["describe", "log.jsonl", "--rows", "9" * 5000], "invalid value for '--rows'"),
    ],
    ids=["nines", "bytes", "terabytes", "jobs", "sequences", "length", "rows"],
)
def test_sizes_out_of_proportion(here, arguments, sentence):
    result = CliRunner().invoke(app, arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith(f"Error: {sentence}")
    assert len(result.stderr) < 1100


def test_files_by_names_that_are_not_utf8(here):
    model = os.fsdecode(b"caf\xe9.json")
    for ending in ("csv", "parquet", "jsonl"):
        log, out = os.fsdecode(b"l\xff." + ending.encode()), os.fsdecode(b"p\xff." + ending.encode())
        for command in (
            ["convert", "log.jsonl", log],
            ["learn", log, "-o", model, "--no-order-test"],
            ["predict", model, log, "-o", out],
            ["predict", model, log, "-o", f"streamed.{ending}", "--engine", "stream"],
        ):
            assert CliRunner().invoke(app, command).exit_code == 0
        assert Path(out).read_bytes() == Path(f"streamed.{ending}").read_bytes()
    command = [sys.executable, "-m", "summarkov", "predict", model, log, "-o", out]  # real standard output
    assert subprocess.run(command, capture_output=True).stderr == b""


def test_temporary_files_in_a_folder_that_is_not_utf8(here):
    """DuckDB, which sorts rows there, knows no such names."""
    rows = pa.table({"case": ["a", "b", "a"], "event": ["x", "y", "z"]})
    pq.write_table(rows, "log.parquet")
    folder = Path(os.fsdecode(b"t\xff"))
    folder.mkdir()
    with pytest.raises(SettingError, match=r"cannot write to '.*t\\udcff', whose name is not UTF-8; choose"):
        sm.scan_events("log.parquet", scratch=folder)
    assert not list(folder.iterdir())


@pytest.mark.needs("matplotlib")
def test_files_that_may_not_grow(here):
    """One process for all: a limit cannot be raised again."""
    code = """
import resource, signal, sys
import matplotlib.pyplot
from typer.testing import CliRunner
from summarkov.cli.main import app
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
for ending in sys.argv[1:]:
    done = CliRunner().invoke(app, ["export", "graph.json", "-o", "g." + ending])
    print(done.exit_code, done.stderr.strip())
done = CliRunner().invoke(app, ["learn", "log.csv", "--engine", "stream"])
print(done.exit_code, done.stderr.strip())
"""
    sm.write_events(EVENTS * 50, "log.csv")
    endings = ["csv", "parquet", "svg", "png", "graphml"]
    done = subprocess.run(
        [sys.executable, "-c", code, *endings],
        capture_output=True,
        text=True,
        env={**os.environ, "TMPDIR": str(here)},
    )
    names = [*(f"g.{ending}" for ending in endings), str(here)]
    assert len(done.stdout.splitlines()) == len(names), done.stderr
    for line, name in zip(done.stdout.splitlines(), names, strict=True):
        assert line.startswith(f"2 Error: {name}: ")
        assert "cannot be written (File too large); make room on its disk, or write elsewhere" in line
    assert sorted(os.listdir()) == ["graph.json", "log.csv", "log.jsonl"]


# ---------------------------------------------------------------------- formulas


def test_formulas_by_command(here):
    graph = sm.InfluenceGraph(sm.BSuMM(lookback=1)).fit([["=a", "b", "=a", "b", "b"]] * 20)
    graph.save("formulas.json")
    sm.write_events([["=a", "b"]] * 3, "formulas.jsonl")
    for command in (
        ["export", "formulas.json", "-o", "edges.csv"],
        ["convert", "formulas.jsonl", "events.csv"],
        ["predict", "formulas.json", "formulas.jsonl", "-o", "p.csv"],
        ["predict", "formulas.json", "formulas.jsonl", "-o", "p.csv", "--engine", "stream"],
        ["simulate", "formulas.json", "-o", "drawn.csv"],
    ):
        out = next(part for part in command if part.endswith(".csv"))
        for more, expected in ([], "=a"), (["--safe-csv"], "'=a"):
            assert CliRunner().invoke(app, [*command, *more]).exit_code == 0
            cells = {cell for row in csv.reader(io.StringIO(Path(out).read_text())) for cell in row}
            assert expected in cells
            assert not more or "=a" not in cells
        refused = CliRunner().invoke(app, [*(arg.replace("csv", "parquet") for arg in command), "--safe-csv"])
        assert (
            refused.stderr
            == "Error: --safe-csv is for files that are written as .csv or .tsv; leave it out\n"
        )


# ---------------------------------------------------------------------- signals, pages, builds


@pytest.mark.parametrize(
    ("number", "module"),
    [
        *((signal.SIGINT, module) for module in ("summarkov", "summarkov.cli", "typer", "rich.text")),
        (signal.SIGTERM, "summarkov.cli.main"),
    ],
)
def test_an_interruption_of_the_first_imports(here, number, module):
    code = f"""
import builtins, signal, sys
plain = builtins.__import__
def watched(name, *rest):
    if name == {module!r} and not done:
        done.append(name)
        signal.raise_signal({int(number)})
    return plain(name, *rest)
done = []
builtins.__import__ = watched
from summarkov.__main__ import main
main()
"""
    ended = subprocess.run([sys.executable, "-c", code, "--version"], capture_output=True, text=True)
    assert (ended.returncode, ended.stdout, ended.stderr) == (128 + number, "", "Error: interrupted\n")


def test_the_native_module_is_hardened():
    if backend() != "native" or shutil.which("readelf") is None or sys.platform != "linux":
        pytest.skip("there is no native module here, or nothing to look at it with")
    from summarkov.kernels import _native

    found = subprocess.run(
        ["readelf", "-dW", "--dyn-syms", _native.__file__], capture_output=True, text=True
    ).stdout
    assert "NOW" in found
    assert "__stack_chk_fail" in found
