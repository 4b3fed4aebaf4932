"""The order test on the command line: by default, with its words, and not where it is interrupted."""

import json

import pytest

import summarkov as sm
from commands import run
from summarkov.evidence import ORDERS
from summarkov.read import write_events
from summarkov.simulate.example import web_shop


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("order") / "events.jsonl"
    write_events(web_shop().simulate(n_sequences=300, length=20, random_state=1), path)
    return path


def test_learn_tests_the_order_by_default(file, tmp_path):
    model = tmp_path / "model.json"
    result = run("learn", file, "-o", model, "--all")
    assert " influences depend on order" in result.stdout.splitlines()[0]
    assert "Order test: 99 shuffles of every case within 20 positions." in result.stdout
    order = sm.load(model).order_
    assert order.within == 20
    assert len(order.edges) > 5
    assert "Order test" in run("show", model, "--all").stdout
    shown = json.loads(run("show", model, "--target", "browse", "--json").stdout)["edges"]
    assert shown == [
        e for e in json.loads(run("show", model, "--json").stdout)["edges"] if e["target"] == "browse"
    ]
    assert all(edge["order"] for edge in shown)  # the same is set aside
    assert max(len(line) for line in result.stdout.splitlines() if not line.startswith("Saved")) <= 80
    document = json.loads(run("learn", file, "--json").stdout)
    assert document["order"]["n"] == 99
    assert [edge["order"] for edge in document["edges"]].count(ORDERS[0]) > 5
    assert any(edge["remainder"] for edge in document["order"]["edges"])
    assert ("Raw:" in result.stdout) == (", raw ×" in result.stdout)


def test_it_can_be_left_out_and_told_how_to_shuffle(file):
    assert "Order test" not in run("learn", file, "--no-order-test", "--all").stdout
    document = json.loads(run("learn", file, "--within", "7", "--json").stdout)
    assert document["order"]["within"] == 7


def test_an_interrupt_leaves_the_graph_without_the_test(file, tmp_path, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("summarkov.evidence.order.count_moved", interrupted)
    result = run("learn", file, "--all", "-o", tmp_path / "model.json")
    assert "Interrupted: no order test." in result.stderr
    assert "Order test" not in result.stdout
    assert sm.load(tmp_path / "model.json").order_ is None


def test_confidence_tests_the_order_too(file, tmp_path):
    model, sure = tmp_path / "model.json", tmp_path / "sure.json"
    run("learn", file, "--no-order-test", "-o", model)
    assert "Order test" in run("confidence", model, file, "-n", "5", "-o", sure, "--all").stdout
    assert sm.load(sure).order_.n == 99
    document = json.loads(run("confidence", model, file, "-n", "5", "--json", "--within", "8").stdout)
    assert document["order"]["within"] == 8
    bare = json.loads(run("confidence", model, file, "-n", "5", "--json", "--no-order-test").stdout)
    assert "order" not in bare
