"""The theorems on dynamics that are written down, and that learning finds the truth in them.

Brute force goes over histories themselves and the written tables, by the oracle's summaries.
"""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracle
import summarkov as sm
from strategies import Spec, examples, specs, subsets
from summarkov.errors import SettingError

#: Numbers as the paper counts them.
pytestmark = pytest.mark.cut_off

LABELS = ("A", "B", "C")

PAPER = {
    "A": (("B", "C"), {(0, 0): 0.3, (0, 1): 0.1, (1, 0): 0.35, (1, 1): 0.2}),
    "B": (("B", "C"), {(0, 0): 0.1, (0, 1): 0.3, (1, 0): 0.05, (1, 1): 0.2}),
    "C": 0.3,
    "D": 0.2,
    "E": 0.1,
}


def all_subsets(labels):
    return [u for n in range(len(labels) + 1) for u in itertools.combinations(labels, n)]


@st.composite
def dynamics(draw):
    """Tables of multiples of 1/16 for A and B, some of whose columns do not matter; C gets the rest."""
    spec = draw(specs(LABELS, kinds=("binary",), longest=3))
    spec = replace(spec, delay=min(spec.delay, 1))  # keep histories short
    rules = {}
    for label in ("A", "B"):
        influencers = draw(subsets(LABELS))
        matter = draw(subsets(influencers))
        chance = {}  # of a state of those that matter
        table = {}
        for key in states(influencers):
            part = project(key, influencers, matter)
            if part not in chance:
                chance[part] = draw(st.integers(0, 4)) / 16
            table[key] = chance[part]
        rules[label] = (influencers, table)
    both = tuple(sorted({*rules["A"][0], *rules["B"][0]}))
    rules["C"] = (
        both,
        {
            key: 1 - sum(rules[x][1][project(key, both, rules[x][0])] for x in ("A", "B"))
            for key in states(both)
        },
    )
    return spec, rules


def written(spec, rules):
    return sm.Dynamics(rules, lookback=spec.lookback, delay=spec.delay)


def states(influencers):
    return itertools.product((0, 1), repeat=len(influencers))


def project(key, influencers, onto):
    """The state of some of the influencers."""
    return tuple(level for level, z in zip(key, influencers, strict=True) if z in onto)


def histories(spec):
    """All histories as long as any window, or long enough to reach every state of an unlimited one."""
    lookback = spec.lookback
    each = [lookback.get(z) if isinstance(lookback, dict) else lookback for z in LABELS]
    longest = max(3 + spec.delay if k is None else k for k in each)
    return [list(h) for n in range(longest + 1) for h in itertools.product(LABELS, repeat=n)]


def chance_of(spec, rules, label):
    """The written probability of a label after a history."""
    influencers, table = rules[label]
    state = spec.state(influencers)
    return lambda past: table[state(past)]


def is_influencing(states, chances):
    """Definition 3: histories that have one state have one probability."""
    seen = {}
    return all(seen.setdefault(s, p) == p for s, p in zip(states, chances, strict=True))


@examples(80)
@given(dynamics())
def test_the_minimal_influencing_set_is_unique(drawn):
    spec, rules = drawn
    known = written(spec, rules)
    pasts = histories(spec)
    seen = {u: [spec.state(u)(past) for past in pasts] for u in all_subsets(LABELS)}
    for target in LABELS:
        chances = [chance_of(spec, rules, target)(past) for past in pasts]
        verdict = {u: is_influencing(seen[u], chances) for u in all_subsets(LABELS)}
        influencing = {frozenset(u) for u, yes in verdict.items() if yes}
        minimal = [u for u in influencing if not any(v < u for v in influencing)]
        assert len(minimal) == 1
        assert known.minimal_influencers(target) == tuple(sorted(minimal[0]))
        assert influencing == {u for u in map(frozenset, all_subsets(LABELS)) if minimal[0] <= u}


@examples(60)
@given(dynamics())
def test_the_next_event_has_the_written_probability(drawn):
    spec, rules = drawn
    known = written(spec, rules)
    chances = [chance_of(spec, rules, label) for label in LABELS]
    for length, pasts in itertools.groupby(histories(spec), key=len):
        pasts = list(pasts)
        coded = [[LABELS.index(z) for z in past] for past in pasts]
        rows = known._next_event(np.array(coded, np.int32).reshape(len(pasts), length))
        for past, row in zip(pasts, rows.tolist(), strict=True):
            assert row == [chance(past) for chance in chances]
            assert sum(row) == pytest.approx(1, rel=1e-12)


@examples(40)
@given(dynamics(), st.data())
def test_probabilities_that_do_not_sum_to_1_are_refused(drawn, draw):
    spec, rules = drawn
    influencers, table = rules["C"]
    reached = sorted({spec.state(influencers)(past) for past in histories(spec)})
    key = draw.draw(st.sampled_from(reached))
    wrong = rules | {"C": (influencers, table | {key: table[key] - 1 / 64})}
    with pytest.raises(SettingError, match="sum to"):
        written(spec, wrong)


def within(share, p, n):
    """Whether a share of n draws is within five standard errors of p."""
    return abs(share - p) <= 5 * np.sqrt(p * (1 - p) / n) + 1e-12


def test_frequencies_approach_the_tables_with_lengths_and_delay():
    spec = Spec("binary", 4, delay=1)
    table = {(0, 0): 0.25, (0, 1): 0.6, (1, 0): 0.05, (1, 1): 0.4}
    rules = {"A": (("B", "C"), table), "B": (("B", "C"), {k: (1 - p) / 2 for k, p in table.items()})}
    known = written(spec, rules | {"C": rules["B"]})
    assert known.minimal_influencers("A") == ("B", "C")
    drawn = known.simulate(3, [0, 1, 4000], random_state=4)
    assert drawn.lengths.tolist() == [0, 1, 4000]
    counts = oracle.counts(drawn.to_lists(), ("A",), spec.state(("B", "C")))
    assert set(counts) == set(table)
    for state, (yes, no) in counts.items():
        assert within(yes / (yes + no), table[state], yes + no)


def test_the_learned_set_converges_to_the_minimal_one():
    """The paper's discovery experiment, with enough data: every label's set is found."""
    known = sm.Dynamics(PAPER, lookback=3)
    drawn = known.simulate(4000, 10, random_state=0)
    truth = {label: known.minimal_influencers(label) for label in "ABCDE"}
    assert truth == {"A": ("B", "C"), "B": ("B", "C"), "C": (), "D": (), "E": ()}
    graph = sm.InfluenceGraph(sm.BSuMM(lookback=3)).fit(drawn)
    assert graph.influencers_ == truth
    few = sm.InfluenceGraph(sm.BSuMM(lookback=3)).fit(known.simulate(10, 10, random_state=0))
    assert few.influencers_ != truth  # ten sequences do not suffice
    for label, model in graph.models_.items():
        for row in model.table_:
            key = tuple(int(z in row.state) for z in model.influencers_)
            p = PAPER[label][1][key] if label in "AB" else PAPER[label]
            assert within(row.probabilities[0], p, row.n)


@pytest.mark.parametrize("family", [sm.OSuMM, sm.CSuMM])
def test_other_families_find_the_same_set(family):
    """States that tell more apart than the truth does need more data, and lead to the same labels."""
    drawn = sm.Dynamics(PAPER, lookback=3).simulate(6000, 10, random_state=1)
    assert family("A", lookback=3).fit(drawn).influencers_ == ("B", "C")


def test_two_labels_and_one_step_back_say_the_same_but_at_the_start():
    """Where combinations of pasts are impossible, sets can be equivalent: Theorem 1 assumes they are not."""
    after = {(0,): 0.7, (1,): 0.2}
    known = sm.Dynamics(
        {"A": (("A",), after), "B": (("A",), {k: 1 - p for k, p in after.items()})}, lookback=1
    )
    sequences = known.simulate(20, 50, random_state=1).to_lists()
    for sequence in sequences:
        for at in range(1, len(sequence)):
            (a,), (b,) = (oracle.binary_state(sequence[:at], (z,), 1) for z in "AB")
            assert a == 1 - b
    assert known.minimal_influencers("A") == ("A",)
