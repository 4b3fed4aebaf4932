"""``EventSequences``: K sequences of labels as one flat array of codes and its offsets."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from summarkov.errors import DataError, UnknownLabelError
from summarkov.events.arrays import check_arrays, chosen_stretches, count_codes, frozen
from summarkov.events.attributes import Attributes
from summarkov.events.describe import Description, describe
from summarkov.events.draws import Drawn, split_by_key
from summarkov.events.keys import distinct_keys, sequence_keys
from summarkov.events.moments import Moments
from summarkov.events.prepare import (
    END,
    RARE,
    map_each,
    not_repeated,
    pool_each,
    refuse_known,
    with_end,
)
from summarkov.events.vocabulary import (
    check_unknown,
    coded_lists,
    label_text,
    refuse_unknown_labels,
    translation,
    vocabulary_of,
)
from summarkov.frames import Column, FrameLibrary
from summarkov.frames.tabular import to_frame
from summarkov.settings import seed_of
from summarkov.typing import CodeArray, HashArray, IntArray


class EventSequences:
    """Sequences of event labels, immutable.

    Make them with :func:`summarkov.read_events`, :meth:`from_lists`, or straight from arrays.

    Parameters
    ----------
    codes : int32[N]
        The label of every event as an index into ``labels``; sequence after sequence. Copied unless
        it is int32 and read-only already, so that nobody can change it afterwards.
    offsets : int64[K + 1]
        Sequence ``s`` is ``codes[offsets[s]:offsets[s + 1]]``; sequences may be empty.
    labels : sequence of str
        The vocabulary, sorted and without repeats. It may hold labels that never occur.
    ids : sequence of str, optional
        A name for every sequence; ``0``, ``1``, ... if not given.
    attributes : Attributes, optional
        What holds of every sequence as a whole, such as a region.
    moments : Moments, optional
        Which events happened together, and when; without, each event comes after the one before it.
    tied_order : int
        How many events shared their place in the order column with the one before (set by readers).

    Examples
    --------
    >>> events = EventSequences.from_lists([["A", "A", "C", "B"], ["B"], []])
    >>> len(events), events.n_events, events.labels
    (3, 5, ('A', 'B', 'C'))
    >>> events[0].to_lists()
    [['A', 'A', 'C', 'B']]
    """

    __slots__ = ("_ids", "_index", "attributes", "codes", "labels", "moments", "offsets", "tied_order")

    codes: CodeArray
    offsets: IntArray
    labels: tuple[str, ...]
    attributes: Attributes | None
    moments: Moments | None
    tied_order: int

    def __init__(
        self,
        codes: npt.ArrayLike,
        offsets: npt.ArrayLike,
        labels: Sequence[str],
        ids: Sequence[str] | None = None,
        *,
        attributes: Attributes | None = None,
        moments: Moments | None = None,
        tied_order: int = 0,
    ) -> None:
        codes = frozen(codes, np.int32, "codes")
        offsets = frozen(offsets, np.int64, "offsets")
        labels = tuple(labels)
        check_arrays(codes, offsets, labels, ids, attributes, moments)
        set_ = object.__setattr__
        set_(self, "codes", codes)
        set_(self, "offsets", offsets)
        set_(self, "labels", labels)
        set_(self, "_ids", None if ids is None else tuple(ids))
        set_(self, "_index", {label: code for code, label in enumerate(labels)})
        set_(self, "attributes", attributes)
        set_(self, "moments", moments)
        set_(self, "tied_order", tied_order)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("EventSequences cannot be changed; make new ones instead")

    def __reduce__(self) -> tuple[Any, ...]:
        made = partial(
            EventSequences, attributes=self.attributes, moments=self.moments, tied_order=self.tied_order
        )
        return made, (self.codes, self.offsets, self.labels, self._ids)

    _ids: tuple[str, ...] | None
    _index: dict[str, int]

    @classmethod
    def from_lists(
        cls,
        sequences: Iterable[Iterable[object]],
        *,
        labels: Iterable[object] | None = None,
        ids: Sequence[str] | None = None,
    ) -> EventSequences:
        """Build from lists of labels; labels that are numbers become their text.

        A list or a set in the place of a label is a tick: labels that happened together.

        >>> EventSequences.from_lists([[3, 1], ["2"]], labels=[1, 2, 3, 4]).labels
        ('1', '2', '3', '4')
        >>> EventSequences.from_lists([[["rain", "wind"], "sun"]]).n_ticks
        2
        """
        codes, offsets, vocabulary, starts = coded_lists(sequences, labels)
        if starts is None:
            return cls(codes, offsets, vocabulary, ids)
        codes, offsets, moments = Moments.made(codes, offsets, starts)
        return cls(codes, offsets, vocabulary, ids, moments=moments)

    # ------------------------------------------------------------------ size and parts

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def n_sequences(self) -> int:
        """K, the number of sequences."""
        return len(self)

    @property
    def n_events(self) -> int:
        """N, the number of events in all sequences."""
        return len(self.codes)

    @property
    def n_ticks(self) -> int:
        """The number of positions: that of events, where no two happened together."""
        return self.n_events if self.moments is None else int(self.moments.starts.sum())

    @property
    def times(self) -> IntArray | None:
        """The time of every event, in the unit of ``moments``; None where there are no times."""
        return None if self.moments is None else self.moments.times

    @property
    def shape(self) -> tuple[int]:
        """``(K,)``: what scikit-learn's splitters ask for."""
        return (len(self),)

    @property
    def ids(self) -> tuple[str, ...]:
        """The name of every sequence."""
        return self._ids if self._ids is not None else tuple(str(s) for s in range(len(self)))

    def sequence_keys(self) -> HashArray:
        """A number for the name of every sequence, by which sequences are drawn at random and shuffled.

        If two have the same name, they are the numbers of the sequences.
        """
        if self._ids is None:
            return np.arange(len(self), dtype=np.uint64)
        return distinct_keys(sequence_keys(self._ids))

    @property
    def lengths(self) -> IntArray:
        """The number of events of every sequence."""
        return np.diff(self.offsets)

    @property
    def label_counts(self) -> IntArray:
        """How often every label of the vocabulary occurs."""
        return count_codes(self.codes, len(self.labels))

    def __repr__(self) -> str:
        return f"EventSequences({len(self)} sequences, {self.n_events} events, {len(self.labels)} labels)"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, EventSequences):
            return NotImplemented
        return (
            self.labels == other.labels
            and np.array_equal(self.offsets, other.offsets)
            and np.array_equal(self.codes, other.codes)
            and self.ids == other.ids
            and self.attributes == other.attributes
            and self.moments == other.moments
        )

    __hash__ = None  # type: ignore[assignment]  # compared by value, and large

    def __getitem__(self, which: Any) -> EventSequences:
        """Sequences by number, slice, integer array or boolean array; the vocabulary stays whole."""
        if isinstance(which, tuple) and len(which) == 2 and which[1] is Ellipsis:
            which = which[0]  # scikit-learn indexes with X[(indices, ...)]
        chosen = np.atleast_1d(np.arange(len(self))[which])
        if chosen.ndim != 1:
            raise IndexError("sequences are chosen by one number, slice, or flat array")
        places, offsets = chosen_stretches(self.offsets, chosen)
        ids = self.ids
        attributes = None if self.attributes is None else self.attributes[chosen]
        return EventSequences(
            self.codes[places],
            offsets,
            self.labels,
            [ids[s] for s in chosen],
            attributes=attributes,
            moments=None if self.moments is None else self.moments[places],
        )

    def _with(
        self,
        codes: CodeArray,
        offsets: IntArray,
        labels: Sequence[str],
        moments: Moments | None,
        *,
        tied_order: int = 0,
    ) -> EventSequences:
        """The same sequences, with other events."""
        if moments is not None:
            codes, offsets, moments = Moments.made(
                codes, offsets, moments.starts, moments.times, moments.unit
            )
        return EventSequences(
            codes,
            offsets,
            labels,
            self._ids,
            attributes=self.attributes,
            moments=moments,
            tied_order=tied_order,
        )

    def with_attributes(self, attributes: Attributes | None) -> EventSequences:
        """The same events, with other attributes of their sequences, or none."""
        return EventSequences(
            self.codes,
            self.offsets,
            self.labels,
            self._ids,
            attributes=attributes,
            moments=self.moments,
            tied_order=self.tied_order,
        )

    def __iter__(self) -> Iterator[list[Any]]:
        """Every sequence as a list of labels; of ticks (lists of labels) where events happened together."""
        names = [*self.labels, "?"]
        ticks = self.moments.starts if self.moments is not None and self.moments.has_ticks else None
        for start, stop in zip(self.offsets[:-1].tolist(), self.offsets[1:].tolist(), strict=True):
            labels = [names[code] for code in self.codes[start:stop].tolist()]
            if ticks is None:
                yield labels
                continue
            begins = [*np.flatnonzero(ticks[start:stop]).tolist(), stop - start]
            yield [[] if self.codes[start + a] < 0 else labels[a:b] for a, b in pairwise(begins)]

    def to_frame(self, library: FrameLibrary | None = None) -> Any:
        """Return a data frame with one row per event: its ``sequence``, ``position`` and ``event``.

        ``library`` is "pandas", "polars" or "pyarrow"; by default pandas if that is installed, else polars.
        Positions count from 1 on. ``read_events`` reads it back.
        """
        sequences = np.repeat(np.arange(len(self)), self.lengths)
        columns = {
            "sequence": Column(str, np.array(self.ids, object)[sequences]),
            "position": Column(int, self.positions),
            "event": Column(str, [[*self.labels, "?"][code] for code in self.codes.tolist()]),
        }
        return to_frame(columns, library)

    @property
    def positions(self) -> IntArray:
        """The position of every event in its sequence, from 1 on: that of its tick."""
        sequences = np.repeat(np.arange(len(self)), self.lengths)
        if self.moments is None:
            return np.arange(1, self.n_events + 1) - self.offsets[sequences]
        before = np.append(0, np.cumsum(self.moments.starts))
        return np.asarray(before[1:] - before[self.offsets[sequences]])

    def to_lists(self) -> list[list[Any]]:
        """All sequences as lists of labels, or of ticks (lists of labels) where events happened together."""
        return list(self)

    # ------------------------------------------------------------------ labels

    def code(self, label: object) -> int:
        """Return the code of a label, or say which label comes nearest; a number means its text."""
        text = label_text(label)
        if text not in self._index:
            raise UnknownLabelError(text, self.labels)
        return self._index[text]

    def recode(self, labels: Sequence[str], *, unknown: str = "error") -> EventSequences:
        """Write the same events in the codes of another vocabulary.

        An event whose label is not in ``labels`` is an error, or with ``unknown="ignore"`` keeps its
        place in its sequence as an event of no label.
        """
        check_unknown(unknown)
        labels = tuple(labels)
        if labels == self.labels:
            if unknown == "error":
                self.refuse_unknown()
            return self
        if unknown == "error":
            refuse_unknown_labels(self.labels, self.label_counts, labels)
        codes = translation(self.labels, labels)[self.codes]
        return self._with(codes, self.offsets, labels, self.moments, tied_order=self.tied_order)

    def refuse_unknown(self) -> None:
        """Complain if there are events of no known label, as ``recode(unknown="ignore")`` makes them."""
        if self.moments is not None and self.moments.has_ticks:
            return  # a tick may be empty
        if self.n_events and self.codes.min() < 0:
            raise DataError(
                "some events have a label outside the vocabulary (they were recoded with unknown='ignore'); "
                "use the original events, or unknown='ignore' here too"
            )

    def restrict(self, labels: Iterable[object]) -> EventSequences:
        """Delete the events of all other labels and close the gaps (the paper's preprocessing).

        >>> events = EventSequences.from_lists([["A", "B", "A", "C"], ["B"]])
        >>> events.restrict(["A", "C"]).to_lists()
        [['A', 'A', 'C'], []]
        """
        kept = vocabulary_of(labels)
        for label in kept:
            self.code(label)  # refuses one that is not known
        codes = translation(self.labels, kept)[self.codes]
        keep = codes >= 0
        before = np.concatenate([[0], np.cumsum(keep)])
        moments = None if self.moments is None else self.moments.kept(keep)
        return self._with(codes[keep], before[self.offsets], kept, moments)

    # ------------------------------------------------------------------ prepare

    def map_labels(self, mapping: Mapping[Any, object] | Callable[[str], object]) -> EventSequences:
        """Replace labels by others, say coarser ones, by a dict or a function; those not in a dict stay.

        >>> events = EventSequences.from_lists([["add", "add 2", "pay"]])
        >>> events.map_labels({"add 2": "add"}).to_lists()
        [['add', 'add', 'pay']]
        """
        return self._renamed(map_each(self.labels, mapping))

    def pool_rare(self, min_count: int, *, into: str = RARE) -> EventSequences:
        """Make one label of all that occur fewer than ``min_count`` times in these events.

        To prepare other events as these were, use the labels that were kept and not their own counts:
        ``others.map_labels(lambda label: label if label in kept.labels else "(rare)")``.

        >>> EventSequences.from_lists([["a", "b", "a", "c"]]).pool_rare(2).to_lists()
        [['a', '(rare)', 'a', '(rare)']]
        """
        return self._renamed(pool_each(self.labels, self.label_counts, min_count, into))

    def collapse_repeats(self) -> EventSequences:
        """Keep only the first of equal labels in a row.

        >>> EventSequences.from_lists([["a", "a", "b", "a"], ["a"]]).collapse_repeats().to_lists()
        [['a', 'b', 'a'], ['a']]
        """
        self.refuse_unknown()
        if self.moments is not None and self.moments.has_ticks:
            raise DataError(
                "repeats can be left out where events come one after the other, and some here happen together"
            )
        keep = not_repeated(self.codes, self.offsets)
        before = np.concatenate([[0], np.cumsum(keep)])
        moments = None if self.moments is None else self.moments.kept(keep)
        return self._with(self.codes[keep], before[self.offsets], self.labels, moments)

    def add_end(self, label: str = END) -> EventSequences:
        """End every sequence with one more event, so that a model learns what comes before the end.

        >>> EventSequences.from_lists([["a"], []]).add_end().to_lists()
        [['a', '(end)'], ['(end)']]
        """
        self.refuse_unknown()
        refuse_known(label, self.labels, "label")
        more = self.recode(sorted([*self.labels, label]))
        codes, offsets = with_end(more.codes, self.offsets, more.code(label))
        moments = None if self.moments is None else self.moments.with_ends(self.offsets, len(self))
        return self._with(codes, offsets, more.labels, moments, tied_order=self.tied_order)

    def _renamed(self, becomes: Sequence[str]) -> EventSequences:
        self.refuse_unknown()
        labels = sorted(set(becomes))
        codes = translation(becomes, labels)[self.codes]
        return self._with(codes, self.offsets, labels, self.moments, tied_order=self.tied_order)

    # ------------------------------------------------------------------ split and look

    def split(
        self,
        fractions: Sequence[float] = (0.7, 0.15, 0.15),
        seed: int = 0,
        *,
        common_labels: bool = False,
        random_state: int | None = None,
    ) -> tuple[EventSequences, ...]:
        """Split at random by sequence into parts of the given fractions; ``random_state`` means ``seed``.

        Which part a sequence comes to depends on the names of all sequences, not on their order.
        The paper's experiments use 70/15/15 with ``common_labels=True``: labels that are not common
        to all parts are deleted everywhere.

        >>> events = EventSequences.from_lists([["A", "B"]] * 8 + [["C"]] * 2)
        >>> [len(part) for part in events.split((0.5, 0.5), seed=1)]
        [5, 5]
        """
        drawn = split_by_key(np.sort(self.sequence_keys()), fractions, seed_of(seed, random_state))
        parts = tuple(self.only(part) for part in drawn)
        if common_labels:
            in_all = np.logical_and.reduce([part.label_counts > 0 for part in parts])
            common = [label for label, keep in zip(self.labels, in_all, strict=True) if keep]
            parts = tuple(part.restrict(common) for part in parts)
        return parts

    def only(self, drawn: Drawn) -> EventSequences:
        """The sequences that were drawn, however often, in their order."""
        return self[drawn.weights(self.sequence_keys()) > 0]

    def describe(self) -> Description:
        """Count sequences, events and labels, and say what is worth knowing before learning."""
        return describe(self.labels, self.label_counts, self.lengths, self.tied_order)
