"""Credible intervals for the probabilities of a state."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from summarkov.confidence.beta import beta_quantile
from summarkov.errors import SettingError

FloatArray = npt.NDArray[np.float64]


def credible_intervals(counts: npt.ArrayLike, pseudo: FloatArray, level: float = 0.95) -> FloatArray:
    r"""Equal-tailed credible intervals ``[..., x, (low, high)]`` for every :math:`\theta_{x|s}`.

    A state's probabilities have a Dirichlet posterior, so each alone has the marginal
    :math:`\mathrm{Beta}(\alpha_x + N(x;s), \sum_{x'} \alpha_{x'} + N(s) - \alpha_x - N(x;s))`.

    >>> credible_intervals([[8, 2]], np.array([1.0, 1.0])).round(3)
    array([[[0.482, 0.94 ],
            [0.06 , 0.518]]])
    """
    if not 0 < level < 1:
        raise SettingError(f"level must lie between 0 and 1, not {level!r}")
    n = np.asarray(counts, dtype=float)
    a = pseudo + n
    b = a.sum(axis=-1, keepdims=True) - a
    return beta_quantile([0.5 - level / 2, 0.5 + level / 2], a[..., None], b[..., None])
