"""The questions that strategies ask, for many replicates of one target at once."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from itertools import filterfalse

import numpy as np
import numpy.typing as npt

from summarkov.engines import CandidateCounts, CandidatesRequest, Request, StateCounts, StatesRequest
from summarkov.engines.counts import Counts
from summarkov.search.problem import FloatArray, Problem
from summarkov.summaries import WindowSummary

IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Group:
    """Replicates that stand at the same influencers, and once they are known the counts there."""

    influencers: tuple[int, ...]
    members: IntArray
    table: StateCounts | None = None  # replicates are the first axis

    def part(self, some: IntArray) -> Group:
        """Some of the members."""
        assert self.table is not None
        table = StateCounts(self.table.keys, self.table.counts[some])
        return Group(self.influencers, self.members[some], table)


@dataclass(frozen=True)
class Batch:
    """One problem under many weights. ``n_events`` are N in each replicate.

    The ordinary search is a batch of one, of a source that has no replicates.
    """

    problem: Problem
    n_events: Sequence[float]
    replicated: bool = True

    def join(
        self, groups: Sequence[Group]
    ) -> Generator[list[Request], list[Counts], list[tuple[Group, tuple[int, ...], FloatArray]]]:
        """Ask for each group's counts as they are, and the scores ``[member, candidate]`` once each joins."""
        problem = self.problem
        candidates = [_others(problem.optional, group.influencers) for group in groups]
        requests: list[Request] = []
        for group, joining in zip(groups, candidates, strict=True):
            if isinstance(problem.summary, WindowSummary):
                which = self._which(group)
                common = (problem.summary, group.influencers, problem.target)
                requests.append(CandidatesRequest(*common, joining, which))
            else:
                sets = [group.influencers, *(_with(group.influencers, z) for z in joining)]
                requests += [self._states(u, group) for u in sets]
        answers = iter((yield requests))
        joined = []
        for group, joining in zip(groups, candidates, strict=True):
            counts = next(answers)
            known = self._known(group, counts)
            if isinstance(counts, CandidateCounts):
                n_events = self._n_events(group) if self.replicated else None
                scores = problem.joined_scores(counts, group.influencers, joining, n_events)
                scores = scores if self.replicated else scores[None]
            else:
                each = [self._known(group, next(answers), _with(group.influencers, z)) for z in joining]
                scores = np.stack([self.score(one) for one in each], axis=-1)
            joined.append((known, joining, scores))
        return joined

    def states(self, groups: Sequence[Group]) -> Generator[list[Request], list[Counts], list[Group]]:
        """Ask for the counts of each group."""
        requests: list[Request] = [self._states(group.influencers, group) for group in groups]
        answers = (yield requests) if requests else []
        return [self._known(group, counts) for group, counts in zip(groups, answers, strict=True)]

    def leave(
        self, groups: Sequence[Group], leaving: Sequence[Sequence[int]]
    ) -> Generator[list[Request], list[Counts], list[list[Group]]]:
        """Each group once each of its ``leaving`` is left out; from its table where that can be."""
        summary = self.problem.summary
        sets = [
            [(group, tuple(u for u in group.influencers if u != z), z) for z in some]
            for group, some in zip(groups, leaving, strict=True)
        ]
        if summary.by_level:
            return [
                [
                    Group(left, group.members, _table(group).regroup(summary.without(_table(group).keys, at)))
                    for group, left, z in some
                    for at in [group.influencers.index(z)]
                ]
                for some in sets
            ]
        requests: list[Request] = [self._states(left, group) for some in sets for group, left, _ in some]
        answers = iter((yield requests) if requests else [])
        return [[self._known(group, next(answers), left) for group, left, _ in some] for some in sets]

    def score(self, group: Group) -> FloatArray:
        """The score of each member where it stands."""
        if not self.replicated:  # one table is scored faster without the axis of replicates
            one = StateCounts(_table(group).keys, _table(group).counts[0])
            return np.array([self.problem.score(one, group.influencers)])
        return self.problem.scores(_table(group).counts, group.influencers, self._n_events(group))

    def _n_events(self, group: Group) -> list[float]:
        return [self.n_events[b] for b in group.members.tolist()]

    def _states(self, influencers: tuple[int, ...], group: Group) -> StatesRequest:
        return StatesRequest(self.problem.summary, influencers, self.problem.target, self._which(group))

    def _which(self, group: Group) -> tuple[int, ...] | None:
        return tuple(group.members.tolist()) if self.replicated else None

    def _known(self, group: Group, counts: Counts, influencers: tuple[int, ...] | None = None) -> Group:
        """The group with its counts, or with those of other influencers."""
        assert isinstance(counts, StateCounts | CandidateCounts)
        own = np.ascontiguousarray(counts.counts)  # as a request for states alone would have made it
        table = StateCounts(counts.keys, own if self.replicated else own[None])
        return Group(group.influencers if influencers is None else influencers, group.members, table)


def _others(optional: tuple[int, ...], influencers: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(filterfalse(frozenset(influencers).__contains__, optional)) if influencers else optional


def _with(influencers: tuple[int, ...], z: int) -> tuple[int, ...]:
    return tuple(sorted((*influencers, z)))


def _table(group: Group) -> StateCounts:
    assert group.table is not None
    return group.table
