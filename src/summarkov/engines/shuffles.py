"""The same sequences with the events of an influencer moved against the others, and what is counted then.

That tells what order alone can have to do with counts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from summarkov import kernels
from summarkov.engines.source import EventSource, Layout, Shard
from summarkov.events.vocabulary import END
from summarkov.settings import Duration
from summarkov.summaries import Reach
from summarkov.typing import IntArray

#: Events that are moved in one pass over the data: whoever waits sees how far it is, and may stop it.
_PART_MOVES = 4_000_000
#: Where strata of positions may end; beyond the last all are one.
_ENDS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)
#: How many positions a stratum of full windows has at least.
_NARROWEST = 4
#: Labels whose presence can be told apart in one number, beside the stratum of the position.
MOST_STRATA = 50


@dataclass(frozen=True)
class Shuffles:
    """``n`` times the same sequences, the events of an influencer moved against the others at random.

    Events move only inside blocks of ``within`` positions of their sequence, or of that much time from its
    first event on; with None in all of it. The first ``kept`` positions of each stay where they are, and so
    do times. How far they move follows from the seed, the number of the replicate and the key of the sequence
    alone. Replicate 0 is the data as they are; the others are numbered on from ``done``.
    """

    n: int = 99
    seed: int = 0
    within: int | Duration | None = None
    kept: int = 1
    done: int = 0

    @property
    def replicates(self) -> IntArray:
        """The data, and then the shuffles."""
        return np.append(0, self.done + 1 + np.arange(self.n))

    def cut(self, bounds: IntArray, times: IntArray, unit: int) -> IntArray:
        """Where blocks begin in ticks, of which each sequence has those from its bound to the next."""
        n = int(bounds[-1])
        sequence = np.repeat(np.arange(len(bounds) - 1), np.diff(bounds))
        place = np.arange(n) - bounds[:-1][sequence]
        number = np.zeros(n, np.int64)
        if isinstance(self.within, Duration):
            first = times[np.minimum(bounds[:-1], max(n - 1, 0))][sequence]
            number = (times - first) // max(1, int(self.within) // unit)
        elif self.within is not None:
            number = np.maximum(place - self.kept, 0) // self.within
        new = np.append(True, (np.diff(number) != 0) | (np.diff(sequence) != 0))[:n]
        return np.append(np.flatnonzero(new | (place <= self.kept)), n)


@dataclass(frozen=True)
class OrderQuestion:
    """An edge, and the labels whose presence makes its strata, each with its window.

    Events of ``left_out`` are not counted; with ``only``, nothing but labels that stay. ``part`` is the share
    of the sequences that are counted, ``base`` that of the blocks in which nothing has the influencer in its
    window, which then count for all of these. Both are chosen by the keys of sequences.
    """

    influencer: int
    target: int
    window: Reach
    strata: tuple[int, ...] = ()
    windows: tuple[Reach, ...] = ()
    left_out: tuple[int, ...] = ()
    only: bool = False
    part: float = 1.0
    base: float = 1.0


@dataclass(frozen=True)
class Moved:
    """What was counted of an edge, weighted.

    ``positions[stratum]``, and of each replicate ``with_[b, stratum]``, the positions with the influencer in
    their window, ``hits_with[b, stratum]`` and ``hits[b, stratum]``; the events of the influencer, and those
    in sequences of no more than one block. A stratum tells apart events that are in their window just as the
    target is in it (and so all hits), and others: see :meth:`merged` and :meth:`alike`.
    """

    keys: IntArray
    counts: IntArray
    influencers: int
    in_one_block: int

    @property
    def positions(self) -> IntArray:
        return np.asarray(self.counts[:, 0])

    @property
    def with_(self) -> IntArray:
        return np.asarray(self.counts[:, 1::3].T)

    @property
    def hits_with(self) -> IntArray:
        return np.asarray(self.counts[:, 2::3].T)

    @property
    def hits(self) -> IntArray:
        return np.asarray(self.counts[:, 3::3].T)

    def merged(self, n_labels: int) -> Moved:
        """All events in the strata of a question with that many labels."""
        keys = (self.keys >> (n_labels + 1) << n_labels) | (self.keys & ((1 << n_labels) - 1))
        return Moved.total([replace(self, keys=keys)])

    def apart(self, n_labels: int, full: int) -> Moved:
        """The two kinds of events apart, from stratum ``full`` of positions on.

        Near the start Z means that there are fewer other events before, so fewer of them are in the window.
        """
        late = self.keys >> (n_labels + 1) >= full
        return replace(self, keys=self.keys[late], counts=self.counts[late])

    def alike(self, n_labels: int, full: int) -> Moved:
        """Late events that are not hits; those in their window just as the target is count as hits."""
        counts, is_alike = self.counts.copy(), (self.keys >> n_labels & 1)[:, None]
        counts[:, 0] -= self.counts[:, 3]
        counts[:, 1::3] -= self.counts[:, 2::3]
        counts[:, 2::3] = counts[:, 1::3] * is_alike
        counts[:, 3::3] = counts[:, :1] * is_alike
        late = self.keys >> (n_labels + 1) >= full
        return replace(self, keys=self.keys[late], counts=counts[late]).merged(n_labels)

    def completed(self, base: float) -> Moved:
        """Add what has nothing to do with the influencer, of which such a share was counted."""
        counts, (n, hits) = self.counts[:, :-2].copy(), self.counts[:, -2:].T
        counts[:, 0] += np.rint(n / base).astype(np.int64)
        counts[:, 3::3] += np.rint(hits / base).astype(np.int64)[:, None]
        return replace(self, counts=counts)

    @classmethod
    def total(cls, some: Sequence[Moved]) -> Moved:
        """Add up what was counted in several places, or under keys that have become equal."""
        keys, row = np.unique(np.concatenate([one.keys for one in some]), return_inverse=True)
        counts = np.zeros((len(keys), some[0].counts.shape[1]), np.int64)
        np.add.at(counts, row, np.concatenate([one.counts for one in some]))
        n = (sum(getattr(one, name) for one in some) for name in ("influencers", "in_one_block"))
        return cls(keys, counts, *n)


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


def full_stratum(reach: int | None) -> int:
    """The first stratum of positions that are more than twice as far from the start as windows reach.

    >>> [position_strata(reach)[full_stratum(reach) - 1] for reach in (1, 3, 5)]  # up to here they are not
    [5, 7, 10]
    """
    return 1 << 30 if reach is None else 1 + sum(end < 2 * reach for end in position_strata(reach))


def longest_reach(windows: Sequence[Reach]) -> int | None:
    """The longest look-back in positions; None if one has no limit, or that of a time."""
    lookbacks = [k for _, k in windows]
    if any(k is None or isinstance(k, Duration) for k in lookbacks):
        return None
    return max((k for k in lookbacks if k is not None), default=1)


def count_moved(
    source: EventSource,
    questions: Sequence[OrderQuestion],
    shuffles: Shuffles,
    progress: Callable[[int, int], None] | None = None,
) -> list[Moved]:
    """Count edges in the data as they are and in each of the shuffles."""
    if not questions:
        return []
    strata = position_strata(longest_reach([question.window for question in questions]))
    layout, labels = Layout.of(source), source.labels
    how = _How(replace(shuffles, n=0, done=0), strata, {*layout.outcomes, END} & {*labels}, layout.together)
    found, n = list[Moved](), source.label_counts / source.scale
    work = np.cumsum([shuffles.n * one.part * n[one.influencer] for one in questions]) // _PART_MOVES
    for part in np.unique(work):
        some = np.flatnonzero(work == part).tolist()
        counted = source.map(partial(_count_moved, how, shuffles.replicates), [questions[at] for at in some])
        found += [one.completed(questions[at].base) for one, at in zip(counted, some, strict=True)]
        if progress is not None:
            progress(len(found), len(questions))
    return found


@dataclass(frozen=True)
class _How:
    """What is the same for all edges: how events move, strata of positions, and labels that stay."""

    shuffles: Shuffles
    strata: tuple[int, ...]
    stays: set[str]
    together: bool

    def events(self, shard: Shard) -> tuple[kernels.OrderEvents, int]:
        """Sequences as the kernel takes them, and the unit of their times."""
        codes, moments, nothing = shard.codes, shard.rows.moments, np.empty(0, np.int64)
        held, held_by = np.empty(0, np.int32), nothing
        tick, bounds, times, unit = np.arange(len(codes)), shard.offsets, nothing, 1
        stays = np.array([*(label in self.stays for label in shard.labels), False])
        if not moments.is_plain:
            index = shard.index
            held, held_by = codes[index.attribute], index.sequence[index.attribute]
            codes, tick, bounds = codes[~index.attribute], index.tick[~index.attribute], index.bounds
            unit = moments.unit.size
            times = nothing if moments.times is None else moments.times[index.rows]
        cuts = self.shuffles.cut(bounds, times, unit)
        sequence = np.searchsorted(bounds, cuts[:-1], side="right") - 1
        seeds = kernels.sequence_seeds(self.shuffles.seed, 0, shard.keys)[sequence]
        seeds = kernels.block_seeds(seeds, cuts[:-1] - bounds[sequence])
        place = np.arange(len(tick) and int(bounds[-1])) + 1
        place -= np.repeat(bounds[:-1], np.diff(bounds))
        strata = np.searchsorted(self.strata, place, side="left").astype(np.uint8)
        where = tick, bounds, times, strata, cuts, seeds
        who = shard.weights, held, held_by, stays, len(shard.labels), self.together
        return kernels.OrderEvents(codes, *where, *who), unit


def _count_moved(
    how: _How, replicates: IntArray, shard: Shard, questions: Sequence[OrderQuestion]
) -> list[Moved]:
    """Some edges of one shard in all of the shuffles; the last way to look at its events is kept."""
    kept = shard.index.kept.get("order")
    if kept is None or kept[0] != how:
        kept = shard.index.kept["order"] = how, *how.events(shard)
    _, events, unit = kept
    edges = _in_arrays(questions, unit)
    return [Moved(*counted) for counted in kernels.order_counts(events, edges, replicates)]


def _in_arrays(questions: Sequence[OrderQuestion], unit: int) -> kernels.OrderEdges:
    """Questions as the kernel takes them; one delay serves all of a graph."""

    def size(span: kernels.Span) -> int:
        return span.size if not span.in_time or span.size == kernels.UNLIMITED else span.size // unit

    def far(window: Reach) -> tuple[int, int]:
        return size(window.lookback_span), int(window.lookback_span.in_time)

    strata = np.cumsum([0, *(len(one.strata) for one in questions)]).tolist()
    left_out = np.cumsum([0, *(len(one.left_out) for one in questions)]).tolist()
    edges = [
        (
            one.influencer,
            one.target,
            *far(one.window),
            int(one.only),
            *strata[at : at + 2],
            *left_out[at : at + 2],
            *(round(share * 2**32) for share in (one.part, one.base)),
        )
        for at, one in enumerate(questions)
    ]
    delay = max((one.window.delay_span for one in questions), default=kernels.Span(0))
    return kernels.OrderEdges(
        np.array(edges, np.int64).reshape(-1, 11),
        np.array([z for one in questions for z in one.strata], np.int32),
        np.array([far(each) for one in questions for each in one.windows], np.int64).reshape(-1, 2),
        np.array([x for one in questions for x in one.left_out], np.int32),
        size(delay),
        delay.in_time,
    )
