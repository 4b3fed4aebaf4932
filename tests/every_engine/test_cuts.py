"""Counts add: cut anywhere, with what must be remembered of the past, the totals are the same."""

from itertools import pairwise
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from strategies import (
    FAMILIES,
    KINDS,
    WINDOWS,
    Data,
    Spec,
    assert_same,
    codes,
    data,
    examples,
    long_data,
    specs,
    subsets,
    target_of,
    targets,
    weights_of,
)
from summarkov.engines import (
    CandidateCounts,
    CandidatesRequest,
    MemorySource,
    Past,
    StateCounts,
    StatesRequest,
    work,
)
from summarkov.engines.work import Shard, joint_memory

#: Numbers as the paper counts them.
pytestmark = pytest.mark.cut_off


@st.composite
def questions(draw, kinds=KINDS):
    """Data, weights, and a request of either type."""
    events = draw(data(unknown=None))
    spec = draw(specs(events.labels, kinds))
    influencers = () if spec.kind == "chain" else draw(subsets(events.labels, max_size=3))
    common = (
        spec.summary(),
        codes(events.labels, influencers),
        target_of(events, draw(targets(events.labels))),
    )
    request = StatesRequest(*common)
    if spec.kind in WINDOWS and draw(st.booleans()):
        others = [z for z in events.labels if z not in influencers]
        request = CandidatesRequest(*common, codes(events.labels, others))
    return events, draw(weights_of(events)), request


def total(parts):
    return (CandidateCounts if isinstance(parts[0], CandidateCounts) else StateCounts).total(parts)


def whole(events, weights, request):
    (answer,) = MemorySource(events.events, sample_weight=weights).count([request])
    return answer


def count_in_blocks(events, weights, request, cuts_of, memory):
    """Count each sequence piece by piece; `cuts_of` gives the places where one of n events is cut."""
    coded, parts = events.events, []
    for k, (start, stop) in enumerate(pairwise(coded.offsets.tolist())):
        past = Past()
        places = [0, *cuts_of(stop - start), stop - start]
        for a, b in pairwise(places):
            piece = coded.codes[start + a : start + b]
            index = past.index(piece, np.array([0, b - a]), len(events.labels))
            weight = None if weights is None else np.array([weights[k]])
            parts.append(Shard(index, events.labels, weight).count(request))
            past = past.extend(piece, memory)
            if memory[1] is not None:
                assert len(past.codes) <= memory[0] + len(events.labels) * (memory[1] + 1)
            else:
                assert len(past.codes) <= memory[0]
    return parts


@pytest.mark.parametrize("kind", KINDS)
@examples(40)
@given(st.data())
def test_sequences_cut_anywhere(kind, draw):
    events, weights, request = draw.draw(questions((kind,)))

    def cuts_of(n):  # the same place twice makes an empty piece
        return sorted(draw.draw(st.lists(st.integers(0, n), max_size=4)))

    parts = count_in_blocks(events, weights, request, cuts_of, request.summary.memory())
    if parts:
        assert_same(total(parts), whole(events, weights, request))


@pytest.mark.parametrize("kind", KINDS)
@examples(25)
@given(st.data())
def test_one_event_at_a_time(kind, draw):
    events, weights, request = draw.draw(questions((kind,)))
    parts = count_in_blocks(events, weights, request, lambda n: range(1, n), request.summary.memory())
    if parts:
        assert_same(total(parts), whole(events, weights, request))


@examples(70)
@given(questions(), st.data())
def test_a_past_that_remembers_more_than_is_needed(question, draw):
    """Shards serve several summaries at once, so the past may reach further back than one of them asks."""
    events, weights, request = question
    other = draw.draw(specs(events.labels)).summary()
    memory = joint_memory([request.summary, other])
    parts = count_in_blocks(events, weights, request, lambda n: range(1, n), memory)
    if parts:
        assert_same(total(parts), whole(events, weights, request))


@examples(80)
@given(questions(), st.integers(1, 9), st.integers(1, 3))
def test_shards_and_threads_change_nothing(question, size, n_jobs):
    events, weights, request = question
    expected = whole(events, weights, request)
    with mock.patch.object(work, "SHARD_EVENTS", size):
        source = MemorySource(events.events, sample_weight=weights, n_jobs=n_jobs)
        if events.n_events:
            assert len(list(source.part().blocks(work.EVENT_BYTES))) >= min(
                events.n_events, -(-events.n_events // size)
            )
        (answer,) = source.count([request])
    assert_same(answer, expected)


@examples(60)
@given(st.data(), st.integers(1, 5), st.integers(1, 3))
def test_several_summaries_in_shards(draw, size, n_jobs):
    """One source answers ever other requests, so the past that its shards keep must change with them."""
    events = draw.draw(data(unknown=True))
    target = target_of(events, draw.draw(targets(events.labels)))
    with mock.patch.object(work, "SHARD_EVENTS", size):
        source = MemorySource(events.events, n_jobs=n_jobs)
        for _ in range(2):
            requests = [
                StatesRequest(draw.draw(specs(events.labels)).summary(), (0,), target) for _ in range(2)
            ]
            answers = source.count(requests)
            with mock.patch.object(work, "SHARD_EVENTS", 1 << 20):
                for request, answer in zip(requests, answers, strict=True):
                    assert_same(answer, whole(events, None, request))


@pytest.mark.parametrize("kind", WINDOWS)
@examples(20)
@given(st.data())
def test_long_sequences_cut_anywhere(kind, draw):
    events = draw.draw(long_data())
    spec = draw.draw(specs(events.labels, (kind,), longest=60))
    influencers = codes(events.labels, draw.draw(subsets(events.labels, max_size=2)))
    others = tuple(z for z in range(len(events.labels)) if z not in influencers)
    target = target_of(events, draw.draw(targets(events.labels)))
    request = CandidatesRequest(spec.summary(), influencers, target, others)
    weights = draw.draw(weights_of(events))

    def cuts_of(n):
        return sorted(draw.draw(st.lists(st.integers(0, n), max_size=2)))

    parts = count_in_blocks(events, weights, request, cuts_of, request.summary.memory())
    assert_same(total(parts), whole(events, weights, request))


@pytest.mark.parametrize(
    "spec",
    [
        *(Spec(kind, k, delay=1, cap=3) for kind in FAMILIES for k in (None, 3)),
        *(Spec("ordinal", k, delay=1, mask="first") for k in (None, 3)),
        *(Spec(kind, {"A": 2, "C": None}, delay=1, cap=3) for kind in ("binary", "count")),
        Spec("chain", order=2),
        Spec("custom", 3, delay=1),
    ],
    ids=str,
)
def test_one_long_sequence(spec):
    """A thousand events in pieces of three: the past stays small and nothing is lost."""
    rng = np.random.default_rng(11)
    labels = ("A", "B", "C", "D")
    events = Data(labels, [[labels[i] for i in rng.choice(4, 1000, p=[0.9, 0.08, 0.015, 0.005])]])
    influencers = () if spec.kind == "chain" else (0, 2, 3)
    request = StatesRequest(spec.summary(), influencers, target_of(events, ("A", "B")))
    parts = count_in_blocks(events, None, request, lambda n: range(3, n, 3), spec.summary().memory())
    assert len(parts) == 334
    assert_same(total(parts), whole(events, None, request))
