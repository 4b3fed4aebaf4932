"""How often a target follows an influencer within its window: one pass over whole sequences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

import numpy as np

from summarkov import kernels
from summarkov.engines.source import EventSource, Gathered, Shard
from summarkov.events.vocabulary import END
from summarkov.summaries import Reach
from summarkov.typing import FloatArray, IntArray

Lags = TypeVar("Lags", IntArray, FloatArray)


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
    """What was counted of an influencer z and a target x; None: not known.

    ``cases_with`` are sequences with z, ``cases_followed`` those in which x follows z in the window,
    ``cases_both`` those with z and x, ``cases_first`` those of them in which the first z comes before the
    first x. ``own`` are occurrences of z, ``others`` all positions at which z does not stand. A row of
    ``lags`` is 0 (own) or 1 (others), 0 (followed first after that lag) or 1 (not followed before the
    sequence was cut off after that lag), the bin of the lag, and a number.
    """

    cases_followed: float
    cases_with: float | None = None
    cases_both: float | None = None
    cases_first: float | None = None
    own: Occurrences | None = None
    others: Occurrences | None = None
    lags: FloatArray | None = None


def _added(lags: Lags) -> Lags:
    """Numbers of equal lags added up."""
    packed = (lags[:, 0] * 2 + lags[:, 1]) * kernels.LAG_BINS + lags[:, 2]
    _, first, of = np.unique(packed, return_index=True, return_inverse=True)
    found = lags[first]
    found[:, 3] = 0
    np.add.at(found[:, 3], of, lags[:, 3])
    return found


@dataclass(frozen=True)
class Followed:
    """For each influencer of a target, and each label of the target, what was counted: ``edges[u][x]``."""

    edges: tuple[tuple[Following, ...], ...]

    def of(self, influencer: int, label: int) -> Following:
        """What was counted of one edge."""
        return self.edges[influencer][label]


def count_followed(source: EventSource, asked: Sequence[Asked]) -> list[Followed]:
    """Answer for several targets in one pass."""
    labels, numbers = source.labels, dict[tuple[int, ...], int]()  # of each question, which is asked once
    ends = tuple(code for code, label in enumerate(labels) if label in {END, *source.outcomes})

    def edge(z: int, x: int, reach: Reach) -> tuple[int, int, bool]:
        """The numbers of the questions about z and about all others, and whether either can come first."""
        # What ends a case follows its last event only, whatever the window.
        reach = Reach(0, 1) if labels[x] == END else reach
        delay, lookback = reach.delay_span, reach.lookback_span
        window = x, delay.size, lookback.size, int(delay.in_time), int(lookback.in_time)
        is_attribute = labels[z] in source.attributes
        others = (
            (kernels.EVERY_SEQUENCE, x, 0, 1, 0, 0) if is_attribute else (kernels.EVERY_POSITION, *window)
        )
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
        return [Followed(tuple(() for _ in each)) for each in edges]
    sums, gathered = source.map(partial(_count_followed, np.array(list(numbers), np.int64), ends))
    lags = _added(np.concatenate(gathered.parts))
    starts = np.searchsorted(lags[:, 0], np.arange(len(sums) + 1))

    def following(mine: int, every: int, is_ordered: bool) -> Following:
        """What is known of an edge."""
        own, others = sums[mine] / source.scale, (sums[every, 4:] - sums[mine, 4:]) / source.scale
        with_, followed, both, first = own[:4].tolist()
        order: tuple[Any, Any] = (both, first) if is_ordered else (None, None)
        parts = []  # lags of z, and of all others: of every position, less those of z
        for sign, group, which in ((1, 0, mine), (1, 1, every), (-1, 1, mine)):
            rows = lags[starts[which] : starts[which + 1]].copy()
            rows[:, 0] = group
            rows[:, 3] *= sign
            parts.append(rows)
        found = _added(np.concatenate(parts))
        found = found[found[:, 3] != 0]
        each = np.column_stack([found[:, :3], found[:, 3] / source.scale])
        own_counts, other_counts = Occurrences(*own[4:].tolist()), Occurrences(*others.tolist())
        return Following(followed, with_, order[0], order[1], own_counts, other_counts, each)

    return [Followed(tuple(tuple(following(*one) for one in some) for some in each)) for each in edges]


def _count_followed(pairs: IntArray, ends: tuple[int, ...], shard: Shard) -> tuple[IntArray, Gathered]:
    """Those of a shard, see :func:`kernels.count_followed`; complete sequences end in one of ``ends``."""
    complete = np.diff(shard.offsets) > 0
    complete[complete] = np.isin(shard.codes[shard.offsets[1:][complete] - 1], ends)
    sums, lags = kernels.count_followed(shard.index, shard.weights, complete, pairs)
    return sums, Gathered([lags])
