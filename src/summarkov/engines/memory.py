"""Events in memory: a source of one part, which keeps what kernels look up from pass to pass."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from typing import Any

import numpy as np

from summarkov.engines.replicates import ReplicatedSource, UnitWeighing
from summarkov.engines.source import CountSource, EventSource, refuse_weights
from summarkov.engines.weights import fixed_point, refuse_overflow, units_of
from summarkov.engines.work import EVENT_BYTES, SHARD_EVENTS, TABLE_BYTES, Answer, Part, Work, threads
from summarkov.errors import SettingError
from summarkov.events import EventSequences
from summarkov.events.draws import Draws
from summarkov.events.rows import Block, Rows, cut_events, recoded, with_keys
from summarkov.events.vocabulary import END, Unknown
from summarkov.io import read_events
from summarkov.settings import is_whole
from summarkov.typing import BoolArray, HashArray, IntArray


class MemorySource(EventSource):
    """An :class:`EventSource` over events in memory.

    The result does not depend on ``n_jobs``, the number of threads (None: one; -1: one per core), nor on
    where the data is cut.
    """

    def __init__(
        self,
        events: EventSequences,
        *,
        sample_weight: Any = None,
        n_jobs: int | None = None,
        outcomes: tuple[str, ...] = (),
    ) -> None:
        self._given, self.tied_order, self.origin = events, events.tied_order, events.origin
        self.events = events = events.with_end_rows()
        self._rows, self.outcomes = Rows.of(events), outcomes
        self.labels, self.n_sequences = self._rows.labels, len(events)
        self.attributes = () if events.attributes is None else events.attributes.names
        if events.moments is not None:
            self.has_ticks, self.n_ticks = events.moments.has_ticks, events.n_ticks
            self.time_unit = None if events.moments.times is None else events.moments.unit
        self.n_jobs = threads(n_jobs)
        self.memory = max(TABLE_BYTES, SHARD_EVENTS * EVENT_BYTES * self.n_jobs)
        self.weights, self.scale = fixed_point(sample_weight, len(events))
        self._kept: dict[Hashable, Any] = {}
        self._keys: HashArray | None = None
        if self.weights is not None:
            refuse_overflow(float(self.weights.astype(float) @ events.lengths), self.scale)

    @property
    def n_events(self) -> int:
        return self._given.n_events

    def run(self, work: Work[Answer]) -> Answer:
        """Do some work on the events, which are one part."""
        return work.run(self.part())

    def part(self) -> Part:
        """All of the data."""

        def read(most: int) -> Iterator[Block]:
            return with_keys(cut_events(self._rows, most, self.weights), self._keys)

        n = len(self._rows.codes)
        attributes = self._rows.attributes if self.attributes else None
        return Part(
            read, self.labels, self.memory, self.n_jobs, n_events=n, kept=self._kept, attributes=attributes
        )

    def sequence_keys(self) -> Sequence[HashArray]:
        """Numbers for the names of the sequences."""
        if self._keys is None:
            self._keys = self.events.sequence_keys()
        return [self._keys]

    @property
    def _held(self) -> BoolArray:
        """Which sequences have something to count: only these are drawn."""
        filled = self.events.lengths > 0
        return filled if self.weights is None else filled & (self.weights > 0)

    def filled_keys(self) -> HashArray:
        """The keys of all sequences with something to count."""
        return self.sequence_keys()[0][self._held]

    @property
    def n_filled(self) -> int:
        """How many sequences are not empty."""
        return int((self.events.lengths > 0).sum())

    @property
    def ids(self) -> tuple[str, ...]:
        """The names of the sequences."""
        return self.events.ids

    def recode(self, labels: Sequence[str], *, unknown: Unknown = "error") -> MemorySource:
        """The same events in the codes of another vocabulary, see :meth:`EventSequences.recode`."""
        if tuple(labels) == self.labels and unknown == "error":
            self.events.refuse_unknown()
            return self
        if END not in labels:
            return self._of(recoded(self._given.with_ends("cut off"), labels, unknown), self.weights)
        return self._of(recoded(self._given, labels, unknown), self.weights)

    def without_ends(self) -> MemorySource:
        """The same sequences, all of them taken for cut off."""
        return self if END not in self.labels else self._of(self._given.with_ends("cut off"), self.weights)

    def replicated(self, draws: Draws, blocks: Any = None) -> ReplicatedSource:
        """The same events under each of many weights of their sequences, or of blocks of them."""
        units, lengths = units_of(self.events, self._names_of(blocks)), self.events.lengths
        unit, held = units.of, np.zeros(units.n, bool)  # only units with something to count are drawn
        held[unit if self.weights is None else unit[np.repeat(self.weights, lengths) > 0]] = True
        keys = units.keys[held]
        among = np.sort(keys)
        weights = np.zeros((units.n, draws.n), np.int64)
        for replicate in range(draws.n):
            weights[held, replicate] = draws.drawn(replicate, among).weights(keys)
        if self.weights is not None:
            sequence = np.repeat(np.arange(len(self.events)), lengths)
            both, unit = np.unique(sequence * units.n + unit, return_inverse=True)
            weights = weights[both % units.n] * self.weights[both // units.n, None]
        weighing = UnitWeighing(self._rows.of_events(unit), np.ascontiguousarray(weights), self.scale)
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
