"""Evaluations: the figures of every target and of the next event, beside the base rate."""

import math

import numpy as np
import pytest

from summarkov import BSuMM, InfluenceGraph, JointSuMM, read_events, scan_events, write_events
from summarkov.errors import DataError

EVENTS = [["A", "B", "C", "A", "B"], ["C", "C", "A", "B"]] * 10
NEW = [["A", "B", "C"], ["B", "A", "C", "A"]]


def test_figures_of_one_target_are_those_of_its_probabilities():
    model = BSuMM("B", lookback=1).fit(EVENTS)
    found = model.evaluate(NEW)
    p = model.predict_proba(NEW)[:, 0]
    occurred = np.array([label == "B" for sequence in NEW for label in sequence])
    likelihood = float(np.log(np.where(occurred, p, 1 - p)).sum())
    (figures,) = found.targets.values()
    assert list(found.targets) == [("B",)]
    assert (found.n_sequences, found.n_events, figures.n_positions) == (2, 7, 7)
    assert figures.log_likelihood == pytest.approx(likelihood)
    assert figures.log_loss == pytest.approx(-likelihood / 7)
    assert figures.brier_score == pytest.approx(float(((p - occurred) ** 2).mean()))
    base = (20 + 10 + 0.1) / (90 + 0.2)  # B among all events, with the prior
    assert figures.base_rate_log_loss == pytest.approx(-(2 * math.log(base) + 5 * math.log(1 - base)) / 7)
    assert figures.gain == pytest.approx(1 - figures.log_loss / figures.base_rate_log_loss)
    assert found.next_event is None


def test_a_graph_over_all_labels_has_the_next_event_too():
    graph = InfluenceGraph(BSuMM(lookback=1)).fit(EVENTS)
    found = graph.evaluate(NEW)
    assert list(found.targets) == [("A",), ("B",), ("C",)]
    assert found.next_event is not None
    assert found.next_event.log_likelihood == graph.log_likelihood(NEW)
    assert found.next_event.brier_score == graph.brier_score(NEW)
    assert found.to_frame("pyarrow").column("log_loss").to_pylist() == [
        each.log_loss for each in found.targets.values()
    ]
    assert "(next event)" in str(found)
    assert InfluenceGraph(BSuMM(lookback=1), targets=["B"]).fit(EVENTS).evaluate(NEW).next_event is None


def test_a_joint_model_has_every_label_against_all_else_and_the_next_event(tmp_path):
    model = JointSuMM(penalty=1.0, rounds=3).fit(EVENTS)
    new = [*NEW, ["A", "other", "B"]]
    found = model.evaluate(new, unknown="ignore")
    known = np.array([x for sequence in new for x in sequence]) != "other"
    p = model.predict_proba(new, unknown="ignore")
    happened = np.array(["ABC".find(x) for sequence in new for x in sequence])
    assert (found.n_sequences, found.n_events) == (3, 10)
    assert found.next_event.n_positions == 9
    each = np.log(p[known, happened[known]])
    assert found.next_event.log_likelihood == pytest.approx(float(each.sum()))
    rates = (np.array([30, 30, 30]) + 0.5) / (90 + 1.5)
    base = -np.log(rates[happened[known]]).mean()
    assert found.next_event.base_rate_log_loss == pytest.approx(float(base))
    for x, figures in enumerate(found.targets.values()):
        hit = happened == x  # what the model does not know is none of its labels
        likelihood = float(np.where(hit, np.log(p[:, x]), np.log1p(-p[:, x])).sum())
        assert figures.n_positions == 10
        assert figures.log_likelihood == pytest.approx(likelihood)
        assert figures.brier_score == pytest.approx(float(((p[:, x] - hit) ** 2).mean()))
    write_events(read_events(NEW), tmp_path / "new.jsonl")
    assert model.evaluate(scan_events(tmp_path / "new.jsonl")) == model.evaluate(NEW)
    some = JointSuMM(penalty=1.0, targets=["B"]).fit(EVENTS).evaluate(NEW)
    assert list(some.targets) == [("B",)]
    assert some.next_event.log_likelihood == pytest.approx(some.targets["B",].log_likelihood)


def test_events_of_no_known_label_belong_to_the_rest():
    model = BSuMM("B", lookback=1).fit(EVENTS)
    (figures,) = model.evaluate([["B", "new", "A"]], unknown="ignore").targets.values()
    assert figures.n_positions == 3


@pytest.mark.parametrize(
    ("events", "words"),
    [([[]], "no events to evaluate"), ([["new"]], "no event has a label that the model knows")],
)
def test_what_cannot_be_evaluated(events, words):
    with pytest.raises(DataError, match=words):
        BSuMM("B", lookback=1).fit(EVENTS).evaluate(read_events(events), unknown="ignore")
    with pytest.raises(DataError, match=words):
        JointSuMM().fit(EVENTS).evaluate(read_events(events), unknown="ignore")
