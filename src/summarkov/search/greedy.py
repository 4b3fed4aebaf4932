"""Greedy search, as the published results were obtained."""

from __future__ import annotations

import numpy as np

from summarkov.search.problem import Problem, Search, SearchResult, Step, first_best, improves


def greedy(problem: Problem) -> Search:
    """Add the best label while that improves, then remove the best to remove while that improves.

    The forward rounds start from a score of minus infinity, so the first always adds a label; the backward
    rounds may go down to the empty set. Scores that differ by less than 1e-9 (relative) tie; ties go to the
    first label in sorted order and are no improvement. Required labels are there from the start and stay.

    Departs from Algorithm 1 of the paper, read literally (see ``sweep``); the published numbers come out
    this way.
    """
    influencers = problem.required
    score, steps = -np.inf, []
    candidates = list(problem.optional)
    for _ in range(max(0, problem.room)):
        as_they_are, scores = yield from problem.join(influencers, candidates)
        best = first_best(scores)
        if not improves(scores[best], score):
            break
        before = problem.score(as_they_are, influencers) if score == -np.inf else score
        score = float(scores[best])
        steps.append(Step("add", problem.labels[candidates[best]], score, score - before))
        influencers = tuple(sorted((*influencers, candidates.pop(best))))

    table = yield from problem.states(influencers)
    score = problem.score(table, influencers)
    while leaving := [z for z in influencers if z not in problem.required]:
        left = yield from problem.leave(influencers, table, leaving)
        best = first_best([s for s, _ in left])
        if not improves(left[best][0], score):
            break
        steps.append(Step("remove", problem.labels[leaving[best]], left[best][0], left[best][0] - score))
        score, table = left[best]
        influencers = tuple(z for z in influencers if z != leaving[best])
    return SearchResult(problem.summary, influencers, score, table, tuple(steps))
