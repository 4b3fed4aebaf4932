"""Rows as the kernels see them, and at which of them an event is in a window.

Not every row is a position of its own: labels of one position, a *tick*, occurred together, and attributes
have none; rows may have times. So kernels ask at which rows a row is in a window, and how many positions some
rows have.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, TypeVar

import numpy as np

from summarkov.typing import BoolArray, CodeArray, IntArray

Made = TypeVar("Made")

#: A look-back over the whole past.
UNLIMITED = 2**62
#: Tables with more cells than this are refused with a MemoryError before they are made.
MOST_CELLS = 2**28
#: A position so far back that no look-back, unlimited included, reaches it.
ABSENT = -(2**62 + 2**61)


class Span(NamedTuple):
    """How far: a number of positions, or a time in the units of ``times``."""

    size: int
    in_time: bool = False


@dataclass(frozen=True, eq=False)
class Index:
    """Whole sequences: ``codes`` are flat (-1 for an event of no known label), ``offsets`` cut them apart.

    ``starts`` tells of every row whether it begins a tick (None: each does); one that does not stands with
    the row before it. ``attributes`` tells of every code (the last entry is for no known label) whether it is
    that of an attribute (None: none is): such rows come first in their sequence, have no position and are in
    every window. ``times`` has the time of every row, which never decreases within a sequence. A step of 1 in
    them is worth ``unit`` of those in which spans are given. ``asked`` has the time from which each row looks
    back, where that is not its own. Ticks are numbered through all sequences.
    """

    codes: CodeArray
    offsets: IntArray
    n_labels: int
    starts: BoolArray | None = None
    attributes: BoolArray | None = None
    times: IntArray | None = None
    unit: int = 1
    asked: IntArray | None = None

    @cached_property
    def kept(self) -> dict[Hashable, Any]:
        """Whatever else is to be kept for the next call on the same rows."""
        return {}

    def keep(self, name: Hashable, make: Callable[[], Made]) -> Made:
        """What is kept under a name; made if there is none."""
        found: Made = self.kept[name] if name in self.kept else self.kept.setdefault(name, make())
        return found

    @cached_property
    def sequence(self) -> IntArray:
        """The sequence of each row."""
        return np.repeat(np.arange(len(self.offsets) - 1), np.diff(self.offsets))

    @cached_property
    def attribute(self) -> BoolArray:
        """Which rows are attributes."""
        if self.attributes is None:
            return np.zeros(len(self.codes), bool)
        return np.asarray(self.attributes[self.codes])

    @cached_property
    def heads(self) -> BoolArray:
        """Which rows stand for a position: the first of each."""
        return ~self.attribute if self.starts is None else self.starts & ~self.attribute

    @property
    def begins(self) -> BoolArray | slice:
        """The same, to choose rows by."""
        return slice(None) if self.starts is None and self.attributes is None else self.heads

    @cached_property
    def before(self) -> IntArray:
        """How many ticks begin before each row, and in all."""
        return np.append(0, np.cumsum(self.heads))

    @property
    def bounds(self) -> IntArray:
        """The first tick of each sequence, and the number of all."""
        return np.asarray(self.before[self.offsets])

    @cached_property
    def tick(self) -> IntArray:
        """The tick of each row; of an attribute the first of its sequence."""
        return np.asarray(self.before[1:] - 1 + self.attribute)

    @cached_property
    def rows(self) -> IntArray:
        """The row where each tick begins."""
        return np.flatnonzero(self.heads)

    @cached_property
    def tick_times(self) -> IntArray | None:
        """The time from which each tick looks back."""
        times = self.times if self.asked is None else self.asked
        return None if times is None else times[self.rows]

    @cached_property
    def previous(self) -> IntArray:
        """For each row the row before it of the same label and sequence, or -1."""
        found = np.full(len(self.codes), -1)
        order = np.argsort(self.codes, kind="stable")
        a, b = order[:-1], order[1:]
        same = (self.codes[a] == self.codes[b]) & (self.sequence[a] == self.sequence[b])
        found[b[same]] = a[same]
        return found

    @cached_property
    def following(self) -> IntArray:
        """For each row the next row of the same label and sequence, or -1."""
        found, there = np.full(len(self.codes), -1), self.previous >= 0
        found[self.previous[there]] = np.flatnonzero(there)
        return found

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
            return np.asarray(np.clip(tick + np.minimum(span.size, high - tick) + 1, low, high))
        assert self.tick_times is not None
        assert time is not None
        return first_later(self.tick_times, low, high, time + span.size // self.unit)

    def ends(self, span: Span) -> IntArray:
        """For each row the last row that is at most a span after it."""

        def make() -> IntArray:
            tick = self.beyond(self.tick, self.times, self.sequence, span)
            found = self.first_rows(tick, self.sequence)
            return np.where(self.attribute, self.offsets[self.sequence + 1], found) - 1

        return self.keep(("ends", span), make)

    def firsts(self, delay: Span) -> IntArray:
        """For each row the first row that is more than a delay after it."""
        return np.where(self.attribute, self.first_rows(self.tick, self.sequence), self.ends(delay) + 1)

    def block_starts(self, block: Span | None) -> IntArray:
        """The rows at which blocks begin that do not begin a sequence.

        Blocks have the length that is asked for, or that time; the last of a sequence is longer by the rest.
        """
        if block is None or block.size >= UNLIMITED:
            return np.empty(0, np.int64)
        bounds, rows = self.bounds, self.rows
        if not block.in_time:
            sizes = np.maximum(np.diff(bounds) // block.size, 1) - 1  # of further blocks
            number = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
            found: IntArray = rows[np.repeat(bounds[:-1], sizes) + (number + 1) * block.size]
            return found
        times, size = self.tick_times, max(1, block.size // self.unit)
        assert times is not None
        filled = np.diff(bounds) > 0
        first, last = bounds[:-1][filled], bounds[1:][filled] - 1
        most = np.maximum((times[last] - times[first]) // size, 1) - 1
        which = np.repeat(np.arange(len(first)), last - first + 1)
        number = np.minimum((times - times[first][which]) // size, most[which])
        begins: IntArray = rows[(np.diff(number, prepend=0) > 0) & (np.diff(which, prepend=0) == 0)]
        return begins


def first_later(times: IntArray, low: IntArray, high: IntArray, limit: IntArray) -> IntArray:
    """The first place from ``low`` on, or ``high``, whose time is later than a limit; all at once."""
    low, high = low.copy(), high.copy()
    while (searching := low < high).any():
        middle = np.where(searching, (low + high) // 2, 0)
        near = searching & (times[middle] <= limit)
        low = np.where(near, middle + 1, low)
        high = np.where(searching & ~near, middle, high)
    return low


BINARY, ORDINAL_LAST, ORDINAL_FIRST, COUNT = range(4)
_PAIRS_AT_ONCE = 1 << 20


class Window(NamedTuple):
    """How a summary looks back: its kind, one look-back per label, the delay, the largest count told apart.

    ``in_time`` says which look-backs are times (None: none is), ``delay_in_time`` whether the delay is one.
    """

    kind: int
    lookback: IntArray
    delay: int
    cap: int
    in_time: BoolArray | None = None
    delay_in_time: bool = False

    @property
    def name(self) -> tuple[object, ...]:
        """Something that is equal for equal windows."""
        in_time = None if self.in_time is None else self.in_time.tobytes()
        return self.kind, self.lookback.tobytes(), self.delay, self.cap, in_time, self.delay_in_time

    @property
    def is_ordinal(self) -> bool:
        """Whether levels are places in the order of occurrences."""
        return self.kind in (ORDINAL_LAST, ORDINAL_FIRST)

    def n_levels(self, n_others: int) -> int:
        """How many levels a label can have beside ``n_others`` influencers, absence included."""
        if self.kind == COUNT:
            return self.cap + 1
        return 2 if self.kind == BINARY else n_others + 2


@dataclass(frozen=True)
class Stretches:
    """At which rows each occurrence is in the window of its label.

    The key step: event j of label Z is in the window at the positions i from first(j) = j + d + 1 to
    last(j) = j + k, and the last of its label there up to first(next(j)) - 1, where next(j) is Z's next
    occurrence. These ranges are disjoint, so listing (event, position) pairs range by range lists, for every
    position, each label present in its window exactly once, together with its last occurrence there. (Mask
    "first" lists the first occurrence instead: from max(first(j), last(prev(j)) + 1) to last(j).) Where
    several rows share a position, or windows are in time, first and last are other rows (``Index.firsts``,
    ``Index.ends``), and all else is the same.
    """

    index: Index
    window: Window
    first: IntArray
    last: IntArray

    @classmethod
    def of(cls, index: Index, window: Window) -> Stretches:
        last = np.zeros(len(index.codes), np.int64)
        in_time = np.zeros(len(window.lookback), bool) if window.in_time is None else window.in_time
        for span in set(map(Span, window.lookback.tolist(), in_time.tolist())):
            of = np.append((window.lookback == span.size) & (in_time == span.in_time), False)[index.codes]
            last[of] = index.ends(span)[of]
        return cls(index, window, index.firsts(Span(window.delay, window.delay_in_time)), last)

    def pairs(self, which: IntArray) -> Iterator[tuple[IntArray, IntArray]]:
        """Yield pairs of an event of ``which`` and a row at which it speaks for its label, in parts."""
        begin, end = self.first[which], self.last[which]
        if self.window.kind == ORDINAL_FIRST:
            previous = self.index.previous[which]
            begin = np.where(previous < 0, begin, np.maximum(begin, self.last[previous] + 1))
        else:
            following = self.index.following[which]
            end = np.where(following < 0, end, np.minimum(end, self.first[following] - 1))
        length = np.maximum(end - begin + 1, 0)
        sums = np.arange(_PAIRS_AT_ONCE, length.sum() + 1, _PAIRS_AT_ONCE)
        cuts = np.searchsorted(np.cumsum(length), sums, side="right")
        for part in np.split(np.arange(len(which)), cuts):
            sizes = length[part]
            within = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
            yield np.repeat(which[part], sizes), np.repeat(begin[part], sizes) + within

    def levels(self, event: IntArray, row: IntArray, stands: IntArray) -> IntArray:
        """Level of each pair's label at its row; influencer u stands at ``stands[u, row]``.

        Binary: 1. Count: occurrences in the window, at most the cap. Ordinal: one more than the number of
        influencers that stand before the label.
        """
        level = np.ones(len(event), np.int64)
        if self.window.kind == COUNT:
            earlier = self.index.previous[event]
            for _ in range(self.window.cap - 1):
                inside = (earlier >= 0) & (self.last[earlier] >= row)
                if not inside.any():
                    break
                level += inside
                earlier = np.where(inside, self.index.previous[earlier], -1)
        elif self.window.kind != BINARY:
            for where in stands:
                level += (where[row] != ABSENT) & (where[row] < event)
        return level
