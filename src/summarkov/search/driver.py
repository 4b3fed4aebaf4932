"""Run many searches side by side, so that all of them share each pass over the data."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Protocol, TypeVar

from summarkov.engines import Request
from summarkov.engines.counts import Counts

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
