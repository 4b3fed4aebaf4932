"""Does a target depend on one influencer, given the others? A conditional G-test."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from summarkov.confidence.gamma import chi_squared_tail
from summarkov.engines import StateCounts
from summarkov.summaries import Summary

#: Comparisons in which less than this is expected in some cell are left out.
LEAST_EXPECTED = 5.0


@dataclass(frozen=True)
class DependenceTest:
    """The statistic, its degrees of freedom, and how likely at least so much is by chance alone."""

    statistic: float
    degrees: int
    p_value: float


def conditional_test(table: StateCounts, summary: Summary, column: int, scale: int = 1) -> DependenceTest:
    r"""Test whether the outcome is independent of the influencer in ``column``, given all the others.

    States that differ in this influencer alone form a stratum t; in each, outcomes and states are compared:

    .. math:: G = 2 \sum_t \sum_{s \in t, x} N(x;s) \log \frac{N(x;s) N(t)}{N(s) N(x;t)}

    which without dependence is about chi-squared with :math:`\sum_t (|S_t| - 1) (|X_t| - 1)` degrees of
    freedom, :math:`S_t` and :math:`X_t` being the states and outcomes seen in t. That is a bad guess where
    counts are small, so a stratum is left out if :math:`N(s) N(x;t) / N(t) < 5` for some cell of it. The rule
    looks at sums over rows and columns only, which say nothing about dependence.
    """
    others = summary.without(table.keys, column)
    statistic, degrees = 0.0, 0
    counts = table.counts / scale
    for rows in _strata(others):
        n = counts[rows]
        n = n[n.sum(axis=1) > 0][:, n.sum(axis=0) > 0]
        if min(n.shape) < 2:
            continue
        expected = n.sum(axis=1, keepdims=True) * n.sum(axis=0, keepdims=True) / n.sum()
        if expected.min() < LEAST_EXPECTED:
            continue
        seen = n > 0
        statistic += 2 * float((n[seen] * np.log(n[seen] / expected[seen])).sum())
        degrees += (n.shape[0] - 1) * (n.shape[1] - 1)
    return DependenceTest(statistic, degrees, chi_squared_tail(statistic, degrees))


def _strata(keys: np.ndarray[tuple[int, ...], np.dtype[np.int32]]) -> list[list[int]]:
    """Rows of equal keys together."""
    strata: dict[tuple[int, ...], list[int]] = {}
    for row, key in enumerate(keys.tolist()):
        strata.setdefault(tuple(key), []).append(row)
    return list(strata.values())
