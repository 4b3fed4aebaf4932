"""Sums of floats that do not depend on the order of what is summed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from summarkov.typing import FloatArray

#: Every float is a whole multiple of 2^-1074, and so is every mantissa of 53 bits of 2^-1126.
_UNIT = 1126
_HALF = 27


@dataclass(frozen=True)
class ExactSum:
    """A sum without any rounding, until it is made a float: nothing depends on how the data were cut.

    ``exact`` counts multiples of 2^-1126; infinities and the like are summed apart.

    >>> float(ExactSum.of(np.array([1e16, 1.0])) + ExactSum.of(np.array([-1e16])))
    1.0
    """

    exact: int = 0
    special: float = 0.0

    @classmethod
    def of(cls, values: FloatArray) -> ExactSum:
        """Sum some floats."""
        finite = np.isfinite(values)
        mantissa, exponent = np.frexp(values[finite])
        whole = (mantissa * 2.0**53).astype(np.int64)
        exact, high, low = 0, whole >> _HALF, whole & ((1 << _HALF) - 1)
        shift = exponent.astype(np.int64) + (_UNIT - 53)
        for start in range(0, len(whole), 1 << 24):  # this number of halves adds up exactly even as floats
            some = slice(start, start + (1 << 24))
            highs, lows = (np.bincount(shift[some], weights=half[some]) for half in (high, low))
            for at in np.flatnonzero((highs != 0) | (lows != 0)).tolist():
                exact += ((int(highs[at]) << _HALF) + int(lows[at])) << at
        return cls(exact, float(values[~finite].sum()))

    def __add__(self, other: ExactSum) -> ExactSum:
        return ExactSum(self.exact + other.exact, self.special + other.special)

    def __float__(self) -> float:
        """The nearest float."""
        return self.special if self.special != 0 else self.exact / (1 << _UNIT)
