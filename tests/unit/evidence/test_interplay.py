"""Interplays that are planted are named, and those of influences that act each for itself are not."""

import numpy as np
import pytest
from paper.worlds import alike, drawn

import summarkov as sm
from summarkov.engines.source import make_source
from summarkov.evidence.interplay import find_interplays

ON = {
    "and": lambda a, b, _: a & b,
    "or": lambda a, b, _: a | b,
    "unless": lambda a, b, _: a & ~b,
    "in order": lambda a, b, first: a & b & first,
}


def planted(rng, n, n_labels=14, length=40, lookback=5):
    """Sequences in which four targets come at 25% where their pattern holds, else at 5%; and the patterns."""
    labels = tuple(f"L{z:02}" for z in range(n_labels))
    parts = rng.permutation(n_labels)[:12].reshape(4, 3)
    base, last = rng.dirichlet(np.full(n_labels, 8.0)), np.full((n, n_labels), -(10**9))
    rest = ~np.isin(np.arange(n_labels), parts[:, 2])
    codes = np.empty((n, length), np.int32)
    for i in range(length):
        p = np.tile(base, (n, 1))
        for (a, b, x), holds in zip(parts, ON.values(), strict=True):
            there = [i - last[:, z] <= lookback for z in (a, b)]
            p[:, x] = np.where(holds(*there, last[:, a] < last[:, b]), 0.25, 0.05)
        p[:, rest] *= ((1 - p[:, ~rest].sum(axis=1)) / p[:, rest].sum(axis=1))[:, None]
        codes[:, i] = (rng.random((n, 1)) > p.cumsum(axis=1)).sum(axis=1).clip(max=n_labels - 1)
        last[np.arange(n), codes[:, i]] = i
    events = sm.EventSequences(codes.reshape(-1), np.arange(n + 1) * length, labels, ends="cut off")
    truth = {(kind, *(labels[z] for z in part)) for kind, part in zip(ON, parts, strict=True)}
    return events, {_either_way(*each) for each in truth}


def _either_way(kind, first, second, target):
    """The same whichever of two is named first, where that does not matter."""
    names = sorted([first, second]) if kind in ("and", "or") else [first, second]
    return kind, *names, target


def interplays(events):
    graph = sm.InfluenceGraph(sm.BSuMM()).fit(events)
    found = find_interplays(make_source(events), [model.fitted for model in graph.models_.values()])
    return {_either_way(e.kind, e.first, e.second, e.target): e for some in found for e in some}


def test_planted_interplays_are_named():
    right = named = there = 0
    for seed in range(6):
        events, truth = planted(np.random.default_rng(seed), 300)
        found = interplays(events)
        right, named, there = right + len(truth & found.keys()), named + len(found), there + len(truth)
    assert right >= 0.9 * named  # at least .8 is promised
    assert right >= 0.8 * there  # at least .7


def test_their_rates_can_be_counted():
    events, truth = planted(np.random.default_rng(1), 300)
    for (kind, *_), one in interplays(events).items():
        on = off = hits_on = hits_off = 0
        for case in events.to_lists():
            for i, event in enumerate(case):
                window = case[max(0, i - 5) : i]
                a, b = one.first in window, one.second in window
                last = {x: max((j for j, e in enumerate(window) if e == x), default=-1) for x in set(window)}
                holds = ON[kind](np.bool_(a), np.bool_(b), last.get(one.first, 9) < last.get(one.second, -1))
                on, off = on + bool(holds), off + (not holds)
                hits_on += bool(holds) and event == one.target
                hits_off += (not holds) and event == one.target
        assert (one.hits_on, one.n_on, one.hits_off, one.n_off) == (hits_on, on, hits_off, off)
        assert one.effect == "amplifies"
    assert truth


@pytest.mark.parametrize("times", [2.0, 4.0, 8.0])
def test_influences_that_act_each_for_itself_have_none(times):
    """Rates that multiply, in worlds in which all labels share what is there: crowding out."""
    edges = {(0, 9): times, (1, 9): times, (2, 9): times, (0, 8): times, (3, 8): times, (4, 7): 1 / times}
    named = 0
    for seed in range(4):
        rng = np.random.default_rng(seed)
        graph_events = drawn(rng, alike(rng, 400, 40, 10, 100.0), edges).events
        named += len(interplays(graph_events))
    assert named <= 1
