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
from summarkov.engines.work import EVENT_BYTES, Part, Past
from summarkov.events.rows import Block, places_of, uncut
from summarkov.kernels.index import Ticks
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

    def run(self, part: Part) -> IntArray:
        """Block by block; the continuation of a sequence has no first event."""
        counts = np.zeros(len(part.labels) + 1, np.int64)
        continues = False
        for block in part.blocks(1 << 4):
            np.add.at(counts, block.codes[self._first(block, continues, part.attributes)], 1)
            continues = block.goes_on
        return counts[:-1]

    @staticmethod
    def _first(block: Block, continues: bool, attributes: BoolArray | None) -> IntArray | BoolArray:
        """The rows of the first position of each sequence that begins in a block."""
        begins = block.offsets[:-1][np.diff(block.offsets) > 0]
        if continues and len(begins):
            begins = begins[begins > 0]
        if block.moments is None:
            return begins
        events = np.ones(len(block.codes), bool) if attributes is None else ~attributes[block.codes]
        tick = np.cumsum(block.moments.starts & events)
        first = np.zeros(len(block.codes), np.int64)
        first[begins] = np.append(0, tick)[begins] + 1
        return np.asarray(events & (np.maximum.accumulate(first) == tick))

    def total(self, answers: Sequence[IntArray]) -> IntArray:
        """Add up several parts."""
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

    def run(self, part: Part) -> tuple[int, int]:
        """Block by block, of whole sequences."""
        pairs = positions = 0
        for block in uncut(part.blocks(1 << 7)):
            if block.moments is None or not len(block.codes):
                continue
            held = np.zeros(len(part.labels) + 1, bool) if part.attributes is None else part.attributes
            places = places_of(block.moments, held)
            assert places is not None
            ticks = Ticks(places, block.codes, block.offsets)
            number, sequence = np.arange(len(ticks.rows)), ticks.sequence[ticks.rows]
            span = kernels.Span(self.time, in_time=True)
            pairs += int((ticks.beyond(number, ticks.times, sequence, span) - number - 1).sum())
            positions += len(number)
        return pairs, positions

    def total(self, answers: Sequence[tuple[int, int]]) -> tuple[int, int]:
        """Add up several parts."""
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

    def run(self, part: Part) -> StateCounts:
        """Block by block, of whole sequences."""
        return self.total([self._count(part, block) for block in uncut(part.blocks(EVENT_BYTES))])

    def _count(self, part: Part, block: Block) -> StateCounts:
        """Each beginning is followed by the outcome of its sequence, and looks back from its last tick."""
        request, here = self.request, Whole.of(block, part)
        index = Past().index(block.codes, block.offsets, len(part.labels), block.moments, part.attributes)
        if index.places is not None and index.ticks.times is not None:
            ticks = index.ticks
            before = np.maximum(ticks.of - 1, ticks.bounds[ticks.sequence])
            index = replace(index, places=replace(index.places, asked=index.ticks.times[before]))
        ids, keys = request.summary.encode(index, request.influencers, part.labels)
        outcome = request.target.outcome_of()[block.codes]
        passed = here.position - 1
        (at,) = np.nonzero((outcome >= 0) & np.isin(passed, moments_up_to(int(passed.max(initial=0)))))
        together, rows = np.unique(passed[at] * len(keys) + ids[at], return_inverse=True)
        counts = np.zeros((len(together), request.target.n_outcomes), np.int64)
        weights = 1 if block.weights is None else block.weights[here.sequence[at]]
        np.add.at(counts, (rows, outcome[at]), weights)
        moment, state = np.divmod(together, max(1, len(keys)))
        return StateCounts(np.column_stack([moment, keys[state]]).astype(np.int32), counts)

    def total(self, answers: Sequence[StateCounts]) -> StateCounts:
        """Add up several parts."""
        return StateCounts.total(answers)
