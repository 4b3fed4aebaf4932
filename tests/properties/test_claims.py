"""What is said of an edge never contradicts a count by hand: on random data, and on logs full of zeros."""

import math
import re

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from paper.loans import loan_process

import oracle_effects as effects
import oracle_followings as oracle
import summarkov as sm
from strategies import LABELS, examples
from summarkov.evidence import Influence, Strata, effect_of, rate_ratio, words
from summarkov.wording import factor, factor_interval, number, percent

#: Numbers as the paper counts them.
pytestmark = pytest.mark.cut_off

FAMILIES = {
    "binary": lambda k: sm.BSuMM(lookback=k, gamma=0.3, false_edges=None),
    "ordinal": lambda k: sm.OSuMM(lookback=k, gamma=0.3, false_edges=None),
    "count": lambda k: sm.CSuMM(lookback=k, gamma=0.3, false_edges=None),
}


@st.composite
def noisy(draw):
    """Sequences of a few labels."""
    labels = st.sampled_from(LABELS[:4])
    return draw(st.lists(st.lists(labels, max_size=8), min_size=2, max_size=30))


@st.composite
def processes(draw):
    """Sequences with labels that only begin, that never repeat, and that only end."""
    middles = st.lists(st.sampled_from(["work", "ask", "wait"]), max_size=6)
    cases = []
    for _ in range(draw(st.integers(2, 25))):
        case = ["begin", *draw(middles)]
        if draw(st.booleans()):
            case.insert(draw(st.integers(1, len(case))), "once")
        cases.append(case + draw(st.sampled_from([["end"], ["end", "paid"], []])))
    return cases


def check_edge(edge, sequences, windows, others):
    """An edge says nothing that a count by hand contradicts."""
    z, x = edge.influencer, edge.target
    counted = effects.two_by_two(sequences, windows[z], z, x)
    assert (edge.hits_with, edge.n_with, edge.hits_without, edge.n_without) == counted
    tables = effects.strata(sequences, windows, z, x, others)
    ratio = effects.mantel_haenszel(tables)
    assert edge.ratio == pytest.approx(ratio, rel=1e-9, nan_ok=True)
    assert math.isnan(ratio) or edge.low <= edge.ratio <= edge.high
    if edge.effect == "amplifies":
        assert ratio > 1
        assert edge.hits_with > 0
    if edge.effect == "inhibits":
        assert ratio < 1
        assert edge.hits_without > 0
    if edge.effect == "mixed":
        assert any(a * n0 > b * n1 for a, n1, b, n0 in tables)
        assert any(a * n0 < b * n1 for a, n1, b, n0 in tables)
    cells = [(a, n1 - a, b, n0 - b) for a, n1, b, n0 in tables]
    if cells and min(map(sum, zip(*cells, strict=True))) >= 10:
        low, high = effects.greenland_robins(tables)
        assert edge.low <= low * (1 + 1e-9)
        assert edge.high >= high * (1 - 1e-9)
    spans = ((size, False) for size in windows[z])
    numbers = oracle.following(oracle.cases_of(sequences), [1] * len(sequences), z, x, *spans)
    assert {name: getattr(edge, name) for name in numbers} == pytest.approx(numbers, abs=1e-9)


@examples(60)
@given(st.one_of(noisy(), processes()), st.sampled_from(sorted(FAMILIES)), st.sampled_from([1, 2, 5, None]))
def test_no_edge_contradicts_a_count_by_hand(sequences, family, lookback):
    assume(any(sequences))
    graph = sm.InfluenceGraph(FAMILIES[family](lookback)).fit(sequences)
    windows = dict.fromkeys(graph.labels_, (0, lookback))
    for edge in graph.edges_:
        check_edge(edge, sequences, windows, graph.influencers_[edge.target])


@examples(40)
@given(st.one_of(noisy(), processes()), st.integers(1, 40), st.sampled_from([1, 3]))
def test_more_sequences_without_either_label_flip_nothing(sequences, more, lookback):
    """Sequences of another label alone: the ratio beside no other influencer, and its side, stay."""
    assume(any(sequences))
    graph = sm.InfluenceGraph(sm.BSuMM(lookback=lookback, gamma=0.3, false_edges=None)).fit(sequences)
    padded = [*sequences, *[["nothing"] * 3] * more]
    for edge in graph.edges_:
        settings = {"lookback": lookback, "required": [edge.influencer], "candidates": []}
        before, after = (
            sm.BSuMM(edge.target, **settings).fit(events).influences_[0] for events in (sequences, padded)
        )
        sides = {before.effect, after.effect}
        assert sides != {"amplifies", "inhibits"}
        assert (before.hits_with, before.n_with) == (after.hits_with, after.n_with)


def test_a_log_full_of_zeros():
    """The made-up loan process, every edge against a count by hand: what never follows is not amplified."""
    events = loan_process(400, seed=3)
    sequences = events.to_lists()
    graph = sm.InfluenceGraph(sm.BSuMM(lookback=5)).fit(events)
    assert len(graph.edges_) > 40
    windows = dict.fromkeys(graph.labels_, (0, 5))
    for edge in graph.edges_:
        check_edge(edge, sequences, windows, graph.influencers_[edge.target])
    empty = [edge for edge in graph.edges_ if edge.hits_with == 0]
    assert len(empty) > 5
    assert {edge.effect for edge in empty} <= {"inhibits", "unclear"}


# ----------------------------------------------------------------------------------------------- sentences

COUNTS = st.one_of(st.integers(0, 12), st.integers(0, 10**9))


@st.composite
def influences(draw):
    """An influence with any counts, and what follows from them."""
    n_with, n_without = draw(COUNTS), draw(COUNTS)
    hits = draw(st.integers(0, n_with)), draw(st.integers(0, n_without))
    found = rate_ratio(Strata.of([hits[0]], [n_with], [hits[1]], [n_without]))
    low, high = float(found.low), float(found.high)
    effect = draw(st.sampled_from(["mixed", effect_of(low, high)]))
    sequences = draw(st.one_of(st.none(), st.integers(0, hits[0])))
    return Influence(
        "A", "B", effect, float(found.ratio), low, high, hits[0], n_with, hits[1], n_without,
        None if sequences is None else n_with, sequences,
        frequency=draw(st.sampled_from([None, 0.0, 1.0, 0.37])),
    )  # fmt: skip


@examples(300)
@given(influences())
def test_sentences_say_what_was_counted(edge):
    told = words.sentence(edge, "'A'", "'B'", "immediately")
    assert not re.search(r"nan|inf\b|None|e[+-]\d", told)
    said = words.evidence(edge, "'A'", "'B'", "immediately")
    counted = re.findall(r"\(([\d,]+) of ([\d,]+)\)", said)
    sides = [(h, n) for h, n in ((edge.hits_with, edge.n_with), (edge.hits_without, edge.n_without)) if n]
    assert [(int(a.replace(",", "")), int(b.replace(",", ""))) for a, b in counted] == sides
    assert ("never seen" in said) == (bool(edge.n_with) != bool(edge.n_without))
    assert ("nothing was counted" in told) == (not edge.n_with and not edge.n_without)
    for h, n in sides:
        assert re.search(rf" 0%( of the moments)? \(0 of {number(n)}\)", said) or h > 0
        for whole in ("0%", "100%"):
            assert not (0 < h < n) or not re.search(
                rf" {whole}( of the moments)? \({number(h)} of {number(n)}\)", said
            )
    shown = words.times(edge)
    if edge.effect == "amplifies":
        assert ("×" in shown) == (edge.hits_without > 0)
    assert ("never" in shown) == (shown != "" and edge.effect != "mixed" and not edge.hits_with)
    assert ("only" in shown) == (shown != "" and edge.effect != "mixed" and not edge.hits_without)
    if edge.effect == "mixed":
        assert "times as likely" not in words.verdict(edge)
    assert ("too few events" in told) == edge.is_thin


@examples(300)
@given(st.floats(0, 1))
def test_percentages_are_right_to_their_digits(p):
    told = percent(p)
    if told[0] in "<>":
        assert (p < 0.0001) if told[0] == "<" else (p > 0.999)
    else:
        digits = len(told.partition(".")[2]) - 1 if "." in told else 0
        assert abs(float(told[:-1]) - 100 * p) <= 0.51 * 10**-digits
        assert (told in ("0%", "100%")) == (p in (0, 1))


@examples(300)
@given(st.floats(0, 1e12))
def test_factors_are_right_to_two_digits(ratio):
    told = factor(ratio)
    if ratio > 100 or ratio < 0.01:
        assert told == ("over ×100" if ratio > 100 else "under ×0.01")
    else:
        assert float(told[1:]) == pytest.approx(ratio, rel=0.051)
    assert factor_interval(0.0, ratio) if ratio else True
