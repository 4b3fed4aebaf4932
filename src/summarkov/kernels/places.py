"""Where rows stand, in data in which not every row is a position of its own.

The labels of one position, a *tick*, occurred together; rows may have times; and attributes of a sequence
have no position at all. What the kernels need to know of that is, for each row, at which rows it is in a
window, and how many positions there are in a stretch of rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from summarkov.typing import BoolArray, CodeArray, IntArray

#: A look-back over the whole past.
UNLIMITED = 2**62


@dataclass(frozen=True)
class Places:
    """Where the rows of a shard stand.

    ``starts`` tells of every row whether it begins a tick; one that does not stands together with the row
    before it. ``attributes`` tells of every code (the last entry is for no known label) whether it is that of
    an attribute: such rows come first in their sequence, have no position and are in every window. ``times``
    has the time of every row, which never decreases within a sequence, ``past_times`` those of the past. A
    step of 1 in them is worth ``unit`` of those in which spans are given.
    """

    starts: BoolArray
    attributes: BoolArray
    times: IntArray | None = None
    past_times: IntArray | None = None
    unit: int = 1


class Span(NamedTuple):
    """How far: a number of positions, or a time in the units of ``times``."""

    size: int
    in_time: bool = False


class Ticks:
    """The ticks of a shard, numbered through all its sequences."""

    def __init__(self, places: Places, codes: CodeArray, offsets: IntArray) -> None:
        self.attribute = places.attributes[codes]
        counted = places.starts & ~self.attribute
        self.offsets = offsets
        #: How many ticks begin before each row, and in all.
        self.before = np.append(0, np.cumsum(counted))
        #: The row where each tick begins.
        self.rows = np.flatnonzero(counted)
        #: The first tick of each sequence, and the number of all.
        self.bounds = self.before[offsets]
        #: The tick of each row; of an attribute the first of its sequence.
        self.of = self.before[1:] - 1 + self.attribute
        self.sequence = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
        self.times = None if places.times is None else places.times[self.rows]
        self.unit = places.unit

    def first_rows(self, tick: IntArray, sequence: IntArray) -> IntArray:
        """The row where a tick begins; where it is beyond the end of its sequence, that end."""
        inside = tick < self.bounds[sequence + 1]
        found = self.offsets[sequence + 1]
        found[inside] = self.rows[tick[inside]]
        return found

    def beyond(self, tick: IntArray, time: IntArray | None, sequence: IntArray, span: Span) -> IntArray:
        """The first tick that is further than a span after others of the same sequence, with these times."""
        low, high = self.bounds[sequence], self.bounds[sequence + 1]
        if not span.in_time or span.size == UNLIMITED:
            return np.clip(tick + np.minimum(span.size, high - tick) + 1, low, high)
        assert self.times is not None
        assert time is not None
        low, high, most = low.copy(), high.copy(), span.size // self.unit
        while (searching := low < high).any():  # all binary searches at once
            middle = np.where(searching, (low + high) // 2, 0)
            near = searching & (self.times[middle] - time <= most)
            low = np.where(near, middle + 1, low)
            high = np.where(searching & ~near, middle, high)
        return low


def in_units(sizes: IntArray, unit: int) -> IntArray:
    """Spans of time in the unit of times."""
    return np.where(sizes == UNLIMITED, UNLIMITED, sizes // unit)
