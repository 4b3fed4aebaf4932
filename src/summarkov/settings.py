"""Checks of settings, and how progress is told: what all rooms share."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from itertools import count
from typing import TypeGuard

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
#: Resamples, models of a bag: more would take years, or all memory for the list of them.
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
    """Refuse a setting that is not a number between 0 and 1, such as the level of an interval."""
    if not is_number(value) or not 0 < value < 1:
        raise SettingError(f"{name} must be a number between 0 and 1, not {value!r}")


def check_flag(name: str, value: object) -> None:
    """Refuse a setting that is neither True nor False."""
    if not isinstance(value, bool | np.bool_):
        raise SettingError(f"{name} must be True or False, not {value!r}")


def seed_of(seed: int, random_state: int | None) -> int:
    """The seed, or ``random_state``, which is scikit-learn's name for it.

    >>> seed_of(3, None), seed_of(0, 7)
    (3, 7)
    """
    if random_state is None:
        return check_whole("seed", seed, 0, _LARGEST_SEED, limits="from 0 to 2^62")
    chosen = check_whole("random_state", random_state, 0, _LARGEST_SEED, limits="from 0 to 2^62")
    if seed != 0:
        raise SettingError("seed and random_state mean the same; give only one of them")
    return chosen


def reporter(progress: Progress) -> Callable[[int, int], None] | None:
    """What to call with the number done and that of all; None: nothing."""
    if progress is None or isinstance(progress, bool):
        return write_progress if progress else None
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
    return untold if tell is None else lambda left: tell(now := next(done), now + left)


def write_progress(done: int, total: int, what: str = "") -> None:
    """Write how much is done to the standard error, in one line that is written over."""
    end = "\n" if done >= total else ""
    print(f"\r{done:,} of {total:,} done {what}".rstrip().ljust(60), end=end, file=sys.stderr, flush=True)
