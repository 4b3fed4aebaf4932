"""The demo finds the truth, says so, and what it tells people to try works."""

import json
import shlex
from pathlib import Path

import pytest

import summarkov as sm
from commands import printed
from summarkov.simulate.example import truth_words, web_shop


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The folder that a demo was run in, and what it printed."""
    folder = tmp_path_factory.mktemp("a demo")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        return folder, printed("demo")


def test_what_it_saves(told: tuple[Path, str]) -> None:
    folder, output = told
    assert sorted(path.name for path in (folder / "demo").iterdir()) == [
        "events.jsonl",
        "model.json",
        "report.html",
        "truth.json",
    ]
    for name in ("events.jsonl", "truth.json", "model.json", "report.html"):
        assert f"demo/{name}\n" in output
    assert len(sm.read_events(folder / "demo" / "events.jsonl")) == 1000
    truth = sm.Dynamics.from_dict(json.loads((folder / "demo" / "truth.json").read_text()))
    assert truth.rules == web_shop().rules


def test_it_fits_a_screen(told: tuple[Path, str]) -> None:
    lines = told[1].splitlines()
    assert max(len(line) for line in lines[:-4]) <= 80  # then come commands, by a path if need be
    assert len(lines) <= 60


def test_its_headline_counts_what_is_planted(told: tuple[Path, str]) -> None:
    assert "\n7 event types influence others; the largest: search → view product: about 1,200" in told[1]
    assert "Set aside: 1 on themselves, 2 crowding out, 2 unclear order." in told[1]


def test_what_to_try_next_works(told: tuple[Path, str], monkeypatch: pytest.MonkeyPatch) -> None:
    folder, output = told
    monkeypatch.chdir(folder)
    commands = [shlex.split(line) for line in output.split("Try next:\n")[1].splitlines()]
    arguments = [words[words.index(next(w for w in words if w in COMMANDS)) :] for words in commands]
    assert [words[0] for words in arguments] == ["show", "predict", "simulate", "evaluate"]
    outputs = [printed(*words) for words in arguments]
    assert "add to cart, get coupon, no page error" in " ".join(outputs[0].split())
    assert outputs[1].startswith("History: add to cart, page error\n")
    assert outputs[2] == "Saved 100 sequences with 2,000 events of 10 labels as demo/new.jsonl\n"
    assert "next event" in outputs[3]


COMMANDS = ("show", "predict", "simulate", "evaluate")


def test_for_programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    document = json.loads(printed("demo", "--json"))
    assert document["truth"] == {"influences": 11, "found": 11, "right_direction": 11, "made_up": 0}
    assert document["saved"]["model"] == str(Path("demo/model.json"))
    assert len(document["targets"]) == 10


def test_a_truth_that_is_missed_is_told() -> None:
    found = {"influences": 11, "found": 9, "right_direction": 8, "made_up": 2}
    assert truth_words(found) == "Truth: 9 of 11 influences found, 8 with the right direction; 2 made up."
