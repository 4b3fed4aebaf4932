"""Two groups: which edges differ, and how sure that is."""

import math

import numpy as np
import pytest
from paper.calibration import random_dynamics
from typer.testing import CliRunner

import summarkov as sm
from strategies import from_counts
from summarkov.cli.main import app
from summarkov.errors import DataError, SettingError
from summarkov.evidence import Difference, GroupComparison, LabelDifference

#: Numbers as the paper counts them.
pytestmark = pytest.mark.cut_off

TEMPLATE = sm.BSuMM(lookback=3)


@pytest.fixture(scope="module")
def groups():
    """Two groups in which B follows A, more so in the second; D follows C in both."""

    def group(n, after_a, seed):
        b, d = {(0,): 0.1, (1,): after_a}, {(0,): 0.05, (1,): 0.2}
        rest = {(a, c): 1 - 0.5 - b[(a,)] - d[(c,)] for a in (0, 1) for c in (0, 1)}
        rules = {"A": 0.25, "C": 0.25, "B": (("A",), b), "D": (("C",), d), "E": (("A", "C"), rest)}
        return sm.Dynamics(rules, lookback=1).simulate(n, 30, random_state=seed).to_lists()

    return group(60, 0.12, 1), group(90, 0.3, 2)


@pytest.fixture(scope="module")
def found(groups):
    return sm.compare_groups(sm.BSuMM(lookback=1), *groups, targets=["B", "D"])


def test_the_edge_that_differs_is_found(found):
    assert (found.level, found.sizes) == (0.95, (60, 90))
    assert found.names == ("first", "second")
    assert ("A", "B") in [(edge.influencer, edge.target) for edge in found.differing(0.05)]
    edges = {(edge.influencer, edge.target): edge for edge in found.edges}
    assert edges["A", "B"].second.ratio > edges["A", "B"].first.ratio
    assert edges["A", "B"].change.low > 1
    assert edges["C", "D"].change.adjusted > 0.05
    assert edges["C", "D"].change.low < 1 < edges["C", "D"].change.high
    assert [e.change.adjusted for e in found.edges] == sorted(e.change.adjusted for e in found.edges)


def test_differences_agree_with_their_intervals(found):
    kinds = [[e.change for e in found.edges], [x.reach for x in found.labels], [x.rate for x in found.labels]]
    for changes in kinds:
        for one in changes:
            assert (one.low > 1 or one.high < 1) == (one.adjusted < 0.05)
            assert one.adjusted == pytest.approx(min(1.0, one.p_value * len(changes)))


def test_labels_come_first_with_reach_and_share(groups, found):
    assert {one.label for one in found.labels} == {"B", "D"}
    for one in found.labels:
        for events, reach, rate in zip(
            groups, (one.reach_first, one.reach_second), (one.rate_first, one.rate_second), strict=True
        ):
            assert reach == pytest.approx(sum(one.label in s for s in events) / len(events))
            assert rate == pytest.approx(sum(s.count(one.label) for s in events) / sum(map(len, events)))
        assert one.rate.ratio == pytest.approx(one.rate_second / one.rate_first)
    assert [one.label for one in found.differing_labels()] == ["B"]


def test_ratios_are_those_of_the_groups_beside_all_influencers(groups, found):
    graphs = [
        sm.InfluenceGraph(sm.BSuMM(lookback=1)).fit(events) for events in (*groups, groups[0] + groups[1])
    ]
    for edge in found.edges:
        beside = sorted({z for graph in graphs for z in graph.influencers_[edge.target]})
        assert edge.influencer in beside
        assert edge.in_first == (edge.influencer in graphs[0].influencers_[edge.target])
        assert edge.in_second == (edge.influencer in graphs[1].influencers_[edge.target])
        fixed = sm.BSuMM(edge.target, lookback=1, required=beside, candidates=[])
        for events, influence in zip(groups, (edge.first, edge.second), strict=True):
            (direct,) = [i for i in from_counts(fixed.fit(events)) if i.influencer == edge.influencer]
            assert influence.ratio == pytest.approx(direct.ratio, rel=1e-12)
            assert (
                influence in fixed.fit(events).influences_
            )  # whose interval allows for sequences that differ
        assert edge.change.ratio == pytest.approx(edge.second.ratio / edge.first.ratio)


def test_exchanging_the_groups_turns_the_differences_around(groups, found):
    other = sm.compare_groups(sm.BSuMM(lookback=1), *groups[::-1], targets=["B", "D"], n_jobs=2)
    mine = {(e.influencer, e.target): e.change.ratio for e in found.edges}
    assert {(e.influencer, e.target): 1 / e.change.ratio for e in other.edges} == pytest.approx(mine)
    again = sm.compare_groups(sm.BSuMM(lookback=1), *groups, targets=["B", "D"], n_jobs=2)
    assert again == found


def test_groups_that_are_alike_seldom_differ():
    differ = 0
    for seed in range(20):
        dynamics = random_dynamics(seed)
        first, second = (
            dynamics.simulate(50, 30, random_state=900 + seed),
            dynamics.simulate(70, 30, random_state=950 + seed),
        )
        differ += bool(sm.compare_groups(TEMPLATE, first, second).differing())
    assert differ <= 2


def test_never_in_either_group_is_no_difference():
    """Z is followed by X in neither group: 0 of 400 and 0 of 40."""
    first, second = [["X", "Z", "Y", "Y"]] * 200, [["X", "Z", "Y", "Y"]] * 20
    found = sm.compare_groups(sm.BSuMM(lookback=2, required=["Z"]), first, second, targets=["X"])
    edge = next(e for e in found.edges if e.influencer == "Z")
    assert (edge.first.ratio, edge.second.ratio) == (0.0, 0.0)
    assert (edge.change.low, edge.change.high, edge.change.adjusted) == (0.0, math.inf, 1.0)


def test_groups_without_any_edge(tmp_path, monkeypatch):
    steps = []
    found = sm.compare_groups(
        sm.BSuMM(), [["A"]] * 3, [["B"], ["A"]], progress=lambda done, of: steps.append((done, of))
    )
    assert (found.sizes, found.edges, found.differing()) == ((3, 2), (), ())
    assert steps[-1] == (4, 4)
    monkeypatch.chdir(tmp_path)
    for name in ("a.txt", "b.txt"):
        (tmp_path / name).write_text("A\nB\nA\n")
    result = CliRunner().invoke(app, ["groups", "a.txt", "b.txt"])
    assert result.exit_code == 0
    assert "No influence was found, neither in one of the groups nor in both" in result.stdout


def test_labels_that_only_one_group_has():
    first, second = [["A", "B"] * 4] * 10, [["A", "C"] * 4, ["C", "A", "A"]] * 5
    edges = sm.compare_groups(sm.BSuMM(lookback=1), first, second).edges
    assert {edge.target for edge in edges} <= {"A", "B", "C"}
    unknown = [edge for edge in edges if math.isnan(edge.change.ratio)]
    assert all(edge.change.adjusted == 1.0 for edge in unknown)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"level": 0}, "level must be"),
        ({"targets": []}, "targets"),
        ({"names": ("one",)}, "names must be two texts"),
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


def test_weights_are_those_of_the_sequences(groups):
    rng = np.random.default_rng(5)
    weights = rng.integers(0, 4, 60), rng.random(90)
    weighed = [sm.read_events(events).with_weights(w) for events, w in zip(groups, weights, strict=True)]
    weighted = sm.compare_groups(sm.BSuMM(lookback=1, candidates=["A"]), *weighed, targets=["B"])
    (edge,) = weighted.edges
    for events, weight, found in zip(groups, weights, (edge.first, edge.second), strict=True):
        model = sm.BSuMM("B", lookback=1, required=["A"], candidates=[]).fit(events, sample_weight=weight)
        assert found.ratio == pytest.approx(model.influences_[0].ratio, rel=1e-5)  # weights are fixed point
    assert weighted.sizes == (int((weights[0] > 0).sum()), 90)


@pytest.mark.parametrize(("level", "n"), [(0.95, 1), (1 - 0.05 / 3, 0)])
def test_what_differs_is_what_the_intervals_say(level, n):
    wide, close = Difference(1.0, 0.5, 2.0, 1.0, 1.0), Difference(1.5, 0.99, 2.3, 0.02, 0.02)
    label = LabelDifference("A", 0.5, 0.5, wide, 0.2, 0.3, close)
    found = GroupComparison(("others", "north"), level, (45, 15), (label,), ())
    assert len(found.differing_labels()) == n
    assert f"Labels that differ: {'A' if n else 'none'}" in str(found.summary())


def test_empty_sequences_are_among_those_that_a_label_does_not_reach():
    """50 of 100 in both groups, which was reported as .5 against 1, with p .0017."""
    first = [["A", "B"]] * 50 + [["B", "B"]] * 50
    second = [["A", "B"]] * 50 + [[]] * 50
    found = sm.compare_groups(sm.BSuMM(lookback=1), first, second, targets=["A"])
    (label,) = found.labels
    assert (label.reach_first, label.reach_second, found.sizes) == (0.5, 0.5, (100, 100))
    assert label.reach.ratio == 1
    assert label.reach.p_value == 1
    weighted = sm.compare_groups(
        sm.BSuMM(lookback=1),
        first,
        sm.read_events(second).with_weights(np.repeat([3.0, 1.0], 50)),
        targets=["A"],
    )
    assert weighted.labels[0].reach_second == 0.75
    several = sm.compare_groups(
        sm.BSuMM(lookback=1), first + second, by=["x"] * 100 + ["y"] * 100, targets=["A"]
    )
    assert [(one.group, one.reach) for one in several.shares] == [("x", 0.5), ("y", 0.5)]
    assert several.sizes == (100, 100)


def test_ends_are_compared_where_both_groups_have_them():
    first, second = [["A", "B"]] * 40 + [["A"]] * 10, [["A", "B"]] * 10 + [["A"]] * 40
    model = sm.BSuMM(lookback=3, false_edges=None, gamma=0.1)
    whole = [sm.read_events(each, ends="complete") for each in (first, second)]
    both = sm.compare_groups(model, *whole)
    assert sm.END in {edge.target for edge in both.edges}
    assert sm.END not in {one.label for one in both.labels}
    for ends in (("cut off", "complete"), ("complete", "cut off")):
        groups = [sm.read_events(each, ends=how) for each, how in zip((first, second), ends, strict=True)]
        found = sm.compare_groups(model, *groups)
        assert sm.END not in {edge.target for edge in found.edges}
