"""Work on events that need not fit into memory: part by part, with the past of what is cut, and added up."""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any, Protocol, TypeVar

import numpy as np

from summarkov import kernels
from summarkov.engines.counts import CandidateCounts, Counts, RecencyCounts, StateCounts, total
from summarkov.engines.requests import CandidatesRequest, RecencyRequest, Request
from summarkov.errors import SettingError, TooLargeError
from summarkov.events.moments import Moments
from summarkov.events.rows import Block, places_of, uncut
from summarkov.kernels import Index
from summarkov.settings import is_whole
from summarkov.summaries import Memory, Summary, WindowSummary
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

    def whole(self, most: int) -> Iterable[tuple[Block, Index]]:
        """Blocks of whole sequences, of at most ``most`` events unless one sequence has more."""
        if self.n_events is not None and self.n_events <= most:
            return self.indexed(most, Memory(0, None))
        return carry_past(uncut(self.read(most)), len(self.labels), Memory(0, None), self.attributes)

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
class Shard:
    """Some sequences; the first may be the continuation of one that was cut, with its past."""

    index: kernels.Index
    labels: Sequence[str]
    weights: IntArray | None = None  # one per sequence

    def count(self, request: Request) -> Counts:
        """Answer one request for this shard alone."""
        if isinstance(request, RecencyRequest):
            return self._count_recency(request)
        influencers = np.array(request.influencers, np.int32)
        outcomes = (request.target.outcome_of(), request.target.n_outcomes)
        if isinstance(request.summary, WindowSummary):
            asked, given = None, None
            if isinstance(request, CandidatesRequest):
                asked, given = request.candidates, request.given_place
            window, candidates = request.summary.window(self.labels), np.array(asked or (), np.int32)
            try:
                counted = kernels.count_candidates(
                    self.index, self.weights, influencers, candidates, *outcomes, window, given
                )
            except MemoryError:
                if asked is None:
                    raise
                raise TooLargeError(
                    f"the states of {len(influencers)} influencers joined by each of {len(candidates)} "
                    "candidates are too many to count; set max_influencers, raise gamma, or give candidates"
                ) from None
            return StateCounts(*counted[:2]) if asked is None else CandidateCounts(*counted)
        ids, keys = request.summary.encode(self.index, request.influencers, self.labels)
        return StateCounts(keys, kernels.tabulate(self.index, self.weights, ids, len(keys), *outcomes))

    def _count_recency(self, request: RecencyRequest) -> RecencyCounts:
        tree = request.summary
        slots = np.full(len(tree.nodes), -1, np.int64)
        slots[tree.leaves[list(request.open)]] = np.arange(len(request.open))
        recency = tree.tests.recency(request.candidates)
        if recency.in_time and self.index.places is not None:
            recency = recency._replace(lookbacks=kernels.in_units(recency.lookbacks, self.index.places.unit))
        outcomes = (request.target.outcome_of(), request.target.n_outcomes)
        try:
            return RecencyCounts(
                *kernels.count_tests(
                    self.index, self.weights, tree.arrays_for(self.index), slots, recency, *outcomes
                )
            )
        except MemoryError:
            raise TooLargeError(
                f"the tests of {len(request.candidates)} labels at {len(request.open)} leaves for "
                f"{request.target.n_outcomes} outcomes are too many to count; give candidates, "
                "set max_depth, raise gamma, or leave out counts or pairs"
            ) from None


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
        with map_in_threads(part.n_jobs) as map_:
            while together := list(islice(shards, part.n_jobs)):
                for some in range(0, len(self.requests), AT_ONCE):
                    few = self.requests[some : some + AT_ONCE]
                    asked = [request for request in few for _ in together]
                    counted = list(map_(Shard.count, together * len(few), asked))
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


@contextmanager
def map_in_threads(n_jobs: int) -> Iterator[Callable[..., Iterator[Any]]]:
    """What applies a function as ``map`` does, in ``n_jobs`` threads."""
    if n_jobs == 1:
        yield map
        return
    with ThreadPoolExecutor(n_jobs) as pool:
        yield pool.map


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
