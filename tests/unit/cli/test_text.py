"""``summarkov text``: what the library does, from the command line; and what can be wrong."""

import json
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

import summarkov as sm
from summarkov.cli.main import app
from summarkov.text import TopicModel, load_topics, read_documents, read_text_events, text_events
from summarkov.text.topics import english_stop_words

pytestmark = pytest.mark.needs("sentencex", "sklearn")

HARBOUR = Path(__file__).parents[3] / "docs" / "guide" / "harbour.jsonl"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder but for the logs of a harbour."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    shutil.copy(HARBOUR, "logs.jsonl")
    return tmp_path


def run(*arguments: object) -> Result:
    result = CliRunner().invoke(app, [str(a) for a in arguments])
    assert (result.exit_code, result.stderr) == (0, "")
    return result


def fail(*arguments: object) -> str:
    before = sorted(Path().iterdir())
    result = CliRunner().invoke(app, [str(a) for a in arguments])
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.count("\n") == 1
    assert result.stderr.startswith("Error: ")
    assert sorted(Path().iterdir()) == before
    return result.stderr.removeprefix("Error: ").rstrip("\n")


def test_without_a_command_there_is_help(folder: Path) -> None:
    text = run("text").stdout
    assert "From documents to events" in text
    assert all(name in text for name in ("topics", "concepts", "passages"))
    assert "no such command 'topic'" in fail("text", "topic")


def test_topics_are_those_of_the_library(folder: Path) -> None:
    options = ["-n", "7", "--repeats", "once", "--stop-word", "storm", "--confidence", "0.5"]
    document = json.loads(run("text", "topics", "logs.jsonl", "-o", "e.jsonl", *options, "--json").stdout)
    words = english_stop_words() | {"storm"}
    topics = TopicModel(n_topics=7, stop_words=words, confidence=0.5)
    logs = read_documents(HARBOUR)
    expected = text_events(logs, topics.fit(logs), repeats="once")
    found = read_text_events("e.jsonl")
    assert found.sentences == expected.sentences
    assert found.events.to_lists() == expected.events.to_lists()
    assert document["saved"] == {"events": "e.jsonl", "topics": "e.topics.json"}
    assert (document["documents"], document["events"]) == (48, found.events.n_events)
    counts = found.events.describe().label_counts
    assert {row["topic"]: row["events"] for row in document["topics"]} == {
        x: counts.get(x, 0) for x in topics.topics_
    }
    assert load_topics("e.topics.json").topics_ == topics.topics_


def test_stored_topics_label_new_documents(folder: Path) -> None:
    run("text", "topics", "logs.jsonl", "-o", "e.jsonl", "-n", "7", "--model", "topics.json")
    assert sorted(path.name for path in folder.iterdir()) == ["e.jsonl", "logs.jsonl", "topics.json"]
    Path("new.csv").write_text("name,day,body\nx,2,The storm came. A ferry was cancelled.\ny,1,A museum.\n")
    columns = ["--id", "name", "--text", "body"]
    text = run("text", "topics", "new.csv", *columns, "--use", "topics.json", "-o", "n.jsonl").stdout
    assert "Saved the events n.jsonl" in text
    assert "Saved the topics" not in text
    found = read_text_events("n.jsonl")
    assert found.documents == ["x", "x", "y"]
    labels = [label for sequence in found.events for label in sequence]
    assert labels == load_topics("topics.json")([s.text for s in found.sentences])


def test_passages(folder: Path) -> None:
    run("text", "topics", "logs.jsonl", "-o", "e.jsonl", "-n", "7")
    found = read_text_events("e.jsonl")
    graph = sm.InfluenceGraph(sm.BSuMM(lookback=2)).fit(found.events)
    graph.save("g.json")
    edge = max(graph.edges_, key=lambda e: (e.effect == "amplifies", e.evidence))
    options = ["-i", edge.influencer, "-t", edge.target]
    document = json.loads(run("text", "passages", "g.json", "e.jsonl", *options, "--json").stdout)
    expected = found.passages(graph, edge.target, edge.influencer)
    assert document["total"] == expected.total > 12
    assert [p["target"] for p in document["passages"]] == [dict(vars(p.target)) for p in expected]
    assert [p["before"][0]["lag"] for p in document["passages"]] == [p.before[0].lag for p in expected]
    text = run("text", "passages", "g.json", "e.jsonl", *options, "--rows", "1").stdout
    assert f"{expected.total} times; 1 passage of them" in text
    assert " ".join(expected.shown[0].target.text.split()) in " ".join(text.split())


def test_passages_of_a_state_and_of_a_label(folder: Path) -> None:
    run("text", "topics", "logs.jsonl", "-o", "e.jsonl", "-n", "7")
    found = read_text_events("e.jsonl")
    graph = sm.InfluenceGraph(sm.BSuMM(lookback=2)).fit(found.events)
    graph.save("g.json")
    edge = max(graph.edges_, key=lambda e: (e.effect == "amplifies", e.evidence))
    passages = ("text", "passages", "g.json", "e.jsonl", "-t", edge.target)
    document = json.loads(run(*passages, "-a", edge.influencer, "--json").stdout)
    expected = found.passages(graph, edge.target, after=[edge.influencer])
    assert (document["after"], document["influencer"]) == ([edge.influencer], None)
    assert document["total"] == expected.total > 0
    assert [[b["label"] for b in p["before"]] for p in document["passages"]] == [
        [b.label for b in p.before] for p in expected
    ]
    every = json.loads(run(*passages, "--json").stdout)
    assert every["total"] == found.events.describe().label_counts[edge.target]
    text = run(*passages, "-a", edge.influencer).stdout
    assert text.startswith(f"{edge.target}, in history state: ")


def test_the_page_takes_passages(folder: Path) -> None:
    run("text", "topics", "logs.jsonl", "-o", "e.jsonl", "-n", "7")
    graph = sm.InfluenceGraph(sm.BSuMM(lookback=2)).fit(sm.read_events("e.jsonl"))
    graph.save("g.json")
    run("report", "g.json", "--passages", "e.jsonl", "-o", "page.html")
    assert Path("page.html").read_text() == graph.to_html(passages=read_text_events("e.jsonl"))
    Path("f.jsonl").write_text(Path("e.jsonl").read_text().replace("storm / heavy wind", "weather"))
    assert "the events hold the label 'weather', which the model does not know" in fail(
        "report", "g.json", "--passages", "f.jsonl", "-o", "other.html"
    )
    Path("f.jsonl").write_text('["A", "B"]\n')
    assert "make the file with 'summarkov text'" in fail(
        "report", "g.json", "--passages", "f.jsonl", "-o", "other.html"
    )


def test_what_is_wrong_is_one_sentence(folder: Path) -> None:
    topics = ("text", "topics", "logs.jsonl")
    Path("bad.jsonl").write_text('{"id": "a", "text": "One."}\n{"id": "b"}\n')
    assert fail("text", "topics", "bad.jsonl", "-o", "e.jsonl") == (
        "bad.jsonl, line 2: there is no 'text'; name the text with --text; its keys are 'id'"
    )
    assert "let the name of e.csv end in .jsonl" in fail(*topics, "-o", "e.csv")
    assert "there is no folder nowhere" in fail(*topics, "-o", "nowhere/e.jsonl")
    assert "max_share must be" not in fail(*topics, "-o", "e.jsonl", "--max-share", "2")
    assert "--max-share must be a number from 0 to 1" in fail(*topics, "-o", "e.jsonl", "--max-share", "2")
    assert "use one of runs, once, all" in fail(*topics, "-o", "e.jsonl", "-n", "2", "--repeats", "x")
    assert "leave out --model" in fail(*topics, "-o", "e.jsonl", "--use", "a.json", "--model", "b.json")
    assert "a.json: there is no such file" in fail(*topics, "-o", "e.jsonl", "--use", "a.json")
    assert "for 5000 topics; give more text, or ask for fewer" in fail(*topics, "-o", "e.jsonl", "-n", "5000")
    sm.BSuMM("B").fit([["A", "B"]] * 9).save("m.json")
    assert "line 1: expected an object" not in fail(
        "text", "passages", "m.json", "logs.jsonl", "-i", "A", "-t", "B"
    )
