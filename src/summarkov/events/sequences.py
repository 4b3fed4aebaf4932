"""``EventSequences``: K sequences of labels as one flat array of codes and its offsets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from summarkov.errors import DataError
from summarkov.events.attributes import Attributes
from summarkov.events.describe import Description, Origin, describe
from summarkov.events.draws import Drawn, distinct_keys, sequence_keys, split_by_key
from summarkov.events.moments import Moments, as_lists, positions_in
from summarkov.events.prepare import Relabelled
from summarkov.events.vocabulary import (
    END,
    Ends,
    checked_arrays,
    chosen_stretches,
    coded_lists,
    count_codes,
    translation,
)
from summarkov.frames import FrameLibrary, to_frame
from summarkov.settings import seed_of
from summarkov.typing import BoolArray, CodeArray, FloatArray, HashArray, IntArray


class EventSequences(Relabelled):
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
    weights : float64[K], optional
        How much every sequence counts, in whatever is learned from the events; 1 if not given.
    ends : {"complete", "cut off"} or bool[K], optional
        Whether a sequence is a case that is over, or a window onto something that goes on; "complete" if not
        given. Whatever is learned from a complete one counts one more position at its end, that of ``END``.
    tied_order : int
        How many events shared their place in the order column with the one before (set by readers).
    origin : Origin, optional
        The columns that the events were read from, and what was left out (set by readers).

    Examples
    --------
    >>> events = EventSequences.from_lists([["A", "A", "C", "B"], ["B"], []])
    >>> len(events), events.n_events, events.labels
    (3, 5, ('A', 'B', 'C'))
    >>> events[0].to_lists()
    [['A', 'A', 'C', 'B']]
    """

    __slots__ = (
        *("_ids", "_index", "attributes", "codes", "complete", "labels", "moments", "offsets", "origin"),
        *("tied_order", "weights"),
    )

    codes: CodeArray
    offsets: IntArray
    labels: tuple[str, ...]
    attributes: Attributes | None
    moments: Moments | None
    weights: FloatArray | None
    complete: BoolArray
    tied_order: int
    origin: Origin | None

    def __init__(
        self,
        codes: npt.ArrayLike,
        offsets: npt.ArrayLike,
        labels: Sequence[str],
        ids: Sequence[str] | None = None,
        *,
        attributes: Attributes | None = None,
        moments: Moments | None = None,
        weights: npt.ArrayLike | None = None,
        ends: Ends | None = None,
        tied_order: int = 0,
        origin: Origin | None = None,
    ) -> None:
        labels = tuple(labels)
        codes, offsets, weights, complete = checked_arrays(
            codes, offsets, labels, ids, attributes, moments, weights, ends
        )
        set_ = object.__setattr__
        set_(self, "codes", codes)
        set_(self, "offsets", offsets)
        set_(self, "labels", labels)
        set_(self, "_ids", None if ids is None else tuple(ids))
        set_(self, "_index", {label: code for code, label in enumerate(labels)})
        set_(self, "attributes", attributes)
        set_(self, "moments", moments)
        set_(self, "weights", weights)
        set_(self, "complete", complete)
        set_(self, "tied_order", tied_order)
        set_(self, "origin", origin)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("EventSequences cannot be changed; make new ones instead")

    def __reduce__(self) -> tuple[Any, ...]:
        made = partial(EventSequences, moments=self.moments, tied_order=self.tied_order, **self._of_sequences)
        return made, (self.codes, self.offsets, self.labels, self._ids)

    _ids: tuple[str, ...] | None
    _index: dict[str, int]

    @property
    def _of_sequences(self) -> dict[str, Any]:
        """What stays the same as long as the sequences do."""
        return {
            "attributes": self.attributes,
            "weights": self.weights,
            "ends": self.complete,
            "origin": self.origin,
        }

    @classmethod
    def from_lists(
        cls,
        sequences: Iterable[Iterable[object]],
        *,
        labels: Iterable[object] | None = None,
        ids: Sequence[str] | None = None,
        ends: Ends | None = None,
    ) -> EventSequences:
        """Build from lists of labels; labels that are numbers become their text.

        A list or a set in the place of a label is a tick: labels that happened together. ``ends`` tells
        whether the lists are complete, all of them or each.

        >>> EventSequences.from_lists([[3, 1], ["2"]], labels=[1, 2, 3, 4]).labels
        ('1', '2', '3', '4')
        >>> EventSequences.from_lists([[["rain", "wind"], "sun"]]).n_ticks
        2
        """
        codes, offsets, vocabulary, starts = coded_lists(sequences, labels)
        if starts is None:
            return cls(codes, offsets, vocabulary, ids, ends=ends)
        codes, offsets, moments = Moments.made(codes, offsets, starts, has_ticks=True)
        return cls(codes, offsets, vocabulary, ids, moments=moments, ends=ends)

    # ------------------------------------------------------------------ size and parts

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def n_sequences(self) -> int:
        """K, the number of sequences."""
        return len(self)

    @property
    def n_events(self) -> int:
        """N, the number of events in all sequences; an empty tick has none."""
        empty = self.moments is not None and self.moments.has_empty
        return int(np.count_nonzero(self.codes >= 0)) if empty else len(self.codes)

    @property
    def n_rows(self) -> int:
        """The number of values that arrays of events have: one per event, and one per empty tick."""
        return len(self.codes)

    @property
    def n_ticks(self) -> int:
        """The number of positions: that of events, where no two happened together."""
        return self.n_rows if self.moments is None else int(self.moments.starts.sum())

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
            and np.array_equal(self.complete, other.complete)
            and self.attributes == other.attributes
            and self.moments == other.moments
            and np.array_equal(self.weights, other.weights)  # type: ignore[arg-type]  # None, too
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
        return EventSequences(
            self.codes[places],
            offsets,
            self.labels,
            [ids[s] for s in chosen],
            attributes=None if self.attributes is None else self.attributes[chosen],
            moments=None if self.moments is None else self.moments[places],
            weights=None if self.weights is None else self.weights[chosen],
            ends=self.complete[chosen],
            origin=self.origin,
        )

    def with_origin(self, origin: Origin | None) -> EventSequences:
        """The same events, with another account of how they were read."""
        return self._about(origin=origin)

    def with_weights(self, weights: npt.ArrayLike | None) -> EventSequences:
        """The same events, with other weights of their sequences, or with none."""
        return self._about(weights=weights)

    def with_ends(self, ends: Ends) -> EventSequences:
        """The same events, complete or cut off: all of the sequences, or each as a truth value says.

        >>> events = EventSequences.from_lists([["A"], ["B"]]).with_ends("cut off")
        >>> events.complete.tolist()
        [False, False]
        """
        return self._about(ends=ends)

    def with_end_rows(self) -> EventSequences:
        """The same sequences as they are counted: with one more event, ``END``, in each that is complete."""
        if not self.complete.any():
            return self
        if END in self._index and (self.codes == self._index[END]).any():
            raise DataError(
                f"the label {END!r} means the end of a case; rename it in the data, or read them with "
                "ends='cut off'"
            )
        labels = sorted({*self.labels, END})
        codes = translation(self.labels, labels)[self.codes]
        codes = np.insert(codes, self.offsets[1:][self.complete], np.int32(labels.index(END)))
        offsets = self.offsets + np.append(0, np.cumsum(self.complete))
        moments = None if self.moments is None else self.moments.with_ends(self.offsets, self.complete)
        about = {**self._of_sequences, "ends": "cut off"}
        return EventSequences(
            codes, offsets, labels, self._ids, moments=moments, tied_order=self.tied_order, **about
        )

    def with_attributes(self, attributes: Attributes | None) -> EventSequences:
        """The same events, with other attributes of their sequences, or none."""
        return self._about(attributes=attributes)

    def _about(self, **about: Any) -> EventSequences:
        about = {"moments": self.moments, **self._of_sequences, **about}
        return EventSequences(
            self.codes, self.offsets, self.labels, self._ids, tied_order=self.tied_order, **about
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
            codes, offsets, moments = moments.of_rows(codes, offsets)
        return EventSequences(
            codes,
            offsets,
            labels,
            self._ids,
            moments=moments,
            tied_order=tied_order,
            **self._of_sequences,
        )

    def with_moments(self, moments: Moments | None) -> EventSequences:
        """The same events, with other moments."""
        return self._about(moments=moments)

    def __iter__(self) -> Iterator[list[Any]]:
        """Every sequence as a list of labels; of ticks (lists of labels) where events happened together."""
        return as_lists(self.codes, self.offsets, self.labels, self.moments)

    def to_frame(self, library: FrameLibrary | None = None) -> Any:
        """Return a data frame with one row per event: ``sequence``, ``position`` (or ``tick``) and ``event``.

        Times, attributes and weights are further columns, as :func:`summarkov.write_events` writes them; an
        empty tick is a row without an event. ``library`` is "pandas", "polars" or "pyarrow"; by default
        pandas if that is installed, else polars. Positions count from 1 on. ``read_events`` reads it back.
        """
        from summarkov.events.rows import event_table

        return to_frame(event_table(self), library)

    @property
    def positions(self) -> IntArray:
        """The position of every event in its sequence, from 1 on: that of its tick."""
        return positions_in(self.offsets, self.moments)

    def to_lists(self) -> list[list[Any]]:
        """All sequences as lists of labels, or of ticks (lists of labels) where events happened together."""
        return list(self)

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
        return describe(
            *(self.labels, self.label_counts, self.lengths, self.n_events, self.tied_order, self.origin),
            n_ticks=self.n_ticks if self.moments is not None and self.moments.has_ticks else None,
            attribute_counts={} if self.attributes is None else self.attributes.counts,
            n_complete=int(self.complete.sum()),
            starts=self._start_counts(),
        )

    def _start_counts(self) -> IntArray:
        """How many sequences begin with each label; where events happened together, with each of them."""
        begins = self.offsets[:-1][self.lengths > 0]
        if self.moments is None:
            return count_codes(self.codes[begins], len(self.labels))
        tick = np.cumsum(self.moments.starts)
        return count_codes(self.codes[np.isin(tick, tick[begins])], len(self.labels))
