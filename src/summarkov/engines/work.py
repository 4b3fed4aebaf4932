"""Work on events that need not fit into memory: done part by part, wherever these are, and added up."""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any, Protocol, TypeVar

import numpy as np

from summarkov import kernels
from summarkov.engines.counts import Counts, total
from summarkov.engines.past import carry_past, joint_memory
from summarkov.engines.requests import CandidatesRequest, RecencyRequest, Request
from summarkov.engines.shard import Shard
from summarkov.errors import SettingError
from summarkov.events.block import Block
from summarkov.settings import is_whole
from summarkov.summaries import Memory
from summarkov.typing import BoolArray

#: Events in a shard at most: bounds what the kernels need beside the data itself, which is more in NumPy.
SHARD_EVENTS = 1 << (22 if kernels.backend() == "native" else 20)
#: What the kernels need for an event while they count, beside the counts.
EVENT_BYTES = 1 << 7
#: Requests whose counts of several shards are in memory at once.
AT_ONCE = 32
#: Bytes that the tables of one request may take.
TABLE_BYTES = 1 << 30
#: More threads than any machine has cores.
_MOST_THREADS = 1024

Answer = TypeVar("Answer")


@dataclass(frozen=True)
class Part:
    """Some of the sequences of a source, all of each, to be read some events at a time.

    ``read(n)`` reads all of them in blocks of at most ``n`` events, and one empty block if there are none.
    ``number`` counts the parts of a source, and ``room`` is a folder for temporary files, if there is one.
    A part in memory knows its number of rows, and ``kept`` is what it keeps from pass to pass. ``attributes``
    tells of every code, and last of none, whether it is that of an attribute; None: none is.
    """

    read: Callable[[int], Iterator[Block]]
    labels: tuple[str, ...]
    memory: int
    n_jobs: int = 1
    number: int = 0
    room: Path | None = None
    n_events: int | None = None
    kept: dict[Hashable, Any] | None = None
    attributes: BoolArray | None = None

    def blocks(self, event_bytes: int) -> Iterator[Block]:
        """All events, as many at a time as fit into memory if each takes ``event_bytes`` bytes."""
        return self.read(self.most_events(event_bytes))

    def most_events(self, event_bytes: int) -> int:
        """How many events of ``event_bytes`` bytes each fit into memory; fewer, to keep all threads busy."""
        most = max(1, min(SHARD_EVENTS, self.memory // (event_bytes * self.n_jobs)))
        if self.n_events is None or self.n_jobs == 1:
            return most
        rounds = max(1, -(-self.n_events // (most * self.n_jobs)))  # as many blocks for each thread
        return max(1, -(-self.n_events // (rounds * self.n_jobs)))

    def indexed(self, most: int, memory: Memory) -> Iterable[tuple[Block, kernels.Index]]:
        """Blocks of at most ``most`` events, each with the past of a sequence that was cut before it.

        A part in memory keeps them for the next pass, with what kernels have looked up.
        """
        if self.kept is None or self.n_events is None:
            return carry_past(self.read(most), len(self.labels), memory, self.attributes)
        if self.n_events <= most:  # nothing is cut, so nothing need be remembered
            most, memory = max(1, self.n_events), Memory(0, None)
        if self.kept.get("cut") != (most, memory):
            self.kept["cut"] = most, memory
            self.kept["blocks"] = list(carry_past(self.read(most), len(self.labels), memory, self.attributes))
        kept: list[tuple[Block, kernels.Index]] = self.kept["blocks"]
        return kept

    def seen(self, read: Callable[[int], Iterator[Block]], labels: tuple[str, ...] | None = None) -> Part:
        """The same part with other events in it, and perhaps other labels."""
        labels, attributes = self.labels if labels is None else labels, self.attributes
        if attributes is not None:
            held = {self.labels[code] for code in np.flatnonzero(attributes).tolist()}
            attributes = np.array([*(label in held for label in labels), False])
        return replace(self, read=read, labels=labels, attributes=attributes, n_events=None, kept=None)


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
        """Count shard by shard, as many at a time as there are threads."""
        summaries = {id(request.summary): request.summary for request in self.requests}.values()
        indexed = part.indexed(part.most_events(EVENT_BYTES), joint_memory(summaries))
        shards = (Shard(index, part.labels, block.weights) for block, index in indexed)
        totals: dict[int, Counts] = {}
        with pool_of(part.n_jobs) as pool:
            while together := list(islice(shards, part.n_jobs)):
                for some in range(0, len(self.requests), AT_ONCE):
                    few = self.requests[some : some + AT_ONCE]
                    asked = [request for request in few for _ in together]
                    counted = list(pool.map(Shard.count, together * len(few), asked))
                    for at, first in enumerate(range(0, len(counted), len(together)), start=some):
                        new = counted[first : first + len(together)]
                        totals[at] = total([totals[at], *new] if at in totals else new)
        return [totals[at] for at in range(len(self.requests))]

    def total(self, answers: Sequence[list[Counts]]) -> list[Counts]:
        """Add up what was counted in several parts."""
        return [total(same) for same in zip(*answers, strict=True)]


def most_targets(requests: Sequence[Request], table_bytes: int) -> int:
    """How many labels may share one table of candidates."""
    cells = [2 * len(r.candidates) for r in requests if isinstance(r, CandidatesRequest)]
    cells += [r.cells for r in requests if isinstance(r, RecencyRequest)]
    return max(1, (table_bytes >> 2) // (8 * max([*cells, 2])))


# ---------------------------------------------------------------------- threads


def pool_of(n_jobs: int) -> ThreadPoolExecutor | Inline:
    """What runs tasks in ``n_jobs`` threads."""
    return ThreadPoolExecutor(n_jobs) if n_jobs > 1 else Inline()


class Inline:
    """A pool of no threads."""

    @staticmethod
    def map(function: Callable[..., Answer], *each: Iterable[Any]) -> Iterator[Answer]:
        """Apply a function, as the pool of an executor does."""
        return map(function, *each)

    def __enter__(self) -> Inline:
        return self

    def __exit__(self, *error: object) -> None:
        return None


def threads(n_jobs: int | None) -> int:
    """The number of threads asked for."""
    if n_jobs is None:
        return 1
    if not is_whole(n_jobs) or n_jobs == 0 or n_jobs < -1:
        raise SettingError(f"n_jobs must be a number of threads, None or -1 for one per core, not {n_jobs!r}")
    if n_jobs > _MOST_THREADS:
        raise SettingError(
            f"n_jobs {n_jobs} is too large; it may be {_MOST_THREADS} at most, or -1 for one per core"
        )
    return (os.cpu_count() or 1) if n_jobs == -1 else int(n_jobs)
