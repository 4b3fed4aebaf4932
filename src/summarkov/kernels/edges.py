"""What is counted of edges: how often a label follows another, and what each sequence adds to a ratio."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from summarkov.kernels.index import BINARY, UNLIMITED, Index, Span, Window
from summarkov.kernels.numpy_kernels import merge_keys, window_states
from summarkov.typing import BoolArray, CodeArray, FloatArray, IntArray

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


@dataclass(frozen=True)
class ClusterSums:
    """Sums over sequences, ``[0]``, and over blocks, ``[1]``, of one target; weighted.

    ``squares[kind, x, u]`` sums the square of what the positions of a cluster add to an edge together.
    ``clusters[kind, 0, u]`` counts those with some position at which the influencer is in the window, and
    ``[kind, 1, u]`` those with some position at which it is not.
    """

    squares: FloatArray
    clusters: IntArray

    def __add__(self, other: ClusterSums) -> ClusterSums:
        return ClusterSums(self.squares + other.squares, self.clusters + other.clusters)


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
        starts = np.union1d(index.offsets[filled], block_starts(index, block)).astype(np.int64)
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


def block_starts(index: Index, block: Span | None) -> IntArray:
    """The rows at which blocks begin that do not begin a sequence.

    Blocks have the length that is asked for, or that time; the last of a sequence is longer by what is left.
    """
    if block is None or block.size >= UNLIMITED:
        return np.empty(0, np.int64)
    bounds, rows = index.bounds, index.rows
    if not block.in_time:
        sizes = np.maximum(np.diff(bounds) // block.size, 1) - 1  # of further blocks
        number = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        found: IntArray = rows[np.repeat(bounds[:-1], sizes) + (number + 1) * block.size]
        return found
    times, size = index.tick_times, max(1, block.size // index.unit)
    assert times is not None
    filled = np.diff(bounds) > 0
    first, last = bounds[:-1][filled], bounds[1:][filled] - 1
    most = np.maximum((times[last] - times[first]) // size, 1) - 1
    which = np.repeat(np.arange(len(first)), last - first + 1)
    number = np.minimum((times - times[first][which]) // size, most[which])
    begins: IntArray = rows[(np.diff(number, prepend=0) > 0) & (np.diff(which, prepend=0) == 0)]
    return begins
