"""First events: counted wherever events are, and told where they are special."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

import summarkov as sm
from summarkov.cli.main import app
from summarkov.engines import make_source
from summarkov.engines.source import count_starts
from summarkov.events.describe import special_starts

#: Numbers as the paper counts them.
pytestmark = pytest.mark.cut_off

SEQUENCES = [["log in", *"abcab"], [], ["log in", *"bbca"], ["a"], ["log in", *"ccbabcab"]]


@pytest.mark.parametrize("most", [1, 2, 3, 5, 100])
def test_a_sequence_that_is_cut_begins_once(most, monkeypatch):
    monkeypatch.setattr("summarkov.engines.source.SHARD_EVENTS", most)
    events = sm.read_events(SEQUENCES)
    starts = make_source(events).map(count_starts).tolist()
    assert dict(zip(events.labels, starts, strict=True)) == {"a": 1, "b": 0, "c": 0, "log in": 3}


def test_only_what_begins_far_more_often_is_special():
    labels = ["a", "b", "c"]
    assert special_starts(labels, np.array([50, 30, 20]), np.array([550, 330, 220])) == []
    (start,) = special_starts(labels, np.array([90, 5, 5]), np.array([190, 505, 505]))
    assert start == ("a", 0.9, 100 / 1100)
    assert special_starts(labels, np.array([2, 1, 0]), np.array([3, 3, 2])) == []  # chance
    assert special_starts(labels, np.array([9, 5, 5]), np.array([9, 5, 5])) == []  # nothing comes later
    assert special_starts(labels, np.zeros(3, np.int64), np.zeros(3, np.int64)) == []


def test_learn_names_the_label(tmp_path):
    rng = np.random.default_rng(0)
    path = tmp_path / "events.jsonl"
    rows = [["log in", *rng.choice(list("abcd"), 9).tolist()] for _ in range(200)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    words = " ".join(CliRunner().invoke(app, ["learn", str(path)], env={"COLUMNS": "80"}).stdout.split())
    assert "Hint: every case begins with 'log in', which is no influence;" in words
    path.write_text("".join(json.dumps(row[1:]) + "\n" for row in rows))
    assert "is the first event" not in CliRunner().invoke(app, ["learn", str(path)]).stdout
