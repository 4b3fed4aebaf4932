"""Cutting events anywhere, inside sequences too."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from summarkov.engines.past import Past
from summarkov.events import EventSequences
from summarkov.kernels import Index


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
        begin = offsets[np.searchsorted(offsets, stop, side="right") - 1]
        if begin <= start:  # the sequence cut at `stop` was cut at `start` too, or begins there
            past = past.extend(events.codes[start:stop], memory)
        else:
            past = Past().extend(events.codes[begin:stop], memory)


def even_cuts(n_events: int, n_pieces: int) -> list[int]:
    """Where to cut ``n_events`` events into pieces of about equal size; one piece if there are none."""
    cuts = np.unique(np.linspace(0, n_events, n_pieces + 1).astype(np.int64)).tolist()
    return cuts if len(cuts) > 1 else [0, n_events]
