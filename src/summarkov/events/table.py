"""Events as a table, one row per event, and the values of attributes as texts."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from summarkov.errors import DataError
from summarkov.events.moments import BILLIONTHS, WHOLE_NUMBERS, Moments
from summarkov.frames import Column

if TYPE_CHECKING:
    from summarkov.events.attributes import Attributes
    from summarkov.events.sequences import EventSequences

#: The columns of a table of events, beside those of attributes. Of tick and position there is one.
NAMES = ("sequence", "tick", "position", "time", "event", "weight")
#: What a missing value of an attribute is called.
MISSING = "(missing)"
#: The units of NumPy's times, by their nanoseconds.
_UNITS = {1: "ns", 10**3: "us", 10**6: "ms", 10**9: "s", 86400 * 10**9: "D"}


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
    return columns


def attribute_values(given: Attributes | None, taken: tuple[str, ...]) -> dict[str, list[str | None]]:
    """The value that every sequence has of each attribute, None if it is missing.

    ``taken`` are names that attributes must not have.
    """
    found = {}
    for column in () if given is None else given.columns:
        if column in taken:
            raise DataError(
                f"there is an attribute {column!r}, and {', '.join(map(repr, taken))} are the names of other "
                "columns; read it under another name"
            )
        assert given is not None
        values = (name.removeprefix(column) for name in given.values(column))
        texts = [value.removeprefix("=") for value in values]
        found[column] = [None if text == MISSING else text for text in texts]
    return found


def time_column(moments: Moments) -> Column:
    """The times of events as they were: dates and times, whole numbers, or others."""
    times, unit = moments.times, moments.unit
    assert times is not None
    if unit.is_clock:
        return Column(datetime, times.astype(f"datetime64[{_UNITS[unit.size]}]"))
    if unit == WHOLE_NUMBERS:
        return Column(int, times)
    assert unit == BILLIONTHS
    return Column(float, _in_billionths(times))


def _in_billionths(times: npt.NDArray[np.int64]) -> npt.NDArray[Any]:
    """The numbers that are read as these billionths of one.

    >>> _in_billionths(np.array([1_500_000_000]))
    array([1.5])
    """
    found = times / 10**9
    for nearby in (np.inf, -np.inf):
        wrong = np.rint(found * 10**9) != times
        found = np.where(wrong, np.nextafter(times / 10**9, nearby), found)
    if (np.rint(found * 10**9) != times).any():
        raise DataError("some times have more digits than a number holds; read them as whole numbers")
    return found
