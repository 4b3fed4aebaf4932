"""From codes in any order to codes in a sorted vocabulary."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from summarkov.errors import UnknownLabelError
from summarkov.typing import BoolArray, CodeArray


def settle(
    codes: npt.NDArray[np.integer], found: Sequence[str], declared: Sequence[str] | None
) -> tuple[CodeArray, Sequence[str]]:
    """Recode to the declared vocabulary, or to the sorted labels that occur.

    ``codes`` are indices into ``found``, whose order is free and which may hold labels that never
    occur (the categories of a data frame); those do not enter the vocabulary.

    >>> settle(np.array([0, 2, 0]), ["b", "never", "a"], None)
    (array([1, 0, 1], dtype=int32), ['a', 'b'])
    """
    occurs = which_occur(codes, len(found)).tolist()
    occurring = sorted({label for label, here in zip(found, occurs, strict=True) if here})
    vocabulary = occurring if declared is None else declared
    index = {label: code for code, label in enumerate(vocabulary)}
    for label in occurring:
        if label not in index:
            raise UnknownLabelError(label, vocabulary)
    translate = np.array([index.get(label, -1) for label in found], dtype=np.int32)
    settled = translate[codes]
    settled.flags.writeable = False  # so that EventSequences need not copy it
    return settled, vocabulary


def which_occur(codes: npt.NDArray[np.integer], size: int) -> BoolArray:
    """Return which of the codes 0, 1, ..., size - 1 occur, looking only as far as it takes to see all."""
    occurs = np.zeros(size, dtype=bool)
    block = 1 << 16
    for start in range(0, len(codes), block):
        occurs[codes[start : start + block]] = True
        if occurs.all():
            break
    return occurs
