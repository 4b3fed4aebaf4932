"""Outcomes of whole sequences: how they are told, and which sequences count for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from summarkov.engines.work import Shard
from summarkov.events.moments import FARTHEST
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
        """What is known of each sequence of a shard."""
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
            hits = self.hits[here.shard.first : here.shard.first + len(n)]
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
    """A shard, and the position of each row.

    ``starts`` are the rows that begin a position; attributes stand at position 0. ``end`` is the code of the
    end of complete sequences, which is no position; None where nothing is known of ends.
    """

    shard: Shard
    sequence: IntArray
    position: IntArray
    starts: BoolArray
    end: int | None

    @classmethod
    def of(cls, shard: Shard) -> Whole:
        """Which rows stand where."""
        moments = shard.rows.moments
        starts = shard.rows.is_event & (True if moments is None else moments.starts)
        end = shard.labels.index(END) if END in shard.labels else None
        sequence, ticks = shard.of_rows(np.arange(shard.n_sequences)), np.append(0, np.cumsum(starts))
        return cls(shard, sequence, ticks[1:] - ticks[shard.offsets[:-1]][sequence], starts, end)

    @property
    def n_positions(self) -> IntArray:
        """How many positions each sequence has."""
        return np.bincount(self.sequence[self.starts], minlength=self.shard.n_sequences)

    @property
    def is_cut_off(self) -> BoolArray:
        """Which sequences are known to go on after their last event."""
        return np.zeros(self.shard.n_sequences, bool) if self.end is None else ~self.shard.rows.complete

    def at_age(self, age: Duration) -> tuple[IntArray, BoolArray]:
        """How many positions each sequence has up to an age, and whether it ended before that."""
        n, moments = self.shard.n_sequences, self.shard.rows.moments
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
        at, n = np.flatnonzero(self.shard.codes == code), self.shard.n_sequences
        first, last = np.full(n, UNLIMITED), np.zeros(n, np.int64)
        np.minimum.at(first, self.sequence[at], self.position[at])
        np.maximum.at(last, self.sequence[at], self.position[at])
        return first, last

    def value(self, values: IntArray) -> IntArray:
        """What the attributes of each sequence tell."""
        found = np.full(self.shard.n_sequences, NOT_KNOWN)
        at = np.flatnonzero(values[self.shard.codes] != NOT_TOLD)
        found[self.sequence[at]] = values[self.shard.codes[at]]
        return found


@dataclass(frozen=True)
class ReasonsWork:
    """Counts sequences by the reason why they are left out; see :attr:`EndedSource.survey`."""

    outcome: Outcome

    def run(self, shard: Shard) -> IntArray:
        """Those of a shard."""
        found, told = np.zeros((len(self.outcome.reasons), 3), np.int64), self.outcome.tell(Whole.of(shard))
        weights = np.ones(len(told.hits), np.int64) if shard.weights is None else shard.weights
        np.add.at(found[:, 0], told.reasons, 1)
        np.add.at(found[:, 1], told.reasons, weights)
        np.add.at(found[:, 2], told.reasons, weights * (told.hits == 1))
        return found

    def total(self, answers: Sequence[IntArray]) -> IntArray:
        """Add them up."""
        return np.asarray(np.sum(answers, axis=0))
