"""Events in memory under many weights at once: the graphs of a bootstrap from shared counts."""

from __future__ import annotations

import bisect
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
import numpy.typing as npt

from summarkov import kernels
from summarkov.engines.counts import CandidateCounts, Counts, RecencyCounts, StateCounts, stack_counts
from summarkov.engines.past import joint_memory
from summarkov.engines.pieces import Piece, even_cuts, pieces
from summarkov.engines.requests import CandidatesRequest, RecencyRequest, Request, join
from summarkov.engines.shard import Shard
from summarkov.engines.target import Target
from summarkov.engines.weights import MOST, refuse_overflow
from summarkov.errors import SettingError, TooLargeError
from summarkov.events import EventSequences
from summarkov.kernels.batch import MOST_PAIRS
from summarkov.kernels.rows import Rows
from summarkov.summaries import WindowSummary

IntArray = npt.NDArray[np.int64]

#: Cells that one table may have under all weights together.
_MOST_CELLS = 1 << 26
#: Pairs of a position and a label in its window that are kept from pass to pass.
_MOST_KEPT = 1 << 27


class ReplicatedSource:
    """Answers requests for many replicates at once; each has a weight for every unit of events.

    ``unit[i]`` is the unit of event i and ``weights[u, b]`` what it weighs in replicate b, in units of
    ``1 / scale``. Replicate b is what a :class:`LocalSource` with those weights would be, to the last bit.
    """

    def __init__(
        self, events: EventSequences, unit: IntArray, weights: IntArray, scale: int = 1, n_jobs: int = 1
    ) -> None:
        self.events, self.scale, self.n_jobs = events, scale, n_jobs
        self._unit, self._weights = unit, np.ascontiguousarray(weights)
        if float(weights.max(initial=0)) * len(unit) > MOST:  # else none can overflow
            totals = np.bincount(unit, minlength=len(weights)).astype(float) @ weights.astype(float)
            refuse_overflow(float(totals.max()), scale)
        self._kept: dict[tuple[int, bytes], Rows] = {}
        self._n_kept = 0
        self.units, self.n_units = "sequences", len(weights)  # what was drawn from, and how many there are

    @property
    def labels(self) -> tuple[str, ...]:
        return self.events.labels

    @property
    def n_replicates(self) -> int:
        """B."""
        return int(self._weights.shape[1])

    @cached_property
    def label_counts(self) -> IntArray:
        """N(x) of every label, ``[replicate, x]``."""
        cells = self.events.codes.astype(np.int64)
        return np.asarray(kernels.add_rows(cells, self._unit, self._weights, len(self.labels)).T)

    def count(self, requests: Sequence[Request]) -> list[Counts]:
        """Answer all requests, each for its replicates."""
        if not requests:
            return []
        if any(isinstance(request, RecencyRequest) for request in requests):
            return self._one_by_one(requests)
        joint, answered_by = join(requests, self._most_targets(requests))
        members: list[set[int]] = [set() for _ in joint]
        for request, at in zip(requests, answered_by, strict=True):
            members[at].update(self._replicates(request))
        everyone = np.arange(
            self.n_replicates
        )  # picking half of the weights costs as much as adding them all
        asked = [everyone if 2 * len(some) > len(everyone) else np.array(sorted(some)) for some in members]
        parts: list[list[Counts]] = [[] for _ in joint]
        with ThreadPoolExecutor(self.n_jobs) if self.n_jobs > 1 else nullcontext() as pool:
            for piece in self._pieces(joint):
                self._prepare(piece, joint)
                answer = partial(self._answer, piece)
                go = pool.map if pool is not None else map
                for part, counts in zip(parts, go(answer, joint, asked), strict=True):
                    part.append(counts)
        totals = [_Total.of(part) for part in parts]
        return [
            totals[at].narrow(joint[at].target, request.target, asked[at], self._replicates(request))
            for request, at in zip(requests, answered_by, strict=True)
        ]

    def _one_by_one(self, requests: Sequence[Request]) -> list[Counts]:
        """Answer requests of trees, replicate by replicate: no two have the same tree for long."""
        events, unit = self.events, self._unit
        some = np.flatnonzero(events.lengths > 0)
        of_sequence = np.zeros(len(events), np.int64)
        of_sequence[some] = unit[events.offsets[some]]
        if not np.array_equal(np.repeat(of_sequence, events.lengths), unit):
            raise SettingError("trees are learned again from whole sequences; blocks must not cut them")
        answers: list[dict[int, Counts]] = [{} for _ in requests]
        for b in range(self.n_replicates):
            mine = [at for at, request in enumerate(requests) if b in self._replicates(request)]
            if not mine:
                continue
            shard = Shard(self._whole.index, self.labels, np.ascontiguousarray(self._weights[of_sequence, b]))
            joint, answered_by = join([requests[at] for at in mine], self._most_targets(requests))
            counted = [shard.count(request) for request in joint]
            for at, by in zip(mine, answered_by, strict=True):
                answers[at][b] = counted[by].narrow(joint[by].target, requests[at].target)
        return [stack_counts([answer[b] for b in sorted(answer)]) for answer in answers]

    def _replicates(self, request: Request) -> Sequence[int]:
        return range(self.n_replicates) if request.replicates is None else request.replicates

    def _pieces(self, requests: Sequence[Request]) -> Iterator[Piece]:
        """The whole, or pieces small enough for their pairs of positions and labels."""
        recent, unlimited = joint_memory(request.summary for request in requests)
        reach = len(self.labels) if unlimited is not None else min(len(self.labels), recent)
        n = self.events.n_events
        cuts = even_cuts(n, 1 + n * max(1, reach) // MOST_PAIRS)
        if len(cuts) == 2:
            return iter([self._whole])
        return pieces(self.events, cuts, (recent, unlimited))

    @cached_property
    def _whole(self) -> Piece:
        return next(pieces(self.events, [0, self.events.n_events], (0, None)))

    def _prepare(self, piece: Piece, requests: Sequence[Request]) -> None:
        for request in requests:  # before threads share them
            if isinstance(request.summary, WindowSummary):
                self._rows(piece, request.summary)

    def _rows(self, piece: Piece, summary: WindowSummary) -> Rows:
        window = summary.window(self.labels)
        name = (
            piece.start,
            repr((window.kind, window.lookback.tobytes(), window.delay, window.cap)).encode(),
        )
        rows = self._kept.get(name)
        if rows is None:
            rows = Rows.of(piece.index, window, self._unit[piece.start : piece.stop], self._weights)
            self._n_kept += len(rows.row)
            if self._n_kept > _MOST_KEPT:
                self._kept, self._n_kept = {}, len(rows.row)
            self._kept[name] = rows
        return rows

    def _answer(self, piece: Piece, request: Request, replicates: IntArray) -> Counts:
        """The counts of one piece, with replicates as their last axis."""
        assert not isinstance(request, RecencyRequest)
        which = None if len(replicates) == self.n_replicates else replicates
        influencers = np.array(request.influencers, np.int32)
        outcome_of, n_outcomes = request.target.outcome_of(), request.target.n_outcomes
        if isinstance(request.summary, WindowSummary):
            rows = self._rows(piece, request.summary)
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
                a, b = (self._answer(piece, request, some) for some in (replicates[:half], replicates[half:]))
                return _side_by_side(a, b)
            if chosen is not None:
                return CandidateCounts(*counted)
            return StateCounts(*counted[:2])
        ids, keys = request.summary.encode(piece.index, request.influencers, self.labels)
        outcome = outcome_of[piece.index.codes].astype(np.int64)
        cells = np.where(outcome < 0, -1, ids * n_outcomes + outcome)
        weights = self._weights if which is None else np.ascontiguousarray(self._weights[:, which])
        unit = self._unit[piece.start : piece.stop]
        counts = kernels.add_rows(cells, unit, weights, len(keys) * n_outcomes)
        return StateCounts(keys, counts.reshape(len(keys), n_outcomes, len(replicates)))

    def _most_targets(self, requests: Sequence[Request]) -> int:
        """How many labels may share one table."""
        most = max((len(r.candidates) for r in requests if isinstance(r, CandidatesRequest)), default=1)
        return max(1, _MOST_CELLS // (8 * max(1, most) * self.n_replicates))


@dataclass(frozen=True)
class _Total:
    """Counts whose last axes are outcome and replicate, and their sums over the outcomes."""

    counts: StateCounts | CandidateCounts
    sums: tuple[IntArray, ...]

    @classmethod
    def of(cls, parts: list[Counts]) -> _Total:
        first = parts[0]
        if isinstance(first, CandidateCounts):
            total = CandidateCounts.total(parts)  # type: ignore[arg-type]
            return cls(total, (total.counts.sum(axis=-2), total.present.sum(axis=-2)))
        states = StateCounts.total(parts)  # type: ignore[arg-type]
        return cls(states, (states.counts.sum(axis=-2),))

    def narrow(self, joint: Target, target: Target, counted: IntArray, asked: Sequence[int]) -> Counts:
        """The counts for one target and some of the replicates that were counted, these as the first axis."""
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
        counts = np.ascontiguousarray(pick(self.counts.counts, self.sums[0]))
        if isinstance(self.counts, CandidateCounts):
            return CandidateCounts(self.counts.keys, counts, pick(self.counts.present, self.sums[1]))
        return StateCounts(self.counts.keys, counts)


def _side_by_side(a: Counts, b: Counts) -> Counts:
    assert not isinstance(a, RecencyCounts)
    assert not isinstance(b, RecencyCounts)
    counts = np.concatenate([a.counts, b.counts], axis=-1)
    if isinstance(a, CandidateCounts) and isinstance(b, CandidateCounts):
        return CandidateCounts(a.keys, counts, np.concatenate([a.present, b.present], axis=-1))
    return StateCounts(a.keys, counts)
