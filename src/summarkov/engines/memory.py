"""Events in memory, or on a memory map, in shards that keep what kernels look up from pass to pass."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import islice
from typing import Any

import numpy as np

from summarkov.engines import work as shards_
from summarkov.engines.replicates import ReplicatedSource, Weighing
from summarkov.engines.source import CountSource, EventSource, refuse_weights
from summarkov.engines.weights import fixed_point, refuse_overflow, units_of
from summarkov.engines.work import Answer, Shard, Work, in_order, map_in_threads, threads
from summarkov.errors import SettingError
from summarkov.events import EventSequences
from summarkov.events.draws import Drawn, Draws
from summarkov.events.rows import Rows, cuts, recoded, row_labels, row_offsets
from summarkov.events.sequences import refuse_end
from summarkov.events.vocabulary import END, Unknown
from summarkov.read import read_events
from summarkov.settings import is_whole
from summarkov.typing import BoolArray, HashArray, IntArray

#: Rows of a shard of events on disk, which are not kept from pass to pass if there are more.
_MAPPED_EVENTS = 1 << 20


class MemorySource(EventSource):
    """An :class:`EventSource` over events in memory or on a memory map.

    Counts do not depend on ``n_jobs``, the number of threads (None: one; -1: one per core), nor on how the
    sequences are dealt out to shards.
    """

    def __init__(
        self,
        events: EventSequences,
        *,
        sample_weight: Any = None,
        n_jobs: int | None = None,
        outcomes: tuple[str, ...] = (),
    ) -> None:
        self._given, self._offsets, self.outcomes = events, row_offsets(events), outcomes
        if events.complete.any():
            refuse_end(events)
        self.tied_order, self.origin = events.tied_order, events.origin
        self.labels, self.n_sequences = row_labels(events), len(events)
        self.attributes = () if events.attributes is None else events.attributes.names
        self.time_unit, self.has_ticks = events.time_unit, events.has_ticks
        if self.has_ticks:
            self.n_ticks = events.n_ticks + int(events.complete.sum())
        self.n_jobs = threads(n_jobs)
        self.weights, self.scale = fixed_point(sample_weight, len(events))
        self._shards: tuple[int, list[Shard]] = (
            0,
            [],
        )  # how many rows each has at most; those of the last pass
        if self.weights is not None:
            refuse_overflow(float(self.weights.astype(float) @ np.diff(self._offsets)), self.scale)

    @cached_property
    def events(self) -> EventSequences:
        """The events with the ends of cases among them."""
        return self._given.with_end_rows()

    @property
    def n_events(self) -> int:
        return self._given.n_events

    @property
    def one_length(self) -> int | None:
        """The number of events of every sequence, if all have the same."""
        lengths = self._given.lengths
        return int(lengths[0]) if len(lengths) and (lengths == lengths[0]).all() else None

    def run(self, work: Work[Answer]) -> Answer:
        """Do some work on as many shards at a time as there are threads; a few shards share questions."""
        shards, found = self.shards(getattr(work, "most_rows", None)), list[Answer]()
        with map_in_threads(self.n_jobs) as map_:
            while few := list(islice(shards, self.n_jobs)):
                if self.n_jobs > len(few) and hasattr(work, "questions") and work.questions:
                    step = -(-self.n_jobs // len(few))
                    each = [(work.some(first, step), shard) for shard in few for first in range(step)]
                    parts = list(map_(lambda one: one[0].run(one[1]), each))
                    new: list[Any] = [in_order(parts[at : at + step]) for at in range(0, len(each), step)]
                else:
                    new = list(map_(work.run, few))
                found = [work.total([*found, *new])]
        return found[0]

    def shards(self, most: int | None = None) -> Iterator[Shard]:
        """Shards of at most so many rows, as far as sequences allow, and few enough for all threads."""
        n = int(self._offsets[-1])
        most = min(n, shards_.SHARD_EVENTS if most is None else min(most, shards_.SHARD_EVENTS))
        if self._given.is_mapped and n > _MAPPED_EVENTS:
            return self._cut(min(most, _MAPPED_EVENTS))
        if self.n_jobs > 1:
            rounds = max(1, -(-n // (most * self.n_jobs))) if most else 1  # as many shards for each thread
            most = max(1, -(-n // (rounds * self.n_jobs)))
        if self._shards[0] != max(1, most):
            self._shards = max(1, most), list(self._cut(max(1, most)))
        return iter(self._shards[1])

    def _cut(self, most: int) -> Iterator[Shard]:
        for first, last in cuts(self._offsets, most):
            weights = None if self.weights is None else self.weights[first:last]
            rows = Rows.of(self._given, first, last, ends=True)
            yield Shard(rows, weights, first, int(self._offsets[first]), self.sequence_keys)

    @cached_property
    def _keys(self) -> HashArray:
        return self._given.sequence_keys()

    def sequence_keys(self) -> HashArray:
        """Numbers for the names of the sequences."""
        return self._keys

    @property
    def _held(self) -> BoolArray:
        """Which sequences have something to count: only these are drawn."""
        filled = self._given.lengths + self._given.complete > 0
        return filled if self.weights is None else filled & (self.weights > 0)

    def filled_keys(self) -> HashArray:
        """The keys of all sequences with something to count."""
        return self.sequence_keys()[self._held]

    @property
    def n_filled(self) -> int:
        """How many sequences are not empty."""
        return int((self._given.lengths + self._given.complete > 0).sum())

    @property
    def ids(self) -> tuple[str, ...]:
        """The names of the sequences."""
        return self._given.ids

    def recode(self, labels: Sequence[str], *, unknown: Unknown = "error") -> MemorySource:
        """The same events in the codes of another vocabulary, see :meth:`EventSequences.recode`."""
        if tuple(labels) == self.labels and unknown == "error":
            self._given.refuse_unknown()
            return self
        given = self._given if END in labels else self._given.with_ends("cut off")
        return self._of(recoded(given, labels, unknown), self.weights)

    def without_ends(self) -> MemorySource:
        """The same sequences, all of them taken for cut off."""
        return self if END not in self.labels else self._of(self._given.with_ends("cut off"), self.weights)

    def only(self, drawn: Drawn) -> MemorySource:
        """The sequences that were drawn, however often, in their order."""
        which = drawn.weights(self.sequence_keys()) > 0
        return self._of(self._given[which], None if self.weights is None else self.weights[which])

    def replicated(self, draws: Draws, blocks: Any = None) -> ReplicatedSource:
        """The same events under each of many weights of their sequences, or of blocks of them."""
        if blocks is None and len(self.filled_keys()) > 1:
            return super().replicated(draws)
        units = units_of(self.events, self._names_of(blocks))
        unit, held = units.of, np.zeros(units.n, bool)  # only units with something to count are drawn
        weights = None if self.weights is None else np.repeat(self.weights, self.events.lengths)
        held[unit if weights is None else unit[weights > 0]] = True
        keys = np.sort(units.keys[held])
        drawn = tuple(draws.drawn(replicate, keys) for replicate in range(draws.n))
        weighing = Weighing(drawn, self.scale, Rows.of(self._given, ends=True).of_events(unit), units.keys)
        return ReplicatedSource(self, weighing, units.kind, len(keys))

    def _names_of(self, blocks: Any) -> Any:
        """Names of blocks, one per event, with one for each end: that of the event before it."""
        given = self._given
        if is_whole(blocks) or not hasattr(blocks, "__len__") or END not in self.labels:
            return blocks
        if isinstance(blocks, str) or len(blocks) != given.n_rows or len(blocks) == len(given):
            return blocks
        ends, held = given.offsets[1:][given.complete], np.array([*map(str, blocks), ""], object)
        return np.insert(held[:-1], ends, held[ends - 1]).tolist()

    def _of(self, events: EventSequences, weights: IntArray | None) -> MemorySource:
        """A source of other events, or with other weights in units of ``1 / scale``."""
        made = MemorySource(events, sample_weight=weights, n_jobs=self.n_jobs, outcomes=self.outcomes)
        made.scale = self.scale
        return made


def as_events(data: Any) -> EventSequences | EventSource:
    """A source as it is; whatever else ``read_events`` takes, in memory."""
    return data if isinstance(data, EventSource) else read_events(data)


def make_source(data: Any, *, sample_weight: Any = None, n_jobs: int | None = None) -> EventSource:
    """A source of events: one already, or whatever ``read_events`` takes; events of no label are fine."""
    events = as_events(data)
    if isinstance(events, EventSequences):
        return MemorySource(events, sample_weight=_weights(events, sample_weight), n_jobs=n_jobs)
    refuse_weights(events, sample_weight)
    return events


def _weights(events: EventSequences, sample_weight: Any) -> Any:
    """The weights that were given, or those that the events have of their own; not both."""
    if sample_weight is not None and events.weights is not None:
        raise SettingError(
            "the events have weights of their own, from a weight column; leave out sample_weight, or give "
            "events.with_weights(None)"
        )
    return events.weights if sample_weight is None else sample_weight


def as_source(data: Any, *, sample_weight: Any = None, n_jobs: int | None = None) -> CountSource:
    """Turn what ``fit`` was given into a source: one already, events, or whatever ``read_events`` takes."""
    if isinstance(data, CountSource):
        refuse_weights(data, sample_weight)
        return data
    events = read_events(data)
    events.refuse_unknown()
    return MemorySource(events, sample_weight=_weights(events, sample_weight), n_jobs=n_jobs)
