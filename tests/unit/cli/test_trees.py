"""Trees on the command line: learned, shown at 80 columns, used."""

import pytest

import summarkov as sm
from commands import run
from summarkov.evidence.words import headline
from summarkov.simulate.example import web_shop

EVENTS = web_shop().simulate(n_sequences=300, length=20, random_state=4)


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    sm.write_events(EVENTS, "events.jsonl")


def test_the_leaves_of_a_tree_are_listed(here):
    run("learn", "events.jsonl", "--model", "tree", "-t", "purchase", "-o", "m.json")
    shown = run("show", "m.json").stdout
    model = sm.TreeSuMM("purchase").fit(EVENTS)
    assert max(len(line.rstrip()) for line in shown.splitlines()) <= 80
    flat = " ".join(shown.split())
    assert "How they were found" not in flat
    assert all(f"{row.n:,.0f} " in flat for row in model.table_)
    assert all(edge.influencer in flat for edge in model.influences_)


def test_a_graph_of_trees_predicts_is_evaluated_and_simulates(here):
    out = run("learn", "events.jsonl", "-m", "tree", "-o", "g.json").stdout
    graph = sm.load("g.json")
    assert " ".join(out.split()).startswith(headline(graph.edges_))
    run("predict", "g.json", "-a", "add to cart")
    run("evaluate", "g.json", "events.jsonl")
    assert len(run("simulate", "g.json", "-n", "2", "--length", "3").stdout.splitlines()) == 2
    joint = run("learn", "events.jsonl", "-m", "tree", "-t", "purchase", "-t", "search", "--joint").stdout
    assert "purchase + search: the next event at" in joint
