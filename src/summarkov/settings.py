"""Settings that all rooms share: how they are checked, lengths of time as people write them, and progress."""

from __future__ import annotations

import math
import re
import sys
import warnings
from collections.abc import Callable, Iterable
from datetime import timedelta
from fractions import Fraction
from itertools import count
from typing import Any, Self, TypeGuard, TypeVar

import numpy as np

from summarkov.errors import SettingError

#: A function that is called as ``progress(done, total)``; or True, which writes that to the standard error.
Progress = Callable[[int, int], None] | bool | None
#: What long work calls after each step, with the number of steps that may follow at most.
OnStep = Callable[[int], None]

#: Settings up to this, and pseudo-counts from its inverse on, leave all numbers exact to about ten digits.
_MOST = 1e15
#: What a model file can hold.
_LARGEST_SEED = 2**62
#: Resamples: more would take years, or all memory for the list of them.
MOST_REPLICATES = 10**6


def is_whole(value: object) -> TypeGuard[int]:
    """Whether a value is a whole number, NumPy's included; True and False are none.

    >>> is_whole(3), is_whole(np.int32(3)), is_whole(3.0), is_whole(True)
    (True, True, False, False)
    """
    return isinstance(value, int | np.integer) and not isinstance(value, bool | np.timedelta64)


def is_number(value: object) -> TypeGuard[float]:
    """Whether a value is a number, NumPy's included; True and False are none."""
    return is_whole(value) or isinstance(value, float | np.floating)


def is_finite(value: object) -> TypeGuard[float]:
    """Whether a value is a number that a float can hold.

    >>> is_finite(3), is_finite(float("nan")), is_finite(10**400)
    (True, False, False)
    """
    try:
        return is_number(value) and math.isfinite(value)
    except OverflowError:
        return False


def check_whole(
    name: str, value: object, least: int, most: int | None = None, *, limits: str | None = None
) -> int:
    """Refuse a setting that is not a whole number from ``least`` on, up to ``most``.

    ``limits`` says the limits in other words.

    >>> check_whole("cap", 0, 1, 1000)
    Traceback (most recent call last):
    summarkov.errors.SettingError: cap must be a whole number from 1 to 1000, not 0
    """
    if not is_whole(value) or value < least or (most is not None and value > most):
        usual = f"from {least} on" if most is None else f"from {least} to {most}"
        raise SettingError(f"{name} must be a whole number {limits or usual}, not {value!r}")
    return int(value)


def check_positive(name: str, value: object, *, zero: bool = False) -> None:
    """Refuse a setting that is not a finite number above 0 (or from 0 on)."""
    if not is_finite(value) or value < 0 or (value == 0 and not zero):
        raise SettingError(f"{name} must be a number {'from 0 on' if zero else 'above 0'}, not {value!r}")
    if value > _MOST or (not zero and value < 1 / _MOST):
        bound = (
            f"large; it may be {_MOST:g} at most" if value > 1 else f"small; it may be {1 / _MOST:g} at least"
        )
        raise SettingError(f"{name} {value!r} is too {bound}")


def check_share(name: str, value: object) -> float:
    """Refuse a setting that is not a number from 0 to 1."""
    if not is_number(value) or not 0 <= value <= 1:
        raise SettingError(f"{name} must be a number from 0 to 1, not {value!r}")
    return float(value)


def check_level(name: str, value: object) -> None:
    """Refuse a setting that is not a number above 0 and below 1, such as the level of an interval."""
    if not is_number(value) or not 0 < value < 1:
        raise SettingError(f"{name} must be a number above 0 and below 1, not {value!r}")


def check_seed(random_state: int) -> int:
    """The seed of random numbers, as an integer."""
    return check_whole("random_state", random_state, 0, _LARGEST_SEED, limits="from 0 to 2^62")


def reporter(progress: Callable[..., None] | bool | None) -> Callable[..., None]:
    """What to call with the number done, that of all and, where work has several parts, the part."""
    if progress is None or isinstance(progress, bool):
        return write_progress if progress else lambda *done: None
    if not callable(progress):
        raise SettingError(f"progress must be True or a function of (done, total), not {progress!r}")
    return progress


def untold(left: int) -> None:
    """An ``OnStep`` that tells nobody."""


def step_counter(progress: Progress) -> OnStep:
    """An ``OnStep`` that tells ``progress`` how many steps are done, and how many there may be at most.

    The second number changes: work that ends early takes fewer steps than it might have.
    """
    done, tell = count(1), reporter(progress)
    return lambda left: tell(now := next(done), now + left)


def write_progress(done: int, total: int, what: str = "") -> None:
    """Write how much is done to the standard error, in one line that is written over."""
    end = "\n" if done >= total else ""
    print(f"\r{done:,} of {total:,} done {what}".rstrip().ljust(60), end=end, file=sys.stderr, flush=True)


Result = TypeVar("Result")


def until_interrupted(results: Iterable[Result], total: int, what: str, each: int = 1) -> list[Result]:
    """Results as they come; after an interrupt those that are finished, with a warning, if there are any.

    They are about ``total`` of ``what``, a result about ``each`` of these.

    >>> until_interrupted(iter("abc"), 3, "letters")
    ['a', 'b', 'c']
    """
    finished: list[Result] = []
    try:
        for result in results:
            finished += [result]
    except KeyboardInterrupt:
        if not finished:
            raise
        done = f"{len(finished) * each:,} of {total:,} {what}"
        warnings.warn(f"interrupted: this is about the first {done}", stacklevel=3)
    return finished


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

    None of what is neither text like "30min" nor a timedelta of Python, NumPy or pandas. "30 units" is the
    number 30: in whatever unit the order column has.

    >>> read_time("1.5h", "lookback"), read_time("7 units", "lookback"), read_time(7, "lookback")
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
    if word == "unit":
        return Fraction(found[1]), False
    unit = found[2] if found[2] in _SECONDS else _WORDS.get(word, word)
    if unit and unit not in _SECONDS:
        return None
    return Fraction(found[1]) * _SECONDS.get(unit, Fraction(1)), bool(unit)


class Duration(int):
    """A look-back or delay in time and not in positions: a whole number of nanoseconds, or of billionths of
    one.

    ``text`` is how it was written, ``is_clock`` whether it is a length of time; else it is a number in the
    unit of the column that events are ordered by. As text it is for people, who must not take it for a number
    of positions.

    >>> Duration.of("6h", "lookback").text, Duration.of("6h", "lookback") > Duration.of("90 min", "lookback")
    ('6h', True)
    >>> print(Duration.of("6h", "lookback"), Duration.of("30", "lookback"), sep=", ")
    6h, 30 units
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
                f"(ms, s, min, h, d, w), or '30 units' of an order column of numbers, not "
                f"{given!r}"
            )
        made = cls(found[0] * _PARTS)
        made.is_clock = found[1]
        made.text = given.strip() if isinstance(given, str) else f"{float(found[0]):g}s"
        if not made.is_clock:
            made.text = made.text.lower().removesuffix("s").removesuffix("unit").strip()
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
        return self.text if self.is_clock else in_units(self.text)

    def __format__(self, form: str) -> str:
        return format(str(self), form)


def in_units(amount: str) -> str:
    """A number in the unit of the order column, for people."""
    return f"{amount} unit{'' if amount == '1' else 's'}"


def written(size: int, *, is_clock: bool) -> str:
    """A length of time, in nanoseconds, for people; or a number, in billionths.

    Whole numbers below 100 are exact, others have one digit behind the point.

    >>> hour = 3600 * 10**9
    >>> [written(size, is_clock=True) for size in (5 * hour, 26 * hour, 26 * hour + 1, 0)]
    ['5h', '26h', '1.1d', '0s']
    >>> written(2_500_000_000, is_clock=False)
    '2.5 units'
    """
    if not is_clock:
        return in_units(f"{size / _PARTS:g}")
    units = [(name, seconds * _PARTS) for name, seconds in reversed(_SECONDS.items()) if name != "w"]
    for name, one in units:
        if size and size % one == 0 and size // one < 100:
            return f"{size // one}{name}"
    name, one = next(((name, one) for name, one in units if size >= one), ("s", Fraction(_PARTS)))
    return f"{float(size / one):.1f}".removesuffix(".0") + name


def span_of(given: Any, setting: str) -> Any:
    """A look-back or delay as it is used: text and timedeltas as durations, all else as it is."""
    if isinstance(given, str | timedelta | np.timedelta64):
        return Duration.of(given, setting)
    return given
