"""Greedy search, as the published results were obtained, and the sweep that the paper prints."""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

import numpy as np

from summarkov.engines import CandidateCounts, CandidatesRequest, Request, StateCounts
from summarkov.engines.counts import Counts, joined_tables, state_tables
from summarkov.search.problem import (
    Ask,
    Chosen,
    Codes,
    Done,
    LookbackStep,
    Problem,
    SearchResult,
    Step,
    first_bests,
    improves,
)
from summarkov.summaries import WindowSummary
from summarkov.typing import FloatArray

#: Numbers that are scored at once, so that they stay near the processor.
_AT_ONCE = 1 << 15


def greedy(problems: Sequence[Problem], ask: Ask, done: Done) -> list[SearchResult]:
    """Add the best label while that improves, then remove the best to remove while that improves.

    The forward rounds start from a score of minus infinity, so the first always adds a label; the backward
    rounds may go down to the empty set. Scores that differ by less than 1e-9 (relative) tie; ties go to the
    first label in sorted order and are no improvement. Required labels are there from the start and stay.

    Where look-backs are learned, a label enters with the best of them. Later forward rounds, and backward
    rounds after the first move, may also give one that is there another look-back. Among moves that tie,
    those that leave fewer influencers go first, then the first label, then the shorter look-back. Required
    labels enter first, the best of them with its best look-back each time.

    Departs from Algorithm 1 of the paper, read literally (see ``sweep``); the published numbers come out
    this way.
    """
    return _Walk(problems, in_order=False).run(ask, done)


def sweep(problems: Sequence[Problem], ask: Ask, done: Done) -> list[SearchResult]:
    """Go over the labels once in sorted order and keep each that improves, then once over the kept ones.

    Implements Algorithm 1 of the paper as printed; like :func:`greedy` it starts from a score of minus
    infinity. All labels not yet passed are asked for at once, so it takes one pass per influencer, not one
    per label.
    """
    return _Walk(problems, in_order=True).run(ask, done)


class _Move(NamedTuple):
    """A move, with what to ask (None: that is known), and the counts after it.

    "stay" is none, "join" is all additions at some look-back.
    """

    action: Literal["stay", "remove", "change", "add", "join"]
    label: int = -1
    lookback: int | None = None
    request: Request | None = None
    counts: StateCounts | CandidateCounts | None = None


class _Place(NamedTuple):
    """Where a problem stands.

    Required labels whose look-backs are learned "enter" first; then influencers "grow" and "shrink".
    """

    number: int  # of the problem
    problem: Problem
    chosen: Chosen
    open: Codes  # the labels that may join next, or leave
    phase: Literal["enter", "grow", "shrink"] = "grow"
    score: float | None = None  # not before the first move
    may_change: bool = False  # whether a look-back may change next
    table: StateCounts | None = None
    steps: tuple[Step, ...] = ()

    @property
    def influencers(self) -> Codes:
        return tuple(sorted(self.chosen))

    @property
    def joining(self) -> Codes:
        """The labels that may join next."""
        return () if self.phase == "shrink" else self.open

    def after(self, move: _Move) -> Chosen:
        if move.action == "remove":
            return {z: k for z, k in self.chosen.items() if z != move.label}
        return self.chosen if move.label < 0 else {**self.chosen, move.label: move.lookback}


#: A place, and the moves to try from there.
_Round = tuple[_Place, list[_Move]]


class _Walk:
    """All problems on their way. Each makes the moves that it would make alone.

    A round takes one pass for all of them, and what is scored in it is scored together.
    """

    def __init__(self, problems: Sequence[Problem], in_order: bool) -> None:
        self.problems, self.in_order = problems, in_order
        self.results: dict[int, SearchResult] = {}
        kinds: dict[object, int] = {}  # problems of one kind are scored together
        self.kind = [kinds.setdefault(_kind(problem), len(kinds)) for problem in problems]

    def run(self, ask: Ask, done: Done) -> list[SearchResult]:
        places, waiting = list(itertools.starmap(self._start, enumerate(self.problems))), list[_Round]()
        while places or waiting:
            n, known = len(self.results), list[_Round]()
            for place in places:
                moves = list(self._moves(place))
                (waiting if any(move.request for move in moves) else known).append((place, moves))
            if not known:  # those whose moves are known go on until they need to ask
                answers = iter(ask([move.request for _, moves in waiting for move in moves if move.request]))
                known = [_read(place, moves, answers) for place, moves in waiting]
                waiting = []
            places = self._go_on(known)
            done(len(self.results) - n)
        return [self.results[number] for number in range(len(self.problems))]

    def _start(self, number: int, problem: Problem) -> _Place:
        if problem.lookbacks and problem.required:
            return _Place(number, problem, {}, problem.required, "enter")
        return self._grow(_Place(number, problem, dict.fromkeys(problem.required), problem.optional))

    def _grow(self, place: _Place) -> _Place:
        """A place to grow from, while there is room or look-backs may change; else one to shrink from."""
        problem = place.problem
        has_room = len(place.chosen) - len(problem.required) < problem.room
        several = len(problem.lookbacks) > 1 and problem.target.n_outcomes > 1
        change = several and place.score is not None and bool(place.chosen)
        place = place._replace(open=place.open if has_room else (), may_change=change, phase="grow")
        return place if place.open or change or place.table is None else self._shrink(place)

    def _shrink(self, place: _Place) -> _Place:
        optional = tuple(z for z in place.influencers if z not in place.problem.required)
        return place._replace(phase="shrink", open=optional, may_change=False, score=None)

    # ------------------------------------------------------------------ moves, and what to ask about them

    def _moves(self, place: _Place) -> Iterator[_Move]:
        """The moves to try, in the order in which ties are settled."""
        problem, moves = place.problem, list[_Move]()
        window, is_window = problem.summary, isinstance(problem.summary, WindowSummary)
        if place.table is None and not (place.joining and is_window):
            moves.append(_Move("stay"))
        if place.phase == "shrink":
            leaving = place.open[:1] if self.in_order else place.open
            moves += [_Move("remove", z, place.chosen[z]) for z in leaving]
        if place.may_change:
            every = ((z, k) for z in place.influencers for k in problem.lookbacks if k != place.chosen[z])
            moves += [_Move("change", z, k) for z, k in every]
        moves += [] if is_window else [_Move("add", z) for z in place.joining]
        for move in moves:
            chosen = place.after(move)
            if move.action == "remove" and problem.summary.by_level and place.table is not None:
                rest = [at for at, z in enumerate(place.influencers) if z != move.label]
                keys = problem.summary.restricted(place.table.keys, rest)
                yield move._replace(counts=place.table.regroup(keys))
            else:
                yield move._replace(request=problem.at(chosen).states(tuple(sorted(chosen))))
        for k in (problem.lookbacks or (None,)) if place.joining and is_window else ():
            window = problem.at(place.chosen, k).summary
            assert isinstance(window, WindowSummary)
            about = place.influencers, problem.target, place.joining
            yield _Move("join", lookback=k, request=CandidatesRequest(window, *about, problem.replicate))

    def _go_on(self, rounds: Sequence[_Round]) -> list[_Place]:
        """Where all go from here; those that are at the end have their results then."""
        own, scores = self._all_scores(rounds)
        begins = [place.score is None and place.phase != "shrink" for place, _ in rounds]
        before = np.where(begins, -np.inf, own)
        first = improves(scores, before[:, None]).argmax(axis=1) if self.in_order else first_bests(scores)
        top = scores[np.arange(len(first)), first]
        rows = zip(
            rounds, first.tolist(), improves(top, before).tolist(), top.tolist(), own.tolist(), strict=True
        )
        places = []
        for (place, tried), number, is_better, after, score in rows:
            if place.phase == "enter":
                places.append(self._move(place, _nth(place, tried, number), None))
            elif is_better:
                move, problem = _nth(place, tried, number), place.problem
                step = move.action, problem.labels[move.label], after, after - score
                steps = LookbackStep(*step, move.lookback) if problem.lookbacks else Step(*step)
                places.append(self._move(place._replace(steps=(*place.steps, steps)), move, after))
            elif (new := self._stay(place, score)) is not None:
                places.append(new)
        return places

    def _stay(self, place: _Place, score: float) -> _Place | None:
        """What follows where no move improves; None at the end."""
        if place.phase == "grow":
            counted_only = place.score is None and not place.open
            return self._grow(place._replace(score=score)) if counted_only else self._shrink(place)
        if self.in_order and place.open:
            return place._replace(open=place.open[1:])
        assert place.table is not None
        summary = place.problem.learned(place.chosen).summary
        result = SearchResult(summary, place.influencers, score, place.table, place.steps)
        self.results[place.number] = result
        return None

    def _move(self, place: _Place, move: _Move, score: float | None) -> _Place:
        table = move.counts if isinstance(move.counts, StateCounts) else None
        place, left = place._replace(chosen=place.after(move), table=table, score=score), place.open
        if move.action != "change":
            at = bisect.bisect_left(left, move.label)  # they are sorted
            left = (
                left[at + 1 :]
                if self.in_order
                else left[:at] + left[at + (move.label in left[at : at + 1]) :]
            )
        place = place._replace(open=left)
        if place.phase == "shrink":
            return place._replace(may_change=len(place.problem.lookbacks) > 1)
        if place.phase == "enter":
            return place if left else self._grow(place._replace(open=place.problem.optional))
        return self._grow(place)

    # ------------------------------------------------------------------ scores

    def _all_scores(self, rounds: Sequence[_Round]) -> tuple[FloatArray, FloatArray]:
        """The scores of all places as they are, and after each move, ``[place, move]``."""
        asked = [(place, move) for place, moves in rounds for move in moves]
        asked += [(place, _Move("stay", counts=place.table)) for place, _ in rounds if place.score is None]
        found = self._scores(asked)
        each_move, now = iter(found), iter(found[sum(len(moves) for _, moves in rounds) :])
        own = np.array([float(next(now)) if place.score is None else place.score for place, _ in rounds])
        after = list[FloatArray]()
        for _, moves in rounds:
            columns = [next(each_move) for _ in moves]
            joined = [each for each in columns if each.ndim]  # at each look-back
            alone = [float(each) for each in columns if not each.ndim]
            after.append(np.append(alone, np.stack(joined, axis=-1) if joined else []))
        scores = np.full((len(after), max(1, *map(len, after))), -np.inf)
        for row, each in zip(scores, after, strict=True):
            row[: len(each)] = each
        return own, scores

    def _scores(self, asked: Sequence[tuple[_Place, _Move]]) -> list[FloatArray]:
        """The score of each place after a move; that with each label if labels join."""
        found, sizes = [np.empty(0)] * len(asked), []
        for place, move in asked:
            kind = self.kind[place.number], len(place.open) if move.action == "join" else -1
            assert move.counts is not None
            sizes.append((kind, move.counts.counts.shape[0], move.counts.tables[-1].size))
        for some in _packs(sizes):
            each = [asked[at] for at in some]
            joins, n_states, n_influencers = each[0][1].action == "join", [], []
            for place, move in each:
                problem, chosen = place.problem, place.after(move)
                if problem.reachable_only:
                    problem = problem.at(chosen, move.lookback if joins else None)
                u = tuple(sorted(chosen))
                n_states.append(problem.n_joined(u, place.open) if joins else problem.n_states(u))
                n_influencers.append(len(u) + joins)
            shape = (-1, 1) if joins else (-1,)
            many = [move.counts for _, move in each]
            tables = (
                joined_tables([one for one in many if isinstance(one, CandidateCounts)])
                if joins
                else state_tables([one.counts for one in many if isinstance(one, StateCounts)])
            )
            n_events = np.array([place.problem.n_events for place, _ in each])
            about = np.array(n_influencers).reshape(shape), np.array(n_states), n_events.reshape(shape)
            for at, scores in zip(some, each[0][0].problem.scores(tables, *about), strict=True):
                found[at] = scores
        return found


def _read(place: _Place, moves: Sequence[_Move], answers: Iterator[Counts]) -> tuple[_Place, list[_Move]]:
    """A place with its counts, and the moves with theirs."""
    found = []
    for move in moves:
        if move.request is not None:
            counts = next(answers)
            assert isinstance(counts, StateCounts | CandidateCounts)
            if move.action in ("stay", "join"):
                place = place._replace(table=StateCounts(counts.keys, counts.counts))
            move = move._replace(counts=counts)
        if move.action != "stay":
            found.append(move)
    return place, found


def _kind(problem: Problem) -> object:
    """What problems must have in common to be scored together."""
    allowed = problem.required, problem.optional, problem.max_influencers, problem.lookbacks
    strata = problem.given, problem.n_strata, problem.reachable_only
    return id(problem.summary), problem.scorer, problem.target.n_outcomes, allowed, strata


def _nth(place: _Place, tried: Sequence[_Move], number: int) -> _Move:
    """A move by its number: those that were tried one by one come before the labels that may join."""
    alone = [move for move in tried if move.action != "join"]
    if number < len(alone):
        return alone[number]
    lookbacks = place.problem.lookbacks or (None,)
    z, k = divmod(number - len(alone), len(lookbacks))
    return _Move("add", place.open[z], lookbacks[k])


def _packs(sizes: Sequence[tuple[object, int, int]]) -> Iterator[list[int]]:
    """Which tables are scored at once: of one kind, and of about as many states, as small ones are filled up.

    ``sizes`` has the kind, the number of states and that of all counts of each.
    """
    some, size, last = list[int](), 0, object()
    for at in sorted(range(len(sizes)), key=lambda at: sizes[at][:2]):
        kind, _, more = sizes[at]
        if some and (size + more > _AT_ONCE or kind != last):
            yield some
            some, size = [], 0
        some.append(at)
        size, last = size + more, kind
    if some:
        yield some


def joined(influencers: Codes, z: int) -> Codes:
    return tuple(sorted((*influencers, z)))
