"""A source under many weights at once: the resamples of a bootstrap, from shared counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from summarkov import kernels
from summarkov.engines.counts import CandidateCounts, Counts, JointCounts, RecencyCounts, StateCounts
from summarkov.engines.requests import CandidatesRequest, RecencyRequest, Request, StatesRequest, Target, join
from summarkov.engines.weights import MOST, refuse_overflow
from summarkov.engines.work import Shard, Work, most_targets
from summarkov.errors import SettingError, TooLargeError
from summarkov.events.draws import Drawn
from summarkov.kernels.resampling import MOST_PAIRS, Positions
from summarkov.summaries import ChainSummary, Summary, WindowSummary
from summarkov.typing import HashArray, IntArray

if TYPE_CHECKING:
    from summarkov.engines.source import EventSource

#: Bytes that the tables of one request may take under all weights together.
_TABLE_BYTES = 1 << 29
#: Bytes that a shard may take with what its positions see.
_SHARD_BYTES = 1 << 30
#: Bytes of what positions see that may be held at once, and kept from pass to pass.
_MOST_KEPT = 1 << 28


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
        n = len(self._weighing.drawn)
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
class ReplicatesWork(Work[list[Counts]]):
    """Counts requests under many weights, each with the replicates it is asked for as its last axis."""

    questions: tuple[tuple[Request, IntArray], ...]
    weighing: Weighing
    most_rows: int

    def run(self, shard: Shard) -> list[Counts]:
        """Requests about the same window are counted together, so that few windows need be held at once."""
        weighed, found = self.weighing.on(shard), dict[int, Counts]()
        windows = [weighed.name(request.summary) for request, _ in self.questions]
        for at in sorted(range(len(windows)), key=lambda at: (windows[at] not in weighed.kept, windows[at])):
            found[at] = weighed.count(*self.questions[at])
        return [found[at] for at in range(len(windows))]


@dataclass(frozen=True, eq=False)
class Weighing:
    """Replicates that draw units by their keys: whole sequences, or some rows of events in memory.

    Row i of the data is of unit ``unit[i]``, whose key is ``keys[unit[i]]``; None: units are sequences.
    """

    drawn: tuple[Drawn, ...]
    scale: int = 1
    unit: IntArray | None = None
    keys: HashArray | None = None

    def on(self, shard: Shard) -> ReplicatedShard:
        """A shard under all weights; kept with it."""
        return shard.index.keep(("replicates", self), lambda: self._weighed(shard))

    def _weighed(self, shard: Shard) -> ReplicatedShard:
        sequence = shard.index.sequence
        if self.unit is None or self.keys is None:
            some, unit = np.unique(sequence, return_inverse=True)
            keys, of = shard.keys[some], some
        else:  # a unit of several sequences may weigh otherwise in each
            here = self.unit[shard.start : shard.start + len(shard.codes)]
            both = sequence * len(self.keys) + here if shard.weights is not None else here
            some, unit = np.unique(both, return_inverse=True)
            keys, of = self.keys[some % len(self.keys)], some // len(self.keys)
        weights = np.empty((len(keys), len(self.drawn)), np.int64)
        for replicate, drawn in enumerate(self.drawn):
            weights[:, replicate] = drawn.weights(keys)
        if shard.weights is not None:
            weights *= shard.weights[of, None]
        if float(weights.max(initial=0)) * len(unit) > MOST:  # else none can overflow
            sizes = np.bincount(unit, minlength=len(weights)).astype(float)
            refuse_overflow(float((sizes @ weights.astype(float)).max()), self.scale)
        return ReplicatedShard(shard, unit, weights)


@dataclass(frozen=True, eq=False)
class ReplicatedShard:
    """A shard under many weights: row i is of ``unit[i]``; u weighs ``weights[u, b]`` in replicate b.

    What positions see through windows is kept for other requests, as long as there is room.
    """

    shard: Shard
    unit: IntArray
    weights: IntArray
    kept: dict[tuple[object, ...], Positions] = field(default_factory=dict)

    def name(self, summary: Summary) -> tuple[Any, ...]:
        """The name under which what positions see through a window is kept."""
        if not isinstance(summary, WindowSummary):
            return ()
        kind, lookback, *rest = summary.window(self.shard.labels).name
        return kind, lookback, str(rest)

    def positions(self, summary: WindowSummary) -> Positions:
        """What every position sees."""
        name = self.name(summary)
        found = self.kept.get(name)
        if found is None:  # another thread may clear what is kept at any time
            if sum(positions.n_bytes for positions in list(self.kept.values())) > _MOST_KEPT:
                self.kept.clear()
            window = summary.window(self.shard.labels)
            found = self.kept[name] = Positions.of(self.shard.index, window, self.unit, self.weights)
        return found

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
        sequence, tables = self.shard.index.sequence, []
        units = np.full(self.shard.n_sequences, -1)
        units[sequence] = self.unit
        if not np.array_equal(units[sequence], self.unit):
            raise SettingError("trees are learned again from whole sequences; blocks must not cut them")
        for b in replicates.tolist():
            weights = np.append(self.weights[:, b], 0)[units]
            tables.append(self.shard.weighed(weights).count(request).tables)
        return RecencyCounts(*(np.stack(same, axis=-1) for same in zip(*tables, strict=True)))
