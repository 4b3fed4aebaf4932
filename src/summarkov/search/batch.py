"""The questions that strategies ask, for many targets and replicates at once; searches run side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import filterfalse
from typing import Protocol

import numpy as np

from summarkov.engines import CandidateCounts, CandidatesRequest, Request, StateCounts, StatesRequest
from summarkov.engines.counts import Counts, joined_tables, pick_replicate, state_tables
from summarkov.engines.growing import GrowingCounts
from summarkov.search.problem import Answer, Asking, Problem, Search, SearchResult
from summarkov.summaries import WindowSummary
from summarkov.typing import FloatArray, IntArray

#: Searches of all problems of a batch: one list of results per problem, with one result per replicate.
Searches = Asking[list[list[SearchResult]]]

#: Numbers that are scored at once, so that they stay near the processor.
_AT_ONCE = 1 << 15


@dataclass(frozen=True)
class Group:
    """Replicates of one problem that stand at the same influencers, and once they are known the counts."""

    problem: int  # its place in the batch
    influencers: tuple[int, ...]
    members: tuple[int, ...]
    table: StateCounts | None = None  # replicates are the first axis

    @property
    def counts(self) -> IntArray:
        """N(x; s) of each member: ``[member, s, x]``."""
        assert self.table is not None
        return self.table.counts

    def part(self, some: list[int]) -> Group:
        """Some of the members."""
        if len(some) == len(self.members):
            return self
        assert self.table is not None
        table = StateCounts(self.table.keys, self.table.counts[some])
        return Group(self.problem, self.influencers, tuple(self.members[i] for i in some), table)

    def one(self, member: int) -> StateCounts:
        """The counts of one member."""
        assert self.table is not None
        return StateCounts(self.table.keys, self.table.counts[member])


@dataclass(frozen=True)
class Batch:
    """Problems that differ in nothing but their targets, of as many outcomes each, under many weights.

    ``n_events`` are N in each replicate. The ordinary search is a batch of one, of a source that has no
    replicates. ``on_done`` is told how many further problems are solved in all their replicates.
    """

    problems: Sequence[Problem]
    n_events: Sequence[float]
    replicated: bool = True
    on_done: Callable[[int], None] | None = None

    @classmethod
    def of(cls, problem: Problem) -> Batch:
        """One problem alone, of a source that has no replicates."""
        return cls([problem], [problem.n_events], replicated=False)

    @property
    def problem(self) -> Problem:
        """What all problems have in common is that of the first."""
        return self.problems[0]

    def done(self, n: int) -> None:
        """Tell how many further problems are solved."""
        if n and self.on_done is not None:
            self.on_done(n)

    def score_additions(
        self, groups: Sequence[Group], candidates: Sequence[tuple[int, ...]] | None = None
    ) -> Asking[tuple[list[Group], list[tuple[int, ...]], FloatArray]]:
        """Ask for each group's counts as they are, and the scores once each candidate joins.

        All groups have as many influencers and candidates: those given, or all other labels. Returns the
        groups with their counts, the candidates of each, and the scores ``[member, candidate]``, the members
        of all groups one after the other.
        """
        summary = self.problem.summary
        if candidates is None:
            sets = dict.fromkeys(group.influencers for group in groups)
            others = {influencers: _others(self.problem.optional, influencers) for influencers in sets}
            candidates = [others[group.influencers] for group in groups]
        if isinstance(summary, WindowSummary):
            targets = [self.problems[group.problem].target for group in groups]
            answers = yield [
                CandidatesRequest(summary, group.influencers, target, joining, self._which(group))
                for group, target, joining in zip(groups, targets, candidates, strict=True)
            ]
            known = [self._known(group, counts) for group, counts in zip(groups, answers, strict=True)]
            return known, list(candidates), self._joined_scores(groups, candidates, answers)
        each = yield from self.states(
            [
                Group(group.problem, influencers, group.members)
                for group, joining in zip(groups, candidates, strict=True)
                for influencers in (group.influencers, *(joined(group.influencers, z) for z in joining))
            ]
        )
        scores, step = self.scores(each), 1 + len(candidates[0])
        rows = [np.stack(scores[at + 1 : at + step], axis=-1) for at in range(0, len(each), step)]
        return each[::step], list(candidates), np.concatenate(rows)

    def scores_with(self, influencers: tuple[int, ...], candidates: Sequence[int]) -> Asking[FloatArray]:
        """The scores of one problem alone, once each of some candidates joins the influencers."""
        _, _, (scores,) = yield from self.score_additions([Group(0, influencers, (0,))], [tuple(candidates)])
        found: FloatArray = scores
        return found

    def states(self, groups: Sequence[Group]) -> Asking[list[Group]]:
        """Ask for the counts of each group."""
        requests: list[Request] = [
            StatesRequest(problem.summary, group.influencers, problem.target, self._which(group))
            for group in groups
            for problem in [self.problems[group.problem]]
        ]
        answers = (yield requests) if requests else []
        return [self._known(group, counts) for group, counts in zip(groups, answers, strict=True)]

    def without_each(
        self, groups: Sequence[Group], leaving: Sequence[list[int]] | None = None
    ) -> Asking[list[list[Group]]]:
        """Each group once each of its influencers is left out; from its table if possible.

        ``leaving`` are their places in each group; None: those of all that are not required.
        """
        summary, required = self.problem.summary, self.problem.required
        if leaving is None:
            leaving = [[at for at, z in enumerate(one.influencers) if z not in required] for one in groups]
        left = [
            Group(group.problem, (*group.influencers[:at], *group.influencers[at + 1 :]), group.members)
            for group, some in zip(groups, leaving, strict=True)
            for at in some
        ]
        if summary.by_level:
            tables = (
                group.table.regroup(summary.without(group.table.keys, at))
                for group, some in zip(groups, leaving, strict=True)
                for at in some
                if group.table is not None
            )
            left = [
                Group(one.problem, one.influencers, one.members, table)
                for one, table in zip(left, tables, strict=True)
            ]
        else:
            left = yield from self.states(left)
        each = iter(left)
        return [[next(each) for _ in some] for some in leaving]

    def score_of(self, group: Group) -> float:
        """The score of a group of one member."""
        return float(self.scores([group])[0][0])

    def scores(self, groups: Sequence[Group]) -> list[FloatArray]:
        """The score of each member of each group where it stands."""
        found: list[FloatArray] = [np.empty(0)] * len(groups)
        problem = self.problem
        for some in _packs([group.counts.shape[1] for group in groups], [g.counts.size for g in groups]):
            chosen = [groups[at] for at in some]
            sizes = [len(group.members) for group in chosen]
            scores = problem.scores(
                state_tables([group.counts for group in chosen]),
                np.repeat([len(group.influencers) for group in chosen], sizes),
                np.repeat([problem.n_states(group.influencers) for group in chosen], sizes),
                self._n_events(chosen),
            )
            start = 0
            for at, size in zip(some, sizes, strict=True):
                found[at] = scores[start : start + size]
                start += size
        return found

    def _joined_scores(
        self, groups: Sequence[Group], candidates: Sequence[tuple[int, ...]], answers: Sequence[Counts]
    ) -> FloatArray:
        """The scores once each candidate joins, ``[member, candidate]``."""
        counts = [one for one in answers if isinstance(one, CandidateCounts)]
        ends = np.cumsum([len(group.members) for group in groups]).tolist()
        scores = np.empty((ends[-1], len(candidates[0])))
        n_influencers = len(groups[0].influencers) + 1
        sizes = [one.present.size for one in counts]
        for some in _packs([len(one.keys) for one in counts], sizes):
            chosen = [groups[at] for at in some]
            n_states = [self.problem.n_joined(groups[at].influencers, candidates[at]) for at in some]
            found = self.problem.scores(
                joined_tables([counts[at] for at in some]),
                n_influencers,
                np.repeat(n_states, [len(group.members) for group in chosen], axis=0),
                np.reshape(self._n_events(chosen), (-1, 1)) if self.replicated else self.n_events[0],
            )
            start = 0
            for at in some:
                size = len(groups[at].members)
                scores[ends[at] - size : ends[at]] = found[start : start + size]
                start += size
        return scores

    def _n_events(self, groups: Sequence[Group]) -> float | FloatArray:
        if not self.replicated:
            return self.n_events[0]
        return np.array([self.n_events[b] for group in groups for b in group.members])

    def _which(self, group: Group) -> tuple[int, ...] | None:
        return group.members if self.replicated else None

    def _known(self, group: Group, counts: Counts) -> Group:
        """The group with its counts."""
        assert isinstance(counts, StateCounts | CandidateCounts)
        table = StateCounts(counts.keys, counts.counts if self.replicated else counts.counts[None])
        return Group(group.problem, group.influencers, group.members, table)


def _packs(n_states: Sequence[int], sizes: Sequence[int]) -> Iterator[list[int]]:
    """Which tables are scored at once: of about as many states, because they are filled up to the most."""
    some, size = list[int](), 0
    for at in sorted(range(len(sizes)), key=n_states.__getitem__):
        if some and size + sizes[at] > _AT_ONCE:
            yield some
            some, size = [], 0
        some.append(at)
        size += sizes[at]
    if some:
        yield some


def _others(optional: tuple[int, ...], influencers: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(filterfalse(frozenset(influencers).__contains__, optional)) if influencers else optional


def joined(influencers: tuple[int, ...], z: int) -> tuple[int, ...]:
    """The influencers and one more, sorted."""
    return tuple(sorted((*influencers, z)))


class Counting(Protocol):
    """What answers requests."""

    def count(self, requests: Sequence[Request]) -> list[Counts]:
        """Answer all requests in one pass over the data."""


def run_searches(source: Counting, searches: Sequence[Asking[Answer]]) -> list[Answer]:
    """Answer all open requests of all searches in one pass, until every search is done.

    The number of passes is that of the deepest search, not the sum.
    """
    together, growing = side_by_side(searches), GrowingCounts(source)
    try:
        requests = next(together)
        while True:
            requests = together.send(growing.complete(requests, source.count(growing.ask(requests))))
    except StopIteration as end:
        results: list[Answer] = end.value
        return results


def side_by_side(
    searches: Sequence[Asking[Answer]],
) -> Asking[list[Answer]]:
    """One search that asks at once for what several ask for, until every one of them is done."""
    results: dict[int, Answer] = {}
    answers: dict[int, list[Counts] | None] = dict.fromkeys(range(len(searches)))
    while answers:
        asked: dict[int, list[Request]] = {}
        for i, answer in answers.items():
            try:
                asked[i] = next(searches[i]) if answer is None else searches[i].send(answer)
            except StopIteration as end:
                results[i] = end.value
        if not asked:
            break
        counts = iter((yield [request for requests in asked.values() for request in requests]))
        answers = {i: [next(counts) for _ in requests] for i, requests in asked.items()}
    return [results[i] for i in range(len(searches))]


def each_alone(batch: Batch, start: Callable[[Problem], Search]) -> Searches:
    """Run one search per problem and replicate, side by side, so that they share passes and equal counts."""

    def all_of(problem: Problem) -> Asking[list[SearchResult]]:
        searches = [start(replace(problem, n_events=n)) for n in batch.n_events]
        if batch.replicated:
            searches = [_in_replicate(b, search) for b, search in enumerate(searches)]
        results = yield from side_by_side(searches)
        batch.done(1)
        return results

    return side_by_side([all_of(problem) for problem in batch.problems])


def _in_replicate(b: int, search: Search) -> Search:
    """The same search, told of nothing but one replicate."""
    try:
        requests = next(search)
        while True:
            counts = yield [replace(request, replicates=(b,)) for request in requests]
            requests = search.send([pick_replicate(one, 0) for one in counts])
    except StopIteration as end:
        result: SearchResult = end.value
        return result


def fixed(problem: Problem) -> Search:
    """Count the states of the required influencers and score them."""
    table = yield from problem.states(problem.required)
    return SearchResult(problem.summary, problem.required, problem.score(table, problem.required), table, ())
