"""Evaluations: the figures of every target and of the next event, beside the base rate; how sure they are."""

import bisect
import math

import numpy as np
import pytest

from summarkov import BSuMM, InfluenceGraph, JointSuMM, read_events, scan_events, write_events
from summarkov.errors import DataError, SettingError

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


LABELS = list("ABCDE")
MORE = [list("ABCDE"), list("CABED"), list("BADCE")] * 6
NEWER = [list("ABDCEE"), ["B", "other", "A", "C"], list("DDA")]


@pytest.mark.parametrize(
    "model", [InfluenceGraph(BSuMM(lookback=1)), JointSuMM(penalty=1.0, rounds=3)], ids=repr
)
def test_every_label_against_all_else_and_the_next_event(model, tmp_path):
    model.fit(MORE)
    found = model.evaluate(NEWER, unknown="ignore")
    assert (found.n_sequences, found.n_events) == (3, 13)
    assert list(found.targets) == [(x,) for x in LABELS]
    happened = [x for sequence in NEWER for x in sequence]
    rows = model.predict_proba(NEWER, unknown="ignore")
    every = []
    for at, (x, figures) in enumerate(zip(LABELS, found.targets.values(), strict=True)):
        own = rows[:, at]
        if isinstance(model, InfluenceGraph):
            own = model.models_[x].predict_proba(NEWER, unknown="ignore")[:, 0]
        hit = np.array([y == x for y in happened])  # what the model does not know is none of its labels
        assert figures.n_positions == 13
        assert figures.log_likelihood == pytest.approx(float(np.log(np.where(hit, own, 1 - own)).sum()))
        assert figures.brier_score == pytest.approx(float(((own - hit) ** 2).mean()))
        told = list(zip(own.tolist(), hit.tolist(), strict=True))
        same_bins(found.reliability(x), counted(told))
        every += told
    same_bins(found.reliability(), counted(every))
    known = [(LABELS.index(x), row) for x, row in zip(happened, rows.tolist(), strict=True) if x in LABELS]
    following = found.next_event
    assert following.n_positions == 12
    assert following.log_likelihood == pytest.approx(math.fsum(math.log(row[x]) for x, row in known))
    assert following.base_rate_log_loss == pytest.approx(math.log(5))  # all came equally often
    squares = [sum((p - (x == y)) ** 2 for y, p in enumerate(row)) for x, row in known]
    assert following.brier_score == pytest.approx(np.mean(squares))
    for top, k in ((found.top_1, 1), (found.top_3, 3)):  # of equals the first by name
        likely = [sorted(range(5), key=lambda x, row=row: (-row[x], x))[:k] for _, row in known]
        assert top == sum(x in some for (x, _), some in zip(known, likely, strict=True)) / 12
    assert 0 < found.top_1 < found.top_3
    assert f"in {found.top_1:.1%}, and among the three" in str(found)
    losses = [each.log_loss for each in found.targets.values()]
    assert found.to_frame("pyarrow").column("log_loss").to_pylist() == losses
    assert "(next event)" in str(found)
    write_events(read_events(NEWER), tmp_path / "new.jsonl")
    assert model.evaluate(scan_events(tmp_path / "new.jsonl"), unknown="ignore") == found


def test_some_targets():
    assert InfluenceGraph(BSuMM(lookback=1), targets=["B"]).fit(EVENTS).evaluate(NEW).next_event is None
    some = JointSuMM(penalty=1.0, targets=["B"]).fit(EVENTS).evaluate(NEW)
    assert list(some.targets) == [("B",)]
    assert some.next_event.log_likelihood == pytest.approx(some.targets["B",].log_likelihood)
    assert some.top_1 is None


@pytest.mark.parametrize(
    ("events", "words"),
    [([[]], "no events to evaluate"), ([["new"]], "no event has a label that the model knows")],
)
def test_what_cannot_be_evaluated(events, words):
    with pytest.raises(DataError, match=words):
        BSuMM("B", lookback=1).fit(EVENTS).evaluate(read_events(events), unknown="ignore")
    with pytest.raises(DataError, match=words):
        JointSuMM().fit(EVENTS).evaluate(read_events(events), unknown="ignore")


def test_events_with_weights_are_counted_by_them(tmp_path):
    lines, copies = ["case,event,time,weight"], []
    for case, sequence in enumerate([*NEW, ["A", "B", "A"], ["B", "A", "B", "A", "A"]]):
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
