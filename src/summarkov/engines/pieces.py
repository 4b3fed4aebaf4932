"""Cutting events anywhere, inside sequences too."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from summarkov.engines.past import Past
from summarkov.events import EventSequences
from summarkov.events.block import Block
from summarkov.kernels import Index
from summarkov.typing import CodeArray


@dataclass(frozen=True)
class Piece:
    """The events from ``start`` to ``stop``, of the sequences from ``first`` to before ``last``."""

    start: int
    stop: int
    first: int
    last: int
    index: Index  # with the past of a sequence that was cut at ``start``


def pieces(events: EventSequences, cuts: Sequence[int], memory: tuple[int, int | None]) -> Iterator[Piece]:
    """Cut at ``cuts`` (0, ..., N), remembering as much of the past as ``memory`` asks."""
    past, offsets = Past(), events.offsets
    for start, stop in pairwise(cuts):
        first = max(0, int(np.searchsorted(offsets, start, side="right")) - 1)
        last = max(first, int(np.searchsorted(offsets, stop, side="left")))
        inside = np.clip(offsets[first : last + 1], start, stop) - start
        index = past.index(events.codes[start:stop], inside, len(events.labels))
        yield Piece(start, stop, first, last, index)
        begin = int(offsets[np.searchsorted(offsets, stop, side="right") - 1])
        past = past_after(past, events.codes[start:stop], begin - start, memory)


def carried(
    blocks: Iterable[Block],
    n_labels: int,
    memory: tuple[int, int | None],
    translate: CodeArray | None = None,
) -> Iterator[tuple[Block, Index]]:
    """Each of the blocks of a file, with the past of a sequence that was cut before it.

    ``translate``, if given, has the code to use for each code of the blocks.
    """
    past = Past()
    for block in blocks:
        codes = block.codes if translate is None else translate[block.codes]
        yield block, past.index(codes, block.offsets, n_labels)
        past = past_after(past, codes, block.begin, memory)


def past_after(past: Past, codes: CodeArray, begin: int, memory: tuple[int, int | None]) -> Past:
    """The past at the end of a piece whose last sequence begins at ``begin``: before it, where it was cut."""
    if begin <= 0:  # the sequence cut at the end was cut at the start too, or begins there
        return past.extend(codes, memory)
    return Past().extend(codes[begin:], memory)


def even_cuts(n_events: int, n_pieces: int) -> list[int]:
    """Where to cut ``n_events`` events into pieces of about equal size; one piece if there are none."""
    cuts = np.unique(np.linspace(0, n_events, n_pieces + 1).astype(np.int64)).tolist()
    return cuts if len(cuts) > 1 else [0, n_events]
