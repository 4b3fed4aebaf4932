"""Contenders on ticks and attributes: all answer the same question, and those that cannot say so."""

import math

import pytest

import summarkov as sm
from summarkov.comparison import BoostingContender, LogisticRegressionContender
from summarkov.events.attributes import Attributes

pytest.importorskip("sklearn")


def documents(n: int) -> sm.EventSequences:
    """Two labels in every tick, or one; those of the north have "news" in three of four ticks."""
    lists = [[["dull", "news"], ["dull", "news"], ["dull"], ["dull", "news"]], [["dull"]] * 4] * n
    north = [[True, False], [False, True]] * n
    return sm.read_events(lists).with_attributes(Attributes(["at=north", "at=south"], ["at", "at"], north))


@pytest.mark.parametrize(
    "contender",
    [
        LogisticRegressionContender(1, strengths=(100.0,)),
        LogisticRegressionContender(1, "onehot", strengths=(100.0,)),
        BoostingContender(grid=((3, 0.1, 0.0),), iterations=60, every=60),
    ],
)
def test_baselines_say_how_likely_a_label_is_in_a_tick(contender):
    events = documents(40)
    (line,) = sm.compare(events, dev=events, test=events, models=[contender], targets=["news"]).lines
    # Three of eight ticks have it: to know the attribute alone costs less than the base rate.
    alone = -(0.75 * math.log(0.75) + 0.25 * math.log(0.25)) / 2
    assert line.log_loss < alone + 0.01


@pytest.mark.parametrize("name", ["chain-1", "kneser-ney", "joint"])
def test_what_tells_of_events_in_a_row_alone_refuses_ticks_and_attributes(name):
    with_both = documents(10)
    with pytest.raises(sm.errors.SettingError, match="some of these happened together; use BSuMM"):
        sm.compare(with_both.with_attributes(None), models=[name], targets=["news"])
    in_a_row = sm.read_events([["A", "B"], ["B"]] * 9).with_attributes(
        Attributes(["at=north"], ["at"], [[True], [False]] * 9)
    )
    with pytest.raises(sm.errors.SettingError, match="and these have attributes; use BSuMM"):
        sm.compare(in_a_row, models=[name])
