"""Outcomes of whole sequences: how they are told, and which sequences count for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from summarkov.engines.work import Part
from summarkov.events.moments import FARTHEST
from summarkov.events.rows import Block, uncut
from summarkov.events.vocabulary import END
from summarkov.kernels import UNLIMITED
from summarkov.settings import Duration
from summarkov.typing import BoolArray, IntArray
from summarkov.wording import plural

#: Of a sequence whose outcome is not known, and of a code that tells nothing about it.
NOT_KNOWN, NOT_TOLD = -1, -2


class Verdict(NamedTuple):
    """What is known of each sequence: whether it has the outcome, what is looked at, and whether it counts.

    ``hits`` has 1, 0 or ``NOT_KNOWN``; ``limits`` how many of its positions are looked at; ``first`` the
    first position at which the outcome is certain, far off where there is none; ``reasons`` a number of
    ``Outcome.reasons``, 0 where the sequence counts.
    """

    hits: IntArray
    limits: IntArray
    first: IntArray
    reasons: IntArray


@dataclass(frozen=True)
class Outcome:
    """How to tell the outcome of a whole sequence: from a value that it has, or from its events.

    ``name`` is the outcome. One of these tells it: ``values`` has, for each code and last for no known label,
    1 if it is an attribute that means the outcome, 0 if one that means the opposite, -1 if one that says that
    it is not known, -2 else; ``hits`` has 1, 0 or -1 for each sequence by its number; ``last`` is a label
    that a sequence ends with, and ``contained`` one that it contains.

    All positions of a sequence are looked at; with ``after``, a number of positions or a time since the first
    event, those up to then, of sequences that went on until then and have not reached the outcome.
    ``thing`` is what a position is called.
    """

    name: str
    values: IntArray | None = None
    hits: IntArray | None = None
    last: int | None = None
    contained: int | None = None
    after: int | Duration | None = None
    thing: str = "event"

    @property
    def names(self) -> tuple[str, str]:
        """The outcome and its opposite, sorted."""
        return self.name, f"{self.name}: no"

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why sequences are left out; the first stands for those that count."""
        in_time = isinstance(self.after, Duration)
        before = f"the age of {self.after}" if in_time else f"{self.thing} {self.after}"
        return (
            "",
            "no outcome known",
            "cut off before the end",
            f"ended before {before}",
            f"reached it within {self.moment}",
        )

    @property
    def moment(self) -> str:
        """When it is asked about, for people."""
        return str(self.after) if isinstance(self.after, Duration) else plural(self.after or 0, self.thing)

    def tell(self, here: Whole) -> Verdict:
        """What is known of each sequence of a block."""
        n = here.n_positions
        first, is_cut_off = np.full(len(n), UNLIMITED), np.zeros(len(n), bool)
        if self.contained is not None:
            first, last = here.first_and_last(self.contained)
            hits, is_cut_off = (last > 0).astype(np.int64), here.is_cut_off
        elif self.last is not None:
            _, last = here.first_and_last(self.last)
            hits, is_cut_off = ((last == n) & (n > 0)).astype(np.int64), here.is_cut_off
        elif self.values is not None:
            hits = here.value(self.values)
        else:
            assert self.hits is not None
            hits = self.hits[here.number : here.number + len(n)]
        hits = np.where(is_cut_off, NOT_KNOWN, hits)
        limits, ended = n, np.zeros(len(n), bool)
        if isinstance(self.after, Duration):
            limits, ended = here.at_age(self.after)
        elif self.after is not None:
            limits, ended = np.minimum(n, self.after), n < self.after
        reached = (first <= limits) & (self.after is not None)
        reasons = np.select([is_cut_off, hits == NOT_KNOWN, reached, ended], [2, 1, 4, 3], 0)
        return Verdict(hits, limits, first, reasons)


class Whole(NamedTuple):
    """A block of whole sequences, the first of which has a number; and the position of each row.

    ``starts`` are the rows that begin a position; attributes stand at position 0. ``end`` is the code of the
    end of complete sequences, which is no position; None where nothing is known of ends.
    """

    block: Block
    number: int
    sequence: IntArray
    position: IntArray
    starts: BoolArray
    end: int | None

    @classmethod
    def of(cls, block: Block, part: Part, number: int = 0) -> Whole:
        """Which rows stand where."""
        starts = np.ones(len(block.codes), bool) if block.moments is None else block.moments.starts
        if part.attributes is not None:
            starts = starts & ~part.attributes[block.codes]
        end = part.labels.index(END) if END in part.labels else None
        if end is not None:
            starts = starts & (block.codes != end)
        sequence = np.repeat(np.arange(len(block.offsets) - 1), np.diff(block.offsets))
        ticks = np.append(0, np.cumsum(starts))
        return cls(block, number, sequence, ticks[1:] - ticks[block.offsets[:-1]][sequence], starts, end)

    @property
    def n_positions(self) -> IntArray:
        """How many positions each sequence has."""
        return np.bincount(self.sequence[self.starts], minlength=len(self.block.offsets) - 1)

    @property
    def is_cut_off(self) -> BoolArray:
        """Which sequences are known to go on after their last event."""
        ends = np.zeros(len(self.block.offsets) - 1, bool)
        if self.end is not None:
            ends[:] = True
            ends[self.sequence[self.block.codes == self.end]] = False
        return ends

    def at_age(self, age: Duration) -> tuple[IntArray, BoolArray]:
        """How many positions each sequence has up to an age, and whether it ended before that."""
        n, moments = len(self.block.offsets) - 1, self.block.moments
        assert moments is not None
        assert moments.times is not None
        at, sequence = moments.times[self.starts], self.sequence[self.starts]
        first, last = np.full(n, FARTHEST), np.full(n, -FARTHEST)
        np.minimum.at(first, sequence, at)
        np.maximum.at(last, sequence, at)
        size = moments.unit.size
        within = at - first[sequence] <= int(age) // size
        return np.bincount(sequence[within], minlength=n), last - first < -(-int(age) // size)

    def first_and_last(self, code: int) -> tuple[IntArray, IntArray]:
        """The first and the last position of each sequence with a code; far off and 0 where there is none."""
        at, n = np.flatnonzero(self.block.codes == code), len(self.block.offsets) - 1
        first, last = np.full(n, UNLIMITED), np.zeros(n, np.int64)
        np.minimum.at(first, self.sequence[at], self.position[at])
        np.maximum.at(last, self.sequence[at], self.position[at])
        return first, last

    def value(self, values: IntArray) -> IntArray:
        """What the attributes of each sequence tell."""
        found = np.full(len(self.block.offsets) - 1, NOT_KNOWN)
        at = np.flatnonzero(values[self.block.codes] != NOT_TOLD)
        found[self.sequence[at]] = values[self.block.codes[at]]
        return found


@dataclass(frozen=True)
class ReasonsWork:
    """Counts sequences by the reason why they are left out; see :attr:`EndedSource.survey`."""

    outcome: Outcome

    def run(self, part: Part) -> IntArray:
        """Block by block, of whole sequences."""
        found, done = np.zeros((len(self.outcome.reasons), 3), np.int64), 0
        for block in uncut(part.blocks(1 << 6)):
            told = self.outcome.tell(Whole.of(block, part, done))
            done += len(block.offsets) - 1
            weights = np.ones(len(told.hits), np.int64) if block.weights is None else block.weights
            np.add.at(found[:, 0], told.reasons, 1)
            np.add.at(found[:, 1], told.reasons, weights)
            np.add.at(found[:, 2], told.reasons, weights * (told.hits == 1))
        return found

    def total(self, answers: Sequence[IntArray]) -> IntArray:
        """Add up several parts."""
        return np.asarray(np.sum(answers, axis=0))
