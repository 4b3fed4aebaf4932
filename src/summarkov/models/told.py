"""The outcome of each sequence, and what of it came before: what may be looked at to tell the outcome."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from summarkov.errors import SettingError, nearest
from summarkov.events import EventSequences


@dataclass(frozen=True)
class Told:
    """What may be looked at, whether each sequence has the outcome (None: not known), and its name."""

    events: EventSequences
    values: Sequence[bool | None]
    name: str

    @classmethod
    def of(cls, events: EventSequences, values: Sequence[str | None], column: str, value: str | None) -> Told:
        """From the values of a column."""
        counts: dict[str, int] = {}
        for each in values:
            if each is not None:
                counts[each] = counts.get(each, 0) + 1
        if value is None:
            if len(counts) != 2:
                there = ", ".join(f"{name} ({n})" for name, n in sorted(counts.items()))
                raise SettingError(f"say which value of {column!r} is asked about: value= one of {there}")
            value = min(sorted(counts), key=lambda name: counts[name])
        if str(value) not in counts:
            raise SettingError(
                f"no sequence has {column}={value}{nearest(str(value), list(counts))}; there are "
                f"{', '.join(sorted(counts))}"
            )
        hits = [None if each is None else each == str(value) for each in values]
        return cls(events, hits, f"{column}={value}")


def reached(data: EventSequences, code: int, name: str, after: int) -> Told:
    """Whether a label occurs after the first ``after`` positions, of sequences where it has not by then.

    Sequences that have ended by then cannot reach it any more, and are left out too: so all that are compared
    have a past of one length.
    """
    values: list[bool | None] = []
    positions = data.positions
    for start, stop in zip(data.offsets[:-1].tolist(), data.offsets[1:].tolist(), strict=True):
        places = positions[start:stop][data.codes[start:stop] == code]
        is_open = stop > start and positions[stop - 1] > after and not (places <= after).any()
        values.append(bool(len(places)) if is_open else None)
    return Told(data.only_rows(positions <= after), values, name)


def beginnings(told: Told, after: int) -> Told:
    """The same, looking at the first ``after`` positions only, of sequences that have as many."""
    data = told.events
    last = np.append(0, data.positions)[data.offsets[1:]]
    long_enough = np.where(data.lengths > 0, last, 0) >= after
    values = [each if ok else None for each, ok in zip(told.values, long_enough.tolist(), strict=True)]
    return Told(data.only_rows(data.positions <= after), values, told.name)


def ended(data: EventSequences, code: int, name: str) -> Told:
    """Whether a label is the last, or among the last; the last position is cut off."""
    values: list[bool | None] = []
    keep = np.ones(data.n_rows, bool)
    positions = data.positions
    for start, stop in zip(data.offsets[:-1].tolist(), data.offsets[1:].tolist(), strict=True):
        if stop == start:
            values.append(None)
            continue
        last = positions[start:stop] == positions[stop - 1]
        values.append(bool((data.codes[start:stop][last] == code).any()))
        keep[start:stop] = ~last
    return Told(data.only_rows(keep), values, name)


def is_missing(value: object) -> bool:
    return value is None or value != value
