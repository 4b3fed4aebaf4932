"""What every ``fit`` takes: a source of counts; and sources of events, which are counted where they are."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple, Protocol, Self, runtime_checkable

import numpy as np

from summarkov.engines.counts import Counts, JointCounts
from summarkov.engines.replicates import ReplicatedSource, Weighing
from summarkov.engines.requests import Request, StatesRequest, Target, join
from summarkov.engines.work import TABLE_BYTES, Answer, CountWork, SurveyWork, Work, most_targets
from summarkov.errors import SettingError
from summarkov.events.describe import Origin
from summarkov.events.draws import Drawn, Draws
from summarkov.events.moments import TimeUnit
from summarkov.events.vocabulary import END, Unknown
from summarkov.summaries import ChainSummary
from summarkov.typing import HashArray, IntArray


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


@runtime_checkable
class CountSource(Protocol):
    """Anything that can answer count requests: events in memory, files, a cluster.

    All counts are integers; with weights that are not whole they are multiples of ``1 / scale``.
    """

    @property
    def labels(self) -> tuple[str, ...]:
        """The vocabulary in sorted order."""

    @property
    def label_counts(self) -> IntArray:
        """N(x) of every label, weighted, in units of ``1 / scale``."""

    @property
    def n_sequences(self) -> int:
        """K."""

    @property
    def scale(self) -> int:
        """What counts must be divided by."""

    def count(self, requests: Sequence[Request]) -> list[Counts]:
        """Answer all requests in one pass over the data."""


#: What engines and learners need, and completion does not show.
_MACHINERY = {
    "count", "event_counts", "filled_keys", "has_ticks", "is_order_only", "is_weighted", "n_filled",
    "n_positions", "one_length", "only", "outcomes", "replicated", "run", "scale",
    "sequence_keys", "time_unit",
}  # fmt: skip


class EventSource(ABC):
    """Events that are counted where they are, by work on shards of whole sequences: a ``CountSource``."""

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

    def __dir__(self) -> list[str]:
        return sorted(set(super().__dir__()) - _MACHINERY)

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

    def only(self, drawn: Drawn) -> EventSource:
        """The sequences that were drawn, however often, in their order."""
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
