"""Passes that count sequences: how they begin, how beginnings end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from summarkov import kernels
from summarkov.engines.counts import StateCounts, merge_keys
from summarkov.engines.endings import EndedSource
from summarkov.engines.messages import travels
from summarkov.engines.requests import StatesRequest
from summarkov.engines.source import EventSource
from summarkov.engines.weights import FIXED_POINT
from summarkov.engines.work import EVENT_BYTES, Part, Past
from summarkov.events.rows import Block, places_of, uncut
from summarkov.kernels.index import Ticks
from summarkov.settings import Duration
from summarkov.typing import BoolArray, FloatArray, IntArray, KeyArray


def count_starts(source: EventSource) -> IntArray:
    """How many sequences begin with each label, in one pass; weights do not matter.

    >>> from summarkov.engines import as_source
    >>> count_starts(as_source([["A", "B"], ["B"], [], ["A"]])).tolist()
    [2, 1]
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


@travels
@dataclass(frozen=True)
class Beginnings:
    """Beginnings of sequences by the state after them and the outcome of the sequence, weighted.

    ``sums[s, x]`` is their number, ``squares[s, x]`` the sum over sequences of the square of that of each.
    """

    keys: KeyArray
    sums: FloatArray
    squares: FloatArray

    def worth(self, scale: int) -> StateCounts:
        r"""The same shares of as many sequences as the beginnings are worth, in units of ``1 / FIXED_POINT``.

        All beginnings of one sequence have one outcome, so they tell less than as many sequences would. With
        :math:`m_i` beginnings of sequence i in a state, and the share p of those with the outcome
        (:math:`y_i = 1`), the variance of p is about

        .. math:: V = \sum_i m_i^2 (y_i - p)^2 \Big/ \Big(\sum_i m_i\Big)^2

        as of :math:`p (1 - p) / V` sequences that count once each. If p does not depend on the
        :math:`m_i`, that is :math:`(\sum_i m_i)^2 / \sum_i m_i^2`; the smaller of both is taken, which is
        never more than the number of sequences.

        Reference: Korn and Graubard, Survey Methodology 24 (1998).
        """
        total = self.sums.sum(axis=1)
        rest, squares = total[:, None] - self.sums, self.squares.sum(axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            evenly = total**2 / squares
            between = self.sums[:, 0] * rest[:, 0] * total**2 / (self.squares * rest**2).sum(axis=1)
            n = np.fmin(evenly, np.where(between > 0, between, np.inf)) / scale
            counts = self.sums / total[:, None] * n[:, None]
        return StateCounts(self.keys, np.rint(np.nan_to_num(counts) * FIXED_POINT).astype(np.int64))


def count_beginnings(source: EndedSource, request: StatesRequest) -> StateCounts:
    """What the beginnings in each state are worth, of a source that has outcomes everywhere."""
    return source.run(BeginningsWork(request)).worth(source.scale)


@dataclass(frozen=True)
class BeginningsWork:
    """Counts beginnings of whole sequences by state."""

    request: StatesRequest

    def run(self, part: Part) -> Beginnings:
        """Block by block, of whole sequences."""
        return self.total([self._count(part, block) for block in uncut(part.blocks(EVENT_BYTES))])

    def _count(self, part: Part, block: Block) -> Beginnings:
        """Each beginning is followed by the outcome of its sequence, and looks back from its last tick."""
        request = self.request
        index = Past().index(block.codes, block.offsets, len(part.labels), block.moments, part.attributes)
        if index.places is not None and index.ticks.times is not None:
            ticks = index.ticks
            before = np.maximum(ticks.of - 1, ticks.bounds[ticks.sequence])
            index = replace(index, places=replace(index.places, asked=index.ticks.times[before]))
        ids, keys = request.summary.encode(index, request.influencers, part.labels)
        sequence = np.repeat(np.arange(len(block.offsets) - 1), np.diff(block.offsets))
        outcome = request.target.outcome_of()[block.codes]
        here = outcome >= 0
        visits, times = np.unique(
            np.column_stack([sequence[here], ids[here], outcome[here]]), axis=0, return_counts=True
        )
        weights = np.ones(len(times)) if block.weights is None else block.weights[visits[:, 0]]
        tables = np.zeros((2, len(keys), request.target.n_outcomes))
        for table, power in zip(tables, (1, 2), strict=True):
            np.add.at(table, (visits[:, 1], visits[:, 2]), weights * times.astype(float) ** power)
        return Beginnings(keys, *tables)

    def total(self, answers: Sequence[Beginnings]) -> Beginnings:
        """Add up several parts."""
        keys, where = merge_keys([each.keys for each in answers])
        tables = np.zeros((2, len(keys), self.request.target.n_outcomes))
        for each, rows in zip(answers, where, strict=True):
            tables[:, rows] += np.stack([each.sums, each.squares])
        return Beginnings(keys, *tables)
