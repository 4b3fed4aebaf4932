"""The window of a summary, and the stretch of rows at which an event is in it.

The key step: event j of label Z is in the window at the positions i from first(j) = j + d + 1 to
last(j) = j + k, and the last of its label there up to first(next(j)) - 1, where next(j) is Z's next
occurrence. These ranges are disjoint, so listing (event, position) pairs range by range lists, for every
position, each label present in its window exactly once, together with its last occurrence there. (Mask
"first" lists the first occurrence instead: from max(first(j), last(prev(j)) + 1) to last(j).) Where several
rows share a position, or windows are in time, first and last are other rows (``Index.firsts``,
``Index.ends``), and all else is the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from summarkov.kernels.index import ABSENT, Index, Occurrences, Span
from summarkov.typing import BoolArray, CodeArray, IntArray

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

    def n_levels(self, n_others: int) -> int:
        """How many levels a label can have beside ``n_others`` influencers, absence included."""
        if self.kind == COUNT:
            return self.cap + 1
        return 2 if self.kind == BINARY else n_others + 2


@dataclass(frozen=True)
class Stretches:
    """At which rows each occurrence is in the window of its label."""

    window: Window
    seen: Occurrences
    first: IntArray
    last: IntArray

    @classmethod
    def of(cls, index: Index, window: Window) -> Stretches:
        seen = index.occurrences
        first = first_rows(index, Span(window.delay, window.delay_in_time))
        last = np.zeros(len(seen.code), np.int64)
        spans, which = window.spans()
        for number, span in enumerate(spans):
            mine = (seen.code >= 0) & (which[seen.code] == number)
            last[mine] = last_rows(index, span)[mine]
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
        begin = np.maximum(begin, 0)  # the past is not counted
        length = np.maximum(end - begin + 1, 0)
        ends = np.cumsum(length)
        cuts = np.searchsorted(
            ends, np.arange(_PAIRS_AT_ONCE, length.sum() + 1, _PAIRS_AT_ONCE), side="right"
        )
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


def first_rows(index: Index, delay: Span) -> IntArray:
    """For each occurrence the first row at which it is in a window."""
    if index.places is None:
        return index.occurrences.position + delay.size + 1
    return index.firsts(delay).astype(np.int64)


def last_rows(index: Index, lookback: Span) -> IntArray:
    """For each occurrence the last row of its sequence at which it is in a window."""
    if index.places is None:
        return np.minimum(index.occurrences.position + lookback.size, index.occurrences.stop - 1)
    return index.ends(lookback).astype(np.int64)
