"""What edges say beyond the event just before, and fixed successions, on every engine, by hand."""

import itertools

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracle_steps as oracle
import summarkov as sm
from strategies import examples
from summarkov.engines.source import make_source
from summarkov.engines.steps import SUCCESSION_CASES, Step, count_steps, fixed_successions
from summarkov.events.vocabulary import END
from summarkov.summaries import Reach


def columns(table):
    return sorted(tuple(column) for column in table.T.tolist())


@given(
    st.lists(st.lists(st.sampled_from("ABCD"), max_size=9), min_size=1, max_size=9).filter(any),
    st.sampled_from([1, 3, None]),
    st.sampled_from([0, 1]),
    st.booleans(),
)
@examples(60)
def test_strata_are_those_counted_by_hand(made, lookback, delay, is_complete):
    if lookback is not None and delay >= lookback:
        delay = 0
    weights = [1 + at % 3 for at in range(len(made))]
    events = sm.read_events(made, ends="complete" if is_complete else "cut off").with_weights(weights)
    source = make_source(events)
    steps = [
        Step(z, x, Reach(delay, lookback))
        for x in range(len(source.labels))
        for z in range(len(source.labels))
        if z != x and source.labels[z] != END
    ]
    by_hand = [(weight, [*case, *[END] * is_complete]) for weight, case in zip(weights, made, strict=True)]
    for step, table in zip(steps, count_steps(source, steps), strict=True):
        names = source.labels[step.influencer], source.labels[step.target]
        assert columns(table) == oracle.strata(by_hand, *names, lookback, delay)


@given(st.lists(st.lists(st.sampled_from("ABCDE"), max_size=6), max_size=5), st.integers(0, 3))
@examples(60)
def test_successions_are_those_counted_by_hand(others, extra):
    cases = [list("ABCD")] * 20 + [list("ABACD")] * extra + others
    chains, pairs = fixed_successions(source := make_source(sm.read_events(cases)))
    labels = [label for label in source.labels if label != END]
    assert {(source.labels[z], source.labels[x]) for z, x in pairs} == {
        (z, x) for z in labels for x in labels if z != x and oracle.in_succession(cases, z, x)
    }
    for chain in chains:
        assert (chain.cases, chain.cases_with_any) == oracle.in_order(cases, chain.labels)
    links = {pair for chain in chains for pair in itertools.pairwise(chain.labels)}
    assert links <= {(source.labels[z], source.labels[x]) for z, x in pairs}


def test_a_chain_ends_where_it_branches():
    cases = [list("ABCD"), list("ACBD")] * SUCCESSION_CASES
    chains, _ = fixed_successions(make_source(sm.read_events(cases)))
    assert [chain.labels for chain in chains] == [("A", "B", "D"), ("A", "C", "D")]


def test_fewer_cases_have_no_fixed_succession():
    assert fixed_successions(make_source(sm.read_events([list("AB")] * (SUCCESSION_CASES - 1)))) == (
        [],
        set(),
    )


@pytest.mark.parametrize("pieces", [3])
def test_every_engine_counts_alike(engine, pieces):
    made = [list("ABCD" if at % 7 else "BADCA") for at in range(60)]
    rows = [(f"{at:02}", place, x) for at, case in enumerate(made) for place, x in enumerate(case)]
    table = pa.table(dict(zip(("case", "place", "event"), zip(*rows, strict=True), strict=True)))
    how = {"case": "case", "event": "event", "order_by": "place"}
    steps = [Step(z, x, Reach(0, 2)) for x in range(5) for z in range(1, 5) if z != x]
    in_memory = make_source(sm.read_events(made))
    with engine(table, pieces, **how) as source:
        assert source.labels == in_memory.labels
        for ours, theirs in zip(count_steps(source, steps), count_steps(in_memory, steps), strict=True):
            assert columns(ours) == columns(theirs)
        assert fixed_successions(source) == fixed_successions(in_memory)
