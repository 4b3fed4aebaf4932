"""What tests would tell apart at the leaves of a tree: equal to the oracle, however the data is cut."""

from dataclasses import replace
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracle
import oracle_rules as rules
import summarkov as sm
from rule_strategies import summary_of, test_sets, trees
from strategies import codes, data, examples, subsets, target_of, targets, weights_of
from summarkov import kernels
from summarkov.engines import MemorySource, RecencyRequest, StatesRequest, Target
from summarkov.engines import source as sources
from summarkov.engines.counts import join
from summarkov.errors import TooLargeError
from summarkov.summaries import HistoryTests, TreeSummary

pytestmark = pytest.mark.cut_off


@st.composite
def questions(draw, events=None):
    """Data, weights, tests, a tree, and a request for some of its leaves."""
    events = draw(data(unknown=None) if events is None else events)
    candidates = draw(subsets(events.labels))
    tests = draw(test_sets)
    tree = draw(trees(tests.all(candidates)))
    summary = summary_of(tree, tests, events.labels)
    open_ = draw(st.sets(st.integers(0, len(summary.leaves) - 1), min_size=1))
    target = draw(targets(events.labels))
    request = RecencyRequest(
        summary, target_of(events, target), codes(events.labels, candidates), tuple(sorted(open_))
    )
    return events, draw(weights_of(events)), tests.all(candidates), tree, target, request


def whole(events, weights, request):
    (answer,) = MemorySource(events.events, sample_weight=weights).count([request])
    return answer


def assert_same(a, b):
    for name in ("counts", "lags", "starts", "pairs"):
        one, other = getattr(a, name), getattr(b, name)
        assert one.dtype == other.dtype == np.int64
        assert one.shape == other.shape
        assert np.array_equal(one, other), name


@examples(120)
@given(questions(), st.integers(1, 9), st.integers(1, 3))
def test_every_test_at_every_leaf_equals_the_oracle(question, size, n_jobs):
    events, weights, tests, tree, target, request = question
    states = StatesRequest(request.summary, (), request.target)
    with mock.patch.object(sources, "SHARD_EVENTS", size):
        source = MemorySource(events.events, sample_weight=weights, n_jobs=n_jobs)
        answer, table = source.count([request, states])
    counted = request.summary.tests.yes(answer.lags, answer.starts, answer.pairs)
    n = oracle.n_outcomes(target, events.labels)
    cases = rules.cases(events.sequences, target, events.labels, weights)
    assert counted.shape == (len(request.open), len(tests), n)
    assert len(tests) == request.summary.tests.size(len(request.candidates))
    paths = rules.leaves(tree)
    for place, number in enumerate(request.open):
        here = [case for case in cases if rules.leaf(tree, case[0]) == paths[number]]
        assert answer.leaf(place).counts.tolist() == [rules.tabulate(here, n)]
        assert not events.n_events or table.counts[number].tolist() == rules.tabulate(here, n)
        for t, test in enumerate(tests):
            assert counted[place, t].tolist() == rules.tabulate(rules.divide(here, test)[0], n), test


@examples(80)
@given(questions())
def test_the_leaf_of_every_position_equals_the_oracle(question):
    events, _, _, tree, _, request = question
    coded = events.events
    index = kernels.Index(coded.codes, coded.offsets, len(coded.labels))
    ids, keys = request.summary.encode(index, (), coded.labels)
    paths = rules.leaves(tree)
    assert keys.tolist() == [[i] for i in range(len(paths))]
    histories = [s[:i] for s in events.sequences for i in range(len(s))]
    assert [paths[i] for i in ids.tolist()] == [rules.leaf(tree, past) for past in histories]


@examples(60)
@given(questions(), st.data())
def test_targets_with_the_same_tree_share_one_count(question, draw):
    events, weights, _, _, _, request = question
    other = replace(request, target=target_of(events, draw.draw(targets(events.labels))))
    both = [request, other]
    joint, answered_by = join(both, most=100)
    assert (len(joint), answered_by) == (1, [0, 0])
    answers = MemorySource(events.events, sample_weight=weights).count(both)
    for one, answer in zip(both, answers, strict=True):
        assert_same(answer, whole(events, weights, one))


def test_too_many_tables_are_refused():
    events = sm.EventSequences.from_lists([["A", "B"]], labels=[f"{i:04}" for i in range(2000)] + ["A", "B"])
    summary = TreeSummary((None,), HistoryTests(counts=(2, 500)))
    request = RecencyRequest(summary, Target((0,), 2002), tuple(range(2002)), (0,) * 40)
    with pytest.raises(TooLargeError, match="2002 labels at 40 leaves for 2 outcomes are too many to count"):
        MemorySource(events).count([request])
