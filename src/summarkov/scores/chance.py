r"""What influencers that mean nothing gain by chance, so that a search can ask for more."""

from __future__ import annotations

import numpy as np

from summarkov.typing import FloatArray, IntArray


def gain_by_chance(
    n_influencers: int | IntArray, n_parameters: float | FloatArray, n_choices: int, false_edges: float
) -> FloatArray:
    r"""How much likelihood a set of influencers must gain to be more than chance.

    .. math:: g(U) = |U| \, q\!\left(\frac{D}{|U|}\right), \quad
        q(d) = \text{the upper } \frac{\epsilon}{C} \text{ quantile of } \tfrac12 \chi^2_d

    ``n_parameters`` is D, the parameters beyond those of no influencers at all, ``n_choices`` is C, the
    number of edges that could be found: targets times candidates times look-backs to choose from.
    ``false_edges`` is :math:`\epsilon`.

    *One influencer.* By Wilks' theorem a label that means nothing gains :math:`\frac12 \chi^2_d` in
    log-likelihood by d more parameters. So it gains more than q(d) with probability :math:`\epsilon / C`, and
    of all C choices on average :math:`\epsilon` do, however much they depend on each other: expectations add.
    In noise a search that asks for q(d) finds at most :math:`\epsilon` first influencers on average. Each of
    r look-backs counts as a choice of its own, so learning them costs about log r for an influencer (the
    tail falls like :math:`e^{-q}`).

    *Further influencers.* Let a set of u - 1 influencers have D parameters, and one more label add d. Since q
    is concave, :math:`u \, q((D + d) / u) \ge (u - 1) \, q(D / (u - 1)) + q(d)`: the larger set must gain at
    least q(d) more. So a label that joins must be beyond chance given those that are there.

    >>> gain_by_chance(1, 1.0, n_choices=100, false_edges=0.2).round(2)
    np.float64(4.77)
    >>> gain_by_chance(1, 1.0, n_choices=7 * 100, false_edges=0.2).round(2)
    np.float64(6.58)

    References: Wilks, "The large-sample distribution of the likelihood ratio for testing composite
    hypotheses", Annals of Mathematical Statistics 9 (1938).
    """
    from scipy.special import gammainccinv

    level = min(1.0, false_edges / max(1, n_choices))
    n, parameters = np.broadcast_arrays(n_influencers, np.asarray(n_parameters, dtype=float))
    gain = np.where(np.isposinf(parameters) & (n > 0) & (level < 1), np.inf, 0.0)
    some = (n > 0) & (parameters > 0) & np.isfinite(parameters)
    gain[some] = n[some] * gammainccinv(parameters[some] / n[some] / 2, level)
    return gain
