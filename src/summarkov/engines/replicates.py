"""A source under many weights at once: the resamples of a bootstrap, from shared counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

import numpy as np

from summarkov import kernels
from summarkov.engines.counts import CandidateCounts, Counts, JointCounts, RecencyCounts, StateCounts, total
from summarkov.engines.requests import CandidatesRequest, RecencyRequest, Request, StatesRequest, Target, join
from summarkov.engines.weights import MOST, refuse_overflow
from summarkov.engines.work import Questions, Shard, most_targets
from summarkov.errors import SettingError, TooLargeError
from summarkov.events.draws import Drawn
from summarkov.kernels.resampling import MOST_PAIRS, Positions
from summarkov.summaries import ChainSummary, WindowSummary
from summarkov.typing import IntArray

if TYPE_CHECKING:
    from summarkov.engines.source import EventSource

#: Bytes that the tables of one request may take under all weights together.
_TABLE_BYTES = 1 << 29
#: Bytes that a shard may take with what its positions see.
_SHARD_BYTES = 1 << 30
#: Bytes of what positions see that may be held at once, and kept from pass to pass.
_MOST_KEPT = 1 << 28


class Weighing(Protocol):
    """The weights of replicates, wherever a shard of the data is."""

    @property
    def n(self) -> int:
        """The number of replicates."""

    def on(self, shard: Shard) -> ReplicatedShard:
        """A shard under all weights."""


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
        joint, answered_by = join(requests, most_targets(requests, _TABLE_BYTES // n))
        members: list[set[int]] = [set() for _ in joint]
        for request, at in zip(requests, answered_by, strict=True):
            members[at].update(range(n) if request.replicates is None else request.replicates)
        asked = []
        for request, some in zip(joint, members, strict=True):
            # picking half of the weights costs as much as adding them all
            many = 2 * len(some) > n and not isinstance(request, RecencyRequest)
            asked.append(np.arange(n) if many else np.array(sorted(some)))
        reach = max(request.summary.horizon or len(self.labels) for request in joint)
        reach = min(len(self.labels), reach)
        most = min(MOST_PAIRS // max(1, reach), _SHARD_BYTES // (64 * (1 + reach) + 32 * n))
        work = ReplicatesWork(tuple(zip(joint, asked, strict=True)), self._weighing, max(1, most))
        counted, targets = self._source.run(work), [request.target for request in joint]
        totals = [JointCounts(*each) for each in zip(counted, targets, asked, strict=True)]
        return [
            totals[at].narrow(request.target, request.replicates)
            for request, at in zip(requests, answered_by, strict=True)
        ]


@dataclass(frozen=True)
class ReplicatesWork(Questions):
    """Counts under many weights: requests, each with the replicates it is asked for."""

    questions: tuple[tuple[Request, IntArray], ...]
    weighing: Weighing
    most_rows: int

    def run(self, shard: Shard) -> list[Counts]:
        """Replicates are the last axis."""
        return self.weighing.on(shard).count_all(self.questions)

    def total(self, answers: Sequence[list[Counts]]) -> list[Counts]:
        """Add up what was counted in several shards."""
        return [total(same) for same in zip(*answers, strict=True)]


@dataclass(frozen=True)
class ReplicatedShard:
    """A shard under many weights: event i is of ``unit[i]``; u weighs ``weights[u, b]`` in replicate b.

    What positions see through windows is kept for other requests, as long as there is room.
    """

    shard: Shard
    unit: IntArray
    weights: IntArray
    kept: dict[tuple[object, ...], Positions] = field(default_factory=dict)
    place: tuple[int, int] = (0, 0)  # of the shard, where several share what is kept

    def name(self, summary: WindowSummary) -> tuple[object, ...]:
        """The name under which what positions see through a window is kept."""
        window = summary.window(self.shard.labels)
        return self.place, *window.name

    def positions(self, summary: WindowSummary) -> Positions:
        """What every position sees."""
        name = self.name(summary)
        found = self.kept.get(name)
        if found is None:  # another thread may clear what is kept at any time
            window = summary.window(self.shard.labels)
            found = self.kept[name] = Positions.of(self.shard.index, window, self.unit, self.weights)
        return found

    def count_all(self, asked: Sequence[tuple[Request, IntArray]]) -> list[Counts]:
        """The counts of requests, each with its replicates.

        Requests about the same window are counted together, so that few windows need be held at once.
        """

        def is_new(at: int) -> bool:
            summary = asked[at][0].summary
            return isinstance(summary, WindowSummary) and self.name(summary) not in self.kept

        found: dict[int, Counts] = {}
        waiting = list(range(len(asked)))
        while waiting:
            for at in [at for at in waiting if not is_new(at)]:
                found[at] = self.count(*asked[at])
                waiting.remove(at)
            if waiting:
                if sum(positions.n_bytes for positions in list(self.kept.values())) > _MOST_KEPT:
                    self.kept.clear()
                found[waiting[0]] = self.count(*asked[waiting[0]])
                del waiting[0]
        return [found[at] for at in range(len(asked))]

    def count(self, request: Request, replicates: IntArray) -> Counts:
        """The counts of one request, with replicates as their last axis."""
        if isinstance(request, RecencyRequest):
            return self._count_recency(request, replicates)
        which = None if len(replicates) == self.weights.shape[1] else replicates
        influencers = np.array(request.influencers, np.int32)
        outcome_of, n_outcomes = request.target.outcome_of(), request.target.n_outcomes
        if isinstance(request.summary, WindowSummary):
            positions = self.positions(request.summary)
            chosen = None
            if isinstance(request, CandidatesRequest):
                chosen = np.array(request.candidates, np.int32)
            try:
                counted = positions.count(influencers, chosen, outcome_of, n_outcomes, which)
            except MemoryError:
                if len(replicates) == 1:
                    raise TooLargeError(
                        f"the states of {len(influencers)} influencers joined by each candidate are too many "
                        "to count; set max_influencers, raise gamma, or give candidates"
                    ) from None
                half = len(replicates) // 2
                a, b = (self.count(request, some) for some in (replicates[:half], replicates[half:]))
                pairs = zip(a.tables, b.tables, strict=True)
                return a.with_tables(np.concatenate(pair, axis=-1) for pair in pairs)
            if chosen is not None:
                return CandidateCounts(*counted)
            return StateCounts(*counted[:2])
        ids, keys = request.summary.encode(self.shard.index, request.influencers, self.shard.labels)
        weights = self.weights if which is None else np.ascontiguousarray(self.weights[:, which])
        counts = np.zeros((len(keys) * n_outcomes, len(replicates)), np.int64)
        for outcome, each in kernels.outcomes_counted(self.shard.index, None, outcome_of):
            for times in [1] if each is None else np.unique(each).tolist():
                mine = (outcome >= 0) & (True if each is None else each == times)
                cells = np.where(mine, ids * n_outcomes + outcome, -1)
                counts += times * kernels.add_rows(cells, self.unit, weights, len(counts))
        return StateCounts(keys, counts.reshape(len(keys), n_outcomes, len(replicates)))

    def _count_recency(self, request: RecencyRequest, replicates: IntArray) -> RecencyCounts:
        """Requests of trees, replicate by replicate: no two have the same tree for long."""
        each = []
        for b in replicates.tolist():
            weights = np.zeros(len(self.shard.index.offsets) - 1, np.int64)
            if len(self.weights):  # else all sequences are empty
                weights[:] = self.weights[self._unit_of_sequence, b]
            each.append(self.shard.weighed(weights).count(request))
        tables = zip(*(counts.tables for counts in each if isinstance(counts, RecencyCounts)), strict=True)
        return RecencyCounts(*(np.stack(same, axis=-1) for same in tables))

    @cached_property
    def _unit_of_sequence(self) -> IntArray:
        lengths = np.diff(self.shard.index.offsets)
        units = np.zeros(len(lengths), np.int64)
        units[lengths > 0] = self.unit[self.shard.index.offsets[:-1][lengths > 0]]
        if not np.array_equal(np.repeat(units, lengths), self.unit):
            raise SettingError("trees are learned again from whole sequences; blocks must not cut them")
        return units


# ---------------------------------------------------------------------- weights of sequences, of blocks


@dataclass(frozen=True)
class SequenceWeighing:
    """Replicates that draw from the sequences that are not empty, wherever these are, by their keys."""

    drawn: tuple[Drawn, ...]

    @property
    def n(self) -> int:
        return len(self.drawn)

    def on(self, shard: Shard) -> ReplicatedShard:
        """The weights of the sequences of a shard."""
        filled = np.diff(shard.offsets) > 0
        keys, lengths = shard.keys[filled], np.diff(shard.offsets)[filled]
        weights = np.empty((len(keys), self.n), np.int64)
        for replicate, drawn in enumerate(self.drawn):
            weights[:, replicate] = drawn.weights(keys)
        if shard.weights is not None:
            weights *= shard.weights[filled, None]
        return ReplicatedShard(shard, np.repeat(np.arange(len(keys)), lengths), weights)


@dataclass(frozen=True)
class UnitWeighing:
    """Replicates of events in memory: row i is of unit ``unit[i]``, and u weighs ``weights[u, b]``.

    What positions see is kept from pass to pass.
    """

    unit: IntArray
    weights: IntArray
    scale: int
    kept: dict[tuple[object, ...], Positions] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        if float(self.weights.max(initial=0)) * len(self.unit) > MOST:  # else none can overflow
            sizes = np.bincount(self.unit, minlength=len(self.weights)).astype(float)
            refuse_overflow(float((sizes @ self.weights.astype(float)).max()), self.scale)

    @property
    def n(self) -> int:
        return int(self.weights.shape[1])

    def on(self, shard: Shard) -> ReplicatedShard:
        """The same weights for each shard."""
        start, stop = shard.start, shard.start + len(shard.codes)
        unit = self.unit[start:stop]
        return ReplicatedShard(shard, unit, self.weights, self.kept, (start, stop))
