"""What every ``fit`` takes: a source of counts; and sources of events, which are counted where they are."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple, Protocol, Self, runtime_checkable

import numpy as np

from summarkov.engines.counts import Counts, JointCounts
from summarkov.engines.replicates import ReplicatedSource, SequenceWeighing
from summarkov.engines.requests import Request, StatesRequest, Target, join
from summarkov.engines.views import (
    Collapse,
    Only,
    Seen,
    SurveyWork,
    Translate,
    View,
    WithEnds,
    WithoutEnds,
    WithStarts,
)
from summarkov.engines.work import TABLE_BYTES, Answer, CountWork, Part, Work, most_targets
from summarkov.errors import DataError, SettingError
from summarkov.events.describe import Origin
from summarkov.events.draws import Drawn, Draws
from summarkov.events.ends import AskedEnds
from summarkov.events.moments import TimeUnit
from summarkov.events.prepare import RARE, START, map_each, new_label, pool_each
from summarkov.events.vocabulary import END, Label, Unknown, check_unknown, refuse_unknown_labels, translation
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
    "n_positions", "one_length", "only", "outcomes", "part", "replicated", "run", "run_on",
    "scale", "sequence_keys", "time_unit",
}  # fmt: skip


class EventSource(ABC):
    """Events that stay where they are and are counted there: a ``CountSource``.

    Models and graphs (``fit``, ``partial_fit``, ``confidence``, ``log_likelihood``, ``score``) and
    ``compare`` take one wherever they take events, and find to the last bit what they would find in memory.
    :func:`scan_events` makes one of files of any size, and :func:`scan_spark` one of a Spark dataframe.
    """

    labels: tuple[str, ...]  # the vocabulary in sorted order
    n_sequences: int
    tied_order: int
    memory: int  # bytes that counting may take at a time, wherever it is done
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

    @property
    def ids(self) -> Sequence[str]:
        """The names of the sequences, unless the blocks of its parts have them."""
        return ()

    @abstractmethod
    def run(self, work: Work[Answer]) -> Answer:
        """Do some work on every part of the data, where it is, and add up the answers."""

    def count(self, requests: Sequence[Request]) -> list[Counts]:
        """Answer all requests in one pass over the data."""
        if not requests:
            return []
        joint, answered_by = join(requests, most_targets(requests, min(TABLE_BYTES, self.memory)))
        counted, targets = self.run(CountWork(tuple(joint))), [request.target for request in joint]
        totals = [JointCounts(*each) for each in zip(counted, targets, strict=True)]
        return [totals[at].narrow(request.target) for request, at in zip(requests, answered_by, strict=True)]

    @abstractmethod
    def sequence_keys(self) -> Sequence[HashArray]:
        """For each part, numbers for the names of its sequences, see :meth:`EventSequences.sequence_keys`.

        Once this was asked for, the blocks of parts have them.
        """

    def filled_keys(self) -> HashArray:
        """The keys of all sequences with something to count: not empty, and of a weight above 0."""
        keys = np.concatenate([np.empty(0, np.uint64), *self.sequence_keys()])
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
        return ReplicatedSource(self, SequenceWeighing(drawn), "sequences", len(keys))

    def part(self) -> Part:
        """All of the data, if it is in one part."""
        raise DataError("the events of this source are in several parts; stream them from files instead")

    def close(self) -> None:  # noqa: B027  # not every source holds something
        """Let go of what the source holds, such as temporary files."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    # ------------------------------------------------------------------ prepare

    def map_labels(self, mapping: Mapping[Any, object] | Callable[[str], object]) -> EventSource:
        """Replace labels, as :meth:`EventSequences.map_labels` does; this source must stay open."""
        labels = self._but_end(self.labels)
        return self._relabelled(map_each(labels, mapping))

    def pool_rare(self, min_count: int, *, into: Label = RARE) -> EventSource:
        """Make one label of all that occur fewer than ``min_count`` times; see :meth:`map_labels`."""
        counts = np.array(self._but_end(self.label_counts.tolist()), np.int64)
        return self._relabelled(pool_each(self._but_end(self.labels), counts, min_count, into))

    def _but_end(self, of_labels: Sequence[Any]) -> list[Any]:
        """What there is of each label, without ``END``, which stays what it is."""
        each = zip(self.labels, of_labels, strict=True)
        return [value for label, value in each if label != END]

    def collapse_repeats(self) -> EventSource:
        """Keep only the first of equal labels in a row; see :meth:`map_labels`. This takes a pass."""
        if self.has_ticks:
            raise DataError("repeats can be left out of events in a row, and some of these happened together")
        counts = self.run(Seen(SurveyWork(), Collapse()))
        seen = SeenSource(self, Collapse(), self.labels, counts)
        seen.tied_order = 0  # events at the same place may be gone
        return seen

    def add_start(self, label: Label = START) -> EventSource:
        """Begin every sequence with one more event; see :meth:`map_labels`."""
        view = WithStarts.of(self.labels, new_label(label, self.labels, "label"))
        counts = np.insert(self.label_counts, view.code, self._weight)
        return SeenSource(self, view, view.labels, counts)

    @property
    def _weight(self) -> int:
        """What all sequences weigh together."""
        return self.n_sequences if self.weights is None else int(self.weights.sum())

    def with_ends(self, asked: AskedEnds) -> EventSource:
        """The same with ``END`` at the end of the sequences that are complete; see :func:`read_events`.

        Closing it closes this source too.
        """
        if asked.cut_off:
            return self
        rule = asked.rule(self.labels, self.attributes, self.time_unit) if asked.differ else None
        view = WithEnds.of(self.labels, rule)
        if rule is None:
            counts = np.insert(self.label_counts, view.labels.index(END), self._weight)
        else:
            counts = self.run(Seen(SurveyWork(), view))
        seen = SeenSource(self, view, view.labels, counts, owns=True)
        return seen if counts[view.labels.index(END)] else seen.without_ends()

    def without_ends(self) -> EventSource:
        """The same sequences, all of them taken for cut off. Closing it closes this source too."""
        if END not in self.labels:
            return self
        view = WithoutEnds(tuple(self._but_end(self.labels)))
        counts = np.array(self._but_end(self.label_counts.tolist()), np.int64)
        return SeenSource(self, view, view.labels, counts, owns=True)

    def recode(self, labels: Sequence[str], *, unknown: Unknown = "error") -> EventSource:
        """The same events in the codes of another vocabulary, as :meth:`EventSequences.recode` writes them.

        An event whose label is not in ``labels`` is an error, or with ``unknown="ignore"`` one of no label.
        """
        check_unknown(unknown)
        if tuple(labels) == self.labels:
            return self
        if END in self.labels and END not in labels:
            return self.without_ends().recode(labels, unknown=unknown)
        if unknown == "error":
            refuse_unknown_labels(self.labels, self.label_counts, labels)
        return self._translated(tuple(labels), self.labels)

    def _relabelled(self, becomes: list[str]) -> EventSource:
        """Other labels, in the order of those that there are but for ``END``."""
        if END in self.labels:
            becomes.insert(self.labels.index(END), END)
        return self._translated(tuple(sorted(set(becomes))), becomes)

    def _translated(self, labels: tuple[str, ...], becomes: Sequence[str]) -> EventSource:
        view = Translate(labels, translation(becomes, labels))
        if self.has_ticks:  # one of several labels that become one is there once
            return SeenSource(self, view, labels, self.run(Seen(SurveyWork(), view)))
        return SeenSource(self, view, labels, view.label_counts(self.label_counts))

    def only(self, drawn: Drawn) -> EventSource:
        """The sequences that were drawn, however often, in their order. This takes a pass."""
        keys = [some[drawn.weights(some) > 0] for some in self.sequence_keys()]
        counts = self.run(Seen(SurveyWork(), Only(drawn)))
        return SeenSource(self, Only(drawn), self.labels, counts, keys=keys)


class SeenSource(EventSource):
    """A source as a view shows it. The source must stay open, and closing this does nothing.

    Sequences are those of the source unless their keys are given. With ``owns``, closing this closes the
    source.
    """

    def __init__(
        self,
        source: EventSource,
        view: View,
        labels: tuple[str, ...],
        label_counts: IntArray,
        *,
        keys: Sequence[HashArray] | None = None,
        owns: bool = False,
    ) -> None:
        self._source, self._view, self._owns = source, view, owns
        self.labels, self.label_counts = labels, label_counts
        self._keys = keys
        self.n_sequences = source.n_sequences if keys is None else sum(map(len, keys))
        self.memory, self.tied_order = source.memory, source.tied_order
        self.has_ticks, self.time_unit = source.has_ticks, source.time_unit
        self.attributes = tuple(name for name in source.attributes if name in set(labels))
        self.outcomes = source.outcomes
        self.scale, self.origin = source.scale, source.origin

    @property
    def n_events(self) -> int:
        """Those of the source, where the view changes nothing but ends."""
        same = isinstance(self._view, WithEnds | WithoutEnds)
        return self._source.n_events if same else super().n_events

    @property
    def one_length(self) -> int | None:
        """That of the source, where the view changes nothing but ends."""
        return self._source.one_length if isinstance(self._view, WithEnds | WithoutEnds) else None

    @property
    def is_weighted(self) -> bool:
        """Whether those of the source are."""
        return self._source.is_weighted

    @cached_property
    def weights(self) -> IntArray | None:  # type: ignore[override]  # looked up when it is needed
        """Those of the sequences that are seen."""
        weights = self._source.weights
        if weights is None or not isinstance(self._view, Only):
            return weights
        return weights[self._view.drawn.weights(np.concatenate(self._source.sequence_keys())) > 0]

    def sequence_keys(self) -> Sequence[HashArray]:
        """Those of the source, unless the view changes them."""
        return self._source.sequence_keys() if self._keys is None else self._keys

    def filled_keys(self) -> HashArray:
        """Those of the source that are seen; all, if the view adds an event to every sequence."""
        if isinstance(self._view, WithStarts) or (isinstance(self._view, WithEnds) and not self._view.rule):
            return super().filled_keys()
        keys = self._source.filled_keys()
        return keys[self._view.drawn.weights(keys) > 0] if isinstance(self._view, Only) else keys

    @property
    def n_filled(self) -> int:
        """How many sequences are seen that are not empty."""
        return len(self.filled_keys())

    def run(self, work: Work[Answer]) -> Answer:
        """Do some work on every part as it is seen."""
        return self._source.run(Seen(work, self._view))

    def close(self) -> None:
        """Close the source, if it is owned."""
        if self._owns:
            self._source.close()

    @property
    def ids(self) -> Sequence[str]:
        """Those of the source, which must show all its sequences."""
        return self._source.ids

    def part(self) -> Part:
        """All of the data as it is seen, if it is in one part."""
        return self._view(self._source.part())


def refuse_weights(source: object, sample_weight: Any) -> None:
    """Say that a source cannot be weighed, if it is asked to be."""
    if sample_weight is not None:
        raise SettingError(
            f"sample_weight needs events in memory, and this is a {type(source).__name__}; name a column of "
            "weights with weight= where the source is made, or give events that were read with read_events"
        )
