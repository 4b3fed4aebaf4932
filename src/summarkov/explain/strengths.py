"""How strong an influence is, in one table of counts or in those of many replicates at once."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from summarkov.engines import StateCounts
from summarkov.scores import probabilities, pseudo_counts

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]


def presence_pairs(keys: IntArray, column: int) -> tuple[IntArray, IntArray]:
    """Rows of presence with the influencer in ``column``, and those that differ from them in nothing else."""
    here = keys[:, column] > 0
    others = np.delete(keys, column, axis=1).tolist()
    without = {tuple(others[row]): row for row in np.flatnonzero(~here).tolist()}
    pairs = [
        (row, without[tuple(others[row])]) for row in np.flatnonzero(here) if tuple(others[row]) in without
    ]
    with_, without_ = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    return with_, without_


def mean_log_ratio(counts: FloatArray, theta: FloatArray, with_: IntArray, without: IntArray) -> FloatArray:
    """The count-weighted mean of log(theta with / theta without) over pairs of states that were both seen.

    ``counts[..., s]`` is N(s) and ``theta[..., s]`` the outcome's probability; NaN where there is no such
    pair.
    """
    a, b = counts[..., with_], counts[..., without]
    weight = np.where((a > 0) & (b > 0), a + b, 0.0)
    total = weight.sum(axis=-1)
    ratios = (weight * np.log(theta[..., with_] / theta[..., without])).sum(axis=-1)
    return np.asarray(np.where(total > 0, ratios / np.where(total > 0, total, 1.0), np.nan))


def strengths(
    table: StateCounts, scale: int, alpha: float, prior: str, column: int, outcome: int
) -> FloatArray:
    """Strength, see :class:`Influence`, of the influencer in ``column`` in every replicate of a table."""
    presence = table.regroup((table.keys > 0).astype(np.int32))
    counts = presence.counts / scale
    theta = probabilities(counts, pseudo_counts(counts.sum(axis=-2, keepdims=True), alpha, prior))
    pairs = presence_pairs(presence.keys, column)
    return mean_log_ratio(counts.sum(axis=-1), theta[..., outcome], *pairs)
