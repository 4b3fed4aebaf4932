"""Follow rates of edges: in complete and cut-off sequences, added to, saved, and of every kind of model."""

from dataclasses import replace

import numpy as np
import pytest

import oracle_followings as oracle
import summarkov as sm
from summarkov.events.vocabulary import END
from summarkov.evidence import Influence

#: Cases that end say so with an event of their own.
pytestmark = pytest.mark.cut_off


def complete(sequences):
    """Cases that are over."""
    return sm.read_events(sequences, ends="complete")


def cut_off(sequences):
    """Windows onto something that goes on."""
    return sm.read_events(sequences, ends="cut off")


def edge_of(events, z, x, lookback):
    model = sm.BSuMM(x, lookback=lookback, required=[z], candidates=[]).fit(events)
    return model, model.influences_[0]


HOSPITAL = (
    [["ER Registration", "Release A", "Return ER"]] * 262
    + [["ER Registration", "CRP", "Release A"]] * 360
    + [["ER Registration", "Release A", "CRP"]]
    + [["ER Registration", "CRP", "Release B"]] * 300
    + [["ER Registration", "Return ER"]] * 7
)


def test_a_release_is_followed_in_262_of_623_cases():
    _, edge = edge_of(complete(HOSPITAL), "Release A", "Return ER", 5)
    assert (edge.occurrences, edge.followed, edge.follow_rule) == (623, 262, "counted")
    assert f"{edge.follow_rate:.0%}" == "42%"
    assert (edge.cases_with, edge.cases_followed, edge.left_out) == (623, 262, 0)
    assert (edge.cases_both, edge.cases_first, edge.precedence) == (262, 262, 1.0)
    assert (edge.followed_other, edge.occurrences_other) == (262 + 7, 262 * 2 + 360 * 2 + 2 + 900 + 14)
    assert not edge.leads_with_cases
    assert not edge.directions_differ


def test_the_end_follows_what_is_last_whatever_the_window():
    for lookback in (1, 5, None):
        _, edge = edge_of(complete(HOSPITAL), "Release A", END, lookback)
        assert (edge.occurrences, edge.followed, edge.cases_followed) == (623, 360, 360)
        assert (edge.followed_other, edge.precedence) == (1 + 262 + 300 + 7, None)


#: x comes at each position with this probability, so that it follows within 10 positions at 23%.
RATE = 1 - 0.77**0.1


def drawn(length, n, seed=1):
    rng = np.random.default_rng(seed)
    return rng.choice(["x", "Y", "Z"], p=[RATE, 0.8 - RATE, 0.2], size=(n, length)).tolist()


def test_of_windows_that_are_mostly_cut_off_the_rate_is_estimated():
    """Leaving out only the misses would give 47% where 23% is true."""
    sequences = drawn(12, 3000) + drawn(13, 1500, seed=2)
    _, edge = edge_of(cut_off(sequences), "Z", "x", 10)
    assert edge.follow_rule == "product-limit"
    assert edge.follow_rate == pytest.approx(0.23, abs=0.015)
    assert edge.follow_rate_other == pytest.approx(0.23, abs=0.015)
    assert edge.occurrences == sum(labels.count("Z") for labels in sequences)
    assert edge.followed < 0.23 * edge.occurrences
    assert edge.left_out == 0


def test_windows_that_are_cut_off_are_left_out_hits_too():
    sequences = drawn(22, 4000)
    _, edge = edge_of(cut_off(sequences), "Z", "x", 10)
    assert edge.follow_rule == "complete windows"
    assert edge.follow_rate == edge.followed / edge.occurrences == pytest.approx(0.23, abs=0.01)
    assert edge.follow_rate_other == pytest.approx(0.23, abs=0.01)
    assert edge.occurrences == sum(labels[:12].count("Z") for labels in sequences)
    assert edge.left_out == sum(labels[12:].count("Z") for labels in sequences)


@pytest.mark.parametrize(("how", "lookback"), [(complete, None), (cut_off, 10)])
def test_files_keep_them(how, lookback, tmp_path):
    model, _ = edge_of(how(drawn(14, 40)), "Z", "x", lookback)
    model.save(tmp_path / "model.json")
    assert sm.load(tmp_path / "model.json").influences_ == model.influences_


def test_trees_and_joint_models_know_them_too():
    rng = np.random.default_rng(4)
    sequences = []
    for _ in range(60):
        labels = ["A"]
        for _ in range(12):
            labels.append("B" if labels[-1] == "A" and rng.random() < 0.8 else "ABCD"[rng.integers(4)])
        sequences.append([*labels, END])
    tree = sm.TreeSuMM("B").fit(sequences)
    joint = sm.JointSuMM(lookback=20).fit(sequences)
    found = [edge for edge in joint.edges_ if edge.influencer != END]
    windows = [(edge, tree.fitted.reach(edge.influencer).lookback) for edge in tree.influences_]
    cases = oracle.cases_of(sequences)
    for edge, lookback in [*windows, *((edge, 20) for edge in found)]:
        spans = (0, False), (lookback, False)
        expected = oracle.following(cases, [1] * len(cases), edge.influencer, edge.target, *spans)
        assert {name: getattr(edge, name) for name in expected} == pytest.approx(expected, abs=1e-9)
    assert found
    assert {edge.follow_rule for edge in (*tree.influences_, *found)} == {"counted"}


def test_a_case_that_ends_in_its_outcome_is_complete():
    rows = [["A", "B"], ["A", "D"], ["C", "B"], ["C", "B"]] * 20
    model = sm.OutcomeModel(ends_with="B", model=sm.BSuMM(lookback=None)).fit(rows)
    assert {edge.follow_rule for edge in model.influences_} == {"counted"}


def edge(**more):
    return Influence("Z", "x", "amplifies", 2.0, 1.5, 2.5, 10, 20, 30, 90, **more)


def test_what_follows_from_them():
    rates = {"follow_rate": 0.2, "follow_rate_other": 0.3}
    assert edge(**rates).directions_differ
    assert not replace(edge(**rates), ratio=0.5).directions_differ
    assert not replace(edge(**rates), ratio=float("nan")).directions_differ
    assert not edge(follow_rate=0.2).directions_differ
    assert edge(occurrences=16, cases_with=10).leads_with_cases
    assert not edge(occurrences=15, cases_with=10).leads_with_cases
    assert edge(occurrences=10, left_out=6, cases_with=10).leads_with_cases
    assert not edge().leads_with_cases
    assert edge(cases_both=4, cases_first=3).precedence == 0.75
    assert edge(cases_both=0, cases_first=0).precedence is None
    assert edge().precedence is None
