"""Replicates: what is counted under many weights at once is what each would count alone."""

from dataclasses import replace
from functools import partial
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracle
import summarkov as sm
from strategies import (
    UNKNOWN,
    assert_counted,
    assert_same,
    data,
    examples,
    requests,
    specs,
    subsets,
    target_of,
)
from summarkov import kernels
from summarkov.engines import Bootstrap, CandidateCounts, CandidatesRequest, MemorySource, StateCounts
from summarkov.engines import replicates as engine
from summarkov.engines.replicates import ReplicatedSource, units_of
from summarkov.errors import SettingError, TooLargeError
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


def one(counts, b):
    """The counts of one replicate."""
    if isinstance(counts, CandidateCounts):
        return CandidateCounts(counts.keys, counts.counts[b], counts.present[b])
    return StateCounts(counts.keys, counts.counts[b])


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
    asked = []
    for request in requests:
        some = more.draw(st.none() | subsets(tuple(range(len(weights))), min_size=1))
        asked.append(replace(request, replicates=some))
    answers = source.count(asked)
    for b, each in enumerate(weights):
        local = MemorySource(events.events, sample_weight=each)
        assert source.label_counts[b].tolist() == local.label_counts.tolist()
        for request, answer, direct in zip(asked, answers, local.count(requests), strict=True):
            among = list(range(len(weights)) if request.replicates is None else request.replicates)
            assert len(answer.counts) == len(among)
            if b in among:
                assert_same(one(answer, among.index(b)), direct)


@examples(100)
@given(questions(), st.data())
def test_blocks_inside_of_sequences_are_counted_with_their_own_past(question, more):
    """Every position counts with the weight of its block; its history does not end at the block."""
    events, spec, asked = question
    length = more.draw(st.integers(1, 7))
    units = units_of(events.events, length)
    weights = more.draw(batches(len(units.keys)))
    source = MemorySource(events.events).replicated(Given(weights), length)
    answers = source.count([request for request, _ in asked])
    for (request, target), answer in zip(asked, answers, strict=True):
        for b, each in enumerate(weights):
            by_length = partial(by_block, length=length)
            assert_counted(one(answer, b), request, spec, events, target, each, by_length)


def by_block(events, target, state, weights, length):
    """Naive counts under a weight a block of `length` positions."""
    table, labels, before = {}, {*events.labels, UNKNOWN}, 0
    columns = oracle.n_outcomes(target, events.labels)
    for sequence in events.sequences:
        for position, label in enumerate(sequence):
            row = table.setdefault(
                state(oracle.history(sequence, position)), [0] * oracle.n_outcomes(target, labels)
            )
            row[oracle.outcome(label, target)] += weights[before + position // length]
        before += -(-len(sequence) // length)
    return {s: row[:columns] for s, row in table.items() if any(row[:columns])}


@examples(60)
@given(questions(), st.data())
def test_cuts_and_memory_change_nothing(question, more):
    """Neither pieces of the data, nor forgetting them, nor splitting the replicates shows in the counts."""
    events, _, some = question
    requests = [request for request, _ in some]
    draws = Given(more.draw(batches(len(units_of(events.events, 2).keys))))
    direct = MemorySource(events.events).replicated(draws, 2).count(requests)
    most = max(
        (answer.present[0].size for answer in direct if isinstance(answer, CandidateCounts)), default=1
    )
    little = {"_SHARD_BYTES": 1000, "_MOST_KEPT": 4, "_TABLE_BYTES": 240}
    for limits in (little, {"MOST_CELLS": 2 * most}):
        with mock.patch.multiple(engine, **limits):
            again = MemorySource(events.events).replicated(draws, 2).count(requests)
        for a, b in zip(again, direct, strict=True):
            assert_same(a, b)


def test_tables_too_large_for_one_replicate_are_refused(monkeypatch):
    monkeypatch.setattr(engine, "MOST_CELLS", 3)
    events = sm.read_events([["A", "B", "C"] * 3])
    source = MemorySource(events).replicated(Bootstrap(3))
    request = CandidatesRequest(sm.BSuMM().make_summary(), (), target_of(events, ("A",)), (0, 1, 2))
    with pytest.raises(TooLargeError, match="max_influencers"):
        source.count([request])


@examples(60)
@given(st.data())
def test_add_rows(more):
    """Sums of rows, whatever the order, with repeats, and nothing where the cell is less than 0."""
    n, width, n_cells = (more.draw(st.integers(low, 6)) for low in (1, 0, 1))
    pairs = more.draw(st.lists(st.tuples(st.integers(-2, n_cells - 1), st.integers(0, n - 1)), max_size=30))
    weights = np.arange(n * width, dtype=np.int64).reshape(n, width) * 2**50
    cells, rows = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    sums = kernels.add_rows(np.ascontiguousarray(cells), np.ascontiguousarray(rows), weights, n_cells)
    assert sums.dtype == np.int64
    for cell in range(n_cells):
        assert sums[cell].tolist() == [
            sum(int(weights[r, b]) for c, r in pairs if c == cell) for b in range(width)
        ]


def test_units():
    events = sm.read_events([["A", "B", "A"], [], ["B", "B"]])
    assert units_of(events).of.tolist() == [0, 0, 0, 2, 2]
    assert units_of(events).kind == "sequences"
    assert units_of(events, 2).of.tolist() == [0, 0, 1, 2, 2]
    assert units_of(events, ["x", "y", "x"]).of.tolist() == [0, 0, 0, 0, 0]
    assert units_of(events, [7, 7, 8, 8, 9]).of.tolist() == [0, 0, 1, 1, 2]
    one = sm.read_events([["A"] * 27])
    assert (units_of(one).kind, len(units_of(one).keys)) == ("blocks", 9)
    for wrong in (0, "document", [1, 2], 2.5):
        with pytest.raises(SettingError, match="blocks must"):
            units_of(events, wrong)


def test_weights_and_draws_multiply_and_what_weighs_nothing_is_not_drawn():
    events = sm.read_events([["A", "B"], ["B"], ["A"], []])
    source = MemorySource(events, sample_weight=[1.5, 0, 2, 1]).replicated(Given([[1, 3], [0, 2]]))
    assert (source.units, source.n_units) == ("sequences", 2)
    assert (source.label_counts / source.scale).tolist() == [[7.5, 1.5], [4.0, 0.0]]
    blocks = MemorySource(events, sample_weight=[1.5, 0, 2, 1]).replicated(Given([[1, 3, 5]]), 1)
    assert (blocks.label_counts / blocks.scale).tolist() == [[11.5, 4.5]]
