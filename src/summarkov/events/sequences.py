"""``EventSequences``: K sequences of labels as one flat array of codes and its offsets."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from summarkov.errors import DataError, UnknownLabelError
from summarkov.events.attributes import Attributes, join_attributes
from summarkov.events.describe import Description, Origin, describe
from summarkov.events.draws import Drawn, distinct_keys, sequence_keys, split_by_key
from summarkov.events.moments import Moments, TimeUnit, as_lists, join_moments, positions_in
from summarkov.events.prepare import RARE, START, map_each, new_label, not_repeated, pool_each
from summarkov.events.vocabulary import (
    END,
    Ends,
    Label,
    Unknown,
    check_unknown,
    checked_arrays,
    chosen_stretches,
    coded_lists,
    count_codes,
    label_text,
    refuse_unknown_labels,
    translation,
    vocabulary_of,
)
from summarkov.frames import FrameLibrary, to_frame
from summarkov.settings import check_seed
from summarkov.typing import BoolArray, CodeArray, FloatArray, HashArray, IntArray

#: Rows to look at at a time.
_AT_ONCE = 1 << 20
_FIELDS = (
    *("codes", "offsets", "labels", "moments", "attributes", "weights", "complete", "tied_order", "origin"),
    *("_ids", "_keys", "_folder"),
)
#: What only the library itself needs: completion leaves it out.
MACHINERY = {
    *("any_unknown", "has_ticks", "is_mapped", "moments", "only", "only_rows", "refuse_unknown"),
    *("but", "sequence_keys", "time_unit", "with_end_rows", "with_moments", "with_origin"),
}


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

    __slots__ = _FIELDS

    codes: CodeArray
    offsets: IntArray
    labels: tuple[str, ...]
    moments: Moments | None
    attributes: Attributes | None
    weights: FloatArray | None
    complete: BoolArray
    tied_order: int
    origin: Origin | None
    _ids: tuple[str, ...] | None
    _keys: HashArray | None  # numbers for the names of sequences, where these are not kept
    _folder: Any  # holds the files that arrays are mapped from

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
        labels, names = tuple(labels), None if ids is None else tuple(ids)
        codes, offsets, weights, complete = checked_arrays(
            codes, offsets, labels, ids, attributes, moments, weights, ends
        )
        of_sequences = attributes, weights, complete, tied_order, origin, names, None, None
        for name, value in zip(_FIELDS, (codes, offsets, labels, moments, *of_sequences), strict=True):
            object.__setattr__(self, name, value)

    def but(self, **changes: Any) -> EventSequences:
        """The same with some other fields, which are taken as they are."""
        made = object.__new__(EventSequences)
        for name in _FIELDS:
            object.__setattr__(made, name, changes[name] if name in changes else getattr(self, name))
        return made

    def __dir__(self) -> list[str]:
        return sorted(set(super().__dir__()) - MACHINERY)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("EventSequences cannot be changed; make new ones instead")

    def __getattr__(self, name: str) -> Any:
        if name in _FIELDS:  # which close() took away
            raise DataError("these events are closed and their temporary files are gone; scan them again")
        raise AttributeError(f"EventSequences have no {name!r}")

    def __reduce__(self) -> tuple[Any, ...]:
        about = {
            name: getattr(self, name) for name in ("moments", "attributes", "weights", "tied_order", "origin")
        }
        made = partial(EventSequences, ends=self.complete, **about)
        return made, (self.codes, self.offsets, self.labels, self._ids)

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

    # ------------------------------------------------------------------ arrays on disk

    @property
    def is_mapped(self) -> bool:
        """Whether the events are on disk."""
        return self._folder is not None

    def close(self) -> None:
        """Remove the temporary files of events that are on disk; nothing else can be done with them then."""
        if self._folder is not None:
            for name in ("codes", "moments"):
                with suppress(AttributeError):  # closed already
                    object.__delattr__(self, name)
            self._folder.remove()

    def __enter__(self) -> EventSequences:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    # ------------------------------------------------------------------ size and parts

    def __len__(self) -> int:
        return len(self.complete)

    @property
    def n_sequences(self) -> int:
        """K, the number of sequences."""
        return len(self)

    @property
    def n_events(self) -> int:
        """N, the number of events in all sequences; an empty tick has none."""
        empty = self.moments is not None and self.moments.has_empty
        return int(self.label_counts.sum()) if empty else len(self.codes)

    @property
    def n_rows(self) -> int:
        """The number of values that arrays of events have: one per event, and one per empty tick."""
        return len(self.codes)

    @property
    def has_ticks(self) -> bool:
        """Whether any events happened together, or none at some position."""
        return self.moments is not None and self.moments.has_ticks

    @property
    def any_unknown(self) -> bool:
        """Whether some events have no known label."""
        return bool(len(self.codes)) and int(self.codes.min()) < 0

    @property
    def time_unit(self) -> TimeUnit | None:
        """What times are measured in; None where there are none."""
        return None if self.moments is None or self.moments.times is None else self.moments.unit

    @property
    def n_ticks(self) -> int:
        """The number of positions: that of events, where no two happened together."""
        return len(self.codes) if self.moments is None else int(np.count_nonzero(self.moments.starts))

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
        if self._keys is None and self._ids is None:
            return np.arange(len(self), dtype=np.uint64)
        return distinct_keys(sequence_keys(self._ids or ()) if self._keys is None else self._keys)

    @property
    def lengths(self) -> IntArray:
        """The number of events of every sequence."""
        return np.diff(self.offsets)

    @property
    def label_counts(self) -> IntArray:
        """How often every label of the vocabulary occurs."""
        return count_codes(self.codes, len(self.labels))

    @property
    def positions(self) -> IntArray:
        """The position of every event in its sequence, from 1 on: that of its tick."""
        return positions_in(self.offsets, self.moments)

    def __repr__(self) -> str:
        return f"EventSequences({len(self)} sequences, {self.n_events} events, {len(self.labels)} labels)"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, EventSequences):
            return NotImplemented
        return all(
            getattr(self, name) == getattr(other, name) for name in ("labels", "ids", "attributes")
        ) and (
            self.moments == other.moments
            and all(
                np.array_equal(getattr(self, name), getattr(other, name))
                for name in ("offsets", "codes", "complete", "weights")
            )
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
        ids = self.ids if self._ids is not None or self._keys is None else None
        return self.but(
            codes=_fixed(self.codes[places]),
            offsets=_fixed(offsets),
            moments=None if self.moments is None else self.moments[places],
            attributes=None if self.attributes is None else self.attributes[chosen],
            weights=None if self.weights is None else _fixed(self.weights[chosen]),
            complete=_fixed(self.complete[chosen]),
            tied_order=0,
            _ids=None if ids is None else tuple(ids[s] for s in chosen.tolist()),
            _keys=None if self._keys is None else np.asarray(self._keys)[chosen],
            _folder=None,
        )

    def __iter__(self) -> Iterator[list[Any]]:
        """Every sequence as a list of labels; of ticks (lists of labels) where events happened together."""
        return as_lists(self.codes, self.offsets, self.labels, self.moments)

    def to_lists(self) -> list[list[Any]]:
        """All sequences as lists of labels, or of ticks (lists of labels) where events happened together."""
        return list(self)

    def to_frame(self, library: FrameLibrary | None = None) -> Any:
        """Return a data frame with one row per event: ``sequence``, ``position`` (or ``tick``) and ``event``.

        Times, attributes and weights are further columns, as :func:`summarkov.write_events` writes them; an
        empty tick is a row without an event. ``library`` is "pandas", "polars" or "pyarrow"; by default
        pandas if that is installed, else polars. Positions count from 1 on. ``read_events`` reads it back.
        """
        from summarkov.events.rows import event_table

        return to_frame(event_table(self), library)

    # ------------------------------------------------------------------ the same with something else

    def with_origin(self, origin: Origin | None) -> EventSequences:
        """The same events, with another account of how they were read."""
        return self.but(origin=origin)

    def with_weights(self, weights: npt.ArrayLike | None) -> EventSequences:
        """The same events, with other weights of their sequences, or with none."""
        return self._checked(weights=weights)

    def with_ends(self, ends: Ends) -> EventSequences:
        """The same events, complete or cut off: all of the sequences, or each as a truth value says.

        >>> events = EventSequences.from_lists([["A"], ["B"]]).with_ends("cut off")
        >>> events.complete.tolist()
        [False, False]
        """
        return self._checked(complete=ends)

    def with_attributes(self, attributes: Attributes | None) -> EventSequences:
        """The same events, with other attributes of their sequences, or none."""
        return self._checked(attributes=attributes)

    def with_moments(self, moments: Moments | None) -> EventSequences:
        """The same events, with other moments."""
        return self._checked(moments=moments)

    def _checked(self, **changes: Any) -> EventSequences:
        made = self.but(**changes)
        codes, offsets, weights, complete = checked_arrays(
            *(made.codes, made.offsets, made.labels, made._ids, made.attributes, made.moments),
            *(made.weights, made.complete),
        )
        return made.but(codes=codes, offsets=offsets, weights=weights, complete=complete)

    def _with(
        self, codes: CodeArray, offsets: IntArray, labels: Sequence[str], moments: Moments | None, **more: Any
    ) -> EventSequences:
        """The same sequences, with other events."""
        if moments is not None:
            codes, offsets, moments = moments.of_rows(codes, offsets)
        fixed = {"codes": _fixed(codes), "offsets": _fixed(offsets), "labels": tuple(labels)}
        return self.but(**fixed, moments=moments, _folder=None, **more)

    def with_end_rows(self) -> EventSequences:
        """The same sequences as they are counted: with one more event, ``END``, in each that is complete."""
        if not self.complete.any():
            return self
        refuse_end(self)
        labels = sorted({*self.labels, END})
        codes = translation(self.labels, labels)[self.codes]
        codes = np.insert(codes, self.offsets[1:][self.complete], np.int32(labels.index(END)))
        offsets = self.offsets + np.append(0, np.cumsum(self.complete))
        moments = None if self.moments is None else self.moments.with_ends(self.offsets, self.complete)
        return self._with(codes, offsets, labels, None, complete=np.zeros(len(self), bool)).but(
            moments=moments
        )

    # ------------------------------------------------------------------ split and look

    def split(
        self,
        fractions: Sequence[float] = (0.7, 0.15, 0.15),
        random_state: int = 0,
        *,
        common_labels: bool = False,
    ) -> tuple[EventSequences, ...]:
        """Split at random by sequence into parts of the given fractions.

        Which part a sequence comes to depends on the names of all sequences, not on their order.
        The paper's experiments use 70/15/15 with ``common_labels=True``: labels that are not common
        to all parts are deleted everywhere.

        >>> events = EventSequences.from_lists([["A", "B"]] * 8 + [["C"]] * 2)
        >>> [len(part) for part in events.split((0.5, 0.5), random_state=1)]
        [5, 5]
        """
        drawn = split_by_key(np.sort(self.sequence_keys()), fractions, check_seed(random_state))
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
            n_ticks=self.n_ticks if self.has_ticks else None,
            attribute_counts={} if self.attributes is None else self.attributes.counts,
            n_complete=int(self.complete.sum()),
            starts=self._start_counts(),
        )

    def _start_counts(self) -> IntArray:
        """How many sequences begin with each label; where events happened together, with each of them."""
        counts, begins = np.zeros(len(self.labels), np.int64), self.offsets[:-1][self.lengths > 0]
        while len(begins):  # the n-th events of sequences whose first tick has so many
            counts += count_codes(self.codes[begins], len(self.labels))
            begins = begins[begins + 1 < len(self.codes)] + 1
            begins = begins[:0] if self.moments is None else begins[~self.moments.starts[begins]]
        return counts

    # ------------------------------------------------------------------ labels

    def code(self, label: object) -> int:
        """Return the code of a label, or say which label comes nearest; a number means its text."""
        text = label_text(label)
        at = bisect_left(self.labels, text)
        if self.labels[at : at + 1] != (text,):
            raise UnknownLabelError(text, self.labels)
        return at

    def recode(self, labels: Sequence[str], *, unknown: Unknown = "error") -> EventSequences:
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
        return self._with(translation(self.labels, labels)[self.codes], self.offsets, labels, self.moments)

    def refuse_unknown(self) -> None:
        """Complain if there are events of no known label, as ``recode(unknown="ignore")`` makes them."""
        if not self.has_ticks and self.any_unknown:  # a tick may be empty
            raise DataError(
                "some events have a label outside the vocabulary (they were recoded with unknown='ignore'); "
                "use the original events, or unknown='ignore' here too"
            )

    def restrict(self, labels: Iterable[object]) -> EventSequences:
        """Delete the events of all other labels and close the gaps (the paper's preprocessing).

        >>> from summarkov import EventSequences
        >>> events = EventSequences.from_lists([["A", "B", "A", "C"], ["B"]])
        >>> events.restrict(["A", "C"]).to_lists()
        [['A', 'A', 'C'], []]
        """
        kept = vocabulary_of(labels)
        for label in kept:
            self.code(label)  # refuses one that is not known
        return self.only_rows(translation(self.labels, kept)[self.codes] >= 0).recode(kept)

    # ------------------------------------------------------------------ prepare

    def map_labels(self, mapping: Mapping[Any, object] | Callable[[str], object]) -> EventSequences:
        """Replace labels by others, say coarser ones, by a dict or a function; those not in a dict stay.

        >>> from summarkov import EventSequences
        >>> events = EventSequences.from_lists([["add", "add 2", "pay"]])
        >>> events.map_labels({"add 2": "add"}).to_lists()
        [['add', 'add', 'pay']]
        """
        return self._renamed(map_each(self.labels, mapping))

    def pool_rare(self, min_count: int, *, into: Label = RARE) -> EventSequences:
        """Make one label of all that occur fewer than ``min_count`` times in these events.

        To prepare other events as these were, use the labels that were kept and not their own counts:
        ``others.map_labels(lambda label: label if label in kept.labels else "(rare)")``.

        >>> from summarkov import EventSequences
        >>> EventSequences.from_lists([["a", "b", "a", "c"]]).pool_rare(2).to_lists()
        [['a', '(rare)', 'a', '(rare)']]
        """
        return self._renamed(pool_each(self.labels, self.label_counts, min_count, into))

    def _renamed(self, becomes: Sequence[str]) -> EventSequences:
        self.refuse_unknown()
        labels = sorted(set(becomes))
        return self._with(translation(becomes, labels)[self.codes], self.offsets, labels, self.moments)

    def collapse_repeats(self) -> EventSequences:
        """Keep only the first of equal labels in a row.

        >>> from summarkov import EventSequences
        >>> EventSequences.from_lists([["a", "a", "b", "a"], ["a"]]).collapse_repeats().to_lists()
        [['a', 'b', 'a'], ['a']]
        """
        self.refuse_unknown()
        if self.has_ticks:
            raise DataError(
                "repeats can be left out where events come one after the other, and some here happen together"
            )
        return self.only_rows(not_repeated(self.codes, self.offsets))

    def drop_first(self) -> EventSequences:
        """Leave out the first event of every sequence, such as a registration with which all of them begin.

        Events that happened together with it go, too.

        >>> EventSequences.from_lists([["register", "a", "b"], ["register"]]).drop_first().to_lists()
        [['a', 'b'], []]
        """
        return self.only_rows(self.positions > 1)

    def only_rows(self, keep: BoolArray) -> EventSequences:
        """The events that are kept; a tick of which none is goes."""
        before = np.append(0, np.cumsum(keep))
        moments = None if self.moments is None else self.moments.kept(keep)
        return self._with(self.codes[keep], before[self.offsets], self.labels, moments, tied_order=0)

    def add_start(self, label: Label = START) -> EventSequences:
        """Begin every sequence with one more event, so that a model learns what comes first.

        >>> from summarkov import EventSequences
        >>> EventSequences.from_lists([["a"], []]).add_start().to_lists()
        [['(start)', 'a'], ['(start)']]
        """
        self.refuse_unknown()
        added, (starts, stops) = new_label(label, self.labels, "label"), (self.offsets[:-1], self.offsets[1:])
        labels = sorted([*self.labels, added])
        codes = translation(self.labels, labels)[self.codes]
        codes = np.insert(codes, starts, np.int32(labels.index(added)))
        moments = None if self.moments is None else self.moments.with_starts(starts, stops)
        return self._with(codes, self.offsets + np.arange(len(self.offsets)), labels, moments)


def refuse_end(events: EventSequences) -> None:
    """Refuse an event that is called like the end of a case."""
    if END in events.labels and events.label_counts[events.labels.index(END)]:
        raise DataError(
            f"the label {END!r} means the end of a case; rename it in the data, or read them with "
            "ends='cut off'"
        )


def join_events(parts: Sequence[EventSequences], labels: Sequence[str]) -> EventSequences:
    """The sequences of several data sets over one vocabulary, one after the other."""
    parts = [part.recode(labels) for part in parts]
    weights = None
    if any(part.weights is not None for part in parts):
        weights = np.concatenate([np.ones(len(p)) if p.weights is None else p.weights for p in parts])
    return EventSequences(
        np.concatenate([part.codes for part in parts]),
        np.append(0, np.cumsum(np.concatenate([part.lengths for part in parts]))),
        labels,
        [name for part in parts for name in part.ids],
        attributes=join_attributes([part.attributes for part in parts]),
        moments=join_moments([(part.n_rows, part.moments) for part in parts]),
        weights=weights,
        ends=np.concatenate([part.complete for part in parts]),
        tied_order=sum(part.tied_order for part in parts),
    )


def _fixed(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """An array of our own, which nobody can change."""
    values.flags.writeable = False
    return values.view()
