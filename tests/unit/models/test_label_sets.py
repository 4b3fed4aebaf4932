"""Sets of labels hold the next event as often as promised."""

import math
from fractions import Fraction

import numpy as np
import pytest

import summarkov as sm
from summarkov.errors import DataError, NotFittedError, SettingError, UnknownLabelError
from summarkov.simulate.example import web_shop

#: Numbers as the paper counts them.
pytestmark = pytest.mark.cut_off

SHOP = web_shop()
MODEL = sm.InfluenceGraph(sm.BSuMM(lookback=5)).fit(SHOP.simulate(100, 20, random_state=1))


@pytest.mark.parametrize("coverage", [0.5, 0.9])
def test_the_promise_is_kept(coverage):
    """On average over calibration data; the standard error of the mean of 30 is below 0.01."""
    held = [
        sm.LabelSets(MODEL, coverage)
        .fit(SHOP.simulate(40, 10, random_state=2 * i))
        .held(SHOP.simulate(40, 10, random_state=2 * i + 1))
        for i in range(30)
    ]
    assert np.mean(held) > coverage - 0.01
    assert np.mean(held) < coverage + 0.2


def test_sets_are_a_table():
    sets = sm.LabelSets(MODEL, 0.6).fit(SHOP.simulate(100, 10, random_state=3))
    found = sets.predict_next([["search"], ["search", "add to cart"]])
    rows = found.to_frame("pyarrow").to_pylist()
    assert [list(row) for row in rows] == [["sequence", "position", "labels", "probability"]] * 2
    assert [row["position"] for row in rows] == [2, 3]
    assert rows[1]["labels"] == ", ".join(found[1].labels)
    assert "at least 60.0%" in str(sets.summary())
    assert "at least 60.0%" in sets._repr_html_()


#: D comes once in them, and a sequence is empty.
SMALL = [["A", "B", "A"], [], ["D"], ["A", "C", "B", "B", "C"], ["B", "A"]]
CHAIN = sm.InfluenceGraph(sm.MarkovChain(order=1)).fit(
    sm.read_events([["A", "B", "C", "A", "B"], ["B", "A", "D"]] * 6, ends="cut off")
)


def with_weights(sequences, weights):
    return sm.EventSequences.from_lists(sequences, labels=CHAIN.labels_).with_weights(weights)


def probabilities(history):
    """Of each label after a history, without the noise of the last digits."""
    p = CHAIN.predict_next([history]).probabilities[0]
    return {x: round(float(each), 12) for x, each in zip(CHAIN.outcomes_, p, strict=True)}


def by_hand(sequences, weights):
    """What was likely at each event, what came, and the event's part of the weight of its sequence."""
    for sequence, weight in zip(sequences, weights, strict=True):
        for at, label in enumerate(sequence):
            yield probabilities(sequence[:at]), label, Fraction(weight) / len(sequence)


def threshold_by_hand(sequences, weights, coverage):
    total = sum(Fraction(w) for sequence, w in zip(sequences, weights, strict=True) if sequence)
    came = [(p[label], part) for p, label, part in by_hand(sequences, weights) if part]
    for threshold in sorted({p for p, _ in came}, reverse=True):
        if sum(part for p, part in came if p >= threshold) / (total + 1) >= Fraction(coverage):
            return threshold
    return 0.0


@pytest.mark.parametrize("coverage", ["0.2", "0.4", "0.5", "0.6", "0.7", "0.75", "0.8", "0.9"])
@pytest.mark.parametrize(
    "weights", [None, [1, 1, 1, 1, 1], [3, 7, 1, 2, 0], [0.5, 0, 0.25, 1, 4], [9, 1, 0, 9, 9]]
)
def test_thresholds_shares_and_sizes_by_hand(weights, coverage):
    given = weights or [1] * 5
    sets = sm.LabelSets(CHAIN, float(coverage)).fit(with_weights(SMALL, weights))
    threshold = threshold_by_hand(SMALL, given, coverage)
    assert math.isclose(sets.threshold_, threshold, abs_tol=1e-11)
    assert sets.n_sequences_ == sum(w for sequence, w in zip(SMALL, given, strict=True) if sequence)
    assert (sets.n_sequences_ < sets.n_needed) == (sets.threshold_ == 0)
    total = held = size = Fraction(0)
    for p, label, part in by_hand(SMALL, given):
        labels = {x for x in p if p[x] >= threshold - 1e-9 or p[x] == max(p.values())}
        total, held, size = total + part, held + part * (label in labels), size + part * len(labels)
    assert math.isclose(sets.held(with_weights(SMALL, weights)), held / total)
    assert math.isclose(sets.mean_size(with_weights(SMALL, weights)), size / total)


def test_a_sequence_of_weight_two_counts_as_two():
    """And one of weight 0 as none."""
    for coverage in np.linspace(0.05, 0.95, 19).tolist():
        sets = sm.LabelSets(CHAIN, coverage)
        weighted = sets.fit(with_weights(SMALL, [2, 0, 3, 0, 1])).threshold_
        assert sets.fit([SMALL[0]] * 2 + [SMALL[2]] * 3 + [SMALL[4]]).threshold_ == weighted


@pytest.mark.parametrize(
    ("coverage", "needed"), [(0.5, 1), (0.8, 4), (0.9, 9), (0.91, 11), (0.95, 19), (0.99, 99)]
)
def test_how_many_sequences_a_promise_takes(coverage, needed):
    """With one fewer every set is all labels."""
    sets = sm.LabelSets(CHAIN, coverage)
    assert sets.n_needed == needed
    assert sets.fit([["A"]] * needed).threshold_ > 0
    if needed > 1:
        assert sets.fit([["A"]] * (needed - 1)).threshold_ == 0


def test_labels_that_are_not_known_are_refused_or_left_out():
    new = [["A", "new", "B"], ["new"], ["B", "A"]]
    sets = sm.LabelSets(CHAIN, 0.5)
    with pytest.raises(UnknownLabelError, match="'new'"):
        sets.fit(new)
    sets.fit(new, unknown="ignore")
    p = CHAIN.predict_proba(new, unknown="ignore")
    known = [(0, "A", 0.5), (2, "B", 0.5), (4, "B", 0.5), (5, "A", 0.5)]  # row, what came, part
    came = sorted((p[row, CHAIN.outcomes_.index(label)], part) for row, label, part in known)[::-1]
    # Half of three sequences, the second of which has no known event: 1.5 of 2 + 1.
    assert sets.n_sequences_ == 2
    assert sets.threshold_ == came[2][0]
    with pytest.raises(UnknownLabelError, match="'new'"):
        sets.held(new)
    inside = [
        p[row, CHAIN.outcomes_.index(x)] >= sets.threshold_ or CHAIN.outcomes_[p[row].argmax()] == x
        for row, x, _ in known
    ]
    assert sets.held(new, unknown="ignore") == sum(inside) / 4
    assert len(sets.predict_next([["new"]], unknown="ignore")) == 1


@pytest.mark.parametrize("nothing", [[], [[], []], with_weights(SMALL, [0, 1, 0, 0, 0]), [["new"]]])
def test_no_events_are_refused(nothing):
    sets = sm.LabelSets(CHAIN, 0.5).fit(SMALL)
    for ask in (sets.copy().fit, sets.held, sets.mean_size):
        with pytest.raises(DataError, match="no events to look at; give sequences that are not empty"):
            ask(nothing, unknown="ignore")


def test_events_that_happened_together_are_refused():
    with pytest.raises(DataError, match="some of these happened together; give them one after the other"):
        sm.LabelSets(CHAIN).fit([[["A", "B"], ["C"]]])
    ticks = sm.InfluenceGraph(sm.BSuMM(lookback=2)).fit([[["A", "B"], ["C"]]] * 9)
    with pytest.raises(SettingError, match="models of events in a row, without attributes; learn one"):
        sm.LabelSets(ticks).fit([["A"]])


def test_what_cannot_be_is_refused():
    with pytest.raises(SettingError, match="coverage must be a number above 0 and below 1"):
        sm.LabelSets(MODEL, 1).fit([["search"]])
    with pytest.raises(SettingError, match="model must be a fitted model"):
        sm.LabelSets("model").fit([["search"]])
    with pytest.raises(DataError, match="no events to look at"):
        sm.LabelSets(MODEL).fit(sm.EventSequences.from_lists([[]], labels=SHOP.labels))
    with pytest.raises(NotFittedError, match="call fit"):
        sm.LabelSets(MODEL).predict_next([["search"]])
