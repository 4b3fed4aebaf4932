"""Passes after the search, about edges: how often a target follows, and how much sequences move the ratio."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from summarkov import kernels
from summarkov.engines.counts import StateCounts, StatesRequest, merge_keys
from summarkov.engines.source import EventSource, Shard
from summarkov.events.vocabulary import END
from summarkov.kernels import ClusterSums, ClusterValues
from summarkov.summaries import Reach, WindowSummary
from summarkov.typing import BoolArray, FloatArray, IntArray, KeyArray

#: Patterns of presence of more influencers than this do not fit into a number.
_MOST_BITS = 60
#: How many windows a block holds at least.
_WINDOWS = 10
#: Sums below this are nothing but rounding.
_NOTHING = 1e-24


@dataclass(frozen=True)
class Asked:
    """The influencers of a target, each with its window ``(d, k)``, and the labels of the target."""

    influencers: tuple[int, ...]
    windows: tuple[Reach, ...]
    labels: tuple[int, ...]


@dataclass(frozen=True)
class Occurrences:
    """Occurrences, weighted: all, those that are followed; the same of those whose window is not cut off."""

    n: float
    followed: float
    n_whole: float
    followed_whole: float


@dataclass(frozen=True)
class Following:
    """What was counted of an influencer z and a target x; None: not known, as in old files.

    ``cases_with`` are sequences with z, ``cases_followed`` those in which x follows z in the window,
    ``cases_both`` those with z and x, ``cases_first`` those of them in which the first z comes before the
    first x; None too where that has no meaning. ``own`` are occurrences of z, ``others`` all positions at
    which z does not stand. A row of ``lags`` is 0 (own) or 1 (others), 0 (followed first after that lag) or 1
    (not followed before the sequence was cut off after that lag), the bin of the lag, and a number; they
    are there only where windows of z were cut off.
    """

    cases_followed: float
    cases_with: float | None = None
    own: Occurrences | None = None
    others: Occurrences | None = None
    lags: FloatArray | None = None
    cases_both: float | None = None
    cases_first: float | None = None


#: What was counted of each influencer of a target, and each label of the target: ``followed[u][x]``.
Followed = tuple[tuple[Following, ...], ...]


def count_followed(source: EventSource, asked: Sequence[Asked]) -> list[Followed]:
    """Answer for several targets in one pass."""
    labels, numbers = source.labels, dict[tuple[int, ...], int]()  # of each question, which is asked once
    ends = tuple(code for code, label in enumerate(labels) if label in {END, *source.outcomes})

    def edge(z: int, x: int, reach: Reach) -> tuple[int, int, bool]:
        """The numbers of the questions about z and about all others, and whether either can come first."""
        # What ends a case follows its last event only, whatever the window.
        reach = Reach(0, 1) if labels[x] == END else reach
        spans = reach.delay_span, reach.lookback_span
        window = x, *(span.size for span in spans), *(int(span.in_time) for span in spans)
        is_attribute = labels[z] in source.attributes
        others = (kernels.EVERY_POSITION, *window)
        if is_attribute:
            others = kernels.EVERY_SEQUENCE, x, 0, 1, 0, 0
        own, every = (numbers.setdefault(row, len(numbers)) for row in ((z, *window), others))
        return own, every, z != x and x not in ends and not is_attribute

    edges = [
        [
            [edge(z, x, reach) for x in one.labels]
            for z, reach in zip(one.influencers, one.windows, strict=True)
        ]
        for one in asked
    ]
    if not numbers:
        return [tuple(() for _ in some) for some in edges]
    sums, lags = source.map(partial(_count_followed, np.array(list(numbers), np.int64), ends))
    starts = np.searchsorted(lags.keys[:, 0], np.arange(len(sums) + 1))

    def following(mine: int, every: int, is_ordered: bool) -> Following:
        """What is known of an edge; all others are all, less those of z."""
        own, others = sums[mine] / source.scale, (sums[every, 4:] - sums[mine, 4:]) / source.scale
        with_, followed, *order = own[:4].tolist()
        z, rest = (Occurrences(*each.tolist()) for each in (own[4:], others))
        return Following(
            followed, with_, z, rest, lags_of(mine, every) if z.n_whole < z.n else None, *order * is_ordered
        )

    def lags_of(mine: int, every: int) -> FloatArray:
        """How soon an influencer, and all others, are followed or cut off."""
        parts = []
        for sign, group, which in ((1, 0, mine), (1, 1, every), (-1, 1, mine)):
            rows = slice(starts[which], starts[which + 1])
            keys = lags.keys[rows].copy()
            keys[:, 0] = group
            parts.append(StateCounts(keys, sign * lags.counts[rows]))
        total = StateCounts.total(parts)
        found = np.hstack([total.keys, total.counts / source.scale])
        return np.asarray(found[found[:, 3] != 0])

    return [tuple(tuple(following(*one) for one in of_z) for of_z in some) for some in edges]


def _count_followed(pairs: IntArray, ends: tuple[int, ...], shard: Shard) -> tuple[IntArray, StateCounts]:
    """Those of a shard, see :func:`kernels.count_followed`; complete sequences end in one of ``ends``."""
    complete = np.diff(shard.offsets) > 0
    complete[complete] = np.isin(shard.codes[shard.offsets[1:][complete] - 1], ends)
    sums, lags = kernels.count_followed(shard.index, shard.weights, complete, pairs)
    return sums, StateCounts(lags[:, :3].astype(np.int32), lags[:, 3:])


# ---------------------------------------------------------------------- how much each sequence moves a ratio


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
