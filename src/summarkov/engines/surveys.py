"""Passes that count sequences: how they begin, and open cases."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from summarkov import kernels
from summarkov.engines.counts import StateCounts
from summarkov.engines.endings import EndedSource
from summarkov.engines.outcomes import Whole
from summarkov.engines.requests import StatesRequest
from summarkov.engines.source import EventSource
from summarkov.engines.work import Shard
from summarkov.events.vocabulary import count_codes
from summarkov.settings import Duration
from summarkov.typing import BoolArray, IntArray


def count_starts(source: EventSource) -> IntArray:
    """How many sequences begin with each label, in one pass; weights do not matter.

    >>> from summarkov.engines import as_source
    >>> count_starts(as_source([["A", "B"], ["B"], ["A"]])).tolist()
    [0, 2, 1]
    """
    return source.run(StartsWork())


@dataclass(frozen=True)
class StartsWork:
    """Counts the first events of sequences."""

    def run(self, shard: Shard) -> IntArray:
        """The rows of the first position of each sequence."""
        ticks = shard.index.ticks if shard.index.places is not None else None
        if ticks is None:
            first: IntArray | BoolArray = shard.offsets[:-1][np.diff(shard.offsets) > 0]
        else:
            first = ~ticks.attribute & (ticks.of == ticks.bounds[ticks.sequence])
        return count_codes(shard.codes[first], len(shard.labels))

    def total(self, answers: Sequence[IntArray]) -> IntArray:
        """Add them up."""
        return np.asarray(np.sum(answers, axis=0))


def positions_within(source: EventSource, time: Duration) -> int:
    """How many positions a time holds on average, one at least: what to compare a look-back in time with.

    Counted are pairs of positions of one sequence that are at most so far apart; weights do not matter.
    """
    pairs, positions = source.run(WithinWork(int(time)))
    return max(1, round(pairs / max(1, positions)))


@dataclass(frozen=True)
class WithinWork:
    """Counts pairs of positions that are at most a time apart, and positions."""

    time: int

    def run(self, shard: Shard) -> tuple[int, int]:
        """Those of a shard that has times."""
        if shard.index.places is None or not len(shard.codes):
            return 0, 0
        ticks = shard.index.ticks
        number, sequence = np.arange(len(ticks.rows)), ticks.sequence[ticks.rows]
        beyond = ticks.beyond(number, ticks.times, sequence, kernels.Span(self.time, in_time=True))
        return int((beyond - number - 1).sum()), len(number)

    def total(self, answers: Sequence[tuple[int, int]]) -> tuple[int, int]:
        """Add them up."""
        return sum(pairs for pairs, _ in answers), sum(positions for _, positions in answers)


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
class OpenWork:
    """Counts whole sequences by the state after each number of positions; each counts once at a moment."""

    request: StatesRequest

    def run(self, shard: Shard) -> StateCounts:
        """Each beginning is followed by the outcome of its sequence, and looks back from its last tick."""
        request, here, index = self.request, Whole.of(shard), shard.index
        if index.places is not None and index.ticks.times is not None:
            ticks = index.ticks
            before = np.maximum(ticks.of - 1, ticks.bounds[ticks.sequence])
            index = replace(index, places=replace(index.places, asked=index.ticks.times[before]))
        ids, keys = request.summary.encode(index, request.influencers, shard.labels)
        outcome = request.target.outcome_of()[shard.codes]
        passed = here.position - 1
        (at,) = np.nonzero((outcome >= 0) & np.isin(passed, moments_up_to(int(passed.max(initial=0)))))
        together, rows = np.unique(passed[at] * len(keys) + ids[at], return_inverse=True)
        counts = np.zeros((len(together), request.target.n_outcomes), np.int64)
        weights = 1 if shard.weights is None else shard.weights[here.sequence[at]]
        np.add.at(counts, (rows, outcome[at]), weights)
        moment, state = np.divmod(together, max(1, len(keys)))
        return StateCounts(np.column_stack([moment, keys[state]]).astype(np.int32), counts)

    def total(self, answers: Sequence[StateCounts]) -> StateCounts:
        """Add them up."""
        return StateCounts.total(answers)
