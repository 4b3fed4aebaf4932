"""How many times as likely with something as without it, all else equal; and exact intervals of shares."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from summarkov.settings import check_level
from summarkov.typing import BoolArray, FloatArray


def exact_intervals(hits: npt.ArrayLike, n: npt.ArrayLike, level: float = 0.95) -> FloatArray:
    r"""Clopper and Pearson's intervals ``[..., (low, high)]`` for a probability, from ``hits`` of ``n``.

    .. math:: B^{-1}(\tfrac{1 - c}{2};\, k,\, n - k + 1) \quad\text{and}\quad
              B^{-1}(\tfrac{1 + c}{2};\, k + 1,\, n - k)

    with k the hits, c the ``level`` and B the incomplete beta function. Whatever the probability is, the
    interval holds it in at least a share c of all data sets. It looks at counts alone, not at the prior. Of
    nothing seen it is 0 to 1.

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


#: With at least this many hits and misses, both with and without, the logarithm of the ratio is about normal.
ENOUGH = 10.0


@dataclass(frozen=True)
class RateRatio:
    """The ratio of two rates, its interval, and how likely at least such a difference is by chance.

    Each is an array with one entry for each comparison. Where nothing can be compared the ratio is NaN and
    its interval goes from 0 to infinity. The interval leaves out 1 just where ``p_value`` is less than one
    minus its level.
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

    so that the interval is :math:`R \exp(\pm z \sqrt V)`. That needs some hits and some misses on either
    side. With fewer than ten of any, none included, the limits are exact ones: those of Clopper and Pearson
    for how many of the hits are with. There is no lower limit but 0 where nothing was hit
    with, and no upper one where nothing was hit without.

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
    many = _is_many(strata)
    if many.any():
        low[many], high[many], p_value[many] = _normal(strata[many], tail[many])
    few = ~many & ~np.isnan(ratio)
    if few.any():
        low[few], high[few], p_value[few] = _exact(strata[few], tail[few])
    return RateRatio(ratio, low, high, p_value)


def _is_many(strata: Strata) -> BoolArray:
    """Whether there are enough hits and misses on either side to take the logarithm for normal."""
    a, n1, b, n0 = (numbers.sum(axis=-1) for numbers in vars(strata).values())
    return np.asarray(np.minimum.reduce([a, n1 - a, b, n0 - b]) >= ENOUGH)


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

    The sums A and B are weighted sums of hits. If hits are Poisson, as they about are where they are rare
    (where not, they spread less, and the limits are safe), of a hits with and b without, all of one weight, a
    is binomial of a + b, and the lower limit of the odds that a hit is one with is that of
    :math:`\mathrm{Beta}(a, b + 1)`, the upper one that of :math:`\mathrm{Beta}(a + 1, b)`. Sums over strata
    have their own weights, and are taken for as many hits of one weight as have the same mean and variance;
    "one more" is a hit of the largest weight (Fay).
    """
    from scipy.special import betainc, betaincinv

    a, n1, b, n0 = vars(strata).values()
    n = np.maximum(n1 + n0, 1e-300)
    above, one_above = _as_hits(a, n0 / n)
    below, one_below = _as_hits(b, n1 / n)
    low, high = np.zeros(len(a)), np.full(len(a), np.inf)
    less, more = np.ones(len(a)), np.ones(len(a))  # chances of as many hits with as there are, or more (less)
    some = above.hits > 0
    first, second, scale = above.hits[some], one_below.hits[some], (above.each / one_below.each)[some]
    share = betaincinv(first, second, tail[some])
    low[some] = scale * share / (1 - share)
    more[some] = betainc(first, second, 1 / (1 + scale))
    some = below.hits > 0
    first, second, scale = one_above.hits[some], below.hits[some], (one_above.each / below.each)[some]
    rest = betaincinv(second, first, tail[some])
    high[some] = scale * (1 - rest) / rest
    less[some] = betainc(second, first, scale / (1 + scale))
    return low, high, np.minimum(2 * np.minimum(less, more), 1.0)


class _Hits(NamedTuple):
    """How many hits there are, if all of them have one weight."""

    hits: FloatArray
    each: FloatArray


def _as_hits(hits: FloatArray, weights: FloatArray) -> tuple[_Hits, _Hits]:
    """A weighted sum of hits as hits of one weight, and the same with one more hit of the largest weight."""
    total, square, most = (
        (hits * weights).sum(axis=-1),
        (hits * weights**2).sum(axis=-1),
        weights.max(axis=-1),
    )
    plus, plus_square = total + most, square + most**2
    nothing = square <= 0
    safe = np.where(nothing, 1.0, square)
    return (
        _Hits(
            np.where(nothing, 0.0, total**2 / safe),
            np.where(nothing, most, safe / np.where(nothing, 1.0, total)),
        ),
        _Hits(plus**2 / plus_square, plus_square / plus),
    )


def binomial_tails(hits: FloatArray, misses: FloatArray, chance: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The chance of at least these hits, and of at most these: binomial, and continued to fractions."""
    from scipy.special import betainc

    at_least = np.where(hits > 0, betainc(np.maximum(hits, 1e-300), misses + 1, chance), 1.0)
    at_most = np.where(misses > 0, betainc(np.maximum(misses, 1e-300), hits + 1, 1 - chance), 1.0)
    return at_least, at_most


def directions(strata: Strata, level: float = 0.95) -> tuple[BoolArray, BoolArray]:
    r"""Strata in which the rate is higher with than without, or lower, beyond chance.

    Chance is allowed for all strata together (Bonferroni). Given the t hits of a stratum, those with are
    binomial of t and :math:`n_1 / N` if nothing differs and hits are rare, and spread less if they are not:
    so the test promises no less than it says. Where more than half are hits, misses are compared.
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
