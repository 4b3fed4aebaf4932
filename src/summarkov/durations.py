"""Lengths of time as people write them, such as "30min" or "7 days"; or numbers in the unit of a column."""

from __future__ import annotations

import re
from datetime import timedelta
from fractions import Fraction
from typing import Any, Self

import numpy as np

from summarkov.errors import SettingError

_TIME = re.compile(r"\s*([0-9]{1,15}(?:\.[0-9]{1,9})?)\s*([a-z]*)\s*")
_SECONDS = {
    "ms": Fraction(1, 1000),
    "s": Fraction(1),
    "min": Fraction(60),
    "h": Fraction(3600),
    "d": Fraction(86400),
    "w": Fraction(7 * 86400),
}
#: The same units in words: "90 days", "1 hour".
_WORDS = {
    "millisecond": "ms",
    "second": "s",
    "sec": "s",
    "minute": "min",
    "min": "min",
    "hour": "h",
    "day": "d",
    "week": "w",
}
#: Times are told apart to this part of a second, or of one.
_PARTS = 10**9


def read_time(given: object, setting: str) -> tuple[Fraction, bool] | None:
    """A length of time in seconds, or a number where no unit is named, and whether one is.

    None of what is neither text like "30min" nor a timedelta of Python, NumPy or pandas.

    >>> read_time("1.5h", "lookback"), read_time("7", "lookback"), read_time(7, "lookback")
    ((Fraction(5400, 1), True), (Fraction(7, 1), False), None)
    """
    if isinstance(given, np.timedelta64) and not np.isnat(given):
        if np.datetime_data(given.dtype)[0] in ("Y", "M"):
            raise SettingError(f"{setting} {given!r} has no fixed length; give it in days")
        given = timedelta(microseconds=int(given.astype("timedelta64[us]").astype(np.int64)))
    if isinstance(given, timedelta) and given >= timedelta(0):
        return Fraction(given // timedelta(microseconds=1), 10**6), True
    found = isinstance(given, str) and _TIME.fullmatch(given.lower())
    if not found:
        return None
    word = found[2].removesuffix("s")
    unit = found[2] if found[2] in _SECONDS else _WORDS.get(word, word)
    if unit and unit not in _SECONDS:
        return None
    return Fraction(found[1]) * _SECONDS.get(unit, Fraction(1)), bool(unit)


class Duration(int):
    """A look-back or delay in time and not in positions: a whole number of nanoseconds, or of billionths of
    one.

    ``text`` is how it was written, ``is_clock`` whether it is a length of time; else it is a number in the
    unit of the column that events are ordered by.

    >>> Duration.of("6h", "lookback").text, Duration.of("6h", "lookback") > Duration.of("90 min", "lookback")
    ('6h', True)
    """

    text: str
    is_clock: bool

    @classmethod
    def of(cls, given: object, setting: str) -> Self:
        """Read "6h", "7 days", a timedelta, or text of a number; refuse 0 and less where that is no delay."""
        if isinstance(given, cls):
            return given
        found = read_time(given, setting)
        if found is None or found[0] * _PARTS >= 2**62 or (found[0] == 0 and setting != "delay"):
            raise SettingError(
                f"{setting} must be a number of positions, or a time above 0 such as '30min' or '7 days' "
                f"(ms, s, min, h, d, w; a number alone, as text, is in the unit of the order column), not "
                f"{given!r}"
            )
        made = cls(found[0] * _PARTS)
        made.is_clock = found[1]
        made.text = given.strip() if isinstance(given, str) else f"{float(found[0]):g}s"
        return made

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Duration) and int(self) == int(other) and self.is_clock == other.is_clock

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash((int(self), self.is_clock))

    def __repr__(self) -> str:
        return repr(self.text)

    def __str__(self) -> str:
        return self.text

    def __format__(self, form: str) -> str:
        return format(self.text, form)

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (self.text, int(self), self.is_clock)


def _again(text: str, size: int, is_clock: bool) -> Duration:
    made = Duration(size)
    made.text, made.is_clock = text, is_clock
    return made


def span_of(given: Any, setting: str) -> Any:
    """A look-back or delay as it is used: text and timedeltas as durations, all else as it is."""
    if isinstance(given, str | timedelta | np.timedelta64):
        return Duration.of(given, setting)
    return given
