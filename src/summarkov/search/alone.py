"""Replicates of one target, each searched by itself; for strategies that know of no replicates."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import replace

from summarkov.engines import Request
from summarkov.engines.counts import Counts, one_of
from summarkov.search.batch import Batch
from summarkov.search.problem import Problem, Search, SearchResult


def each_alone(
    batch: Batch, start: Callable[[Problem], Search]
) -> Generator[list[Request], list[Counts], list[SearchResult]]:
    """Run one search a replicate, side by side, so that they share passes and equal counts."""
    searches = [start(replace(batch.problem, n_events=n)) for n in batch.n_events]
    results: dict[int, SearchResult] = {}
    answers: dict[int, list[Counts] | None] = dict.fromkeys(range(len(searches)))
    while answers:
        asked: dict[int, list[Request]] = {}
        for b, answer in answers.items():
            try:
                asked[b] = next(searches[b]) if answer is None else searches[b].send(answer)
            except StopIteration as end:
                results[b] = end.value
        counts = iter(
            (yield [replace(request, replicates=(b,)) for b, some in asked.items() for request in some])
            if asked
            else []
        )
        answers = {b: [one_of(next(counts), 0) for _ in some] for b, some in asked.items()}
    return [results[b] for b in range(len(searches))]
