"""``summarkov text``: what the library does, from the command line; and what can be wrong."""

import json
import shutil
from pathlib import Path

import pytest

import summarkov as sm
from commands import printed, run
from summarkov.text import TopicModel, load_topics, read_documents, read_text_events, text_events

pytestmark = pytest.mark.needs("sentencex", "sklearn")

HARBOUR = Path(__file__).parents[3] / "docs" / "guide" / "harbour.jsonl"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder but for the logs of a harbour."""
    monkeypatch.chdir(tmp_path)
    shutil.copy(HARBOUR, "logs.jsonl")
    return tmp_path


def fail(*arguments: object) -> str:
    before = sorted(Path().iterdir())
    result = run(*arguments, code=2)
    assert result.stdout == ""
    assert result.stderr.count("\n") == 1
    assert result.stderr.startswith("Error: ")
    assert sorted(Path().iterdir()) == before
    return result.stderr.removeprefix("Error: ").rstrip("\n")


def test_topics_are_those_of_the_library(folder: Path) -> None:
    options = ["-n", "7", "--repeats", "once"]
    document = json.loads(printed("text", "logs.jsonl", "-o", "e.jsonl", *options, "--json"))
    topics = TopicModel(n_topics=7)
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
    run("text", "logs.jsonl", "-o", "e.jsonl", "-n", "7")
    assert sorted(path.name for path in folder.iterdir()) == ["e.jsonl", "e.topics.json", "logs.jsonl"]
    Path("new.csv").write_text("name,day,body\nx,2,The storm came. A ferry was cancelled.\ny,1,A museum.\n")
    columns = ["--id", "name", "--text", "body"]
    text = printed("text", "new.csv", *columns, "--use", "e.topics.json", "-o", "n.jsonl")
    assert "Saved the events n.jsonl" in text
    assert "Saved the topics" not in text
    found = read_text_events("n.jsonl")
    topics = load_topics("e.topics.json")([s.text for s in found.sentences])
    assert [label for sequence in found.events for label in sequence] == topics
    run("text", "new.csv", *columns, "--use", "e.topics.json", "--leave-out", topics[0], "-o", "n.jsonl")
    assert topics[0] not in read_text_events("n.jsonl").events.labels


def test_the_page_takes_passages(folder: Path) -> None:
    run("text", "logs.jsonl", "-o", "e.jsonl", "-n", "7")
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
    topics = ("text", "logs.jsonl")
    Path("bad.jsonl").write_text('{"id": "a", "text": "One."}\n{"id": "b"}\n')
    assert fail("text", "bad.jsonl", "-o", "e.jsonl") == (
        "bad.jsonl, line 2: there is no 'text'; name the text with --text; its keys are 'id'"
    )
    assert "let the name of e.csv end in .jsonl" in fail(*topics, "-o", "e.csv")
    assert "there is no folder nowhere" in fail(*topics, "-o", "nowhere/e.jsonl")
    assert "use one of runs, once, all" in fail(*topics, "-o", "e.jsonl", "-n", "2", "--repeats", "x")
    assert "exclude each other" in fail(*topics, "-o", "e.jsonl", "--use", "a.json", "-c", "storm")
    assert "a.json: there is no such file" in fail(*topics, "-o", "e.jsonl", "--use", "a.json")
    assert "for 5000 topics; give more text, or ask for fewer" in fail(*topics, "-o", "e.jsonl", "-n", "5000")
