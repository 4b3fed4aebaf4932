"""Run many searches side by side, so that all of them share each pass over the data."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import replace
from typing import Protocol, TypeVar

from summarkov.engines import Request
from summarkov.engines.counts import Counts, pick_replicate
from summarkov.search.batch import Batch, Searches
from summarkov.search.problem import Problem, Search, SearchResult

Result = TypeVar("Result")


class Counting(Protocol):
    """What answers requests."""

    def count(self, requests: Sequence[Request]) -> list[Counts]:
        """Answer all requests in one pass over the data."""


def run_searches(
    source: Counting, searches: Sequence[Generator[list[Request], list[Counts], Result]]
) -> list[Result]:
    """Answer all open requests of all searches in one pass, until every search is done.

    The number of passes is that of the deepest search, not the sum.
    """
    together = side_by_side(searches)
    try:
        requests = next(together)
        while True:
            requests = together.send(source.count(requests))
    except StopIteration as end:
        results: list[Result] = end.value
        return results


def side_by_side(
    searches: Sequence[Generator[list[Request], list[Counts], Result]],
) -> Generator[list[Request], list[Counts], list[Result]]:
    """One search that asks at once for what several ask for, until every one of them is done."""
    results: dict[int, Result] = {}
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

    def all_of(problem: Problem) -> Generator[list[Request], list[Counts], list[SearchResult]]:
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
