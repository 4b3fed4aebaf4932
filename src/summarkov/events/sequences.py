"""``EventSequences``: K sequences of labels as one flat array of codes and its offsets."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from summarkov.errors import DataError, UnknownLabelError
from summarkov.events import vocabulary
from summarkov.events.attributes import Attributes, join_attributes
from summarkov.events.describe import Description, Origin
from summarkov.events.draws import distinct_keys, sequence_keys, split_by_key
from summarkov.events.moments import NANOSECONDS, Moments, TimeUnit, join_moments, with_more_rows
from summarkov.events.vocabulary import (
    END,
    RARE,
    START,
    UNKNOWN,
    Ends,
    Label,
    Unknown,
    check_unknown,
    coded_lists,
    count_codes,
    frequent_labels,
    label_text,
    new_label,
    refuse_unknown_labels,
    renamed,
    translation,
    vocabulary_of,
)
from summarkov.frames import FrameLibrary, to_frame
from summarkov.settings import check_seed
from summarkov.typing import BoolArray, CodeArray, FloatArray, HashArray, IntArray

_FIELDS = (
    *("codes", "offsets", "labels", "moments", "attributes", "weights", "complete", "tied_order", "origin"),
    *("_ids", "_keys", "_folder"),
)
#: What only the library itself needs: completion leaves it out.
MACHINERY = {
    *("but", "has_ticks", "is_mapped", "moments", "only_rows", "refuse_unknown", "sequence_keys"),
    *("time_unit", "with_end_rows"),
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
    moments: Moments
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
        names = None if ids is None else tuple(ids)
        ends = vocabulary.ENDS if ends is None else ends
        given = codes, offsets, tuple(labels), moments, attributes, weights, ends, tied_order, origin, names
        for name, value in zip(_FIELDS, (*given, None, None), strict=True):
            object.__setattr__(self, name, value)
        self._check()

    def _check(self) -> None:
        """Keep arrays that nobody can change; what makes no sequences is refused."""
        codes, offsets = _frozen(self.codes, np.int32, "codes"), _frozen(self.offsets, np.int64, "offsets")
        labels, n = self.labels, len(offsets) - 1
        if any(not isinstance(label, str) for label in labels):
            raise DataError("labels must be text")
        if any(a >= b for a, b in pairwise(labels)):
            raise DataError("labels must be sorted and without repeats")
        if offsets.ndim != 1 or n < 0 or offsets[0] != 0 or offsets[-1] != len(codes):
            raise DataError("offsets must start at 0 and end at the number of events")
        if (np.diff(offsets) < 0).any():
            raise DataError("offsets must not decrease")
        if codes.ndim != 1 or (len(codes) and (codes.min() < UNKNOWN or codes.max() >= len(labels))):
            raise DataError("codes must be one flat array of indices into labels")
        if self._ids is not None and len(self._ids) != n:
            raise DataError(f"there are {n} sequences but {len(self._ids)} ids")
        moments = Moments.plain(len(codes)) if self.moments is None else self.moments
        moments.check(offsets)
        if self.attributes is not None:
            if len(self.attributes) != n:
                raise DataError(f"there are {n} sequences but attributes of {len(self.attributes)}")
            if clash := set(self.attributes.names).intersection(labels):
                raise DataError(
                    f"{min(clash)!r} is both a label and the name of an attribute; rename the label"
                )
        weights = None if self.weights is None else _weights(self.weights, n)
        checked = {
            "codes": codes,
            "offsets": offsets,
            "moments": moments,
            "weights": weights,
            "complete": _complete(self.complete, n),
        }
        for name, value in checked.items():
            object.__setattr__(self, name, value)

    def but(self, **changes: Any) -> EventSequences:
        """The same with some other fields, which are taken as they are; arrays become read-only."""
        made = object.__new__(EventSequences)
        for name in _FIELDS:
            value = changes[name] if name in changes else getattr(self, name)
            object.__setattr__(made, name, _fixed(value) if isinstance(value, np.ndarray) else value)
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
        codes, offsets, known, places = coded_lists(sequences, labels)
        starts = np.diff(places, prepend=-1) != 0
        codes, offsets, moments = Moments.made(np.maximum(codes, UNKNOWN), offsets, starts, has_ticks=True)
        return cls(codes, offsets, known, ids, moments=moments, ends=ends)

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
        return int(self.label_counts.sum()) if self.moments.has_empty else len(self.codes)

    @property
    def n_rows(self) -> int:
        """The number of values that arrays of events have: one per event, and one per empty tick."""
        return len(self.codes)

    @property
    def has_ticks(self) -> bool:
        """Whether any events happened together, or none at some position."""
        return self.moments.has_ticks

    @property
    def time_unit(self) -> TimeUnit | None:
        """What times are measured in; None where there are none."""
        return None if self.times is None else self.moments.unit

    @property
    def n_ticks(self) -> int:
        """The number of positions: that of events, where no two happened together."""
        return self.moments.n_ticks

    @property
    def times(self) -> IntArray | None:
        """The time of every event, in the unit of ``moments``; None where there are no times."""
        return self.moments.times

    @property
    def shape(self) -> tuple[int]:
        """``(K,)``: what scikit-learn's splitters ask for."""
        return (len(self),)

    @property
    def ids(self) -> tuple[str, ...]:
        """The name of every sequence."""
        return self._ids if self._ids is not None else tuple(str(s) for s in range(len(self)))

    def sequence_keys(self) -> HashArray:
        """A number for the name of every sequence, or, if two have the same name, for its place."""
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
        sequence = np.repeat(np.arange(len(self)), self.lengths)
        before = np.append(0, np.cumsum(self.moments.starts))
        return np.asarray(before[1:] - before[self.offsets[sequence]])

    def __repr__(self) -> str:
        return f"EventSequences({len(self)} sequences, {self.n_events} events, {len(self.labels)} labels)"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, EventSequences):
            return NotImplemented
        names = ("labels", "ids", "attributes", "moments", "offsets", "codes", "complete", "weights")
        pairs = ((getattr(self, name), getattr(other, name)) for name in names)
        return all(
            np.array_equal(*pair) if isinstance(pair[0], np.ndarray) else pair[0] == pair[1] for pair in pairs
        )

    __hash__ = None  # type: ignore[assignment]  # compared by value, and large

    def __getitem__(self, which: Any) -> EventSequences:
        """Sequences by number, slice, integer array or boolean array; the vocabulary stays whole."""
        if isinstance(which, tuple) and len(which) == 2 and which[1] is Ellipsis:
            which = which[0]  # scikit-learn indexes with X[(indices, ...)]
        chosen = np.atleast_1d(np.arange(len(self))[which])
        if chosen.ndim != 1:
            raise IndexError("sequences are chosen by one number, slice, or flat array")
        lengths = self.lengths[chosen]
        offsets = np.append(0, np.cumsum(lengths))
        places = np.repeat(self.offsets[:-1][chosen] - offsets[:-1], lengths) + np.arange(offsets[-1])
        ids = self.ids if self._ids is not None or self._keys is None else None
        names = ("attributes", "weights", "complete", "_keys")
        of_sequences = {name: getattr(self, name) for name in names if getattr(self, name) is not None}
        return self.but(
            codes=self.codes[places],
            offsets=offsets,
            moments=Moments.plain(len(places)) if self.moments.is_plain else self.moments[places],
            tied_order=0,
            _ids=None if ids is None else tuple(ids[s] for s in chosen.tolist()),
            _folder=None,
            **{name: values[chosen] for name, values in of_sequences.items()},
        )

    def __iter__(self) -> Iterator[list[Any]]:
        """Every sequence as a list of labels; of ticks (lists of labels) where events happened together."""
        names = [*self.labels, "?"]
        ticks = self.moments.starts if self.has_ticks else None
        for start, stop in pairwise(self.offsets.tolist()):
            found = [names[code] for code in self.codes[start:stop].tolist()]
            if ticks is None:
                yield found
                continue
            begins = [*np.flatnonzero(ticks[start:stop]).tolist(), stop - start]
            yield [[] if self.codes[start + a] < 0 else found[a:b] for a, b in pairwise(begins)]

    def to_lists(self) -> list[list[Any]]:
        """All sequences as lists of labels, or of ticks (lists of labels) where events happened together."""
        return list(self)

    def to_frame(self, library: FrameLibrary | None = None) -> Any:
        """Return a data frame with one row per event: ``sequence``, ``position`` (or ``tick``) and ``event``.

        Times, attributes and weights are further columns; an empty tick is a row without an event.
        ``library`` is "pandas", "polars" or "pyarrow"; by default pandas if that is installed, else polars.
        ``read_events`` reads it back.
        """
        from summarkov.events.rows import event_table

        return to_frame(event_table(self), library)

    # ------------------------------------------------------------------ the same with something else

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

    def _checked(self, **changes: Any) -> EventSequences:
        """The same with what a caller gives, who may change it afterwards."""
        ours = {
            name: value.copy() if isinstance(value, np.ndarray) else value for name, value in changes.items()
        }
        made = self.but(**ours)
        made._check()
        return made

    def _with(
        self, codes: CodeArray, offsets: IntArray, labels: Sequence[str], moments: Moments, **more: Any
    ) -> EventSequences:
        """The same sequences, with other events."""
        if moments.has_ticks:
            when = moments.starts, moments.times, moments.unit
            codes, offsets, moments = Moments.made(codes, offsets, *when, has_ticks=True)
        rows = {"codes": codes, "offsets": offsets, "labels": tuple(labels), "moments": moments}
        return self.but(**rows, _folder=None, **more)

    def with_end_rows(self) -> EventSequences:
        """The same sequences as they are counted: with one more event, ``END``, in each that is complete."""
        if not self.complete.any():
            return self
        refuse_end(self)
        ended = self._with_label(END, np.flatnonzero(self.complete), last=True)
        return ended.but(complete=np.zeros(len(self), bool))

    def _with_label(self, added: str, sequences: IntArray, *, last: bool = False) -> EventSequences:
        """With one more event of a label at the start or the end of some sequences."""
        labels = sorted({*self.labels, added})
        codes = translation(self.labels, labels)[self.codes]
        codes, offsets, moments = with_more_rows(
            codes, self.offsets, self.moments, sequences, labels.index(added), last=last
        )
        return self.but(codes=codes, offsets=offsets, labels=tuple(labels), moments=moments, _folder=None)

    # ------------------------------------------------------------------ split and look

    def split(
        self, fractions: Sequence[float] = (0.7, 0.15, 0.15), random_state: int = 0
    ) -> tuple[EventSequences, ...]:
        """Split at random by sequence into parts of the given fractions.

        Which part a sequence comes to depends on the names of all sequences, not on their order.

        >>> events = EventSequences.from_lists([["A", "B"]] * 8 + [["C"]] * 2)
        >>> [len(part) for part in events.split((0.5, 0.5), random_state=1)]
        [5, 5]
        """
        keys = self.sequence_keys()
        parts = split_by_key(keys, fractions, check_seed(random_state))
        return tuple(self[np.isin(keys, part)] for part in parts)

    def describe(self) -> Description:
        """Count sequences, events and labels, and say what is worth knowing before learning."""
        return Description.of(self)

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

        An unknown label is an error, or with ``unknown="ignore"`` its event keeps its place, with no label.
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
        if not self.has_ticks and (self.codes < 0).any():  # a tick may be empty
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
        return self.only_rows(translation(self.labels, kept)[self.codes] >= 0).recode(kept)

    # ------------------------------------------------------------------ prepare

    def map_labels(self, mapping: Mapping[Any, object] | Callable[[str], object]) -> EventSequences:
        """Replace labels by others, say coarser ones, by a dict or a function; those not in a dict stay.

        >>> events = EventSequences.from_lists([["add", "add 2", "pay"]])
        >>> events.map_labels({"add 2": "add"}).to_lists()
        [['add', 'add', 'pay']]
        """
        self.refuse_unknown()
        becomes = renamed(self.labels, mapping)
        labels = sorted(set(becomes))
        return self._with(translation(becomes, labels)[self.codes], self.offsets, labels, self.moments)

    def pool_rare(self, min_count: int, *, into: Label = RARE) -> EventSequences:
        """Make one label of all that occur fewer than ``min_count`` times in these events.

        :meth:`pool_others` prepares other events as these were.

        >>> EventSequences.from_lists([["a", "b", "a", "c"]]).pool_rare(2).to_lists()
        [['a', '(rare)', 'a', '(rare)']]
        """
        return self.pool_others(frequent_labels([self], min_count, into), into=into)

    def pool_others(self, kept: Collection[str], *, into: Label = RARE) -> EventSequences:
        """Make one label of all that are not among those to keep, such as those that a model knows.

        >>> EventSequences.from_lists([["A", "B", "C"]]).pool_others({"A"}).to_lists()
        [['A', '(rare)', '(rare)']]
        """
        chosen = frozenset(kept)
        return self.map_labels(lambda label: label if label in chosen else into)

    def collapse_repeats(self) -> EventSequences:
        """Keep only the first of equal labels in a row.

        >>> EventSequences.from_lists([["a", "a", "b", "a"], ["a"]]).collapse_repeats().to_lists()
        [['a', 'b', 'a'], ['a']]
        """
        self.refuse_unknown()
        if self.has_ticks:
            raise DataError(
                "repeats can be left out where events come one after the other, and some here happen together"
            )
        keep = np.append(True, self.codes[1:] != self.codes[:-1])[: self.n_rows]
        keep[self.offsets[:-1][self.lengths > 0]] = True  # whatever ended the sequence before
        return self.only_rows(keep)

    def drop_first(self) -> EventSequences:
        """Leave out the first event of every sequence, with what happened together with it.

        >>> EventSequences.from_lists([["register", "a", "b"], ["register"]]).drop_first().to_lists()
        [['a', 'b'], []]
        """
        return self.only_rows(self.positions > 1)

    def only_rows(self, keep: BoolArray) -> EventSequences:
        """The events that are kept; a tick of which none is goes."""
        before = np.append(0, np.cumsum(keep))
        moments = self.moments.kept(keep)
        return self._with(self.codes[keep], before[self.offsets], self.labels, moments, tied_order=0)

    def add_start(self, label: Label = START) -> EventSequences:
        """Begin every sequence with one more event, so that a model learns what comes first.

        >>> EventSequences.from_lists([["a"], []]).add_start().to_lists()
        [['(start)', 'a'], ['(start)']]
        """
        self.refuse_unknown()
        return self._with_label(new_label(label, self.labels, "label"), np.arange(len(self)))


def refuse_end(events: EventSequences) -> None:
    """Refuse an event that is called like the end of a case."""
    if END in events.labels and events.label_counts[events.labels.index(END)]:
        raise DataError(
            f"the label {END!r} means the end of a case; rename it in the data, or read them with "
            "ends='cut off'"
        )


def _fixed(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """An array of our own, which nobody can change."""
    values.flags.writeable = False
    return values.view()


def _frozen(values: npt.ArrayLike, dtype: type[np.integer[Any]], name: str) -> npt.NDArray[Any]:
    """Return values as a read-only array that shares no memory with a writeable one."""
    given = np.asarray(values)
    if given.size and given.dtype.kind not in "iu":
        raise DataError(f"{name} must be whole numbers, not {given.dtype}")
    limits = np.iinfo(dtype)
    if given.size and given.dtype != dtype and (given.min() < limits.min or given.max() > limits.max):
        raise DataError(f"{name} must fit {limits.dtype}")
    frozen = np.ascontiguousarray(given, dtype=dtype)
    if np.may_share_memory(frozen, given) and given.flags.writeable:
        frozen = frozen.copy()
    return _fixed(frozen)  # a view of a read-only array cannot be made writeable again


def _weights(values: npt.ArrayLike, n_sequences: int) -> FloatArray:
    """Weights of sequences as an array of our own, or why they are none."""
    given = np.asarray(values)
    if given.shape != (n_sequences,) or given.dtype.kind not in "buif":
        raise DataError(f"weights must be one number per sequence ({n_sequences}), not shape {given.shape}")
    held = np.array(given, np.float64)
    if not np.isfinite(held).all() or (held < 0).any():
        raise DataError("weights must be finite numbers from 0 on")
    return _fixed(held)


def _complete(ends: Ends, n_sequences: int) -> BoolArray:
    """Which sequences are complete."""
    if isinstance(ends, str) and ends not in ("complete", "cut off"):
        raise DataError(f"ends must be 'complete' or 'cut off', not {ends!r}")
    found = np.full(n_sequences, ends == "complete") if isinstance(ends, str) else np.array(ends)
    if found.shape != (n_sequences,) or found.dtype != bool:
        raise DataError(
            f"ends must be 'complete', 'cut off', or one truth value for each of {n_sequences} sequences"
        )
    return _fixed(found)


def join_events(parts: Sequence[EventSequences], *, named: bool = True) -> EventSequences:
    """The sequences of several data sets, one after the other; without ``named`` they go by their numbers.

    >>> join_events([EventSequences.from_lists(each) for each in ([["A"]], [["B", "A"]])]).to_lists()
    [['A'], ['B', 'A']]
    """
    labels = tuple(sorted({label for part in parts for label in part.labels}))
    parts = [part.recode(labels) for part in parts]
    weights = None
    if any(part.weights is not None for part in parts):
        weights = np.concatenate([np.ones(len(p)) if p.weights is None else p.weights for p in parts])
    return EventSequences(
        np.concatenate([part.codes for part in parts]),
        np.append(0, np.cumsum(np.concatenate([part.lengths for part in parts]))),
        labels,
        [name for part in parts for name in part.ids] if named else None,
        attributes=join_attributes([part.attributes for part in parts]),
        moments=join_moments([part.moments for part in parts]),
        weights=weights,
        ends=np.concatenate([part.complete for part in parts]),
        tied_order=sum(part.tied_order for part in parts),
    )


def map_events(
    chunks: Iterable[EventSequences], folder: Any, about: Callable[[], dict[str, Any]]
) -> EventSequences:
    """Write events, some whole sequences at a time, and map them: they need not fit into memory together.

    All chunks have the same labels and kind of times. The events own the folder, and ``about`` returns what
    else is known of them once all are written.
    """
    kinds = {"codes": np.int32, "starts": np.bool_, "times": np.int64}
    paths = {name: folder.path / f"{name}.map" for name in kinds}
    lengths, complete = [np.zeros(1, np.int64)], []
    is_plain, has_empty, unit = True, False, None
    with ExitStack() as stack:
        files = [stack.enter_context(open(path, "wb")) for path in paths.values()]
        for chunk in chunks:
            moments = chunk.moments
            is_plain, has_empty = is_plain and moments.is_plain, has_empty or moments.has_empty
            unit = unit if moments.times is None else moments.unit
            for file, values in zip(files, (chunk.codes, moments.starts, moments.times), strict=True):
                file.write(b"" if values is None else np.ascontiguousarray(values).data)
            lengths.append(chunk.lengths)
            complete.append(chunk.complete)
    maps: dict[str, Any] = {
        name: np.memmap(path, kinds[name], "r") if path.stat().st_size else np.empty(0, kinds[name])
        for name, path in paths.items()
    }
    held = Moments(maps["starts"], None if unit is None else maps["times"], unit or NANOSECONDS, has_empty)
    return chunk.but(
        codes=np.asarray(maps["codes"]),
        offsets=np.cumsum(np.concatenate(lengths)),
        moments=Moments.plain(len(held.starts)) if is_plain else held,
        complete=np.concatenate(complete),
        _folder=folder,
        **{{"ids": "_ids", "keys": "_keys"}.get(name, name): value for name, value in about().items()},
    )
