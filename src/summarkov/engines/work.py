"""Work on events that need not fit into memory: done part by part, wherever these are, and added up."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Protocol, TypeVar

import numpy as np

from summarkov.engines.counts import Counts, total
from summarkov.engines.local import AT_ONCE, SHARD_EVENTS, TABLE_BYTES
from summarkov.engines.past import carried, joint_memory
from summarkov.engines.pools import pool_of
from summarkov.engines.requests import Request
from summarkov.engines.shard import Shard
from summarkov.events import EventSequences
from summarkov.events.block import Block

#: What the kernels need for an event while they count, beside the counts.
EVENT_BYTES = 1 << 7

Answer = TypeVar("Answer")


@dataclass(frozen=True)
class Part:
    """Some of the sequences of a source, all of each, to be read some events at a time.

    ``read(n)`` reads all of them in blocks of at most ``n`` events, and one empty block if there are none.
    ``number`` counts the parts of a source, and ``room`` is a folder for temporary files, if there is one.
    """

    read: Callable[[int], Iterator[Block]]
    labels: tuple[str, ...]
    memory: int
    n_jobs: int = 1
    number: int = 0
    room: Path | None = None

    def blocks(self, event_bytes: int) -> Iterator[Block]:
        """All events, as many at a time as fit into memory if each takes so many bytes."""
        return self.read(max(1, min(SHARD_EVENTS, self.memory // (event_bytes * self.n_jobs))))


def in_memory(events: EventSequences, *, cut: bool = True) -> Part:
    """Events in memory as a part, which may be cut into blocks or not."""

    def read(most: int) -> Iterator[Block]:
        ends, n = events.offsets[1:], max(events.n_events, 1)
        most = most if cut else n
        first = 0  # sequence that has not ended yet
        for start in range(0, n, most):
            codes = events.codes[start : start + most]
            last = int(np.searchsorted(ends, start + len(codes), side="right"))
            yield Block.of(codes, ends[first:last] - start)
            first = last

    return Part(read, events.labels, TABLE_BYTES)


class Work(Protocol[Answer]):
    """What is to be worked out from every part. It may have to travel to where the part is."""

    def run(self, part: Part) -> Answer:
        """The answer for one part alone."""

    def total(self, answers: Sequence[Answer]) -> Answer:
        """Add up the answers of several parts; the order of these must not matter."""


@dataclass(frozen=True)
class CountWork:
    """Counts: the answers to some requests, in one pass."""

    requests: tuple[Request, ...]

    def run(self, part: Part) -> list[Counts]:
        """Count block by block."""
        summaries = {id(request.summary): request.summary for request in self.requests}.values()
        blocks = carried(part.blocks(EVENT_BYTES), len(part.labels), joint_memory(summaries))
        shards = (Shard(index, part.labels) for _, index in blocks)
        totals: dict[int, Counts] = {}
        with pool_of(part.n_jobs) as pool:
            while together := list(islice(shards, part.n_jobs)):
                for some in range(0, len(self.requests), AT_ONCE):
                    few = self.requests[some : some + AT_ONCE]
                    pairs = [(request, shard) for request in few for shard in together]
                    counted = list(pool.map(lambda pair: pair[1].count(pair[0]), pairs))
                    for at, first in enumerate(range(0, len(counted), len(together)), start=some):
                        new = counted[first : first + len(together)]
                        totals[at] = total([totals[at], *new] if at in totals else new)
        return [totals[at] for at in range(len(self.requests))]

    def total(self, answers: Sequence[list[Counts]]) -> list[Counts]:
        """Add up what was counted in several parts."""
        return [total(same) for same in zip(*answers, strict=True)]
