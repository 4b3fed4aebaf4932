"""What was found: exactly what was planted, on one screen, with numbers that can be counted."""

import itertools
import random

import numpy as np
import pytest

import summarkov as sm
from summarkov.evidence.edges import FIXED_SEQUENCES
from summarkov.evidence.findings import findings_of, impact_words
from summarkov.evidence.ratios import Strata, excess
from summarkov.simulate.example import web_shop


def learned(events):
    graph = sm.InfluenceGraph(sm.BSuMM(lookback=5)).fit(events)
    graph.order_test(events)
    return graph


@pytest.fixture(scope="module")
def shop():
    return learned(web_shop().simulate(n_sequences=1000, length=30, random_state=1))


@pytest.fixture(scope="module")
def desk():
    """Tickets: fixed steps around a loop in which escalation makes waiting more likely."""
    rng, cases = random.Random(3), []
    for _ in range(1500):
        case = ["create", "assign"]
        for _ in range(5):
            case.append("work")
            if is_escalated := rng.random() < 0.3:
                case.append("escalate")
            if rng.random() > (0.7 if is_escalated else 0.2):
                break
            case.append("wait")
        cases.append([*case, "resolve", "close"])
    return cases, learned(sm.read_events(cases))


def test_what_is_planted_in_the_shop_is_found_and_nothing_else(shop):
    found = {(edge.influencer, edge.target) for edge in shop.findings_.influences}
    dynamics = web_shop()
    planted = {
        (z, x) for x in dynamics.labels if x != "browse" for z in dynamics.minimal_influencers(x) if z != x
    }
    assert found == planted
    assert shop.findings_.headline.startswith("7 event types influence others; the largest: ")


def test_the_surest_impact_comes_first_or_the_surest_ratio(shop):
    sizes = [edge.sure_impact for edge in shop.findings_.influences]
    assert sizes == sorted(sizes, reverse=True)
    by_ratio = findings_of(shop.edges_, shop.course_, by="ratio").influences
    assert [edge.evidence for edge in by_ratio] == sorted((e.evidence for e in by_ratio), reverse=True)


def test_impact_is_what_would_not_have_been(shop):
    """With one influencer there is one stratum: the impact is hits with, less those at the other rate."""
    for edge in shop.edges_:
        if len(shop.influencers_[edge.target]) == 1 and not edge.is_self:
            assert edge.impact == pytest.approx(edge.hits_with - edge.n_with * edge.rate_without)
            assert edge.impact_low < edge.impact < edge.impact_high


def test_impact_has_the_sign_of_the_ratio_and_none_on_itself(shop):
    for edge in shop.edges_:
        assert (edge.impact is None) == edge.is_self
        assert edge.is_self or (edge.impact > 0) == (edge.ratio > 1)


@pytest.mark.parametrize(("with_", "without"), [(0.3, 0.1), (0.2, 0.3)])
def test_the_interval_of_an_impact_covers(with_, without):
    rng, n1, n0 = np.random.default_rng(1), np.array([60, 40, 100]), np.array([300, 200, 50])
    base, more = np.array([1.0, 0.8, 0.6]), with_ - without
    covered = 0
    for _ in range(400):
        hits, others = rng.binomial(n1, without * base + more), rng.binomial(n0, without * base)
        _, low, high = excess(Strata.of(hits, n1, others, n0))
        covered += low <= more * n1.sum() <= high
    assert covered >= 0.92 * 400


def test_nothing_compared_has_no_impact():
    assert np.isnan(excess(Strata.of([3], [10], [0], [0]))).all()


def test_the_fixed_course_is_one_line_and_no_finding(desk):
    cases, graph = desk
    (chain,) = graph.findings_.chains
    assert chain.labels == ("create", "assign", "work", "resolve", "close")
    assert (chain.cases, chain.cases_with_any) == (len(cases), len(cases))
    fixed = set(itertools.pairwise(chain.labels))
    assert not fixed & {(edge.influencer, edge.target) for edge in graph.findings_.influences}
    assert "beyond the fixed course of the process" in graph.findings_.headline


def test_what_a_process_map_does_not_show_comes_first(desk):
    """Waiting comes right after work without escalation too; escalation is what makes it likely."""
    _, graph = desk
    first = graph.findings_.influences[0]
    assert (first.influencer, first.target, first.effect) == ("escalate", "wait", "amplifies")


def test_what_never_follows_because_it_comes_first_is_in_a_fixed_order(desk):
    cases, graph = desk
    behind = [edge for edge in graph.edges_ if edge.is_behind]
    assert behind
    for edge in behind:
        with_both = [case for case in cases if edge.influencer in case and edge.target in case]
        first = sum(case.index(edge.influencer) < case.index(edge.target) for case in with_both)
        assert len(with_both) >= FIXED_SEQUENCES
        assert first <= 0.01 * len(with_both)
        assert edge.set_aside == "fixed order"


def test_nothing_found_says_so_and_names_the_nearest():
    rng = random.Random(1)
    events = sm.read_events([[rng.choice("ABCD") for _ in range(20)] for _ in range(100)], ends="cut off")
    found = learned(events).findings_
    assert found.headline == "No event type was found to influence another"
    assert found.influences == ()
    assert len(found.nearest) <= 3


def test_a_file_keeps_the_findings(desk, shop, tmp_path):
    for graph in (desk[1], shop):
        graph.save(tmp_path / "model.json")
        read = sm.load(tmp_path / "model.json")
        assert read.course_ == graph.course_
        assert str(read.summary()) == str(graph.summary())


def test_impact_in_words_may_go_both_ways(shop):
    edge = shop.findings_.influences[0]
    numbers = {"impact": 12.0, "impact_low": -3.0, "impact_high": 27.0}
    assert impact_words(type(edge)(**{**vars(edge), **numbers})).endswith("(3 fewer to 27 more)")
