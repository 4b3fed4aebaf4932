"""Cutting sequences anywhere: what must be remembered of one that was cut."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np

from summarkov.events.block import Block
from summarkov.kernels import Index
from summarkov.summaries import Summary
from summarkov.typing import BoolArray, CodeArray, IntArray


@dataclass(frozen=True)
class Past:
    """Earlier events of a cut sequence that can still matter: positions before the cut, and codes.

    Position -1 is the event just before the cut. Its size is bounded by the look-back, or by the number of
    labels where the look-back has no limit.
    """

    positions: IntArray = field(default_factory=lambda: np.empty(0, np.int64))
    codes: CodeArray = field(default_factory=lambda: np.empty(0, np.int32))

    def extend(self, codes: CodeArray, memory: tuple[int, int | None]) -> Past:
        """The past once ``codes`` have passed too, as far as ``memory`` asks (:meth:`Summary.memory`).

        >>> Past().extend(np.array([0, 1, 1], np.int32), memory=(2, None)).positions
        array([-2, -1])
        """
        recent, first = memory
        positions = np.concatenate([self.positions, np.arange(len(codes))]) - len(codes)
        everything = np.concatenate([self.codes, codes.astype(np.int32)])
        keep = positions >= -recent
        if first is not None:
            keep |= _first_and_last(everything, keep, first)
        return Past(positions[keep], everything[keep])

    def index(self, codes: CodeArray, offsets: IntArray, n_labels: int) -> Index:
        """Sequences, the first of which continues this past."""
        return Index(codes, offsets, n_labels, self.positions, self.codes)


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


def joint_memory(summaries: Iterable[Summary]) -> tuple[int, int | None]:
    """The memory that serves all of several summaries."""
    return most_memory(summary.memory() for summary in summaries)


def most_memory(memories: Iterable[tuple[int, int | None]]) -> tuple[int, int | None]:
    """The memory that serves wherever one of several does."""
    recents, firsts = zip(*memories, strict=True)
    return max(recents), max((first for first in firsts if first is not None), default=None)


def carry_past(
    blocks: Iterable[Block],
    n_labels: int,
    memory: tuple[int, int | None],
    translate: CodeArray | None = None,
) -> Iterator[tuple[Block, Index]]:
    """Each of some blocks in a row, with the past of a sequence that was cut before it.

    ``translate``, if given, has the code to use for each code of the blocks.
    """
    past = Past()
    for block in blocks:
        codes = block.codes if translate is None else translate[block.codes]
        yield block, past.index(codes, block.offsets, n_labels)
        past = past_after(past, codes, block.begin, memory)


def past_after(past: Past, codes: CodeArray, begin: int, memory: tuple[int, int | None]) -> Past:
    """The past at the end of a block whose last sequence begins at ``begin``: before it, where it was cut."""
    if begin <= 0:  # the sequence cut at the end was cut at the start too, or begins there
        return past.extend(codes, memory)
    return Past().extend(codes[begin:], memory)
