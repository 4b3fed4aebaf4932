"""Greedy search, as the published results were obtained, and the sweep that the paper prints."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

import numpy as np

from summarkov.engines import CandidateCounts, CandidatesRequest, Request, StateCounts, StatesRequest
from summarkov.engines.counts import Counts, joined_tables, state_tables
from summarkov.search.problem import Ask, Done, Problem, SearchResult, Step, first_bests, improves
from summarkov.summaries import WindowSummary
from summarkov.typing import FloatArray, IntArray

#: Numbers that are scored at once, so that they stay near the processor.
_AT_ONCE = 1 << 15


def greedy(problems: Sequence[Problem], ask: Ask, done: Done) -> list[SearchResult]:
    """Add the best label while that improves, then remove the best to remove while that improves.

    The forward rounds start from a score of minus infinity, so the first always adds a label; the backward
    rounds may go down to the empty set. Scores that differ by less than 1e-9 (relative) tie; ties go to the
    first label in sorted order and are no improvement. Required labels are there from the start and stay.

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


class _Place(NamedTuple):
    """Problems of one target, each in a replicate of its own, that stand at the same influencers."""

    problem: Problem  # the first of them, for what they have in common
    members: tuple[int, ...]  # their numbers
    influencers: tuple[int, ...]
    joining: tuple[int, ...] = ()  # the labels that may join next
    leaving: tuple[int, ...] = ()  # the labels that may leave next
    table: StateCounts | None = None  # replicates are the first axis
    phase: Literal["grow", "count", "shrink"] = "grow"

    @property
    def counts(self) -> IntArray:
        """N(x; s) of each member: ``[member, s, x]``."""
        assert self.table is not None
        return self.table.counts

    def part(self, some: list[int]) -> _Place:
        """Some of the members, which have their counts."""
        if len(some) == len(self.members):
            return self
        assert self.table is not None
        table = StateCounts(self.table.keys, self.table.counts[some])
        return self._replace(members=tuple(self.members[i] for i in some), table=table)

    def without(self, z: int) -> _Place:
        """The same influencers but for one; their counts, if those of all tell."""
        at, table = self.influencers.index(z), None
        if self.problem.summary.by_level and self.table is not None:
            table = self.table.regroup(self.problem.summary.without(self.table.keys, at))
        rest = (*self.influencers[:at], *self.influencers[at + 1 :])
        return self._replace(influencers=rest, table=table)


class _Walk:
    """All problems on their way. Each makes the moves that it would make alone.

    Replicates of a target that stand at the same influencers share their counts, and what is scored in a
    round is scored together. A round takes one pass for all of them.
    """

    def __init__(self, problems: Sequence[Problem], in_order: bool) -> None:
        self.problems, self.in_order = problems, in_order
        self.score = np.full(len(problems), -np.inf)
        self.n_events = np.array([problem.n_events for problem in problems])
        self.steps: list[list[Step]] = [[] for _ in problems]  # without replicates only
        self.results: list[SearchResult | None] = [None] * len(problems)
        kinds: dict[object, int] = {}  # problems of one kind are scored together
        self.kind = [kinds.setdefault(problem.but_for_target, len(kinds)) for problem in problems]

    def run(self, ask: Ask, done: Done) -> list[SearchResult]:
        """Round by round, until every problem is solved."""
        places = self._start()
        while places:
            asked = [self._requests(place) for place in places]
            answers = iter(ask([request for some in asked for request in some]))
            known = [[next(answers) for _ in some] for some in asked]
            places, solved = self._move(places, known)
            done(solved)
        return [result for result in self.results if result is not None]

    def _start(self) -> list[_Place]:
        together: dict[object, list[int]] = {}
        for number, problem in enumerate(self.problems):
            alone = number if problem.replicate is None else None
            together.setdefault((self.kind[number], problem.target, alone), []).append(number)
        starts = []
        for members in together.values():
            problem = self.problems[members[0]]
            place = _Place(problem, tuple(members), problem.required, problem.optional)
            starts.append(self._ready(place))
        return starts

    def _ready(self, place: _Place) -> _Place:
        """A place to grow from, unless there is no room for more influencers."""
        problem = place.problem
        has_room = len(place.influencers) - len(problem.required) < problem.room
        return place if has_room and place.joining else place._replace(phase="count")

    # ------------------------------------------------------------------ what is asked

    def _requests(self, place: _Place) -> list[Request]:
        problem, summary = place.problem, place.problem.summary
        which = None
        if problem.replicate is not None:
            which = tuple(b for b in (self.problems[m].replicate for m in place.members) if b is not None)
        if place.phase == "grow" and isinstance(summary, WindowSummary):
            return [CandidatesRequest(summary, place.influencers, problem.target, place.joining, which)]
        sets = [place.influencers]
        if place.phase == "grow":
            sets += [joined(place.influencers, z) for z in place.joining]
        elif place.phase == "shrink":
            sets = [place.without(z).influencers for z in self._tried(place)]
        return [StatesRequest(summary, influencers, problem.target, which) for influencers in sets]

    def _tried(self, place: _Place) -> tuple[int, ...]:
        """The labels of which one may leave in this round."""
        return place.leaving[:1] if self.in_order else place.leaving

    # ------------------------------------------------------------------ moves

    def _move(self, places: Sequence[_Place], answers: Sequence[list[Counts]]) -> tuple[list[_Place], int]:
        """Where all go from here, and how many problems are solved by now."""
        known = list(zip(places, answers, strict=True))
        growing = [pair for pair in known if pair[0].phase == "grow"]
        grown, stopped = self._grow(growing) if growing else ([], [])
        tried: list[tuple[_Place, list[_Place]]] = []  # with what each label leaves
        for place, counts in known:
            if place.phase == "count":
                stopped.append(_counted(place, counts[0]))
            elif place.phase == "shrink":
                left = [place.without(z) for z in self._tried(place)]
                tried.append((place, [_counted(one, each) for one, each in zip(left, counts, strict=True)]))
        ready, solved = self._shrink(tried)
        for place in stopped:
            optional = tuple(z for z in place.influencers if z not in place.problem.required)
            ready.append(place._replace(phase="shrink", joining=(), leaving=optional))
        while now := [place for place in ready if place.problem.summary.by_level or not place.leaving]:
            later = [place for place in ready if place.leaving and not place.problem.summary.by_level]
            ready, more = self._shrink([(p, [p.without(z) for z in self._tried(p)]) for p in now])
            ready, solved = ready + later, solved + more
        return grown + ready, solved

    def _grow(self, known: Sequence[tuple[_Place, list[Counts]]]) -> tuple[list[_Place], list[_Place]]:
        """Add a label where that improves; those that have grown, and those that are to stay."""
        grown: dict[tuple[int, tuple[int, ...]], _Place] = {}
        stay = list[_Place]()
        for places, scores in self._additions(known):
            rows = [number for place in places for number in place.members]
            before = self.score[rows]
            best, top, better = (_first_better if self.in_order else _best_moves)(scores, before)
            self.score[rows] = np.where(better, top, before)
            if places[0].problem.replicate is None and before[0] == -np.inf:  # the first round
                before = np.concatenate(self._scores(places))
            row = 0
            for place in places:
                staying = list[int]()
                for i, number in enumerate(place.members):
                    if better[row]:
                        z = place.joining[best[row]]
                        self._note("add", z, number, float(top[row]), float(before[row]))
                        where = (id(place.problem), joined(place.influencers, z))
                        other = grown.get(where)
                        if other is None:
                            other = _Place(place.problem, (), where[1], self._ahead(place, best[row]))
                        grown[where] = other._replace(members=(*other.members, number))
                    else:
                        staying.append(i)
                    row += 1
                if staying:
                    stay.append(place.part(staying))
        return [
            self._ready(place._replace(members=tuple(sorted(place.members)))) for place in grown.values()
        ], stay

    def _ahead(self, place: _Place, at: int) -> tuple[int, ...]:
        """The labels that may join once one of them has."""
        return place.joining[at + 1 :] if self.in_order else (*place.joining[:at], *place.joining[at + 1 :])

    def _shrink(self, tried: Sequence[tuple[_Place, list[_Place]]]) -> tuple[list[_Place], int]:
        """Remove a label where that improves; those that may go on, and how many problems are solved.

        With each place come those that one label less leads to, all with their counts.
        """
        if not tried:
            return [], 0
        each = iter(self._scores([one for place, left in tried for one in (place, *left)]))
        n_rows = sum(len(place.members) for place, _ in tried)
        scores = np.full((n_rows, 1 + max(1, *(len(left) for _, left in tried))), -np.inf)
        row = 0
        for place, left in tried:
            for column in range(1 + len(left)):
                scores[row : row + len(place.members), column] = next(each)
            row += len(place.members)
        best, top, better = _best_moves(scores[:, 1:], scores[:, 0])
        on, solved, row = list[_Place](), 0, 0
        for place, left in tried:
            going = dict[int, list[int]]()
            for i, number in enumerate(place.members):
                own = float(scores[row, 0])
                if better[row]:
                    self._note("remove", self._tried(place)[best[row]], number, float(top[row]), own)
                    going.setdefault(best[row], []).append(i)
                elif place.leaving and self.in_order:
                    going.setdefault(-1, []).append(i)
                else:
                    self._end(place, i, number, own)
                    solved += 1
                row += 1
            for at, some in going.items():
                there = (place if at < 0 else left[at]).part(some)
                gone = place.leaving[0] if self.in_order else place.leaving[at]
                on.append(there._replace(leaving=tuple(z for z in place.leaving if z != gone)))
        return on, solved

    def _note(self, action: str, label: int, number: int, after: float, before: float) -> None:
        problem = self.problems[number]
        if problem.replicate is None:
            self.steps[number].append(Step(action, problem.labels[label], after, after - before))

    def _end(self, place: _Place, at: int, number: int, score: float) -> None:
        assert place.table is not None
        table, steps = StateCounts(place.table.keys, place.table.counts[at]), tuple(self.steps[number])
        self.results[number] = SearchResult(place.problem.summary, place.influencers, score, table, steps)

    # ------------------------------------------------------------------ scores

    def _additions(
        self, known: Sequence[tuple[_Place, list[Counts]]]
    ) -> Iterator[tuple[list[_Place], FloatArray]]:
        """Some places at a time with their counts, and scores ``[member, candidate]`` once each joins."""
        windows = [(place, one[0]) for place, one in known if isinstance(one[0], CandidateCounts)]
        sizes = [(self._kind(place), len(one.keys), one.present.size) for place, one in windows]
        for some in _packs(sizes):
            places = [_counted(*windows[at]) for at in some]
            first, lengths = places[0].problem, [len(place.members) for place in places]
            n_states = [place.problem.n_joined(place.influencers, place.joining) for place in places]
            n_events = self._n_events(places)
            yield (
                places,
                first.scores(
                    joined_tables([windows[at][1] for at in some]),
                    len(places[0].influencers) + 1,
                    np.repeat(n_states, lengths, axis=0),
                    n_events if isinstance(n_events, float) else n_events[:, None],
                ),
            )
        for place, counts in known:
            if not isinstance(counts[0], CandidateCounts):
                there, *others = (_counted(place, one) for one in counts)
                sets = [joined(place.influencers, z) for z in place.joining]
                larger = [one._replace(influencers=u) for one, u in zip(others, sets, strict=True)]
                yield [there], np.stack(self._scores(larger), axis=-1)

    def _scores(self, places: Sequence[_Place]) -> list[FloatArray]:
        """The score of each member of each place."""
        found: list[FloatArray] = [np.empty(0)] * len(places)
        sizes = [(self.kind[place.members[0]], place.counts.shape[1], place.counts.size) for place in places]
        for some in _packs(sizes):
            chosen = [places[at] for at in some]
            first, lengths = chosen[0].problem, [len(place.members) for place in chosen]
            scores = first.scores(
                state_tables([place.counts for place in chosen]),
                np.repeat([len(place.influencers) for place in chosen], lengths),
                np.repeat([first.n_states(place.influencers) for place in chosen], lengths),
                self._n_events(chosen),
            )
            for at, part in zip(some, np.split(scores, np.cumsum(lengths)[:-1]), strict=True):
                found[at] = part
        return found

    def _kind(self, place: _Place) -> tuple[int, ...]:
        """What places must have in common so that additions to them are scored together."""
        return self.kind[place.members[0]], len(place.influencers), len(place.joining)

    def _n_events(self, places: Sequence[_Place]) -> float | FloatArray:
        if places[0].problem.replicate is None:
            return float(places[0].problem.n_events)
        return self.n_events[[number for place in places for number in place.members]]


def _counted(place: _Place, counts: Counts) -> _Place:
    """A place with its counts."""
    assert isinstance(counts, StateCounts | CandidateCounts)
    each = counts.counts[None] if place.problem.replicate is None else counts.counts
    return place._replace(table=StateCounts(counts.keys, each))


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


def joined(influencers: tuple[int, ...], z: int) -> tuple[int, ...]:
    """The influencers and one more, sorted."""
    return tuple(sorted((*influencers, z)))


def _best_moves(scores: FloatArray, before: FloatArray) -> tuple[list[int], FloatArray, list[bool]]:
    """The best move of each row, its score, and whether it improves."""
    best = first_bests(scores)
    top = scores[np.arange(len(best)), best]
    better: list[bool] = improves(top, before).tolist()
    return best.tolist(), top, better


def _first_better(scores: FloatArray, before: FloatArray) -> tuple[list[int], FloatArray, list[bool]]:
    """The first move of each row that improves, its score, and whether there is one."""
    better = improves(scores, before[:, None])
    first, found = better.argmax(axis=1), better.any(axis=1)
    return first.tolist(), scores[np.arange(len(first)), first], [bool(each) for each in found]
