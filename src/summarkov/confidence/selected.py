"""The ratio of an edge that a search has selected: what looks strong by chance is selected more often."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from summarkov.confidence.rate_ratio import Strata, rate_ratio, widened
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
    from scipy.special import ndtri

    found, at_95 = rate_ratio(strata, level), rate_ratio(strata)
    ratio = float(found.ratio)
    low, high = (float(limit) for limit in widened(found, np.asarray(factor)))
    if np.isnan(ratio) or margin == np.inf:
        return ratio, low, high
    if ratio > 0 and np.isfinite(ratio):
        centre = float(np.log(ratio))
        deviation = float(np.log(at_95.high) - np.log(at_95.low)) / (-2 * float(ndtri(0.025)))
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
