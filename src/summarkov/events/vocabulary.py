"""What counts as a label and as a sequence of them, and the codes and names that labels become."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence, Set
from typing import Any, Literal, cast

import numpy as np
import numpy.typing as npt

from summarkov.errors import DataError, SettingError, UnknownLabelError, nearest
from summarkov.settings import check_whole
from summarkov.typing import CodeArray, IntArray
from summarkov.wording import END as END

#: A label as people may write it: text, or a number that means its text.
Label = str | int | float
#: Whether sequences are complete, all of them or each; those that are not were cut off.
Ends = Literal["complete", "cut off"] | npt.ArrayLike
#: What to do about labels that a vocabulary does not hold.
Unknown = Literal["error", "ignore"]
#: The code of an event whose label is not in the vocabulary (``recode(..., unknown="ignore")``).
UNKNOWN = -1
#: The code of a tick without labels while events are read, and what stands in the place of its text.
EMPTY_TICK, _NOTHING = -2, [object()]
#: What sequences are of which nothing else is said.
ENDS: Literal["complete", "cut off"] = "complete"
#: What rare labels become, and what begins a sequence, unless told otherwise.
RARE, START = "(rare)", "(start)"


def label_text(value: object) -> str:
    """A label's text, in data and in settings: 3 means the label ``"3"``, everywhere.

    >>> label_text("007"), label_text(7), label_text(1.0)
    ('007', '7', '1.0')
    """
    if isinstance(value, str):
        return str(value)  # plain text, also of NumPy's str_
    if is_missing(value):
        raise DataError("an event has no label (None or nan); drop it or give it a name")
    if isinstance(value, bool | int | float | np.generic) and not isinstance(value, bytes | np.void):
        return str(value)
    raise DataError(f"a label must be text or a number, not {type(value).__name__}")


def is_missing(value: object) -> bool:
    """Whether there is no label: None, nan, or what pandas and NumPy have for them.

    >>> is_missing(None), is_missing(float("nan")), is_missing("")
    (True, True, False)
    """
    # pandas' NA is known by its name: it must not be compared, nor pandas imported
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    number = isinstance(value, float | np.generic) and not isinstance(value, bytes | np.void | str)
    return bool(number and value != value)


def is_label(value: object) -> bool:
    """Whether a value is one label, and not a list of them: text, or a number that means its text."""
    return isinstance(value, str | bool | int | float | np.generic)


def check_unknown(unknown: str) -> Unknown:
    """Refuse what does not say how to treat labels that a vocabulary does not hold."""
    if unknown not in ("error", "ignore"):
        raise DataError(f"unknown={unknown!r} is not known; use 'error' or 'ignore'")
    return cast(Unknown, unknown)


def vocabulary_of(labels: Iterable[object], setting: str = "labels") -> list[str]:
    """Return a declared vocabulary as it is stored: as text, sorted, without repeats.

    >>> vocabulary_of([2, "b", 10, "b"])
    ['10', '2', 'b']
    """
    if isinstance(labels, str | bytes) or not isinstance(labels, Iterable):
        raise DataError(f"{setting} must be a list of labels, not {labels!r}; wrap it in a list")
    return sorted({label_text(label) for label in labels})


def iterate(sequence: object) -> Iterable[object]:
    """Return a sequence of labels, or say why it is none."""
    if isinstance(sequence, str | bytes | Mapping) or not isinstance(sequence, Iterable):
        if hasattr(sequence, "label_counts"):  # a source
            kind = type(sequence).__name__
            raise DataError(f"a sequence must be a list of labels, and a {kind} holds many; give one of them")
        raise DataError(f"a sequence must be a list of labels, not {sequence!r}; wrap it in a list")
    if isinstance(sequence, Set):
        raise DataError(f"a sequence must be a list of labels, not {sequence!r}, which has no order")
    return sequence


def coded_lists(
    sequences: Iterable[Iterable[object]],
    labels: Iterable[object] | None,
    text_of: Callable[[object], str | None] = label_text,
) -> tuple[CodeArray, IntArray, list[str], IntArray]:
    """The codes of lists of labels, their offsets, the vocabulary, and of each code its place in the list.

    Labels in a list or a set of their own happened together; none of them is an empty tick, of its own code.
    """
    texts, places, offsets = list[Any](), list[int](), [0]
    for sequence in iterate(sequences):
        events = [*iterate(sequence)]
        if {*map(type, events)} <= {str}:  # the usual case, and faster
            texts += events
            places += range(len(events))
            events = []
        for place, event in enumerate(events):
            if isinstance(event, list | tuple | Set):
                tick = [text_of(label) for label in event] or _NOTHING
                texts += tick
                places += [place] * len(tick)
            else:
                texts.append(text_of(event))
                places.append(place)
        offsets.append(len(texts))
    known: set[Any] = set(texts).difference([None, *_NOTHING])
    vocabulary = sorted(known) if labels is None else vocabulary_of(labels)
    index: dict[Any, int] = {label: code for code, label in enumerate(vocabulary)}
    index |= {None: UNKNOWN, _NOTHING[0]: EMPTY_TICK}
    try:
        codes = np.fromiter((index[text] for text in texts), dtype=np.int32)
    except KeyError as missing:
        raise UnknownLabelError(missing.args[0], vocabulary) from None
    return codes, np.array(offsets), vocabulary, np.array(places, np.int64)


def translation(labels: Iterable[str], into: Sequence[str]) -> CodeArray:
    """The code of each label in another vocabulary, -1 if that does not hold it.

    One more, the last, is for events that have no label already.

    >>> translation(["a", "b", "c"], into=["b", "c", "d"])
    array([-1,  0,  1, -1], dtype=int32)
    """
    index = {label: code for code, label in enumerate(into)}
    return np.array([*(index.get(label, UNKNOWN) for label in labels), UNKNOWN], np.int32)


def refuse_unknown_labels(labels: Sequence[str], label_counts: IntArray, known: Sequence[str]) -> None:
    """Refuse a label that occurs and that a vocabulary does not hold."""
    lost = np.flatnonzero((translation(labels, known)[:-1] == UNKNOWN) & (label_counts > 0))
    if len(lost):
        raise UnknownLabelError(labels[lost[0]], known)


def count_codes(codes: CodeArray, n: int) -> IntArray:
    """How often each of the codes 0, 1, ..., n - 1 occurs; those of no label are left out."""
    counts = np.zeros(n, np.int64)
    for start in range(0, len(codes), 1 << 20):  # bincount copies what it counts
        part = codes[start : start + (1 << 20)]
        counts += np.bincount(part[part >= 0], minlength=n)
    return counts


# ---------------------------------------------------------------------- other names for labels


def renamed(labels: Sequence[str], mapping: Mapping[Any, object] | Callable[[str], object]) -> list[str]:
    """What every label becomes; in a mapping, too, a number means its text, and labels not in it stay."""
    if isinstance(mapping, Mapping):
        mapping = {label_text(label): new for label, new in mapping.items()}
        if mapping and mapping.keys().isdisjoint(labels):
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


def frequent_labels(parts: Iterable[Any], min_count: int, into: Label = RARE) -> frozenset[str]:
    """The labels that occur often enough in several events together; ``into`` must be none of them.

    >>> from summarkov import EventSequences
    >>> sorted(frequent_labels([EventSequences.from_lists([["A", "A"], ["B", "C", "C"]])], 2))
    ['A', 'C']
    """
    check_whole("min_count", min_count, 0)
    counts = Counter[str]()
    for part in parts:
        counts.update(dict(zip(part.labels, part.label_counts.tolist(), strict=True)))
    new_label(into, counts, "into")
    return frozenset(label for label, n in counts.items() if n >= min_count)


def new_label(label: Label, labels: Collection[str], setting: str) -> str:
    """The text of a label that is made; it must not be taken for one that is there."""
    if not is_label(label) or label != label:
        raise SettingError(f"{setting} must be a label, not {label!r}")
    text = label_text(label)
    if text in labels:
        raise SettingError(
            f"there is a label {text!r} already; rename it first, or choose another one with {setting}="
        )
    return text
