"""Sums over rows by the level that each has in each of many features."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from summarkov.typing import CodeArray, IntArray

#: Levels of features, one row per feature.
LevelArray = npt.NDArray[np.uint8]
#: Values are added in halves of this many bits, which floats hold exactly.
_HALF = 26


def level_sums(
    levels: LevelArray, features: CodeArray, rows: CodeArray, values: IntArray, n_levels: int
) -> IntArray:
    """Sums ``[feature, level, 2]`` of ``values[row, 2]`` over some rows of ``levels[feature, row]``.

    >>> levels = np.array([[0, 1, 1]], np.uint8)
    >>> every = np.arange(3, dtype=np.int32)
    >>> level_sums(levels, every[:1], every, np.array([[1, 4], [2, 5], [3, 6]]), 2).tolist()
    [[[1, 4], [5, 11]]]
    """
    sums = np.zeros((len(features), n_levels, 2), np.int64)
    chosen = values[rows]
    high, low = chosen >> _HALF, chosen & ((1 << _HALF) - 1)
    for f, feature in enumerate(features.tolist()):
        level = levels[feature, rows]
        for side in range(2):
            halves = (np.bincount(level, half[:, side], n_levels).astype(np.int64) for half in (high, low))
            sums[f, :, side] = (next(halves) << _HALF) + next(halves)
    return sums
