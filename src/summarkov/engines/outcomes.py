"""Outcomes of whole sequences: how they are told, sequences that end in their outcome, and open cases."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np

from summarkov.engines.counts import StateCounts, StatesRequest
from summarkov.engines.source import Answer, EventSource, MemorySource, Shard
from summarkov.errors import DataError
from summarkov.events import EventSequences
from summarkov.events.moments import FARTHEST
from summarkov.events.rows import Rows
from summarkov.events.vocabulary import END, translation
from summarkov.kernels import UNLIMITED
from summarkov.settings import Duration
from summarkov.typing import BoolArray, IntArray
from summarkov.wording import plural

#: Of a sequence whose outcome is not known, and of a code that tells nothing about it.
NOT_KNOWN, NOT_TOLD = -1, -2


class Verdict(NamedTuple):
    """What is known of each sequence."""

    hits: IntArray  # whether it has the outcome: 1, 0 or ``NOT_KNOWN``
    limits: IntArray  # how many of its positions are looked at
    first: IntArray  # the first position at which the outcome is certain, far off where there is none
    reasons: IntArray  # a number of ``Outcome.reasons``, 0 where the sequence counts


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

    def tell(self, shard: Shard) -> Verdict:
        """What is known of each sequence of a shard."""
        k, position, starts = shard.n_sequences, positions(shard), begins(shard)
        n = np.bincount(shard.index.sequence[starts], minlength=k)
        first, is_cut_off = np.full(k, UNLIMITED), np.zeros(k, bool)
        code = self.last if self.contained is None else self.contained
        if code is not None:
            at, last = np.flatnonzero(shard.codes == code), np.zeros(k, np.int64)
            np.minimum.at(first, shard.index.sequence[at], position[at])
            np.maximum.at(last, shard.index.sequence[at], position[at])
            hits = (last > 0).astype(np.int64) if self.contained is not None else 1 * (last == n) * (n > 0)
            is_cut_off = ~shard.rows.complete & (END in shard.labels)
            first = first if self.contained is not None else np.full(k, UNLIMITED)
        elif self.values is not None:
            hits, told = np.full(k, NOT_KNOWN), self.values[shard.codes]
            hits[shard.index.sequence[told != NOT_TOLD]] = told[told != NOT_TOLD]
        else:
            assert self.hits is not None
            hits = self.hits[shard.first : shard.first + k]
        hits = np.where(is_cut_off, NOT_KNOWN, hits)
        limits, ended = n, np.zeros(k, bool)
        if isinstance(self.after, Duration):
            limits, ended = _at_age(shard, starts, int(self.after))
        elif self.after is not None:
            limits, ended = np.minimum(n, self.after), n < self.after
        reached = (first <= limits) & (self.after is not None)
        reasons = np.select([is_cut_off, hits == NOT_KNOWN, reached, ended], [2, 1, 4, 3], 0)
        return Verdict(hits, limits, first, reasons)


def begins(shard: Shard) -> BoolArray:
    """Which rows begin a position; the end of a complete sequence is none."""
    return shard.index.heads & shard.rows.is_event


def positions(shard: Shard) -> IntArray:
    """The position of each row; attributes stand at position 0."""
    ticks = np.append(0, np.cumsum(begins(shard)))
    return np.asarray(ticks[1:] - ticks[shard.offsets][shard.index.sequence])


def _at_age(shard: Shard, starts: BoolArray, age: int) -> tuple[IntArray, BoolArray]:
    """How many positions each sequence has up to an age, and whether it ended before that."""
    index, k = shard.index, shard.n_sequences
    assert index.times is not None
    at, sequence = index.times[starts], index.sequence[starts]
    first, last = np.full(k, FARTHEST), np.full(k, -FARTHEST)
    np.minimum.at(first, sequence, at)
    np.maximum.at(last, sequence, at)
    within = at - first[sequence] <= age // index.unit
    return np.bincount(sequence[within], minlength=k), last - first < -(-age // index.unit)


def count_reasons(outcome: Outcome, shard: Shard) -> IntArray:
    """Sequences by the reason why they are left out; see :attr:`EndedSource.survey`."""
    found, told = np.zeros((len(outcome.reasons), 3), np.int64), outcome.tell(shard)
    weights = np.ones(len(told.hits), np.int64) if shard.weights is None else shard.weights
    for column, each in enumerate((1, weights, weights * (told.hits == 1))):
        np.add.at(found[:, column], told.reasons, each)
    return found


# ---------------------------------------------------------------------- sequences that end in their outcome


@dataclass(frozen=True, eq=False)
class Ended:
    """Shows every sequence up to its limit, and then its outcome; those that do not count not at all."""

    outcome: Outcome
    labels: tuple[str, ...]

    @classmethod
    def of(cls, labels: Sequence[str], outcome: Outcome) -> Ended:
        """The vocabulary with the outcome and its opposite, and without the values that tell it."""
        held = [] if outcome.values is None else np.flatnonzero(outcome.values[:-1] != NOT_TOLD).tolist()
        gone = {END, *(labels[code] for code in held)}
        kept = [label for label in labels if label not in gone]
        for name in outcome.names:
            if name in kept:
                raise DataError(f"there is a label {name!r} already; rename it, or the outcome")
        return cls(outcome, tuple(sorted((*kept, *outcome.names))))

    def __call__(self, shard: Shard) -> Shard:
        """A shard up to the limits of its sequences, each of which ends there; kept with the shard."""
        return shard.index.keep(("ended", self), lambda: self._shown(shard))

    def _shown(self, shard: Shard) -> Shard:
        told, sequence = self.outcome.tell(shard), shard.index.sequence
        there, into = told.reasons == 0, translation(shard.labels, self.labels)
        keep = there[sequence] & (positions(shard) <= told.limits[sequence])
        keep &= shard.rows.is_event | shard.index.attribute  # no ends
        if self.outcome.values is not None:
            keep &= self.outcome.values[shard.codes] == NOT_TOLD
        starts, times = begins(shard)[keep], shard.index.times
        times = None if times is None else times[keep]
        moments = replace(shard.rows.moments, starts=starts, times=times)
        attributes = np.zeros(len(self.labels) + 1, bool)
        attributes[into[np.flatnonzero(shard.rows.attributes)]] = True
        code_of = np.searchsorted(self.labels, self.outcome.names).astype(np.int32)
        attributes[[*code_of, -1]] = False
        lengths = np.bincount(sequence[keep], minlength=shard.n_sequences)[there]
        offsets = np.append(0, np.cumsum(lengths))
        rows = Rows(into[shard.codes[keep]], offsets, self.labels, attributes, moments).with_next()
        rows.codes[rows.offsets[1:] - 1] = code_of[np.where(told.hits[there] == 1, 0, 1)]
        weights = None if shard.weights is None else shard.weights[there]
        return Shard(rows, weights, all_keys=lambda: shard.keys[there])


class EndedSource(EventSource):
    """A source whose sequences end in their outcome; those without one are left out. It must stay open."""

    def __init__(self, source: EventSource, outcome: Outcome) -> None:
        self._source, self._ended = source, Ended.of(source.labels, outcome)
        self.labels, self.outcomes = self._ended.labels, outcome.names
        self.tied_order, self.scale = source.tied_order, source.scale
        self.has_ticks, self.time_unit, self.origin = source.has_ticks, source.time_unit, source.origin
        known = set(self.labels) - set(self.outcomes)
        self.attributes = tuple(name for name in source.attributes if name in known)

    @cached_property
    def survey(self) -> IntArray:
        """For each of the outcome's reasons: sequences, their weight, and that of those with the outcome."""
        return self._source.map(partial(count_reasons, self._ended.outcome))

    @property
    def n_sequences(self) -> int:  # type: ignore[override]  # worked out when it is asked for
        """K: those that count, however much they weigh."""
        return int(self.survey[0, 0])

    @property
    def is_weighted(self) -> bool:
        """Whether those of the source are."""
        return self._source.is_weighted

    def map(
        self,
        function: Callable[..., Answer],
        questions: Sequence[Any] | None = None,
        most_rows: int | None = None,
    ) -> Answer:
        """What a function returns for every shard as it is shown."""
        return self._source.map(partial(_on_ended, function, self._ended), questions, most_rows)

    def events(self) -> EventSequences:
        """The sequences with their outcomes, of a source in memory."""
        assert isinstance(self._source, MemorySource)
        given = self._source.given
        shard = Shard(Rows.of(given, ends=True), all_keys=self._source.sequence_keys)
        (which,) = np.nonzero(self._ended.outcome.tell(shard).reasons == 0)
        found = self._ended(shard).rows
        held = given.attributes.only(self.attributes)[which] if given.attributes and self.attributes else None
        weights = None if self._source.weights is None else self._source.weights[which] / self.scale
        event, labels = found.is_event, [label for label in self.labels if label not in self.attributes]
        return given[which].but(
            codes=translation(self.labels, labels)[found.codes[event]],
            offsets=np.append(0, np.cumsum(event))[found.offsets],
            labels=tuple(labels),
            moments=found.moments[event],
            attributes=held,
            weights=weights,
            complete=np.zeros(len(which), bool),
        )


def _on_ended(function: Callable[..., Answer], ended: Ended, shard: Shard, *questions: Any) -> Answer:
    return function(ended(shard), *questions)


# ---------------------------------------------------------------------- open cases

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


def count_open(source: EventSource, outcome: Outcome, request: StatesRequest) -> StateCounts:
    """What became of the cases that were open at each moment, whole ones, until the outcome was certain.

    Keys are those of states, behind the number of positions that had passed.
    """
    return source.map(partial(_count_open, request, Ended.of(source.labels, replace(outcome, after=None))))


def _count_open(request: StatesRequest, ended: Ended, shard: Shard) -> StateCounts:
    """By the state before each position, the outcome included, looking back from the event before."""
    told, shown = ended.outcome.tell(shard), ended(shard)
    index, passed = shown.index, positions(shown) - 1
    if index.tick_times is not None:
        before = np.maximum(index.tick - 1, index.bounds[index.sequence])
        index = replace(index, asked=index.tick_times[before])
    ids, keys = request.summary.encode(index, request.influencers, shown.labels)
    is_open = begins(shown) & (passed < told.first[told.reasons == 0][index.sequence])
    (at,) = np.nonzero(is_open & np.isin(passed, moments_up_to(int(passed.max(initial=0)))))
    together, rows = np.unique(passed[at] * len(keys) + ids[at], return_inverse=True)
    counts = np.zeros((len(together), request.target.n_outcomes), np.int64)
    of = index.sequence[at]
    outcome = request.target.outcome_of()[shown.codes[shown.offsets[1:] - 1]]
    np.add.at(counts, (rows, outcome[of]), 1 if shown.weights is None else shown.weights[of])
    moment, state = np.divmod(together, max(1, len(keys)))
    return StateCounts(np.column_stack([moment, keys[state]]).astype(np.int32), counts)
