"""Intervals for the probability of an outcome in a state, and how often a state was seen."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from summarkov.errors import SettingError
from summarkov.typing import FloatArray


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

    if not 0 < level < 1:
        raise SettingError(f"level must lie between 0 and 1, not {level!r}")
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
