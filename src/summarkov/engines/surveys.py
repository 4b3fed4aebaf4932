"""Passes that count sequences: which begin with a label, and in which a target followed an influencer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from summarkov import kernels
from summarkov.engines.event_source import EventSource
from summarkov.engines.local import SHARD_EVENTS, LocalSource
from summarkov.engines.past import carried, even_cuts, pieces
from summarkov.engines.source import CountSource
from summarkov.engines.work import EVENT_BYTES, Part, in_memory
from summarkov.events import EventSequences
from summarkov.typing import FloatArray, IntArray


@dataclass(frozen=True)
class Followed:
    """Sequences, weighted.

    ``present[u]``: those in which influencer u is in the window of some position. ``followed[u, x]``: of a
    position of label x of the target.
    """

    present: FloatArray
    followed: FloatArray

    def of(self, influencer: int, label: int) -> tuple[float, float]:
        """Sequences with an influencer, and those in which a label followed it."""
        return float(self.present[influencer]), float(self.followed[influencer, label])

    def __add__(self, other: Followed) -> Followed:
        return Followed(self.present + other.present, self.followed + other.followed)


@dataclass(frozen=True)
class Asked:
    """The influencers of a target, each with its window ``(d, k)``, and the labels of the target."""

    influencers: tuple[int, ...]
    windows: tuple[tuple[int, int | None], ...]
    labels: tuple[int, ...]

    def pairs(self) -> list[tuple[int, int, int, int]]:
        """Influencer, label, delay and look-back."""
        return [
            (z, x, delay, kernels.UNLIMITED if k is None else k)
            for z, (delay, k) in zip(self.influencers, self.windows, strict=True)
            for x in self.labels
        ]


def count_followed(source: CountSource, asked: Sequence[Asked]) -> list[Followed | None]:
    """Answer for several targets in one pass; None from a source that shows its counts only."""
    pairs = np.array([pair for one in asked for pair in one.pairs()], np.int64).reshape(-1, 4)
    work = FollowedWork(pairs)
    if not len(pairs):
        counts = np.zeros((0, 2), np.int64)
    elif isinstance(source, EventSource):
        counts = source.run(work)
    elif isinstance(source, LocalSource):
        counts = work.add(_in_memory(source, work.memory))
    else:
        return [None] * len(asked)
    answers: list[Followed | None] = []
    start = 0
    for one in asked:
        shape = len(one.influencers), len(one.labels)
        mine = counts[start : start + shape[0] * shape[1]].reshape(*shape, 2) / source.scale
        answers.append(Followed(mine[:, 0, 0], mine[:, :, 1]))
        start += shape[0] * shape[1]
    return answers


class Cut(NamedTuple):
    """Some sequences, the weights of them, and whether the first goes on from the cut before."""

    events: kernels.Index
    weights: IntArray | None
    goes_on: bool


def _in_memory(source: LocalSource, memory: tuple[int, int | None]) -> Iterator[Cut]:
    """Events in memory, a shard at a time."""
    events, weights = source.events, source.weights
    cuts = even_cuts(events.n_events, -(-events.n_events // SHARD_EVENTS))
    for piece in pieces(events, cuts, memory):
        here = None if weights is None else weights[piece.first : piece.last]
        yield Cut(piece.index, here, piece.start > events.offsets[piece.first])


@dataclass(frozen=True)
class FollowedWork:
    """Counts sequences for pairs of an influencer and a label, see :func:`kernels.count_followed`."""

    pairs: IntArray

    @property
    def memory(self) -> tuple[int, int | None]:
        """How far back a cut sequence must be remembered, see :meth:`Summary.memory`."""
        lookbacks = self.pairs[:, 3]
        near = lookbacks[lookbacks < kernels.UNLIMITED].max(initial=1)
        return int(near), 1 if (lookbacks == kernels.UNLIMITED).any() else None

    def run(self, part: Part) -> IntArray:
        """Block by block."""

        def cuts() -> Iterator[Cut]:
            goes_on = False
            for block, index in carried(part.blocks(EVENT_BYTES), len(part.labels), self.memory):
                if len(block.codes):
                    yield Cut(index, None, goes_on)
                goes_on = block.goes_on

        return self.add(cuts())

    def add(self, cuts: Iterable[Cut]) -> IntArray:
        """Add up what was counted; a sequence that goes on after a cut is counted once."""
        totals = np.zeros((len(self.pairs), 2), np.int64)
        counted = np.zeros((len(self.pairs), 2), np.int32)  # whether the last sequence is
        for index, weights, goes_on in cuts:
            counts, ends = kernels.count_followed(index, weights, self.pairs)
            if goes_on:
                again = counted & ends[:, :, 0]
                totals -= again if weights is None else again * weights[0]
            one = goes_on and len(index.offsets) == 2  # all of it is of the sequence that went on
            totals, counted = totals + counts, ends[:, :, 1] | (counted if one else 0)
        return totals

    def total(self, answers: Sequence[IntArray]) -> IntArray:
        """Add up several parts."""
        return np.asarray(np.sum(answers, axis=0))


def count_starts(events: EventSequences | EventSource) -> IntArray:
    """How many sequences begin with each label, in one pass.

    >>> count_starts(EventSequences.from_lists([["A", "B"], ["B"], [], ["A"]])).tolist()
    [2, 1]
    """
    work = StartsWork()
    return events.run(work) if isinstance(events, EventSource) else work.run(in_memory(events))


@dataclass(frozen=True)
class StartsWork:
    """Counts the first events of sequences."""

    def run(self, part: Part) -> IntArray:
        """Block by block; the continuation of a sequence has no first event."""
        counts = np.zeros(len(part.labels) + 1, np.int64)
        continues = False
        for block in part.blocks(1 << 4):
            begins = block.offsets[:-1][np.diff(block.offsets) > 0]
            if continues and len(begins):
                begins = begins[begins > 0]
            np.add.at(counts, block.codes[begins], 1)
            continues = block.goes_on
        return counts[:-1]

    def total(self, answers: Sequence[IntArray]) -> IntArray:
        """Add up several parts."""
        return np.asarray(np.sum(answers, axis=0))
