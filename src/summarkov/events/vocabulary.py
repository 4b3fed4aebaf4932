"""What counts as a label and as a sequence of them, and the arrays of codes that they become."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from itertools import pairwise
from typing import Any, Literal, cast

import numpy as np
import numpy.typing as npt

from summarkov.errors import DataError, UnknownLabelError
from summarkov.events.attributes import Attributes
from summarkov.events.moments import Moments
from summarkov.typing import BoolArray, CodeArray, FloatArray, IntArray
from summarkov.wording import END as END

#: A label as people may write it: text, or a number that means its text.
Label = str | int | float
#: Whether sequences are complete, all of them or each; those that are not were cut off.
Ends = Literal["complete", "cut off"] | npt.ArrayLike
#: What to do about labels that a vocabulary does not hold.
Unknown = Literal["error", "ignore"]
#: The code of an event whose label is not in the vocabulary (``recode(..., unknown="ignore")``).
UNKNOWN = -1
#: What sequences are of which nothing else is said.
ENDS: Literal["complete", "cut off"] = "complete"


def label_text(value: object) -> str:
    """Return a label's text: numbers are labels too (as Python writes them), a missing value is not.

    This is the one rule for labels in data and in settings: 3 means the label ``"3"``, everywhere.

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
    """Return a sequence of labels, or say why it is none.

    >>> list(iterate(("A", "B")))
    ['A', 'B']
    """
    if isinstance(sequence, str | bytes | Mapping) or not isinstance(sequence, Iterable):
        if hasattr(sequence, "label_counts"):  # a source
            kind = type(sequence).__name__
            raise DataError(f"a sequence must be a list of labels, and a {kind} holds many; give one of them")
        raise DataError(f"a sequence must be a list of labels, not {sequence!r}; wrap it in a list")
    if isinstance(sequence, Set):
        raise DataError(f"a sequence must be a list of labels, not {sequence!r}, which has no order")
    return sequence


def coded_lists(
    sequences: Iterable[Iterable[object]], labels: Iterable[object] | None
) -> tuple[CodeArray, IntArray, list[str], BoolArray | None]:
    """The codes of lists of labels, where each list begins and the last ends, and the vocabulary.

    Labels that are in a list or a set of their own happened together. Where there are such, the last value
    tells of each label whether it begins a tick; an empty tick is a code of -1.

    >>> codes, offsets, labels, starts = coded_lists([["b", 1], ["b"]], None)
    >>> codes.tolist(), offsets.tolist(), labels, starts
    ([1, 0, 1], [0, 2, 3], ['1', 'b'], None)
    """
    texts: list[list[str | None]] = []
    starts: list[bool] = []
    has_ticks = False
    for sequence in iterate(sequences):
        text: list[str | None] = []
        for event in iterate(sequence):
            if isinstance(event, list | tuple | Set):
                has_ticks = True
                tick: list[str | None] = [label_text(label) for label in event] or [None]
                text += tick
                starts += [True] + [False] * (len(tick) - 1)
            else:
                text.append(label_text(event))
                starts.append(True)
        texts.append(text)
    if labels is None:
        vocabulary = sorted({label for text in texts for label in text if label is not None})
    else:
        vocabulary = vocabulary_of(labels)
    index: dict[str | None, int] = {label: code for code, label in enumerate(vocabulary)}
    index[None] = UNKNOWN
    try:
        codes = np.fromiter((index[label] for text in texts for label in text), dtype=np.int32)
    except KeyError as missing:
        raise UnknownLabelError(missing.args[0], vocabulary) from None
    offsets = np.zeros(len(texts) + 1, dtype=np.int64)
    np.cumsum([len(text) for text in texts], out=offsets[1:])
    return codes, offsets, vocabulary, np.array(starts, bool) if has_ticks else None


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
    frozen.flags.writeable = False
    return frozen.view()  # a view of a read-only array cannot be made writeable again


def _frozen_weights(values: npt.ArrayLike, n_sequences: int) -> FloatArray:
    """Return weights of sequences as a read-only array of their own, or say why they are none."""
    given = np.asarray(values)
    if given.shape != (n_sequences,) or given.dtype.kind not in "buif":
        raise DataError(f"weights must be one number per sequence ({n_sequences}), not shape {given.shape}")
    held = np.array(given, np.float64)
    if not np.isfinite(held).all() or (held < 0).any():
        raise DataError("weights must be finite numbers from 0 on")
    held.flags.writeable = False
    return held.view()


def _complete(ends: Ends | None, n_sequences: int) -> BoolArray:
    """Which sequences are complete, as a read-only array."""
    ends = ENDS if ends is None else ends
    if isinstance(ends, str):
        if ends not in ("complete", "cut off"):
            raise DataError(f"ends must be 'complete' or 'cut off', not {ends!r}")
        found = np.full(n_sequences, ends == "complete")
    else:
        found = np.array(ends)
        if found.shape != (n_sequences,) or found.dtype != bool:
            raise DataError(
                f"ends must be 'complete', 'cut off', or one truth value for each of {n_sequences} sequences"
            )
    found.flags.writeable = False
    return found.view()


def count_codes(codes: CodeArray, n: int) -> IntArray:
    """How often each of the codes 0, 1, ..., n - 1 occurs; those of no label are left out."""
    counts = np.zeros(n, np.int64)
    for start in range(0, len(codes), 1 << 20):  # bincount copies what it counts
        part = codes[start : start + (1 << 20)]
        counts += np.bincount(part[part >= 0], minlength=n)
    return counts


def chosen_stretches(offsets: IntArray, chosen: IntArray) -> tuple[IntArray, IntArray]:
    """Where the values of some of the stretches between offsets stand, and the offsets that these then have.

    >>> places, offsets = chosen_stretches(np.array([0, 2, 5]), np.array([1, 0]))
    >>> places.tolist(), offsets.tolist()
    ([2, 3, 4, 0, 1], [0, 3, 5])
    """
    lengths = np.diff(offsets)[chosen]
    found = np.zeros(len(chosen) + 1, np.int64)
    np.cumsum(lengths, out=found[1:])
    within = np.arange(found[-1]) - np.repeat(found[:-1], lengths)
    return np.repeat(offsets[:-1][chosen], lengths) + within, found


def checked_arrays(
    codes: npt.ArrayLike,
    offsets: npt.ArrayLike,
    labels: tuple[str, ...],
    ids: Sequence[str] | None,
    attributes: Attributes | None,
    moments: Moments | None,
    weights: npt.ArrayLike | None,
    ends: Ends | None,
) -> tuple[CodeArray, IntArray, FloatArray | None, BoolArray]:
    """Codes, offsets, weights, and which sequences are complete; what are no sequences is refused."""
    codes, offsets = _frozen(codes, np.int32, "codes"), _frozen(offsets, np.int64, "offsets")
    if any(not isinstance(label, str) for label in labels):
        raise DataError("labels must be text")
    if any(a >= b for a, b in pairwise(labels)):
        raise DataError("labels must be sorted and without repeats")
    if offsets.ndim != 1 or not len(offsets) or offsets[0] != 0 or offsets[-1] != len(codes):
        raise DataError("offsets must start at 0 and end at the number of events")
    if (np.diff(offsets) < 0).any():
        raise DataError("offsets must not decrease")
    if codes.ndim != 1 or (len(codes) and (codes.min() < UNKNOWN or codes.max() >= len(labels))):
        raise DataError("codes must be one flat array of indices into labels")
    if ids is not None and len(ids) != len(offsets) - 1:
        raise DataError(f"there are {len(offsets) - 1} sequences but {len(ids)} ids")
    if moments is not None:
        moments.check(offsets)
    if attributes is not None and len(attributes) != len(offsets) - 1:
        raise DataError(f"there are {len(offsets) - 1} sequences but attributes of {len(attributes)}")
    clash = set() if attributes is None else set(attributes.names) & set(labels)
    if clash:
        raise DataError(f"{min(clash)!r} is both a label and the name of an attribute; rename the label")
    n = len(offsets) - 1
    return codes, offsets, None if weights is None else _frozen_weights(weights, n), _complete(ends, n)
