"""Dynamics written down, and drawing from them."""

import json
import re

import numpy as np
import pytest

import summarkov as sm
from summarkov.errors import SettingError, SummarkovError
from summarkov.simulate.example import LOOKBACK, SHOP, web_shop

TABLE_A = {(0, 0): 0.3, (0, 1): 0.1, (1, 0): 0.35, (1, 1): 0.2}
TABLE_B = {(0, 0): 0.1, (0, 1): 0.3, (1, 0): 0.05, (1, 1): 0.2}


def appendix(**changed):
    """The rules of the paper's appendix, some of them changed."""
    rules = {"A": (("B", "C"), TABLE_A), "B": (("B", "C"), TABLE_B), "C": 0.3, "D": 0.2, "E": 0.1}
    return rules | changed


@pytest.fixture(scope="module")
def dynamics():
    return sm.Dynamics(appendix(), lookback=3)


# ---------------------------------------------------------------------------------- what is refused


@pytest.mark.parametrize(
    ("rules", "words"),
    [
        ({}, "after a history with any history the probabilities sum to 0, not 1"),
        ({"A": 0.5, "B": 0.4}, "after a history with any history the probabilities sum to 0.9, not 1"),
        (
            appendix(A=(("B", "C"), TABLE_A | {(1, 0): 0.36})),
            "after a history with B, no C the probabilities sum to 1.01, not 1",
        ),
        (
            appendix(A=(("B", "C"), {k: v for k, v in TABLE_A.items() if k != (1, 0)})),
            "the rule for 'A' has no probability for state (1, 0) of ('B', 'C')",
        ),
        (
            appendix(A=(("B", "C"), TABLE_A | {(2, 0): 0.1})),
            "the rule for 'A' has the state (2, 0); a state is a tuple of 2 levels, each 0 or 1",
        ),
        (
            appendix(A=(("B", "C"), TABLE_A | {(0, 0, 0): 0.1})),
            "the rule for 'A' has the state (0, 0, 0); a state is a tuple of 2 levels",
        ),
        (appendix(C=(("B",), {0: 0.3, 1: 0.3})), "the rule for 'C' has the state 0; a state is a tuple of 1"),
        (appendix(C=-0.1), "the rule for 'C' has a probability of -0.1; it must lie in 0..1"),
        (appendix(C=float("nan")), "the rule for 'C' has a probability of nan; it must lie in 0..1"),
        (appendix(C="0.3"), "the rule for 'C' must be a probability or (influencers, table), not '0.3'"),
        (appendix(C=True), "the rule for 'C' must be a probability or (influencers, table), not True"),
        (appendix(A=(("B", "X"), TABLE_A)), "unknown label 'X'; the labels are 'A', 'B', 'C', 'D', 'E'"),
        (appendix(A=(("B", "B"), TABLE_A)), "the rule for 'A' names an influencer twice"),
        (appendix(A=("BC", TABLE_A)), "influencers must be a list of labels; write ('BC',)"),
    ],
    ids=str,
)
def test_dynamics_that_make_no_sense(rules, words):
    with pytest.raises(SummarkovError, match=re.escape(words)):
        sm.Dynamics(rules, lookback=3)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"lookback": 0}, "lookback must be a whole number from 1 on, None, or a time"),
        ({"lookback": 2, "delay": 2}, "delay 2 must be less than lookback 2"),
        ({"lookback": {"X": 2}}, "unknown label 'X'"),
    ],
)
def test_windows_that_make_no_sense(settings, words):
    with pytest.raises(SummarkovError, match=re.escape(words)):
        sm.Dynamics(appendix(), **settings)


def test_too_many_influencers_to_check():
    labels = [f"{i:02}" for i in range(17)]
    rules = {x: ((x,), {(0,): 1 / 17, (1,): 1 / 17}) for x in labels}
    with pytest.raises(SettingError, match=r"17 labels influence others; sums can be checked for 16 labels"):
        sm.Dynamics(rules, lookback=1)


def test_sums_may_be_off_by_rounding():
    thirds = sm.Dynamics({"A": 1 / 3, "B": 1 / 3, "C": 1 / 3 + 1e-12})
    assert thirds.simulate(2, 3, random_state=0).n_events == 6


# ---------------------------------------------------------------------------------- what follows


def test_minimal_influencers(dynamics):
    idle = sm.Dynamics({"A": (("A", "B"), dict.fromkeys(TABLE_A, 0.5)), "B": 0.5}, lookback=2)
    assert idle.minimal_influencers("A") == ()
    with pytest.raises(SummarkovError, match="unknown label 'X'"):
        dynamics.minimal_influencers("X")


def test_the_order_of_influencers_does_not_matter(dynamics):
    turned = {(c, b): p for (b, c), p in TABLE_A.items()}
    other = sm.Dynamics(appendix(A=(("C", "B"), turned)), lookback=3)
    assert other.rules == dynamics.rules
    assert other.simulate(20, 8, random_state=3) == dynamics.simulate(20, 8, random_state=3)


# ---------------------------------------------------------------------------------- as plain values


@pytest.mark.parametrize("lookback", [3, None, {"B": 2, "C": None}])
@pytest.mark.parametrize("delay", [0, 1])
def test_round_trip(lookback, delay):
    dynamics = sm.Dynamics(appendix(), lookback=lookback, delay=delay)
    written = json.loads(json.dumps(dynamics.to_dict()))
    again = sm.Dynamics.from_dict(written)
    assert again.to_dict() == written
    assert again.rules == dynamics.rules
    assert again.simulate(30, 9, random_state=1) == dynamics.simulate(30, 9, random_state=1)


def test_written_form(dynamics):
    written = dynamics.to_dict()
    assert list(written) == ["kind", "version", "lookback", "delay", "rules"]
    assert (written["kind"], written["version"], written["lookback"]) == ("dynamics", 1, 3)
    assert written["rules"]["A"][2] == {"state": {"B": 1, "C": 0}, "probability": 0.35}
    assert written["rules"]["E"] == [{"state": {}, "probability": 0.1}]


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        (("lookback",), ..., "dynamics need 'lookback' and 'rules'"),
        (("rules",), [], "dynamics need 'lookback' and 'rules'"),
        (("rules", "A"), [], "every rule a list of rows with 'state' and 'probability'"),
        (("rules", "A", 0, "state"), ..., "every rule a list of rows with 'state' and 'probability'"),
        (("rules", "A", 1, "probability"), "0.1", "the rule for 'A' has a probability of '0.1'"),
        (("rules", "A", 1, "probability"), 0.2, "the probabilities sum to 1.1, not 1"),
        (("rules", "A", 1, "state"), {"B": 0, "C": 0}, "the rule for 'A' has a wrong or repeated state"),
        (
            ("rules", "A", 1, "state", "C"),
            0.7,
            "the rule for 'A' has the state (0, 0.7); a state is",
        ),
        (("rules", "A", 0, "state"), {"B": 0, "X": 0}, "every rule a list of rows"),
        (("lookback",), "3", "rules look back by numbers of events, for no times are drawn; give a number"),
        (("delay",), -1, "delay must be a whole number from 0 on, not -1"),
        (("version",), 2, "these are not dynamics in version 1 of their format; write them anew"),
    ],
)
def test_damaged_values(dynamics, path, value, words):
    written = json.loads(json.dumps(dynamics.to_dict()))
    *way, last = path
    place = written
    for key in way:
        place = place[key]
    if value is ...:
        del place[last]
    else:
        place[last] = value
    with pytest.raises(SettingError, match=re.escape(words)):
        sm.Dynamics.from_dict(written)
    with pytest.raises(SettingError, match="dynamics need 'lookback' and 'rules'"):
        sm.Dynamics.from_dict([])


# ---------------------------------------------------------------------------------- drawing


def test_the_same_seed_draws_the_same_events(dynamics):
    drawn = dynamics.simulate(3, 10, random_state=0)
    assert drawn == dynamics.simulate(3, 10, random_state=0)
    assert drawn != dynamics.simulate(3, 10, random_state=1)
    assert ["".join(sequence) for sequence in drawn] == ["CACEDBAACE", "ADDDADCCBC", "AECADCACEC"]


def test_lengths(dynamics):
    drawn = dynamics.simulate(3, [2, 0, 4], random_state=7)
    assert drawn.to_lists() == [["C", "D"], [], ["D", "A", "B", "D"]]
    assert dynamics.simulate(2, np.array([1, 5]), random_state=7).lengths.tolist() == [1, 5]
    assert dynamics.simulate(2, np.int64(4), random_state=7).lengths.tolist() == [4, 4]
    assert dynamics.simulate(4, 0, random_state=7).to_lists() == [[], [], [], []]
    for length in (10, [], np.array([], int)):
        drawn = dynamics.simulate(0, length, random_state=0)
        assert (len(drawn), drawn.n_events, drawn.labels) == (0, 0, ("A", "B", "C", "D", "E"))
    for length in (-1, 2.5, "3", None, [1], [1, -1], [[1, 2]], [1.0, 2.0]):
        with pytest.raises(SettingError, match="length must be a whole number from 0 on, or one for each of"):
            dynamics.simulate(2, length)


@pytest.mark.parametrize("n", [-1, 2.5, "3", None])
def test_numbers_of_sequences_that_make_no_sense(dynamics, n):
    with pytest.raises(SettingError, match=r"n_sequences must be a whole number from 0 .*, not "):
        dynamics.simulate(n, 3)


def test_labels_of_no_probability_never_come_not_even_if_chance_is_exactly_nought(monkeypatch):
    class Nought:
        def random(self, n):
            return np.zeros(n)

    monkeypatch.setattr("summarkov.simulate.draw.np.random.default_rng", lambda seed: Nought())
    dynamics = sm.Dynamics({"A": 0.0, "B": 0.5, "C": 0.5})
    assert dynamics.simulate(2, 3, random_state=0).to_lists() == [["B", "B", "B"]] * 2


def test_rules_are_followed_exactly():
    """After an A always B, after a B always A: nothing is left to chance but the first event."""
    rules = {
        "A": (("A", "B"), {(0, 0): 0.5, (0, 1): 1.0, (1, 0): 0.0, (1, 1): 0.0}),
        "B": (("A", "B"), {(0, 0): 0.5, (0, 1): 0.0, (1, 0): 1.0, (1, 1): 1.0}),
    }
    drawn = sm.Dynamics(rules, lookback=1).simulate(40, 7, random_state=2)
    texts = {"".join(sequence) for sequence in drawn}
    assert texts == {"ABABABA", "BABABAB"}


# ---------------------------------------------------------------------------------- the web shop


@pytest.mark.parametrize("label", sorted(SHOP))
def test_the_influencers_written_down_are_the_minimal_ones(label):
    assert web_shop().minimal_influencers(label) == tuple(sorted(SHOP[label][1]))


def test_every_factor_multiplies_the_probability():
    influencers, table = web_shop().rules["purchase"]
    assert influencers == ("add to cart", "get coupon", "page error")
    assert table[0, 0, 0] == pytest.approx(0.02)
    assert table[1, 0, 0] == pytest.approx(0.02 * 5.0)
    assert table[1, 1, 1] == pytest.approx(0.02 * 5.0 * 2.0 * 0.25)


def test_the_factors_can_be_learned():
    events = web_shop().simulate(2000, 30, random_state=7)
    model = sm.BSuMM("contact support", lookback=LOOKBACK).fit(events)
    assert model.influencers_ == ("page error",)
    assert model.influences_[0].ratio == pytest.approx(SHOP["contact support"][1]["page error"], rel=0.1)
