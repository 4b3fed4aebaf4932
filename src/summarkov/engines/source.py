"""What every ``fit`` takes: a source of counts; and sources of events, which are counted where they are."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Protocol, Self, runtime_checkable

import numpy as np
import numpy.typing as npt

from summarkov.engines.counts import Counts
from summarkov.engines.replicates import ReplicatedSource, SequenceWeighing
from summarkov.engines.requests import Request, join
from summarkov.engines.views import Collapse, End, Only, Seen, SurveyWork, Translate, View, in_order
from summarkov.engines.weights import Draws, Places
from summarkov.engines.work import TABLE_BYTES, Answer, CountWork, Part, Work, most_targets
from summarkov.errors import DataError, SettingError
from summarkov.events.prepare import END, RARE, map_each, pool_each, refuse_known
from summarkov.events.vocabulary import check_unknown, refuse_unknown_labels, translation
from summarkov.typing import HashArray, IntArray


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


class EventSource(ABC):
    """Events that stay where they are and are counted there: a ``CountSource``.

    Models, graphs and bags (``fit``, ``partial_fit``, ``confidence``, ``log_likelihood``, ``score``) and
    ``compare`` take one wherever they take events, and find to the last bit what they would find in memory.
    :func:`scan_events` makes one of files of any size, and :func:`scan_spark` one of a Spark dataframe.
    """

    labels: tuple[str, ...]  # the vocabulary in sorted order
    n_sequences: int
    tied_order: int
    memory: int  # bytes that counting may take at a time, wherever it is done
    scale: int = 1  # what counts must be divided by
    weights: IntArray | None = None  # of the sequences by number, in units of 1 / scale

    @cached_property
    def label_counts(self) -> IntArray:
        """N(x) of every label, weighted, in units of ``1 / scale``: counted in one pass, unless known."""
        counts, _ = self.run(SurveyWork())
        return counts

    @property
    def n_events(self) -> int:
        """N."""
        return int(self.label_counts.sum())

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
        totals = self.run(CountWork(tuple(joint)))
        return [
            totals[at].narrow(joint[at].target, request.target)
            for request, at in zip(requests, answered_by, strict=True)
        ]

    @abstractmethod
    def places(self) -> Places:
        """For each part, the places of its sequences that are not empty, in the order of first rows."""

    def numbers(self) -> Places:
        """For each part, the numbers of its sequences, empty ones included, as ``read_events`` has them."""
        return self.places()  # most formats have no row for a sequence without events

    @abstractmethod
    def keys(self) -> Sequence[HashArray]:
        """For each part, numbers for the names of its sequences: those of ``sequence_keys``."""

    def replicated(self, draws: Draws, blocks: Any = None) -> ReplicatedSource:
        """The same sequences under each of many weights."""
        places = self.places()
        n_units = sum(map(len, places))
        if blocks is not None or n_units == 1:
            raise SettingError(
                "whole sequences of a source are drawn, and more than one is needed; for blocks of events "
                "give the events themselves, read with read_events"
            )
        return ReplicatedSource(self, SequenceWeighing(draws, places, n_units), "sequences", n_units)

    def resamples(self, draws: Draws) -> Iterator[CountSource]:
        """The same sequences under each of many weights, one after the other."""
        replicated = self.replicated(draws)
        return (replicated.one(number) for number in range(draws.n))

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
        return self._relabelled(map_each(self.labels, mapping))

    def pool_rare(self, min_count: int, *, into: str = RARE) -> EventSource:
        """Make one label of all that occur fewer than ``min_count`` times; see :meth:`map_labels`."""
        return self._relabelled(pool_each(self.labels, self.label_counts, min_count, into))

    def collapse_repeats(self) -> EventSource:
        """Keep only the first of equal labels in a row; see :meth:`map_labels`. This takes a pass."""
        counts, _ = self.run(Seen(SurveyWork(), Collapse()))
        seen = SeenSource(self, Collapse(), self.labels, counts)
        seen.tied_order = 0  # events at the same place may be gone
        return seen

    def add_end(self, label: str = END) -> EventSource:
        """End every sequence with one more event; see :meth:`map_labels`."""
        refuse_known(label, self.labels, "label")
        end = End.of(self.labels, label)
        ends = self.n_sequences if self.weights is None else int(self.weights.sum())
        counts = np.insert(self.label_counts, end.code, ends)
        return SeenSource(self, end, end.labels, counts, places=self.numbers())  # no sequence is empty

    def recode(self, labels: Sequence[str], *, unknown: str = "error") -> EventSource:
        """The same events in the codes of another vocabulary, as :meth:`EventSequences.recode` writes them.

        An event whose label is not in ``labels`` is an error, or with ``unknown="ignore"`` one of no label.
        """
        check_unknown(unknown)
        if tuple(labels) == self.labels:
            return self
        if unknown == "error":
            refuse_unknown_labels(self.labels, self.label_counts, labels)
        return self._translated(tuple(labels), self.labels)

    def _relabelled(self, becomes: Sequence[str]) -> EventSource:
        return self._translated(tuple(sorted(set(becomes))), becomes)

    def _translated(self, labels: tuple[str, ...], becomes: Sequence[str]) -> EventSource:
        view = Translate(labels, translation(becomes, labels))
        return SeenSource(self, view, labels, view.label_counts(self.label_counts))

    def __getitem__(self, chosen: npt.ArrayLike) -> EventSource:
        """Some of the sequences, by their numbers; they stay in order. This takes a pass."""
        wanted = np.zeros(self.n_sequences, bool)
        wanted[np.asarray(chosen, np.int64)] = True
        numbers = [np.asarray(some, np.int64) for some in self.numbers()]
        keep = [wanted[some] for some in numbers]
        rank = np.cumsum(wanted) - 1
        numbers = [rank[some][kept] for some, kept in zip(numbers, keep, strict=True)]
        counts, by_part = self.run(Seen(SurveyWork(), Only(keep)))
        held = in_order(dict(by_part), numbers, bool)
        place = np.cumsum(held) - 1
        places = [place[some][held[some]] for some in numbers]
        keys = [some[kept] for some, kept in zip(self.keys(), keep, strict=True)]
        seen = SeenSource(self, Only(keep), self.labels, counts, places=places, numbers=numbers, keys=keys)
        seen.weights = None if self.weights is None else self.weights[wanted]
        return seen


class SeenSource(EventSource):
    """A source as a view shows it. The source must stay open, and closing this does nothing.

    Sequences are those of the source unless their places, numbers and keys are given.
    """

    def __init__(
        self,
        source: EventSource,
        view: View,
        labels: tuple[str, ...],
        label_counts: IntArray,
        *,
        places: Places | None = None,
        numbers: Places | None = None,
        keys: Sequence[HashArray] | None = None,
    ) -> None:
        self._source, self._view = source, view
        self.labels, self.label_counts = labels, label_counts
        self._places, self._numbers, self._keys = places, numbers, keys
        self.n_sequences = source.n_sequences if numbers is None else sum(map(len, numbers))
        self.memory, self.tied_order = source.memory, source.tied_order
        self.scale, self.weights = source.scale, source.weights

    def places(self) -> Places:
        """Those of the source, unless the view changes them."""
        return self._source.places() if self._places is None else self._places

    def numbers(self) -> Places:
        """Those of the source, unless the view changes them."""
        return self._source.numbers() if self._numbers is None else self._numbers

    def keys(self) -> Sequence[HashArray]:
        """Those of the source, unless the view changes them."""
        return self._source.keys() if self._keys is None else self._keys

    def run(self, work: Work[Answer]) -> Answer:
        """Do some work on every part as it is seen."""
        return self._source.run(Seen(work, self._view))

    def part(self) -> Part:
        """All of the data as it is seen, if it is in one part."""
        return self._view(self._source.part())


def refuse_weights(source: object, sample_weight: Any) -> None:
    """Say that a source cannot be weighed, if it is asked to be."""
    if sample_weight is not None:
        raise SettingError(
            f"sample_weight needs events in memory, and this is a {type(source).__name__}; give events that "
            "were read with read_events"
        )
