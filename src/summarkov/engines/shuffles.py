"""How events change places in their sequences: the blocks that they stay in, and orders by chance."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from summarkov import kernels
from summarkov.errors import TooLargeError
from summarkov.events.moments import Moments, join_moments
from summarkov.events.rows import Block
from summarkov.settings import Duration
from summarkov.typing import BoolArray, CodeArray, HashArray, IntArray


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


def cut_for_shuffling(blocks: Iterable[Block], shuffles: Shuffles, most: int) -> Iterator[ShuffledBlock]:
    """Whole sequences, or whole blocks of them in which events stay, each of at most ``most`` events."""
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
        if block.goes_on:
            periods = None if moments is None or moments.periods is None else moments.periods[ticks]
            whole = shuffles.closed(before, left, periods)
            stop = len(codes) if left and whole == left else int(ticks[whole]) if whole else stop
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
