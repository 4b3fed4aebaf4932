"""A joint model on the command line: learned, shown, drawn, and what comes next with why."""

import csv
import json

import numpy as np
import pytest

import summarkov as sm
from commands import printed
from summarkov.evidence.words import headline
from summarkov.simulate.example import web_shop
from summarkov.wording import percent

#: Numbers as the paper counts them.
pytestmark = pytest.mark.cut_off


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """The folder with a joint model and events, and the model."""
    folder = tmp_path_factory.mktemp("joint")
    events = web_shop().simulate(20, 6, random_state=1)
    model = sm.JointSuMM(penalty=10.0).fit(events)
    model.save(folder / "joint.json")
    sm.write_events(events, folder / "events.jsonl")
    return folder, model, events


def test_it_predicts_a_file(saved):
    folder, model, events = saved
    printed("predict", folder / "joint.json", folder / "events.jsonl", "-o", folder / "p.csv")
    with open(folder / "p.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    found = [float(row["p(search)"]) for row in rows]
    np.testing.assert_allclose(
        found, model.predict_proba(events)[:, model.outcomes_.index("search")], rtol=1e-9
    )


def test_it_is_learned_shown_and_told_as_json(saved, tmp_path):
    folder, _, events = saved
    given = ("-m", "joint", "--set", "penalty=10", "--gamma", 0.1)
    shown = printed("learn", folder / "events.jsonl", *given, "-o", tmp_path / "m")
    model = sm.JointSuMM(penalty=10.0, gamma=0.1).fit(events)
    assert f"{headline(model.edges_)} among 10 event types, learned from" in " ".join(shown.split())
    assert "JointSuMM: look-back 500, gamma 0.1, penalty 10" in shown
    found = json.loads(printed("show", tmp_path / "m", "--json"))
    assert [edge["ratio"] for edge in found["edges"]] == [edge.ratio for edge in model.edges_]
    assert found["log_likelihood"] == model.log_likelihood_
    target = next(x for x, names in model.influencers_.items() if names)
    (one,) = json.loads(printed("show", tmp_path / "m", "-t", target, "--json"))["targets"]
    assert one["gains"] == model.gains_[target]
    assert one["recency"] == model.recency_[target]
    assert f"on '{target}', learned from" in " ".join(printed("show", tmp_path / "m", "-t", target).split())


def test_what_comes_next_and_why(saved):
    folder, model, _ = saved
    history = ["search", "browse"]
    found = json.loads(printed("predict", folder / "joint.json", "-a", "search", "-a", "browse", "--json"))[
        "next"
    ]
    assert [each["target"] for each in found] == [each.target for each in model.explain_next(history)]
    assert sum(each["probability"] for each in found) == pytest.approx(1.0)
    best = found[0]
    assert f"{best['target']}" in printed("predict", folder / "joint.json", "-a", "search", "-a", "browse")
    why = printed("predict", folder / "joint.json", "-a", "search", "-a", "browse", "-t", best["target"])
    assert "competition" in why
    assert f"{best['target']}: {percent(best['probability'])} instead of" in why


def test_labels_that_are_not_told_apart_are_told_as_one(saved, tmp_path):
    _, _, events = saved
    model = sm.JointSuMM(penalty=10.0, targets=["search"]).fit(events)
    model.save(tmp_path / "one.json")
    rest = model.predict_next([["browse"]]).probabilities[0, 1]
    shown = printed("predict", tmp_path / "one.json", "-a", "browse")
    assert f"(any other) {percent(rest):>12}" in shown
    sm.write_events(events, tmp_path / "events.jsonl")
    measured = printed("evaluate", tmp_path / "one.json", tmp_path / "events.jsonl")
    assert "these, or any other" in measured
    assert "next event" not in measured


def test_it_has_a_page_and_other_pictures(saved, tmp_path):
    folder, model, _ = saved
    printed("report", folder / "joint.json", "-o", tmp_path / "page.html")
    assert '"family":"JointSuMM"' in (tmp_path / "page.html").read_text()
    printed("export", folder / "joint.json", "-o", tmp_path / "g.graphml")
    assert (tmp_path / "g.graphml").read_text().count("<edge ") == len(model.edges_)
    printed("export", folder / "joint.json", "-o", tmp_path / "edges.csv")
    with open(tmp_path / "edges.csv", newline="") as file:
        assert len(list(csv.DictReader(file))) == len(model.edges_)


def test_its_evaluation_tells_accuracy_and_calibration(saved):
    folder, model, events = saved
    found, told = model.evaluate(events), printed("evaluate", folder / "joint.json", folder / "events.jsonl")
    assert " ".join(found.accuracy_words.split()) in " ".join(told.split())
    document = json.loads(printed("evaluate", folder / "joint.json", folder / "events.jsonl", "--json"))
    assert document["next_event"]["log_likelihood"] == pytest.approx(model.log_likelihood(events))
    assert [each["target"] for each in document["targets"]] == [[x] for x in model.influencers_]
    assert (document["top_1"], document["top_3"]) == (found.top_1, found.top_3)
    assert sum(each["n"] for each in document["calibration"]) == len(model.influencers_) * 120
    assert list(document["calibration"][0]) == ["from", "to", "n", "predicted", "occurred"]
