"""What most logs need before they are learned from. Nothing is changed in place.

A vocabulary may hold labels that never occur; preparation keeps those that it need not touch.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, Protocol, Self, TypeVar

import numpy as np

from summarkov.errors import DataError, SettingError, UnknownLabelError, nearest
from summarkov.events.moments import Moments, positions_in
from summarkov.events.vocabulary import (
    Label,
    Unknown,
    check_unknown,
    is_label,
    label_text,
    refuse_unknown_labels,
    translation,
    vocabulary_of,
)
from summarkov.settings import check_whole
from summarkov.typing import BoolArray, CodeArray, IntArray

#: What rare labels become, and what begins a sequence, unless told otherwise.
RARE, START = "(rare)", "(start)"


def map_each(labels: Sequence[str], mapping: Mapping[Any, object] | Callable[[str], object]) -> list[str]:
    """What every label becomes; in a mapping, too, a number means its text."""
    if isinstance(mapping, Mapping):
        mapping = {label_text(label): new for label, new in mapping.items()}
        known = [label for label in mapping if label in set(labels)]
        if mapping and not known:
            first = str(next(iter(mapping)))
            raise DataError(
                f"none of the labels in the mapping is in the data, not even {first!r}; check how they are "
                f"written{nearest(first, labels)}"
            )
        found: list[object] = [mapping.get(label, label) for label in labels]
    elif callable(mapping):
        found = [mapping(label) for label in labels]
    else:
        raise SettingError(f"labels are mapped by a dict or a function, not {mapping!r}")
    for label, new in zip(labels, found, strict=True):
        if not is_label(new) or new != new:
            raise SettingError(f"labels must become labels, and {label!r} becomes {new!r}; give it a name")
    return [label_text(new) for new in found]


def pool_each(labels: Sequence[str], counts: IntArray, min_count: int, into: Label) -> list[str]:
    """What every label becomes if rare ones are pooled."""
    check_whole("min_count", min_count, 0)
    pooled = new_label(into, labels, "into")
    return [label if n >= min_count else pooled for label, n in zip(labels, counts.tolist(), strict=True)]


class Poolable(Protocol):
    """Events in memory, or a source of them."""

    @property
    def labels(self) -> tuple[str, ...]: ...

    @property
    def label_counts(self) -> IntArray: ...

    def map_labels(self, mapping: Callable[[str], object]) -> Self: ...


Events = TypeVar("Events", bound=Poolable)


def pool_others(events: Events, kept: Collection[str], into: Label = RARE) -> Events:
    """Make one label of all that are not among those to keep, such as those that a model knows.

    >>> from summarkov import EventSequences
    >>> pool_others(EventSequences.from_lists([["A", "B", "C"]]), {"A"}).to_lists()
    [['A', '(rare)', '(rare)']]
    """
    chosen = frozenset(kept)
    return events.map_labels(lambda label: label if label in chosen else into)


def pool_rare_together(
    parts: Sequence[Events], min_count: int, *, counted: Sequence[Events] | None = None, into: Label = RARE
) -> list[Events]:
    """Make one label of all that are rare in several parts together, or in those that are ``counted``.

    >>> from summarkov import EventSequences
    >>> parts = [EventSequences.from_lists([list(text)]) for text in ("AAB", "AC")]
    >>> [part.to_lists() for part in pool_rare_together(parts, 2)]
    [[['A', 'A', '(rare)']], [['A', '(rare)']]]
    """
    check_whole("min_count", min_count, 0)
    counts = Counter[str]()
    for part in parts if counted is None else counted:
        counts.update(dict(zip(part.labels, part.label_counts.tolist(), strict=True)))
    new_label(into, sorted(counts), "into")
    kept = {label for label, n in counts.items() if n >= min_count}
    return [pool_others(part, kept, into) for part in parts]


def new_label(label: Label, labels: Sequence[str], setting: str) -> str:
    """The text of a label that is made; it must not be taken for one that is there."""
    if not is_label(label) or label != label:
        raise SettingError(f"{setting} must be a label, not {label!r}")
    text = label_text(label)
    if text in labels:
        raise SettingError(
            f"there is a label {text!r} already; rename it first, or choose another one with {setting}="
        )
    return text


def not_repeated(codes: CodeArray, offsets: IntArray) -> BoolArray:
    """Whether each code is the first of equal ones in a row, in its sequence."""
    keep = np.ones(len(codes), dtype=bool)
    keep[1:] = codes[1:] != codes[:-1]
    keep[offsets[:-1][np.diff(offsets) > 0]] = True  # whatever ended the sequence before
    return keep


#: What only the library itself needs: completion leaves it out.
MACHINERY = frozenset(
    (
        "any_unknown",
        "has_ticks",
        "is_mapped",
        "moments",
        "of_rows",
        "only",
        "only_rows",
        "refuse_unknown",
        "rows",
        "sequence_keys",
        "time_unit",
        "with_end_rows",
        "with_moments",
        "with_origin",
        "with_rows",
    )
)


class Relabelled(ABC):
    """What sequences of events can do with their labels. ``_index`` has the code of every label."""

    __slots__ = ()

    labels: tuple[str, ...]
    tied_order: int
    _index: dict[str, int]

    def __dir__(self) -> list[str]:
        return sorted(set(super().__dir__()) - MACHINERY)

    @property
    @abstractmethod
    def codes(self) -> CodeArray:
        """The label of every event."""

    @property
    @abstractmethod
    def offsets(self) -> IntArray:
        """Where sequences begin, and the last ends."""

    @property
    @abstractmethod
    def moments(self) -> Moments | None:
        """When events happened."""

    @property
    @abstractmethod
    def has_ticks(self) -> bool:
        """Whether any events happened together, or none at some position."""

    @property
    @abstractmethod
    def any_unknown(self) -> bool:
        """Whether some events have no known label."""

    @property
    @abstractmethod
    def label_counts(self) -> IntArray:
        """How often every label of the vocabulary occurs."""

    @abstractmethod
    def _with(
        self,
        codes: CodeArray,
        offsets: IntArray,
        labels: Sequence[str],
        moments: Moments | None,
        *,
        tied_order: int = 0,
    ) -> Self:
        """The same sequences, with other events."""

    def code(self, label: object) -> int:
        """Return the code of a label, or say which label comes nearest; a number means its text."""
        text = label_text(label)
        if text not in self._index:
            raise UnknownLabelError(text, self.labels)
        return self._index[text]

    def recode(self, labels: Sequence[str], *, unknown: Unknown = "error") -> Self:
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
        if self.has_ticks:
            return  # a tick may be empty
        if self.any_unknown:
            raise DataError(
                "some events have a label outside the vocabulary (they were recoded with unknown='ignore'); "
                "use the original events, or unknown='ignore' here too"
            )

    def restrict(self, labels: Iterable[object]) -> Self:
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

    def map_labels(self, mapping: Mapping[Any, object] | Callable[[str], object]) -> Self:
        """Replace labels by others, say coarser ones, by a dict or a function; those not in a dict stay.

        >>> from summarkov import EventSequences
        >>> events = EventSequences.from_lists([["add", "add 2", "pay"]])
        >>> events.map_labels({"add 2": "add"}).to_lists()
        [['add', 'add', 'pay']]
        """
        return self._renamed(map_each(self.labels, mapping))

    def pool_rare(self, min_count: int, *, into: Label = RARE) -> Self:
        """Make one label of all that occur fewer than ``min_count`` times in these events.

        To prepare other events as these were, use the labels that were kept and not their own counts:
        ``others.map_labels(lambda label: label if label in kept.labels else "(rare)")``.

        >>> from summarkov import EventSequences
        >>> EventSequences.from_lists([["a", "b", "a", "c"]]).pool_rare(2).to_lists()
        [['a', '(rare)', 'a', '(rare)']]
        """
        return self._renamed(pool_each(self.labels, self.label_counts, min_count, into))

    def collapse_repeats(self) -> Self:
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

    def drop_first(self) -> Self:
        """Leave out the first event of every sequence, such as a registration with which all of them begin.

        Events that happened together with it go, too.

        >>> from summarkov import EventSequences
        >>> EventSequences.from_lists([["register", "a", "b"], ["register"]]).drop_first().to_lists()
        [['a', 'b'], []]
        """
        return self.only_rows(positions_in(self.offsets, self.moments) > 1)

    def only_rows(self, keep: BoolArray) -> Self:
        """The events that are kept; a tick of which none is goes."""
        before = np.concatenate([[0], np.cumsum(keep)])
        moments = None if self.moments is None else self.moments.kept(keep)
        return self._with(self.codes[keep], before[self.offsets], self.labels, moments)

    def with_rows(self, codes: CodeArray, offsets: IntArray, moments: Moments | None) -> Self:
        """The same sequences with other events of the same labels."""
        return self._with(codes, offsets, self.labels, moments)

    def add_start(self, label: Label = START) -> Self:
        """Begin every sequence with one more event, so that a model learns what comes first.

        >>> from summarkov import EventSequences
        >>> EventSequences.from_lists([["a"], []]).add_start().to_lists()
        [['(start)', 'a'], ['(start)']]
        """
        starts, ends, moments = self.offsets[:-1], self.offsets[1:], self.moments
        return self._with_one_more(
            label, starts, None if moments is None else moments.with_starts(starts, ends)
        )

    def _with_one_more(self, label: Label, places: IntArray, moments: Moments | None) -> Self:
        """One more event for each sequence, before the rows at these places."""
        self.refuse_unknown()
        added = new_label(label, self.labels, "label")
        labels = sorted([*self.labels, added])
        codes = translation(self.labels, labels)[self.codes]
        codes = np.insert(codes, places, np.int32(labels.index(added)))
        offsets = self.offsets + np.arange(len(self.offsets))
        return self._with(codes, offsets, labels, moments, tied_order=self.tied_order)

    def _renamed(self, becomes: Sequence[str]) -> Self:
        self.refuse_unknown()
        labels = sorted(set(becomes))
        codes = translation(becomes, labels)[self.codes]
        return self._with(codes, self.offsets, labels, self.moments, tied_order=self.tied_order)
