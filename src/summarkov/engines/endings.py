"""Sequences that end in their outcome: one more event after all others, wherever the sequences are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import NamedTuple

import numpy as np

from summarkov.engines.memory import MemorySource
from summarkov.engines.outcomes import NOT_TOLD, Outcome, ReasonsWork, Whole
from summarkov.engines.source import EventSource
from summarkov.engines.views import Seen
from summarkov.engines.work import Answer, Part, Work
from summarkov.errors import DataError
from summarkov.events import EventSequences
from summarkov.events.moments import Moments
from summarkov.events.rows import Block, Rows, cut_events, uncut, with_keys
from summarkov.events.vocabulary import END, translation
from summarkov.kernels import UNLIMITED
from summarkov.typing import BoolArray, CodeArray, HashArray, IntArray


@dataclass(frozen=True)
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

    def __call__(self, part: Part) -> Part:
        """Two labels more."""

        def read(most: int) -> Iterator[Block]:
            done, any_yet = 0, False
            few = max(1, most // (1 + 2 * self.everywhere))  # each position may have an outcome
            for block in uncut(part.read(few)):
                shown = self._shown(Whole.of(block, part, done))
                done += len(block.offsets) - 1
                if len(shown.offsets) > 1:
                    any_yet = True
                    yield from _cut(shown, most)
            if not any_yet:
                yield Block.of(np.empty(0, np.int32), np.empty(0, np.int64))

        seen = part.seen(read, self.labels)
        if seen.attributes is None:
            return seen
        is_outcome = np.append(np.isin(self.labels, self.outcome.names), False)
        return replace(seen, attributes=seen.attributes & ~is_outcome)

    def _shown(self, here: Whole) -> Block:
        """A block up to the limits of its sequences, each of which ends there."""
        block, (hits, limits, first, reasons) = here.block, self.outcome.tell(here)
        there = reasons == 0
        keep = there[here.sequence] & (here.position <= limits[here.sequence])
        if self.outcome.values is not None:
            keep &= self.outcome.values[block.codes] == NOT_TOLD
        if here.end is not None:
            keep &= block.codes != here.end
        times = None if block.moments is None or block.moments.times is None else block.moments.times[keep]
        rows = _Rows(self.translate[block.codes[keep]], here.sequence[keep], here.starts[keep], times)
        code_of = np.searchsorted(self.labels, self.outcome.names).astype(np.int32)
        outcomes = code_of[np.where(hits == 1, 0, 1)]
        ending = np.flatnonzero(there)
        if self.everywhere:
            is_open = rows.starts & (here.position <= first[here.sequence])[keep]
            rows = rows.inserted(np.flatnonzero(is_open) + 1, outcomes, begins=False)
            ending = ending[first[ending] > limits[ending]]
        rows = rows.inserted(np.searchsorted(rows.sequence, ending, side="right"), outcomes, ending)
        ends = np.searchsorted(rows.sequence, np.flatnonzero(there), side="right")
        moments = replace(block.moments or Moments(rows.starts), starts=rows.starts, times=rows.times)
        return block.with_events(rows.codes, ends, there, moments)


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


class EndedSource(EventSource):
    """A source whose sequences end in their outcome; those without one are left out. It must stay open.

    What is made of events in memory is kept from pass to pass.
    """

    def __init__(self, source: EventSource, outcome: Outcome, *, everywhere: bool = False) -> None:
        self._source, self._view = source, Ended.of(source.labels, outcome, everywhere=everywhere)
        self.labels, self.outcomes = self._view.labels, outcome.names
        self.memory, self.tied_order, self.scale = source.memory, source.tied_order, source.scale
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

    @cached_property
    def _held(self) -> Part | None:
        """The one part of events in memory, with what is kept of it."""
        if not isinstance(self._source, MemorySource):
            return None
        self._source.sequence_keys()  # so that its blocks have them
        return in_memory(self._view(self._source.part()))

    def run(self, work: Work[Answer]) -> Answer:
        """Do some work on every part as it is seen."""
        return self._source.run(Seen(work, self._view)) if self._held is None else work.run(self._held)

    def events(self) -> EventSequences:
        """The sequences with their outcomes, of a source in memory."""
        assert isinstance(self._source, MemorySource)
        assert self._held is not None
        (block,) = self._held.read(UNLIMITED)
        assert block.keys is not None
        assert block.moments is not None
        held, given = self._held.attributes, self._source.events.attributes
        event = np.ones(len(block.codes), bool) if held is None else ~held[block.codes]
        labels = [label for label in self.labels if label not in self.attributes]
        which = np.flatnonzero(np.isin(self._source.sequence_keys()[0], block.keys))
        if given is not None:
            named = zip(given.names, given.of, strict=True)
            told_by = {of for name, of in named if name not in self.attributes}
            given = given[which] if not told_by else given[which].without(*told_by)
        return EventSequences(
            translation(self.labels, labels)[block.codes[event]],
            np.append(0, np.cumsum(event))[block.offsets],
            labels,
            ids=[self._source.ids[at] for at in which.tolist()],
            moments=block.moments[event],
            attributes=given,
        )

    @cached_property
    def _keys(self) -> HashArray:
        self._source.sequence_keys()  # so that the blocks of its parts have them
        return self.run(_CollectKeys())

    def filled_keys(self) -> HashArray:
        """The keys of all sequences of a weight above 0: each has its outcome to count."""
        keys = self._keys
        return keys if self._source.weights is None else self.run(_CollectKeys(weighed=True))

    def sequence_keys(self) -> Sequence[HashArray]:
        """Numbers for the names of all sequences, sorted."""
        return [self._keys]


def in_memory(part: Part) -> Part:
    """A part with all that can be read from it in memory, once."""
    (block,) = part.read(UNLIMITED)
    return replace(part, read=partial(_cut, block), n_events=len(block.codes), kept={})


def _cut(block: Block, most: int) -> Iterator[Block]:
    """A block of whole sequences in smaller ones."""
    rows = Rows(block.codes, block.offsets, (), np.empty(0, bool), block.moments)
    return with_keys(cut_events(rows, most, block.weights), block.keys)


@dataclass(frozen=True)
class _CollectKeys:
    """Collects the keys of the sequences of all parts, or of those ``weighed`` more than 0."""

    weighed: bool = False

    def run(self, part: Part) -> HashArray:
        """Each is told where it ends."""
        found = [np.empty(0, np.uint64)]
        for block in part.blocks(1 << 6):
            assert block.keys is not None
            keys = block.keys[: len(block.offsets) - 1 - block.goes_on]
            if self.weighed and block.weights is not None:
                keys = keys[block.weights[: len(keys)] > 0]
            found.append(keys)
        return np.concatenate(found)

    def total(self, answers: Sequence[HashArray]) -> HashArray:
        """Those of several parts."""
        return np.sort(np.concatenate(answers))
