"""Some of the events of a data set: blocks, as they are read one after the other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from summarkov.arrow import pa
from summarkov.events.moments import Moments, join_moments
from summarkov.events.sequences import EventSequences
from summarkov.typing import BoolArray, CodeArray, HashArray, IntArray

if TYPE_CHECKING:
    from summarkov.events.rows import Rows

#: Numbers to hold at a time, such as a probability of every label for every event.
_CELLS = 1 << 22


@dataclass(frozen=True)
class Block:
    """Some events in a row.

    ``offsets`` cut them into sequences; the first may be the continuation of one that began in an earlier
    block, the last may go on in the next. ``begin`` is where the last begins, 0 if it began earlier.
    ``names``, ``weights`` and ``keys``, the numbers that stand for names, have one value per sequence,
    continuations included, if there are any. ``moments`` tells which rows stand together and when; a block
    never cuts a tick. Rows may also be attributes of their sequence, which stand before its events: codes
    tell which.
    """

    codes: CodeArray
    offsets: IntArray
    begin: int
    names: pa.Array | None = None
    weights: IntArray | None = None
    keys: HashArray | None = None
    moments: Moments | None = None

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

    def with_events(
        self,
        codes: CodeArray,
        ends: IntArray,
        kept: BoolArray | None = None,
        moments: Moments | None = None,
    ) -> Block:
        """Other events of the same sequences, or of all but the last; or of those that are ``kept``."""
        block = Block.of(codes, ends)
        n = len(block.offsets) - 1
        names = self.names if self.names is None or kept is None else self.names.filter(kept)
        weights = self.weights if self.weights is None or kept is None else self.weights[kept]
        keys = self.keys if self.keys is None or kept is None else self.keys[kept]
        return Block(
            block.codes,
            block.offsets,
            block.begin,
            None if names is None else names[:n],
            None if weights is None else weights[:n],
            None if keys is None else keys[:n],
            moments,
        )


def with_keys(
    blocks: Iterable[Block], keys: HashArray | None, weights: IntArray | None = None
) -> Iterator[Block]:
    """All blocks of some sequences with the keys of these, and other weights; as they are without any."""
    done = 0  # sequences that ended in the blocks before
    for block in blocks:
        n = len(block.offsets) - 1
        mine = slice(done, done + n)
        yield replace(
            block,
            keys=block.keys if keys is None else np.asarray(keys[mine]),
            weights=block.weights if weights is None else weights[mine],
        )
        done += n - block.goes_on


def uncut(blocks: Iterable[Block]) -> Iterator[Block]:
    """Blocks of whole sequences: one that goes on is held until it ends."""
    held: Block | None = None
    for each in blocks:
        block = each if held is None else _joined(held, each)
        if not block.goes_on:
            held = None
            yield block
            continue
        ended = np.arange(len(block.offsets) - 1) < len(block.offsets) - 2
        moments = block.moments
        held = block.with_events(
            block.codes[block.begin :],
            np.empty(0, np.int64),
            ~ended,
            None if moments is None else moments[block.begin :],
        )
        if ended.any():
            before = None if moments is None else moments[: block.begin]
            yield block.with_events(block.codes[: block.begin], block.offsets[1:-1], ended, before)


def _joined(held: Block, block: Block) -> Block:
    """A sequence that went on, and the block that goes on with it."""
    n = len(held.codes)
    moments = join_moments([(n, held.moments), (len(block.codes), block.moments)])
    ends = block.offsets[1 : len(block.offsets) - block.goes_on] + n
    return block.with_events(np.concatenate([held.codes, block.codes]), ends, moments=moments)


def cut_events(events: EventSequences | Rows, most: int, weights: IntArray | None = None) -> Iterator[Block]:
    """Cut events anywhere into blocks of about equal size, at most ``most`` events each; at least one block.

    Ticks are not cut, nor attributes from what they belong to: blocks may be larger by those. ``weights`` has
    one weight per sequence.

    >>> events = EventSequences.from_lists([["A", "A", "A"], [], ["A", "B"]])
    >>> [block.offsets.tolist() for block in cut_events(events, 4)]
    [[0, 2], [0, 1, 1, 3]]
    """
    n, ends, moments = len(events.codes), events.offsets[1:], events.moments
    ends_at = np.linspace(0, n, max(1, -(-n // most)) + 1).astype(np.int64)
    if moments is not None and len(ends_at) > 2:  # to the next tick, but not from attributes to the first
        begins = np.flatnonzero(moments.starts)
        at = np.searchsorted(begins, events.offsets[:-1])
        may = np.append(moments.starts, True)
        may[begins[at[at < len(begins)]]] = False
        may[events.offsets] = True
        begins = np.flatnonzero(may)
        ends_at[1:-1] = begins[np.searchsorted(begins, ends_at[1:-1])]
    cuts = np.unique(ends_at).tolist()
    first = 0  # the sequence that has not ended yet
    for start, stop in pairwise(cuts if n else [0, 0]):
        last = int(np.searchsorted(ends, stop, side="right"))
        block = Block.of(events.codes[start:stop], ends[first:last] - start)
        if weights is not None or moments is not None:
            block = replace(
                block,
                weights=None if weights is None else weights[first : last + block.goes_on],
                moments=None if moments is None else moments[start:stop],
            )
        yield block
        first = last


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
