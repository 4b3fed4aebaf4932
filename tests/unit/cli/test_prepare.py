"""Preparing and converting events on the command line."""

import json
import re
from pathlib import Path

import pytest

import summarkov as sm
from commands import printed

#: Numbers as the paper counts them.
pytestmark = pytest.mark.cut_off

LISTS = [["a", "a", "b", "c"], ["a", "b", "b", "d"], ["b", "a"]] * 5


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("events.jsonl").write_text("".join(f"{json.dumps(labels)}\n" for labels in LISTS))
    Path("map.json").write_text('{"c": "b", "x": "y"}')
    rows = "case,event,time\n" + "".join(f"1,{label},{at}\n" for at, label in enumerate("abac", start=1))
    Path("log.csv").write_text(rows + "1,z,99\n")
    return tmp_path


def converted(*options, source="events.jsonl"):
    printed("convert", source, "out.jsonl", *options)
    return sm.read_events("out.jsonl")


EVENTS = sm.read_events(LISTS, ends="cut off")


def test_convert(here):
    for name in ("out.csv", "out.tsv.gz", "out.parquet", "out.jsonl.zst"):
        assert (
            printed("convert", "events.jsonl", name)
            == f"Saved 15 sequences with 50 events of 4 labels as {name}\n"
        )
        assert sm.read_events(name) == EVENTS
    assert json.loads(printed("convert", "events.jsonl", "out.csv", "--json")) == {
        "saved": "out.csv",
        "sequences": 15,
        "events": 50,
        "labels": 4,
    }


def test_prepared(here):
    assert converted("--min-count", 6) == EVENTS.pool_rare(6)
    assert converted("--collapse") == EVENTS.collapse_repeats()
    assert converted("--start") == EVENTS.add_start()
    assert converted("--map", "map.json") == EVENTS.map_labels({"c": "b"})
    everything = EVENTS.map_labels({"c": "b"}).pool_rare(6).collapse_repeats().add_start()
    assert converted("--map", "map.json", "--min-count", 6, "--collapse", "--start") == everything


def test_sessions(here):
    events = converted("--session-gap", 5, source="log.csv")
    assert events.ids == ("1/1", "1/2")
    assert events.to_lists() == [["a", "b", "a", "c"], ["z"]]


@pytest.mark.parametrize("command", ["describe", "learn"])
def test_every_command_that_reads_prepares(here, command):
    document = json.loads(printed(command, "events.jsonl", "--min-count", 6, "--start", "--json"))
    assert "(start)" in json.dumps(document)
    assert "(rare)" in json.dumps(document)


def test_a_model_tells_what_is_rare(here):
    printed("learn", "events.jsonl", "--min-count", 6, "-o", "model.json")
    Path("new.jsonl").write_text('["a", "new", "b"]\n["c"]\n')
    printed("predict", "model.json", "new.jsonl", "--min-count", 6, "-o", "out.jsonl")
    rows = [json.loads(line) for line in Path("out.jsonl").read_text().splitlines()]
    assert [row["event"] for row in rows] == ["a", "(rare)", "b", "(rare)"]
    assert printed("evaluate", "model.json", "new.jsonl", code=2).startswith("Error: unknown label 'c'")
    printed("evaluate", "model.json", "new.jsonl", "--min-count", 1)
    printed("learn", "events.jsonl", "-o", "plain.json")
    assert printed("evaluate", "plain.json", "new.jsonl", "--min-count", 1, code=2) == (
        "Error: the model was learned without --min-count: it knows no label '(rare)'; leave it out\n"
    )


def test_parts_are_pooled_alike(here):
    """Train tells what is rare in dev and test; two groups tell it together."""
    dev, test = [["d", "c", "a"]] * 9, [["d", "b", "a", "q"]] * 9
    for name, lists in {"train": LISTS, "dev": dev, "test": test}.items():
        sm.write_events(lists, f"{name}.jsonl")
        pooled = [[label if label in "ab" else "(rare)" for label in labels] for labels in lists]
        sm.write_events(pooled, f"{name}-pooled.jsonl")
    command = ["-m", "chain-1", "--json"]
    shown = printed("compare", "train.jsonl", "dev.jsonl", "test.jsonl", *command, "--min-count", 6)
    expected = printed("compare", "train-pooled.jsonl", "dev-pooled.jsonl", "test-pooled.jsonl", *command)
    timed = re.compile(r'"seconds": [^,]*')
    assert timed.sub("", shown) == timed.sub("", expected)
    shown = printed("groups", "train.jsonl", "dev.jsonl", "--min-count", 10, "--json")
    assert shown == printed("groups", "train.jsonl", "dev.jsonl", "--json")  # c and d are rare in none


@pytest.mark.parametrize(
    "options",
    [["--min-count", "6"], ["--map", "map.json", "--start", "--collapse"]],
)
def test_streams_are_prepared_as_in_memory(here, options):
    """Learned from, and predicted by a model that knows which labels are rare."""
    models, tables = [], []
    for engine in ("memory", "stream"):
        how = ["--engine", engine, "--memory", "100K", *options]
        printed("learn", "events.jsonl", *how, "-o", f"{engine}.json")
        printed("predict", f"{engine}.json", "events.jsonl", *how, "-o", f"{engine}.csv")
        models.append(Path(f"{engine}.json").read_text())
        tables.append(Path(f"{engine}.csv").read_text())
    assert models[0] == models[1]
    assert tables[0] == tables[1]
    assert ("(start)" in tables[0], "(rare)" in tables[0]) == ("--start" in options, "--min-count" in options)
