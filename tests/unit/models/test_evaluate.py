"""Evaluations: the figures of every target and of the next event, beside the base rate; how sure they are."""

import bisect
import math

import numpy as np
import pytest

from summarkov import BSuMM, InfluenceGraph, JointSuMM, read_events, scan_events, write_events
from summarkov.errors import DataError, SettingError

#: Numbers as the paper counts them.
pytestmark = pytest.mark.cut_off

EVENTS = [["A", "B", "C", "A", "B"], ["C", "C", "A", "B"]] * 10
NEW = [["A", "B", "C"], ["B", "A", "C", "A"]]


EDGES = [0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1]


def counted(told):
    """One row per bin that is not empty, from pairs of a probability and whether it came true."""
    bins = {}
    for p, came_true in told:
        bins.setdefault(min(bisect.bisect_right(EDGES, p) - 1, 12), []).append((p, came_true))
    return [
        (
            EDGES[b],
            EDGES[b + 1],
            len(some),
            sum(p for p, _ in some) / len(some),
            sum(y for _, y in some) / len(some),
        )
        for b, some in sorted(bins.items())
    ]


def same_bins(found, expected):
    rows = [(b.low, b.high, b.n, b.predicted, b.occurred) for b in found]
    assert rows == [pytest.approx(row, rel=1e-12) for row in expected]


def flat(sequences):
    return [x for sequence in sequences for x in sequence]


def accuracy(happened, p, names, k):
    """How often what happened is among the k most likely names; of equal ones the first by name."""
    right = 0
    for x, row in zip(happened, p, strict=True):
        likely = sorted(names, key=lambda name: (-row[names.index(name)], name))
        right += x in likely[:k]
    return right / len(happened)


def test_figures_of_one_target_are_those_of_its_probabilities():
    model = BSuMM("B", lookback=1).fit(EVENTS)
    found = model.evaluate(NEW)
    p = model.predict_proba(NEW)[:, 0]
    occurred = np.array([label == "B" for sequence in NEW for label in sequence])
    likelihood = float(np.log(np.where(occurred, p, 1 - p)).sum())
    (figures,) = found.targets.values()
    expected = counted(zip(p.tolist(), occurred.tolist(), strict=True))
    assert 1 < len(expected) < 12  # so that some bins are empty, which are left out
    same_bins(found.reliability(), expected)
    same_bins(found.reliability("B"), expected)
    assert (found.top_1, found.top_3, found.next_event) == (None, None, None)
    with pytest.raises(SettingError, match="there is no label 'b'; choose one such as B"):
        found.reliability("b")
    assert list(found.targets) == [("B",)]
    assert (found.n_sequences, found.n_events, figures.n_positions) == (2, 7, 7)
    assert figures.log_likelihood == pytest.approx(likelihood)
    assert figures.log_loss == pytest.approx(-likelihood / 7)
    assert figures.brier_score == pytest.approx(float(((p - occurred) ** 2).mean()))
    base = (20 + 10 + 0.1) / (90 + 0.2)  # B among all events, with the prior
    assert figures.base_rate_log_loss == pytest.approx(-(2 * math.log(base) + 5 * math.log(1 - base)) / 7)
    assert figures.gain == pytest.approx(1 - figures.log_loss / figures.base_rate_log_loss)


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


@pytest.mark.parametrize(
    ("events", "words"),
    [([[]], "no events to evaluate"), ([["new"]], "no event has a label that the model knows")],
)
def test_what_cannot_be_evaluated(events, words):
    with pytest.raises(DataError, match=words):
        BSuMM("B", lookback=1).fit(EVENTS).evaluate(read_events(events), unknown="ignore")
    with pytest.raises(DataError, match=words):
        JointSuMM().fit(EVENTS).evaluate(read_events(events), unknown="ignore")


WITHOUT_C = [["A", "B", "A"], ["B", "A", "B", "A", "A"]]


def test_calibration_and_accuracy_of_a_graph_and_of_a_joint_model():
    graph = InfluenceGraph(BSuMM(lookback=1)).fit(EVENTS)
    joint = JointSuMM(penalty=1.0).fit(EVENTS)
    own = {x: [row[0] for row in graph.models_[x].predict_proba(WITHOUT_C).tolist()] for x in "ABC"}
    together = joint.predict_proba(WITHOUT_C).tolist()
    shared = {x: [row[at] for row in together] for at, x in enumerate("ABC")}
    happened = flat(WITHOUT_C)
    for model, p in ((graph, own), (joint, shared)):
        found = model.evaluate(WITHOUT_C)
        told = {x: list(zip(p[x], (y == x for y in happened), strict=True)) for x in "ABC"}
        for x in "ABC":
            same_bins(found.reliability(x), counted(told[x]))
        assert all(b.occurred == 0 for b in found.reliability("C"))  # which never occurs here
        same_bins(found.reliability(), counted(flat(told.values())))
        assert sum(b.n for b in found.reliability()) == 24
        rows = model.predict_proba(WITHOUT_C).tolist()
        assert found.top_1 == accuracy(happened, rows, list("ABC"), 1)
        assert 0 < found.top_1 < found.top_3 == 1


def test_accuracy_of_many_labels_and_of_labels_that_are_not_known():
    events = [list("ABCDE"), list("CABED"), list("BADCE")] * 6
    new = [list("ABDCEE"), ["B", "new", "A", "C"]]
    for model in (InfluenceGraph(BSuMM(lookback=1)).fit(events), JointSuMM(penalty=1.0).fit(events)):
        rows = model.predict_proba(new, unknown="ignore").tolist()
        found = model.evaluate(new, unknown="ignore")
        for top, k in ((found.top_1, 1), (found.top_3, 3)):
            known = [(x, row) for x, row in zip(flat(new), rows, strict=True) if x != "new"]
            assert top == accuracy([x for x, _ in known], [row for _, row in known], list("ABCDE"), k)
        assert f"in {found.top_1:.1%}, and among the three" in str(found)
    assert JointSuMM(penalty=1.0, targets=["B"]).fit(events).evaluate(events).top_1 is None


def test_events_with_weights_are_counted_by_them(tmp_path):
    lines, copies = ["case,event,time,weight"], []
    for case, sequence in enumerate([*NEW, *WITHOUT_C]):
        copies += [sequence] * (1 + 2 * (case % 2))
        lines += [f"{case},{x},{at},{1 + 2 * (case % 2)}" for at, x in enumerate(sequence)]
    (tmp_path / "new.csv").write_text("\n".join(lines) + "\n")
    columns = {"case": "case", "event": "event", "order_by": "time", "weight": "weight"}
    weighted = scan_events(tmp_path / "new.csv", **columns)
    for model in (BSuMM("B", lookback=1), InfluenceGraph(BSuMM(lookback=1)), JointSuMM(penalty=1.0)):
        model.fit(EVENTS)
        found, expected = model.evaluate(weighted), model.evaluate(copies)
        assert (found.top_1, found.top_3) == (expected.top_1, expected.top_3)
        same_bins(found.reliability(), [tuple(vars(b).values()) for b in expected.reliability()])
        for mine, theirs in zip(found.targets.values(), expected.targets.values(), strict=True):
            assert tuple(vars(mine).values()) == pytest.approx(tuple(vars(theirs).values()))
        if expected.next_event is not None:
            mine, theirs = vars(found.next_event), vars(expected.next_event)
            assert tuple(mine.values()) == pytest.approx(tuple(theirs.values()))
