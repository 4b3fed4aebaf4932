"""How often a target follows an influencer within its window: one pass over whole sequences."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from summarkov import kernels
from summarkov.engines.source import CountSource, EventSource, Layout
from summarkov.engines.work import Shard
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

    def __add__(self, other: Occurrences) -> Occurrences:
        return Occurrences(
            *(mine + theirs for mine, theirs in zip(_values(self), _values(other), strict=True))
        )


def _values(record: object) -> Iterable[float]:
    return vars(record).values()


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

    def __add__(self, other: Following) -> Following:
        sums: dict[str, Any] = {
            name: None if mine is None or (theirs := getattr(other, name)) is None else mine + theirs
            for name, mine in vars(self).items()
            if name != "lags"
        }
        if self.lags is None or other.lags is None:
            return Following(**sums)
        lags: FloatArray = np.concatenate([self.lags, other.lags])
        return Following(**sums, lags=_added(lags))


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

    def __add__(self, other: Followed) -> Followed:
        return Followed(
            tuple(
                tuple(a + b for a, b in zip(mine, theirs, strict=True))
                for mine, theirs in zip(self.edges, other.edges, strict=True)
            )
        )


def count_followed(source: CountSource, asked: Sequence[Asked]) -> list[Followed | None]:
    """Answer for several targets in one pass; None from a source that shows its counts only."""
    if not isinstance(source, EventSource):
        return [None] * len(asked)
    questions = _Questions(source)
    edges = [
        [
            [questions.edge(z, x, reach) for x in one.labels]
            for z, reach in zip(one.influencers, one.windows, strict=True)
        ]
        for one in asked
    ]
    answers = questions.answer(source)
    return [Followed(tuple(tuple(answers.of(edge) for edge in some) for some in each)) for each in edges]


def _end_codes(source: EventSource) -> tuple[int, ...]:
    """The labels that end a sequence, and are no events."""
    ends = {END, *Layout.of(source).outcomes}
    return tuple(code for code, label in enumerate(source.labels) if label in ends)


class _Questions:
    """What is to be counted for some edges, each question once."""

    def __init__(self, source: EventSource) -> None:
        attributes = set(Layout.of(source).attributes)
        self._is_attribute = [label in attributes for label in source.labels]
        self._ends = _end_codes(source)
        self._is_end = [label == END for label in source.labels]
        self._rows: dict[tuple[int, ...], int] = {}

    def edge(self, z: int, x: int, reach: Reach) -> tuple[int, int, bool]:
        """The questions about z and about all others, and whether it is told which comes first."""
        # What ends a case follows its last event only, whatever the window.
        reach = Reach(0, 1) if self._is_end[x] else reach
        delay, lookback = reach.delay_span, reach.lookback_span
        window = delay.size, lookback.size, int(delay.in_time), int(lookback.in_time)
        if self._is_attribute[z]:
            others: tuple[int, ...] = (kernels.EVERY_SEQUENCE, x, 0, 1, 0, 0)
        else:
            others = (kernels.EVERY_POSITION, x, *window)
        is_ordered = z != x and x not in self._ends and not self._is_attribute[z]
        return self._number((z, x, *window)), self._number(others), is_ordered

    def _number(self, row: tuple[int, ...]) -> int:
        return self._rows.setdefault(row, len(self._rows))

    def answer(self, source: EventSource) -> _Answers:
        """Count, in one pass."""
        rows = np.array(list(self._rows), np.int64).reshape(-1, 6)
        work = FollowedWork(rows, self._ends)
        return _Answers(*(source.run(work) if len(rows) else work.total([])), source.scale)


class _Answers:
    """What was counted for each question."""

    def __init__(self, sums: IntArray, lags: IntArray, scale: int) -> None:
        self._sums, self._lags, self._scale = sums, lags, scale
        self._starts = np.searchsorted(lags[:, 0], np.arange(len(sums) + 1))

    def of(self, edge: tuple[int, int, bool]) -> Following:
        """What is known of an edge."""
        mine, every, is_ordered = edge
        scale, own = self._scale, self._sums[mine]
        others = self._sums[every, 4:] - own[4:]
        with_, followed, both, first = (own[:4] / scale).tolist()
        return Following(
            followed,
            with_,
            both if is_ordered else None,
            first if is_ordered else None,
            Occurrences(*(own[4:] / scale).tolist()),
            Occurrences(*(others / scale).tolist()),
            self._lags_of(mine, every),
        )

    def _lags_of(self, mine: int, every: int) -> FloatArray:
        """Those of z, and of all others: of every position, less those of z."""
        parts = []
        for sign, group, which in ((1, 0, mine), (1, 1, every), (-1, 1, mine)):
            rows = self._lags[self._starts[which] : self._starts[which + 1]].copy()
            rows[:, 0] = group
            rows[:, 3] *= sign
            parts.append(rows)
        found = _added(np.concatenate(parts))
        found = found[found[:, 3] != 0]
        return np.column_stack([found[:, :3], found[:, 3] / self._scale])


@dataclass(frozen=True)
class FollowedWork:
    """Counts followings, see :func:`kernels.count_followed`; complete sequences end in one of ``ends``."""

    pairs: IntArray
    ends: tuple[int, ...]

    def run(self, shard: Shard) -> tuple[IntArray, IntArray]:
        """Those of a shard."""
        complete = np.diff(shard.offsets) > 0
        complete[complete] = np.isin(shard.codes[shard.offsets[1:][complete] - 1], self.ends)
        counted: tuple[IntArray, IntArray] = kernels.count_followed(
            shard.index, shard.weights, complete, self.pairs
        )
        return counted

    def total(self, answers: Sequence[tuple[IntArray, IntArray]]) -> tuple[IntArray, IntArray]:
        """Add them up."""
        sums: IntArray = np.zeros((len(self.pairs), 8), np.int64)
        lags: IntArray = np.zeros((0, 4), np.int64)
        for more, more_lags in answers:
            sums, lags = sums + more, _added(np.concatenate([lags, more_lags]))
        return sums, lags
