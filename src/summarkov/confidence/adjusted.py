"""Intervals that allow for how a comparison came about: of a selected edge, of two groups, of two models."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from summarkov.confidence.rate_ratio import Strata, rate_ratio
from summarkov.confidence.robust import widened
from summarkov.frames import Record
from summarkov.typing import FloatArray

#: Standard deviations above the least that would be selected from which on selection changes nothing.
_FAR = 6.0
#: How finely possible values are tried, and how far beyond what was seen, in standard deviations.
_STEP, _BEYOND = 0.01, 4.0


def given_selected(
    strata: Strata, margin: float, level: float = 0.95, factor: float = 1.0
) -> tuple[float, float, float]:
    r"""Ratio and interval of one comparison, allowing for its having been selected.

    The score of a model with the influencer exceeds that without it by ``margin``; else the edge would not be
    there. Let :math:`\hat\theta` be the logarithm of Mantel and Haenszel's ratio, :math:`\sigma` its standard
    deviation and :math:`x = |\hat\theta| / \sigma`. All else equal, twice the log-likelihood falls by about
    :math:`x^2 - y^2` if x becomes y. So the edge is there just while

    .. math:: y > c = \sqrt{\max(x^2 - 2 \cdot \mathrm{margin}, 0)}

    and what is seen is a normal variable of mean :math:`\theta / \sigma` of which only values beyond c, on
    either side, are ever seen. The interval has all :math:`\theta` for which x is among the share ``level``
    of such values that are nearest to :math:`\theta / \sigma`: given that the edge was selected, it holds the
    truth that often. The ratio is half way, on the scale of logarithms, between the value under which what
    was seen is most likely and the mean of all values weighted by that likelihood.

    An edge whose margin is wide keeps its ratio and interval, and no interval becomes narrower. One that
    nothing else than chance may have brought in gets a ratio near 1. ``factor`` is how many times as wide the
    interval is because sequences differ (``widening``). A ratio of 0 or infinity counts as if half a
    hit were added on either side; its interval stays open on that side.

    >>> strata = Strata.of([40], [400], [250], [5000])
    >>> [round(limit, 2) for limit in given_selected(strata, margin=50.0)]
    [2.0, 1.46, 2.75]
    >>> [round(limit, 2) for limit in given_selected(strata, margin=1.0)]
    [1.27, 0.95, 2.75]

    References: Ghosh, Zou and Wright, American Journal of Human Genetics 82 (2008), whose third estimate and
    whose acceptance regions these are.
    """
    found = rate_ratio(strata, level)
    ratio = float(found.ratio)
    low, high = (float(limit) for limit in widened(found, np.asarray(factor)))
    if np.isnan(ratio) or margin == np.inf:
        return ratio, low, high
    if ratio > 0 and np.isfinite(ratio):
        centre, deviation = float(np.log(ratio)), float(rate_ratio(strata).deviation)
    else:
        centre, deviation = _with_half_a_hit(strata)
    x = abs(centre) / deviation
    threshold = np.sqrt(max(x**2 - 2 * max(margin, 0.0), 0.0))
    x, threshold, deviation = x / factor, threshold / factor, deviation * factor
    if threshold == 0 or x - threshold > _FAR:
        return ratio, low, high
    middle, *ends = (value * deviation for value in _conditional(x, threshold, level))
    sign = 1 if centre > 0 else -1
    least, most = sorted(float(np.exp(sign * end)) for end in ends)
    return float(np.exp(sign * middle)), min(low, least), max(high, most)


def _with_half_a_hit(strata: Strata) -> tuple[float, float]:
    """The logarithm of the ratio and its standard deviation, half a hit of the largest weight added."""
    a, n1, b, n0 = vars(strata).values()
    n = np.maximum(n1 + n0, 1e-300)
    above, below = strata.sums()
    ratio = (above + (n0 / n).max() / 2) / (below + (n1 / n).max() / 2)
    return float(np.log(ratio)), float(np.sqrt(1 / (a.sum() + 0.5) + 1 / (b.sum() + 0.5)))


def _conditional(x: float, c: float, level: float) -> tuple[float, float, float]:
    """Estimate and limits of the mean of a normal variable of variance 1, seen at x because beyond c."""
    from scipy.special import log_ndtr

    mean = np.arange(-_BEYOND, x + _BEYOND, _STEP)
    chosen = np.logaddexp(log_ndtr(mean - c), log_ndtr(-mean - c))  # how likely it is seen, in logarithms
    likelihood = -((x - mean) ** 2) / 2 - chosen
    weights = np.exp(likelihood - likelihood.max())
    estimate = (mean[weights.argmax()] + (weights * mean).sum() / weights.sum()) / 2

    def share(z: FloatArray) -> FloatArray:
        """The chance of a value below z, over that of being seen."""
        return np.asarray(np.exp(log_ndtr(z) - chosen))

    off = np.abs(x - mean)
    beyond = share(mean - np.maximum(mean - off, c)) - share(-np.maximum(off, c - mean))
    other_side = share(np.minimum(off, -c - mean)) - share(-off)
    nearer = np.maximum(beyond, 0.0) + np.maximum(other_side, 0.0)  # to the mean than x is
    first, last = np.flatnonzero(nearer <= level)[[0, -1]]
    return float(estimate), _crossing(mean, nearer, first - 1, level), _crossing(mean, nearer, last, level)


def _crossing(mean: FloatArray, nearer: FloatArray, at: npt.NDArray[np.intp], level: float) -> float:
    """Where a share between two neighbouring means is that of the level."""
    one, two = nearer[at], nearer[at + 1]
    return float(mean[at] + _STEP * (level - one) / (two - one))


#: Estimates of positive quantities and their limits at given levels, one for each quantity.
Limits = Callable[[FloatArray], tuple[FloatArray, FloatArray, FloatArray]]

_LEAST = 1e-16
_STEPS = 50


@dataclass(frozen=True)
class Difference(Record):
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


def paired_interval(
    differences: Sequence[FloatArray],
    n_bootstrap: int,
    seed: int,
    sequences: Sequence[npt.ArrayLike] | None = None,
) -> tuple[float, float]:
    r"""95% interval of the mean over splits of the summed differences, by resampling test sequences.

    The Bayesian bootstrap: sequence i gets a weight :math:`w_i`, exponentially distributed, in every split
    where it is tested, so that more splits of the same data do not pass for more data.

    .. math:: \bar n \frac{\sum_i w_i \sum_s d_{si}}{\sum_i w_i m_i}

    with :math:`m_i` the number of splits that test i, and :math:`\bar n` the mean number of test sequences.
    The interval is then widened about the observed difference as Student's t interval is wider than the
    normal one: little at 30 sequences, much at 3. From a single sequence nothing can be told.

    References
    ----------
    Rubin: The Bayesian Bootstrap, Annals of Statistics 9, 1981. On intervals that are too narrow in small
    samples: Hesterberg, What Teachers Should Know About the Bootstrap, The American Statistician 69, 2015.
    """
    from scipy.special import stdtrit

    if sequences is None:
        ends = np.cumsum([0, *(len(each) for each in differences)])
        sequences = [np.arange(start, stop) for start, stop in pairwise(ends.tolist())]
    _, which = np.unique(np.concatenate([np.asarray(each) for each in sequences]), return_inverse=True)
    sums = np.bincount(which, weights=np.concatenate(differences))
    times = np.bincount(which)
    n, splits = len(times), len(differences)
    if n < 2:
        return -math.inf, math.inf
    rng = np.random.default_rng(seed)
    draws = np.empty(n_bootstrap)
    rows = max(1, 10**6 // n)  # bounded memory however many sequences there are
    for start in range(0, n_bootstrap, rows):
        weights = rng.standard_exponential((min(rows, n_bootstrap - start), n))
        draws[start : start + rows] = (weights @ sums) / (weights @ times)
    observed = sums.sum() / splits
    low, high = np.quantile(draws * times.sum() / splits, [0.025, 0.975])
    wider = float(stdtrit(n - 1, 0.975)) / NormalDist().inv_cdf(0.975) * math.sqrt((n + 1) / (n - 1))
    return float(observed + wider * (low - observed)), float(observed + wider * (high - observed))
