"""Worlds with ticks, times, attributes and outcomes: what is drawn, and that its truth is found."""

import json
from itertools import pairwise

import numpy as np
import pytest
from typer.testing import CliRunner

import summarkov as sm
from summarkov.cli.main import app
from summarkov.errors import SettingError
from summarkov.summaries import OrdinalSummary


def ticks():
    """B is three times as likely after A; each label is in a tick or not by itself."""
    return sm.Dynamics({"A": 0.2, "B": (("A",), {(0,): 0.1, (1,): 0.3}), "C": 0.3}, lookback=1, together=True)


def doses():
    """Pain is likely within 6 hours of a dose, whatever happens in between; steps are of 1 to 5 hours."""
    pain = {(0,): 0.05, (1,): 0.5}
    rest = {(0,): 0.75, (1,): 0.3}
    rules = {"dose": 0.2, "pain": (("dose",), pain), "walk": (("dose",), rest)}
    return sm.Dynamics(rules, lookback="6h", step=("1h", "5h"))


def classes():
    """Nothing influences anything, but rates differ between two classes."""
    low, high = {(0,): 0.2, (1,): 0.6}, {(0,): 0.8, (1,): 0.4}
    return sm.Dynamics(
        {"A": (("class=x",), low), "B": (("class=x",), high)}, attributes={"class": {"x": 0.3, "y": 0.7}}
    )


def ending(rule):
    return sm.Dynamics(dict.fromkeys("ABCDEFGHIJ", 0.1), outcomes={"result": rule})


BOTH = (("A", "B"), {(0, 0): 0.1, (0, 1): 0.1, (1, 0): 0.1, (1, 1): 0.8})


def test_effects_between_ticks_are_found_and_counted():
    events = ticks().simulate(200, 30, random_state=1)
    graph = sm.InfluenceGraph(sm.BSuMM(lookback=1)).fit(events)
    assert graph.influencers_ == {x: ticks().minimal_influencers(x) for x in "ABC"}
    (edge,) = graph.edges_
    assert 2.7 < edge.ratio < 3.3
    pairs = [pair for sequence in events for pair in pairwise(sequence)]
    after = [("B" in b) for a, b in pairs if "A" in a]
    assert sum(after) / len(after) == pytest.approx(edge.rate_with)
    assert events.n_ticks == 200 * 30


def test_an_effect_within_six_hours_is_found_by_time_and_by_no_number_of_positions():
    dynamics = doses()
    events = dynamics.simulate(150, 30, random_state=2)
    within = sm.BSuMM("pain", lookback="6h").fit(events)
    assert within.influencers_ == dynamics.minimal_influencers("pain") == ("dose",)
    rates = {row.words: row.counts[0] / row.n for row in within.table_}
    assert rates["no dose"] == pytest.approx(0.05, abs=0.02)
    assert rates["dose"] == pytest.approx(0.5, abs=0.05)
    for lookback in (1, 2, 3, 5):
        assert sm.BSuMM("pain", lookback=lookback).fit(events).log_likelihood_ < within.log_likelihood_ - 20
    steps = np.diff(events.times)[np.diff(np.repeat(np.arange(150), 30)) == 0]
    assert 3600 <= steps.min() < 3700
    assert 5 * 3600 - 100 < steps.max() <= 5 * 3600


def test_with_the_class_given_no_influence_is_left():
    events = classes().simulate(200, 30, random_state=3)
    assert classes().minimal_influencers("A") == ("class=x",)
    blind = sm.InfluenceGraph(sm.BSuMM(lookback=3)).fit(events.with_attributes(None))
    assert len(blind.edges_) > 0
    assert list(sm.InfluenceGraph(sm.BSuMM(lookback=3, given=["class"])).fit(events).edges_) == []
    assert events.attributes.present.mean(axis=0) == pytest.approx([0.3, 0.7], abs=0.08)


def test_the_events_behind_an_outcome_are_found():
    dynamics = ending(BOTH)
    events = dynamics.simulate(800, 8, random_state=4)
    model = sm.OutcomeModel(outcome="result", value="yes").fit(events)
    assert model.influencers_ == dynamics.minimal_influencers("result") == ("A", "B")
    rates = {row.state: row.counts[0] / row.n for row in model.table_}
    assert rates.pop(("A", "B")) == pytest.approx(0.8, abs=0.08)
    assert max(rates.values()) < 0.15


def test_an_order_behind_an_outcome_is_found():
    summary = OrdinalSummary(None, 0, "first")
    table = {key: 0.8 if key == (1, 2) else 0.1 for key in summary.keys(("A", "B"))}
    dynamics = ending((("A", "B"), table, summary))
    events = dynamics.simulate(800, 12, random_state=5)
    model = sm.OutcomeModel(sm.OSuMM(lookback=None, mask="first"), outcome="result", value="yes").fit(events)
    assert model.influencers_ == dynamics.minimal_influencers("result") == ("A", "B")
    rates = {row.state: row.counts[0] / row.n for row in model.table_}
    assert max(rates, key=rates.get) == ("A", "B")


@pytest.mark.parametrize(
    "make", [ticks, doses, classes, lambda: ending(BOTH)], ids=["ticks", "doses", "classes", "ending"]
)
def test_what_is_read_back_draws_the_same(make):
    dynamics = make()
    document = json.loads(json.dumps(dynamics.to_dict()))
    assert document["version"] == 2
    again = sm.Dynamics.from_dict(document)
    one, other = dynamics.simulate(5, 6, random_state=1), again.simulate(5, 6, random_state=1)
    assert one.to_lists() == other.to_lists()
    assert one.moments == other.moments
    assert one.attributes == other.attributes


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"lookback": "6h"}, "rules that look back by time need step="),
        ({"step": ("5h", "1h")}, "the shorter one first"),
        ({"step": ("1h", "2h", "3h")}, "the shortest and the longest one"),
        ({"attributes": {"c": {"x": 0.5}}}, "sum to 0.5, not 1"),
        ({"attributes": {"c": {}}}, "must have a share from 0 to 1"),
        ({"outcomes": {"r": (("A",), {(0,): 0.1, (1,): 0.2}, 3)}}, "must be a summary"),
        ({"attributes": {"r": {"x": 1.0}}, "outcomes": {"r": 0.5}}, "both an attribute and an outcome"),
    ],
)
def test_what_is_refused(settings, message):
    with pytest.raises(SettingError, match=message):
        sm.Dynamics({"A": 0.5, "B": 0.5}, **settings)


def test_the_command_writes_what_is_drawn(tmp_path):
    truth, log = tmp_path / "truth.json", tmp_path / "log.csv"
    dynamics = sm.Dynamics(
        {"A": 0.4, "B": (("A", "class=x"), {(0, 0): 0.1, (0, 1): 0.5, (1, 0): 0.1, (1, 1): 0.5}), "C": 1.0},
        together=True,
        step="1h",
        lookback="2h",
        attributes={"class": {"x": 0.5, "y": 0.5}},
        outcomes={"result": (("A",), {(0,): 0.1, (1,): 0.9})},
    )
    truth.write_text(json.dumps(dynamics.to_dict()))
    drawn = dynamics.simulate(4, 5, random_state=6)
    assert drawn.n_rows == drawn.n_events  # no tick is empty, which a table could not hold
    ran = CliRunner().invoke(
        app, ["simulate", str(truth), "-n", "4", "--length", "5", "--seed", "6", "-o", str(log)]
    )
    assert ran.exit_code == 0, ran.output
    read = sm.read_events(log, order="time", times=True, ties="together", attributes=["class", "result"])
    assert read.to_lists() == drawn.to_lists()
    assert read.attributes.values("result") == drawn.attributes.values("result")


def test_labels_that_happen_together_can_fill_a_short_window():
    """In ticks more labels than the window has positions can be in it, in any order."""
    ordinal = OrdinalSummary(1, together=True)
    keys = ordinal.keys(["A", "B"], reachable=True)
    assert keys == [(0, 0), (0, 1), (1, 0), (1, 2), (2, 1)]
    assert len(keys) == ordinal.n_reachable(["A", "B"], 3)
    assert len(OrdinalSummary(1).keys(["A", "B"], reachable=True)) == 3
