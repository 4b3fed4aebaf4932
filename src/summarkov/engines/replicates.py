"""A source under many weights at once: the resamples of a bootstrap, from shared counts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

import numpy as np

from summarkov.engines.counts import Counts, JointCounts, StateCounts, pick_replicate, total
from summarkov.engines.requests import CandidatesRequest, RecencyRequest, Request, StatesRequest, Target, join
from summarkov.engines.shard import Kept, ReplicatedShard
from summarkov.engines.weights import MOST, refuse_overflow
from summarkov.engines.work import Part, joint_memory, pool_of
from summarkov.events.block import Block
from summarkov.events.draws import Drawn
from summarkov.kernels import Index
from summarkov.kernels.replicates import MOST_PAIRS
from summarkov.summaries import ChainSummary
from summarkov.typing import IntArray

if TYPE_CHECKING:
    from summarkov.engines.source import EventSource

#: Cells that one table may have under all weights together.
_MOST_CELLS = 1 << 26


class Weighing(Protocol):
    """The weights of replicates, wherever a part of the data is."""

    @property
    def n(self) -> int:
        """The number of replicates."""

    def most_events(self, part: Part, reach: int) -> int:
        """How many events of a part may be looked at together, if each sees at most ``reach`` labels."""

    def shards(self, part: Part, blocks: Iterable[tuple[Block, Index]]) -> Iterator[ReplicatedShard]:
        """The blocks of a part under all weights."""


class ReplicatedSource:
    """Answers requests for many replicates of a source at once.

    Counts have the replicates asked for (``request.replicates``; None: all) as their first axis. Replicate b
    is to the last bit what the source would be under the weights of replicate b alone. ``units`` says what is
    drawn, and ``n_units`` how many there are.
    """

    def __init__(self, source: EventSource, weighing: Weighing, units: str, n_units: int) -> None:
        self._source, self._weighing = source, weighing
        self.units, self.n_units = units, n_units
        self.labels, self.scale = source.labels, source.scale
        self.has_ticks, self.time_unit = source.has_ticks, source.time_unit
        self.attributes, self.outcomes = source.attributes, source.outcomes

    @cached_property
    def label_counts(self) -> IntArray:
        """N(x) of every label, ``[replicate, x]``, in units of ``1 / scale``."""
        n = len(self.labels)
        (table,) = self.count([StatesRequest(ChainSummary(0), (), Target(tuple(range(n)), n))])
        assert isinstance(table, StateCounts)
        return np.asarray(table.counts.sum(axis=1))  # of one state, or of none where there are no events

    @cached_property
    def n_positions(self) -> IntArray:
        """N of each replicate, in units of ``1 / scale``."""
        n = len(self.labels)
        target = Target((), n)
        if self.outcomes:
            target = Target(tuple(np.searchsorted(self.labels, self.outcomes).tolist()), n, only=True)
        (table,) = self.count([StatesRequest(ChainSummary(0), (), target)])
        assert isinstance(table, StateCounts)
        return np.asarray(table.counts.sum(axis=(1, 2)))

    def count(self, requests: Sequence[Request]) -> list[Counts]:
        """Answer all requests, each for its replicates, in one pass over the data."""
        if not requests:
            return []
        n = self._weighing.n
        joint, answered_by = join(requests, _most_targets(requests, n))
        members: list[set[int]] = [set() for _ in joint]
        for request, at in zip(requests, answered_by, strict=True):
            members[at].update(range(n) if request.replicates is None else request.replicates)
        asked = []
        for request, some in zip(joint, members, strict=True):
            # picking half of the weights costs as much as adding them all
            most = 2 * len(some) > n and not isinstance(request, RecencyRequest)
            asked.append(np.arange(n) if most else np.array(sorted(some)))
        work = ReplicatesWork(tuple(zip(joint, asked, strict=True)), self._weighing)
        counted = self._source.run(work)
        totals = [
            JointCounts(*each)
            for each in zip(counted, (request.target for request in joint), asked, strict=True)
        ]
        return [
            totals[at].narrow(request.target, request.replicates)
            for request, at in zip(requests, answered_by, strict=True)
        ]

    def one(self, replicate: int) -> OneReplicate:
        """One of the replicates alone."""
        return OneReplicate(self, replicate, self._source.n_sequences)


class OneReplicate:
    """One replicate of a source: a :class:`CountSource`, of the same layout."""

    def __init__(self, source: ReplicatedSource, replicate: int, n_sequences: int) -> None:
        self._source, self._replicate, self.n_sequences = source, replicate, n_sequences
        self.labels, self.scale = source.labels, source.scale
        self.has_ticks, self.time_unit = source.has_ticks, source.time_unit
        self.attributes, self.outcomes = source.attributes, source.outcomes

    @property
    def label_counts(self) -> IntArray:
        """N(x) of every label, in units of ``1 / scale``."""
        return np.asarray(self._source.label_counts[self._replicate])

    @property
    def n_positions(self) -> int:
        """N, in units of ``1 / scale``."""
        return int(self._source.n_positions[self._replicate])

    def count(self, requests: Sequence[Request]) -> list[Counts]:
        """Answer all requests in one pass over the data."""
        mine = [replace(request, replicates=(self._replicate,)) for request in requests]
        return [pick_replicate(counts, 0) for counts in self._source.count(mine)]


@dataclass(frozen=True)
class ReplicatesWork:
    """Counts under many weights: requests, each with the replicates it is asked for."""

    asked: tuple[tuple[Request, IntArray], ...]
    weighing: Weighing

    def run(self, part: Part) -> list[Counts]:
        """Count shard by shard, replicates as the last axis."""
        memory = joint_memory(request.summary for request, _ in self.asked)
        n_labels = len(part.labels)
        reach = n_labels if memory[1] is not None else min(n_labels, memory[0])
        blocks = part.indexed(self.weighing.most_events(part, reach), memory)
        totals: list[Counts] = []
        with pool_of(part.n_jobs) as pool:
            for shard in self.weighing.shards(part, blocks):
                new = shard.count_all(self.asked, pool.map)
                totals = [total(pair) for pair in zip(totals, new, strict=True)] if totals else new
        return totals

    def total(self, answers: Sequence[list[Counts]]) -> list[Counts]:
        """Add up what was counted in several parts."""
        return [total(same) for same in zip(*answers, strict=True)]


# ---------------------------------------------------------------------- weights of sequences, of blocks


@dataclass(frozen=True)
class SequenceWeighing:
    """Replicates that draw from the sequences that are not empty, wherever these are, by their keys."""

    drawn: tuple[Drawn, ...]

    @property
    def n(self) -> int:
        return len(self.drawn)

    def most_events(self, part: Part, reach: int) -> int:
        """As many as fit into memory with what they see and the weights of their sequences."""
        return part.most_events(64 * (1 + reach) + 32 * self.n)

    def shards(self, part: Part, blocks: Iterable[tuple[Block, Index]]) -> Iterator[ReplicatedShard]:
        """The weights of the sequences of each block."""
        for block, index in blocks:
            assert block.keys is not None
            filled = np.diff(block.offsets) > 0
            keys, lengths = block.keys[filled], np.diff(block.offsets)[filled]
            weights = np.empty((len(keys), self.n), np.int64)
            for replicate, drawn in enumerate(self.drawn):
                weights[:, replicate] = drawn.weights(keys)
            if block.weights is not None:
                weights *= block.weights[filled, None]
            yield ReplicatedShard(index, part.labels, np.repeat(np.arange(len(keys)), lengths), weights)


@dataclass(frozen=True)
class UnitWeighing:
    """Replicates of events in memory: event i is of unit ``unit[i]``, and u weighs ``weights[u, b]``.

    What positions see is kept from pass to pass, by where the events were cut.
    """

    unit: IntArray
    weights: IntArray
    scale: int
    kept: Kept = field(default_factory=Kept, repr=False)

    def __post_init__(self) -> None:
        if float(self.weights.max(initial=0)) * len(self.unit) > MOST:  # else none can overflow
            sizes = np.bincount(self.unit, minlength=len(self.weights)).astype(float)
            refuse_overflow(float((sizes @ self.weights.astype(float)).max()), self.scale)

    @property
    def n(self) -> int:
        return int(self.weights.shape[1])

    def most_events(self, part: Part, reach: int) -> int:
        """All, unless there are too many pairs of a position and a label in its window."""
        assert part.n_events is not None
        n_blocks = 1 + part.n_events * max(1, reach) // MOST_PAIRS
        return max(1, -(-part.n_events // n_blocks))

    def shards(self, part: Part, blocks: Iterable[tuple[Block, Index]]) -> Iterator[ReplicatedShard]:
        """The same weights for each block."""
        stop = 0
        for block, index in blocks:
            start, stop = stop, stop + len(block.codes)
            unit, place = self.unit[start:stop], (start, stop)
            yield ReplicatedShard(index, part.labels, unit, self.weights, self.kept, place)


# ---------------------------------------------------------------------- several requests in one


def _most_targets(requests: Sequence[Request], n_replicates: int) -> int:
    """How many labels may share one table."""
    most = max((len(r.candidates) for r in requests if isinstance(r, CandidatesRequest)), default=1)
    return max(1, _MOST_CELLS // (8 * max(1, most) * n_replicates))
