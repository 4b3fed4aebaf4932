"""Intervals of ratios that allow for sequences that differ: wider than counts alone say."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from summarkov.confidence.rate_ratio import RateRatio, Strata
from summarkov.typing import FloatArray

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

    for one with and one without in stratum c, with y = 1 for a hit, else 0. Over all positions that sums to
    0. All are 0 where a sum is, for there the logarithm is not finite.

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
    numbers. With fewer than 30 sequences blocks count too, and with fewer than five only blocks; the wider
    of two intervals is taken, and ``found``, that from counts at the same level, if it is wider still. None
    where the ratio is 0 or infinite.

    Fewer than five clusters tell nothing of how they differ. Then the interval is as wide as if all hits of
    one sequence were a single observation, which is the most that clusters can bring: with h hits on the side
    (with or without the influencer) of fewer positions, :math:`\sqrt{h / G}` times as wide as from counts.

    >>> from summarkov.confidence import rate_ratio
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

    ``drawn[..., b]`` are the ratios of resampled data: the standard deviation of their logarithms is compared
    with that which counts give. It is at least 1, and 1 where one of the two is not known: hits were so few
    that the exact interval, which is wide, must do.
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
