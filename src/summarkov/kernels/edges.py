"""What is counted of edges: followings, what each sequence adds to a ratio, and what shuffles leave of it.

An edge is compared with the same sequences, its influencer's events moved against all the others. Events of
the influencer Z and all others are two processes if Z has no influence. So the order of the others is kept,
and rotated against Z's by a random number of steps inside each block: every other event takes what is in its
own past along, and meets Z where it comes to stand. Where the target is Z itself, or stays in place, Z's
events are scattered over their block instead.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from summarkov.kernels.index import BINARY, UNLIMITED, Index, Span, Window
from summarkov.kernels.numpy_kernels import merge_keys, random_numbers, window_states
from summarkov.typing import BoolArray, CodeArray, FloatArray, HashArray, IntArray

#: Whose followings are counted, beside a label: all positions, or all sequences.
EVERY_POSITION, EVERY_SEQUENCE = -1, -2
#: Lags up to 255 have bins of their own, longer ones share theirs with lags that are less than 1% longer.
LAG_BINS = 7296


def lag_bins(lags: IntArray) -> IntArray:
    """The bin of each lag; longer lags have later bins.

    >>> lag_bins(np.array([0, 255, 256, 257, 258, 2**62])).tolist()
    [0, 255, 256, 256, 257, 7168]
    """
    shift = np.zeros(len(lags), np.int64)
    while (long := lags >> shift >= 256).any():
        shift += long
    return np.asarray(128 * shift + (lags >> shift))


def count_followed(
    index: Index, weights: IntArray | None, complete: BoolArray, pairs: IntArray
) -> tuple[IntArray, IntArray]:
    """Count followings in whole sequences.

    A row of ``pairs`` is an influencer z, a target x, a delay d and a look-back k, and whether d and k are
    times. ``complete`` tells of each sequence whether its last position is its end, which is no event; a
    window that lies beyond the last event of another is cut off.

    Returns ``sums[pair, 8]``, weighted: sequences with z, those in which x follows z, those with z and x,
    those of them in which the first z comes before the first x; occurrences of z, those that x follows; and
    the same two of those whose window is not cut off. For an attribute, and for every sequence, these are
    sequences with it, and those that contain x. And ``lags``, of which a row is a pair, 0 or 1, the bin of a
    lag, and a number: of occurrences (0) that x first follows after so long, (1) that x does not follow in
    a window that is cut off after so long.
    """
    found: list[tuple[int, ...]] = []
    stops = index.bounds[1:] - complete  # one past the last event of each sequence
    sums = np.zeros((len(pairs), 8), np.int64)
    sequence = np.repeat(np.arange(len(complete)), np.diff(index.bounds))  # of each position
    each = np.ones(len(complete), np.int64) if weights is None else weights
    for number, (z, label, *window) in enumerate(pairs.tolist()):
        x = index.tick[index.codes == label]
        first_x = np.full(len(complete), UNLIMITED)
        np.minimum.at(first_x, sequence[x], x)
        is_attribute = z >= 0 and index.attributes is not None and index.attributes[z]
        if z == EVERY_SEQUENCE or is_attribute:
            some = np.arange(len(complete))
            if is_attribute:
                some = index.sequence[index.codes == z]
            sums[number, [0, 4, 6]] = each[some].sum()
            sums[number, [1, 5, 7]] = each[some[first_x[some] < UNLIMITED]].sum()
            continue
        if z == EVERY_POSITION:
            at = np.arange(len(sequence))
            at = at[at < stops[sequence]]
        else:
            at = index.tick[index.codes == z]
            some, first = np.unique(sequence[at], return_index=True)
            both = first_x[some] < UNLIMITED
            sums[number, 0], sums[number, 2] = each[some].sum(), each[some[both]].sum()
            sums[number, 3] = each[some[both & (at[first] < first_x[some])]].sum()
        delay, lookback, delay_in_time, in_time = window
        in_time = in_time and lookback < UNLIMITED
        of, clock = sequence[at], index.tick_times if in_time else np.arange(len(sequence))
        assert clock is not None
        when = None if index.tick_times is None else index.tick_times[at]
        spans = Span(delay, bool(delay_in_time)), Span(lookback, bool(in_time))
        first, beyond = (index.beyond(at, when, of, span) for span in spans)
        next_x = np.append(x, len(sequence))[np.searchsorted(x, first)]
        hit = next_x < beyond
        later = clock[stops[of] - 1] - clock[at]  # how long the sequence goes on
        lag = clock[np.where(hit, next_x, at)] - clock[at]
        over = complete[of] | (later >= (-(-lookback // index.unit) if in_time else lookback))
        if z >= 0:
            sums[number, 1] = each[np.unique(of[hit])].sum()
        n = each[of]
        sums[number, 4:] = [n.sum(), *(n[which].sum() for which in (hit, over, hit & over))]
        for kind, (which, lags) in enumerate(((hit, lag), (~hit & ~over, later))):
            of_bin = np.zeros(LAG_BINS, np.int64)
            np.add.at(of_bin, lag_bins(lags[which]), n[which])
            found += [(number, kind, used, int(of_bin[used])) for used in np.flatnonzero(of_bin).tolist()]
    return sums, np.array(found, np.int64).reshape(-1, 4)


# ---------------------------------------------------------------------- sequences that differ


class ClusterTarget(NamedTuple):
    """A target: its influencers, the look-back of each, the delay of all, and its labels."""

    influencers: CodeArray
    lookbacks: IntArray
    in_time: BoolArray  # which look-backs are times
    delay: Span
    labels: CodeArray


@dataclass(frozen=True)
class ClusterValues:
    """What a position adds to the edges of one target, by its state; an edge is a label x and an influencer.

    ``present[s, u]`` tells whether an influencer is there in a state: 1 or 0, or -1 where a tree does not
    ask. A position in state s adds ``base[s, x, u]`` to an edge, and where it is one of label x
    ``hit[s, x, u]`` more. ``block`` is the least length of a block; None: a block is a sequence.
    """

    present: CodeArray
    base: FloatArray
    hit: FloatArray
    block: Span | None = None


class ClusterSums(NamedTuple):
    """Sums over sequences, ``[0]``, and over blocks, ``[1]``, of one target; weighted.

    ``squares[kind, x, u]`` sums the square of what the positions of a cluster add to an edge together.
    ``clusters[kind, 0, u]`` counts those with some position at which the influencer is in the window, and
    ``[kind, 1, u]`` those with some position at which it is not.
    """

    squares: FloatArray
    clusters: IntArray


def cluster_presence(
    index: Index, weights: IntArray | None, targets: Sequence[ClusterTarget], values: Sequence[ClusterValues]
) -> list[ClusterSums]:
    """The sums of each target whose states are patterns of presence of its influencers; of one delay."""
    found = []
    for target, one in zip(targets, values, strict=True):
        lookback, in_time = np.ones(index.n_labels, np.int64), np.zeros(index.n_labels, bool)
        lookback[target.influencers], in_time[target.influencers] = target.lookbacks, target.in_time
        window = Window(BINARY, lookback, target.delay.size, 1, in_time, target.delay.in_time)
        ids, keys = window_states(index, target.influencers, window)
        _, (mine, theirs) = merge_keys([one.present, keys])
        row_of = np.zeros(max([*mine, *theirs], default=0) + 1, np.int64)
        row_of[mine] = np.arange(len(mine))
        found.append(cluster_states(index, weights, row_of[theirs][ids], target.labels, one))
    return found


def cluster_states(
    index: Index, weights: IntArray | None, state: IntArray, labels: CodeArray, values: ClusterValues
) -> ClusterSums:
    """The sums of one target, from the state of every row."""
    n_labels, n_influencers = values.base.shape[1:]
    squares = np.zeros((2, n_labels, n_influencers))
    clusters = np.zeros((2, 2, n_influencers), np.int64)
    filled = np.flatnonzero(np.diff(index.offsets))
    for kind, block in enumerate((None, values.block)):
        starts = np.union1d(index.offsets[filled], index.block_starts(block)).astype(np.int64)
        if not len(starts):
            continue
        sequence = np.searchsorted(index.offsets, starts, side="right") - 1
        weight = np.ones(len(starts), np.int64) if weights is None else weights[sequence]
        for u in range(n_influencers):
            present = values.present[state, u]
            for side, here in enumerate((present > 0, present == 0)):
                clusters[kind, side, u] = weight[np.logical_or.reduceat(here & index.heads, starts)].sum()
            for x, label in enumerate(labels.tolist()):
                each = values.base[state, x, u] * index.heads + values.hit[state, x, u] * (
                    index.codes == label
                )
                squares[kind, x, u] = (weight * np.add.reduceat(each, starts) ** 2).sum()
    return ClusterSums(squares, clusters)


# ---------------------------------------------------------------------- the order test

#: Counts of an edge: the keys of its strata (how far from the start they are; whether what stands there is in
#: its window or not, just as the last label of the strata is; and which labels of the strata are),
#: ``counts[stratum, 3 + 3 * replicates]`` (positions; then of each replicate the positions and the hits with
#: the influencer in the window, and all hits; last, positions and hits of blocks in which nothing has it
#: there or, where the influencer moves, of sequences without it), the number of events of the influencer, and
#: of those that are in sequences of one block.
OrderCounts = tuple[IntArray, IntArray, int, int]


class OrderEvents(NamedTuple):
    """Whole sequences, whose events stand at ticks that are numbered through all of them."""

    codes: CodeArray  # of each row
    tick: IntArray  # of each row, in order
    bounds: IntArray  # the first tick of each sequence, and the number of all
    times: IntArray  # of each tick; empty if there are none
    stratum: npt.NDArray[np.uint8]  # of each tick
    cuts: IntArray  # where blocks begin, and the number of ticks; no block is in two sequences
    seeds: HashArray  # of each block
    weights: IntArray | None  # of each sequence
    held: CodeArray  # attributes, and the sequence that has each
    held_by: IntArray
    stays: BoolArray  # of each label (last: of none) whether its rows keep their places
    n_labels: int
    together: bool = False  # whether events may happen together: then none displaces another


class OrderEdges(NamedTuple):
    """Edges.

    A row of ``edges`` is an influencer, a target, a look-back, whether that is a time, whether only what
    stays is counted, where in ``strata`` and in ``left_out`` the labels of the edge begin and end, and two
    limits of seeds (without their last 32 bits). Sequences are left out whose first block has none below the
    one; blocks and sequences that have nothing to do with the influencer, if they have none below the other.
    ``reaches`` are the look-backs of ``strata``, and whether they are times.
    """

    edges: IntArray
    strata: CodeArray
    reaches: IntArray
    left_out: CodeArray
    delay: int = 0
    delay_in_time: bool = False


def order_counts(events: OrderEvents, edges: OrderEdges, replicates: IntArray) -> list[OrderCounts]:
    """Count every edge in each of the replicates; 0 is the data as they are."""
    return [_counted(events, edges, row, replicates) for row in edges.edges.tolist()]


def _counted(events: OrderEvents, edges: OrderEdges, row: Sequence[int], replicates: IntArray) -> OrderCounts:
    z, x, size, in_time, only, first, last, first_out, last_out, *limits = row
    fixed = x == z or bool(events.stays[x])
    is_z = events.codes == z
    shown = np.ones(len(is_z), bool) if fixed else ~is_z & ~events.stays[events.codes]
    delay, lookback = Span(edges.delay, edges.delay_in_time), Span(size, bool(in_time))
    elements = _Elements(events, shown, delay)
    hit = elements.having(events.codes == x)
    stays = elements.having(events.stays[events.codes])
    out = elements.having(np.isin(events.codes, edges.left_out[first_out:last_out])) & ~hit
    if only:
        out |= ~stays
    pattern = np.zeros(elements.n, np.int64)
    for bit, (label, reach) in enumerate(
        zip(edges.strata[first:last].tolist(), edges.reaches[first:last].tolist(), strict=True)
    ):
        some = np.flatnonzero(elements.having(events.codes == label))
        there = elements.in_window(some, Span(reach[0], bool(reach[1])))
        there |= np.isin(elements.sequence, events.held_by[events.held == label])
        pattern |= there.astype(np.int64) << bit
    alike = np.ones(elements.n, bool)
    if last > first and not fixed and not events.together:  # one label each
        reach = edges.reaches[last - 1].tolist()
        alike = elements.known(Span(reach[0], bool(reach[1]))) == (pattern >> (last - first - 1) > 0)
    key = ((2 * events.stratum[elements.tick].astype(np.int64) + alike) << (last - first)) | pattern
    chances = events.seeds >> np.uint64(32)
    chance = np.append(chances, np.uint64(0))[_block_of(events, events.bounds[:-1])]  # of sequences
    of_sequence = (chance < np.uint64(limits[0])) * (1 if events.weights is None else events.weights)
    weight, block = of_sequence[elements.sequence], _block_of(events, elements.tick)
    if fixed:
        of_z = elements.having(is_z)
        keys, of = np.unique(key, return_inverse=True)
        counts = np.zeros((len(keys), 3 + 3 * len(replicates)), np.int64)
        lacks = ~np.isin(elements.sequence, elements.sequence[of_z])
        lacks_too = lacks & ~out & (chance[elements.sequence] < np.uint64(limits[1]))
        away = out | lacks
        for column, which in ((0, ~away), (-2, lacks_too), (-1, lacks_too & hit)):
            np.add.at(counts[:, column], of[which], weight[which])
        places = _Places(events, elements, of_z, of_z | ~(stays | (out & (x == z))))
        for b, replicate in enumerate(replicates.tolist()):
            chosen = places.scattered(np.uint64(replicate)) if replicate else of_z
            met = elements.in_window(np.flatnonzero(chosen), lookback)
            hits = (chosen if x == z else hit) & ~away
            for column, which in enumerate((met & ~away, met & hits, hits), 1 + 3 * b):
                np.add.at(counts[:, column], of[which], weight[which])
    else:
        everything = _Elements(events, np.ones(len(is_z), bool), delay)
        some = np.flatnonzero(everything.having(is_z))
        with_z = everything.in_window(some, lookback)[np.searchsorted(everything.tick, elements.tick)]
        is_chosen = chances[block] < np.uint64(limits[1])
        keys, counts = _rotated(events, elements, (key, weight, out, hit, with_z, is_chosen), replicates)
    kept = counts[:, 0] + counts[:, -2] > 0
    each = of_sequence * np.bincount(
        _sequence_of(events, events.tick[is_z]), minlength=len(events.bounds) - 1
    )
    one_block = np.bincount(_sequence_of(events, events.cuts[:-1]), minlength=len(each)) <= 2
    return keys[kept], counts[kept], int(each.sum()), int(each[one_block].sum())


def _sequence_of(events: OrderEvents, ticks: IntArray) -> IntArray:
    return np.asarray(np.searchsorted(events.bounds, ticks, side="right") - 1)


def _block_of(events: OrderEvents, ticks: IntArray) -> IntArray:
    return np.asarray(np.searchsorted(events.cuts, ticks, side="right") - 1)


class _Elements:
    """The ticks that hold one of some rows, as positions of their own."""

    def __init__(self, events: OrderEvents, shown: BoolArray, delay: Span) -> None:
        tick = events.tick[shown]
        times = events.times[tick] if len(events.times) == events.bounds[-1] else None
        offsets, starts = np.searchsorted(tick, events.bounds), np.diff(tick, prepend=-1) > 0
        self.index = Index(events.codes[shown], offsets, events.n_labels, starts, times=times)
        self.shown, self.delay, self.n = shown, delay, len(self.index.rows)
        self.tick, self.sequence = tick[self.index.rows], self.index.sequence[self.index.rows]

    def having(self, rows: BoolArray) -> BoolArray:
        """Which of them hold one of some rows."""
        found = np.zeros(self.n, bool)
        found[self.index.tick[rows[self.shown]]] = True
        return found

    def known(self, span: Span) -> BoolArray:
        """Which of them have their own label in their window."""
        found, mine = np.zeros(self.n, bool), np.empty(self.n, np.int32)
        mine[self.index.tick] = self.index.codes
        for code in np.unique(mine):
            some = np.flatnonzero(mine == code)
            found[some] = self.in_window(some, span)[some]
        return found

    def in_window(self, some: IntArray, span: Span) -> BoolArray:
        """Which of them have one of some in their window."""
        times, of = self.index.tick_times, self.sequence[some]
        when = None if times is None else times[some]
        begin, end = (self.index.beyond(some, when, of, each) for each in (self.delay, span))
        there = end > begin
        changes = np.zeros(self.n + 1, np.int64)
        np.add.at(changes, begin[there], 1)
        np.add.at(changes, end[there], -1)
        return np.asarray(np.cumsum(changes[:-1]) > 0)


def _random_below(seeds: HashArray, step: int, n: IntArray) -> IntArray:
    """Numbers from 0 on that are less than each of ``n``, which have at most 32 bits."""
    half = np.uint64(32)
    numbers = (random_numbers(seeds, np.uint64(step)) >> half) * n.astype(np.uint64)
    return (numbers >> half).astype(np.int64)


def _rotated(
    events: OrderEvents,
    elements: _Elements,
    each: tuple[IntArray, IntArray, BoolArray, BoolArray, BoolArray, BoolArray],
    replicates: IntArray,
) -> tuple[IntArray, IntArray]:
    """The others rotate inside blocks.

    Those count that differ from the one before (unless events happen together), and come neither after the
    target nor after what is left out.
    """
    key, weight, out, hit, with_z, is_chosen = each
    what = np.zeros(elements.n, np.uint64)
    codes = elements.index.codes.astype(np.int64)
    np.add.at(what, elements.index.tick, random_numbers((codes + 2).astype(np.uint64), np.uint64(1)))
    follows = np.append(False, elements.sequence[1:] == elements.sequence[:-1])[: elements.n]
    again = follows & np.append(False, what[1:] == what[:-1])[: elements.n] & (not events.together)
    after = follows & np.append(False, (hit | out)[:-1])[: elements.n]
    turns = ~again
    keys, row = np.unique(key[turns], return_inverse=True)
    cell = np.where((out | after)[turns], -1, 2 * row + hit[turns])
    weight, slots = weight[turns], np.flatnonzero(with_z[turns])

    def table(cells: IntArray, weights: IntArray) -> IntArray:
        found = np.zeros(2 * len(keys), np.int64)
        np.add.at(found, cells[cells >= 0], weights[cells >= 0])
        return found.reshape(-1, 2)

    block = _block_of(events, elements.tick[turns])
    here = np.isin(block, block[slots])
    there = ~here & is_chosen[turns]
    _, begin, of, size = np.unique(block, return_index=True, return_inverse=True, return_counts=True)
    seeds, of, all_cells = events.seeds[block[begin]], of[slots], table(cell[here], weight[here])
    others = table(cell[there], weight[there])
    counts = [all_cells.sum(axis=1)]
    for replicate in replicates.tolist():
        turn = _random_below(seeds, replicate, size)[of] if replicate else 0
        met = table(cell[begin[of] + (slots - begin[of] + turn) % size[of]], weight[slots])
        counts += [met.sum(axis=1), met[:, 1], all_cells[:, 1]]
    return keys, np.column_stack([*counts, others.sum(axis=1), others[:, 1]])


class _Places:
    """Where events of the influencer may stand, block by block: over places of events that do not stay."""

    def __init__(self, events: OrderEvents, elements: _Elements, of_z: BoolArray, may: BoolArray) -> None:
        self.n, block = elements.n, _block_of(events, elements.tick)
        places = np.flatnonzero(may & np.isin(block, block[of_z]))
        self.places = places[np.lexsort((places, ~of_z[places], block[places]))]  # those of Z first
        blocks, self.begin, self.size = np.unique(block[self.places], return_index=True, return_counts=True)
        self.seeds = events.seeds[blocks]
        self.moved = np.bincount(np.searchsorted(blocks, block[of_z]), minlength=len(blocks))

    def scattered(self, replicate: np.uint64) -> BoolArray:
        """Where the influencer's events are now: the first steps of shuffling the places of each block."""
        mixed, seeds = self.places.copy(), random_numbers(self.seeds, replicate)
        for step in range(int(self.moved.max(initial=0))):
            here = np.flatnonzero(self.moved > step)
            other = _random_below(seeds[here], step + 1, self.size[here] - step)
            one = self.begin[here] + step
            mixed[one], mixed[one + other] = mixed[one + other], mixed[one]
        found = np.zeros(self.n, bool)
        first = np.arange(len(mixed)) - np.repeat(self.begin, self.size) < np.repeat(self.moved, self.size)
        found[mixed[first]] = True
        return found
