"""Events and attributes as the rows that kernels count."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from summarkov.errors import UnknownLabelError
from summarkov.events.arrays import UNKNOWN
from summarkov.events.attributes import Attributes
from summarkov.events.moments import Moments
from summarkov.events.sequences import EventSequences
from summarkov.events.vocabulary import Unknown, check_unknown, translation
from summarkov.kernels import Index, Places
from summarkov.typing import BoolArray, CodeArray, IntArray


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
        moments = self.moments.with_ends(self.offsets, n)
        return replace(self, codes=codes, offsets=self.offsets + np.arange(n + 1), moments=moments)

    def index(self) -> Index:
        """All of them as the kernels take them."""
        return Index(
            self.codes, self.offsets, len(self.labels), places=places_of(self.moments, self.attributes)
        )


def recoded(events: EventSequences, labels: Sequence[str], unknown: Unknown) -> EventSequences:
    """The same events in another vocabulary, of labels and of names of attributes."""
    given = events.attributes
    if given is None:
        return events.recode(labels, unknown=unknown)
    known = [at for at, name in enumerate(given.names) if name in set(labels)]
    lost = [
        name for at, name in enumerate(given.names) if at not in set(known) and given.present[:, at].any()
    ]
    check_unknown(unknown)
    if lost and unknown == "error":
        raise UnknownLabelError(lost[0], labels)
    names = set(given.names)
    more = events.recode([label for label in labels if label not in names], unknown=unknown)
    if len(known) == len(given.names):
        return more
    kept = Attributes(
        [given.names[at] for at in known], [given.of[at] for at in known], given.present[:, known]
    )
    return more.with_attributes(kept)


def places_of(
    moments: Moments | None, attributes: BoolArray, past_times: IntArray | None = None
) -> Places | None:
    """Where rows stand, as the kernels take it; None where every row is a position and has no time."""
    if moments is None:
        return None
    return Places(moments.starts, attributes, moments.times, past_times, moments.unit.size)
