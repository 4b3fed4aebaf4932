"""Kneser-Ney smoothing against a slow twin in exact fractions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracle_joint
import summarkov as sm
from strategies import examples
from summarkov.comparison import KneserNeyContender
from summarkov.errors import SettingError

#: Numbers as the paper counts them.
pytestmark = pytest.mark.cut_off


@examples(60)
@given(
    st.lists(st.lists(st.sampled_from("ABC"), max_size=6), min_size=1, max_size=6).filter(any),
    st.lists(st.sampled_from("ABC"), max_size=5),
    st.integers(0, 3),
)
def test_it_is_the_textbooks(sequences, history, order):
    events = sm.read_events(sequences)
    labels = list(events.labels)
    history = [x for x in history if x in labels]
    ((settings, predictor),) = KneserNeyContender([order]).fit_each(events, labels)
    assert settings == {"order": order}
    after = sm.read_events([[*history, labels[0]]]).recode(labels)
    found = [predictor.probability(after, x)[-1] for x in labels]
    assert found == pytest.approx(
        [float(p) for p in oracle_joint.after_last_labels(sequences, labels, order, history)], abs=1e-12
    )
    assert sum(found) == pytest.approx(1, abs=1e-12)


def test_it_is_compared():
    rng = np.random.default_rng(0)
    lists = [[f"{x}" for x in (rng.integers(0, 3, 12) + np.arange(12)) % 4] for _ in range(60)]
    events = sm.read_events(lists)
    parts = events[:30], events[30:45], events[45:]
    found = sm.compare(*parts, models=["kneser-ney", "chain-1"])
    assert sorted(line.name for line in found.lines) == ["chain-1", "kneser-ney"]


def test_unknown_labels_say_nothing():
    events = sm.read_events([["A", "B", "A", "B", "A"]] * 3)
    ((_, predictor),) = KneserNeyContender([2]).fit_each(events, events.labels)
    odd = sm.read_events([["X", "A"]]).recode(events.labels, unknown="ignore")
    start = sm.read_events([["A"]]).recode(events.labels)
    twice = sm.read_events([["X", "X", "A"]]).recode(events.labels, unknown="ignore")
    assert predictor.probability(odd, "A")[1] == predictor.probability(twice, "A")[2]
    assert predictor.probability(start, "A")[0] > predictor.probability(odd, "A")[1]


@pytest.mark.parametrize(
    ("orders", "sentence"), [([], "at least one"), ([-1], "order must be"), ([2.5], "order")]
)
def test_settings_that_make_no_sense(orders, sentence):
    with pytest.raises(SettingError, match=sentence):
        KneserNeyContender(orders)
