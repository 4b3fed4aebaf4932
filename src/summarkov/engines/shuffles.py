"""The same sequences with their events in another order: how these are shuffled, and what is counted then.

That tells what order alone can have to do with counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from summarkov import kernels
from summarkov.engines.counts import StateCounts, merge_keys
from summarkov.engines.followings import Asked
from summarkov.engines.source import CountSource, EventSource, Layout
from summarkov.engines.work import EVENT_BYTES, Part, Past, map_in_threads, past_after
from summarkov.errors import SettingError, TooLargeError
from summarkov.events.moments import Moments, join_moments
from summarkov.events.rows import Block
from summarkov.settings import Duration
from summarkov.summaries import Memory
from summarkov.typing import BoolArray, CodeArray, HashArray, IntArray

#: Bytes for an event of a sequence that is shuffled as a whole.
_WHOLE_BYTES = 1 << 5
#: Shuffles that are counted in one pass over the data.
_TOGETHER = 25
#: Where strata of positions may end; beyond the last all are one.
_ENDS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)
#: How many positions a stratum of full windows has at least.
_NARROWEST = 4


@dataclass(frozen=True)
class Shuffles:
    """``n`` times the same sequences, the events of each in a random order of their own.

    With ``within`` they change places only inside of blocks of that many positions of their sequence, or of
    that much time from its first event on; with ``by_period`` only with events in a row of one period. The
    first ``kept`` positions of each stay where they are. What happened together moves together, and times and
    periods stay where they are: the time of the i-th tick is that of whatever comes i-th. The order follows
    from the seed, the number of the replicate and the key of the sequence alone, so wherever a sequence is,
    it comes out the same. Replicate 0 is the data as they are.
    """

    n: int = 99
    seed: int = 0
    within: int | None = None
    kept: int = 0
    by_period: bool = False

    @property
    def positions(self) -> int | None:
        """The number of positions of a block; None where blocks are told in another way."""
        return None if isinstance(self.within, Duration) else self.within

    def closed(self, begun: int, n: int, periods: IntArray | None) -> int:
        """How many of ``n`` positions of a sequence that goes on are in blocks that no later event is in.

        ``begun`` positions came before, and ``periods`` are those of the positions, where they have some.
        """
        if self.by_period and periods is not None:
            changes = np.flatnonzero(np.diff(periods))
            return int(changes[-1]) + 1 if len(changes) else 0
        if self.positions is None:
            return 0
        return max(0, n - max(begun + n - self.kept, 0) % self.positions)

    def shuffled(
        self, replicate: int, block: Block, begun: int, stays: BoolArray | None
    ) -> tuple[CodeArray, Moments | None]:
        """The rows of a block, the first sequence of which has ``begun`` positions before it.

        ``stays`` tells of codes whether their rows keep their places.
        """
        if not replicate:
            return block.codes, block.moments
        assert block.keys is not None
        seeds = kernels.sequence_seeds(self.seed, replicate, block.keys)
        within = kernels.UNLIMITED if self.positions is None else self.positions
        if block.moments is None:
            made: CodeArray = kernels.shuffled(block.codes, block.offsets, seeds, begun, self.kept, within)
            return made, None
        return self._with_ticks(block, block.moments, begun, seeds, within, stays)

    def _with_ticks(
        self,
        block: Block,
        moments: Moments,
        begun: int,
        seeds: HashArray,
        within: int,
        stays: BoolArray | None,
    ) -> tuple[CodeArray, Moments]:
        """Whole ticks in another order."""
        is_event = np.ones(len(block.codes), bool) if stays is None else ~stays[block.codes]
        begins = np.flatnonzero(moments.starts & is_event)
        before = np.append(0, np.cumsum(moments.starts & is_event))
        bounds = before[block.offsets]  # of the sequences, in ticks
        tick = before[1:] - 1
        sizes = np.bincount(tick[is_event], minlength=len(begins))
        kept, numbers = self.kept, None
        if self.by_period and moments.periods is not None:
            numbers = moments.periods[begins]
        elif isinstance(self.within, Duration) and moments.times is not None:
            first = np.repeat(
                moments.times[begins[np.minimum(bounds[:-1], len(begins) - 1)]], np.diff(bounds)
            )
            numbers = (moments.times[begins] - first) // max(1, int(self.within) // moments.unit.size)
        if numbers is not None:
            bounds, seeds = _cut_by_period(bounds, seeds, numbers, kept, begun)
            kept = begun = 0
        order = kernels.shuffled(
            np.arange(len(begins), dtype=np.int32), bounds, seeds, begun, kept, within
        ).astype(np.int64)
        new = sizes[order]
        rows = np.arange(len(block.codes))
        within_tick = np.arange(new.sum()) - np.repeat(np.cumsum(new) - new, new)
        rows[is_event] = np.repeat(begins[order], new) + within_tick
        starts = moments.starts.copy()
        starts[is_event] = within_tick == 0
        times = moments.times
        if times is not None:
            stay = times[begins]
            times = times.copy()
            times[is_event] = np.repeat(stay, new)
        return block.codes[rows], replace(moments, starts=starts, times=times, periods=None)


def _cut_by_period(
    bounds: IntArray, seeds: HashArray, numbers: IntArray, kept: int, begun: int
) -> tuple[IntArray, HashArray]:
    """Cut sequences wherever the number of the period changes; a seed for each stretch.

    The first sequence continues one with ``begun`` positions before it.
    """
    sequence = np.repeat(np.arange(len(bounds) - 1), np.diff(bounds))
    place = np.arange(len(numbers)) - bounds[:-1][sequence] + np.where(sequence == 0, begun, 0)
    new = np.append(True, (np.diff(numbers) != 0) | (np.diff(sequence) != 0) | (place[1:] <= kept))[
        : len(place)
    ]
    starts = np.flatnonzero(new)
    return np.append(starts, len(numbers)), kernels.block_seeds(seeds[sequence[starts]], place[starts])


def cut_for_shuffling(blocks: Iterable[Block], shuffles: Shuffles, most: int) -> Iterator[tuple[Block, int]]:
    """Blocks that can be shuffled by themselves, each with how many positions came before its first sequence.

    They hold whole sequences, or whole stretches of them in which events stay; of one that goes on, at most
    ``most`` events are held for the next block.
    """
    held, held_moments, begun = np.empty(0, np.int32), None, 0
    for block in blocks:
        codes = np.concatenate([held, block.codes])
        moments = join_moments([(len(held), held_moments), (len(block.codes), block.moments)])
        ends = block.offsets[1 : len(block.offsets) - block.goes_on] + len(held)
        begin = stop = int(ends[-1]) if len(ends) else 0
        before = 0 if len(ends) else begun
        ticks = np.arange(stop, len(codes))
        if moments is not None:
            ticks = stop + np.flatnonzero(moments.starts[stop:])
        if block.goes_on:
            periods = None if moments is None or moments.periods is None else moments.periods[ticks]
            whole = shuffles.closed(before, len(ticks), periods)
            stop = len(codes) if whole and whole == len(ticks) else int(ticks[whole]) if whole else stop
        if len(codes) - stop > most:
            raise TooLargeError(
                f"a sequence has more than {most:,} events, too many to shuffle as a whole in the memory "
                "allowed; give within, a number of positions such as 1000, or allow more memory"
            )
        if stop or len(ends):
            shown = None if moments is None else moments[:stop]
            yield block.with_events(codes[:stop], ends, moments=shown), begun
        passed = stop - begin if moments is None else int(np.searchsorted(ticks, stop))
        begun = before + passed if block.goes_on else 0
        held, held_moments = codes[stop:], None if moments is None else moments[stop:]


# ---------------------------------------------------------------------- count


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
    tables = [_side_by_side(same) for same in zip(*parts, strict=True)]
    return [StateCounts(table.keys, table.counts.transpose(2, 0, 1)) for table in tables]


def _memory(asked: Sequence[Asked]) -> Memory:
    """What must be remembered of a sequence that is cut."""
    return Memory.joint([Memory(1, None), *(window.memory for one in asked for window in one.windows)])


def longest_reach(asked: Sequence[Asked]) -> int | None:
    """The longest look-back in positions; None if one has no limit, or that of a time."""
    lookbacks = [k for one in asked for _, k in one.windows]
    if any(k is None or isinstance(k, Duration) for k in lookbacks):
        return None
    return max((k for k in lookbacks if k is not None), default=1)


def _side_by_side(tables: Sequence[StateCounts]) -> StateCounts:
    """Tables ``[s, x, replicate]`` of some replicates each as one, in memory replicate by replicate."""
    keys, where = merge_keys([table.keys for table in tables])
    ends = np.cumsum([table.counts.shape[2] for table in tables])
    counts = np.zeros((int(ends[-1]), len(keys), tables[0].counts.shape[1]), np.int64).transpose(1, 2, 0)
    for table, rows, end in zip(tables, where, ends.tolist(), strict=True):
        counts[rows, :, end - table.counts.shape[2] : end] = table.counts
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
        asked = presence_asked(self.asked, self.strata)
        pasts = [Past()] * len(self.replicates)
        totals: list[list[StateCounts]] = []
        read = cut_for_shuffling(part.blocks(EVENT_BYTES), self.shuffles, part.memory // _WHOLE_BYTES)
        with map_in_threads(part.n_jobs) as map_:
            for block, begun in read:
                count = partial(self._count, part, stays, asked, block, begun)
                found = list(map_(count, self.replicates, pasts))
                pasts = [past for _, past in found]
                new = [tables for tables, _ in found]
                totals = [self.total(pair) for pair in zip(totals, new, strict=True)] if totals else new
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

    def _count(
        self,
        part: Part,
        stays: BoolArray | None,
        asked: kernels.PresenceAsked,
        block: Block,
        begun: int,
        replicate: int,
        past: Past,
    ) -> tuple[list[StateCounts], Past]:
        """The tables of one replicate of a block, and the past of the block that comes next."""
        codes, moments = self.shuffles.shuffled(replicate, block, begun, stays)
        index = past.index(codes, block.offsets, len(part.labels), moments, part.attributes)
        counted = kernels.count_presence(index, begun, block.weights, asked)
        tables = [StateCounts(keys, counts[..., None]) for keys, counts in counted]
        if not block.goes_on:
            return tables, Past()
        return tables, past_after(past, codes, block.begin, _memory(self.asked), moments, part.attributes)


def presence_asked(asked: Sequence[Asked], strata: Sequence[int]) -> kernels.PresenceAsked:
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
