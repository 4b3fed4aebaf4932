"""Algorithm 1 of the paper, read literally: one sweep over the labels."""

from __future__ import annotations

import numpy as np

from summarkov.search.problem import Problem, Search, SearchResult, Step, improves


def sweep(problem: Problem) -> Search:
    """Go over the labels once in sorted order and keep each that improves, then once over the kept ones.

    Implements Algorithm 1 as printed; like ``greedy`` it starts from a score of minus infinity. All labels
    not yet passed are asked for at once, so it takes a pass an influencer, not a pass a label.
    """
    influencers, ahead = problem.required, list(problem.optional)
    score, steps = -np.inf, []
    while ahead and len(influencers) - len(problem.required) < problem.room:
        as_they_are, scores = yield from problem.join(influencers, ahead)
        better = [i for i, s in enumerate(scores) if improves(s, score)]
        if not better:
            break
        at = better[0]
        before = problem.score(as_they_are, influencers) if score == -np.inf else score
        score = float(scores[at])
        influencers = tuple(sorted((*influencers, ahead[at])))
        steps.append(Step("add", problem.labels[ahead[at]], score, score - before))
        ahead = ahead[at + 1 :]

    table = yield from problem.states(influencers)
    score = problem.score(table, influencers)
    for z in [z for z in influencers if z not in problem.required]:
        ((left, without),) = yield from problem.leave(influencers, table, [z])
        if improves(left, score):
            steps.append(Step("remove", problem.labels[z], left, left - score))
            score, table = left, without
            influencers = tuple(u for u in influencers if u != z)
    return SearchResult(problem.summary, influencers, score, table, tuple(steps))
