"""When events happened: which of them together, and at which times."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from summarkov.errors import DataError
from summarkov.frames import Column
from summarkov.typing import BoolArray, CodeArray, IntArray

#: The units of NumPy's times, by their nanoseconds.
_UNITS = {1: "ns", 10**3: "us", 10**6: "ms", 10**9: "s", 86400 * 10**9: "D"}
#: Times are less than this, so that no difference of two overflows.
FARTHEST = 2**62


class TimeUnit(NamedTuple):
    """What a step of 1 in ``Moments.times`` means: that many nanoseconds, or billionths of one."""

    size: int
    is_clock: bool  # dates and times of day; else numbers

    @property
    def kind(self) -> str:
        """The same in a word."""
        return "clock" if self.is_clock else "number"


NANOSECONDS, WHOLE_NUMBERS, BILLIONTHS = TimeUnit(1, True), TimeUnit(10**9, False), TimeUnit(1, False)


@dataclass(frozen=True, eq=False)
class Moments:
    """When each event happened.

    Events of a sequence that happened together form a *tick*, a set of labels without order.

    Parameters
    ----------
    starts : bool[N]
        Whether an event begins a tick; one that does not happened together with the event before it.
    times : int64[N], optional
        The time of each event, which never decreases within a sequence and is one for all events of a tick.
    unit : TimeUnit
        What times are measured in.
    has_empty : bool
        Whether some tick is empty: it has a row of its own, whose code is -1.
    """

    starts: BoolArray
    times: IntArray | None = None
    unit: TimeUnit = NANOSECONDS
    has_empty: bool = False

    def __post_init__(self) -> None:
        for name in ("starts", "times"):
            given = getattr(self, name)
            if given is not None:
                held = np.asarray(given).view()
                held.flags.writeable = False
                object.__setattr__(self, name, held)

    @classmethod
    def plain(cls, n: int) -> Moments:
        """Those of n events one after the other, without times; they take no memory."""
        return cls(np.broadcast_to(np.True_, n))

    @classmethod
    def made(
        cls,
        given: npt.ArrayLike,
        offsets: IntArray,
        starts: npt.ArrayLike,
        times: npt.ArrayLike | None = None,
        unit: TimeUnit = NANOSECONDS,
        *,
        has_ticks: bool = False,
    ) -> tuple[CodeArray, IntArray, Moments]:
        """Sort the labels of every tick, each once: the codes and offsets then, and the moments.

        An event of no known label (-1) is left out of a tick with others; alone, where there are ticks
        (``has_ticks``, or events that happened together), it is an empty tick.
        """
        codes: CodeArray = np.asarray(given, np.int32)
        begins = np.array(starts, bool)
        begins[offsets[:-1][np.diff(offsets) > 0]] = True
        when = None if times is None else np.asarray(times, np.int64)
        if not begins.all():
            # Ticks stand in order, and all events of one have one time: only codes change their places.
            tick = np.cumsum(begins) - 1
            packed = (tick << 32) | (codes.astype(np.int64) + 1)
            packed.sort()
            codes = ((packed & (2**32 - 1)) - 1).astype(np.int32)
            again = np.append(False, (codes[1:] == codes[:-1]) & (tick[1:] == tick[:-1]))[: len(codes)]
            sizes = np.bincount(tick[~again], minlength=1)
            keep = ~again & ((codes >= 0) | (sizes[tick] == 1))
            before = np.append(0, np.cumsum(keep))
            codes, tick, offsets = codes[keep], tick[keep], before[offsets]
            has_ticks, begins = True, np.append(True, tick[1:] != tick[:-1])[: len(tick)]
            when = None if when is None else when[keep]
        has_empty = bool(has_ticks and len(codes) and codes.min() < 0)
        if when is None and begins.all():
            begins = cls.plain(len(codes)).starts
        return codes, offsets, cls(begins, when, unit, has_empty)

    def check(self, offsets: IntArray) -> None:
        """Refuse what are no moments of sequences."""
        n = int(offsets[-1])
        if self.starts.shape != (n,) or self.starts.dtype != bool:
            raise DataError("starts must be one truth value per event")
        if not self.starts[offsets[:-1][np.diff(offsets) > 0]].all():
            raise DataError("the first event of a sequence begins a tick")
        if self.times is None:
            return
        if self.times.shape != (n,) or self.times.dtype != np.int64:
            raise DataError("times must be one whole number of 64 bits per event")
        if n and max(-int(self.times.min()), int(self.times.max())) >= FARTHEST:
            raise DataError("times are too far from 0; subtract the first, or use a larger unit")
        steps = np.diff(self.times)
        first = np.zeros(n, bool)
        first[offsets[:-1][np.diff(offsets) > 0]] = True
        if (steps[~first[1:]] < 0).any():
            raise DataError("times run backwards within a sequence; sort its events by time")
        if steps[~self.starts[1:]].any():
            raise DataError("events of one tick must have one time")

    @property
    def is_plain(self) -> bool:
        """Whether they say nothing: every event is a tick of its own, without a time."""
        return self.times is None and not self.has_ticks

    @cached_property
    def n_ticks(self) -> int:
        """The number of ticks."""
        is_one_value = not any(self.starts.strides)  # as ``plain`` makes them
        return len(self.starts) if is_one_value else int(np.count_nonzero(self.starts))

    @property
    def has_ticks(self) -> bool:
        """Whether any events happened together, or none at some position."""
        return self.has_empty or self.n_ticks < len(self.starts)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Moments):
            return NotImplemented
        if not np.array_equal(self.starts, other.starts) or self.has_ticks != other.has_ticks:
            return False
        if self.times is None or other.times is None:
            return self.times is other.times
        if self.unit == other.unit or not len(self.times):
            return np.array_equal(self.times, other.times)
        if self.unit.is_clock != other.unit.is_clock:
            return False
        mine = self.times.astype(object) * self.unit.size
        return np.array_equal(mine, other.times.astype(object) * other.unit.size)

    __hash__ = None  # type: ignore[assignment]  # compared by value, and large

    def __getitem__(self, rows: Any) -> Moments:
        """Those of some rows: whole ticks."""
        times = None if self.times is None else self.times[rows]
        return replace(self, starts=self.starts[rows], times=times)

    def kept(self, keep: BoolArray) -> Moments:
        """Those of the events that are kept; a tick of which none is goes."""
        tick = np.cumsum(self.starts)[keep]
        return replace(self[keep], starts=np.append(True, tick[1:] != tick[:-1])[: len(tick)])


def with_more_rows(
    codes: CodeArray,
    offsets: IntArray,
    moments: Moments,
    sequences: IntArray,
    added: npt.ArrayLike,
    *,
    last: bool = False,
    begins: bool = True,
) -> tuple[CodeArray, IntArray, Moments]:
    """Codes, offsets and moments with one more row for each of ``sequences``, its first or its ``last``.

    Its time is that of the row beside it, 0 in an empty sequence. A sequence may be named several times.

    >>> codes, offsets = np.array([3, 4, 5], np.int32), np.array([0, 2, 3])
    >>> with_more_rows(codes, offsets, Moments.plain(3), np.array([0]), 7, last=True)[:2]
    (array([3, 4, 7, 5], dtype=int32), array([0, 3, 4]))
    """
    places = offsets[1:][sequences] if last else offsets[:-1][sequences]
    more = np.append(0, np.cumsum(np.bincount(sequences, minlength=len(offsets) - 1)))
    codes = np.insert(codes, places, np.asarray(added, np.int32))
    if moments.is_plain and begins:
        return codes, offsets + more, Moments.plain(len(codes))
    times = moments.times
    if times is not None:
        beside = np.where(np.diff(offsets)[sequences] > 0, places - last, len(times))
        times = np.insert(times, places, np.append(times, 0)[beside])
    moments = replace(moments, starts=np.insert(moments.starts, places, begins), times=times)
    return codes, offsets + more, moments


def join_moments(parts: Sequence[Moments]) -> Moments:
    """The moments of several data sets, one after the other."""
    times = [moments.times for moments in parts if moments.times is not None]
    timed = {moments.times is not None for moments in parts if len(moments.starts)}
    units = {moments.unit for moments in parts if moments.times is not None}
    if len(units) > 1 or len(timed) > 1:
        raise DataError(
            "some of the data sets have times that others lack, or times in another unit; read all alike"
        )
    starts = np.concatenate([moments.starts for moments in parts])
    unit = units.pop() if units else NANOSECONDS
    has_empty = any(moments.has_empty for moments in parts)
    return Moments(starts, np.concatenate(times) if times else None, unit, has_empty)


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
