"""Problems and replicates of a batch, each searched by itself; for strategies that know of no batches."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import replace

from summarkov.engines import Request
from summarkov.engines.counts import Counts, one_of
from summarkov.search.batch import Batch, Searches
from summarkov.search.driver import side_by_side
from summarkov.search.problem import Problem, Search, SearchResult


def each_alone(batch: Batch, start: Callable[[Problem], Search]) -> Searches:
    """Run one search a problem and replicate, side by side, so that they share passes and equal counts."""

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
            requests = search.send([one_of(one, 0) for one in counts])
    except StopIteration as end:
        result: SearchResult = end.value
        return result
