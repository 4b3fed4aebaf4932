"""Explanations say what predictions say: of the history, and of the same history edited."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import summarkov as sm
from strategies import UNKNOWN, data, examples
from summarkov.evidence.ratios import FEW

#: Numbers as the paper counts them.
pytestmark = pytest.mark.cut_off

MODELS = {
    "binary": lambda target: sm.BSuMM(target, lookback=3, gamma=0.1, false_edges=None),
    "whole past": lambda target: sm.BSuMM(target, lookback=None, gamma=0.1, false_edges=None),
    "mapping": lambda target: sm.BSuMM(target, lookback={"A": 1, "B": 3}, gamma=0.1, false_edges=None),
    "delayed": lambda target: sm.BSuMM(target, lookback=4, delay=1, gamma=0.1, false_edges=None),
    "auto": lambda target: sm.BSuMM(target, lookback="auto", gamma=0.1, false_edges=None),
    "ordinal": lambda target: sm.OSuMM(target, lookback=3, gamma=0.1, false_edges=None),
    "count": lambda target: sm.CSuMM(target, lookback=4, gamma=0.1, false_edges=None),
    "tree": lambda target: sm.TreeSuMM(target, gamma=0.1),
    "chain": lambda target: sm.MarkovChain(target, order=2),
    "vom": lambda target: sm.VariableOrderChain(target, gamma=0.1),
}
REACH = {"binary": 3, "delayed": 4, "ordinal": 3, "count": 4, "chain": 2}


def after(model, history):
    """The probabilities of the event after a history, which may hold unknown labels."""
    return model.predict_proba([[*history, UNKNOWN]], unknown="ignore")[-1]


@pytest.mark.parametrize("name", MODELS)
@examples(25)
@given(events=data(nonempty=True), where=st.integers(0, 40))
def test_explanations_equal_predictions(name, events, where):
    assume(len(events.labels) > 1)
    target = events.labels[0]
    model = MODELS[name](target).fit(events.events)
    history = max(events.sequences, key=len)[:where]
    why = model.explain(history)
    assert why.probability == after(model, history)[0]
    assert why.seen == ("never" if why.support == 0 else "hardly" if why.support < FEW else "often")
    assert why.interval[0] <= why.probability <= why.interval[1] or why.support == 0

    first = 2 if name == "delayed" else 1
    for active in why.active:
        assert active.label in model.influencers_
        assert list(active.lags) == sorted(active.lags)
        assert [history[p - 1] for p in active.positions] == [active.label] * len(active.lags)
        assert [len(history) - p + 1 for p in active.positions] == list(active.lags)
        assert min(active.lags) >= first
        assert max(active.lags) <= REACH.get(name, len(history))
    there = {active.label: set(active.positions) for active in why.active}
    if name in REACH:
        reached = history[-REACH[name] :][: len(history[-REACH[name] :]) - first + 1]
        assert set(there) == set(model.influencers_) & set(reached)

    assert [c.label for c in why.counterfactuals if not c.occurred] == list(there)
    for each in why.counterfactuals:
        if each.occurred:
            assert each.label not in there
            edited = [*history, each.label]
        else:
            edited = [
                UNKNOWN if p in there[each.label] else event for p, event in enumerate(history, start=1)
            ]
        assert each.probability == after(model, edited)[0]
        again = model.explain(edited, unknown="ignore")
        for field in ("state", "words", "support", "interval", "seen"):
            assert getattr(each, field) == getattr(again, field)
