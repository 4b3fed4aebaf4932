"""The command line starts without what it does not need."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

import summarkov as sm

#: Run a command, then tell which of the heavy modules were imported.
PROBE = """
import json, sys
from summarkov.__main__ import main
sys.argv = ["summarkov", *sys.argv[1:]]
try:
    main()
except SystemExit as end:
    assert not end.code, end.code
heavy = ["numpy", "pyarrow", "pandas", "sklearn", "networkx", "matplotlib"]
heavy += ["summarkov.models", "summarkov.read"]
print(json.dumps([name for name in heavy if name in sys.modules]), file=sys.stderr)
"""


def imported(*arguments: object) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", PROBE, *map(str, arguments)], capture_output=True, check=True, text=True
    )
    assert done.stdout
    modules: list[str] = json.loads(done.stderr)
    return modules


@pytest.mark.parametrize("arguments", ["--help", "--version", "learn --help"])
def test_help_needs_nothing(arguments: str) -> None:
    assert imported(*arguments.split()) == []


def test_options_do_not_depend_on_docstrings(tmp_path: Path) -> None:
    """``python -OO`` strips them."""
    (tmp_path / "events.txt").write_text("A B\nB A B\n")
    command = ["-m", "summarkov", "learn", str(tmp_path / "events.txt"), "-t", "B", "--gamma", "2", "--json"]
    done = subprocess.run([sys.executable, "-OO", *command], capture_output=True, check=True, text=True)
    assert json.loads(done.stdout)["settings"]["gamma"] == 2


@pytest.mark.parametrize("options", ["", "--target B", "--json"])
def test_show_needs_no_arrow(tmp_path: Path, options: str) -> None:
    events = [["A", "B", "C", "A", "B"], ["C", "C", "A", "B"]] * 10
    sm.InfluenceGraph(sm.BSuMM()).fit(events).save(tmp_path / "model.json")
    assert imported("show", tmp_path / "model.json", *options.split()) == [
        "numpy",
        "summarkov.models",
        "summarkov.read",
    ]


def test_a_history_needs_no_arrow(tmp_path: Path) -> None:
    sm.InfluenceGraph(sm.BSuMM()).fit([["A", "B"], ["B", "A", "B"]]).save(tmp_path / "model.json")
    assert "pyarrow" not in imported("predict", tmp_path / "model.json", "-a", "A")
