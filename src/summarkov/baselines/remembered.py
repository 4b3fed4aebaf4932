"""Remember what was computed for the last few events objects."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

from summarkov.events import EventSequences

T = TypeVar("T")


class Remembered(Generic[T]):
    """Values by (events object, key), the least recently used forgotten first.

    Events are compared by identity, which is safe because they cannot be changed and are kept alive here
    as long as their value is.

    >>> events = EventSequences.from_lists([["A", "B"]])
    >>> sizes: Remembered[int] = Remembered(most=2)
    >>> sizes.get(events, "n", lambda: 2), sizes.get(events, "n", lambda: 99)
    (2, 2)
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._kept: OrderedDict[tuple[int, Hashable], tuple[EventSequences, T]] = OrderedDict()

    def get(self, events: EventSequences, key: Hashable, compute: Callable[[], T]) -> T:
        """The value for these events and this key, computed if it is not known."""
        place = (id(events), key)
        if place not in self._kept:
            self._kept[place] = (events, compute())
            if len(self._kept) > self._most:
                self._kept.popitem(last=False)
        self._kept.move_to_end(place)
        return self._kept[place][1]
