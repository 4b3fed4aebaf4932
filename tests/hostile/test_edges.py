"""Data at its ends, and labels that nobody knows: one sentence or a right answer."""

import math

import numpy as np
import pytest

import summarkov as sm
from summarkov.errors import SummarkovError, UnknownLabelError

#: Numbers as the paper counts them.
pytestmark = pytest.mark.cut_off

# ------------------------------------------------------------------------------- targets

FAMILIES = {
    "binary": lambda x: sm.BSuMM(x, lookback=2),
    "exact": lambda x: sm.BSuMM(x, lookback=2, search="exact"),
    "sweep": lambda x: sm.BSuMM(x, lookback=2, search="sweep"),
    "learned": lambda x: sm.BSuMM(x, lookback=(1, 2, None)),
    "ordinal": lambda x: sm.OSuMM(x, lookback=2),
    "count": lambda x: sm.CSuMM(x, lookback=2),
    "chain": lambda x: sm.MarkovChain(x, order=1),
    "variable": lambda x: sm.VariableOrderChain(x),
    "tree": lambda x: sm.TreeSuMM(x),
}
SIZES = {
    "one sequence": [["a", "b", "c", "a", "b", "c", "a"]],
    "one event": [["a"]],
    "one label": [["a", "a", "a"], ["a"]],
    "no sequence longer than 1": [["a"], ["b"], ["a"]],
    "empty sequences": [[], ["a", "b"], [], ["a"], []],
}


def check(model, events):
    """Probabilities are probabilities, and what is stored is what was learned."""
    p = model.predict_proba(events)
    assert p.sum(axis=1) == pytest.approx(1, rel=1e-12)
    assert (p > 0).all()
    assert math.isfinite(model.score(events))


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("size", SIZES)
def test_data_at_its_ends(family, size, tmp_path):
    events = sm.read_events(SIZES[size])
    model = FAMILIES[family]("a").fit(events)
    check(model, events)
    model.save(tmp_path / "m.json")
    assert np.array_equal(sm.load(tmp_path / "m.json").predict_proba(events), model.predict_proba(events))


@pytest.mark.parametrize("family", FAMILIES)
def test_a_target_that_never_occurs(family):
    """Declared in the vocabulary only: no influencers are found, and it stays unlikely."""
    events = sm.read_events([["a", "b", "a", "b", "b"]] * 20, labels=["a", "b", "never"])
    model = FAMILIES[family]("never").fit(events)
    check(model, events)
    assert model.predict_proba(events)[:, 0].max() < 0.11
    with pytest.raises(UnknownLabelError, match="unknown label 'nowhere'"):
        FAMILIES[family]("nowhere").fit(events)


@pytest.mark.parametrize("family", FAMILIES)
def test_a_target_that_always_occurs(family):
    events = sm.read_events([["a"] * 9] * 5)
    model = FAMILIES[family]("a").fit(events)  # which is the whole vocabulary: one outcome
    assert model.predict_proba(events).tolist() == [[1.0]] * 45
    declared = sm.read_events([["a"] * 9] * 5, labels=["a", "b"])
    model = FAMILIES[family]("a").fit(declared)
    check(model, declared)
    assert model.predict_proba(declared)[:, 0].min() > 0.7


@pytest.mark.parametrize("family", FAMILIES)
def test_all_labels_as_the_target(family):
    events = sm.read_events([["a", "b", "c", "a", "b"]] * 9)
    model = FAMILIES[family](["a", "b", "c"]).fit(events)
    check(model, events)
    assert model.predict_proba(events).shape == (45, 3)


# ------------------------------------------------------------------------------- unknown labels


@pytest.mark.parametrize("family", FAMILIES)
def test_unknown_labels(family):
    events = sm.read_events([["a", "b", "c", "a", "b"]] * 9)
    model = FAMILIES[family]("b").fit(events)
    new = [["a", "zzz", "b"], ["zzz"], ["b", "a", "zzz", "zzz", "c"]]
    with pytest.raises(SummarkovError, match="unknown label 'zzz'"):
        model.predict_proba(new)
    check_shape = model.predict_proba(new, unknown="ignore")
    assert check_shape.shape[0] == 9
    assert check_shape.sum(axis=1) == pytest.approx(1, rel=1e-12)
    with pytest.raises(SummarkovError, match="unknown label 'zzz'"):
        model.explain(["zzz"])
    assert 0 < model.explain(["a", "zzz"], unknown="ignore").probability < 1
