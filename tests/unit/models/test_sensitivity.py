"""Sensitivity: every setting learns what it learns alone, in shared passes; what stays is counted right."""

import json
import re

import numpy as np
import pytest
from typer.testing import CliRunner

import summarkov as sm
from problems import Recorder
from summarkov.cli.main import app
from summarkov.errors import SettingError
from summarkov.models import Stability, StabilityRow
from summarkov.models.changes import StableEdge
from summarkov.simulate.example import web_shop

#: Numbers as the paper counts them.
pytestmark = pytest.mark.cut_off

EVENTS = web_shop().simulate(n_sequences=60, length=20, random_state=2)
GAMMA, LOOKBACK = (0.1, 0.5, 1.0), (1, 5, None)


class Plain:
    events = EVENTS


def check(found, models):
    """The rows are those of models fitted one by one."""
    assert len(found.rows) == len(models)
    for row, model in zip(found.rows, models, strict=True):
        assert row.settings == {"lookback": model.lookback, "gamma": model.gamma}
        assert row.target == (model.target_[0] if len(model.target_) == 1 else model.target_)
        assert row.influencers == model.influencers_
        assert row.score == model.score_
        assert row.log_likelihood == model.log_likelihood_


@pytest.mark.parametrize(
    "template",
    [
        sm.BSuMM("purchase"),
        sm.OSuMM("purchase", search="sweep"),
        sm.CSuMM("purchase", criterion="extended-bic"),
        sm.BSuMM("purchase", search="exact", candidates=["add to cart", "page error", "search"]),
        sm.BSuMM(["purchase", "search"]),
    ],
    ids=repr,
)
def test_one_target_equals_single_fits(template):
    found = sm.sensitivity(template, EVENTS, gamma=GAMMA, lookback=LOOKBACK)
    alone = [template.copy(gamma=g, lookback=k).fit(EVENTS) for k in LOOKBACK for g in GAMMA]
    check(found, alone)
    assert not template.is_fitted


def test_a_graph_equals_single_fits_with_weights():
    weights = np.arange(60) % 3
    targets = ["purchase", "contact support"]
    found = sm.sensitivity(
        sm.InfluenceGraph(sm.BSuMM(alpha=1, false_edges=None), targets=targets),
        EVENTS,
        gamma=GAMMA,
        lookback=LOOKBACK,
        sample_weight=weights,
    )
    alone = [
        sm.BSuMM(x, alpha=1, gamma=g, lookback=k, false_edges=None).fit(EVENTS, sample_weight=weights)
        for x in sorted(targets)
        for k in LOOKBACK
        for g in GAMMA
    ]
    check(found, alone)


def test_all_settings_share_passes_and_counts(monkeypatch):
    asked = []
    from summarkov.engines import source

    real = source.join

    def join(requests, most):
        joint, answered = real(requests, most)
        asked.append((len(requests), len(joint)))
        return joint, answered

    monkeypatch.setattr(source, "join", join)
    passes = []
    for k in LOOKBACK:
        for g in GAMMA:
            recorder = Recorder(Plain)
            sm.BSuMM("purchase", gamma=g, lookback=k).fit(recorder)
            passes.append(len(recorder.passes))
    asked.clear()
    together = Recorder(Plain)
    done = []
    sm.sensitivity(
        sm.BSuMM("purchase"),
        together,
        gamma=GAMMA,
        lookback=LOOKBACK,
        progress=lambda n, total: done.append((n, total)),
    )
    assert len(together.passes) == max(passes) < sum(passes)
    # in the first pass the three gammas of a look-back ask the same
    assert asked[0] == (9, 3)
    assert done[-1] == (9, 9)


def test_what_stays_is_counted():
    def row(target, lookback, gamma, influencers):
        return StabilityRow(target, {"lookback": lookback, "gamma": gamma}, influencers, -1.0, -0.5)

    found = Stability(
        {"lookback": (1, 5, None), "gamma": (0.1, 1.0)},
        (
            row("x", 1, 0.1, ("a", "b")),
            row("x", 1, 1.0, ("b",)),
            row("x", 5, 0.1, ("b",)),
            row("x", 5, 1.0, ("b", "c")),
            row("x", None, 0.1, ("a", "b")),
            row("x", None, 1.0, ("b", "c")),
            row("y", 1, 0.1, ()),
            row("y", 1, 1.0, ()),
            row("y", 5, 0.1, ()),
            row("y", 5, 1.0, ("a",)),
            row("y", None, 0.1, ()),
            row("y", None, 1.0, ()),
        ),
    )
    assert len(found.settings) == 6
    assert [(e.influencer, e.target, e.share, dict(e.at)) for e in found.edges] == [
        ("b", "x", 1.0, {"lookback": (1, 5, None), "gamma": (0.1, 1.0)}),
        ("a", "x", 2 / 6, {"lookback": (1, None), "gamma": (0.1,)}),
        ("c", "x", 2 / 6, {"lookback": (5, None), "gamma": (1.0,)}),
        ("a", "y", 1 / 6, {"lookback": (5,), "gamma": (1.0,)}),
    ]
    assert repr(found).splitlines() == [
        "4 influences in 6 settings: lookback 1, 5, none x gamma 0.1, 1.0",
        "target  influencer  share  lookback  gamma",
        "x       b            100%  all       all",
        "x       a             33%  1, none   0.1",
        "x       c             33%  5, none   1.0",
        "y       a             17%  5         1.0",
        "1 influence found in every setting. Else: with which values it is found, whatever the others are.",
    ]
    assert found.paths == {"lookback": (1, 5, None), "gamma": (0.1, 1.0)}
    assert found.edges[1] == StableEdge("a", "x", 2 / 6, {"lookback": (1, None), "gamma": (0.1,)})


def test_one_path_or_none():
    found = sm.sensitivity(sm.BSuMM("purchase", lookback=3), EVENTS, gamma=[2.0, 0.2], lookback=None)
    assert found.paths == {"gamma": (2.0, 0.2)}
    assert [row.settings for row in found.rows] == [{"gamma": 2.0}, {"gamma": 0.2}]
    assert found.rows[1].influencers == sm.BSuMM("purchase", lookback=3, gamma=0.2).fit(EVENTS).influencers_
    alone = sm.sensitivity(sm.BSuMM("purchase", criterion="aic"), EVENTS, gamma=None, lookback=None)
    assert alone.rows[0].influencers == sm.BSuMM("purchase", criterion="aic").fit(EVENTS).influencers_
    chain = sm.sensitivity(sm.VariableOrderChain("purchase"), EVENTS, gamma=[0.1, 1.0], lookback=None)
    assert len(chain.rows) == 2


@pytest.mark.parametrize(
    ("model", "paths", "sentence"),
    [
        (sm.BSuMM("purchase"), {"gamma": []}, "gamma must be a list of different values to try, not []"),
        (sm.BSuMM("purchase"), {"gamma": [1, 1.0]}, "gamma must be a list of different values to try"),
        (sm.BSuMM("purchase"), {"gamma": 1.0}, "gamma must be a list of values to try, not 1.0"),
        (sm.BSuMM("purchase"), {"gamma": [-1]}, "gamma must be a number from 0 on, not -1"),
        (sm.BSuMM("purchase"), {"lookback": "5"}, "lookback must be a list of values to try, not '5'"),
        (
            sm.BSuMM("purchase"),
            {"lookback": [0]},
            "lookback must be a whole number from 1 on, None, or",
        ),
        (sm.BSuMM("purchase", criterion="marginal"), {}, "criterion='marginal' has no gamma to vary"),
        (sm.MarkovChain("purchase"), {}, "MarkovChain has no lookback to vary; give lookback=None"),
        (sm.BSuMM(), {}, "this model has no target; give target="),
        (sm.InfluenceGraph(sm.BSuMM("purchase")), {}, "the template must have no target"),
        ("BSuMM", {}, "model must be a model or a graph, not str"),
        (sm.InfluenceGraph("BSuMM"), {}, "model must be a model or a graph"),
    ],
    ids=str,
)
def test_what_is_refused(model, paths, sentence):
    with pytest.raises(SettingError, match=re.escape(sentence)):
        sm.sensitivity(model, EVENTS, **paths)


# ---------------------------------------------------------------------------------- command line


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    (tmp_path / "events.jsonl").write_text("\n".join(json.dumps(list(sequence)) for sequence in EVENTS))

    def call(*arguments):
        result = CliRunner().invoke(app, ["sensitivity", "events.jsonl", *arguments])
        assert all(len(line) <= 80 for line in result.stdout.splitlines()) or "--json" in arguments
        return result

    return call


def test_the_command_line(run):
    found = sm.sensitivity(sm.BSuMM("purchase"), EVENTS, gamma=[0.1, 1.0], lookback=[2, None])
    result = run("-t", "purchase", "--gamma", "0.1,1", "--lookback", "2, none")
    assert result.exit_code == 0
    title = f"{len(found.edges)} influences in 4 settings: lookback 2, none x gamma 0.1, 1"
    assert result.stdout.startswith(title)
    best = found.edges[0]
    assert re.search(rf"{best.influencer} +{best.share:.0%} ", result.stdout)
    graph = json.loads(run("--gamma", "1", "--lookback", "5", "--model", "osumm", "--json").stdout)
    assert "write review" in {row["target"] for row in graph["rows"]}


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--gamma", "some"], "gamma must be a number from 0 on, not 'some'"),
        (
            ["--lookback", "1,far"],
            "lookback must be a number of positions, or a time above 0 such as '30min'",
        ),
        (["--model", "chain"], "--model must be one of bsumm, osumm, csumm, not 'chain'"),
        (["--gamma", "1,1"], "gamma must be a list of different values to try"),
        (["-t", "purchases"], "unknown label 'purchases'; did you mean 'purchase'?"),
    ],
)
def test_what_the_command_line_refuses(run, arguments, sentence):
    result = run(*arguments)
    assert result.exit_code == 2
    assert sentence in " ".join(result.stderr.split())


def test_the_command_line_refuses_events_that_follow_none(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "short.txt").write_text("a\nb\n")
    result = CliRunner().invoke(app, ["sensitivity", "short.txt"])
    assert result.exit_code == 2
    assert "no sequence of short.txt is longer than one event" in result.stderr
