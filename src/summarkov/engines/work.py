"""Work on events: done on each shard, which holds whole sequences, and added up."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Generic, Self, TypeVar

import numpy as np

from summarkov import kernels
from summarkov.engines.counts import CandidateCounts, Counts, RecencyCounts, StateCounts
from summarkov.engines.requests import CandidatesRequest, RecencyRequest, Request
from summarkov.errors import SettingError, TooLargeError
from summarkov.events.rows import Rows
from summarkov.events.vocabulary import count_codes
from summarkov.settings import is_whole
from summarkov.summaries import WindowSummary
from summarkov.typing import CodeArray, HashArray, IntArray

#: Rows of a shard at most, unless one sequence has more: bounds what the kernels need beside the data itself,
#: which is more in NumPy.
SHARD_EVENTS = 1 << (22 if kernels.backend() == "native" else 20)
#: What the kernels need for an event while they count, beside the counts.
EVENT_BYTES = 1 << 7
#: Bytes that the tables of one request may take.
TABLE_BYTES = 1 << 30
#: Rows of a sequence at most: positions are 32 bits wide in C++.
MOST_ROWS = 2**31 - 1
#: More threads than any machine has cores.
_MOST_THREADS = 1024

Answer = TypeVar("Answer")


@dataclass(frozen=True)
class Shard:
    """Some sequences, all of each. ``first`` is the number of the first sequence, ``start`` of the first row.

    ``all_keys`` tells the keys of all sequences, by which they are drawn and shuffled.
    """

    rows: Rows
    weights: IntArray | None = None  # one per sequence
    first: int = 0
    start: int = 0
    all_keys: Callable[[], HashArray] | None = field(default=None, repr=False)

    @property
    def codes(self) -> CodeArray:
        return self.rows.codes

    @property
    def offsets(self) -> IntArray:
        return self.rows.offsets

    @property
    def labels(self) -> tuple[str, ...]:
        return self.rows.labels

    @property
    def n_sequences(self) -> int:
        return len(self.rows.offsets) - 1

    @cached_property
    def index(self) -> kernels.Index:
        """The rows as kernels take them, with what these keep."""
        if len(self.codes) > MOST_ROWS:
            raise TooLargeError(
                f"a sequence has {len(self.codes):,} rows, and at most {MOST_ROWS:,} can be counted; cut it "
                "into sessions, or into other parts that belong together"
            )
        return self.rows.index()

    @cached_property
    def keys(self) -> HashArray:
        """Numbers for the names of the sequences."""
        assert self.all_keys is not None
        return np.asarray(self.all_keys()[self.first : self.first + self.n_sequences])

    def weighed(self, weights: IntArray) -> Shard:
        """The same sequences under other weights."""
        found = replace(self, weights=weights)
        vars(found)["index"] = self.index
        return found

    def of_rows(self, of_sequences: IntArray) -> IntArray:
        """Numbers, one per sequence, as numbers of rows."""
        return np.repeat(of_sequences, np.diff(self.offsets))

    def count(self, request: Request) -> Counts:
        """Answer one request for this shard alone."""
        if isinstance(request, RecencyRequest):
            return self._count_recency(request)
        influencers = np.array(request.influencers, np.int32)
        outcomes = (request.target.outcome_of(), request.target.n_outcomes)
        if isinstance(request.summary, WindowSummary):
            asked, given = None, None
            if isinstance(request, CandidatesRequest):
                asked, given = request.candidates, request.given_place
            window, candidates = request.summary.window(self.labels), np.array(asked or (), np.int32)
            try:
                counted = kernels.count_candidates(
                    self.index, self.weights, influencers, candidates, *outcomes, window, given=given
                )
            except MemoryError:
                if asked is None:
                    raise
                raise TooLargeError(
                    f"the states of {len(influencers)} influencers joined by each of {len(candidates)} "
                    "candidates are too many to count; set max_influencers, raise gamma, or give candidates"
                ) from None
            return StateCounts(*counted[:2]) if asked is None else CandidateCounts(*counted)
        ids, keys = request.summary.encode(self.index, request.influencers, self.labels)
        counted = kernels.outcomes_counted(self.index, self.weights, outcomes[0])
        return StateCounts(keys, kernels.tabulate(counted, ids, len(keys), outcomes[1]))

    def _count_recency(self, request: RecencyRequest) -> RecencyCounts:
        tree = request.summary
        slots = np.full(len(tree.nodes), -1, np.int64)
        slots[tree.leaves[list(request.open)]] = np.arange(len(request.open))
        recency = tree.tests.recency(request.candidates)
        if recency.in_time:
            recency = recency._replace(lookbacks=kernels.in_units(recency.lookbacks, self.index.unit))
        outcomes = (request.target.outcome_of(), request.target.n_outcomes)
        try:
            return RecencyCounts(
                *kernels.count_tests(
                    self.index, self.weights, tree.arrays_for(self.index), slots, recency, *outcomes
                )
            )
        except MemoryError:
            raise TooLargeError(
                f"the tests of {len(request.candidates)} labels at {len(request.open)} leaves for "
                f"{request.target.n_outcomes} outcomes are too many to count; give candidates, "
                "set max_depth, raise gamma, or leave out counts or pairs"
            ) from None


class Work(ABC, Generic[Answer]):
    """What is to be worked out from every shard. It may have to travel to where the shard is.

    If it has ``questions`` and answers each by itself, in a list, threads can share them. It may also have
    ``most_rows`` of a shard.
    """

    questions: tuple[Any, ...]

    @abstractmethod
    def run(self, shard: Shard) -> Answer:
        """The answer for one shard alone."""

    def total(self, answers: Sequence[Answer]) -> Answer:
        """Add up the answers of several shards, in their order."""
        return added(answers)

    def some(self, first: int, step: int) -> Self:
        """Every so many of the questions."""
        return replace(self, questions=self.questions[first::step])  # type: ignore[type-var]  # dataclasses


def added(answers: Sequence[Answer]) -> Answer:
    """Arrays, numbers and counts added up; lists and tuples item by item.

    >>> added([[1, (2, 3)], [10, (20, 30)]])
    [11, (22, 33)]
    """
    first: Any = answers[0]
    if len(answers) == 1:
        return answers[0]
    if isinstance(first, list | tuple):
        found: Any = type(first)(map(added, zip(*answers, strict=True)))
    elif hasattr(first, "total"):
        found = first.total(answers)
    else:
        found = sum(answers[1:], first)  # type: ignore[arg-type]
    return found  # type: ignore[no-any-return]


@dataclass(frozen=True)
class CountWork(Work[list[Counts]]):
    """Counts: the answers to some requests, in one pass."""

    questions: tuple[Request, ...]

    def run(self, shard: Shard) -> list[Counts]:
        """Count every request."""
        return list(map(shard.count, self.questions))


@dataclass(frozen=True)
class SurveyWork(Work[IntArray]):
    """Counts labels, weighted."""

    def run(self, shard: Shard) -> IntArray:
        """Those of all rows."""
        if shard.weights is None:
            return count_codes(shard.codes, len(shard.labels))
        counts = np.zeros(len(shard.labels) + 1, np.int64)
        np.add.at(counts, shard.codes, shard.of_rows(shard.weights))
        return counts[:-1]


@dataclass(frozen=True)
class StartsWork(Work[IntArray]):
    """Counts how many sequences begin with each label; weights do not matter."""

    def run(self, shard: Shard) -> IntArray:
        """The rows of the first position of each sequence."""
        index = shard.index
        first = ~index.attribute & (index.tick == index.bounds[index.sequence])
        return count_codes(shard.codes[first], len(shard.labels))


def in_order(answers: Sequence[list[Any]]) -> list[Any]:
    """The answers to all questions, from those to every so many of them."""
    found = [None] * sum(map(len, answers))
    for first, some in enumerate(answers):
        found[first :: len(answers)] = some
    return found


def most_targets(requests: Sequence[Request], table_bytes: int) -> int:
    """How many labels may share one table of candidates."""
    cells = [2 * len(r.candidates) for r in requests if isinstance(r, CandidatesRequest)]
    cells += [r.cells for r in requests if isinstance(r, RecencyRequest)]
    return max(1, (table_bytes >> 2) // (8 * max([*cells, 2])))


# ---------------------------------------------------------------------- threads


@contextmanager
def map_in_threads(n_jobs: int) -> Iterator[Callable[..., Iterator[Any]]]:
    """What applies a function as ``map`` does, in ``n_jobs`` threads."""
    if n_jobs == 1:
        yield map
        return
    with ThreadPoolExecutor(n_jobs) as pool:
        yield pool.map


def threads(n_jobs: int | None) -> int:
    """The number of threads asked for."""
    if n_jobs is None:
        return 1
    if not is_whole(n_jobs) or n_jobs == 0 or n_jobs < -1:
        raise SettingError(f"n_jobs must be a number of threads, None or -1 for one per core, not {n_jobs!r}")
    if n_jobs > _MOST_THREADS:
        raise SettingError(
            f"n_jobs {n_jobs} is too large; it may be {_MOST_THREADS} at most, or -1 for one per core"
        )
    return (os.cpu_count() or 1) if n_jobs == -1 else int(n_jobs)
