"""Greedy search, as the published results were obtained, and the sweep that the paper prints."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from summarkov.search.batch import Batch, Group, Searches, joined
from summarkov.search.problem import Asking, Problem, Search, SearchResult, Step, first_bests, improves
from summarkov.typing import FloatArray


def greedy(problem: Problem) -> Search:
    """Add the best label while that improves, then remove the best to remove while that improves.

    The forward rounds start from a score of minus infinity, so the first always adds a label; the backward
    rounds may go down to the empty set. Scores that differ by less than 1e-9 (relative) tie; ties go to the
    first label in sorted order and are no improvement. Required labels are there from the start and stay.

    Departs from Algorithm 1 of the paper, read literally (see ``sweep``); the published numbers come out
    this way.
    """
    ((result,),) = yield from greedy_together(Batch.of(problem))
    return result


def greedy_together(batch: Batch) -> Searches:
    """Search greedily for every problem of a batch in every replicate, all of them at once.

    Each makes the moves that it would make alone. Replicates that stand at the same influencers share their
    counts, and what is scored in a round is scored together. A round takes one pass for all of them.
    """
    search = _Greedy(batch)
    n, problem = len(batch.n_events), batch.problem
    growing = [Group(at, problem.required, tuple(range(n))) for at in range(len(batch.problems))]
    grown = list[Group]()
    for _ in range(max(0, problem.room)):
        if not growing:
            break
        growing, stopped = yield from search.grow(growing)
        grown += stopped
        if problem.summary.by_level:  # then leaving takes no pass, and they can be done with
            yield from search.shrink(grown)
            grown = []
    grown += yield from batch.states(growing)
    yield from search.shrink(grown)
    return [[result for result in results if result is not None] for results in search.results]


class _Greedy:
    """The moves of a batch, and what they lead to."""

    def __init__(self, batch: Batch) -> None:
        self.batch = batch
        n_problems, n = len(batch.problems), len(batch.n_events)
        self.score = np.full((n_problems, n), -np.inf)
        self.steps: list[list[Step]] = [[] for _ in range(n_problems)]  # without replicates only
        self.results: list[list[SearchResult | None]] = [[None] * n for _ in range(n_problems)]
        self.open = [n] * n_problems

    def grow(self, groups: Sequence[Group]) -> Asking[tuple[list[Group], list[Group]]]:
        """Add the best label where that improves; those that have grown, and those that are to stay."""
        labels = self.batch.problem.labels
        groups, candidates, scores = yield from self.batch.score_additions(groups)
        rows = _rows(groups)
        old = self.score[rows]
        best, top, better = _best_moves(scores, old)
        self.score[rows] = np.where(better, top, old)
        if not self.batch.replicated:
            if old[0] == -np.inf:  # the first round
                old = np.concatenate(self.batch.scores(groups))
            moved = zip(groups, candidates, best, top.tolist(), old.tolist(), better, strict=True)
            for group, joining, at, after, before, moves in moved:
                if moves:
                    self.steps[group.problem].append(Step("add", labels[joining[at]], after, after - before))
        grown: dict[tuple[int, tuple[int, ...]], list[int]] = {}
        stay, row = list[Group](), 0
        for group, joining in zip(groups, candidates, strict=True):
            going = dict[int, list[int]]()
            staying = list[int]()
            for i, b in enumerate(group.members):
                if better[row]:
                    going.setdefault(best[row], []).append(b)
                else:
                    staying.append(i)
                row += 1
            for at, some in going.items():
                where = group.problem, joined(group.influencers, joining[at])
                grown.setdefault(where, []).extend(some)
            if staying:
                stay.append(group.part(staying))
        return [Group(*where, tuple(sorted(some))) for where, some in grown.items()], stay

    def shrink(self, groups: Sequence[Group]) -> Asking[None]:
        """Remove the best label to remove while that improves; the end of the search."""
        labels = self.batch.problem.labels
        solved = 0
        while groups:
            left = yield from self.batch.without_each(groups)
            each = iter(
                self.batch.scores(
                    [one for group, some in zip(groups, left, strict=True) for one in (group, *some)]
                )
            )
            n_rows = sum(len(group.members) for group in groups)
            scores = np.full((n_rows, 1 + max(1, *map(len, left))), -np.inf)
            row = 0
            for group, some in zip(groups, left, strict=True):
                for column in range(1 + len(some)):
                    scores[row : row + len(group.members), column] = next(each)
                row += len(group.members)
            own = scores[:, 0]
            best, top, better = _best_moves(scores[:, 1:], own)
            rest, row = list[Group](), 0
            for group, some in zip(groups, left, strict=True):
                going = dict[int, list[int]]()
                for i, b in enumerate(group.members):
                    if better[row]:
                        going.setdefault(best[row], []).append(i)
                        if not self.batch.replicated:
                            (label,) = set(group.influencers).difference(some[best[row]].influencers)
                            after, before = float(top[row]), float(own[row])
                            self.steps[group.problem].append(
                                Step("remove", labels[label], after, after - before)
                            )
                    else:
                        solved += self._end(group, i, b, float(own[row]))
                    row += 1
                rest += [some[at].part(members) for at, members in going.items()]
            groups = rest
        self.batch.done(solved)

    def _end(self, group: Group, at: int, replicate: int, score: float) -> bool:
        """Keep a result, and tell whether it was the last of its problem."""
        result = SearchResult(
            self.batch.problem.summary,
            group.influencers,
            score,
            group.one(at),
            tuple(self.steps[group.problem]),
        )
        self.results[group.problem][replicate] = result
        self.open[group.problem] -= 1
        return not self.open[group.problem]


def _rows(groups: Sequence[Group]) -> tuple[list[int], list[int]]:
    """Problem and replicate of each member of all groups."""
    pairs = [(group.problem, b) for group in groups for b in group.members]
    return [problem for problem, _ in pairs], [b for _, b in pairs]


def _best_moves(scores: FloatArray, before: FloatArray) -> tuple[list[int], FloatArray, list[bool]]:
    """The best move of each row, its score, and whether it improves."""
    best = first_bests(scores)
    top = scores[np.arange(len(best)), best]
    better: list[bool] = improves(top, before).tolist()
    return best.tolist(), top, better


def sweep(problem: Problem) -> Search:
    """Go over the labels once in sorted order and keep each that improves, then once over the kept ones.

    Implements Algorithm 1 of the paper as printed; like :func:`greedy` it starts from a score of minus
    infinity. All labels not yet passed are asked for at once, so it takes one pass per influencer, not one
    per label.
    """
    batch = Batch.of(problem)
    group, ahead = Group(0, problem.required, (0,)), problem.optional
    score, steps = -np.inf, list[Step]()
    while ahead and len(group.influencers) - len(problem.required) < problem.room:
        (as_it_is,), _, (scores,) = yield from batch.score_additions([group], [ahead])
        better = np.flatnonzero(improves(scores, score))
        if not len(better):
            break
        at = int(better[0])
        before = batch.score_of(as_it_is) if score == -np.inf else score
        score = float(scores[at])
        steps.append(Step("add", problem.labels[ahead[at]], score, score - before))
        group = Group(0, joined(group.influencers, ahead[at]), (0,))
        ahead = ahead[at + 1 :]

    (group,) = yield from batch.states([group])
    score = batch.score_of(group)
    for z in [z for z in group.influencers if z not in problem.required]:
        ((left,),) = yield from batch.without_each([group], [[group.influencers.index(z)]])
        if improves(without := batch.score_of(left), score):
            steps.append(Step("remove", problem.labels[z], without, without - score))
            score, group = without, left
    return SearchResult(problem.summary, group.influencers, score, group.one(0), tuple(steps))
