"""In how many sequences a label occurred and another one followed: equal to the oracle, however it is cut."""

from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracle_effects as effects
import summarkov as sm
from strategies import codes, data, examples, weights_of
from summarkov.engines import MemorySource, work
from summarkov.engines.surveys import Asked, FollowedWork, count_followed
from summarkov.engines.work import Part
from summarkov.summaries import Reach

LOOKBACKS = st.sampled_from([1, 2, 3, 7, None])


@st.composite
def questions(draw):
    """Data, and influencers with their windows for some labels."""
    events = draw(data(unknown=None))
    names = draw(st.lists(st.sampled_from(events.labels), min_size=1, max_size=3, unique=True))
    windows = []
    for _ in names:
        lookback = draw(LOOKBACKS)
        windows.append((draw(st.integers(0, 2 if lookback is None else lookback - 1)), lookback))
    targets = draw(st.lists(st.sampled_from(events.labels), min_size=1, max_size=2, unique=True))
    return events, sorted(names), windows, sorted(targets)


def asked_of(events, names, windows, targets):
    return Asked(
        codes(events.labels, names),
        tuple(Reach(*window) for window in windows),
        codes(events.labels, targets),
    )


@examples(150)
@given(questions(), st.integers(1, 9), st.data())
def test_it_equals_the_oracle_wherever_the_data_is_cut(question, size, draw):
    events, names, windows, targets = question
    weights = draw.draw(weights_of(events))
    asked = asked_of(*question)
    with mock.patch.object(work, "SHARD_EVENTS", size):
        (found,) = count_followed(MemorySource(events.events, sample_weight=weights), [asked])
    each = [1] * len(events.sequences) if weights is None else weights
    for u, (z, window) in enumerate(zip(names, windows, strict=True)):
        for t, x in enumerate(targets):
            expected = np.zeros(2)
            for sequence, weight in zip(events.sequences, each, strict=True):
                expected += weight * np.array(effects.followed([sequence], window, z, x))
            assert found.of(u, t) == pytest.approx(tuple(expected), abs=1e-5)  # weights are fixed point


@examples(100)
@given(questions(), st.integers(1, 9))
def test_parts_and_blocks_give_the_same(question, size):
    events, *_ = question
    asked = asked_of(*question)
    (whole,) = count_followed(MemorySource(events.events), [asked])
    part = MemorySource(events.events).part()
    blocks = Part(lambda most: part.read(size), part.labels, part.memory)
    counting = FollowedWork(np.array(asked.pairs(), np.int64))
    counts = counting.run(blocks).reshape(len(asked.influencers), len(asked.labels), 2)
    assert counts[:, :, 1].tolist() == whole.followed.tolist()
    assert counts[:, 0, 0].tolist() == whole.present.tolist()
    half = len(events.events) // 2
    parts = [
        counting.run(MemorySource(events.events[part]).part()) for part in (slice(half), slice(half, None))
    ]
    assert counting.total(parts).tolist() == counting.run(MemorySource(events.events).part()).tolist()


def test_a_source_that_shows_counts_only_does_not_know():
    class Counting:
        labels, n_sequences, scale = ("A", "B"), 2, 1
        label_counts = np.array([2, 2])

        def count(self, requests):
            return MemorySource(EVENTS).count(requests)

    model = sm.BSuMM("B", lookback=1).fit(Counting())
    assert [(edge.sequences, edge.n_with) for edge in model.influences_] == [(None, 2.0)]


EVENTS = sm.read_events([["A", "B"], ["A", "B"]])
