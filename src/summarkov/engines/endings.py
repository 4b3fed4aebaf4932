"""Sequences that end in their outcome: one more event after all others, wherever the sequences are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Generic, NamedTuple

import numpy as np

from summarkov.engines.memory import MemorySource
from summarkov.engines.outcomes import NOT_TOLD, Outcome, ReasonsWork, Whole
from summarkov.engines.source import EventSource
from summarkov.engines.work import Answer, Shard, Work
from summarkov.errors import DataError
from summarkov.events import EventSequences
from summarkov.events.moments import Moments, join_moments
from summarkov.events.rows import Rows
from summarkov.events.vocabulary import END, Unknown, translation
from summarkov.typing import BoolArray, CodeArray, HashArray, IntArray


@dataclass(frozen=True, eq=False)
class Ended:
    """Shows every sequence up to its limit, and then its outcome; those that do not count not at all.

    With ``everywhere``, the outcome is also at each position, together with what stands there, as long as it
    was not certain before: what became of the cases that were open then.
    """

    outcome: Outcome
    labels: tuple[str, ...]
    translate: CodeArray  # the new code of every old one
    everywhere: bool

    @classmethod
    def of(cls, labels: Sequence[str], outcome: Outcome, *, everywhere: bool) -> Ended:
        """The vocabulary with the outcome and its opposite, and without the values that tell it."""
        held = [] if outcome.values is None else np.flatnonzero(outcome.values[:-1] != NOT_TOLD).tolist()
        gone = {END, *(labels[code] for code in held)}
        kept = [label for label in labels if label not in gone]
        for name in outcome.names:
            if name in kept:
                raise DataError(f"there is a label {name!r} already; rename it, or the outcome")
        together = tuple(sorted((*kept, *outcome.names)))
        return cls(outcome, together, translation(labels, together), everywhere)

    def __call__(self, shard: Shard) -> Shard:
        """A shard up to the limits of its sequences, each of which ends there; kept with the shard."""
        return shard.keep(("ended", self), lambda: self._shown(shard))

    def _shown(self, shard: Shard) -> Shard:
        here = Whole.of(shard)
        hits, limits, first, reasons = self.outcome.tell(here)
        there = reasons == 0
        keep = there[here.sequence] & (here.position <= limits[here.sequence])
        if self.outcome.values is not None:
            keep &= self.outcome.values[shard.codes] == NOT_TOLD
        if here.end is not None:
            keep &= shard.codes != here.end
        moments = shard.rows.moments
        times = None if moments is None or moments.times is None else moments.times[keep]
        rows = _Rows(self.translate[shard.codes[keep]], here.sequence[keep], here.starts[keep], times)
        code_of = np.searchsorted(self.labels, self.outcome.names).astype(np.int32)
        outcomes = code_of[np.where(hits == 1, 0, 1)]
        ending = np.flatnonzero(there)
        if self.everywhere:
            is_open = rows.starts & (here.position <= first[here.sequence])[keep]
            rows = rows.inserted(np.flatnonzero(is_open) + 1, outcomes, begins=False)
            ending = ending[first[ending] > limits[ending]]
        rows = rows.inserted(np.searchsorted(rows.sequence, ending, side="right"), outcomes, ending)
        offsets = np.append(0, np.searchsorted(rows.sequence, np.flatnonzero(there), side="right"))
        moments = replace(moments or Moments(rows.starts), starts=rows.starts, times=rows.times)
        held = translation(shard.labels, self.labels)
        attributes = np.zeros(len(self.labels) + 1, bool)
        attributes[held[np.flatnonzero(shard.rows.attributes)]] = True
        attributes[[*code_of, -1]] = False
        shown = Rows(rows.codes, offsets, self.labels, attributes, moments)
        weights = None if shard.weights is None else shard.weights[there]
        return Shard(shown, weights, all_keys=lambda: shard.keys[there])


class _Rows(NamedTuple):
    """Rows of some sequences."""

    codes: CodeArray
    sequence: IntArray
    starts: BoolArray
    times: IntArray | None

    def inserted(
        self, places: IntArray, outcomes: CodeArray, of: IntArray | None = None, *, begins: bool = True
    ) -> _Rows:
        """With the outcomes of sequences before some rows, at the time of the row before each.

        ``of`` are their sequences; None: those of the rows before.
        """
        of = self.sequence[places - 1] if of is None else of
        times = self.times
        if times is not None:  # that of a sequence without events is asked about by nobody
            times = np.insert(times, places, np.append(times, 0)[places - 1])
        return _Rows(
            np.insert(self.codes, places, outcomes[of]),
            np.insert(self.sequence, places, of),
            np.insert(self.starts, places, begins),
            times,
        )


@dataclass(frozen=True)
class OnEnded(Generic[Answer]):
    """Some work on shards whose sequences end in their outcome."""

    work: Work[Answer]
    ended: Ended

    @property
    def most_rows(self) -> int | None:
        """As the work says."""
        return getattr(self.work, "most_rows", None)

    def run(self, shard: Shard) -> Answer:
        """The answer for one shard alone."""
        return self.work.run(self.ended(shard))

    def total(self, answers: Sequence[Answer]) -> Answer:
        """Add them up."""
        return self.work.total(answers)


class EndedSource(EventSource):
    """A source whose sequences end in their outcome; those without one are left out. It must stay open."""

    def __init__(self, source: EventSource, outcome: Outcome, *, everywhere: bool = False) -> None:
        self._source, self._view = source, Ended.of(source.labels, outcome, everywhere=everywhere)
        self.labels, self.outcomes = self._view.labels, outcome.names
        self.tied_order, self.scale = source.tied_order, source.scale
        self.has_ticks, self.time_unit, self.origin = source.has_ticks, source.time_unit, source.origin
        known = set(self.labels) - set(self.outcomes)
        self.attributes = tuple(name for name in source.attributes if name in known)

    @cached_property
    def survey(self) -> IntArray:
        """For each of the outcome's reasons: sequences, their weight, and that of those with the outcome."""
        return self._source.run(ReasonsWork(self._view.outcome))

    @property
    def n_sequences(self) -> int:  # type: ignore[override]  # worked out when it is asked for
        """K: those that count, however much they weigh."""
        return int(self.survey[0, 0])

    @property
    def is_weighted(self) -> bool:
        """Whether those of the source are."""
        return self._source.is_weighted

    def run(self, work: Work[Answer]) -> Answer:
        """Do some work on every shard as it is seen."""
        return self._source.run(OnEnded(work, self._view))

    def recode(self, labels: Sequence[str], *, unknown: Unknown = "error") -> EventSource:
        """Nobody asks for that of outcomes."""
        raise NotImplementedError

    without_ends = only = recode  # type: ignore[assignment]  # nor for these

    def events(self) -> EventSequences:
        """The sequences with their outcomes, of a source in memory."""
        assert isinstance(self._source, MemorySource)
        given = self._source.events
        found = self.run(_CollectRows())
        event = ~found.attributes[found.codes]
        labels = [label for label in self.labels if label not in self.attributes]
        which = np.flatnonzero(np.isin(self._source.sequence_keys(), self._keys))
        held = given.attributes
        if held is not None:
            told_by = {
                of for name, of in zip(held.names, held.of, strict=True) if name not in self.attributes
            }
            held = held[which] if not told_by else held[which].without(*told_by)
        return EventSequences(
            translation(self.labels, labels)[found.codes[event]],
            np.append(0, np.cumsum(event))[found.offsets],
            labels,
            ids=[self._source.ids[at] for at in which.tolist()],
            moments=None if found.moments is None else found.moments[event],
            attributes=held,
        )

    @cached_property
    def _keys(self) -> HashArray:
        return self.run(_CollectKeys())

    def filled_keys(self) -> HashArray:
        """The keys of all sequences of a weight above 0: each has its outcome to count."""
        return self._keys if not self.is_weighted else self.run(_CollectKeys(weighed=True))

    def sequence_keys(self) -> HashArray:
        """Numbers for the names of all sequences, sorted."""
        return self._keys


@dataclass(frozen=True)
class _CollectRows:
    """Collects the rows of all shards."""

    def run(self, shard: Shard) -> Rows:
        """Those of one."""
        return shard.rows

    def total(self, answers: Sequence[Rows]) -> Rows:
        """All of them."""
        n = [len(rows.codes) for rows in answers]
        lengths = np.concatenate([[0], *(np.diff(rows.offsets) for rows in answers)])
        return replace(
            answers[0],
            codes=np.concatenate([rows.codes for rows in answers]),
            offsets=np.cumsum(lengths),
            moments=join_moments(list(zip(n, [rows.moments for rows in answers], strict=True))),
        )


@dataclass(frozen=True)
class _CollectKeys:
    """Collects the keys of the sequences of all shards, or of those ``weighed`` more than 0."""

    weighed: bool = False

    def run(self, shard: Shard) -> HashArray:
        """Those of one."""
        return shard.keys if not self.weighed or shard.weights is None else shard.keys[shard.weights > 0]

    def total(self, answers: Sequence[HashArray]) -> HashArray:
        """All of them."""
        return np.sort(np.concatenate(answers))
