"""The arrays that sequences of events are made of."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from summarkov.errors import DataError
from summarkov.events.attributes import Attributes
from summarkov.events.moments import Moments
from summarkov.typing import CodeArray, FloatArray, IntArray

#: The code of an event whose label is not in the vocabulary (``recode(..., unknown="ignore")``).
UNKNOWN = -1


def frozen(values: npt.ArrayLike, dtype: type[np.integer[Any]], name: str) -> npt.NDArray[Any]:
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


def frozen_weights(values: npt.ArrayLike, n_sequences: int) -> FloatArray:
    """Return weights of sequences as a read-only array of their own, or say why they are none."""
    given = np.asarray(values)
    if given.shape != (n_sequences,) or given.dtype.kind not in "buif":
        raise DataError(f"weights must be one number per sequence ({n_sequences}), not shape {given.shape}")
    held = np.array(given, np.float64)
    if not np.isfinite(held).all() or (held < 0).any():
        raise DataError("weights must be finite numbers from 0 on")
    held.flags.writeable = False
    return held.view()


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


def check_arrays(
    codes: CodeArray,
    offsets: IntArray,
    labels: tuple[str, ...],
    ids: Sequence[str] | None,
    attributes: Attributes | None,
    moments: Moments | None = None,
) -> None:
    """Refuse arrays that are no sequences of events."""
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
