"""Passes that count how sequences begin."""

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
