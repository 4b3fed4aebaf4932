"""How a joint model is learned from counts: weights, then influencers, then trees."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from summarkov.engines import CountSource, StateCounts, StatesRequest, Target
from summarkov.errors import DataError
from summarkov.kernels import LevelArray
from summarkov.models.joint_features import N_HABITS, PER_LABEL, JointFeatures, base_rates, tree_levels
from summarkov.scores.softmax import Features, Weights, log_likelihood, maximise, softmax, zero_weights
from summarkov.search.boosting import Boosting, Trees, boost
from summarkov.summaries.profile import ProfileSummary
from summarkov.typing import BoolArray, FloatArray

#: A label's own past, its habits and its level have less of the penalty: there is more to learn of them.
OWN_SHARE, LEVEL_PENALTY = 0.1, 1e-3


@dataclass(frozen=True)
class JointData:
    """What was counted: one row per state, with its features."""

    summary: ProfileSummary
    features: JointFeatures
    rows: Features
    levels: LevelArray
    counts: FloatArray  # [row, outcome]
    present: BoolArray  # [row, label]: whether it is in the window

    @classmethod
    def of(cls, source: CountSource, target: Target, summary: ProfileSummary) -> JointData:
        """Count the states of a source, in one pass."""
        (table,) = source.count([StatesRequest(summary, (), target)])
        assert isinstance(table, StateCounts)
        counts = table.counts / source.scale
        if not counts.sum():
            raise DataError("there are no events to learn from; the sequences are all empty or have weight 0")
        rates = base_rates(source.label_counts / source.scale)
        features = JointFeatures(rates, target, summary.near)
        profile = summary.read(table.keys, len(source.labels))
        return cls(
            summary, features, features.of(profile), tree_levels(profile), counts, np.asarray(profile.lag > 0)
        )

    def penalties(self, penalty: float, chosen: BoolArray) -> Weights:
        """The penalty of every weight; infinite for labels that are no influencer (``chosen[z, x]``)."""
        m, target = self.features.n_labels, self.features.target
        each = np.full((m, target.n_outcomes), float(penalty))
        each[list(target.codes), np.arange(len(target.codes))] *= OWN_SHARE
        each[~chosen] = np.inf
        shared = np.full((self.features.n_shared, target.n_outcomes), float(penalty))
        shared[: m * PER_LABEL] = np.repeat(each, PER_LABEL, axis=0)
        own = np.full((N_HABITS, target.n_outcomes), penalty * OWN_SHARE)
        return Weights(np.full(target.n_outcomes, LEVEL_PENALTY), shared, own)

    def weights(self, penalty: float, chosen: BoolArray, start: Weights | None = None) -> Weights:
        """The best weights with these influencers."""
        if start is None:
            rates = self.features.outcome_rates
            zero = zero_weights(len(rates), self.features.n_shared, N_HABITS)
            start = replace(zero, level=np.log(rates))
        return maximise(self.rows, self.counts, self.penalties(penalty, chosen), start)

    def gains(self, weights: Weights) -> FloatArray:
        r"""What the log-likelihood loses without each influencer of each outcome: ``[z, x]`` in nats.

        With :math:`c_s` what z adds to the logarithm of x, and d that less its mean over the events x, it is

        .. math:: \sum_s N(x; s) d_s + N(s) \log (1 - p(x|s) + p(x|s) e^{-d_s})

        exactly, where its place is taken by its mean and all other weights stay.
        """
        p, n = softmax(self.rows.logits(weights)), self.counts.sum(axis=1)
        hits = np.maximum(self.counts.sum(axis=0), 1e-300)
        found = np.zeros(self._shape)
        for z in range(len(found)):
            columns = self.features.columns(z)
            added = np.asarray(self.rows.shared[:, columns] @ weights.shared[columns])
            rest = added - (self.counts * added).sum(axis=0) / hits
            found[z] = (self.counts * rest).sum(axis=0) + n @ np.log1p(p * np.expm1(-rest))
        return found

    def variance(self, weights: Weights) -> FloatArray:
        """N(s) p (1 - p) of every row and outcome."""
        p = softmax(self.rows.logits(weights))
        return np.asarray(self.counts.sum(axis=1, keepdims=True) * p * (1 - p))

    def costs(self, weights: Weights, penalty: float, chosen: BoolArray) -> FloatArray:
        """What each influencer costs: log(N) / 2 for each weight that is not held by its penalty.

        A weight with the curvature h of the likelihood counts as h / (h + penalty).
        """
        curvature = self.rows.sums(self.variance(weights), power=2).shared[
            : self.features.n_labels * PER_LABEL
        ]
        strength = self.penalties(penalty, np.ones_like(chosen)).shared[: len(curvature)]
        free = (curvature / (curvature + strength)).reshape(len(chosen), PER_LABEL, -1).sum(axis=1)
        return np.asarray(free * 0.5 * np.log(max(self.counts.sum(), 2.0)))

    def select(self, penalty: float, gamma: float) -> tuple[Weights, BoolArray]:
        """Weights, and the influencers of each outcome, ``chosen[z, x]``: those worth their cost.

        All labels are fitted together; then those whose gain is not above ``gamma`` times their cost are left
        out and the rest is fitted again, until all that are left are worth it.
        """
        chosen = np.repeat(np.asarray(self.present.any(axis=0))[:, None], self._shape[1], axis=1)
        weights = self.weights(penalty, chosen)
        while gamma > 0:
            kept = chosen & (self.gains(weights) > gamma * self.costs(weights, penalty, chosen))
            if (kept == chosen).all():
                break
            chosen = kept
            start = self._without(weights, chosen)
            weights = self.weights(penalty, chosen, start)
        return weights, chosen

    @property
    def _shape(self) -> tuple[int, int]:
        return self.features.n_labels, self.features.target.n_outcomes

    def _without(self, weights: Weights, chosen: BoolArray) -> Weights:
        shared = weights.shared.copy()
        shared[: self.features.n_labels * PER_LABEL] *= np.repeat(chosen, PER_LABEL, axis=0)
        return replace(weights, shared=shared)

    def trees(
        self, weights: Weights, chosen: BoolArray, how: Boosting, rounds: int, seed: int
    ) -> Iterator[Trees]:
        """The trees of every round, on top of the weights; each looks at its outcome's influencers only."""
        allowed = np.concatenate([np.tile(chosen, (3, 1)), np.ones((1, chosen.shape[1]), bool)])
        return boost(self.levels, self.counts, self.rows.logits(weights), how, rounds, seed, allowed)

    def log_likelihood(self, weights: Weights, trees: Trees) -> float:
        """Log-likelihood of what was counted."""
        logits = self.rows.logits(weights)
        if len(trees):
            trees.add_to(logits, self.levels)
        return log_likelihood(logits, self.counts)
