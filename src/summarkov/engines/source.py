"""What every ``fit`` takes: events that are counted where they are, in memory or on memory maps here.

Shards keep what kernels look up from pass to pass.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import islice
from typing import Any, NamedTuple, Self

import numpy as np

from summarkov.engines import work as shards_
from summarkov.engines.counts import Counts, JointCounts
from summarkov.engines.replicates import ReplicatedSource, Weighing
from summarkov.engines.requests import Request, StatesRequest, Target, join
from summarkov.engines.weights import fixed_point, refuse_overflow, units_of
from summarkov.engines.work import (
    TABLE_BYTES,
    Answer,
    CountWork,
    Shard,
    SurveyWork,
    Work,
    in_order,
    map_in_threads,
    most_targets,
    threads,
)
from summarkov.errors import SettingError
from summarkov.events import EventSequences
from summarkov.events.describe import Origin
from summarkov.events.draws import Draws
from summarkov.events.moments import TimeUnit
from summarkov.events.rows import Rows, cuts, recoded, row_labels, row_offsets
from summarkov.events.sequences import refuse_end
from summarkov.events.vocabulary import END, Unknown
from summarkov.settings import is_whole
from summarkov.summaries import ChainSummary
from summarkov.typing import BoolArray, HashArray, IntArray


class Layout(NamedTuple):
    """What else is to be known of data than its events in a row.

    ``together`` says that events may have happened together, ``time`` what times are ("clock", "number", or
    None where there are none), ``attributes`` which of the labels are attributes of sequences, ``outcomes``
    which say how a sequence ended.
    """

    together: bool = False
    time: str | None = None
    attributes: tuple[str, ...] = ()
    outcomes: tuple[str, ...] = ()

    @classmethod
    def of(cls, source: object) -> Layout:
        """That of a source; one that tells only its counts has events in a row."""
        unit = getattr(source, "time_unit", None)
        time = None if unit is None else unit.kind
        attributes, outcomes = (tuple(getattr(source, name, ())) for name in ("attributes", "outcomes"))
        return cls(getattr(source, "has_ticks", False), time, attributes, outcomes)


#: Events in a row, and nothing else.
IN_A_ROW = Layout()


class EventSource(ABC):
    """Events that are counted where they are, by work on shards of whole sequences.

    All counts are integers; with weights that are not whole they are multiples of ``1 / scale``.
    """

    labels: tuple[str, ...]  # the vocabulary in sorted order
    n_sequences: int
    tied_order: int
    memory: int = TABLE_BYTES  # bytes that the tables of counts may take at a time
    scale: int = 1  # what counts must be divided by
    weights: IntArray | None = None  # of the sequences by number, in units of 1 / scale
    has_ticks: bool = False  # whether events may have happened together
    n_ticks: int | None = None  # the number of positions, where that is known and has_ticks
    time_unit: TimeUnit | None = None  # what times are measured in, where events have some
    attributes: tuple[str, ...] = ()  # those of the labels that are attributes of sequences
    outcomes: tuple[str, ...] = ()  # those that say how a sequence ended
    origin: Origin | None = None  # how the events were read

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.n_sequences:,} sequences, {len(self.labels):,} labels)"

    @cached_property
    def label_counts(self) -> IntArray:
        """N(x) of every label, weighted, in units of ``1 / scale``: counted in one pass, unless known."""
        return self.run(SurveyWork())

    @property
    def n_events(self) -> int:
        """The number of events; the end of a sequence is none."""
        ends = self.label_counts[self.labels.index(END)] if END in self.labels else 0
        return int(self.event_counts.sum() - ends)

    @property
    def one_length(self) -> int | None:
        """The number of rows of every sequence, if all have the same and that is known."""
        return None

    @property
    def event_counts(self) -> IntArray:
        """``label_counts`` without attributes, which are no events."""
        counts = self.label_counts.copy()
        counts[np.searchsorted(self.labels, self.attributes)] = 0
        return counts

    @cached_property
    def n_positions(self) -> int:
        """N, the number of positions, weighted, in units of ``1 / scale``."""
        if self.outcomes:
            return int(self.label_counts[np.searchsorted(self.labels, self.outcomes)].sum())
        if not self.has_ticks:
            return int(self.event_counts.sum())
        if self.n_ticks is not None and self.weights is None:
            return self.n_ticks
        n = len(self.labels)
        (table,) = self.count([StatesRequest(ChainSummary(0), (), Target((), n))])
        return int(table.tables[0].sum())

    @property
    def is_weighted(self) -> bool:
        """Whether sequences have weights of their own."""
        return self.weights is not None

    @abstractmethod
    def run(self, work: Work[Answer]) -> Answer:
        """Do some work on every shard of the data, where it is, and add up the answers."""

    def count(self, requests: Sequence[Request]) -> list[Counts]:
        """Answer all requests in one pass over the data."""
        if not requests:
            return []
        joint, answered_by = join(requests, most_targets(requests, self.memory))
        counted, targets = self.run(CountWork(tuple(joint))), [request.target for request in joint]
        totals = [JointCounts(*each) for each in zip(counted, targets, strict=True)]
        return [totals[at].narrow(request.target) for request, at in zip(requests, answered_by, strict=True)]

    @abstractmethod
    def sequence_keys(self) -> HashArray:
        """Numbers for the names of the sequences, see :meth:`EventSequences.sequence_keys`."""

    def recode(self, labels: Sequence[str], *, unknown: Unknown = "error") -> EventSource:
        """The same events in the codes of another vocabulary, see :meth:`EventSequences.recode`."""
        raise NotImplementedError  # nobody asks for that of sequences with outcomes, nor for what follows

    def without_ends(self) -> EventSource:
        """The same sequences, all of them taken for cut off."""
        raise NotImplementedError

    def map_labels(self, *settings: Any, **named: Any) -> EventSource:
        """Not every source can be prepared as :class:`EventSequences` can."""
        raise SettingError(f"a {type(self).__name__} cannot be prepared; prepare the events themselves")

    pool_rare = collapse_repeats = add_start = map_labels

    def filled_keys(self) -> HashArray:
        """The keys of all sequences with something to count: not empty, and of a weight above 0."""
        keys = self.sequence_keys()
        return keys if self.weights is None else keys[self.weights > 0]

    @property
    def n_filled(self) -> int:
        """How many sequences are not empty."""
        return self.n_sequences  # most formats have no row for a sequence without events

    def replicated(self, draws: Draws, blocks: Any = None) -> ReplicatedSource:
        """The same sequences under each of many weights."""
        keys = np.sort(self.filled_keys())
        if blocks is not None or len(keys) == 1:
            raise SettingError(
                "whole sequences of a source are drawn, and more than one is needed; for blocks of events "
                "give the events themselves, read with read_events"
            )
        drawn = tuple(draws.drawn(number, keys) for number in range(draws.n))
        return ReplicatedSource(self, Weighing(drawn, self.scale), "sequences", len(keys))

    def close(self) -> None:  # noqa: B027  # not every source holds something
        """Let go of what the source holds, such as temporary files."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def refuse_weights(source: object, sample_weight: Any) -> None:
    """Say that a source cannot be weighed, if it is asked to be."""
    if sample_weight is not None:
        raise SettingError(
            f"sample_weight needs events in memory, and this is a {type(source).__name__}; name a column of "
            "weights with weight= where the source is made, or give events that were read with read_events"
        )


# ---------------------------------------------------------------------- in memory

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
        # How many rows each has at most; those of the last pass.
        self._shards: tuple[int, list[Shard]] = 0, []
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

    def refuse_unknown(self) -> None:
        """Refuse events of no known label."""
        self._given.refuse_unknown()

    @property
    def ids(self) -> tuple[str, ...]:
        """The names of the sequences."""
        return self._given.ids

    def recode(self, labels: Sequence[str], *, unknown: Unknown = "error") -> MemorySource:
        """The same events in the codes of another vocabulary, see :meth:`EventSequences.recode`."""
        if tuple(labels) == self.labels and unknown == "error":
            self.refuse_unknown()
            return self
        given = self._given if END in labels else self._given.with_ends("cut off")
        return self._of(recoded(given, labels, unknown), self.weights)

    def without_ends(self) -> MemorySource:
        """The same sequences, all of them taken for cut off."""
        return self if END not in self.labels else self._of(self._given.with_ends("cut off"), self.weights)

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
    from summarkov.read import read_events

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


def as_source(data: Any, *, sample_weight: Any = None, n_jobs: int | None = None) -> EventSource:
    """Turn what ``fit`` was given into a source: one already, events, or whatever ``read_events`` takes."""
    source = make_source(data, sample_weight=sample_weight, n_jobs=n_jobs)
    if isinstance(source, MemorySource) and source is not data:
        source.refuse_unknown()
    return source
