"""Events as rows: one row per event in a table, and those that kernels count."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from summarkov.events.attributes import attribute_values
from summarkov.events.moments import Moments, time_column
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
from summarkov.kernels import Index, Places
from summarkov.typing import BoolArray, CodeArray, IntArray

#: The columns of a table of events, beside those of attributes. Of tick and position there is one.
NAMES = ("sequence", "tick", "position", "time", "event", "weight", "complete")
#: Numbers to hold at a time, such as a probability of every label for every event.
_CELLS = 1 << 22


def event_table(events: EventSequences) -> dict[str, Column]:
    """Sequence, position (or tick) and label of every event; times, attributes and weights, if there are any.

    An empty tick is a row without a label.

    >>> from summarkov import EventSequences
    >>> found = event_table(EventSequences.from_lists([["a", ["b", "c"]]]))
    >>> {name: list(map(str, column.values)) for name, column in found.items()}
    {'sequence': ['0', '0', '0'], 'tick': ['1', '2', '2'], 'event': ['a', 'b', 'c']}
    """
    sequence = np.repeat(np.arange(len(events)), events.lengths)
    moments = events.moments
    is_ticks = moments is not None and moments.has_ticks
    columns = {
        "sequence": Column(str, np.array(events.ids, object)[sequence]),
        "tick" if is_ticks else "position": Column(int, events.positions),
    }
    if moments is not None and moments.times is not None:
        columns["time"] = time_column(moments)
    labels = [*events.labels, None if is_ticks else "?"]
    columns["event"] = Column(str, [labels[code] for code in events.codes.tolist()])
    for name, values in attribute_values(events.attributes, NAMES).items():
        columns[name] = Column(str, np.array(values, object)[sequence])
    if events.weights is not None:
        columns["weight"] = Column(float, events.weights[sequence])
    if not events.complete.all():
        columns["complete"] = Column(bool, events.complete[sequence])
    return columns


@dataclass(frozen=True)
class Rows:
    """One row per event, and before those of each sequence one per attribute that it has.

    ``labels`` are those of events and the names of attributes, sorted; ``attributes`` tells which are which
    (the last entry is for events of no known label).
    """

    codes: CodeArray
    offsets: IntArray
    labels: tuple[str, ...]
    attributes: BoolArray
    moments: Moments | None

    @classmethod
    def of(cls, events: EventSequences) -> Rows:
        """The rows of some events."""
        given = events.attributes
        if given is None or not given.names:
            nothing = np.zeros(len(events.labels) + 1, bool)
            return cls(events.codes, events.offsets, events.labels, nothing, events.moments)
        labels = tuple(sorted((*events.labels, *given.names)))
        attributes = np.append(translation(labels, given.names)[:-1] >= 0, False)
        sequence, name = np.nonzero(given.present)
        at = events.offsets[sequence]
        codes = np.insert(
            translation(events.labels, labels)[events.codes], at, translation(given.names, labels)[:-1][name]
        )
        more = np.bincount(sequence, minlength=len(events))
        offsets = events.offsets + np.append(0, np.cumsum(more))
        moments = events.moments or Moments(np.ones(events.n_events, bool))
        # The first event begins a tick in any case, and attributes none.
        return cls(codes.astype(np.int32), offsets, labels, attributes, moments.with_attributes(at))

    def of_events(self, values: IntArray) -> IntArray:
        """Numbers, one per event, as numbers of rows: attributes have that of the first event after them."""
        event = ~self.attributes[self.codes]
        if event.all():
            return values
        at: IntArray = np.cumsum(event) - event
        return np.asarray(np.append(values, 0)[np.minimum(at, len(values))])

    def with_next(self) -> Rows:
        """With one more position at the end of each sequence, of no label: where the next event will stand.

        Its time is that of the last event: what is asked about is the present.
        """
        assert self.moments is not None
        n = len(self.offsets) - 1
        codes = np.insert(self.codes, self.offsets[1:], np.int32(UNKNOWN))
        moments = self.moments.with_ends(self.offsets, np.ones(n, bool))
        return replace(self, codes=codes, offsets=self.offsets + np.arange(n + 1), moments=moments)

    def __getitem__(self, sequences: slice) -> Rows:
        """Those of some sequences in a row."""
        offsets = self.offsets[sequences.start : sequences.stop + 1]
        some = slice(int(offsets[0]), int(offsets[-1]))
        moments = None if self.moments is None else self.moments[some]
        return replace(self, codes=self.codes[some], offsets=offsets - offsets[0], moments=moments)

    def cut(self, most: int) -> Iterator[Rows]:
        """Parts of whole sequences, with at most ``most`` rows unless one sequence alone has more; or one."""
        for start, stop in cuts(self.offsets, most):
            yield self[start:stop]

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
        places, moments = None, self.moments
        if moments is not None:
            places = Places(moments.starts, self.attributes, moments.times, moments.unit.size)
        return Index(self.codes, self.offsets, len(self.labels), places)


def recoded(events: EventSequences, labels: Sequence[str], unknown: Unknown) -> EventSequences:
    """The same events in another vocabulary, of labels and of names of attributes."""
    given = events.attributes
    if given is None:
        return events.recode(labels, unknown=unknown)
    check_unknown(unknown)
    if unknown == "error":
        refuse_unknown_labels(given.names, given.present.sum(axis=0), labels)
    known = np.flatnonzero(translation(given.names, labels)[:-1] >= 0).tolist()
    names = set(given.names)
    more = events.recode([label for label in labels if label not in names], unknown=unknown)
    return more if len(known) == len(names) else more.with_attributes(given.only(known))


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
