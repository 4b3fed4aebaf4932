"""Cutting sequences anywhere: what must be remembered of one that was cut."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np

from summarkov.events.block import Block
from summarkov.events.moments import Moments
from summarkov.events.rows import places_of
from summarkov.kernels import Index
from summarkov.summaries import Memory, Summary
from summarkov.typing import BoolArray, CodeArray, IntArray


@dataclass(frozen=True)
class Past:
    """Earlier rows of a cut sequence that can still matter: positions before the cut, and codes.

    Position -1 is the one just before the cut. Its size is bounded by the look-back, or by the number of
    labels where the look-back has no limit. Times are those of the rows, where they have some.
    """

    positions: IntArray = field(default_factory=lambda: np.empty(0, np.int64))
    codes: CodeArray = field(default_factory=lambda: np.empty(0, np.int32))
    times: IntArray = field(default_factory=lambda: np.empty(0, np.int64))

    def extend(
        self,
        codes: CodeArray,
        memory: Memory,
        moments: Moments | None = None,
        attributes: BoolArray | None = None,
    ) -> Past:
        """The past once more rows have passed too, as far as ``memory`` asks.

        ``attributes`` tells of every code whether it is that of an attribute: these are kept.

        >>> Past().extend(np.array([0, 1, 1], np.int32), Memory(2, None)).positions
        array([-2, -1])
        """
        everything = np.concatenate([self.codes, codes.astype(np.int32)])
        if moments is None:
            positions = np.concatenate([self.positions, np.arange(len(codes))]) - len(codes)
        else:
            ticks = np.cumsum(moments.starts)
            n = int(ticks[-1]) if len(ticks) else 0
            positions = np.concatenate([self.positions, ticks - 1]) - n
        keep = positions >= -memory.recent
        times = self.times
        if moments is not None and moments.times is not None:
            times = np.concatenate([self.times, moments.times])
            if memory.time and len(times):
                keep |= times[-1] - times <= memory.time // moments.unit.size
        if memory.first is not None:
            keep |= _first_and_last(everything, keep, memory.first)
        if attributes is not None:
            keep |= attributes[everything]
        return Past(positions[keep], everything[keep], times[keep] if len(times) else times)

    def index(
        self,
        codes: CodeArray,
        offsets: IntArray,
        n_labels: int,
        moments: Moments | None = None,
        attributes: BoolArray | None = None,
    ) -> Index:
        """Sequences, the first of which continues this past."""
        places = None
        if moments is not None:
            if attributes is None:
                attributes = np.zeros(n_labels + 1, bool)
            places = places_of(moments, attributes, None if moments.times is None else self.times)
        return Index(codes, offsets, n_labels, self.positions, self.codes, places)


def _first_and_last(codes: CodeArray, recent: BoolArray, first: int) -> BoolArray:
    """Each label's first ``first`` occurrences, and its last one that is not recent."""
    order = np.argsort(codes, kind="stable")
    by_label = codes[order]
    starts = np.searchsorted(by_label, by_label)  # where each event's label begins
    keep = np.zeros(len(codes), bool)
    keep[order] = np.arange(len(codes)) - starts < first
    old = order[~recent[order]]
    is_last = np.append(codes[old[1:]] != codes[old[:-1]], True)[: len(old)]
    keep[old[is_last]] = True
    return keep & (codes >= 0)


def joint_memory(summaries: Iterable[Summary]) -> Memory:
    """The memory that serves all of several summaries."""
    return Memory.joint(summary.memory() for summary in summaries)


def carry_past(
    blocks: Iterable[Block],
    n_labels: int,
    memory: Memory,
    attributes: BoolArray | None = None,
    translate: CodeArray | None = None,
) -> Iterator[tuple[Block, Index]]:
    """Each of some blocks in a row, with the past of a sequence that was cut before it.

    ``translate``, if given, has the code to use for each code of the blocks.
    """
    past = Past()
    for block in blocks:
        codes = block.codes if translate is None else translate[block.codes]
        yield block, past.index(codes, block.offsets, n_labels, block.moments, attributes)
        past = past_after(past, codes, block.begin, memory, block.moments, attributes)


def past_after(
    past: Past,
    codes: CodeArray,
    begin: int,
    memory: Memory,
    moments: Moments | None = None,
    attributes: BoolArray | None = None,
) -> Past:
    """The past at the end of a block whose last sequence begins at ``begin``: before it, where it was cut."""
    if begin <= 0:  # the sequence cut at the end was cut at the start too, or begins there
        return past.extend(codes, memory, moments, attributes)
    return Past().extend(codes[begin:], memory, None if moments is None else moments[begin:], attributes)
