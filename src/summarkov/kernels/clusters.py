"""How much each sequence, and each block of one, moves the ratio of every edge: sums of squares."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from summarkov.kernels.index import UNLIMITED, Index, Span
from summarkov.typing import BoolArray, CodeArray, FloatArray, IntArray


class PresenceAsked(NamedTuple):
    """Targets with their influencers; those of target t are ``starts[t]`` to before ``starts[t + 1]``.

    Its outcomes are the labels ``labels_starts[t]`` to before ``labels_starts[t + 1]`` of ``labels``, and
    last the residual one, which is that of all other events. ``in_time`` says which look-backs are times,
    ``delay_in_time`` whether the delay is one.
    """

    influencers: CodeArray
    lookbacks: IntArray
    starts: IntArray
    labels: CodeArray
    labels_starts: IntArray
    delay: int
    in_time: BoolArray
    delay_in_time: bool = False


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
    index: Index, weights: IntArray | None, asked: PresenceAsked, values: Sequence[ClusterValues]
) -> list[ClusterSums]:
    """The sums of each target of ``asked`` whose states are patterns of presence of its influencers."""
    found = []
    for t, (row, one) in enumerate(zip(presence_rows(index, asked), values, strict=True)):
        patterns = one.present.astype(np.int64) @ (1 << np.arange(one.present.shape[1])[::-1])
        order = np.argsort(patterns)
        at = np.searchsorted(patterns, row, sorter=order)
        state = order[np.minimum(at, len(order) - 1)]
        labels = asked.labels[asked.labels_starts[t] : asked.labels_starts[t + 1]]
        found.append(cluster_states(index, weights, state, labels, one))
    return found


def cluster_states(
    index: Index, weights: IntArray | None, state: IntArray, labels: CodeArray, values: ClusterValues
) -> ClusterSums:
    """The sums of one target, from the state of every row."""
    n_labels, n_influencers = values.base.shape[1:]
    squares = np.zeros((2, n_labels, n_influencers))
    clusters = np.zeros((2, 2, n_influencers), np.int64)
    begins = np.zeros(len(index.codes), bool)
    begins[index.begins] = True
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
                clusters[kind, side, u] = weight[np.logical_or.reduceat(here & begins, starts)].sum()
            for x, label in enumerate(labels.tolist()):
                each = values.base[state, x, u] * begins + values.hit[state, x, u] * (index.codes == label)
                squares[kind, x, u] = (weight * np.add.reduceat(each, starts) ** 2).sum()
    return ClusterSums(squares, clusters)


def block_starts(index: Index, block: Span | None) -> IntArray:
    """The rows at which blocks begin that do not begin a sequence.

    Blocks have the length that is asked for, or that time; the last of a sequence is longer by what is left.
    """
    if block is None or block.size >= UNLIMITED:
        return np.empty(0, np.int64)
    bounds = index.offsets if index.places is None else index.ticks.bounds
    if not block.in_time:
        sizes = np.maximum(np.diff(bounds) // block.size, 1) - 1  # of further blocks
        number = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        position = np.repeat(bounds[:-1], sizes) + (number + 1) * block.size
    else:
        assert index.ticks.times is not None
        filled = np.diff(bounds) > 0
        first, last = bounds[:-1][filled], bounds[1:][filled] - 1
        times, size = index.ticks.times, max(1, block.size // index.ticks.unit)
        most = np.maximum((times[last] - times[first]) // size, 1) - 1
        which = np.repeat(np.arange(len(first)), last - first + 1)
        number = np.minimum((times - times[first][which]) // size, most[which])
        position = np.flatnonzero((np.diff(number, prepend=0) > 0) & (np.diff(which, prepend=0) == 0))
    return np.asarray(position if index.places is None else index.ticks.rows[position])


def presence_rows(index: Index, asked: PresenceAsked) -> Iterator[IntArray]:
    """For each target and row the pattern of presence of its influencers, the first in the highest bit."""
    present: dict[tuple[int, int, bool], IntArray] = {}
    for start, stop in pairwise(asked.starts.tolist()):
        pattern = np.zeros(len(index.codes), np.int64)
        for each in zip(
            *(some[start:stop].tolist() for some in (asked.influencers, asked.lookbacks, asked.in_time)),
            strict=True,
        ):
            if each not in present:
                present[each] = _is_present(index, asked, *each)
            pattern = pattern * 2 + present[each]
        yield pattern


def _is_present(index: Index, asked: PresenceAsked, z: int, lookback: int, in_time: bool) -> IntArray:
    """For each row, 1 if a label is in its window, else 0."""
    of_z = np.flatnonzero(index.occurrences.code == z)
    first = index.first_rows(Span(asked.delay, asked.delay_in_time))[of_z]
    last = index.last_rows(Span(lookback, in_time))[of_z]
    there = last >= first
    changes = np.zeros(len(index.codes) + 1, np.int64)
    np.add.at(changes, first[there], 1)
    np.add.at(changes, last[there] + 1, -1)
    return (np.cumsum(changes[:-1]) > 0).astype(np.int64)
