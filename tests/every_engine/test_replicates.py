"""Replicates: what is counted under many weights at once is what each would count alone."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import summarkov as sm
from strategies import assert_same, data, examples, requests, specs, subsets
from summarkov.engines import MemorySource, StateCounts, StatesRequest
from summarkov.engines.replicates import ReplicatedSource
from summarkov.events.draws import Drawn

pytestmark = pytest.mark.cut_off


class Given:
    """Draws that are written down: one row per replicate."""

    def __init__(self, weights):
        self.rows, self.n = weights, len(weights)

    def drawn(self, replicate, keys):
        return Drawn(keys, np.array(self.rows[replicate], dtype=np.int64).reshape(len(keys)))


@st.composite
def questions(draw):
    """Data, a summary, and requests for several targets, some about the same influencers."""
    events = draw(data(unknown=None))
    spec = draw(specs(events.labels))
    summary, asked = spec.summary(), []
    for _ in range(draw(st.integers(1, 4))):
        request, target = draw(requests(events, spec))
        asked.append((replace(request, summary=summary), target))
    return events, spec, asked


def batches(n_units):
    return st.lists(st.lists(st.integers(0, 3), min_size=n_units, max_size=n_units), min_size=1, max_size=5)


@examples(150)
@given(questions(), st.data())
def test_each_replicate_is_what_its_weights_alone_count(question, more):
    events, _, given_ = question
    requests = [request for request, _ in given_]
    weights = more.draw(batches(len(events.sequences)))
    source = MemorySource(events.events, n_jobs=more.draw(st.integers(1, 2)))
    keys = source.sequence_keys()
    order = np.argsort(keys)
    source = ReplicatedSource(source, Given([np.array(each)[order] for each in weights]), keys[order])
    asked = [(at, b) for at in range(len(requests)) for b in more.draw(subsets(tuple(range(len(weights)))))]
    answers = source.count([replace(requests[at], replicate=b) for at, b in asked])
    alone = [MemorySource(events.events, sample_weight=each).count(requests) for each in weights]
    for (at, b), answer in zip(asked, answers, strict=True):
        assert_same(answer, alone[b][at])
    states = [request for request in requests if isinstance(request, StatesRequest)]
    for request, found in zip(states, source.in_each(states), strict=True):
        for b, each in enumerate(alone):
            assert_same(StateCounts(found.keys, found.counts[b]), each[requests.index(request)])


def test_weights_and_draws_multiply_and_what_weighs_nothing_is_not_drawn():
    events = sm.read_events([["A", "B"], ["B"], ["A"], []])
    source = MemorySource(events, sample_weight=[1.5, 0, 2, 1]).replicated(Given([[1, 3], [0, 2]]))
    assert source.n_sequences == 2
    assert (source.n_positions / source.source.scale).tolist() == [9.0, 4.0]
