"""Checks of settings that several rooms share."""

from __future__ import annotations

import numpy as np

from summarkov.errors import SettingError


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
