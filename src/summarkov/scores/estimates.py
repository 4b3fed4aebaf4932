"""Bayesian estimates of the parameters, the likelihood at them, and sums that are exact however cut."""

from __future__ import annotations

from dataclasses import dataclass
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


#: Every float is a whole multiple of 2^-1074, and so is every mantissa of 53 bits of 2^-1126.
_UNIT = 1126
_HALF = 27


@dataclass(frozen=True)
class ExactSum:
    """A sum without any rounding, until it is made a float: nothing depends on how the data were cut.

    ``exact`` counts multiples of 2^-1126; infinities and the like are summed apart.

    >>> float(ExactSum.of(np.array([1e16, 1.0])) + ExactSum.of(np.array([-1e16])))
    1.0
    """

    exact: int = 0
    special: float = 0.0

    @classmethod
    def of(cls, values: FloatArray) -> ExactSum:
        """Sum some floats."""
        finite = np.isfinite(values)
        mantissa, exponent = np.frexp(values[finite])
        whole = (mantissa * 2.0**53).astype(np.int64)
        exact, high, low = 0, whole >> _HALF, whole & ((1 << _HALF) - 1)
        shift = exponent.astype(np.int64) + (_UNIT - 53)
        for start in range(0, len(whole), 1 << 24):  # this number of halves adds up exactly even as floats
            some = slice(start, start + (1 << 24))
            highs, lows = (np.bincount(shift[some], weights=half[some]) for half in (high, low))
            for at in np.flatnonzero((highs != 0) | (lows != 0)).tolist():
                exact += ((int(highs[at]) << _HALF) + int(lows[at])) << at
        return cls(exact, float(values[~finite].sum()))

    def __add__(self, other: ExactSum) -> ExactSum:
        return ExactSum(self.exact + other.exact, self.special + other.special)

    def __float__(self) -> float:
        """The nearest float."""
        return self.special if self.special != 0 else self.exact / (1 << _UNIT)
