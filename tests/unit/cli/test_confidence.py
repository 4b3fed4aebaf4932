"""The commands that say how sure a graph is."""

import json

import numpy as np
import pytest

import summarkov as sm
from commands import printed
from summarkov.simulate.example import web_shop


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("confidence")
    events = web_shop().simulate(n_sequences=150, length=25, random_state=1)
    lines = [json.dumps({"id": i, "events": s}) for i, s in enumerate(events.to_lists())]
    (folder / "events.jsonl").write_text("\n".join(lines))
    sm.InfluenceGraph(sm.BSuMM(lookback=5)).fit(events).save(folder / "graph.json")
    return folder


def test_learn_with_confidence_says_and_saves_it(files, tmp_path):
    text = printed("learn", files / "events.jsonl", "--confidence", 10, "-o", tmp_path / "m.json")
    assert "Sure" in text
    assert "Sure: the share of 10 resampled graphs with it" in text
    assert len(text.splitlines()) <= 24
    assert max(len(line) for line in text.splitlines() if not line.startswith("Saved")) <= 80
    graph = sm.load(tmp_path / "m.json")
    assert graph.confidence_.n == 10
    shown = printed("show", tmp_path / "m.json")
    assert shown.splitlines()[:4] == text.splitlines()[:4]
    document = json.loads(printed("show", tmp_path / "m.json", "--json"))
    assert document["confidence"]["n"] == 10
    assert all(0 <= edge["frequency"] <= 1 for edge in document["edges"])


def test_confidence_of_a_graph_learned_before(files, tmp_path):
    command = ("confidence", files / "graph.json", files / "events.jsonl", "-n", 10, "--seed", 2)
    text = printed(*command, "-o", tmp_path / "sure.json", "--level", 0.8)
    assert "Sure: the share of 10 resampled graphs with it; wider 80% intervals." in " ".join(text.split())
    direct = sm.load(files / "graph.json")
    document = json.loads(printed(*command, "--json"))
    sure = direct.confidence(sm.read_events(files / "events.jsonl"), n=10, random_state=2)
    assert [edge["frequency"] for edge in document["edges"]] == [edge.frequency for edge in sure.edges]
    assert document["saved"] is None
    assert sm.load(tmp_path / "sure.json").confidence_.level == 0.8


def test_the_same_of_events_that_are_streamed(files, tmp_path):
    asked = ("-n", 10, "--seed", 2)
    for number, lines in enumerate(np.array_split((files / "events.jsonl").read_text().splitlines(), 3)):
        (tmp_path / f"{number}.jsonl").write_text("\n".join(lines))
    in_memory = printed("confidence", files / "graph.json", files / "events.jsonl", *asked, "--json")
    assert (
        printed("confidence", files / "graph.json", tmp_path, *asked, "--memory", "100K", "--json")
        == in_memory
    )


# ---------------------------------------------------------------------- groups


@pytest.fixture(scope="module")
def two_files(tmp_path_factory):
    """A web shop, and one that forgets to offer its products."""
    folder = tmp_path_factory.mktemp("groups")
    first = web_shop().simulate(n_sequences=60, length=20, random_state=1).to_lists()
    second = web_shop().simulate(n_sequences=80, length=20, random_state=2).to_lists()
    second = [[label for label in sequence if label != "view product"] for sequence in second]
    for name, sequences in (("first", first), ("second", second)):
        (folder / f"{name}.jsonl").write_text("\n".join(json.dumps({"events": s}) for s in sequences))
    return folder / "first.jsonl", folder / "second.jsonl"


def test_groups(two_files):
    command = ("groups", *two_files, "--lookback", 4, "--gamma", 0.5)
    text = printed(*command)
    words = " ".join(text.split())
    assert "surely differ between first (60 cases), second (80 cases). Influence first second Change" in words
    assert len(text.splitlines()) <= 24
    assert max(map(len, text.splitlines())) <= 80
    document = json.loads(printed(*command, "--json"))
    direct = sm.compare_groups(sm.BSuMM(lookback=4, gamma=0.5), *map(sm.read_events, two_files))
    assert document["sizes"] == [60, 80]
    assert [e["change"]["adjusted"] for e in document["edges"]] == [e.change.adjusted for e in direct.edges]
    assert [one["label"] for one in document["labels"]] == [one.label for one in direct.labels]
    one = json.loads(printed("groups", *two_files, "-t", "purchase", "-m", "osumm", "--json"))
    assert {edge["target"] for edge in one["edges"]} == {"purchase"}
