"""How much each sequence, and each block of one, moves the ratio of every edge: sums of squares."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from summarkov.kernels.index import BINARY, UNLIMITED, Index, Span, Window
from summarkov.kernels.numpy_kernels import merge_keys, window_states
from summarkov.typing import BoolArray, CodeArray, FloatArray, IntArray


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
