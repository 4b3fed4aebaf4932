"""In how many sequences an influencer occurred, and in how many its target followed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from summarkov import kernels
from summarkov.engines.event_source import EventSource
from summarkov.engines.local import LocalSource
from summarkov.engines.past import most_memory
from summarkov.engines.pieces import carried
from summarkov.engines.source import CountSource
from summarkov.engines.work import EVENT_BYTES, Part, in_memory

IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Followed:
    """Sequences, whatever their weight.

    ``present[u]``: those in which influencer u is in the window of some position. ``followed[u, x]``: of a
    position of label x of the target.
    """

    present: IntArray
    followed: IntArray

    def of(self, influencer: int, label: int) -> tuple[int, int]:
        """Sequences with an influencer, and those in which a label followed it."""
        return int(self.present[influencer]), int(self.followed[influencer, label])

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
    pairs = [pair for one in asked for pair in one.pairs()]
    work = FollowedWork(np.array(pairs, np.int64).reshape(-1, 4))
    if not pairs:
        counts = np.zeros((0, 2), np.int64)
    elif isinstance(source, EventSource):
        counts = source.run(work)
    elif isinstance(source, LocalSource):
        held = source.events if source.weights is None else source.events[source.weights > 0]
        counts = work.run(in_memory(held))
    else:
        return [None] * len(asked)
    answers: list[Followed | None] = []
    start = 0
    for one in asked:
        shape = len(one.influencers), len(one.labels)
        mine = counts[start : start + shape[0] * shape[1]].reshape(*shape, 2)
        answers.append(Followed(mine[:, 0, 0], mine[:, :, 1]))
        start += shape[0] * shape[1]
    return answers


@dataclass(frozen=True)
class FollowedWork:
    """Counts sequences for pairs of an influencer and a label, see :func:`kernels.count_followed`."""

    pairs: IntArray

    def run(self, part: Part) -> IntArray:
        """Block by block; a sequence that goes on in the next block is counted once."""
        lookbacks = self.pairs[:, 3]
        far = bool((lookbacks == kernels.UNLIMITED).any())
        near = int(lookbacks[lookbacks < kernels.UNLIMITED].max(initial=1))
        memory = most_memory([(near, 1 if far else None)])
        totals = np.zeros((len(self.pairs), 2), np.int64)
        counted = np.zeros((len(self.pairs), 2), np.int32)  # whether the sequence that goes on is
        for block, index in carried(part.blocks(EVENT_BYTES), len(part.labels), memory):
            if not len(block.codes):
                continue
            counts, ends = kernels.count_followed(index, self.pairs)
            totals += counts - (counted & ends[:, :, 0])
            within_one = block.begin == 0  # all of the block is of the sequence that goes on
            counted = ends[:, :, 1] | (counted if within_one else 0)
            if not block.goes_on:
                counted = np.zeros_like(counted)
        return totals

    def total(self, answers: Sequence[IntArray]) -> IntArray:
        """Add up several parts."""
        return np.asarray(np.sum(answers, axis=0))
