"""Trees on the command line: learned, drawn at 80 columns, used."""

import json

import pytest
from typer.testing import CliRunner

import summarkov as sm
from summarkov.cli.main import app
from summarkov.evidence.words import headline
from summarkov.simulate.example import web_shop

EVENTS = web_shop().simulate(n_sequences=300, length=20, random_state=4)


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    from pathlib import Path

    from summarkov.read import write_events

    write_events(EVENTS, Path("events.jsonl"))

    def go(*given, code=0, columns="80"):
        result = CliRunner().invoke(app, list(given), env={"COLUMNS": columns, "NO_COLOR": "1"})
        assert result.exit_code == code, result.output
        return result

    return go


def test_a_tree_is_drawn_and_its_rules_are_listed(run):
    run("learn", "events.jsonl", "--model", "tree", "-t", "purchase", "-o", "m.json")
    shown = run("show", "m.json").stdout
    model = sm.TreeSuMM("purchase").fit(EVENTS)
    lines = shown.splitlines()
    assert max(len(line.rstrip()) for line in lines) <= 80
    root = model.fitted.summary.nodes[0].words(True, model.labels_)
    at = lines.index(f"{root}?")
    assert lines[at + 1].startswith("├─ yes: ")
    leaves = [line for line in lines if "(n=" in line]
    assert [line.split("(n=")[1] for line in leaves] == [f"{row.n:,.0f})" for row in model.table_]
    assert [line.split(": ")[-1].split(" ")[0] for line in leaves] == [
        f"{100 * p:.2f}%" if p < 0.01 else f"{100 * p:.1f}%"
        for p in (r.probabilities[0] for r in model.table_)
    ]
    flat = " ".join(shown.split())
    assert "How they were found" not in flat
    assert all(edge.influencer in flat for edge in model.influences_)


def test_long_trees_are_cut_and_averages_say_how_sure_they_are(run):
    run(
        *("learn", "events.jsonl", "-m", "tree", "-t", "purchase", "--gamma", "0.2", "--average"),
        *("--split", "0.3", "-o", "m.json"),
    )
    few = run("show", "m.json", "--rows", "3").stdout
    assert few.count("(n=") == 3
    assert "leaves more; --rows 0 draws all" in few
    assert "? (asked: " in few
    assert "average true" in few
    assert "split 0.3" in few
    every = run("show", "m.json", "--rows", "0", columns="60").stdout
    model = sm.load("m.json")
    assert every.count("(n=") == len(model.table_)
    drawn = [line for line in every.splitlines() if line.lstrip("│ ").startswith(("├─", "└─"))]
    assert len(drawn) == 2 * (len(model.table_) - 1)


def test_every_setting_reaches_the_model(run):
    run(
        *("learn", "events.jsonl", "-m", "tree", "-t", "purchase", "-o", "m.json", "--lookbacks", "1,4,none"),
        *("--counts", "none", "--starts", "2", "--pairs", "no", "--max-depth", "3", "--alpha", "2"),
    )
    model = sm.load("m.json")
    assert (model.lookbacks, model.counts, model.starts) == ((1, 4, None), (), (2,))
    assert (model.pairs, model.max_depth, model.alpha, model.average) == (False, 3, 2.0, False)
    shown = " ".join(run("show", "m.json").stdout.split())
    assert "lookbacks 1 or 4 or none, counts none, pairs false, starts 2, max depth 3" in shown
    document = json.loads(run("show", "m.json", "--json").stdout)
    assert document["settings"]["lookbacks"] == [1, 4, None]
    assert [row["words"] for row in document["states"]] == [row.words for row in model.table_]
    assert [step["action"] for step in document["trace"]] == ["split"] * (len(model.table_) - 1)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--lookbacks", "a"), "--lookbacks must be whole numbers such as 2,3, not 'a'"),
        (("--pairs", "maybe"), "--pairs must be auto, yes or no, not 'maybe'"),
        (("--counts", "1"), "counts must be whole numbers from 2 on, not 1"),
        (("--lookback", "3"), "--lookback is not a setting of --model tree"),
    ],
)
def test_settings_that_mean_nothing_are_refused(run, options, words):
    result = run("learn", "events.jsonl", "-m", "tree", *options, code=2)
    assert words in " ".join(result.stderr.split())


def test_a_graph_of_trees_predicts_is_evaluated_and_simulates(run):
    out = run("learn", "events.jsonl", "-m", "tree", "-o", "g.json").stdout
    graph = sm.load("g.json")
    assert " ".join(out.split()).startswith(headline(graph.edges_))
    run("predict", "g.json", "-a", "add to cart")
    run("evaluate", "g.json", "events.jsonl")
    assert len(run("simulate", "g.json", "-n", "2", "--length", "3").stdout.splitlines()) == 2
    joint = run("learn", "events.jsonl", "-m", "tree", "-t", "purchase", "-t", "search", "--joint").stdout
    assert "(n=" in joint
