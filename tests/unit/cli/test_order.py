"""The order test on the command line: by default, with its words, and not where it takes too long."""

import json
from dataclasses import replace
from importlib import resources

import pytest
from typer.testing import CliRunner

import summarkov as sm
from summarkov.cli import commands as ordering
from summarkov.cli.learned import influences
from summarkov.cli.main import app
from summarkov.cli.page import Page
from summarkov.confidence.order import ORDERS
from summarkov.explain import Influence, ranked
from summarkov.explain.influence import FEW_HITS, FEW_SEQUENCES
from summarkov.explain.verdicts import verdict
from summarkov.read import write_events
from summarkov.simulate.example import web_shop


def run(*arguments, code=0):
    result = CliRunner().invoke(app, [str(each) for each in arguments], env={"COLUMNS": "80"})
    assert result.exit_code == code, result.output + result.stderr
    return result


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("order") / "events.jsonl"
    write_events(web_shop().simulate(n_sequences=300, length=20, seed=1), path)
    return path


def test_learn_tests_the_order_by_default(file, tmp_path):
    model = tmp_path / "model.json"
    result = run("learn", file, "-o", model)
    assert " influences depend on order" in result.stdout.splitlines()[0]
    assert "Order test: 99 shuffles of every case within 20 positions." in result.stdout
    order = sm.load(model).order_
    assert order.within == 20
    assert len(order.edges) > 5
    assert "Order test" in run("show", model).stdout
    assert max(len(line) for line in result.stdout.splitlines() if not line.startswith("Saved")) <= 80
    document = json.loads(run("learn", file, "--json").stdout)
    assert document["order"]["n"] == 99
    assert [edge["order"] for edge in document["edges"]].count(ORDERS[0]) > 5


def test_it_can_be_left_out_and_told_how_to_shuffle(file):
    assert "Order test" not in run("learn", file, "--no-order-test").stdout
    document = json.loads(run("learn", file, "--within", "7", "--json").stdout)
    assert document["order"]["within"] == 7


def test_streams_say_the_same(file):
    one, two = (run("learn", file, "--json", "--engine", engine).stdout for engine in ("memory", "stream"))
    assert json.loads(one)["order"] == json.loads(two)["order"]


def test_models_without_edges_are_learned_as_before(file):
    assert "Order test" not in run("learn", file, "--target", "purchase").stdout
    assert "Order test" not in run("learn", file, "--model", "chain").stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--target", "purchase", "--order-test"], "--order-test is about the edges of a graph"),
        (["--target", "purchase", "--within", "9"], "--within is about the edges of a graph"),
        (["--no-order-test", "--within", "9"], "leave out --no-order-test"),
        (["--within", "1"], "a number of positions from 2 on"),
    ],
)
def test_options_that_do_not_go_together(file, arguments, words):
    result = run("learn", file, *arguments, code=2)
    assert words in " ".join(result.stderr.split())


def test_it_is_left_out_where_it_takes_too_long(file, monkeypatch):
    monkeypatch.setattr(ordering, "TIMES", 0)
    monkeypatch.setattr(ordering, "SECONDS", 0.0)
    result = run("learn", file)
    assert "No order test: it would take about 0 minutes. --order-test does it all the same" in result.stderr
    assert "Order test" not in result.stdout
    assert "Order test" in run("learn", file, "--order-test").stdout


def test_confidence_tests_the_order_too(file, tmp_path):
    model, sure = tmp_path / "model.json", tmp_path / "sure.json"
    run("learn", file, "--no-order-test", "-o", model)
    assert "Order test" in run("confidence", model, file, "-n", "5", "-o", sure).stdout
    assert sm.load(sure).order_.n == 99
    document = json.loads(run("confidence", model, file, "-n", "5", "--json", "--within", "8").stdout)
    assert document["order"]["within"] == 8
    bare = json.loads(run("confidence", model, file, "-n", "5", "--json", "--no-order-test").stdout)
    assert "order" not in bare


EDGE = Influence("a", "b", "inhibits", 0.5, 0.4, 0.6, 90, 900, 200, 1000, order=ORDERS[0], order_ratio=0.7)


@pytest.mark.parametrize(
    ("changes", "aside", "sentence"),
    [
        ({}, "", "; depends on order: ×0.70 against shuffled cases (0.60 to 0.80)"),
        ({"competition": False}, "", "; depends on order: ×0.70 against shuffled cases (0.60 to 0.80)"),
        (
            {"competition": True},
            "crowding out",
            "(0.60 to 0.80); crowding out: no more than other events becoming more likely explains",
        ),
        (
            {"order_ratio": 1.5, "order_low": 1.2, "order_high": 1.9},
            "unclear direction",
            "; reversed: follows more often than its overall co-occurrence suggests: ×1.5 against shuffled",
        ),
        (
            {"order": ORDERS[1]},
            "co-occurrence only",
            "; co-occurrence only, as strong in shuffled cases: ×0.70 against",
        ),
        (
            {"order": "fixed order", "cases_first": 8799.0, "cases_both": 8799.0},
            "fixed order",
            "; fixed order: it comes first in 8,799 of 8,799 cases with both",
        ),
        ({"order": "unclear"}, "unclear order", "; unclear whether it depends on order: ×0.70 against"),
    ],
)
def test_words_and_sentences(changes, aside, sentence):
    edge = replace(EDGE, **{"order_low": 0.6, "order_high": 0.8, **changes})
    assert edge.set_aside == aside
    assert sentence in verdict(edge)


def test_faint_edges_come_last():
    together, crowded = replace(EDGE, order=ORDERS[1]), replace(EDGE, competition=True)
    few = replace(EDGE, n_with=9, hits_with=1)
    assert [edge.faint for edge in ranked([few, together, crowded, EDGE])] == [
        "",
        "crowding out",
        "co-occurrence only",
        "too few events",
    ]


def test_within_is_a_number_or_a_time(file):
    result = run("learn", file, "--within", "month", code=2)
    assert "--within must be a number of positions or a time such as 7d, not 'month'" in " ".join(
        result.stderr.split()
    )


def test_what_is_thin_is_told_by_the_rule(capsys):
    few = Influence("A", "B", "unclear", 1.0, 0.1, 9.0, 9, 50, 19, 100)
    assert few.is_thin  # nine hits, and nine and a half expected
    assert not replace(few, hits_without=20).is_thin  # ten expected
    assert not replace(few, hits_with=10).is_thin
    many = Influence("A", "B", "amplifies", 2.0, 1.5, 3.0, 40, 100, 40, 200)
    assert replace(many, cases_followed=4, cases_with=9).is_thin
    assert not replace(many, cases_followed=5, cases_with=9).is_thin
    rule = f"under {FEW_HITS} seen and under {FEW_HITS} expected"
    more = f", or under {FEW_SEQUENCES} cases"
    for edge, told in ((few, rule), (replace(few, cases_followed=2, cases_with=9), rule + more)):
        Page().show(influences([edge], {}))
        assert f"Too few events: {told}\n" in capsys.readouterr().out
    page = (resources.files("summarkov") / "report" / "label.js").read_text(encoding="utf-8")
    assert f'Too few events, {rule}${{joint ? "" : "{more}"}}:' in page
