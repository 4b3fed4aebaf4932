"""One shard as the kernels see it, where its rows stand, and at which of them an event is in a window.

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


@dataclass(frozen=True)
class Places:
    """Where the rows of a shard stand.

    ``starts`` tells of every row whether it begins a tick; one that does not stands together with the row
    before it. ``attributes`` tells of every code (the last entry is for no known label) whether it is that of
    an attribute: such rows come first in their sequence, have no position and are in every window. ``times``
    has the time of every row, which never decreases within a sequence. A step of 1 in them is worth ``unit``
    of those in which spans are given. ``asked`` has the time from which each row looks back, where that is
    not its own.
    """

    starts: BoolArray
    attributes: BoolArray
    times: IntArray | None = None
    unit: int = 1
    asked: IntArray | None = None


class Span(NamedTuple):
    """How far: a number of positions, or a time in the units of ``times``."""

    size: int
    in_time: bool = False


class Ticks:
    """The ticks of a shard, numbered through all its sequences."""

    def __init__(self, places: Places, codes: CodeArray, offsets: IntArray) -> None:
        self.attribute = places.attributes[codes]
        #: Whether a row stands for a position: the first of each.
        self.begins = places.starts & ~self.attribute
        self.offsets = offsets
        #: How many ticks begin before each row, and in all.
        self.before = np.zeros(len(codes) + 1, np.int64)
        np.cumsum(self.begins, out=self.before[1:])
        #: The first tick of each sequence, and the number of all.
        self.bounds = self.before[offsets]
        self._times = places.times if places.asked is None else places.asked
        self.unit = places.unit

    @cached_property
    def of(self) -> IntArray:
        """The tick of each row; of an attribute the first of its sequence."""
        return np.asarray(self.before[1:] - 1 + self.attribute)

    @cached_property
    def rows(self) -> IntArray:
        """The row where each tick begins."""
        return np.flatnonzero(self.begins)

    @cached_property
    def sequence(self) -> IntArray:
        """The sequence of each row."""
        return np.repeat(np.arange(len(self.offsets) - 1), np.diff(self.offsets))

    @cached_property
    def times(self) -> IntArray | None:
        """The time from which each tick looks back."""
        return None if self._times is None else self._times[self.rows]

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
        assert self.times is not None
        assert time is not None
        low, high, most = low.copy(), high.copy(), span.size // self.unit
        while (searching := low < high).any():  # all binary searches at once
            middle = np.where(searching, (low + high) // 2, 0)
            near = searching & (self.times[middle] - time <= most)
            low = np.where(near, middle + 1, low)
            high = np.where(searching & ~near, middle, high)
        return low


@dataclass(frozen=True)
class Index:
    """Whole sequences: ``codes`` are flat (-1 for an event of no known label), ``offsets`` cut them apart.

    Every row is a position of its own, unless there are ``places``.
    """

    codes: CodeArray
    offsets: IntArray
    n_labels: int
    places: Places | None = None

    @cached_property
    def kept(self) -> dict[Hashable, Any]:
        """Whatever else a kernel wants to keep for the next call on the same shard."""
        return {}

    def keep(self, name: Hashable, make: Callable[[], Made]) -> Made:
        """What is kept under a name; made if there is none."""
        found: Made = self.kept[name] if name in self.kept else self.kept.setdefault(name, make())
        return found

    @cached_property
    def occurrences(self) -> Occurrences:
        """Every event that can be looked back at, each with its neighbours of the same label."""
        return Occurrences.of(self)

    @cached_property
    def ticks(self) -> Ticks:
        """The ticks, where there are places."""
        assert self.places is not None
        return Ticks(self.places, self.codes, self.offsets)

    @cached_property
    def in_rows(self) -> bool:
        """Whether every row is a position of its own: places matter to times only."""
        return self.places is None or bool(self.ticks.begins.all())

    @property
    def begins(self) -> BoolArray | slice:
        """The rows that stand for a position: the first of each."""
        return slice(None) if self.places is None else self.ticks.begins

    def ends(self, span: Span) -> CodeArray:
        """For each row the last row that is at most a span after it."""
        return self.keep(("ends", span), lambda: (self._beyond(span) - 1).astype(np.int32))

    def firsts(self, delay: Span) -> CodeArray:
        """For each row the first row that is more than a delay after it."""

        def make() -> CodeArray:
            found, ticks = self._beyond(delay), self.ticks
            found[ticks.attribute] = ticks.first_rows(ticks.of, ticks.sequence)[ticks.attribute]
            return found.astype(np.int32)

        return self.keep(("firsts", delay), make)

    def first_rows(self, delay: Span) -> IntArray:
        """For each occurrence the first row at which it is in a window."""
        if self.places is None:
            return self.occurrences.position + delay.size + 1
        return self.firsts(delay).astype(np.int64)

    def last_rows(self, lookback: Span) -> IntArray:
        """For each occurrence the last row of its sequence at which it is in a window."""
        if self.places is None:
            return np.minimum(self.occurrences.position + lookback.size, self.occurrences.stop - 1)
        return self.ends(lookback).astype(np.int64)

    def _beyond(self, span: Span) -> IntArray:
        """For each row, the row of the first tick that is further than a span after it."""
        assert self.places is not None
        ticks = self.ticks
        tick = ticks.beyond(ticks.of, self.places.times, ticks.sequence, span)
        found = ticks.first_rows(tick, ticks.sequence)
        found[ticks.attribute] = self.offsets[ticks.sequence + 1][ticks.attribute]
        return found


@dataclass(frozen=True)
class Occurrences:
    """The events of a shard, in order of position."""

    position: IntArray  # the row
    code: CodeArray
    previous: IntArray  # which is the label's previous occurrence in the sequence, or -1
    following: IntArray  # which is its next one, or -1
    stop: IntArray  # one past the last row of the event's sequence

    @classmethod
    def of(cls, index: Index) -> Occurrences:
        position, code, lengths = np.arange(len(index.codes)), index.codes, np.diff(index.offsets)
        sequence = np.repeat(np.arange(len(lengths)), lengths)
        previous, following = np.full(len(code), -1), np.full(len(code), -1)
        order = np.argsort(code, kind="stable")
        before, after = order[:-1], order[1:]
        same = (code[before] == code[after]) & (sequence[before] == sequence[after])
        previous[after[same]] = before[same]
        following[before[same]] = after[same]
        return cls(position, code, previous, following, index.offsets[1:][sequence])


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

    def spans(self) -> tuple[list[Span], CodeArray]:
        """The different look-backs, and which of them each label has."""
        in_time = np.zeros(len(self.lookback), bool) if self.in_time is None else self.in_time
        found, of = np.unique(np.stack([self.lookback, in_time]), axis=1, return_inverse=True)
        return [Span(int(size), bool(timed)) for size, timed in found.T], of.reshape(-1).astype(np.int32)

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

    window: Window
    seen: Occurrences
    first: IntArray
    last: IntArray

    @classmethod
    def of(cls, index: Index, window: Window) -> Stretches:
        seen = index.occurrences
        first = index.first_rows(Span(window.delay, window.delay_in_time))
        last = np.zeros(len(seen.code), np.int64)
        spans, which = window.spans()
        for number, span in enumerate(spans):
            mine = (seen.code >= 0) & (which[seen.code] == number)
            last[mine] = index.last_rows(span)[mine]
        return cls(window, seen, first, last)

    def pairs(self, which: IntArray) -> Iterator[tuple[IntArray, IntArray]]:
        """Yield pairs of an event of ``which`` and a row at which it speaks for its label, in parts."""
        begin, end = self.first[which], self.last[which]
        if self.window.kind == ORDINAL_FIRST:
            previous = self.seen.previous[which]
            begin = np.where(previous < 0, begin, np.maximum(begin, self.last[previous] + 1))
        else:
            following = self.seen.following[which]
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
            earlier = self.seen.previous[event]
            for _ in range(self.window.cap - 1):
                inside = (earlier >= 0) & (self.last[earlier] >= row)
                if not inside.any():
                    break
                level += inside
                earlier = np.where(inside, self.seen.previous[earlier], -1)
        elif self.window.kind != BINARY:
            for where in stands:
                level += (where[row] != ABSENT) & (where[row] < self.seen.position[event])
        return level
