"""Bayesian estimates of the parameters, and the likelihood at them."""

from __future__ import annotations

from typing import Literal

import numpy as np
import numpy.typing as npt

from summarkov.errors import SettingError

FloatArray = npt.NDArray[np.float64]
Prior = Literal["uniform", "base-rate"]


def pseudo_counts(totals: npt.ArrayLike, alpha: float, prior: str = "uniform") -> FloatArray:
    r"""Dirichlet pseudo-counts of the outcomes, of total weight :math:`\alpha |X|`.

    ``totals[x]`` is N(x). The uniform prior (the paper's) gives each outcome alpha; "base-rate" centres the
    same weight on :math:`(N(x) + 1/2) / (N + |X|/2)`.

    >>> pseudo_counts([1, 8], alpha=2.0), pseudo_counts([1, 8], alpha=2.0, prior="base-rate")
    (array([2., 2.]), array([0.6, 3.4]))
    """
    n = np.asarray(totals, dtype=float)
    if prior == "uniform":
        return np.full(len(n), float(alpha))
    if prior == "base-rate":
        return np.asarray(alpha * len(n) * (n + 0.5) / (n.sum() + len(n) / 2))
    raise SettingError(f"prior must be 'uniform' or 'base-rate', not {prior!r}")


def probabilities(counts: npt.ArrayLike, pseudo: FloatArray) -> FloatArray:
    r"""Estimates :math:`\theta_{x|s} = (\alpha_x + N(x;s)) / (\sum_x \alpha_x + N(s))`.

    ``counts[..., s, x]`` is N(x; s), ``pseudo[x]`` is :math:`\alpha_x`. A state never seen gets the prior's
    mean.

    >>> probabilities([[8, 2], [0, 0]], pseudo_counts([8, 2], alpha=1.0))
    array([[0.75, 0.25],
           [0.5 , 0.5 ]])
    """
    n = np.asarray(counts, dtype=float)
    # There are many states and few outcomes, so one outcome at a time is much faster than broadcasting.
    per_state = n[..., 0] + pseudo.sum()
    for x in range(1, len(pseudo)):
        per_state += n[..., x]
    theta = np.empty_like(n)  # in memory as the counts are: see CandidateCounts.tables
    for x, alpha in enumerate(pseudo.tolist()):
        of_outcome = theta[..., x]
        np.add(n[..., x], alpha, out=of_outcome)
        of_outcome /= per_state
    return theta


def log_likelihood(counts: npt.ArrayLike, pseudo: FloatArray) -> FloatArray:
    r"""Log-likelihood of a target at its Bayesian estimates (Equation 1 of the paper).

    .. math:: \sum_{x,s} N(x;s) \log \frac{\alpha_x + N(x;s)}{\sum_x \alpha_x + N(s)}

    ``counts[..., s, x]`` is N(x; s); leading axes are separate tables. A state never seen adds nothing.

    >>> round(float(log_likelihood([[8, 2], [1, 9]], pseudo_counts([9, 11], alpha=1.0))), 3)
    -8.507
    """
    n = np.asarray(counts, dtype=float)
    terms = probabilities(n, pseudo)
    np.log(terms, out=terms)
    terms *= n
    return np.asarray(terms.sum(axis=(-2, -1)))
