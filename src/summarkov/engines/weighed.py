"""One piece of the data under many weights at once, and how requests for several replicates become one."""

from __future__ import annotations

import bisect
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from summarkov import kernels
from summarkov.engines.counts import CandidateCounts, Counts, RecencyCounts, StateCounts
from summarkov.engines.pools import Inline
from summarkov.engines.requests import CandidatesRequest, RecencyRequest, Request, Target, join
from summarkov.engines.shard import Shard
from summarkov.errors import SettingError, TooLargeError
from summarkov.kernels.replicates import Positions
from summarkov.summaries import WindowSummary
from summarkov.typing import IntArray

#: Cells that one table may have under all weights together.
_MOST_CELLS = 1 << 26


#: Bytes of what positions see that may be held at once, and kept from pass to pass.
_MOST_KEPT = 1 << 28


class Kept:
    """What positions see through windows: looked up again for other requests, as long as there is room."""

    def __init__(self) -> None:
        self._found: dict[tuple[object, ...], Positions] = {}
        self._bytes = 0

    @property
    def is_full(self) -> bool:
        """Whether no more should be added."""
        return self._bytes > _MOST_KEPT

    def clear(self) -> None:
        """Forget all."""
        self._found.clear()
        self._bytes = 0

    def __contains__(self, name: tuple[object, ...]) -> bool:
        return name in self._found

    def get(self, name: tuple[object, ...], make: Callable[[], Positions]) -> Positions:
        """What is kept under a name; made if there is none."""
        rows = self._found.get(name)
        if rows is None:
            rows = self._found[name] = make()
            self._bytes += rows.n_bytes
        return rows


@dataclass(frozen=True)
class Weighed:
    """A piece of the data: event i is of ``unit[i]``, and unit u weighs ``weights[u, b]`` in replicate b."""

    index: kernels.Index
    labels: Sequence[str]
    unit: IntArray
    weights: IntArray
    kept: Kept = field(default_factory=Kept)
    place: tuple[int, int] = (0, 0)  # of the piece, where several share what is kept

    def name(self, summary: WindowSummary) -> tuple[object, ...]:
        """Under which name it is kept what positions see."""
        window = summary.window(self.labels)
        return self.place, window.kind, window.lookback.tobytes(), window.delay, window.cap

    def rows(self, summary: WindowSummary) -> Positions:
        """What every position sees."""
        window = summary.window(self.labels)
        return self.kept.get(
            self.name(summary), lambda: Positions.of(self.index, window, self.unit, self.weights)
        )

    def count_all(
        self, asked: Sequence[tuple[Request, IntArray]], pool: ThreadPoolExecutor | Inline
    ) -> list[Counts]:
        """The counts of requests, each with the replicates that it is asked for.

        What positions see through a window is worked out before threads share it. Requests about the same
        window are counted together, so that no more than some windows need be held at once.
        """
        of_window: dict[tuple[object, ...], list[int]] = {}
        for at, (request, _) in enumerate(asked):
            summary = request.summary
            name = self.name(summary) if isinstance(summary, WindowSummary) else ()
            of_window.setdefault(name, []).append(at)
        found: dict[int, Counts] = {}
        waiting: list[int] = []

        def count_waiting() -> None:
            found.update(zip(waiting, pool.map(lambda at: self.count(*asked[at]), waiting), strict=True))
            waiting.clear()

        for name, some in sorted(of_window.items(), key=lambda pair: pair[0] not in self.kept):
            summary = asked[some[0]][0].summary
            if isinstance(summary, WindowSummary):
                if name not in self.kept and self.kept.is_full:
                    count_waiting()
                    self.kept.clear()
                self.rows(summary)
            waiting += some
        count_waiting()
        return [found[at] for at in range(len(asked))]

    def count(self, request: Request, replicates: IntArray) -> Counts:
        """The counts of one request, with replicates as their last axis."""
        if isinstance(request, RecencyRequest):
            return self._count_recency(request, replicates)
        which = None if len(replicates) == self.weights.shape[1] else replicates
        influencers = np.array(request.influencers, np.int32)
        outcome_of, n_outcomes = request.target.outcome_of(), request.target.n_outcomes
        if isinstance(request.summary, WindowSummary):
            rows = self.rows(request.summary)
            chosen = None
            if isinstance(request, CandidatesRequest):
                chosen = np.array(request.candidates, np.int32)
            try:
                counted = rows.count(influencers, chosen, outcome_of, n_outcomes, which)
            except MemoryError:
                if len(replicates) == 1:
                    raise TooLargeError(
                        f"the states of {len(influencers)} influencers joined by each candidate are too many "
                        "to count; set max_influencers, raise gamma, or give candidates"
                    ) from None
                half = len(replicates) // 2
                a, b = (self.count(request, some) for some in (replicates[:half], replicates[half:]))
                return _side_by_side(a, b)
            if chosen is not None:
                return CandidateCounts(*counted)
            return StateCounts(*counted[:2])
        ids, keys = request.summary.encode(self.index, request.influencers, self.labels)
        outcome = outcome_of[self.index.codes].astype(np.int64)
        cells = np.where(outcome < 0, -1, ids * n_outcomes + outcome)
        weights = self.weights if which is None else np.ascontiguousarray(self.weights[:, which])
        counts = kernels.add_rows(cells, self.unit, weights, len(keys) * n_outcomes)
        return StateCounts(keys, counts.reshape(len(keys), n_outcomes, len(replicates)))

    def _count_recency(self, request: RecencyRequest, replicates: IntArray) -> RecencyCounts:
        """Requests of trees, replicate by replicate: no two have the same tree for long."""
        each = []
        for b in replicates.tolist():
            weights = np.zeros(len(self.index.offsets) - 1, np.int64)
            if len(self.weights):  # else all sequences are empty
                weights[:] = self.weights[self._unit_of_sequence, b]
            each.append(Shard(self.index, self.labels, weights).count(request))
        tables = zip(*(counts._tables for counts in each if isinstance(counts, RecencyCounts)), strict=True)
        return RecencyCounts(*(np.stack(same, axis=-1) for same in tables))

    @cached_property
    def _unit_of_sequence(self) -> IntArray:
        lengths = np.diff(self.index.offsets)
        units = np.zeros(len(lengths), np.int64)
        units[lengths > 0] = self.unit[self.index.offsets[:-1][lengths > 0]]
        if not np.array_equal(np.repeat(units, lengths), self.unit):
            raise SettingError("trees are learned again from whole sequences; blocks must not cut them")
        return units


def answer(
    requests: Sequence[Request],
    n_replicates: int,
    counted: Callable[[list[Request], list[IntArray]], list[Counts]],
) -> list[Counts]:
    """Answer requests, each for its replicates, from what ``counted`` counts for fewer, joint ones.

    ``counted`` is given joint requests and the replicates that each is asked for, and returns counts with
    replicates as their last axis.
    """
    everyone = np.arange(n_replicates)
    joint, answered_by = join(requests, _most_targets(requests, n_replicates))
    members: list[set[int]] = [set() for _ in joint]
    for request, at in zip(requests, answered_by, strict=True):
        members[at].update(range(n_replicates) if request.replicates is None else request.replicates)
    asked = []
    for request, some in zip(joint, members, strict=True):
        # picking half of the weights costs as much as adding them all
        most = 2 * len(some) > n_replicates and not isinstance(request, RecencyRequest)
        asked.append(everyone if most else np.array(sorted(some)))
    totals = [Total.of(counts) for counts in counted(joint, asked)]
    return [
        totals[at].narrow(joint[at].target, request.target, asked[at], request.replicates)
        for request, at in zip(requests, answered_by, strict=True)
    ]


def _most_targets(requests: Sequence[Request], n_replicates: int) -> int:
    """How many labels may share one table."""
    most = max((len(r.candidates) for r in requests if isinstance(r, CandidatesRequest)), default=1)
    return max(1, _MOST_CELLS // (8 * max(1, most) * n_replicates))


@dataclass(frozen=True)
class Total:
    """Counts whose last axes are outcome and replicate, and their sums over the outcomes."""

    counts: Counts
    sums: tuple[IntArray, ...]

    @classmethod
    def of(cls, counts: Counts) -> Total:
        return cls(counts, tuple(np.asarray(table.sum(axis=-2)) for table in _tables(counts)))

    def narrow(self, joint: Target, target: Target, counted: IntArray, asked: Sequence[int] | None) -> Counts:
        """The counts for one target and some of the replicates that were counted, these as the first axis."""
        asked = range(len(counted)) if asked is None else asked
        at = None if len(asked) == len(counted) else np.searchsorted(counted, np.array(asked))
        columns = [bisect.bisect_left(joint.codes, code) for code in target.codes]

        def pick(counts: IntArray, sums: IntArray) -> IntArray:
            picked = np.empty((target.n_outcomes, *sums.shape[:-1], len(asked)), np.int64)
            for outcome, column in enumerate(columns):
                picked[outcome] = counts[..., column, :] if at is None else counts[..., column, at]
            if target.has_residual:
                picked[-1] = sums if at is None else sums[..., at]
                for outcome in range(len(columns)):
                    picked[-1] -= picked[outcome]
            return picked.swapaxes(0, -1)

        # How sums of floats are rounded depends on the layout, so it must be that of counts made alone.
        first, *rest = (pick(*pair) for pair in zip(_tables(self.counts), self.sums, strict=True))
        first = np.ascontiguousarray(first)
        if isinstance(self.counts, RecencyCounts):
            return RecencyCounts(first, *map(np.ascontiguousarray, rest))
        return type(self.counts)(self.counts.keys, first, *rest)


def _tables(counts: Counts) -> tuple[IntArray, ...]:
    if isinstance(counts, RecencyCounts):
        return counts._tables
    return (counts.counts, counts.present) if isinstance(counts, CandidateCounts) else (counts.counts,)


def _side_by_side(a: Counts, b: Counts) -> Counts:
    assert not isinstance(a, RecencyCounts)
    joined: Any = [np.concatenate(pair, axis=-1) for pair in zip(_tables(a), _tables(b), strict=True)]
    return type(a)(a.keys, *joined)
