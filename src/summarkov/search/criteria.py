"""Criteria: counts in, scores out; with the estimates of probabilities that they rest on."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from summarkov.errors import SettingError
from summarkov.settings import check_positive
from summarkov.typing import FloatArray, IntArray

Prior = Literal["uniform", "base-rate"]

SCORES = ("bic", "aic", "extended-bic", "marginal")


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


@dataclass(frozen=True)
class Scorer:
    r"""One of the scores, with its settings.

    With LL the log-likelihood at the Bayesian estimates, N the number of events (under weights, what all of
    them weigh together), :math:`|P| = (|X| - 1) |S(U)|` the number of parameters, m the number of candidate
    labels and r the number of look-backs to choose from for each:

    - ``"bic"``: :math:`LL - \gamma |P| \log(N) / 2` (Equation 2 of the paper has gamma = 1);
    - ``"aic"``: :math:`LL - |P|`;
    - ``"extended-bic"``: :math:`BIC - \xi \log \left(\binom{m}{|U|} r^{|U|}\right)`;
    - ``"marginal"``: the Dirichlet marginal likelihood, which needs no penalty.

    With ``false_edges`` the score is the smaller of that, K(U), and

    .. math:: K(\varnothing) + LL(U) - LL(\varnothing) - g(U)

    where g(U) is what noise would gain (``gain_by_chance``): what a set is worth is bounded by how far its
    likelihood is beyond chance, whatever the criterion says. Where LL less a penalty is scored, that is to
    say: the penalty beyond that of no influencers is at least g(U).

    Attributes
    ----------
    kind : str
        The criterion, one of those above.
    alpha, prior : float, str
        The weight of the prior in every state, and what it is centred on.
    gamma, xi : float
        The weights of the penalties.
    false_edges : float or None
        How many edges a graph of noise may have on average; None: no bound.
    """

    kind: str = "bic"
    alpha: float = 0.1
    gamma: float = 1.0
    xi: float = 1.0
    prior: str = "uniform"
    false_edges: float | None = None

    def __post_init__(self) -> None:
        if self.kind not in SCORES:
            raise SettingError(f"criterion must be one of {', '.join(SCORES)}, not {self.kind!r}")
        check_positive("alpha", self.alpha)
        check_positive("gamma", self.gamma, zero=True)
        check_positive("xi", self.xi, zero=True)
        if self.false_edges is not None:
            check_positive("false_edges", self.false_edges)
        pseudo_counts([1, 1], self.alpha, self.prior)  # refuses an unknown prior

    def __call__(
        self,
        counts: npt.ArrayLike,
        n_influencers: int | IntArray,
        n_states: float | FloatArray,
        n_candidates: int,
        n_events: float | FloatArray,
        n_targets: int = 1,
        n_lookbacks: int = 1,
    ) -> FloatArray:
        """Score one table ``counts[s, x]``, or many along leading axes (the other arguments go along).

        ``n_targets`` is how many targets are learned together, ``n_lookbacks`` is r.

        >>> Scorer(alpha=1.0)([[8, 2], [1, 9]], 1, n_states=2, n_candidates=3, n_events=20).round(3)
        np.float64(-11.502)
        """
        n = np.asarray(counts, dtype=float)
        totals = np.empty(n.shape[-1]) if self.prior == "uniform" else n.sum(axis=-2, keepdims=True)
        pseudo = pseudo_counts(totals, self.alpha, self.prior)
        n_states = np.asarray(n_states, dtype=float)
        if self.false_edges is None:
            chance: float | FloatArray = 0.0
        else:
            beyond = (n.shape[-1] - 1) * np.maximum(n_states - 1, 0.0)
            n_choices = n_targets * n_candidates * n_lookbacks
            chance = gain_by_chance(n_influencers, beyond, n_choices, self.false_edges)
        if self.kind == "marginal":
            evidence = ordered_sum(log_evidence(n, pseudo))
            if self.false_edges is None:
                return evidence
            whole = n.sum(axis=-2, keepdims=True)
            bound = ordered_sum(log_evidence(whole, pseudo)) - log_likelihood(whole, pseudo) - chance
            return np.minimum(evidence, log_likelihood(n, pseudo) + bound)
        n_parameters = (n.shape[-1] - 1) * n_states
        penalty = self._penalty(n_parameters, n_events)
        if self.kind == "extended-bic":
            from scipy.special import gammaln

            m, u = n_candidates, np.asarray(n_influencers)
            log_sets = gammaln(m + 1) - gammaln(u + 1) - gammaln(m - u + 1) + u * math.log(n_lookbacks)
            penalty = penalty + self.xi * log_sets
        if self.false_edges is not None:
            penalty = np.maximum(penalty, self._penalty(n.shape[-1] - 1.0, n_events) + chance)
        return np.asarray(log_likelihood(n, pseudo) - penalty)

    def _penalty(self, n_parameters: float | FloatArray, n_events: float | FloatArray) -> float | FloatArray:
        """What AIC or BIC take off for a number of parameters."""
        if self.kind == "aic":
            return n_parameters
        if self.gamma == 0:  # nothing is taken off, even if there are infinitely many states
            return 0.0
        with np.errstate(over="ignore"):  # more than a float holds, which is infinitely many
            return np.asarray(float(self.gamma) * n_parameters * half_log(n_events))


def half_log(n_events: float | FloatArray) -> FloatArray:
    """What BIC takes off for a parameter, log(N) / 2; nothing where weights leave less than one event.

    >>> half_log(np.array([1.0, 0.01])).tolist()
    [0.0, 0.0]
    """
    return np.asarray(np.log(np.maximum(n_events, 1.0)) / 2)


def log_evidence(counts: npt.ArrayLike, pseudo: FloatArray) -> FloatArray:
    r"""Log marginal likelihood of each state's outcomes under its Dirichlet prior.

    .. math:: \log\frac{\Gamma(A)}{\Gamma(A + N(s))}
        + \sum_x \log\frac{\Gamma(\alpha_x + N(x;s))}{\Gamma(\alpha_x)}, \quad A = \sum_x \alpha_x

    ``counts[..., s, x]`` is N(x; s), ``pseudo[x]`` is :math:`\alpha_x`. With a pseudo-count of 1/2 it is what
    the estimator of Krichevsky and Trofimov gives to the whole.

    >>> np.exp(log_evidence([[2, 1], [0, 0]], np.array([0.5, 0.5]))).round(4)
    array([0.0625, 1.    ])
    """
    from scipy.special import betaln

    n = np.asarray(counts, dtype=float)
    prior = np.broadcast_to(pseudo, n.shape)
    # Outcome by outcome, against all before it; as differences of log-gamma it would lose many digits.
    before = np.cumsum(prior, axis=-1)[..., :-1]
    seen = np.cumsum(n, axis=-1)[..., :-1]
    each = betaln(before + seen, prior[..., 1:] + n[..., 1:]) - betaln(before, prior[..., 1:])
    return ordered_sum(each)
