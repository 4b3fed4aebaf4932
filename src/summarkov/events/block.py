"""Some of the events of a data set: blocks, as they are read one after the other."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from summarkov.events.sequences import EventSequences
from summarkov.typing import CodeArray, IntArray

if TYPE_CHECKING:
    import pyarrow as pa

#: Numbers to hold at a time, such as a probability of every label for every event.
_CELLS = 1 << 22


@dataclass(frozen=True)
class Block:
    """Some events in a row.

    ``offsets`` cut them into sequences; the first may be the continuation of one that began in an earlier
    block, the last may go on in the next. ``begin`` is where the last begins, 0 if it began earlier.
    ``names`` has one a sequence, continuations included, if names were kept.
    """

    codes: CodeArray
    offsets: IntArray
    begin: int
    names: pa.Array | None = None

    @classmethod
    def of(cls, codes: CodeArray, ends: IntArray) -> Block:
        """A block from the places in it where sequences end."""
        begin = int(ends[-1]) if len(ends) else 0
        last = [len(codes)] if begin < len(codes) else []
        return cls(codes, np.concatenate([[0], ends, last]).astype(np.int64), begin)

    @property
    def goes_on(self) -> bool:
        """Whether the last sequence goes on in the next block."""
        return self.begin < len(self.codes)


def cut_between_sequences(
    events: EventSequences, columns: int, cells: int = _CELLS
) -> Iterator[EventSequences]:
    """Cut between sequences, so that ``columns`` numbers an event stay within bounds; at least one part.

    >>> from summarkov import read_events
    >>> [part.n_events for part in cut_between_sequences(read_events([["A"] * 3] * 4), columns=2, cells=12)]
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
