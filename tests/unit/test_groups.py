"""Two groups: which edges differ, and how sure that is."""

import math

import numpy as np
import pytest
from typer.testing import CliRunner

import summarkov as sm
from summarkov.cli.main import app
from summarkov.errors import DataError, SettingError
from summarkov.models.groups import Shuffled, _certainty
from summarkov.reproduce.calibration import random_dynamics

TEMPLATE = sm.BSuMM(lookback=3)


@pytest.fixture(scope="module")
def groups():
    """Two groups in which B follows A, more so in the second; D follows C in both."""

    def group(n, after_a, seed):
        b, d = {(0,): 0.1, (1,): after_a}, {(0,): 0.05, (1,): 0.2}
        rest = {(a, c): 1 - 0.5 - b[(a,)] - d[(c,)] for a in (0, 1) for c in (0, 1)}
        rules = {"A": 0.25, "C": 0.25, "B": (("A",), b), "D": (("C",), d), "E": (("A", "C"), rest)}
        return sm.Dynamics(rules, lookback=1).simulate(n, 30, seed=seed).to_lists()

    return group(60, 0.12, 1), group(90, 0.3, 2)


@pytest.fixture(scope="module")
def found(groups):
    return sm.compare_groups(sm.BSuMM(lookback=1), *groups, targets=["B", "D"], n=60, seed=1)


def test_the_edge_that_differs_is_found(found):
    assert (found.n, found.seed, found.level, found.sizes) == (60, 1, 0.95, (60, 90))
    assert ("A", "B") in [(edge.influencer, edge.target) for edge in found.differing(0.05)]
    edges = {(edge.influencer, edge.target): edge for edge in found.edges}
    assert edges["A", "B"].adjusted == pytest.approx(1 / 61)
    assert edges["A", "B"].strength_second > edges["A", "B"].strength_first
    assert edges["A", "B"].low > 0
    assert edges["C", "D"].adjusted > 0.05
    assert edges["C", "D"].low < 0 < edges["C", "D"].high
    assert [edge.adjusted for edge in found.edges] == sorted(edge.adjusted for edge in found.edges)


def test_strengths_are_those_of_the_groups_beside_all_influencers(groups, found):
    graphs = [
        sm.InfluenceGraph(sm.BSuMM(lookback=1)).fit(events) for events in (*groups, groups[0] + groups[1])
    ]
    for edge in found.edges:
        beside = sorted({z for graph in graphs for z in graph.influencers_[edge.target]})
        assert edge.influencer in beside
        assert edge.in_first == (edge.influencer in graphs[0].influencers_[edge.target])
        assert edge.in_second == (edge.influencer in graphs[1].influencers_[edge.target])
        fixed = sm.BSuMM(edge.target, lookback=1, required=beside, candidates=[])
        for events, strength in zip(groups, (edge.strength_first, edge.strength_second), strict=True):
            (direct,) = [i for i in fixed.fit(events).influences_ if i.influencer == edge.influencer]
            assert strength == pytest.approx(direct.strength, rel=1e-12)
        assert edge.difference == pytest.approx(edge.strength_second - edge.strength_first)


def test_exchanging_the_groups_turns_the_differences_around(groups, found):
    other = sm.compare_groups(sm.BSuMM(lookback=1), *groups[::-1], targets=["B", "D"], n=60, seed=1, n_jobs=2)
    mine = {(e.influencer, e.target): e.difference for e in found.edges}
    assert {(e.influencer, e.target): -e.difference for e in other.edges} == pytest.approx(mine)
    again = sm.compare_groups(sm.BSuMM(lookback=1), *groups, targets=["B", "D"], n=60, seed=1, n_jobs=2)
    assert again == found


def test_groups_that_are_alike_seldom_differ():
    differ = 0
    for seed in range(6):
        dynamics = random_dynamics(seed)
        first, second = dynamics.simulate(50, 30, seed=900 + seed), dynamics.simulate(70, 30, seed=950 + seed)
        differ += bool(sm.compare_groups(TEMPLATE, first, second, n=40).differing(0.1))
    assert differ <= 2


def test_divisions_keep_the_sizes():
    shuffled = Shuffled(first=4, n_pairs=30, seed=0)
    assert shuffled.weights(0, 10).tolist() == [1] * 4 + [0] * 6
    for pair in range(30):
        one, other = shuffled.weights(pair, 10), shuffled.weights(30 + pair, 10)
        assert (one + other == 1).all()
        assert one.sum() == 4
    assert len({tuple(shuffled.weights(pair, 10)) for pair in range(30)}) > 20


def test_certainty():
    """The share of columns at least as large as the first: in a row alone, and for the largest of all."""
    rows = np.array([[4.0, 1.0, -1.0, 2.0], [0.5, 1.0, -2.0, 1.5], [math.nan, 1.0, 2.0, 3.0], [0.0] * 4])
    p_values, adjusted = _certainty(rows)
    assert p_values.tolist() == [0.25, 1.0, 1.0, 1.0]
    scaled = [abs(row) / np.nanstd(row) for row in rows[:3]]
    most = np.nanmax([np.where(np.isnan(r), 0, r) for r in scaled], axis=0)
    assert adjusted[0] == np.mean(most >= scaled[0][0] - 1e-12)
    assert adjusted[1:].tolist() == [1.0, 1.0, 1.0]


def test_groups_without_any_edge(tmp_path, monkeypatch):
    steps = []
    found = sm.compare_groups(
        sm.BSuMM(), [["A"]] * 3, [["B"], ["A"]], n=20, progress=lambda done, of: steps.append((done, of))
    )
    assert (found.sizes, found.edges, found.differing()) == ((3, 2), (), ())
    assert steps[-1] == (5, 5)
    monkeypatch.chdir(tmp_path)
    for name in ("a.txt", "b.txt"):
        (tmp_path / name).write_text("A\nB\nA\n")
    result = CliRunner().invoke(app, ["groups", "a.txt", "b.txt"])
    assert result.exit_code == 0
    assert result.stdout.startswith("No influence was found, neither in one of the files nor in both")


def test_labels_that_only_one_group_has():
    first, second = [["A", "B"] * 4] * 10, [["A", "C"] * 4, ["C", "A", "A"]] * 5
    edges = sm.compare_groups(sm.BSuMM(lookback=1), first, second, n=10).edges
    assert {edge.target for edge in edges} <= {"A", "B", "C"}
    unknown = [edge for edge in edges if math.isnan(edge.difference)]
    assert all(edge.adjusted == 1.0 for edge in unknown)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n": 1}, "n must be"),
        ({"seed": -1}, "seed must be"),
        ({"level": 0}, "level must be"),
        ({"targets": []}, "targets"),
    ],
)
def test_settings_that_make_no_sense_are_refused(groups, settings, message):
    with pytest.raises(SettingError, match=message):
        sm.compare_groups(TEMPLATE, *groups, **settings)


def test_models_and_groups_that_cannot_be_compared_are_refused(groups):
    with pytest.raises(SettingError, match="compared by edges"):
        sm.compare_groups(sm.MarkovChain(), *groups)
    with pytest.raises(DataError, match="at least two sequences"):
        sm.compare_groups(TEMPLATE, groups[0], [["A"], []])


def test_weights_of_one_change_nothing(groups, found):
    ones = np.ones(60), np.ones(90)
    again = sm.compare_groups(
        sm.BSuMM(lookback=1), *groups, targets=["B", "D"], sample_weight=ones, n=60, seed=1
    )
    assert again == found


def test_weights_are_those_of_the_sequences(groups):
    rng = np.random.default_rng(5)
    weights = rng.integers(0, 4, 60), rng.random(90)
    weighted = sm.compare_groups(
        sm.BSuMM(lookback=1, candidates=["A"]), *groups, targets=["B"], sample_weight=weights, n=5
    )
    (edge,) = weighted.edges
    for events, weight, strength in zip(
        groups, weights, (edge.strength_first, edge.strength_second), strict=True
    ):
        model = sm.BSuMM("B", lookback=1, required=["A"], candidates=[]).fit(events, sample_weight=weight)
        assert strength == pytest.approx(model.influences_[0].strength, rel=1e-5)  # weights are fixed point
    assert weighted.sizes == (int((weights[0] > 0).sum()), 90)


def test_weights_that_make_no_sense_are_refused(groups):
    with pytest.raises(SettingError, match="two lists of numbers, one a sequence: 60 of them and 90"):
        sm.compare_groups(TEMPLATE, *groups, sample_weight=(np.ones(90), np.ones(60)))
    with pytest.raises(SettingError, match="finite numbers from 0 on"):
        sm.compare_groups(TEMPLATE, *groups, sample_weight=(-np.ones(60), np.ones(90)))
