"""The same quantity in two groups: how many times as large, with an interval and a test that agree."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from summarkov.confidence.rate_ratio import Strata, rate_ratio, widened
from summarkov.confidence.results import Comparable
from summarkov.typing import FloatArray

#: Estimates of positive quantities and their limits at given levels, one for each quantity.
Limits = Callable[[FloatArray], tuple[FloatArray, FloatArray, FloatArray]]

_LEAST = 1e-16
_STEPS = 50


@dataclass(frozen=True)
class Difference(Comparable):
    """How many times as large something is in the second group as in the first.

    Attributes
    ----------
    ratio : float
        The second by the first.
    low, high : float
        An interval that allows for all comparisons of its kind together. It leaves out 1 just where
        ``adjusted`` is less than one minus its level.
    p_value, adjusted : float
        How likely at least such a difference is by chance, and the same times the number of comparisons
        (Bonferroni).
    """

    ratio: float
    low: float
    high: float
    p_value: float
    adjusted: float


def compared_rates(hits: Sequence[FloatArray], n: Sequence[FloatArray], level: float) -> list[Difference]:
    """Hits of n in the first group and in the second, for several things at once."""
    columns = [np.asarray(numbers, float)[:, None] for numbers in (hits[1], n[1], hits[0], n[0])]
    strata = Strata.of(*columns)
    found = rate_ratio(strata, _simultaneous(level, len(columns[0])))
    return _differences(found.ratio, found.low, found.high, found.p_value)


def compared_ratios(first: Limits, second: Limits, n: int, level: float) -> list[Difference]:
    r"""How many times as large ``n`` quantities are in the second group as in the first.

    The limits of a quotient follow from those of its two parts: on the scale of logarithms, with estimates
    t and limits l and u,

    .. math:: t_2 - t_1 - \sqrt{(t_2 - l_2)^2 + (u_1 - t_1)^2} \quad\text{and}\quad
              t_2 - t_1 + \sqrt{(u_2 - t_2)^2 + (t_1 - l_1)^2}

    (Zou and Donner, Statistics in Medicine 27, 2008). Where an estimate is 0 or infinite, only the outer
    limits are sure: :math:`l_2 - u_1` and :math:`u_2 - l_1`. The p-value is the largest share of error at
    which 1 is still inside.
    """
    if not n:
        return []
    low, high = _quotient(first, second, _simultaneous(level, n))
    with np.errstate(divide="ignore", invalid="ignore"):
        one = np.full(n, level)
        ratio = second(one)[0] / first(one)[0]
    inside, outside = np.full(n, np.log(_LEAST)), np.zeros(n)  # logarithms of shares of error
    for _ in range(_STEPS):
        middle = (inside + outside) / 2
        below, above = _quotient(first, second, -np.expm1(middle))
        holds = (below <= 1) & (above >= 1)
        inside, outside = np.where(holds, middle, inside), np.where(holds, outside, middle)
    return _differences(ratio, low, high, np.where(outside == 0, 1.0, np.exp(inside)))


def limits_of_ratios(strata: Sequence[Strata], factors: Sequence[float]) -> Limits:
    """The limits of Mantel and Haenszel's ratios, each wider by its factor than counts alone say."""
    most = max((each.n_with.shape[-1] for each in strata), default=0)
    filled = [
        np.array([np.pad(getattr(each, name), (0, most - each.n_with.shape[-1])) for each in strata])
        for name in ("hits_with", "n_with", "hits_without", "n_without")
    ]
    joined, wider = Strata(*(each.reshape(len(strata), most) for each in filled)), np.asarray(factors, float)

    def limits(level: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        found = rate_ratio(joined, level)
        return (found.ratio, *widened(found, wider))

    return limits


def limits_of_shares(hits: FloatArray, n: FloatArray) -> Limits:
    r"""The limits of shares of events, ``hits[sequence, quantity]`` of ``n[sequence]`` in each sequence.

    Sequences differ, so the variance is that between them: with :math:`r = \sum_i k_i / \sum_i n_i`, of its
    logarithm, :math:`\frac{K}{K - 1} \sum_i (k_i - r n_i)^2 / (\sum_i k_i)^2`. From fewer than ten sequences
    with a hit nothing is concluded: the limits are 0 and infinity.
    """
    from scipy.special import ndtri

    total = hits.sum(axis=0)
    share = total / n.sum()
    spread = ((hits - share * n[:, None]) ** 2).sum(axis=0) * len(n) / max(len(n) - 1, 1)
    enough = (hits > 0).sum(axis=0) >= 10
    deviation = np.where(enough, np.sqrt(spread) / np.where(enough, total, 1.0), np.inf)

    def limits(level: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        far = np.where(enough, np.exp(-ndtri((1 - level) / 2) * np.where(enough, deviation, 0.0)), np.inf)
        return share, share / far, np.where(enough, share * far, np.inf)

    return limits


def _simultaneous(level: float, n: int) -> FloatArray:
    """The level of each of n intervals that all hold together at a level (Bonferroni)."""
    return np.full(n, 1 - (1 - level) / max(n, 1))


def _quotient(first: Limits, second: Limits, level: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Limits of the second by the first."""
    with np.errstate(divide="ignore", invalid="ignore"):
        (t1, l1, u1), (t2, l2, u2) = ([np.log(each) for each in group(level)] for group in (first, second))
        finite = np.isfinite(t1) & np.isfinite(t2)
        low = np.where(finite, t2 - t1 - np.hypot(t2 - l2, u1 - t1), l2 - u1)
        high = np.where(finite, t2 - t1 + np.hypot(u2 - t2, t1 - l1), u2 - l1)
    return np.exp(np.where(np.isnan(low), -np.inf, low)), np.exp(np.where(np.isnan(high), np.inf, high))


def _differences(
    ratio: FloatArray, low: FloatArray, high: FloatArray, p_value: FloatArray
) -> list[Difference]:
    figures = zip(ratio.tolist(), low.tolist(), high.tolist(), p_value.tolist(), strict=True)
    return [Difference(r, a, b, p, min(1.0, p * len(ratio))) for r, a, b, p in figures]
