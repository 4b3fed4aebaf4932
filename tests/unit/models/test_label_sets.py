"""Sets of labels hold the next event as often as promised."""

import math

import numpy as np
import pytest

import summarkov as sm
from summarkov.errors import DataError, NotFittedError, SettingError
from summarkov.simulate.example import web_shop

SHOP = web_shop()
MODEL = sm.InfluenceGraph(sm.BSuMM(lookback=5)).fit(SHOP.simulate(100, 20, seed=1))


@pytest.mark.parametrize("coverage", [0.5, 0.9])
def test_the_promise_is_kept(coverage):
    """On average over calibration data; the standard error of the mean of 30 is below 0.01."""
    held = [
        sm.LabelSets(MODEL, coverage)
        .fit(SHOP.simulate(40, 10, seed=2 * i))
        .held(SHOP.simulate(40, 10, seed=2 * i + 1))
        for i in range(30)
    ]
    assert np.mean(held) > coverage - 0.01
    assert np.mean(held) < coverage + 0.2


def test_a_wrong_model_is_told_by_larger_sets():
    wrong = sm.InfluenceGraph(sm.MarkovChain(order=0)).fit([["browse", *SHOP.labels]] * 5)
    new = SHOP.simulate(200, 10, seed=5)
    sets = sm.LabelSets(wrong, 0.9).fit(SHOP.simulate(200, 10, seed=4))
    assert sets.held(new) > 0.87


def test_a_set_is_the_labels_that_are_likely_enough():
    sets = sm.LabelSets(MODEL, 0.6).fit(SHOP.simulate(100, 10, seed=3))
    history = ["search", "add to cart"]
    p = dict(zip(MODEL.outcomes_, MODEL.predict_next([history]).probabilities[0], strict=True))
    (found,) = sets.predict_next([history])
    assert list(found.labels) == sorted(p, key=lambda x: -p[x])[: len(found.labels)]
    assert {x for x in p if p[x] >= sets.threshold_} == set(found.labels)
    assert math.isclose(found.probability, sum(p[x] for x in found.labels))


def test_sets_are_a_table():
    sets = sm.LabelSets(MODEL, 0.6).fit(SHOP.simulate(100, 10, seed=3))
    found = sets.predict_next([["search"], ["search", "add to cart"]])
    rows = found.to_frame("pyarrow").to_pylist()
    assert [list(row) for row in rows] == [["sequence", "position", "labels", "probability"]] * 2
    assert [row["position"] for row in rows] == [2, 3]
    assert rows[1]["labels"] == ", ".join(found[1].labels)
    assert "at least 60.0%" in str(sets.summary())
    assert "at least 60.0%" in sets._repr_html_()


def test_a_set_is_never_empty():
    """Where all labels are less likely than the threshold, the most likely one is the set."""
    sets = sm.LabelSets(MODEL, 0.1).fit([["browse"] * 9] * 60)
    sizes = [len(each.labels) for each in sets.predict_next([["search"], ["page error", "add to cart"]])]
    p = MODEL.predict_next([["search"]]).probabilities[0]
    assert sizes == [1, 1]
    assert p.max() < sets.threshold_


def test_the_threshold_by_hand():
    """Two sequences and room for a third: 2/3 of the weight, half of it for each event of the second."""
    model = sm.InfluenceGraph(sm.MarkovChain(order=0), n_jobs=1).fit([["A", "A", "B"]] * 50)
    p = model.predict_next([[]]).probabilities[0]
    sets = sm.LabelSets(model, 0.5).fit([["A"], ["A", "B"]])
    assert math.isclose(sets.threshold_, p[0])
    assert math.isclose(sm.LabelSets(model, 0.6).fit([["A"], ["A", "B"]]).threshold_, p[1])
    everything = sm.LabelSets(model, 0.9).fit([["A"], ["A", "B"]])
    assert everything.threshold_ == 0
    assert [each.labels for each in everything.predict_next([["A"]])] == [("A", "B")]


def test_what_cannot_be_is_refused():
    with pytest.raises(SettingError, match="coverage must be a number between 0 and 1"):
        sm.LabelSets(MODEL, 1.5).fit([["search"]])
    with pytest.raises(SettingError, match="model must be a fitted model"):
        sm.LabelSets("model").fit([["search"]])
    with pytest.raises(DataError, match="no events to find the threshold from"):
        sm.LabelSets(MODEL).fit(sm.EventSequences.from_lists([[]], labels=SHOP.labels))
    with pytest.raises(NotFittedError, match="call fit"):
        sm.LabelSets(MODEL).predict_next([["search"]])
