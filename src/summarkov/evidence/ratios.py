"""How many times as likely with something as without it, all else equal, and how sure that is."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from summarkov.settings import check_level
from summarkov.typing import BoolArray, FloatArray


def exact_intervals(hits: npt.ArrayLike, n: npt.ArrayLike, level: float = 0.95) -> FloatArray:
    r"""Clopper and Pearson's intervals ``[..., (low, high)]`` for a probability, from ``hits`` of ``n``.

    .. math:: B^{-1}(\tfrac{1 - c}{2};\, k,\, n - k + 1) \quad\text{and}\quad
              B^{-1}(\tfrac{1 + c}{2};\, k + 1,\, n - k)

    with k the hits, c the ``level`` and B the incomplete beta function. Whatever the probability is, the
    interval holds it in at least a share c of all data sets.

    >>> exact_intervals([0, 8], [100, 10]).round(3)
    array([[0.   , 0.036],
           [0.444, 0.975]])

    Reference: Clopper and Pearson, Biometrika 26 (1934).
    """
    from scipy.special import betaincinv

    check_level("level", level)
    k, total = np.broadcast_arrays(np.asarray(hits, float), np.asarray(n, float))
    misses = total - k
    some, missed = k > 0, misses > 0
    low = betaincinv(np.where(some, k, 1.0), misses + 1, 0.5 - level / 2)
    high = betaincinv(k + 1, np.where(missed, misses, 1.0), 0.5 + level / 2)
    return np.stack([np.where(some, low, 0.0), np.where(missed, high, 1.0)], axis=-1)


#: A label that never followed a state seen n times may still have a probability of 3 / n there (the upper end
#: of a 95% interval, the "rule of three"). Below ten observations that is more than 0.3: next to nothing is
#: known.
FEW = 10


def seen(n: float, prior_weight: float = 0.0) -> str:
    """Whether a state was seen "never", "hardly" or "often".

    "hardly" is fewer than ten times (``FEW``), or less than the prior counts for: ``prior_weight`` is its
    total of pseudo-counts, :math:`\\alpha |X|`, so that the estimate is more prior than data.

    >>> [seen(n) for n in (0, 9, 10)], seen(15, prior_weight=40)
    (['never', 'hardly', 'often'], 'hardly')
    """
    if n <= 0:
        return "never"
    return "hardly" if n < max(FEW, prior_weight) else "often"


#: So many hits and misses, both with and without, are enough to take the logarithm of the ratio for normal.
ENOUGH = 10.0


@dataclass(frozen=True)
class RateRatio:
    """Ratios of two rates, their intervals, and how likely at least such a difference is by chance.

    Where nothing can be compared the ratio is NaN and its interval goes from 0 to infinity. The interval
    leaves out 1 just where ``p_value`` is less than one minus its level.
    """

    ratio: FloatArray
    low: FloatArray
    high: FloatArray
    p_value: FloatArray

    @property
    def deviation(self) -> FloatArray:
        """The standard deviation of the logarithm of the ratio, if the interval is one of 95%."""
        from scipy.special import ndtri

        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray((np.log(self.high) - np.log(self.low)) / (-2 * ndtri(0.025)))


@dataclass(frozen=True)
class Strata:
    """Hits of ``n`` with something and without it, in strata c in which all else is equal.

    The last axis of each array is c; a stratum of which one side was never seen has no say. Any axes before
    it are comparisons of their own.
    """

    hits_with: FloatArray
    n_with: FloatArray
    hits_without: FloatArray
    n_without: FloatArray

    @classmethod
    def of(cls, a: npt.ArrayLike, n1: npt.ArrayLike, b: npt.ArrayLike, n0: npt.ArrayLike) -> Strata:
        """From numbers of any kind; strata in which one side was never seen become empty."""
        each = [np.asarray(numbers, float) for numbers in (a, n1, b, n0)]
        both = (each[1] > 0) & (each[3] > 0)
        return cls(*(np.where(both, numbers, 0.0) for numbers in each))

    def sums(self) -> tuple[FloatArray, FloatArray]:
        """The numerator and the denominator of Mantel and Haenszel's ratio."""
        n = np.maximum(self.n_with + self.n_without, 1e-300)
        return (
            (self.hits_with * self.n_without / n).sum(axis=-1),
            (self.hits_without * self.n_with / n).sum(axis=-1),
        )

    def ratio(self) -> FloatArray:
        """Mantel and Haenszel's ratio; 0, infinite or NaN where sums are 0."""
        above, below = self.sums()
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(above / below)

    def __getitem__(self, which: BoolArray) -> Strata:
        return Strata(*(numbers[which] for numbers in vars(self).values()))


def rate_ratio(strata: Strata, level: float | FloatArray = 0.95) -> RateRatio:
    r"""Mantel and Haenszel's ratio of rates over strata, with its interval.

    With :math:`a_c` hits of :math:`n_{1c}` with, :math:`b_c` of :math:`n_{0c}` without, and
    :math:`N_c = n_{1c} + n_{0c}`, the ratio is

    .. math:: R = \frac{\sum_c a_c n_{0c} / N_c}{\sum_c b_c n_{1c} / N_c} = \frac{A}{B}

    and Greenland and Robins' variance of its logarithm

    .. math:: V = \frac{\sum_c ((a_c + b_c) n_{1c} n_{0c} - a_c b_c N_c) / N_c^2}{A B}

    so that the interval is :math:`R \exp(\pm z \sqrt V)`. With fewer than ten hits or misses on either side
    the limits are exact: those of Clopper and Pearson for how many of the hits are with. The lower limit is 0
    where nothing was hit with, and there is no upper one where nothing was hit without.

    >>> found = rate_ratio(Strata.of([30, 15], [100, 50], [20, 14], [200, 100]))
    >>> [round(float(value), 3) for value in (found.ratio, found.low, found.high)]
    [2.647, 1.775, 3.949]
    >>> found = rate_ratio(Strata.of([0], [100], [50], [1000]))
    >>> float(found.ratio), float(found.low), round(float(found.high), 2)
    (0.0, 0.0, 0.77)

    References: Mantel and Haenszel, Journal of the National Cancer Institute 22 (1959); Greenland and Robins,
    Biometrics 41 (1985); Fay, Communications in Statistics 28 (1999).
    """
    ratio = strata.ratio()
    tail = np.broadcast_to((1 - np.asarray(level)) / 2, ratio.shape)
    low, high, p_value = np.zeros(ratio.shape), np.full(ratio.shape, np.inf), np.ones(ratio.shape)
    a, n1, b, n0 = (numbers.sum(axis=-1) for numbers in vars(strata).values())
    many = np.minimum.reduce([a, n1 - a, b, n0 - b]) >= ENOUGH  # so the logarithm is about normal
    if many.any():
        low[many], high[many], p_value[many] = _normal(strata[many], tail[many])
    few = ~many & ~np.isnan(ratio)
    if few.any():
        low[few], high[few], p_value[few] = _exact(strata[few], tail[few])
    return RateRatio(ratio, low, high, p_value)


def excess(strata: Strata, level: float = 0.95, factor: float = 1.0) -> tuple[float, float, float]:
    r"""How many more hits there are with something than without it, all else equal, and the interval.

    Mantel and Haenszel's difference of rates, times the positions with it that can be compared, with Sato's
    variance; the interval is made wider by a factor. NaN where nothing can be compared.

    .. math:: n_1 \frac{\sum_c (a_c n_{0c} - b_c n_{1c}) / N_c}{\sum_c n_{1c} n_{0c} / N_c}

    >>> [round(value, 1) for value in excess(Strata.of([30, 15], [100, 50], [20, 14], [200, 100]))]
    [28.0, 15.8, 40.2]

    References: Mantel and Haenszel, Journal of the National Cancer Institute 22 (1959); Sato, Biometrics 45
    (1989).
    """
    from scipy.special import ndtri

    a, n1, b, n0 = vars(strata).values()
    n = np.maximum(n1 + n0, 1.0)
    compared = float((n1 * n0 / n).sum())
    if not compared:
        return np.nan, np.nan, np.nan
    difference = float(((a * n0 - b * n1) / n).sum() / compared)
    p = (n1**2 * b - n0**2 * a + n1 * n0 * (n0 - n1) / 2) / n**2
    q = (a * (n0 - b) + b * (n1 - a)) / (2 * n)
    deviation = np.sqrt(max(float(difference * p.sum() + q.sum()), 0.0)) / compared
    far, total = float(-ndtri((1 - level) / 2) * deviation * factor), float(n1.sum())
    return total * difference, total * (difference - far), total * (difference + far)


def _normal(strata: Strata, tail: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Limits and p-value by Greenland and Robins' variance."""
    from scipy.special import ndtr, ndtri

    above, below = strata.sums()
    a, n1, b, n0 = vars(strata).values()
    n = np.maximum(n1 + n0, 1e-300)
    spread = ((a + b) * (n1 / n) * (n0 / n) - a * b / n).sum(axis=-1)
    deviation = np.sqrt(np.maximum(spread, 0.0) / above / below)
    centre, z = np.log(above / below), -ndtri(tail)
    p_value = 2 * ndtr(-np.abs(centre) / np.maximum(deviation, 1e-300))
    return np.exp(centre - z * deviation), np.exp(centre + z * deviation), p_value


def _exact(strata: Strata, tail: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    r"""Limits and p-value where hits or misses are few.

    Hits that are rare are about Poisson (else they spread less, and the limits are safe). So of a hits with
    and b without, all of one weight, a is binomial of a + b: the limits of the odds that a hit is one with
    are those of :math:`\mathrm{Beta}(a, b + 1)` and :math:`\mathrm{Beta}(a + 1, b)`. Sums over strata are
    taken for as many hits of one weight as have the same mean and variance; "one more" is a hit of the
    largest weight (Fay).
    """
    a, n1, b, n0 = vars(strata).values()
    n = np.maximum(n1 + n0, 1e-300)
    low, more = _least(a, n0 / n, b, n1 / n, tail)
    least, less = _least(b, n1 / n, a, n0 / n, tail)
    with np.errstate(divide="ignore"):
        return low, 1 / least, np.minimum(2 * np.minimum(less, more), 1.0)


def _least(
    a: FloatArray, weight: FloatArray, b: FloatArray, weight_b: FloatArray, tail: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """The lower limit of a ratio of sums of weighted hits, and the chance of one as large where it is 1."""
    from scipy.special import betainc, betaincinv

    with np.errstate(divide="ignore", invalid="ignore"):
        hits, each = _as_hits(a, weight)
        others, other = _as_hits(b, weight_b, weight_b.max(axis=-1))
        scale = each / other
        share = betaincinv(hits, others, tail)
        low, chance = scale * share / (1 - share), betainc(hits, others, 1 / (1 + scale))
    some = a.sum(axis=-1) > 0
    return np.where(some, low, 0.0), np.where(some, chance, 1.0)


def _as_hits(
    hits: FloatArray, weights: FloatArray, more: FloatArray | float = 0.0
) -> tuple[FloatArray, FloatArray]:
    """How many hits of one weight have mean and variance of a weighted sum, and that weight."""
    total, square = (hits * weights).sum(axis=-1) + more, (hits * weights**2).sum(axis=-1) + more**2
    return total**2 / square, square / total


def binomial_tails(hits: FloatArray, misses: FloatArray, chance: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The chance of at least these hits, and of at most these: binomial, and continued to fractions."""
    from scipy.special import betainc

    at_least = np.where(hits > 0, betainc(np.maximum(hits, 1e-300), misses + 1, chance), 1.0)
    at_most = np.where(misses > 0, betainc(np.maximum(misses, 1e-300), hits + 1, 1 - chance), 1.0)
    return at_least, at_most


def directions(strata: Strata, level: float = 0.95) -> tuple[BoolArray, BoolArray]:
    r"""Strata in which the rate is higher with than without, or lower, beyond chance.

    Chance is allowed for all strata together (Bonferroni). Given the t hits of a stratum, those with are
    binomial of t and :math:`n_1 / N` if nothing differs and hits are rare, and spread less if they are not.
    Where more than half are hits, misses are compared.
    """
    a, n1, b, n0 = vars(strata).values()
    n = n1 + n0
    held = n > 0
    often = 2 * (a + b) > n
    hits, others = np.where(often, n1 - a, a), np.where(often, n0 - b, b)
    at_least, at_most = binomial_tails(hits, others, n1 / np.maximum(n, 1e-300))
    limit = (1 - level) / 2 / np.maximum(held.sum(axis=-1, keepdims=True), 1)
    more, less = held & (at_least <= limit), held & (at_most <= limit)
    return np.where(often, less, more), np.where(often, more, less)


# ---------------------------------------------------------------------- sequences that differ

#: With fewer sequences than this, blocks of them are looked at too. From fewer clusters than the second no
#: variance is taken: Student's t of so few is so wide that intervals would run from 0 to a thousand million.
MANY_CLUSTERS, FEW_CLUSTERS = 30, 5


def added(strata: Strata) -> tuple[FloatArray, FloatArray]:
    r"""What a position adds to the logarithm of the ratio, ``[with or without, stratum]``, and a hit more.

    The ratio is :math:`A / B` as in :func:`rate_ratio`. If one position more or less hardly changes the
    counts, the logarithm changes by

    .. math:: -\frac{n_{0c}}{N_c^2} \Big(\frac{a_c}{A} + \frac{b_c}{B}\Big) + \frac{n_{0c}}{N_c A} y
              \quad\text{or}\quad
              \frac{n_{1c}}{N_c^2} \Big(\frac{a_c}{A} + \frac{b_c}{B}\Big) - \frac{n_{1c}}{N_c B} y

    for one with and one without in stratum c, with y = 1 for a hit, else 0; by 0 where A or B is 0. Over all
    positions that sums to 0.

    >>> base, hit = added(Strata.of([30], [100], [20], [200]))
    >>> round(abs(float(base[0, 0] * 100 + base[1, 0] * 200 + hit[0, 0] * 30 + hit[1, 0] * 20)), 9)
    0.0
    """
    above, below = strata.sums()
    a, n1, b, n0 = vars(strata).values()
    if not (above > 0 and below > 0):
        return np.zeros((2, len(a))), np.zeros((2, len(a)))
    n = np.maximum(n1 + n0, 1e-300)
    share = (a / above + b / below) / n
    return np.stack([-n0 / n * share, n1 / n * share]), np.stack([n0 / n / above, -n1 / n / below])


def robust_widening(
    found: RateRatio, strata: Strata, squares: npt.ArrayLike, clusters: npt.ArrayLike, level: float = 0.95
) -> float | None:
    r"""How many times wider than from counts the interval of one ratio is, because sequences differ.

    With :math:`u_i` what the positions of sequence i add to the logarithm of the ratio (:func:`added`), and
    G sequences, its variance is

    .. math:: \Big(\frac{G}{G - 1}\Big)^2 \sum_i u_i^2

    and the quantile that of Student's t with G - 1 degrees of freedom: nothing is assumed about events of one
    sequence. ``squares`` has the sum over sequences and that over blocks of sequences, ``clusters`` their
    numbers. With fewer than 30 sequences blocks count too, and with fewer than five only blocks. The widest
    interval is taken, ``found`` among them, that from counts at the same level. None where the ratio is 0 or
    infinite.

    Of fewer than five clusters the interval is as wide as if all hits of one sequence were one observation:
    with h hits on the side (with or without) of fewer positions, :math:`\sqrt{h / G}` times as wide as from
    counts.

    >>> strata = Strata.of([30], [100], [20], [200])
    >>> counted = rate_ratio(strata)
    >>> round(robust_widening(counted, strata, [0.2, 0.2], [40, 40]), 2)
    1.81
    >>> round(robust_widening(counted, strata, [0.2, 0.2], [2, 2]), 2)  # 15 hits in each
    3.87

    References: Liang and Zeger, Biometrika 73 (1986). The factor makes up for few sequences: Bell and
    McCaffrey, Survey Methodology 28 (2002), for sequences that weigh alike.
    """
    from scipy.special import stdtrit

    low, high = float(found.low), float(found.high)
    if not 0 < float(found.ratio) < np.inf or not 0 < low < high < np.inf:
        return None
    (of_sequences, of_blocks), (n_sequences, n_blocks) = np.asarray(squares), np.asarray(clusters)
    kinds = [(of_sequences, n_sequences)] if n_sequences >= FEW_CLUSTERS else []
    kinds += [(of_blocks, n_blocks)] if n_sequences < MANY_CLUSTERS and n_blocks >= FEW_CLUSTERS else []
    if not kinds:
        a, n1, b, n0 = (each.sum() for each in vars(strata).values())
        return max(1.0, float(np.sqrt((a if n1 <= n0 else b) / max(n_sequences, 1))))
    far = max(-stdtrit(n - 1, (1 - level) / 2) * np.sqrt(total) * n / (n - 1) for total, n in kinds)
    return max(1.0, float(2 * far / np.log(high / low)))


def widening(found: RateRatio, drawn: FloatArray) -> FloatArray:
    """How many times wider than from counts the interval of a ratio is, if sequences are drawn anew.

    The standard deviation of the logarithms of ``drawn[..., b]``, the ratios of resampled data, over that
    from counts; at least 1, and 1 where one of the two is not known.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(drawn)
        usable = np.isfinite(logs)
        n = usable.sum(axis=-1)
        logs = np.where(usable, logs, 0.0)
        mean = logs.sum(axis=-1) / np.maximum(n, 1)
        square = np.where(usable, (logs - mean[..., None]) ** 2, 0.0).sum(axis=-1) / np.maximum(n - 1, 1)
        factor = np.sqrt(square) / found.deviation
    return np.where((n >= 10) & np.isfinite(factor), np.maximum(factor, 1.0), 1.0)


def widened(found: RateRatio, factor: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The interval of a ratio, made wider by a factor (on the scale of logarithms)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        low, high = (
            found.ratio * (found.low / found.ratio) ** factor,
            found.ratio * (found.high / found.ratio) ** factor,
        )
    known = np.isfinite(found.ratio) & (found.ratio > 0) & (np.asarray(factor) > 1)
    return np.where(known, low, found.low), np.where(known, high, found.high)


# ---------------------------------------------------------------------- selected edges

#: Standard deviations above the least that would be selected from which on selection changes nothing.
_FAR = 6.0
#: How finely possible values are tried, and how far beyond what was seen, in standard deviations.
_STEP, _BEYOND = 0.01, 4.0


def given_selected(
    strata: Strata, margin: float, level: float = 0.95, factor: float = 1.0, known: RateRatio | None = None
) -> tuple[float, float, float]:
    r"""Ratio and interval of one comparison, allowing for its having been selected.

    The score of a model with the influencer exceeds that without it by ``margin``; else the edge would not be
    there. Let :math:`\hat\theta` be the logarithm of Mantel and Haenszel's ratio, :math:`\sigma` its standard
    deviation and :math:`x = |\hat\theta| / \sigma`. All else equal, twice the log-likelihood falls by about
    :math:`x^2 - y^2` if x becomes y. So the edge is there just while

    .. math:: y > c = \sqrt{\max(x^2 - 2 \cdot \mathrm{margin}, 0)}

    and what is seen is a normal variable of mean :math:`\theta / \sigma` of which only values beyond c, on
    either side, are ever seen. The interval has all :math:`\theta` for which x is among the share ``level``
    of such values that are nearest to :math:`\theta / \sigma`; it is never narrower than before. The ratio is
    half way, on the scale of logarithms, between the value under which what was seen is most likely and the
    mean of all values weighted by that likelihood. So an edge whose margin is wide keeps its ratio, and one
    that nothing else than chance may have brought in gets a ratio near 1.

    ``known`` is the ratio at this level, where that was worked out before.
    ``factor`` is how many times as wide the interval is because sequences differ. A ratio of 0 or infinity
    counts as if half a hit were added on either side; its interval stays open on that side.

    >>> strata = Strata.of([40], [400], [250], [5000])
    >>> [round(limit, 2) for limit in given_selected(strata, margin=50.0)]
    [2.0, 1.46, 2.75]
    >>> [round(limit, 2) for limit in given_selected(strata, margin=1.0)]
    [1.27, 0.95, 2.75]

    References: Ghosh, Zou and Wright, American Journal of Human Genetics 82 (2008), whose third estimate and
    whose acceptance regions these are.
    """
    found = known or rate_ratio(strata, level)
    ratio = float(found.ratio)
    low, high = (float(limit) for limit in widened(found, np.asarray(factor)))
    if np.isnan(ratio) or margin == np.inf:
        return ratio, low, high
    if ratio > 0 and np.isfinite(ratio):
        centre, deviation = (
            float(np.log(ratio)),
            float((found if level == 0.95 else rate_ratio(strata)).deviation),
        )
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


# ---------------------------------------------------------------------- many tests


def benjamini_hochberg(p_values: npt.ArrayLike, n_tests: float) -> list[float]:
    r"""Adjusted p-values of some of ``n_tests`` tests; those that are not given are taken for 1.

    .. math:: \tilde p_{(i)} = \min_{j \ge i} \min(1, p_{(j)} \, m / j)

    Reject those up to q, and at most a share q of the rejections is false on average; Benjamini and Hochberg,
    Journal of the Royal Statistical Society B 57 (1995).

    >>> [round(p, 4) for p in benjamini_hochberg([0.01, 0.04, 0.001], 10)]
    [0.05, 0.1333, 0.01]
    """
    scaled = np.asarray(p_values, float) * n_tests
    by_size = np.argsort(scaled, kind="stable")
    divided = scaled[by_size] / np.arange(1, len(scaled) + 1)
    adjusted = np.ones(len(scaled))
    adjusted[by_size] = np.minimum.accumulate(divided[::-1])[::-1]
    found: list[float] = np.minimum(adjusted, 1.0).tolist()
    return found
