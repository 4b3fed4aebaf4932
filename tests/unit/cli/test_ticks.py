"""What commands print of data in which events happen together: what is counted, and per what."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

import summarkov as sm
from commands import run

#: Numbers as the paper counts them.
pytestmark = pytest.mark.cut_off


def write_lines(path: Path, n: int = 40) -> None:
    """JSON lines in which 'x' and 'y' mostly happen together, and 'z' after them."""
    lines = []
    for case in range(n):
        pair = ["x", "y"] if case % 4 else ["x"]
        lines.append(json.dumps({"id": f"c{case}", "events": [pair, "z", "x", ["y", "z"]]}))
    path.write_text("\n".join(lines) + "\n")


def told_of(*arguments: object, code: int = 0) -> str:
    """What a command prints, in one line."""
    return " ".join(run(*arguments, code=code).output.split())


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("ticks")
    write_lines(folder / "log.jsonl")
    told_of("learn", folder / "log.jsonl", "-k", "1", "--no-order-test", "-o", folder / "model.json")
    return folder


def test_log_loss_of_a_comparison_is_per_tick(folder: Path) -> None:
    events = sm.read_events(folder / "log.jsonl")
    result = sm.compare(events, models=["chain-0", "bsumm"])
    test = events.split((0.7, 0.15, 0.15), 0)[2]
    assert result.n_test == (test.n_ticks,)
    assert test.n_ticks < test.n_events
    for line in result.lines:
        assert math.isclose(line.log_loss, -line.log_likelihood / test.n_ticks)
    told = told_of("compare", folder / "log.jsonl", "-m", "bsumm")
    assert told.startswith(f"1 contender on {test.n_ticks} test ticks")
    assert "Log-likelihood of the test ticks" in told
    assert "log loss and Brier per tick and label" in " ".join(told.split())
    document = json.loads(told_of("compare", folder / "log.jsonl", "-m", "bsumm", "--json"))
    assert document["test_ticks"] == [test.n_ticks]
    assert "test_events" not in document


def write_rows(path: Path, n: int = 40) -> None:
    """The same as a table with times, and a region of every case."""
    rows = ["case,event,time,region"]
    for case in range(n):
        pair = ["x", "y"] if case % 4 else ["x"]
        for hour, labels in enumerate([pair, ["z"], ["x"], ["y", "z"]]):
            region = "south" if case % 2 else "north"
            rows += [f"c{case},{label},2026-01-01 0{hour}:00:00,{region}" for label in labels]
    path.write_text("\n".join(rows) + "\n")


@pytest.fixture(scope="module")
def table(folder: Path) -> Path:
    write_rows(folder / "log.csv")
    return folder / "log.csv"


TOGETHER = ("--ties", "together")


def test_a_graph_of_attributes_or_times_is_refused_with_the_true_reason(table: Path) -> None:
    model = table.with_name("given.json")
    told_of("learn", table, *TOGETHER, "--attribute", "region", "--no-order-test", "-o", model)
    told = told_of("simulate", model, code=2)
    assert "the graph asks for attributes of sequences" in told
    assert "is no graph or joint model of all labels" not in told
    assert "--after cannot tell; give a FILE and --why CASE" in told_of("predict", model, "-a", "x", code=2)
    told_of("learn", table, *TOGETHER, "--times", "-k", "2h", "--no-order-test", "-o", model)
    assert "the graph looks back in time" in told_of("simulate", model, code=2)


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (("-k", "auto"), " → target Back "),
        (("--times", "-k", "2h", "--set", "delay=1"), "more than 1 tick later and within 2h"),
        (("--model", "osumm", "-k", "2"), "Within a tick, labels stand in the order of their names"),
    ],
)
def test_windows_have_units(table: Path, more: tuple[str, ...], words: str) -> None:
    assert words in told_of("learn", table, *TOGETHER, "--no-order-test", "--all", *more)


def test_ticks_and_attributes_are_described(table: Path) -> None:
    read = (*TOGETHER, "--attribute", "region")
    told = told_of("describe", table, *read)
    assert "Ticks: 160, of one event or several together" in told
    assert "Sequences by attribute: region=north 20, region=south 20" in told
    assert "order 'time', attribute 'region'" in told
    document = json.loads(told_of("describe", table, *read, "--json"))
    assert document["n_ticks"] == 160
    assert document["attribute_counts"] == {"region=north": 20, "region=south": 20}


@pytest.mark.parametrize("engine", ["memory", "stream"])
def test_a_tick_is_not_taken_for_events_in_a_row(folder: Path, engine: str) -> None:
    learn = ("learn", folder / "log.jsonl", "-t", "z", "--engine", engine)
    assert "say --ties together if they happened at once, or --ties 'in row order'" in told_of(
        *learn, "--ties", "error", code=2
    )
    assert "keep the order of the input" in " ".join(told_of(*learn, "--ties", "in row order").split())
    assert told_of(*learn, "--ties", "together") == told_of(*learn)


def test_a_look_back_in_time_keeps_the_times(tmp_path: Path) -> None:
    """Pain comes two hours after a meal, sleep eight."""
    rows = ["case,time,event,result"]
    for case in range(30):
        hours = 3 if case % 2 else 9
        rows += [f"{case},2024-01-01 00:00,dose,{case % 2}", f"{case},2024-01-01 01:00,meal,{case % 2}"]
        rows += [f"{case},2024-01-01 0{hours}:00,{'pain' if case % 2 else 'sleep'},{case % 2}"]
    path, model = tmp_path / "log.csv", tmp_path / "model.json"
    path.write_text("\n".join(rows) + "\n")
    told_of("learn", path, "-k", "6h", "--target", "pain", "-o", model)
    assert sm.load(model).layout_.time == "clock"
    assert sm.load(model).influencers_ == ("meal",)
    told = told_of("learn", path, "-k", "6h", "--target", "pain", "--times", "--json")
    assert told == told_of("learn", path, "-k", "6h", "--target", "pain", "--json")
    told = told_of("outcome", path, "--column", "result=1", "-k", "6h", "--json")
    assert told == told_of("outcome", path, "--column", "result=1", "-k", "6h", "--times", "--json")
    told = told_of("groups", path, "--by", "result", "-k", "6h", "--json")
    assert told == told_of("groups", path, "--by", "result", "-k", "6h", "--times", "--json")
    told = told_of("sensitivity", path, "-k", "6h,none", "--gamma", "1", "-t", "pain")
    assert "6h, None" in told
    assert told == told_of("sensitivity", path, "-k", "6h,none", "--gamma", "1", "-t", "pain", "--times")
    told = json.loads(told_of("compare", path, "-m", "bsumm-6h", "-m", "bsumm-1", "--json"))
    assert {line["name"] for line in told["lines"]} == {"bsumm-6h", "bsumm-1"}
    path.write_text("case,event\n1,a\n1,b\n")
    assert "has no order column; name it with --order-by" in told_of("learn", path, "-k", "6h", code=2)


def test_a_look_back_in_the_unit_of_a_column_of_numbers(tmp_path: Path) -> None:
    """Pain comes 20 minutes after a dose, and not after 200."""
    rows = ["case,minute,event"]
    for case in range(40):
        late = 200 if case % 2 else 20
        rows += [f"{case},0,dose", f"{case},{late},{'walk' if case % 2 else 'pain'}"]
    path, model = tmp_path / "log.csv", tmp_path / "model.json"
    path.write_text("\n".join(rows) + "\n")
    how = ("learn", path, "--order-by", "minute", "--target", "pain", "--all")
    told = told_of(*how, "-k", "30 units", "--no-order-test", "-o", model)
    assert "look-back 30 units" in told
    assert (
        "'pain' follows 'dose' within 30 units in 0% of occurrences (0 of 20); 20 occurrences left out"
        in told
    )
    events = sm.read_events(path, order_by="minute", times=True)
    again = sm.BSuMM("pain", lookback="30").fit(events)
    assert [row.counts for row in sm.load(model).table_] == [row.counts for row in again.table_]
    told = told_of(*how, "-m", "tree", "--set", "lookbacks=5 units,30 units", "--gamma", "0.1")
    assert "dose" in told
    told = told_of(*how, "-k", "6h", code=2)
    assert "look-back or delay 6h: these events have numbers; write '7 units'" in told
