"""Greedy search over labels and their look-backs together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from summarkov.engines import CandidateCounts, CandidatesRequest, Request, StateCounts
from summarkov.engines.counts import Counts
from summarkov.errors import StoreError
from summarkov.search.problem import Ask, Done, Problem, SearchResult, Step, ask_each, first_best, improves
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


def greedy_lookbacks(problems: Sequence[Problem], ask: Ask, done: Done) -> list[SearchResult]:
    """Greedy search in which each influencer has its own look-back.

    Forward rounds make the best of all moves while that improves: add a label with some look-back, or give
    one that is there another look-back. Backward rounds do the same with: remove a label, or give one another
    look-back. As in ``greedy``, the forward rounds start from a score of minus infinity, so the first always
    adds a label, scores that differ by less than 1e-9 (relative) tie, and a tie is no improvement. Among
    moves that tie, those that leave fewer influencers go first, then the first label in sorted order, then
    the shorter look-back. Required labels enter first, the best of them with its best look-back each time.
    """
    walks = [_Walk(problem) for problem in problems if isinstance(problem, LookbackProblem)]
    under_way = walks
    while under_way:
        rounds = [(walk, requests) for walk in under_way if (requests := walk.requests())]
        done(len(under_way) - len(rounds))
        under_way = [walk for walk, _ in rounds]
        if rounds:
            asking = [walk.problem for walk in under_way]
            found = ask_each(asking, ask, [requests for _, requests in rounds])
            for walk, answers in zip(under_way, found, strict=True):
                walk.take(answers)
    return [walk.result() for walk in walks]


class _Walk:
    """One problem on its way: where it stands, and what it must know to take the next step."""

    def __init__(self, problem: LookbackProblem) -> None:
        self.problem = problem
        self.phase = "enter"  # then "grow", "shrink", "over"
        self.place: Place = {}
        self.score, self.steps = -np.inf, list[LookbackStep]()
        self.table: StateCounts | None = None  # of the place, where a move brought it
        self.changes = False  # whether a look-back may change in the next backward round
        self.changing: list[tuple[int, int | None]] = []  # what was asked about: changes, and additions
        self.joining: list[int] = []

    def requests(self) -> list[Request]:
        """What to ask for the next step; nothing once it is over."""
        problem = self.problem
        if self.phase == "enter":
            if waiting := [z for z in problem.required if z not in self.place]:
                return self._ask_moves(waiting, change=False)
            self.phase = "grow"
        if self.phase == "grow":
            room = len(problem.required) + problem.room - len(self.place)
            joining = [z for z in problem.optional if z not in self.place] if room > 0 else []
            if self.score == -np.inf and not joining:  # nothing can be added
                return self._ask_states()
            change = self.score > -np.inf and problem.target.n_outcomes > 1 and len(problem.lookbacks) > 1
            if joining or (change and self.place):
                return self._ask_moves(joining, change)
            self.phase = "shrink"
        if self.table is None:
            return self._ask_states()
        while self.phase == "shrink" and not self.changes:
            self._make_best(problem.removals(self.place, self.table), "over")
        return self._ask_moves([], change=True) if self.phase == "shrink" else []

    def take(self, answers: list[Counts]) -> None:
        """Take the step, with the answers to what was asked."""
        if not self.changing and not self.joining:
            assert isinstance(answers[0], StateCounts)
            self._stay(answers[0])
            return
        moves, as_they_are = self._read_moves(answers)
        if self.phase == "enter":
            best = moves[first_best([move.score for move in moves])]
            self.place[best.label] = best.lookback
        elif self.phase == "shrink":
            assert self.table is not None
            self._make_best(self.problem.removals(self.place, self.table) + moves, "over")
        else:
            if as_they_are is not None and self.score == -np.inf:
                here = self.problem.at(self.place).score(as_they_are, self._influencers)
                self._make_best(moves, "shrink", here)
            else:
                self._make_best(moves, "shrink")
            if self.phase == "shrink" and self.table is None and as_they_are is not None:
                self._stay(as_they_are)

    def result(self) -> SearchResult:
        """What was found."""
        assert self.table is not None
        summary = self.problem.learned(self.place)
        return SearchResult(summary, self._influencers, self.score, self.table, tuple(self.steps))

    @property
    def _influencers(self) -> tuple[int, ...]:
        return tuple(sorted(self.place))

    def _stay(self, table: StateCounts) -> None:
        """The counts of the place as it is."""
        self.table, self.score = table, self.problem.at(self.place).score(table, self._influencers)

    def _ask_states(self) -> list[Request]:
        self.changing, self.joining = [], []
        return [self.problem.at(self.place).states(self._influencers)]

    def _ask_moves(self, joining: list[int], change: bool) -> list[Request]:
        """Changes of one look-back, if asked for, and additions of a label, all to be counted in one pass."""
        problem, place, u = self.problem, self.place, self._influencers
        self.changing = [(z, k) for z in u if change for k in problem.lookbacks if k != place[z]]
        self.joining = joining
        return [
            *(problem.at({**place, z: k}).states(u) for z, k in self.changing),
            *(
                CandidatesRequest(problem.at(place, k).window, u, problem.target, tuple(joining))
                for k in problem.lookbacks
                if joining
            ),
        ]

    def _read_moves(self, answers: list[Counts]) -> tuple[list[_Move], StateCounts | None]:
        """The moves with their scores, in the order in which ties are settled.

        And the counts of the influencers as they are, which come with those of candidates.
        """
        problem, place, u = self.problem, self.place, self._influencers
        found, scores, as_they_are = list[_Move](), [], None
        for (z, k), table in zip(self.changing, answers, strict=False):
            assert isinstance(table, StateCounts)
            found.append(_Move("change", z, k, problem.at({**place, z: k}).score(table, u), table))
        for k, counts in zip(problem.lookbacks, answers[len(self.changing) :], strict=False):
            assert isinstance(counts, CandidateCounts)
            scores.append(problem.at(place, k).joined_scores(counts, u, self.joining))
            as_they_are = StateCounts(counts.keys, counts.counts)
        for c, z in enumerate(self.joining):
            found += [
                _Move("add", z, k, float(each[c])) for k, each in zip(problem.lookbacks, scores, strict=True)
            ]
        return found, as_they_are

    def _make_best(self, moves: list[_Move], otherwise: str, before: float | None = None) -> None:
        """Make the best move if it improves; if none does, another phase begins."""
        best = moves[first_best([move.score for move in moves])] if moves else None
        if best is None or not improves(best.score, self.score):
            self.phase = otherwise
            return
        gain, label = best.score - (self.score if before is None else before), self.problem.labels[best.label]
        self.steps.append(LookbackStep(best.action, label, best.score, gain, best.lookback))
        if best.action == "remove":
            self.place = {z: k for z, k in self.place.items() if z != best.label}
        else:
            self.place = {**self.place, best.label: best.lookback}
        self.score, self.table = best.score, best.table
        self.changes = self.phase == "shrink" and len(self.problem.lookbacks) > 1
