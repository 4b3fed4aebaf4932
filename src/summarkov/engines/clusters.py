"""A pass after the search: how much each sequence moves the ratio of every edge, so that they may differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from summarkov import kernels
from summarkov.engines.counts import StatesRequest, merge_keys
from summarkov.engines.followings import Asked
from summarkov.engines.source import EventSource, Shard
from summarkov.kernels import ClusterSums, ClusterValues
from summarkov.summaries import Reach, WindowSummary
from summarkov.typing import BoolArray, FloatArray, KeyArray

#: Patterns of presence of more influencers than this do not fit into a number.
_MOST_BITS = 60
#: How many windows a block holds at least.
_WINDOWS = 10
#: Sums below this are nothing but rounding.
_NOTHING = 1e-24


@dataclass(frozen=True)
class Clusters:
    """Sums over clusters of the positions of one target: over sequences, ``[0]``, and over blocks, ``[1]``.

    ``squares[kind, x, u]`` is the sum, over clusters, of the square of what each adds to the logarithm of the
    ratio of the edge from influencer u to label x. ``n[kind, u]`` is the number of clusters that have
    positions with the influencer, or that of those that have some without, whichever is less.
    """

    squares: FloatArray
    n: FloatArray

    @classmethod
    def of(cls, sums: ClusterSums, scale: int, is_attribute: BoolArray) -> Clusters:
        """From what was added up. It is rounded, so that the order in which that was done does not show.

        Attributes belong to sequences, so blocks of one tell nothing more of them.
        """
        squares = np.where(sums.squares / scale < _NOTHING, 0.0, sums.squares / scale)
        squares, n = squares.astype(np.float32).astype(float), sums.clusters.min(axis=1) / scale
        squares[1] = np.where(is_attribute, squares[0], squares[1])
        n[1] = np.where(is_attribute, n[0], n[1])
        return cls(squares, n)

    def edge(self, influencer: int, label: int) -> tuple[FloatArray, FloatArray]:
        """Sums of squares and numbers of clusters of one edge."""
        return self.squares[:, label, influencer], self.n[:, influencer]


@dataclass(frozen=True)
class Clustered:
    """What the positions of a target add to its edges, by state; ``keys`` are those of the states."""

    request: StatesRequest
    asked: Asked
    keys: KeyArray
    values: ClusterValues


def block_of(windows: Sequence[Reach]) -> kernels.Span | None:
    """How long blocks are at least: ten times the longest window; None where one has no limit."""
    spans = [window.lookback_span for window in windows]
    if any(span.size >= kernels.UNLIMITED for span in spans) or len({span.in_time for span in spans}) != 1:
        return None
    return kernels.Span(_WINDOWS * max(span.size for span in spans), spans[0].in_time)


def sum_clusters(source: EventSource, asked: Sequence[Clustered | None]) -> list[Clusters | None]:
    """Answer for several targets in one pass; None for those that ask nothing."""
    wanted = tuple(one for one in asked if one is not None)
    sums = iter(source.map(_add_clusters, wanted) if wanted else ())
    attributes = np.searchsorted(source.labels, source.attributes)
    return [
        None
        if one is None
        else Clusters.of(next(sums), source.scale, np.isin(one.asked.influencers, attributes))
        for one in asked
    ]


def _add_clusters(shard: Shard, asked: Sequence[Clustered]) -> list[ClusterSums]:
    """The sums of a shard; targets whose states are patterns of presence are followed all at once."""
    found: dict[int, ClusterSums] = {}
    by_delay: dict[kernels.Span, list[int]] = {}
    for at, one in enumerate(asked):
        if isinstance(one.request.summary, WindowSummary) and len(one.asked.influencers) <= _MOST_BITS:
            by_delay.setdefault(one.asked.windows[0].delay_span, []).append(at)
        else:
            found[at] = _by_state(shard, one)
    for some in by_delay.values():
        targets, values = [_target(asked[at].asked) for at in some], [asked[at].values for at in some]
        sums = kernels.cluster_presence(shard.index, shard.weights, targets, values)
        found.update(zip(some, sums, strict=True))
    return [found[at] for at in range(len(asked))]


def _by_state(shard: Shard, one: Clustered) -> ClusterSums:
    """The sums of one target from the state of each position by its own summary."""
    request = one.request
    ids, keys = request.summary.encode(shard.index, request.influencers, shard.labels)
    if isinstance(request.summary, WindowSummary):
        keys = (keys > 0).astype(np.int32)
    merged, (mine, theirs) = merge_keys([one.keys, keys])
    row_of = np.zeros(len(merged), np.int64)
    row_of[mine] = np.arange(len(mine))
    labels = np.array(one.asked.labels, np.int32)
    return kernels.cluster_states(shard.index, shard.weights, row_of[theirs][ids], labels, one.values)


def _target(asked: Asked) -> kernels.ClusterTarget:
    """A question as the kernel takes it; one delay serves all of a graph."""
    spans = [window.lookback_span for window in asked.windows]
    return kernels.ClusterTarget(
        np.array(asked.influencers, np.int32),
        np.array([span.size for span in spans], np.int64),
        np.array([span.in_time for span in spans], bool),
        max((window.delay_span for window in asked.windows), default=kernels.Span(0)),
        np.array(asked.labels, np.int32),
    )
