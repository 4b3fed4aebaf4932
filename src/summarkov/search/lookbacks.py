"""Greedy search over labels and their look-backs together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from summarkov.engines import CandidateCounts, CandidatesRequest, StateCounts, StatesRequest
from summarkov.errors import StoreError
from summarkov.search.problem import Asking, Problem, Search, SearchResult, Step, first_best, improves
from summarkov.summaries import WindowSummary
from summarkov.summaries.window import plain_span

#: The influencers (codes) and their look-backs.
Place = dict[int, int | None]


@dataclass(frozen=True)
class LookbackStep(Step):
    """A move of a search for look-backs: that of the label once it entered or changed, or as it left."""

    lookback: int | None = None


@dataclass(frozen=True)
class _Move:
    """What a round may do: the place after it, its score and, where that was counted, its table."""

    action: str  # "add", "remove" or "change"
    label: int
    lookback: int | None
    score: float
    table: StateCounts | None = None


@dataclass(frozen=True)
class LookbackProblem(Problem):
    """One target whose influencers have a look-back each, out of ``lookbacks`` (shortest first)."""

    lookbacks: tuple[int | None, ...] = (5,)

    @property
    def n_lookbacks(self) -> int:
        return len(self.lookbacks)

    @property
    def bytes_held(self) -> int:
        """About how much a round of the search holds for this target: tables for each look-back."""
        return len(self.lookbacks) * super().bytes_held

    @property
    def window(self) -> WindowSummary:
        """The summary, which is one with look-backs."""
        assert isinstance(self.summary, WindowSummary)
        return self.summary

    def at(self, place: Place, rest: int | None = None) -> Self:
        """The same problem, the influencers having their look-backs and all other labels that of ``rest``."""
        own = [(self.labels[z], k) for z, k in place.items()]
        return replace(self, summary=self.window.variant(own, rest, self.labels))

    def learned(self, place: Place) -> WindowSummary:
        """The summary of the influencers found, which looks for no others."""
        own = {self.labels[z]: place[z] for z in sorted(place)}
        return replace(self.window, lookback=own, only=True)

    def read_learned(self, told: Any, influencers: tuple[int, ...]) -> Self:
        """With the look-backs that were learned."""
        names = [self.labels[z] for z in influencers]
        if told.lookbacks is None or sorted(told.lookbacks) != names:
            wanted = ", ".join(names) or "no influencers"
            raise StoreError.expected(f"'lookbacks' for each of {wanted}", told.lookbacks)
        own = {z: self._lookback(told.lookbacks[name]) for z, name in zip(influencers, names, strict=True)}
        return replace(self, summary=self.learned(own))

    def _lookback(self, told: int | str | None) -> int | None:
        named = {plain_span(k): k for k in self.lookbacks}
        if told not in named:
            raise StoreError.expected(f"one of the look-backs {', '.join(map(str, named))}", told)
        return named[told]

    def read_step(self, told: Any) -> LookbackStep:
        return LookbackStep(
            told.action, told.label, told.score, told.gain, lookback=self._lookback(told.lookback)
        )

    # ---------------------------------------------------------------- what the search asks

    def moves(
        self, place: Place, candidates: Sequence[int], change: bool
    ) -> Asking[tuple[list[_Move], StateCounts | None]]:
        """Changes of one look-back, if asked for, and additions of a label, all counted in one pass.

        In the order in which ties are settled, and with the counts of the influencers as they are, which
        come with those of candidates.
        """
        influencers = tuple(sorted(place))
        changes = [(z, k) for z in influencers if change for k in self.lookbacks if k != place[z]]
        changed = [self.at({**place, z: k}) for z, k in changes]
        joined = [self.at(place, k) for k in self.lookbacks if candidates]
        answers = yield [
            *(StatesRequest(problem.summary, influencers, self.target) for problem in changed),
            *(
                CandidatesRequest(problem.window, influencers, self.target, tuple(candidates))
                for problem in joined
            ),
        ]
        found = []
        for (z, k), problem, table in zip(changes, changed, answers, strict=False):
            assert isinstance(table, StateCounts)
            found.append(_Move("change", z, k, problem.score(table, influencers), table))
        scores, as_they_are = [], None
        for problem, counts in zip(joined, answers[len(changes) :], strict=True):
            assert isinstance(counts, CandidateCounts)
            scores.append(problem.joined_scores(counts, influencers, candidates))
            as_they_are = StateCounts(counts.keys, counts.counts)
        for c, z in enumerate(candidates):
            found += [
                _Move("add", z, k, float(each[c])) for k, each in zip(self.lookbacks, scores, strict=True)
            ]
        return found, as_they_are

    def removals(self, place: Place, table: StateCounts) -> list[_Move]:
        """What each influencer that need not be there would leave; the table tells."""
        influencers, found = tuple(sorted(place)), []
        for column, z in enumerate(influencers):
            if z in self.required:
                continue
            rest = tuple(u for u in influencers if u != z)
            left = table.regroup(self.summary.without(table.keys, column))
            score = self.at({u: place[u] for u in rest}).score(left, rest)
            found.append(_Move("remove", z, place[z], score, left))
        return found


def greedy_lookbacks(problem: LookbackProblem) -> Search:
    """Greedy search in which each influencer has its own look-back.

    Forward rounds make the best of all moves while that improves: add a label with some look-back, or give
    one that is there another look-back. Backward rounds do the same with: remove a label, or give one another
    look-back. As in ``greedy``, the forward rounds start from a score of minus infinity, so the first always
    adds a label, scores that differ by less than 1e-9 (relative) tie, and a tie is no improvement. Among
    moves that tie, those that leave fewer influencers go first, then the first label in sorted order, then
    the shorter look-back. Required labels enter first, the best of them with its best look-back each time.
    """
    place: Place = {}
    while waiting := [z for z in problem.required if z not in place]:
        moves, _ = yield from problem.moves(place, waiting, change=False)
        best = moves[first_best([move.score for move in moves])]
        place[best.label] = best.lookback

    score, steps = -np.inf, []
    table: StateCounts | None = None  # of the place, where a move brought it
    while True:
        room = len(problem.required) + problem.room - len(place)
        joining = [z for z in problem.optional if z not in place] if room > 0 else []
        if score == -np.inf and not joining:  # nothing can be added
            table = yield from problem.at(place).states(tuple(sorted(place)))
            score = problem.at(place).score(table, tuple(sorted(place)))
        change = score > -np.inf and problem.target.n_outcomes > 1 and len(problem.lookbacks) > 1
        if not joining and not (change and place):
            break
        moves, as_they_are = yield from problem.moves(place, joining, change)
        best = moves[first_best([move.score for move in moves])]
        if not improves(best.score, score):
            break
        before = score
        if as_they_are is not None and score == -np.inf:
            before = problem.at(place).score(as_they_are, tuple(sorted(place)))
        place = {**place, best.label: best.lookback}
        score, table = best.score, best.table
        steps.append(_step(problem, best, before))

    if table is None:
        table = yield from problem.at(place).states(tuple(sorted(place)))
        score = problem.at(place).score(table, tuple(sorted(place)))
    change = False  # the last round has found that no change improves
    while place:
        moves = problem.removals(place, table)
        if change:
            more, _ = yield from problem.moves(place, (), change=True)
            moves += more
        if not moves:
            break
        best = moves[first_best([move.score for move in moves])]
        if not improves(best.score, score):
            break
        steps.append(_step(problem, best, score))
        if best.action == "remove":
            place = {z: k for z, k in place.items() if z != best.label}
        else:
            place = {**place, best.label: best.lookback}
        assert best.table is not None
        score, table, change = best.score, best.table, len(problem.lookbacks) > 1
    influencers = tuple(sorted(place))
    return SearchResult(problem.learned(place), influencers, score, table, tuple(steps))


def _step(problem: Problem, move: _Move, before: float) -> LookbackStep:
    label = problem.labels[move.label]
    return LookbackStep(move.action, label, move.score, move.score - before, move.lookback)
