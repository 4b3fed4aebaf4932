"""Passes that count sequences: how they begin, and open cases."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from summarkov import kernels
from summarkov.engines.counts import StateCounts
from summarkov.engines.outcomes import EndedSource, positions
from summarkov.engines.requests import StatesRequest
from summarkov.engines.source import EventSource
from summarkov.engines.work import Shard, Work
from summarkov.events.vocabulary import count_codes
from summarkov.settings import Duration
from summarkov.typing import IntArray


def count_starts(source: EventSource) -> IntArray:
    """How many sequences begin with each label, in one pass; weights do not matter.

    >>> from summarkov.engines import as_source
    >>> count_starts(as_source([["A", "B"], ["B"], ["A"]])).tolist()
    [0, 2, 1]
    """
    return source.run(StartsWork())


@dataclass(frozen=True)
class StartsWork(Work[IntArray]):
    """Counts the first events of sequences."""

    def run(self, shard: Shard) -> IntArray:
        """The rows of the first position of each sequence."""
        index = shard.index
        first = ~index.attribute & (index.tick == index.bounds[index.sequence])
        return count_codes(shard.codes[first], len(shard.labels))


def positions_within(source: EventSource, time: Duration) -> int:
    """How many positions a time holds on average, one at least: what to compare a look-back in time with.

    Counted are pairs of positions of one sequence that are at most so far apart; weights do not matter.
    """
    pairs, positions = source.run(WithinWork(int(time)))
    return max(1, round(pairs / max(1, positions)))


@dataclass(frozen=True)
class WithinWork(Work[tuple[int, int]]):
    """Counts pairs of positions that are at most a time apart, and positions."""

    time: int

    def run(self, shard: Shard) -> tuple[int, int]:
        """Those of a shard that has times."""
        index = shard.index
        if index.times is None or not len(shard.codes):
            return 0, 0
        number, sequence = np.arange(len(index.rows)), index.sequence[index.rows]
        beyond = index.beyond(number, index.tick_times, sequence, kernels.Span(self.time, in_time=True))
        return int((beyond - number - 1).sum()), len(number)


#: Each number of positions up to this is a moment of its own; beyond, moments are 2% apart.
EVERY_MOMENT = 100


def moments_up_to(longest: int) -> IntArray:
    """The numbers of positions after which open cases are counted.

    >>> moments_up_to(110).tolist()[-4:]
    [100, 102, 105, 108]
    """
    found = list(range(min(longest, EVERY_MOMENT) + 1))
    while (after := -(-found[-1] * 51 // 50)) <= longest and len(found) > EVERY_MOMENT:
        found.append(after)
    return np.array(found)


def count_open(source: EndedSource, request: StatesRequest) -> StateCounts:
    """What became of cases that were open at each moment, of a source that has outcomes everywhere.

    Keys are those of states, behind the number of positions that had passed.
    """
    return source.run(OpenWork(request))


@dataclass(frozen=True)
class OpenWork(Work[StateCounts]):
    """Counts whole sequences by the state after each number of positions; each counts once at a moment."""

    request: StatesRequest

    def run(self, shard: Shard) -> StateCounts:
        """Each beginning is followed by the outcome of its sequence, and looks back from its last tick."""
        request, index = self.request, shard.index
        if index.tick_times is not None:
            before = np.maximum(index.tick - 1, index.bounds[index.sequence])
            index = replace(index, asked=index.tick_times[before])
        ids, keys = request.summary.encode(index, request.influencers, shard.labels)
        outcome = request.target.outcome_of()[shard.codes]
        passed = positions(shard) - 1
        (at,) = np.nonzero((outcome >= 0) & np.isin(passed, moments_up_to(int(passed.max(initial=0)))))
        together, rows = np.unique(passed[at] * len(keys) + ids[at], return_inverse=True)
        counts = np.zeros((len(together), request.target.n_outcomes), np.int64)
        weights = 1 if shard.weights is None else shard.weights[index.sequence[at]]
        np.add.at(counts, (rows, outcome[at]), weights)
        moment, state = np.divmod(together, max(1, len(keys)))
        return StateCounts(np.column_stack([moment, keys[state]]).astype(np.int32), counts)
