"""A shard, some of the data, and the counts of one request on it: as it is, or under many weights at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from summarkov import kernels
from summarkov.engines.counts import CandidateCounts, Counts, RecencyCounts, StateCounts
from summarkov.engines.requests import CandidatesRequest, RecencyRequest, Request
from summarkov.errors import SettingError, TooLargeError
from summarkov.kernels.resampling import Positions
from summarkov.summaries import WindowSummary
from summarkov.typing import IntArray

#: Bytes of what positions see that may be held at once, and kept from pass to pass.
_MOST_KEPT = 1 << 28


@dataclass(frozen=True)
class Shard:
    """Some sequences; the first may be the continuation of one that was cut, with its past."""

    index: kernels.Index
    labels: Sequence[str]
    weights: IntArray | None = None  # one per sequence

    def count(self, request: Request) -> Counts:
        """Answer one request for this shard alone."""
        if isinstance(request, RecencyRequest):
            return self._count_recency(request)
        influencers = np.array(request.influencers, np.int32)
        outcomes = (request.target.outcome_of(), request.target.n_outcomes)
        if isinstance(request.summary, WindowSummary):
            asked, given = None, None
            if isinstance(request, CandidatesRequest):
                asked, given = request.candidates, request.given_place
            window, candidates = request.summary.window(self.labels), np.array(asked or (), np.int32)
            try:
                counted = kernels.count_candidates(
                    self.index, self.weights, influencers, candidates, *outcomes, window, given
                )
            except MemoryError:
                if asked is None:
                    raise
                raise TooLargeError(
                    f"the states of {len(influencers)} influencers joined by each of {len(candidates)} "
                    "candidates are too many to count; set max_influencers, raise gamma, or give candidates"
                ) from None
            return StateCounts(*counted[:2]) if asked is None else CandidateCounts(*counted)
        ids, keys = request.summary.encode(self.index, request.influencers, self.labels)
        return StateCounts(keys, kernels.tabulate(self.index, self.weights, ids, len(keys), *outcomes))

    def _count_recency(self, request: RecencyRequest) -> RecencyCounts:
        tree = request.summary
        slots = np.full(len(tree.nodes), -1, np.int64)
        slots[tree.leaves[list(request.open)]] = np.arange(len(request.open))
        recency = tree.tests.recency(request.candidates)
        if recency.in_time and self.index.places is not None:
            recency = recency._replace(lookbacks=kernels.in_units(recency.lookbacks, self.index.places.unit))
        outcomes = (request.target.outcome_of(), request.target.n_outcomes)
        try:
            return RecencyCounts(
                *kernels.count_tests(
                    self.index, self.weights, tree.arrays_for(self.index), slots, recency, *outcomes
                )
            )
        except MemoryError:
            raise TooLargeError(
                f"the tests of {len(request.candidates)} labels at {len(request.open)} leaves for "
                f"{request.target.n_outcomes} outcomes are too many to count; give candidates, "
                "set max_depth, raise gamma, or leave out counts or pairs"
            ) from None


# ---------------------------------------------------------------------- many weights


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
        found = self._found.get(name)
        if found is None:
            found = self._found[name] = make()
            self._bytes += found.n_bytes
        return found


@dataclass(frozen=True)
class ReplicatedShard:
    """A shard under many weights: event i is of ``unit[i]``; u weighs ``weights[u, b]`` in replicate b."""

    index: kernels.Index
    labels: Sequence[str]
    unit: IntArray
    weights: IntArray
    kept: Kept = field(default_factory=Kept)
    place: tuple[int, int] = (0, 0)  # of the shard, where several share what is kept

    def name(self, summary: WindowSummary) -> tuple[object, ...]:
        """The name under which what positions see through a window is kept."""
        window = summary.window(self.labels)
        return self.place, *window.name

    def positions(self, summary: WindowSummary) -> Positions:
        """What every position sees."""
        window = summary.window(self.labels)
        return self.kept.get(
            self.name(summary), lambda: Positions.of(self.index, window, self.unit, self.weights)
        )

    def count_all(
        self, asked: Sequence[tuple[Request, IntArray]], map_: Callable[..., Iterable[Counts]]
    ) -> list[Counts]:
        """The counts of requests, each with its replicates; ``map_`` is ``map``, or that of a pool.

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
            found.update(zip(waiting, map_(lambda at: self.count(*asked[at]), waiting), strict=True))
            waiting.clear()

        for name, some in sorted(of_window.items(), key=lambda pair: pair[0] not in self.kept):
            summary = asked[some[0]][0].summary
            if isinstance(summary, WindowSummary):
                if name not in self.kept and self.kept.is_full:
                    count_waiting()
                    self.kept.clear()
                self.positions(summary)
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
            positions = self.positions(request.summary)
            chosen = None
            if isinstance(request, CandidatesRequest):
                chosen = np.array(request.candidates, np.int32)
            try:
                counted = positions.count(influencers, chosen, outcome_of, n_outcomes, which)
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
        weights = self.weights if which is None else np.ascontiguousarray(self.weights[:, which])
        counts = np.zeros((len(keys) * n_outcomes, len(replicates)), np.int64)
        for outcome, each in kernels.outcomes_counted(self.index, None, outcome_of):
            for times in [1] if each is None else np.unique(each).tolist():
                mine = (outcome >= 0) & (True if each is None else each == times)
                cells = np.where(mine, ids * n_outcomes + outcome, -1)
                counts += times * kernels.add_rows(cells, self.unit, weights, len(counts))
        return StateCounts(keys, counts.reshape(len(keys), n_outcomes, len(replicates)))

    def _count_recency(self, request: RecencyRequest, replicates: IntArray) -> RecencyCounts:
        """Requests of trees, replicate by replicate: no two have the same tree for long."""
        each = []
        for b in replicates.tolist():
            weights = np.zeros(len(self.index.offsets) - 1, np.int64)
            if len(self.weights):  # else all sequences are empty
                weights[:] = self.weights[self._unit_of_sequence, b]
            each.append(Shard(self.index, self.labels, weights).count(request))
        tables = zip(*(counts.tables for counts in each if isinstance(counts, RecencyCounts)), strict=True)
        return RecencyCounts(*(np.stack(same, axis=-1) for same in tables))

    @cached_property
    def _unit_of_sequence(self) -> IntArray:
        lengths = np.diff(self.index.offsets)
        units = np.zeros(len(lengths), np.int64)
        units[lengths > 0] = self.unit[self.index.offsets[:-1][lengths > 0]]
        if not np.array_equal(np.repeat(units, lengths), self.unit):
            raise SettingError("trees are learned again from whole sequences; blocks must not cut them")
        return units


def _side_by_side(a: Counts, b: Counts) -> Counts:
    """Counts of some replicates and of others as one."""
    assert not isinstance(a, RecencyCounts)
    joined: Any = [np.concatenate(pair, axis=-1) for pair in zip(a.tables, b.tables, strict=True)]
    return type(a)(a.keys, *joined)
