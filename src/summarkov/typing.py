"""The kinds of arrays that the package works with, by what they hold."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

#: Counts, positions and offsets.
IntArray = npt.NDArray[np.int64]
#: Codes: labels as their places in the vocabulary; or levels of influencers.
CodeArray = npt.NDArray[np.int32]
#: Probabilities, scores and weights.
FloatArray = npt.NDArray[np.float64]
#: Names as numbers, and seeds: 64 bits each.
HashArray = npt.NDArray[np.uint64]
BoolArray = npt.NDArray[np.bool_]
#: Whatever numbers.
Array = npt.NDArray[Any]
#: One row per state: int32 levels for the built-in summaries, objects for those of a user.
KeyArray = npt.NDArray[Any]
