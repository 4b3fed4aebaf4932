"""Events as rows: one row per event in a table, and those that kernels count."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from summarkov.events.attributes import attribute_values
from summarkov.events.moments import Moments, time_column, with_more_rows
from summarkov.events.sequences import EventSequences
from summarkov.events.vocabulary import (
    END,
    UNKNOWN,
    Unknown,
    check_unknown,
    refuse_unknown_labels,
    translation,
)
from summarkov.frames import Column
from summarkov.kernels import Index
from summarkov.typing import BoolArray, CodeArray, IntArray

#: The columns of a table of events, beside those of attributes. Of tick and position there is one.
NAMES = ("sequence", "tick", "position", "time", "event", "weight", "complete")
#: Numbers to hold at a time, such as a probability of every label for every event.
_CELLS = 1 << 22


def event_table(events: EventSequences) -> dict[str, Column]:
    """Sequence, position (or tick) and label of every event; times, attributes and weights, if there are any.

    An empty tick is a row without a label.
    """
    sequence = np.repeat(np.arange(len(events)), events.lengths)
    columns = {
        "sequence": Column(str, np.array(events.ids, object)[sequence]),
        "tick" if events.has_ticks else "position": Column(int, events.positions),
    }
    if events.times is not None:
        columns["time"] = time_column(events.moments)
    labels = [*events.labels, None if events.has_ticks else "?"]
    columns["event"] = Column(str, [labels[code] for code in events.codes.tolist()])
    for name, values in attribute_values(events.attributes, NAMES).items():
        columns[name] = Column(str, np.array(values, object)[sequence])
    if events.weights is not None:
        columns["weight"] = Column(float, events.weights[sequence])
    if not events.complete.all():
        columns["complete"] = Column(bool, events.complete[sequence])
    return columns


def row_labels(events: EventSequences, *, ends: bool = True) -> tuple[str, ...]:
    """The labels of rows as they are counted: with ``END``, and with the names of attributes."""
    names = () if events.attributes is None else events.attributes.names
    return tuple(sorted({*events.labels, *names, *([END] if ends and events.complete.any() else ())}))


def row_offsets(events: EventSequences) -> IntArray:
    """Where the rows of each sequence begin, as they are counted."""
    more = events.complete.astype(np.int64)
    if events.attributes is not None:
        more += events.attributes.present.sum(axis=1)
    return np.asarray(events.offsets + np.append(0, np.cumsum(more)))


@dataclass(frozen=True)
class Rows:
    """One row per event, and before those of each sequence one per attribute that it has.

    ``labels`` are those of events and the names of attributes, sorted; ``attributes`` tells which are names.
    """

    codes: CodeArray
    offsets: IntArray
    labels: tuple[str, ...]
    attributes: BoolArray
    moments: Moments

    @classmethod
    def of(
        cls, events: EventSequences, first: int = 0, last: int | None = None, *, ends: bool = False
    ) -> Rows:
        """The rows of some sequences in a row; with ``ends`` complete ones have one more, ``END``."""
        last = len(events) if last is None else last
        start, stop = events.offsets[[first, last]].tolist()
        codes, offsets = events.codes[start:stop], events.offsets[first : last + 1] - start
        moments = events.moments[start:stop]
        labels, given = row_labels(events, ends=ends), events.attributes
        if labels != events.labels:
            codes = translation(events.labels, labels)[codes]
        complete = np.flatnonzero(events.complete[first:last])
        if ends and len(complete):
            codes, offsets, moments = with_more_rows(
                codes, offsets, moments, complete, labels.index(END), last=True
            )
        attributes = np.zeros(len(labels) + 1, bool)
        if given is not None and given.names:
            of_name = translation(given.names, labels)[:-1]
            attributes[of_name] = True
            sequence, name = np.nonzero(given.present[first:last])
            # The first event begins a tick in any case, and attributes none.
            codes, offsets, moments = with_more_rows(
                codes, offsets, moments, sequence, of_name[name], begins=False
            )
        return cls(codes, offsets, labels, attributes, moments)

    def with_next(self) -> Rows:
        """With one more position of no label at the end of each sequence, at the time of its last event."""
        rows, every = (self.codes, self.offsets, self.moments), np.arange(len(self.offsets) - 1)
        codes, offsets, moments = with_more_rows(*rows, every, UNKNOWN, last=True)
        return replace(self, codes=codes, offsets=offsets, moments=moments)

    @property
    def is_event(self) -> BoolArray:
        """Which rows are events: neither attributes nor the ends of cases."""
        others = self.attributes.copy()
        if END in self.labels:
            others[self.labels.index(END)] = True
        return ~others[self.codes]

    @cached_property
    def complete(self) -> BoolArray:
        """Which sequences have an end."""
        found = np.diff(self.offsets) > 0
        if END not in self.labels:
            return np.zeros_like(found)
        found[found] = self.codes[self.offsets[1:][found] - 1] == self.labels.index(END)
        return found

    def index(self) -> Index:
        """All of them as the kernels take them."""
        rows, moments = (self.codes, self.offsets, len(self.labels)), self.moments
        if moments.is_plain:
            return Index(*rows)
        return Index(*rows, moments.starts, self.attributes, moments.times, moments.unit.size)


def recoded(events: EventSequences, labels: Sequence[str], unknown: Unknown) -> EventSequences:
    """The same events in another vocabulary, of labels and of names of attributes."""
    given = events.attributes
    if given is None:
        return events.recode(labels, unknown=unknown)
    check_unknown(unknown)
    if unknown == "error":
        refuse_unknown_labels(given.names, given.present.sum(axis=0), labels)
    held = set(given.names)
    more = events.recode([label for label in labels if label not in held], unknown=unknown)
    names = [label for label in labels if label in held]
    return more if len(names) == len(held) else more.with_attributes(given.only(names))


def cuts(offsets: IntArray, most: int) -> Iterator[tuple[int, int]]:
    """Where to cut between sequences, so that parts have at most ``most`` rows; one part at least.

    >>> list(cuts(np.array([0, 3, 6, 9]), 6))
    [(0, 2), (2, 3)]
    """
    n, start = len(offsets) - 1, 0
    while start < n or start == 0:
        stop = int(offsets.searchsorted(offsets[start] + most, side="right")) - 1
        stop = min(n, max(stop, start + 1))
        yield start, stop
        start = max(stop, 1)


def cut_between_sequences(
    events: EventSequences, columns: int, cells: int = _CELLS
) -> Iterator[EventSequences]:
    """Cut between sequences, so that ``columns`` numbers per event stay within bounds; at least one part.

    >>> from summarkov import read_events
    >>> [part.n_events for part in cut_between_sequences(read_events([["A"] * 3] * 4), columns=2, cells=12)]
    [6, 6]
    """
    for start, stop in cuts(events.offsets, max(1, cells // max(1, columns))):
        yield events[start:stop]
