"""Weights of sequences as users give them."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from summarkov.errors import SettingError
from summarkov.typing import IntArray

#: Weights that are not whole become multiples of 2^-20.
FIXED_POINT = 1 << 20
#: The most that all events may weigh together, in units of 1 / scale: a count holds no more.
MOST = 1 << 62


def fixed_point(weights: Any, n_sequences: int) -> tuple[IntArray | None, int]:
    """Integer weights and their scale: whole weights as they are, others in units of 2^-20.

    >>> fixed_point([1, 2], 2), fixed_point([0.5, 1.0], 2)
    ((array([1, 2]), 1), (array([ 524288, 1048576]), 1048576))
    """
    if weights is None:
        return None, 1
    given = np.asarray(weights)
    if given.shape != (n_sequences,):
        raise SettingError(
            f"sample_weight must have one number per sequence ({n_sequences}), not shape {given.shape}"
        )
    if given.dtype.kind not in "buif" or not np.isfinite(given.astype(float)).all() or (given < 0).any():
        raise SettingError("sample_weight must be finite numbers from 0 on")
    scale = 1 if not n_fractions(given) else FIXED_POINT
    return in_units(given, scale), scale


def n_fractions(given: npt.NDArray[Any]) -> int:
    """How many weights are not whole."""
    return int(np.count_nonzero(given != np.rint(given.astype(float))))


def in_units(given: npt.NDArray[Any], scale: int) -> IntArray:
    """Weights in units of ``1 / scale``; refused where these are too coarse, or weights too large."""
    if given.size and float(given.max()) * scale > 2**42:
        raise SettingError(f"sample_weight {float(given.max()):g} is too large; scale the weights down")
    units: IntArray = np.rint(given.astype(float) * scale).astype(np.int64)
    lost = given[(units == 0) & (given > 0)]
    if len(lost):
        raise SettingError(
            f"sample_weight {float(lost[0]):g} is too small: weights are rounded to multiples of 2^-20, and "
            "this would be 0; scale the weights up, or leave out such sequences by a weight of 0"
        )
    return units


def refuse_overflow(total: float, scale: int) -> None:
    """Refuse weights whose sum over all events, in units of ``1 / scale``, is more than a count can hold."""
    if total > MOST:
        raise SettingError(
            f"the events weigh {total / scale:g} together, more than can be counted exactly; scale the "
            "weights down"
        )
