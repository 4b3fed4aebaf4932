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
from summarkov.models import StableEdge
from summarkov.simulate.example import web_shop

pytestmark = pytest.mark.cut_off

EVENTS = web_shop().simulate(n_sequences=60, length=20, random_state=2)
GAMMA, LOOKBACK = (0.1, 0.5, 1.0), (1, 5, None)


class Plain:
    events = EVENTS


WEIGHTS = np.arange(60) % 3


@pytest.mark.parametrize(
    ("template", "targets", "weights"),
    [
        (sm.OSuMM("purchase", search="sweep"), ["purchase"], None),
        (sm.CSuMM("purchase", criterion="extended-bic"), ["purchase"], None),
        (sm.BSuMM("purchase", search="exact", candidates=["add to cart", "search"]), ["purchase"], None),
        (sm.BSuMM(["purchase", "search"]), [["purchase", "search"]], None),
        (sm.BSuMM(alpha=1, false_edges=None), ["contact support", "purchase"], WEIGHTS),
    ],
    ids=["order", "counts", "exact", "set", "graph"],
)
def test_every_setting_learns_what_it_learns_alone(template, targets, weights):
    model = template if template.target else sm.InfluenceGraph(template, targets=targets)
    found = sm.sensitivity(model, EVENTS, gamma=GAMMA, lookback=LOOKBACK, sample_weight=weights)
    assert not model.is_fitted
    expected = []
    for target in targets:
        alone = {
            (k, g): template.copy(target=target, gamma=g, lookback=k).fit(EVENTS, sample_weight=weights)
            for k in LOOKBACK
            for g in GAMMA
        }
        edges = []
        for z in sorted({z for one in alone.values() for z in one.influencers_}):
            there = [settings for settings, one in alone.items() if z in one.influencers_]
            at = [tuple(k for k in LOOKBACK if k in {k for k, _ in there})]
            at.append(tuple(g for g in GAMMA if g in {g for _, g in there}))
            name = target if isinstance(target, str) else tuple(sorted(target))
            edges.append(StableEdge(z, name, len(there) / 9, *at))
        expected += sorted(edges, key=lambda edge: -edge.share)
    assert list(found) == expected != []


def test_all_settings_share_passes():
    passes = []
    for k in LOOKBACK:
        for g in GAMMA:
            recorder = Recorder(Plain)
            sm.BSuMM("purchase", gamma=g, lookback=k).fit(recorder)
            passes.append(len(recorder.passes))
    together, done = Recorder(Plain), []
    settings = {"gamma": GAMMA, "lookback": LOOKBACK, "progress": lambda *each: done.append(each)}
    sm.sensitivity(sm.BSuMM("purchase"), together, **settings)
    assert len(together.passes) == max(passes) < sum(passes)
    assert done[-1] == (9, 9)


def test_one_path_or_none():
    found = sm.sensitivity(sm.BSuMM("purchase", lookback=3), EVENTS, gamma=[2.0, 0.2], lookback=None)
    assert {(len(edge.gamma) / 2, edge.lookback) for edge in found} == {(edge.share, ()) for edge in found}
    fitted = [sm.BSuMM("purchase", lookback=3, gamma=g).fit(EVENTS) for g in (2.0, 0.2)]
    assert {e.influencer for e in found} == {z for one in fitted for z in one.influencers_}
    alone = sm.sensitivity(sm.BSuMM("purchase", criterion="aic"), EVENTS, gamma=None, lookback=None)
    assert [e.influencer for e in alone] == list(
        sm.BSuMM("purchase", criterion="aic").fit(EVENTS).influencers_
    )
    chain = sm.sensitivity(sm.VariableOrderChain("purchase"), EVENTS, gamma=[0.1, 1.0], lookback=None)
    assert {edge.share for edge in chain} <= {0.5, 1.0}


@pytest.mark.parametrize(
    ("model", "paths", "sentence"),
    [
        (sm.BSuMM("purchase"), {"gamma": []}, "gamma must be a list of different values to try, not []"),
        (sm.BSuMM("purchase"), {"gamma": [1, 1.0]}, "gamma must be a list of different values to try"),
        (sm.BSuMM("purchase"), {"gamma": [-1]}, "gamma must be a number from 0 on, not -1"),
        (sm.BSuMM("purchase"), {"lookback": "5"}, "lookback must be a list of values to try, not '5'"),
        (sm.BSuMM("purchase"), {"gamma": 1.0}, "gamma must be a list of values to try, not 1.0"),
        (sm.BSuMM("purchase"), {"lookback": [0]}, "lookback must be a whole number from 1 on, None, or"),
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
    assert result.stdout.startswith("Influences that some of 4 settings find, and with which values")
    assert re.search(rf"{found[0].influencer} +purchase +{found[0].share:g} ", result.stdout)
    graph = json.loads(run("--gamma", "1", "--lookback", "5", "--model", "osumm", "--json").stdout)
    assert "write review" in {edge["target"] for edge in graph["edges"]}


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--model", "chain"], "--model must be one of bsumm, osumm, csumm, not 'chain'"),
        (["-t", "purchases"], "unknown label 'purchases'; did you mean 'purchase'?"),
    ],
)
def test_what_the_command_line_refuses(run, arguments, sentence):
    result = run(*arguments)
    assert result.exit_code == 2
    assert sentence in " ".join(result.stderr.split())
