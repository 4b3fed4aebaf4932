"""What commands print of data in which events happen together: what is counted, and per what."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from typer.testing import CliRunner

import summarkov as sm
from summarkov.cli.main import app


def write_lines(path: Path, n: int = 40) -> None:
    """JSON lines in which 'x' and 'y' mostly happen together, and 'z' after them."""
    lines = []
    for case in range(n):
        pair = ["x", "y"] if case % 4 else ["x"]
        lines.append(json.dumps({"id": f"c{case}", "events": [pair, "z", "x", ["y", "z"]]}))
    path.write_text("\n".join(lines) + "\n")


def run(*arguments: object, code: int = 0) -> str:
    done = CliRunner().invoke(app, [str(each) for each in arguments], env={"COLUMNS": "80"})
    assert done.exit_code == code, done.output
    return " ".join(done.output.split())


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("ticks")
    write_lines(folder / "log.jsonl")
    run("learn", folder / "log.jsonl", "-k", "1", "--no-order-test", "-o", folder / "model.json")
    return folder


def test_log_loss_of_a_comparison_is_per_tick(folder: Path) -> None:
    events = sm.read_events(folder / "log.jsonl")
    result = sm.compare(events, models=["chain-0", "bsumm"])
    test = events.split((0.7, 0.15, 0.15), 0)[2]
    assert result.n_test == (test.n_ticks,)
    assert test.n_ticks < test.n_events
    for line in result.lines:
        assert math.isclose(line.log_loss, -line.log_likelihood / test.n_ticks)
    told = run("compare", folder / "log.jsonl", "-m", "bsumm")
    assert told.startswith(f"Tested on {test.n_ticks} ticks, 3 targets")
    assert "Log-likelihood of the test ticks" in told
    assert "log loss and Brier per tick" in told
    document = json.loads(run("compare", folder / "log.jsonl", "-m", "bsumm", "--json"))
    assert document["test_ticks"] == [test.n_ticks]
    assert "test_events" not in document


@pytest.mark.parametrize("more", [(), ("--learning-curve",)])
def test_the_default_models_are_those_that_know_ticks(folder: Path, more: tuple[str, ...]) -> None:
    told = run("compare", folder / "log.jsonl", *more)
    assert "chain-0" in told
    assert "bsumm" in told
    assert "osumm" in told
    assert "chain-1" not in told
    assert "chain-2" not in told
    assert "per tick" in told
    assert "per event" not in told


@pytest.mark.parametrize("command", ["predict", "evaluate"])
def test_a_model_of_ticks_reads_json_lines(folder: Path, command: str) -> None:
    told = run(command, folder / "model.json", folder / "log.jsonl")
    assert {"predict": "c0 4 y + z", "evaluate": "40 sequences with 160 ticks of 230 events"}[command] in told


def test_a_page_of_ticks_takes_json_lines(folder: Path) -> None:
    page = folder / "page.html"
    run("report", folder / "model.json", "--events", folder / "log.jsonl", "-o", page)
    assert page.stat().st_size > 10_000


def test_an_evaluation_says_per_what(folder: Path) -> None:
    arguments = ("evaluate", folder / "model.json", folder / "log.jsonl")
    assert "Log loss per tick, in nats" in run(*arguments)
    document = json.loads(run(*arguments, "--json"))
    assert (document["events"], document["ticks"]) == (230, 160)
    assert {each["n_positions"] for each in document["targets"]} == {160}


def test_rows_of_predictions_are_counted_in_ticks(folder: Path) -> None:
    arguments = ("predict", folder / "model.json", folder / "log.jsonl")
    shown = run(*arguments)
    n_shown = sum(shown.count(f"c{case} {at} ") for case in range(40) for at in range(1, 5))
    assert f"... and {160 - n_shown} rows more" in shown
    saved = json.loads(run(*arguments, "-o", folder / "rows.csv", "--json"))
    assert saved["rows"] == 160 == len((folder / "rows.csv").read_text().splitlines()) - 1
