"""Records that hold numbers which may not be known."""

from __future__ import annotations

import math


class Comparable:
    """A dataclass of which two are equal where the same numbers are not known in both.

    NaN is equal to nothing, itself included, but tuples take one and the same object for equal. So every NaN
    of a record is made the same object.
    """

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if isinstance(value, float) and math.isnan(value):
                object.__setattr__(self, name, math.nan)
