"""Contenders by look-back: time and positions, and whether they tell different stories."""

import json

import pytest

import summarkov as sm
from summarkov.comparison import Windows
from summarkov.comparison.tuning import lineup, window_of
from summarkov.errors import SettingError
from summarkov.settings import Duration


def world(lookback):
    """Pain follows a dose within a window; steps are of 1 to 5 hours."""
    pain, rest = {(0,): 0.02, (1,): 0.6}, {(0,): 0.78, (1,): 0.2}
    rules = {"dose": 0.2, "pain": (("dose",), pain), "walk": (("dose",), rest)}
    return sm.Dynamics(rules, lookback=lookback, step=("1h", "5h")).simulate(600, 20, seed=3)


def test_names_tell_look_backs():
    made = lineup(["bsumm-6h", "osumm-5", "csumm-7d"])
    assert [each.name for each in made] == ["bsumm-6h", "osumm-5", "csumm-7d"]
    assert [each.template.lookback for each in made] == ["6h", 5, "7d"]
    assert window_of("bsumm-90min") == ("bsumm", Duration.of("90min", "lookback"))
    assert [window_of(name) for name in ("bsumm", "bsumm-auto", "bsumm-0", "chain-1", "bsumm-0h")] == [
        None
    ] * 5
    with pytest.raises(SettingError, match="with a look-back bsumm-5, osumm-6h"):
        lineup(["something"])


def test_what_depends_on_time_is_told_apart_from_what_depends_on_positions():
    for lookback, better in (("6h", "bsumm-6h"), (1, "bsumm-1")):
        events = world(lookback)
        found = sm.compare(events, models=["bsumm-6h", "bsumm-1", "chain-0"], targets=["pain"])
        (windows,) = found.windows
        assert (windows.family, windows.by_time, windows.by_position) == ("bsumm", "bsumm-6h", "bsumm-1")
        by_name = {each[0].name: each[0].log_likelihood for each in found.results}
        assert windows.difference == pytest.approx(by_name["bsumm-6h"] - by_name["bsumm-1"])
        assert (windows.better, windows.differs) == (better, True)
        assert f"{better} predicts better by {abs(windows.difference):.2f}" in str(windows)
        told = json.loads(json.dumps(found.to_dict()))["windows"][0]
        assert (told["better"], told["difference"]) == (better, windows.difference)


def test_other_influencers_are_another_story():
    first = Windows(
        "bsumm", "bsumm-6h", "bsumm-5", 0.5, (-1.0, 2.0), {"x": (("a", "b"), ()), "y": (("a",), ("c",))}
    )
    assert first.differs
    assert str(first) == (
        "bsumm-6h and bsumm-5 tell different stories: neither predicts clearly better; "
        "x: a and b by time, none by position; y: a by time, c by position."
    )
    same = Windows("bsumm", "bsumm-6h", "bsumm-5", 0.5, (-1.0, 2.0), {})
    assert str(same) == "bsumm-6h and bsumm-5 tell the same story."
