"""Counts of the same sequences, their events in another order: what order alone can have to do with them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from summarkov import kernels
from summarkov.engines.counts import StateCounts, merge_keys
from summarkov.engines.shuffles import ShuffledBlock, Shuffles, cut_for_shuffling
from summarkov.engines.source import CountSource, EventSource, Layout
from summarkov.engines.surveys import Asked
from summarkov.engines.work import EVENT_BYTES, Part, Past, past_after, pool_of
from summarkov.errors import SettingError
from summarkov.settings import Duration
from summarkov.summaries import Memory
from summarkov.typing import BoolArray

#: Bytes for an event of a sequence that is shuffled as a whole.
_WHOLE_BYTES = 1 << 5
#: Shuffles that are counted in one pass over the data.
_TOGETHER = 25
#: Where strata of positions may end; beyond the last all are one.
_ENDS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)
#: How many positions a stratum of full windows has at least.
_NARROWEST = 4


def position_strata(reach: int | None) -> tuple[int, ...]:
    """The last position of each stratum but the last, from 1 on.

    Position i has i - 1 events before it, so up to position ``reach`` its window is not full; windows that
    are not full are told apart. Then come strata of ``reach`` positions each, so that what changes slowly
    along all sequences is compared with itself.

    >>> position_strata(5)
    (1, 2, 3, 4, 5, 10, 15, 20, 25, 30, 35, 40, 45, 50, 55, 60)
    >>> position_strata(20), position_strata(None)[-3:]
    ((1, 2, 3, 4, 6, 8, 12, 16, 20, 40, 60), (32, 48, 64))
    """
    last = _ENDS[-1] if reach is None else min(reach, _ENDS[-1])
    step = max(last, _NARROWEST)
    more = range(last + step, _ENDS[-1] + 1, step)
    return (*(end for end in _ENDS if end < last), last, *more)


def count_shuffled(
    source: CountSource,
    asked: Sequence[Asked],
    shuffles: Shuffles,
    progress: Callable[[int, int], None] | None = None,
) -> list[StateCounts]:
    """N(x; s, stratum of positions) of the data as they are and of each of the shuffles: ``[b, s, x]``.

    The columns of the keys are presence of the influencers, and last the stratum. The outcomes are the
    labels asked about, and one more for the rest.
    """
    strata = position_strata(longest_reach(asked))
    outcomes = tuple(np.searchsorted(source.labels, Layout.of(source).outcomes).tolist())
    if not isinstance(source, EventSource):
        raise SettingError(f"a {type(source).__name__} cannot be shuffled; give the events themselves")
    source.sequence_keys()  # so that the blocks of its parts have them
    parts: list[list[StateCounts]] = []
    everything = range(shuffles.n + 1)
    for start in range(0, len(everything), _TOGETHER):
        some = tuple(everything[start : start + _TOGETHER])
        parts.append(source.run(ShuffledWork(tuple(asked), shuffles, some, strata, outcomes)))
        if progress is not None:
            progress(some[-1], shuffles.n)
    return [_beside(same) for same in zip(*parts, strict=True)]


def _memory(asked: Sequence[Asked]) -> Memory:
    """What must be remembered of a sequence that is cut."""
    return Memory.joint([Memory(1, None), *(window.memory for one in asked for window in one.windows)])


def longest_reach(asked: Sequence[Asked]) -> int | None:
    """The longest look-back in positions; None if one has no limit, or that of a time."""
    lookbacks = [k for one in asked for _, k in one.windows]
    if any(k is None or isinstance(k, Duration) for k in lookbacks):
        return None
    return max((k for k in lookbacks if k is not None), default=1)


def _beside(tables: Sequence[StateCounts]) -> StateCounts:
    """Tables ``[s, x, b]`` of some replicates each as one ``[b, s, x]``."""
    keys, where = merge_keys([table.keys for table in tables])
    sizes = [table.counts.shape[2] for table in tables]
    counts = np.zeros((sum(sizes), len(keys), tables[0].counts.shape[1]), np.int64)
    start = 0
    for table, rows, size in zip(tables, where, sizes, strict=True):
        counts[start : start + size, rows] = table.counts.transpose(2, 0, 1)
        start += size
    return StateCounts(keys, counts)


@dataclass(frozen=True)
class ShuffledWork:
    """Counts some of the shuffles; answers are tables ``[s, x, replicate]``."""

    asked: tuple[Asked, ...]
    shuffles: Shuffles
    replicates: tuple[int, ...]
    strata: tuple[int, ...]
    outcomes: tuple[int, ...] = ()  # labels that stay where they are

    def run(self, part: Part) -> list[StateCounts]:
        """Block by block, a thread for each replicate."""
        n_labels, stays = len(part.labels), part.attributes
        if self.outcomes:
            stays = np.zeros(n_labels + 1, bool) if stays is None else stays.copy()
            stays[list(self.outcomes)] = True
        asked = _in_arrays(self.asked, self.strata)
        pasts = [Past()] * len(self.replicates)
        totals: list[list[StateCounts]] = []
        read = cut_for_shuffling(part.blocks(EVENT_BYTES), self.shuffles, part.memory // _WHOLE_BYTES)
        with pool_of(part.n_jobs) as pool:
            for block in read:
                here = _Here(block, self.shuffles, n_labels, _memory(self.asked), part.attributes, stays)
                found = list(pool.map(partial(here.count, asked), zip(self.replicates, pasts, strict=True)))
                pasts = [past for _, past in found]
                new = [tables for tables, _ in found]
                totals = [_added(*pair) for pair in zip(totals, new, strict=True)] if totals else new
        if not totals:
            return [
                StateCounts(
                    np.empty((0, len(one.influencers) + 1), np.int32),
                    np.empty((0, len(one.labels) + 1, len(self.replicates)), np.int64),
                )
                for one in self.asked
            ]
        return [_side_by_side(same) for same in zip(*totals, strict=True)]

    def total(self, answers: Sequence[list[StateCounts]]) -> list[StateCounts]:
        """Add up several parts."""
        return [StateCounts.total(same) for same in zip(*answers, strict=True)]


def _added(one: Sequence[StateCounts], two: Sequence[StateCounts]) -> list[StateCounts]:
    """The tables of two blocks as those of both."""
    return [StateCounts.total(pair) for pair in zip(one, two, strict=True)]


def _side_by_side(tables: Sequence[StateCounts]) -> StateCounts:
    """A table of each replicate as one ``[s, x, replicate]``."""
    keys, where = merge_keys([table.keys for table in tables])
    counts = np.zeros((len(keys), tables[0].counts.shape[1], len(tables)), np.int64)
    for replicate, (table, rows) in enumerate(zip(tables, where, strict=True)):
        counts[rows, :, replicate] = table.counts
    return StateCounts(keys, counts)


@dataclass(frozen=True)
class _Here:
    """A block, and how it is shuffled."""

    block: ShuffledBlock
    shuffles: Shuffles
    n_labels: int
    memory: Memory
    attributes: BoolArray | None
    stays: BoolArray | None  # attributes, and what else keeps its place

    def count(
        self, asked: kernels.PresenceAsked, replicate_and_past: tuple[int, Past]
    ) -> tuple[list[StateCounts], Past]:
        """The tables of one replicate, and the past of the block that comes next."""
        replicate, past = replicate_and_past
        codes, moments = self.shuffles.shuffled(replicate, self.block, self.stays)
        index = past.index(codes, self.block.offsets, self.n_labels, moments, self.attributes)
        counted = kernels.count_presence(index, self.block.begun, self.block.weights, asked)
        tables = [StateCounts(*table) for table in counted]
        if not self.block.goes_on:
            return tables, Past()
        begin = int(self.block.offsets[-2])
        return tables, past_after(past, codes, begin, self.memory, moments, self.attributes)


def _in_arrays(asked: Sequence[Asked], strata: Sequence[int]) -> kernels.PresenceAsked:
    """Questions as the kernel takes them; one delay serves all of a graph."""
    windows = [window for one in asked for window in one.windows]
    lookbacks = [window.lookback_span for window in windows]
    delay = max((window.delay_span for window in windows), default=kernels.Span(0))
    return kernels.PresenceAsked(
        np.array([z for one in asked for z in one.influencers], np.int32),
        np.array([span.size for span in lookbacks], np.int64),
        np.cumsum([0, *(len(one.influencers) for one in asked)], dtype=np.int64),
        np.array([x for one in asked for x in one.labels], np.int32),
        np.cumsum([0, *(len(one.labels) for one in asked)], dtype=np.int64),
        np.array(strata, np.int64),
        delay.size,
        np.array([span.in_time for span in lookbacks], bool),
        delay.in_time,
    )
