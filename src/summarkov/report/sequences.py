"""Some of the sequences themselves, for those who may see them."""

from __future__ import annotations

from typing import Any

import numpy as np

from summarkov.errors import SettingError
from summarkov.events import EventSequences

#: A page holds at most this many sequences, and at most this many events of each.
MOST_SEQUENCES, MOST_EVENTS = 200, 300


def sequence_content(events: EventSequences | None, labels: tuple[str, ...], n: int) -> list[list[Any]]:
    """``n`` sequences, spread evenly over all that hold an event: name, codes, how many events were cut."""
    if not 0 < n <= MOST_SEQUENCES:
        raise SettingError(f"sequences must be a number from 1 to {MOST_SEQUENCES}, not {n!r}")
    if events is None:
        raise SettingError("sequences are taken from the events: give these too (events=, --events)")
    known = events.recode(labels)
    some = np.flatnonzero(known.lengths > 0)
    chosen = some[np.unique(np.linspace(0, len(some) - 1, min(n, len(some))).round().astype(int))]
    found = []
    for number in chosen.tolist():
        start, stop = known.offsets[number], known.offsets[number + 1]
        codes = known.codes[start : min(stop, start + MOST_EVENTS)].tolist()
        found.append([known.ids[number], codes, int(stop - start) - len(codes)])
    return found
