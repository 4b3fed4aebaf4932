"""Large data in pieces, so that a row of probabilities for every event need not fit into memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from summarkov.events import EventSequences

#: Probabilities to hold at a time.
_CELLS = 1 << 22


def pieces(events: EventSequences, columns: int, cells: int = _CELLS) -> Iterator[EventSequences]:
    """Cut between sequences, so that ``columns`` numbers an event stay within bounds; at least one piece.

    >>> from summarkov import read_events
    >>> [part.n_events for part in pieces(read_events([["A"] * 3] * 4), columns=2, cells=12)]
    [6, 6]
    """
    most = max(1, cells // max(1, columns))
    offsets = events.offsets
    start = 0
    if not len(events):
        yield events
    while start < len(events):
        stop = int(offsets.searchsorted(offsets[start] + most, side="right")) - 1
        stop = max(stop, start + 1)
        yield events[start:stop]
        start = stop
