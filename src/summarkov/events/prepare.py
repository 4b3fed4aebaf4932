"""What most logs need before they are learned from. Nothing is changed in place.

A vocabulary may hold labels that never occur; preparation keeps those that it need not touch.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Protocol, Self, TypeVar

import numpy as np

from summarkov.errors import DataError, SettingError, nearest
from summarkov.events.vocabulary import Label, is_label, label_text
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
