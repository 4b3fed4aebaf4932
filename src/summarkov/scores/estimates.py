"""Bayesian estimates of the parameters, and the likelihood at them."""

from __future__ import annotations

from typing import Literal

import numpy as np
import numpy.typing as npt

from summarkov.errors import SettingError
from summarkov.typing import FloatArray

Prior = Literal["uniform", "base-rate"]


def pseudo_counts(totals: npt.ArrayLike, alpha: float, prior: str = "uniform") -> FloatArray:
    r"""Dirichlet pseudo-counts of the outcomes, of total weight :math:`\alpha |X|`.

    ``totals[..., x]`` is N(x). The uniform prior (the paper's) gives each outcome alpha; "base-rate" centres
    the same weight on :math:`(N(x) + 1/2) / (N + |X|/2)`.

    >>> pseudo_counts([1, 8], alpha=2.0), pseudo_counts([1, 8], alpha=2.0, prior="base-rate")
    (array([2., 2.]), array([0.6, 3.4]))
    """
    n = np.asarray(totals, dtype=float)
    if prior == "uniform":
        return np.full(n.shape, float(alpha))
    if prior == "base-rate":
        n_outcomes = n.shape[-1]
        return np.asarray(alpha * n_outcomes * (n + 0.5) / (n.sum(axis=-1, keepdims=True) + n_outcomes / 2))
    raise SettingError(f"prior must be 'uniform' or 'base-rate', not {prior!r}")


def probabilities(counts: npt.ArrayLike, pseudo: FloatArray) -> FloatArray:
    r"""Estimates :math:`\theta_{x|s} = (\alpha_x + N(x;s)) / (\sum_x \alpha_x + N(s))`.

    ``counts[..., s, x]`` is N(x; s), ``pseudo[x]`` is :math:`\alpha_x`, or ``pseudo[..., 1, x]`` where tables
    have their own. A state never seen gets the prior's mean.

    >>> probabilities([[8, 2], [0, 0]], pseudo_counts([8, 2], alpha=1.0))
    array([[0.75, 0.25],
           [0.5 , 0.5 ]])
    """
    n = np.asarray(counts, dtype=float)
    # There are many states and few outcomes, so one outcome at a time is much faster than broadcasting.
    per_state = n[..., 0] + ordered_sum(pseudo)
    for x in range(1, n.shape[-1]):
        per_state += n[..., x]
    theta = np.empty_like(n)  # in memory as the counts are: see engines.counts.state_tables
    for x in range(n.shape[-1]):
        of_outcome = theta[..., x]
        np.add(n[..., x], pseudo[..., x], out=of_outcome)
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
    per_state = terms[..., 0]
    for x in range(1, terms.shape[-1]):
        per_state += terms[..., x]
    return ordered_sum(per_state)


def ordered_sum(values: FloatArray) -> FloatArray:
    """Sum over the last axis in order, so that a table has the same sum alone, among others and filled up.

    NumPy would add neighbours in memory pairwise, and so in another order for another shape.
    """
    if values.size == values.shape[-1] > 0:
        return np.asarray(np.add.accumulate(values, axis=-1)[..., -1])
    return np.asarray(np.ascontiguousarray(np.moveaxis(values, -1, 0)).sum(axis=0))
