"""The sequences of a source under many weights at once, wherever they are."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from summarkov.engines.counts import Counts, StateCounts, one_of, total
from summarkov.engines.past import carried, joint_memory
from summarkov.engines.pools import pool_of
from summarkov.engines.requests import Request, StatesRequest, Target
from summarkov.engines.weighed import Weighed, answer
from summarkov.engines.weights import Draws
from summarkov.engines.work import Part
from summarkov.summaries import BinarySummary
from summarkov.typing import CodeArray, IntArray

if TYPE_CHECKING:
    from summarkov.engines.event_source import EventSource


#: For each part of a source, the place of each of its sequences that are not empty among all such.
Places = Sequence[Sequence[int] | IntArray]


class ResampledSource:
    """Answers requests for many replicates of a source at once.

    A replicate draws from the sequences that are not empty, in the order in which their first rows come:
    that of :func:`read_events`. So it is the replicate of the same events in memory.
    """

    scale = 1
    units = "sequences"

    def __init__(self, source: EventSource, draws: Draws, places: Places) -> None:
        self._source, self._draws, self._places = source, draws, places
        self.n_units = sum(map(len, places))

    @property
    def labels(self) -> tuple[str, ...]:
        return self._source.labels

    @cached_property
    def label_counts(self) -> IntArray:
        """N(x) of every label, ``[replicate, x]``."""
        n = len(self.labels)
        (table,) = self.count([StatesRequest(BinarySummary(1), (), Target(tuple(range(n)), n))])
        assert isinstance(table, StateCounts)
        return np.asarray(table.counts.sum(axis=1))  # of one state, or of none where there are no events

    def count(self, requests: Sequence[Request]) -> list[Counts]:
        """Answer all requests, each for its replicates."""
        return answer(requests, self._draws.n, self._counted) if requests else []

    def _counted(self, requests: list[Request], asked: list[IntArray]) -> list[Counts]:
        pairs = tuple(zip(requests, asked, strict=True))
        return self._source.run(ResampledWork(pairs, self._draws, self._places, self.n_units))

    def one(self, replicate: int) -> OneReplicate:
        """One of the replicates alone."""
        return OneReplicate(self, replicate, self._source.n_sequences)


@dataclass(frozen=True)
class OneReplicate:
    """One replicate of a source: a ``CountSource``."""

    source: ResampledSource
    replicate: int
    n_sequences: int

    @property
    def labels(self) -> tuple[str, ...]:
        return self.source.labels

    @property
    def label_counts(self) -> IntArray:
        return np.asarray(self.source.label_counts[self.replicate])

    @property
    def scale(self) -> int:
        return 1

    def count(self, requests: Sequence[Request]) -> list[Counts]:
        """Answer all requests in one pass over the data."""
        mine = [replace(request, replicates=(self.replicate,)) for request in requests]
        return [one_of(counts, 0) for counts in self.source.count(mine)]


@dataclass(frozen=True)
class ResampledWork:
    """Counts under many weights: requests, each with the replicates it is asked for."""

    asked: tuple[tuple[Request, IntArray], ...]
    draws: Draws
    places: Places
    n_units: int

    def run(self, part: Part) -> list[Counts]:
        """Count block by block, replicates as the last axis."""
        requests = [request for request, _ in self.asked]
        recent, unlimited = joint_memory(request.summary for request in requests)
        n_labels = len(part.labels)
        reach = n_labels if unlimited is not None else min(n_labels, recent)
        weights = self._weights(part)
        blocks = part.blocks(64 * (1 + reach) + 32 * self.draws.n)
        totals: list[Counts] = []
        done = 0  # sequences that are not empty, of the blocks before
        with pool_of(part.n_jobs) as pool:
            for block, index in carried(blocks, n_labels, (recent, unlimited)):
                lengths = np.diff(block.offsets)
                lengths = lengths[lengths > 0]
                n = len(lengths)
                here = np.ascontiguousarray(weights[:, done : done + n].T, np.int64)
                piece = Weighed(index, part.labels, np.repeat(np.arange(n), lengths), here)
                new = piece.count_all(self.asked, pool)
                totals = [total(pair) for pair in zip(totals, new, strict=True)] if totals else new
                done += n - block.goes_on
        return totals

    def total(self, answers: Sequence[list[Counts]]) -> list[Counts]:
        """Add up what was counted in several parts."""
        return [total(same) for same in zip(*answers, strict=True)]

    def _weights(self, part: Part) -> CodeArray:
        """``[replicate, sequence]`` for the sequences of a part; on disk, where there is room for that."""
        places = self.places[part.number]
        shape = (self.draws.n, len(places))
        if part.room is None or not len(places):
            weights = np.empty(shape, np.int32)
        else:
            with tempfile.TemporaryFile(dir=part.room) as file:
                weights = np.memmap(file, np.int32, "w+", shape=shape)
        chosen = slice(None) if isinstance(places, range) else places
        for replicate in range(self.draws.n):
            weights[replicate] = self.draws.weights(replicate, self.n_units)[chosen]
        return weights
