"""Greedy search, as the published results were obtained, and the sweep that the paper prints."""

from __future__ import annotations

import bisect
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import Literal, NamedTuple

import numpy as np

from summarkov.engines import CandidateCounts, CandidatesRequest, Request, StateCounts, StatesRequest
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
from summarkov.typing import FloatArray, IntArray

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
    """Problems of one target, each in a replicate of its own, that stand at the same influencers.

    Required labels whose look-backs are learned "enter" first; then influencers "grow" and "shrink".
    """

    problem: Problem  # the first of them, for what they have in common
    members: IntArray  # their numbers
    chosen: Chosen
    open: Codes  # the labels that may join next, or leave
    phase: Literal["enter", "grow", "shrink"] = "grow"
    scores: FloatArray | None = None  # of the members; not before the first move
    may_change: bool = False  # whether a look-back may change next
    table: StateCounts | None = None  # replicates are the first axis

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

    def part(
        self, some: list[int], counts: StateCounts | CandidateCounts | None, scores: FloatArray | None
    ) -> _Place:
        """Some of the members, with their part of a table."""
        table = counts if isinstance(counts, StateCounts) else None
        if len(some) < len(self.members) and table is not None:
            table = StateCounts(table.keys, table.counts[some])
        return self._replace(members=self.members[some], table=table, scores=scores)


class _Walk:
    """All problems on their way. Each makes the moves that it would make alone.

    Replicates of a target that stand at the same influencers share their counts, and what is scored in a
    round is scored together. A round takes one pass for all of them.
    """

    def __init__(self, problems: Sequence[Problem], in_order: bool) -> None:
        self.problems, self.in_order = problems, in_order
        self.n_events = np.array([problem.n_events for problem in problems])
        self.steps: list[list[Step]] = [[] for _ in problems]  # without replicates only
        self.results: dict[int, SearchResult] = {}
        kinds: dict[object, int] = {}  # problems of one kind are scored together
        self.kind = [kinds.setdefault(_kind(problem), len(kinds)) for problem in problems]

    def run(self, ask: Ask, done: Done) -> list[SearchResult]:
        places, waiting = self._start(), list[tuple[_Place, list[_Move]]]()
        while places or waiting:
            n, known = len(self.results), list[tuple[_Place, list[_Move]]]()
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

    def _start(self) -> list[_Place]:
        together: defaultdict[object, list[int]] = defaultdict(list)
        for number, problem in enumerate(self.problems):
            alone = number if problem.replicate is None else None
            together[self.kind[number], problem.target, alone].append(number)
        places = []
        for members in map(np.array, together.values()):
            problem = self.problems[members[0]]
            if problem.lookbacks and problem.required:
                places.append(_Place(problem, members, {}, problem.required, "enter"))
            else:
                chosen = dict.fromkeys(problem.required)
                places.append(self._grow(_Place(problem, members, chosen, problem.optional)))
        return places

    def _grow(self, place: _Place) -> _Place:
        """A place to grow from, while there is room or look-backs may change; else one to shrink from."""
        problem = place.problem
        has_room = len(place.chosen) - len(problem.required) < problem.room
        several = len(problem.lookbacks) > 1 and problem.target.n_outcomes > 1
        change = several and place.scores is not None and bool(place.chosen)
        place = place._replace(open=place.open if has_room else (), may_change=change, phase="grow")
        return place if place.open or change or place.table is None else self._shrink(place)

    def _shrink(self, place: _Place) -> _Place:
        optional = tuple(z for z in place.influencers if z not in place.problem.required)
        return place._replace(phase="shrink", open=optional, may_change=False, scores=None)

    # ------------------------------------------------------------------ moves, and what to ask about them

    def _moves(self, place: _Place) -> Iterator[_Move]:
        """The moves to try, in the order in which ties are settled."""
        problem, which, moves = place.problem, None, list[_Move]()
        if problem.replicate is not None:
            which = tuple(b for m in place.members if (b := self.problems[m].replicate) is not None)
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
                summary, influencers = problem.at(chosen).summary, tuple(sorted(chosen))
                yield move._replace(request=StatesRequest(summary, influencers, problem.target, which))
        for k in (problem.lookbacks or (None,)) if place.joining and is_window else ():
            window = problem.at(place.chosen, k).summary
            assert isinstance(window, WindowSummary)
            request = CandidatesRequest(window, place.influencers, problem.target, place.joining, which)
            yield _Move("join", lookback=k, request=request)

    def _go_on(self, rounds: Sequence[tuple[_Place, list[_Move]]]) -> list[_Place]:
        """Where all go from here; those that are at the end have their results then."""
        own, scores = self._all_scores(rounds)
        begins = [place.scores is None and place.phase != "shrink" for place, _ in rounds]
        before = np.where(np.repeat(begins, [len(place.members) for place, _ in rounds]), -np.inf, own)
        first = improves(scores, before[:, None]).argmax(axis=1) if self.in_order else first_bests(scores)
        top = scores[np.arange(len(first)), first]
        best, better = first.tolist(), improves(top, before).tolist()
        places, row = list[_Place](), 0
        for place, tried in rounds:
            nth, going, enters = (
                _numbered(place, tried),
                defaultdict[int, list[int]](list),
                place.phase == "enter",
            )
            start = row
            for i, number in enumerate(place.members.tolist()):
                if better[row] and not enters:
                    self._note(nth(best[row]), number, float(top[row]), float(own[row]))
                going[best[row] if better[row] or enters else -1].append(i)
                row += 1
            for number, some in going.items():
                if number < 0:
                    new = self._stay(place.part(some, place.table, place.scores), own[start:][some])
                    places += [] if new is None else [new]
                else:
                    move, moved = nth(number), None if enters else top[start:][some]
                    places.append(self._move(place.part(some, move.counts, moved), move))
        return places

    def _stay(self, place: _Place, scores: FloatArray) -> _Place | None:
        """What follows where no move improves; None at the end."""
        if place.phase == "grow":
            counted_only = place.scores is None and not place.open
            return self._grow(place._replace(scores=scores)) if counted_only else self._shrink(place)
        if self.in_order and place.open:
            return place._replace(open=place.open[1:])
        assert place.table is not None
        summary = place.problem.learned(place.chosen).summary
        each = zip(place.members.tolist(), place.table.counts, scores.tolist(), strict=True)
        for number, counts, score in each:
            table, steps = StateCounts(place.table.keys, counts), tuple(self.steps[number])
            self.results[number] = SearchResult(summary, place.influencers, score, table, steps)
        return None

    def _move(self, place: _Place, move: _Move) -> _Place:
        place, left = place._replace(chosen=place.after(move)), place.open
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

    def _note(self, move: _Move, number: int, after: float, before: float) -> None:
        problem = self.problems[number]
        if problem.replicate is None:
            step = move.action, problem.labels[move.label], after, after - before
            self.steps[number].append(
                LookbackStep(*step, move.lookback) if problem.lookbacks else Step(*step)
            )

    # ------------------------------------------------------------------ scores

    def _all_scores(self, rounds: Sequence[tuple[_Place, list[_Move]]]) -> tuple[FloatArray, FloatArray]:
        """The scores of the members of all places as they are, and after each move, ``[member, move]``."""
        asked = [(place, move) for place, moves in rounds for move in moves]
        asked += [(place, _Move("stay", counts=place.table)) for place, _ in rounds if place.scores is None]
        found = self._scores(asked)
        each_move, now = iter(found), iter(found[sum(len(moves) for _, moves in rounds) :])
        own = [next(now) if place.scores is None else place.scores for place, _ in rounds]
        after = list[FloatArray]()
        for place, moves in rounds:
            columns = [next(each_move) for _ in moves]
            joined = [each for each in columns if each.ndim > 1]  # at each look-back
            together = [np.stack(joined, axis=-1).reshape(len(place.members), -1)] if joined else []
            alone = [each[:, None] for each in columns if each.ndim == 1]
            after.append(np.concatenate([np.empty((len(place.members), 0)), *alone, *together], axis=1))
        scores = np.full((sum(map(len, after)), max(1, *(each.shape[1] for each in after))), -np.inf)
        start = 0
        for each in after:
            scores[start : start + len(each), : each.shape[1]] = each
            start += len(each)
        return np.concatenate(own), scores

    def _scores(self, asked: Sequence[tuple[_Place, _Move]]) -> list[FloatArray]:
        """The score of each member of a place after a move; ``[member, label]`` if each label joins."""
        found, sizes = [np.empty(0)] * len(asked), []
        for place, move in asked:
            kind = self.kind[place.members[0]], len(place.open) if move.action == "join" else -1
            assert move.counts is not None
            sizes.append((kind, move.counts.counts.shape[-2], move.counts.tables[-1].size))
        for some in _packs(sizes):
            each = [asked[at] for at in some]
            lengths, joins = [len(place.members) for place, _ in each], each[0][1].action == "join"
            n_states, n_influencers = [], []
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
            scores = each[0][0].problem.scores(
                tables,
                np.repeat(n_influencers, lengths).reshape(shape),
                np.repeat(n_states, lengths, axis=0),
                self.n_events[np.concatenate([place.members for place, _ in each])].reshape(shape),
            )
            for at, part in zip(some, np.split(scores, np.cumsum(lengths)[:-1]), strict=True):
                found[at] = part
        return found


def _read(place: _Place, moves: Sequence[_Move], answers: Iterator[Counts]) -> tuple[_Place, list[_Move]]:
    """A place with its counts, and the moves with theirs, replicates being the first axis of tables."""
    found = []
    for move in moves:
        if move.request is not None:
            counts = next(answers)
            assert isinstance(counts, StateCounts | CandidateCounts)
            n = counts.counts
            table = StateCounts(counts.keys, n if n.ndim > 2 else n[None])
            if move.action in ("stay", "join"):
                place = place._replace(table=table)
            move = move._replace(counts=counts if move.action == "join" else table)
        if move.action != "stay":
            found.append(move)
    return place, found


def _kind(problem: Problem) -> object:
    """What problems must have in common to be scored together."""
    allowed = problem.required, problem.optional, problem.max_influencers, problem.lookbacks
    strata = problem.given, problem.n_strata, problem.reachable_only
    return id(problem.summary), problem.scorer, problem.target.n_outcomes, allowed, strata


def _numbered(place: _Place, tried: Sequence[_Move]) -> Callable[[int], _Move]:
    """The moves by number: those that were tried one by one come before the labels that may join."""
    alone = [move for move in tried if move.action != "join"]
    lookbacks = place.problem.lookbacks or (None,)

    def nth(number: int) -> _Move:
        if number < len(alone):
            return alone[number]
        z, k = divmod(number - len(alone), len(lookbacks))
        return _Move("add", place.open[z], lookbacks[k])

    return nth


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
