"""LightGBM as a contender with the features of a joint model."""

import sys

import numpy as np
import pytest
from paper.lightgbm import Histories, LightgbmContender
from paper.network_contender import EventCache

import summarkov as sm
from summarkov.errors import MissingLibraryError, SettingError
from summarkov.events import EventSequences

CYCLE = ["A", "B", "C"]
KIND = ({"num_leaves": 4, "min_data_in_leaf": 5, "lambda_l2": 1},)


def cycles(n: int = 60) -> EventSequences:
    """A, B, C, A, ... from any start, of several lengths."""
    return EventSequences.from_lists([[CYCLE[(s + i) % 3] for i in range(4 + s % 5)] for s in range(n)])


def test_a_row_tells_of_the_past_alone():
    events = EventSequences.from_lists([["A", "B", "A", "C"], ["A", "B", "B", "B"]])
    rows = Histories(events.labels, events.labels, np.full(3, 1 / 3), EventCache(most=1)).of(events)
    assert rows[0].tolist() == rows[4].tolist()  # nothing has happened yet
    assert rows[2].tolist() == rows[6].tolist()  # after A, B, whatever comes then
    assert rows[3].tolist() != rows[7].tolist()
    assert rows[3, :4].tolist() == [1, 2, 200, 3]  # lags of A, B and C, and the place
    assert rows[3, 4:7].tolist() == [2, 1, 0]  # how often they are among the last five
    assert rows[3, 16:19].tolist() == [0, 1, 0]  # the last three labels, the last first
    some = Histories(("A", "B", "C"), ("B",), np.full(3, 1 / 3), EventCache(most=1))
    assert some.n_outcomes == 2  # labels that are no targets are one outcome
    assert some.outcomes(EventSequences.from_lists([["A", "B", "C"]])).tolist() == [1, 0, 1]


@pytest.mark.needs("lightgbm")
def test_it_learns_a_cycle_and_takes_part_in_a_comparison():
    contender = LightgbmContender(KIND, rounds=(5, 60), learning_rate=0.2)
    *_, (settings, predictor) = contender.fit_each(cycles(), CYCLE)
    assert settings == {**KIND[0], "rounds": 60}
    rows = predictor.next_event(cycles())
    assert rows.sum(axis=1) == pytest.approx(np.ones(len(rows)), abs=1e-9)
    assert (rows[1:4][np.arange(3), [1, 2, 0]] > 0.9).all()
    assert predictor.probability(cycles(), "B")[1] == rows[1, 1]
    result = sm.compare(cycles(), models=["chain-0", contender])
    assert [(line.name, line.verdict) for line in result.lines] == [
        ("LightGBM", "best"),
        ("chain-0", "worse"),
    ]


def test_settings_and_what_is_missing(monkeypatch):
    with pytest.raises(SettingError, match="grid and rounds must hold at least one setting each"):
        LightgbmContender(grid=())
    with pytest.raises(SettingError, match="rounds must be a whole number from 1 on, not 0"):
        LightgbmContender(rounds=(0,))
    monkeypatch.setitem(sys.modules, "lightgbm", None)
    with pytest.raises(
        MissingLibraryError, match=r'needs lightgbm; install it with: pip install "summarkov\[paper\]"'
    ):
        sm.compare(cycles(), models=[LightgbmContender()])
