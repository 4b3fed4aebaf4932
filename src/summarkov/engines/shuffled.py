"""Counts of the same sequences, their events in another order: what order alone can have to do with them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import numpy as np

from summarkov import kernels
from summarkov.durations import Duration
from summarkov.engines.counts import StateCounts, merge_keys
from summarkov.engines.past import Past, past_after
from summarkov.engines.source import CountSource, EventSource, Layout
from summarkov.engines.surveys import Asked
from summarkov.engines.work import EVENT_BYTES, Part, pool_of
from summarkov.errors import SettingError, TooLargeError
from summarkov.events.block import Block
from summarkov.events.moments import Moments, join_moments
from summarkov.summaries import Memory
from summarkov.typing import BoolArray, CodeArray, HashArray, IntArray

#: Bytes for an event of a sequence that is shuffled as a whole.
_WHOLE_BYTES = 1 << 5
#: Shuffles that are counted in one pass over the data.
_TOGETHER = 25
#: Where strata of positions may end; beyond the last all are one.
_ENDS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)


@dataclass(frozen=True)
class Shuffles:
    """``n`` times the same sequences, the events of each in a random order of their own.

    With ``within`` they change places only inside of blocks of that many positions of their sequence, or of
    that much time from its first event on, and the first ``kept`` positions of each stay where they are. What
    happened together moves together, and times stay where they are: that of the i-th tick is that of whatever
    comes i-th. The order follows from the seed, the number of the replicate and the key of the sequence
    alone, so wherever a sequence is, it comes out the same. Replicate 0 is the data as they are.
    """

    n: int = 99
    seed: int = 0
    within: int | None = None
    kept: int = 0

    @property
    def positions(self) -> int | None:
        """The number of positions of a block; None where whole sequences are needed to tell the blocks."""
        return None if isinstance(self.within, Duration) else self.within

    def shuffled(
        self, replicate: int, block: ShuffledBlock, stays: BoolArray | None
    ) -> tuple[CodeArray, Moments | None]:
        """The rows of a block of sequences; ``stays`` tells of codes whether their rows keep their places."""
        if not replicate:
            return block.codes, block.moments
        seeds = kernels.sequence_seeds(self.seed, replicate, block.keys)
        within = kernels.UNLIMITED if self.positions is None else self.positions
        if block.moments is None:
            made: CodeArray = kernels.shuffled(
                block.codes, block.offsets, seeds, block.begun, self.kept, within
            )
            return made, None
        return self._with_ticks(block, block.moments, seeds, within, stays)

    def _with_ticks(
        self,
        block: ShuffledBlock,
        moments: Moments,
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
        kept, begun = self.kept, block.begun
        numbers = None
        if moments.periods is not None:
            numbers = moments.periods[begins]
        elif isinstance(self.within, Duration) and moments.times is not None:
            first = np.repeat(
                moments.times[begins[np.minimum(bounds[:-1], len(begins) - 1)]], np.diff(bounds)
            )
            numbers = (moments.times[begins] - first) // max(1, int(self.within) // moments.unit.size)
        if numbers is not None:
            bounds, seeds = _cut_by_period(bounds, seeds, numbers, kept)
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
        return block.codes[rows], replace(moments, starts=starts, times=times)


def _cut_by_period(
    bounds: IntArray, seeds: HashArray, numbers: IntArray, kept: int
) -> tuple[IntArray, HashArray]:
    """Cut sequences wherever the number of the period changes; a seed for each stretch."""
    sequence = np.repeat(np.arange(len(bounds) - 1), np.diff(bounds))
    place = np.arange(len(numbers)) - bounds[:-1][sequence]
    new = np.append(True, (np.diff(numbers) != 0) | (np.diff(sequence) != 0) | (place[1:] <= kept))[
        : len(place)
    ]
    starts = np.flatnonzero(new)
    return np.append(starts, len(numbers)), kernels.block_seeds(seeds[sequence[starts]], place[starts])


class ShuffledBlock(NamedTuple):
    """Some rows that can be shuffled by themselves.

    ``offsets`` cut them into sequences, of which the first continues one with ``begun`` positions before it;
    ``goes_on`` says whether the last goes on in the next block. ``keys`` and ``weights`` are those of the
    sequences.
    """

    codes: CodeArray
    offsets: IntArray
    begun: int
    goes_on: bool
    keys: HashArray
    weights: IntArray | None
    moments: Moments | None = None


def cut_for_shuffling(
    blocks: Iterable[Block], within: int | None, most: int, kept: int = 0
) -> Iterator[ShuffledBlock]:
    """Whole sequences, or whole blocks of ``within`` positions, of at most ``most`` events in a sequence."""
    held, held_moments, begun = np.empty(0, np.int32), None, 0
    for block in blocks:
        assert block.keys is not None
        codes = np.concatenate([held, block.codes])
        moments = join_moments([(len(held), held_moments), (len(block.codes), block.moments)])
        offsets = block.offsets + len(held)
        offsets[0] = 0
        ended = len(offsets) - 1 - block.goes_on
        stop = int(offsets[ended])
        before = begun if ended == 0 else 0
        ticks = (
            np.arange(stop, len(codes)) if moments is None else stop + np.flatnonzero(moments.starts[stop:])
        )
        left = len(ticks)  # positions of the sequence that goes on
        if block.goes_on and within is not None:
            whole = max(0, left - max(before + left - kept, 0) % within)
            stop = len(codes) if whole == left else int(ticks[whole]) if whole else stop
        if len(codes) - stop > most:
            raise TooLargeError(
                f"a sequence has more than {most:,} events, too many to shuffle as a whole in the memory "
                "allowed; give within, a number of positions such as 1000, or allow more memory"
            )
        inside = offsets[: ended + 1]
        is_cut = stop > int(inside[-1])
        offsets_here = np.append(inside, stop) if is_cut else inside
        if stop or ended:
            n = ended + is_cut
            yield ShuffledBlock(
                codes[:stop],
                offsets_here,
                begun,
                is_cut,
                block.keys[:n],
                None if block.weights is None else block.weights[:n],
                None if moments is None else moments[:stop],
            )
        passed = stop - int(inside[-1]) if moments is None else int(np.searchsorted(ticks, stop))
        begun = before + passed if block.goes_on else 0
        held, held_moments = codes[stop:], None if moments is None else moments[stop:]


def position_strata(reach: int | None) -> tuple[int, ...]:
    """The last position of each stratum but the last, from 1 on: windows that are not full are told apart.

    Position i has i - 1 events before it, so up to position ``reach`` its window is not full.

    >>> position_strata(5), position_strata(10)
    ((1, 2, 3, 4, 5), (1, 2, 3, 4, 6, 8, 10))
    """
    last = _ENDS[-1] if reach is None else min(reach, _ENDS[-1])
    return (*(end for end in _ENDS if end < last), last)


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
        read = cut_for_shuffling(
            part.blocks(EVENT_BYTES), self.shuffles.positions, part.memory // _WHOLE_BYTES, self.shuffles.kept
        )
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
