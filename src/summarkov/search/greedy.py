"""Greedy search, as the published results were obtained."""

from __future__ import annotations

from collections.abc import Generator

import numpy as np
import numpy.typing as npt

from summarkov.engines import Request, StateCounts
from summarkov.engines.counts import Counts
from summarkov.search.batch import Batch, Group
from summarkov.search.problem import Problem, Search, SearchResult, Step, first_bests, improved

IntArray = npt.NDArray[np.int64]


def greedy(problem: Problem) -> Search:
    """Add the best label while that improves, then remove the best to remove while that improves.

    The forward rounds start from a score of minus infinity, so the first always adds a label; the backward
    rounds may go down to the empty set. Scores that differ by less than 1e-9 (relative) tie; ties go to the
    first label in sorted order and are no improvement. Required labels are there from the start and stay.

    Departs from Algorithm 1 of the paper, read literally (see ``sweep``); the published numbers come out
    this way.
    """
    (result,) = yield from greedy_together(Batch(problem, [problem.n_events], replicated=False))
    return result


def greedy_together(batch: Batch) -> Generator[list[Request], list[Counts], list[SearchResult]]:
    """Search greedily in every replicate of a batch; those that stand at the same influencers share counts.

    Each replicate makes the moves that it would make alone. A round takes one pass for all of them.
    """
    problem, n = batch.problem, len(batch.n_events)
    score, steps = np.full(n, -np.inf), list[Step]()  # only a search of its own keeps its steps
    groups, done = [Group(problem.required, np.arange(n))], list[Group]()
    for _ in range(max(0, problem.room)):
        if not groups:
            break
        grown: dict[tuple[int, ...], list[IntArray]] = {}
        for group, candidates, scores in (yield from batch.join(groups)):
            best = first_bests(scores)
            top = scores[np.arange(len(best)), best]
            better = improved(top, score[group.members])
            if not better.all():
                done.append(group.part(np.flatnonzero(~better)))
            if not batch.replicated and better[0]:
                before = batch.score(group)[0] if score[0] == -np.inf else score[0]
                label = problem.labels[candidates[best[0]]]
                steps.append(Step("add", label, float(top[0]), float(top[0] - before)))
            score[group.members[better]] = top[better]
            for at in sorted(set(best[better].tolist())):
                joined = tuple(sorted((*group.influencers, candidates[at])))
                grown.setdefault(joined, []).append(group.members[better & (best == at)])
        groups = [
            Group(joined, some[0] if len(some) == 1 else np.sort(np.concatenate(some)))
            for joined, some in grown.items()
        ]

    groups = [*done, *(yield from batch.states(groups))]
    for group in groups:
        score[group.members] = batch.score(group)
    results: list[SearchResult | None] = [None] * n
    while groups:
        leaving = [[z for z in group.influencers if z not in problem.required] for group in groups]
        without = yield from batch.leave(groups, leaving)
        shrunk = list[Group]()
        for group, some, left in zip(groups, leaving, without, strict=True):
            better = np.zeros(len(group.members), bool)
            if some:
                scores = np.stack([batch.score(one) for one in left], axis=-1)
                best = first_bests(scores)
                top = scores[np.arange(len(best)), best]
                better = improved(top, score[group.members])
                if not batch.replicated and better[0]:
                    label = problem.labels[some[best[0]]]
                    steps.append(Step("remove", label, float(top[0]), float(top[0] - score[0])))
                score[group.members[better]] = top[better]
                for at, one in enumerate(left):
                    if (goes := better & (best == at)).any():
                        shrunk.append(one.part(np.flatnonzero(goes)))
            assert group.table is not None
            for i in np.flatnonzero(~better).tolist():
                b, table = int(group.members[i]), StateCounts(group.table.keys, group.table.counts[i])
                found = (problem.summary, group.influencers, float(score[b]), table, tuple(steps))
                results[b] = SearchResult(*found)
        groups = shrunk
    return [result for result in results if result is not None]
