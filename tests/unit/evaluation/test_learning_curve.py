"""Learning curves: the same test sequences, more and more to learn from."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

import summarkov as sm
from summarkov.cli.main import app
from summarkov.errors import SettingError
from summarkov.evaluation import learning_curve
from summarkov.simulate.example import web_shop

EVENTS = web_shop().simulate(n_sequences=200, length=15, seed=1)
MODELS = ["chain-0", "chain-1", "bsumm"]


@pytest.fixture(scope="module")
def curve():
    return learning_curve(EVENTS, models=MODELS, shares=(0.1, 0.4, 1.0), n_bootstrap=200)


def test_the_last_point_is_the_comparison_with_all_sequences(curve):
    whole = sm.compare(
        EVENTS, models=MODELS, targets=[one.target for one in curve.comparisons[0].results[0][0].chosen]
    )
    last = {point.name: point.log_likelihood for point in curve.points if point.n_sequences == 140}
    assert last == {line.name: line.log_likelihood for line in whole.lines}
    assert curve.names == tuple(line.name for line in whole.lines)


def test_parts_grow_and_hold_each_other(curve):
    assert [n for n, _ in curve.sizes] == [14, 56, 140]
    assert [events for _, events in curve.sizes] == [14 * 15, 56 * 15, 140 * 15]
    assert {each.n_test for each in curve.comparisons} == {(450,)}


def test_what_the_last_step_brought_is_the_difference_of_log_losses(curve):
    loss = {(point.name, point.n_sequences): point.log_loss for point in curve.points}
    for name in MODELS:
        gain, low, high = curve.last_doubling(name)
        assert np.isclose(gain, loss[name, 56] - loss[name, 140], rtol=1e-9, atol=1e-12)
        assert low < gain < high
    with pytest.raises(SettingError, match="no contender 'lstm'"):
        curve.last_doubling("lstm")


def test_it_says_which_model_at_which_size(curve):
    assert curve.best == tuple(each.lines[0].name for each in curve.comparisons)
    said = " ".join(curve.sentences())
    assert all(f"{name} is best with" in said for name in set(curve.best))
    assert "From 56 to 140 sequences" in said
    assert curve.rows()[0][-1].endswith("*")
    assert said.split(": ")[-1][:4] in ("more", "it c", "that")


def test_on_the_command_line(tmp_path):
    sm.write_events(EVENTS[:80], tmp_path / "events.jsonl")
    arguments = ["compare", "events.jsonl", "-m", "chain-0", "-m", "chain-1", "--learning-curve"]
    arguments[1] = str(tmp_path / "events.jsonl")
    told = json.loads(CliRunner().invoke(app, [*arguments, "--json"]).output)
    expected = learning_curve(EVENTS[:80], models=["chain-0", "chain-1"])
    assert told["best"] == list(expected.best)
    assert [point["log_loss"] for point in told["points"]] == [point.log_loss for point in expected.points]
    printed = CliRunner().invoke(app, arguments)
    assert printed.exit_code == 0
    assert f"{expected.points[0].log_loss:.4f}" in printed.output
    refused = CliRunner().invoke(app, [*arguments, "--splits", "2"])
    assert "leave out --splits" in str(refused.exception) + refused.output


@pytest.mark.parametrize("shares", [(1.0,), (0.5, 0.2), (0.0, 1.0), (0.5, 1.5)])
def test_shares_that_make_no_curve_are_refused(shares):
    with pytest.raises(SettingError, match="at least two growing numbers"):
        learning_curve(EVENTS, shares=shares)
