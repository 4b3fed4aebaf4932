"""Checks of settings that several rooms share."""

from __future__ import annotations

import sys
from collections.abc import Callable

import numpy as np

from summarkov.errors import SettingError

#: A function that is called as ``progress(done, total)``; or True, which writes that to the standard error.
Progress = Callable[[int, int], None] | bool | None


def reporter(progress: Progress) -> Callable[[int, int], None] | None:
    """What to call with the number done and that of all; None: nothing."""
    if progress is None or isinstance(progress, bool):
        return write_progress if progress else None
    if not callable(progress):
        raise SettingError(f"progress must be True or a function of (done, total), not {progress!r}")
    return progress


def write_progress(done: int, total: int, what: str = "") -> None:
    """Write how much is done to the standard error, in one line that is written over."""
    end = "\n" if done >= total else ""
    print(f"\r{done:,} of {total:,} done {what}".rstrip().ljust(60), end=end, file=sys.stderr, flush=True)


def seed_of(seed: int, random_state: int | None) -> int:
    """The seed, or ``random_state``, which is scikit-learn's name for it.

    >>> seed_of(3, None), seed_of(0, 7)
    (3, 7)
    """
    if random_state is None:
        return seed
    if not isinstance(random_state, int | np.integer) or isinstance(random_state, bool) or random_state < 0:
        raise SettingError(f"random_state must be a whole number from 0 on, not {random_state!r}")
    if seed != 0:
        raise SettingError("seed and random_state mean the same; give only one of them")
    return int(random_state)
