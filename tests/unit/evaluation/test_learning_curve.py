"""Learning curves: the same test sequences, more and more to learn from."""

import json
from types import SimpleNamespace

import numpy as np
import pytest
from typer.testing import CliRunner

import summarkov as sm
from summarkov.cli.main import app
from summarkov.errors import SettingError
from summarkov.evaluation import LearningCurve, learning_curve
from summarkov.simulate.example import web_shop

#: Numbers as the paper counts them.
pytestmark = pytest.mark.cut_off

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
    assert all(
        f"{name} has the smallest log loss per event and label with" in said for name in set(curve.best)
    )
    assert "From 56 to 140 sequences" in said
    for rows in curve.tables.values():
        assert [
            sum(cell.endswith("*") for cell in column) for column in list(zip(*rows, strict=True))[1:]
        ] == [1] * 3
    assert curve.summary().rows == next(iter(curve.tables.values()))
    assert said.split(": ")[-1][:4] in ("more", "at m", "thes", "that")


def made(*verdicts):
    """A curve over 8, 16 and 32 sequences: what each contender came to at each size, the best first."""
    comparisons = []
    for size in verdicts:
        lines = [
            SimpleNamespace(
                name=name,
                log_loss=0.2 + at / 10,
                log_likelihood=-1.0 - at,
                next_event_log_loss=1.0,
                verdict=verdict,
            )
            for at, (name, verdict) in enumerate(size.items())
        ]
        each = np.array([-np.inf if size[lines[0].name] == "refuted" else -1.0] * 5)
        results = [[SimpleNamespace(name=line.name, by_sequence=each)] for line in lines]
        comparisons.append(
            SimpleNamespace(lines=lines, results=results, unit="event", n_test=(5,), n_bootstrap=20, seed=0)
        )
    return LearningCurve(comparisons, [(8, 80), (16, 160), (32, 320)])


def test_it_says_better_only_where_the_verdicts_do():
    even, worse = "no difference", "worse"
    said = made(
        {"joint": "best", "kneser-ney": even, "chain-0": worse, "bsumm": even},
        {"joint": "best", "kneser-ney": even, "chain-0": "refuted", "bsumm": even},
        {"joint": "best", "kneser-ney": worse, "chain-0": worse, "bsumm": even},
    ).sentences()
    assert said[:3] == [
        "joint has the smallest log loss per event and label with 8, 16 and 32 sequences.",
        "It is surely better than kneser-ney only with 32 sequences and than chain-0 with all of these.",
        "It cannot be told from bsumm with any of these.",
    ]
    assert len(said) == 4
    said = made({"a": "best", "b": even}, {"b": "best", "a": worse}, {"b": "best", "a": worse}).sentences()
    assert said[:4] == [
        "a has the smallest log loss per event and label with 8 sequences.",
        "It cannot be told from b.",
        "b has the smallest log loss per event and label with 16 and 32 sequences.",
        "It is surely better than a with all of these.",
    ]


@pytest.mark.parametrize(
    ("gains", "says"),
    [
        ([0.1] * 5, "(0.1000 to 0.1000): more sequences are worth getting."),
        ([-0.1] * 5, "(-0.1000 to -0.1000): that is chance, or the larger part differs."),
        (
            [0.0] * 5,
            "(0.0000 to 0.0000): at most 0.0% of the log loss, so more of the same would bring little.",
        ),
        ([1.0, -1.0, 2.0, -2.0, 0.5], "): these test sequences cannot tell whether more would help."),
        ([0.1], "and label: these test sequences cannot tell whether more would help."),
    ],
)
def test_it_says_what_more_would_bring_only_where_that_can_be_told(gains, says):
    curve = made(*[{"a": "best", "b": "no difference"}] * 3)
    for comparison, more in zip(curve.comparisons[-2:], (0.0, 1.0), strict=True):
        comparison.n_test = (len(gains),)
        for (tuned,) in comparison.results:
            tuned.by_sequence = more * np.array(gains) - 5.0
    said = curve.sentences()[-1]
    assert said.startswith(f"From 16 to 32 sequences a gained {np.mean(gains):.4f} nats per event and label")
    assert said.endswith(says)
    assert "inf" not in said


def test_one_model_alone_is_not_called_the_best(curve):
    alone = made(*[{"a": "best"}] * 3)
    assert not any("smallest" in each for each in alone.sentences())
    assert not any("*" in cell for rows in alone.tables.values() for row in rows for cell in row)


def test_where_every_model_is_refuted_none_is_called_best():
    best, none = {"a": "best", "b": "worse"}, {"a": "refuted", "b": "refuted"}
    curve = made(best, none, none)
    assert curve.sentences() == [
        "a has the smallest log loss per event and label with 8 sequences.",
        "It is surely better than b.",
        "With 16 and 32 sequences every model ruled out something that happened.",
    ]
    assert curve.to_dict()["last_doubling"] == {"a": [None] * 3, "b": [None] * 3}


def test_the_next_event_is_told_where_all_labels_are_targets(curve):
    first, second = curve.tables
    assert first == "Log loss per event and label by the number of training sequences"
    assert second == "Log loss of the next event by the number of training sequences"
    points = {(point.name, point.n_sequences): point.next_event_log_loss for point in curve.points}
    for name, *cells in curve.tables[second]:
        assert [float(cell.rstrip("* ")) for cell in cells] == [
            round(points[name, n], 4) for n in (14, 56, 140)
        ]
    assert f"{second}:\n\n| model | 14 sequences |" in curve.to_markdown()
    rare = sm.read_events([*EVENTS.to_lists()[:60], *[["rare", "browse"]] * 20])
    parts = (EVENTS[:60], EVENTS[60:90], EVENTS[90:120])
    some = learning_curve(*parts, models=["chain-0"], shares=(0.5, 1.0), targets=["browse"])
    assert list(some.tables) == [first]
    # a label of the larger part alone is no target, so the next event is not known there
    grown = learning_curve(rare, *parts[1:], models=["chain-0"], shares=(0.02, 1.0), seed=1)
    assert [point.next_event_log_loss is None for point in grown.points] == [False, True]
    assert [row[-1] for row in grown.tables[second]] == [""]


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
    assert f"{expected.points[0].next_event_log_loss:.4f}" in printed.output
    assert all(f"{title}; * the smallest" in printed.output for title in expected.tables)
    assert max(map(len, printed.output.splitlines())) <= 80
    refused = CliRunner().invoke(app, [*arguments, "--splits", "2"])
    assert "leave out --splits" in str(refused.exception) + refused.output


@pytest.mark.parametrize("shares", [(1.0,), (0.5, 0.2), (0.0, 1.0), (0.5, 1.5)])
def test_shares_that_make_no_curve_are_refused(shares):
    with pytest.raises(SettingError, match="at least two growing numbers"):
        learning_curve(EVENTS, shares=shares)
