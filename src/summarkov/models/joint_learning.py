"""How a joint model is learned from counts: weights, influencers, trees, edges."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import Any

import numpy as np

from summarkov.engines import CountSource, StateCounts, StatesRequest, Target
from summarkov.engines.followings import Asked, count_followed
from summarkov.errors import DataError
from summarkov.explain import Influence, effect_of
from summarkov.explain.following import follow_numbers
from summarkov.kernels import LevelArray
from summarkov.models.joint_features import N_HABITS, N_LAGS, PER_LABEL, JointFeatures, base_rates
from summarkov.models.joint_fitted import FittedJoint, halves, pooled
from summarkov.scores.kneser_ney import LastLabels
from summarkov.scores.softmax import Features, Weights, dense, log_likelihood, maximise, softmax, zero_weights
from summarkov.search.boosting import Boosting, Trees, boost
from summarkov.settings import OnStep, seed_of
from summarkov.summaries import Reach
from summarkov.summaries.profile import ProfileSummary
from summarkov.typing import BoolArray, CodeArray, FloatArray

#: A label's own past, its habits and its level have less of the penalty: there is more to learn of them.
OWN_SHARE, LEVEL_PENALTY = 0.1, 1e-3
#: Of a 95% interval.
_Z = 1.959963984540054
#: Of as many intervals as there are lags of an influencer, all of which hold at 95%.
_Z_LAGS = NormalDist().inv_cdf(1 - 0.025 / N_LAGS)


@dataclass(frozen=True)
class JointData:
    """What was counted: one row per state, with its features."""

    summary: ProfileSummary
    features: JointFeatures
    rows: Features
    levels: LevelArray
    counts: FloatArray  # [row, outcome]
    present: BoolArray  # [row, label]: whether it is in the window
    context: CodeArray  # [row, place]: the last labels

    @classmethod
    def of(cls, source: CountSource, target: Target, summary: ProfileSummary) -> JointData:
        """Count the states of a source, in one pass."""
        (table,) = source.count([StatesRequest(summary, (), target)])
        assert isinstance(table, StateCounts)
        counts = table.counts / source.scale
        if not counts.sum():
            raise DataError("there are no events to learn from; the sequences are all empty or have weight 0")
        rates = base_rates(source.label_counts / source.scale)
        features = JointFeatures(rates, target, summary.near[-1])
        profile = summary.read(table.keys, len(source.labels))
        rows = features.of(profile)
        levels = features.levels(profile, rows.own)
        present, context = np.asarray(profile.lag > 0), features.context(profile)
        return cls(summary, features, rows, levels, counts, present, context)

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

    def weights(
        self, penalty: float, chosen: BoolArray, on_step: OnStep, start: Weights | None = None
    ) -> Weights:
        """The best weights with these influencers."""
        if start is None:
            rates = self.features.outcome_rates
            zero = zero_weights(len(rates), self.features.n_shared, N_HABITS)
            start = replace(zero, level=np.log(rates))
        return maximise(self.rows, self.counts, self.penalties(penalty, chosen), start, on_step)

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

    def select(self, penalty: float, gamma: float, on_step: OnStep) -> tuple[Weights, BoolArray]:
        """Weights, and the influencers of each outcome, ``chosen[z, x]``: those worth their cost.

        All labels are fitted together; then those whose gain is not above ``gamma`` times their cost are left
        out and the rest is fitted again, until all that are left are worth it.
        """
        chosen = np.repeat(np.asarray(self.present.any(axis=0))[:, None], self._shape[1], axis=1)
        weights = self.weights(penalty, chosen, on_step)
        while gamma > 0:
            kept = chosen & (self.gains(weights) > gamma * self.costs(weights, penalty, chosen))
            if (kept == chosen).all():
                break
            chosen = kept
            weights = self.weights(penalty, chosen, on_step, self._without(weights, chosen))
        return weights, chosen

    @property
    def _shape(self) -> tuple[int, int]:
        return self.features.n_labels, self.features.target.n_outcomes

    def _without(self, weights: Weights, chosen: BoolArray) -> Weights:
        shared = weights.shared.copy()
        shared[: self.features.n_labels * PER_LABEL] *= np.repeat(chosen, PER_LABEL, axis=0)
        return replace(weights, shared=shared)

    def trees(
        self,
        start: FloatArray,
        chosen: BoolArray,
        how: Boosting,
        rounds: Sequence[int],
        seed: int,
        on_step: OnStep,
    ) -> Iterator[tuple[Trees, FloatArray]]:
        """Trees on top of ``start[row, x]`` that look at influencers, habits and place; and both added.

        After each of some numbers of rounds, see :func:`boost`.
        """
        allowed = self.features.tree_features(chosen)
        return boost(self.levels, self.counts, start, how, rounds, seed, allowed, on_step)


def learn_each(
    data: JointData,
    source: CountSource,
    settings: Mapping[str, Any],
    rounds: Sequence[int],
    shares: Sequence[float],
    on_step: OnStep,
) -> Iterator[tuple[FittedJoint, ...]]:
    """What is learned with each of these numbers of rounds, which grow; for each of some ``contexts``.

    The share of what followed the last labels changes neither weights nor trees, so one fit has them all. The
    other settings are those of a model.
    """
    most, penalty = rounds[-1], settings["penalty"]
    weights, chosen = data.select(penalty, settings["gamma"], lambda left: on_step(left + 2 * most + 1))
    how = Boosting(leaves=settings["leaves"], learning_rate=settings["learning_rate"])
    grow = chosen, how, rounds, seed_of(settings["seed"], settings["random_state"])
    on_top = data.trees(data.rows.logits(weights), *grow, lambda left: on_step(left + most + 1))
    by_themselves = data.trees(data.features.usual(len(data.counts)), *grow, lambda left: on_step(left + 1))
    last = LastLabels.of(data.context, data.counts) if any(shares) else None
    after = None if last is None else last.at(data.context)
    edges = tuple(joint_edges(data, weights, chosen, penalty, source.labels))
    edges = with_followings(edges, source, Reach(0, settings["lookback"]))
    gains, label_counts = data.gains(weights), np.asarray(source.label_counts / source.scale)
    for n, (trees, said), (alone, said_alone) in zip(rounds, on_top, by_themselves, strict=True):
        both = halves(said, said_alone if n else None)
        yield tuple(
            FittedJoint(
                summary=data.summary,
                labels=tuple(source.labels),
                features=data.features,
                weights=weights,
                chosen=chosen,
                trees=trees,
                alone=alone,
                last=last if share else None,
                edges=edges,
                gains=gains,
                log_likelihood=log_likelihood(pooled(both, after, share), data.counts),
                n_sequences=source.n_sequences,
                label_counts=label_counts,
                settings={**settings, "rounds": n, "contexts": share},
            )
            for share in shares
        )


def joint_edges(
    data: JointData, weights: Weights, chosen: BoolArray, penalty: float, labels: Sequence[str]
) -> Iterator[Influence]:
    r"""An edge for each influencer of each target, with the factor of its odds and an interval.

    With a the mean features of z over the positions at which it is in the window, the factor is :math:`e^{a
    \cdot w}`. Its variance is :math:`a^T (H + \Lambda)^{-1} a`, H the information of the likelihood about the
    weights of z (all others held) and :math:`\Lambda` their penalties.
    """
    variance, n = data.variance(weights), data.counts.sum(axis=1)
    penalties = data.penalties(penalty, chosen)
    hits = data.counts.sum(axis=0)
    for z, influences in enumerate(chosen):
        targets = np.flatnonzero(influences[: len(data.features.target.codes)])
        here = np.flatnonzero(data.present[:, z])
        if not len(targets) or not n[here].sum():
            continue
        columns = data.features.columns(z)
        seen = dense(data.rows.shared[here][:, columns])
        mean = n[here] @ seen / n[here].sum()
        for x in targets.tolist():
            information = seen.T @ (variance[here, x, None] * seen) + np.diag(penalties.shared[columns, x])
            log_factor = float(mean @ weights.shared[columns, x])
            width = _Z * math.sqrt(float(mean @ np.linalg.solve(information, mean)))
            low, high = math.exp(log_factor - width), math.exp(log_factor + width)
            effect, depends = effect_of(low, high), ""
            if effect == "unclear" and (depends := _by_lag(data, z, weights.shared[columns, x], information)):
                effect = "mixed"
            hits_with, n_with = float(data.counts[here, x].sum()), float(n[here].sum())
            yield Influence(
                influencer=labels[z],
                target=labels[data.features.target.codes[x]],
                effect=effect,
                ratio=math.exp(log_factor),
                low=low,
                high=high,
                hits_with=hits_with,
                n_with=n_with,
                hits_without=float(hits[x]) - hits_with,
                n_without=float(n.sum()) - n_with,
                interval="likelihood",
                depends=depends,
            )


def with_followings(edges: Sequence[Influence], source: CountSource, window: Reach) -> tuple[Influence, ...]:
    """Edges with how often each target follows its influencer within the window."""
    code = {label: at for at, label in enumerate(source.labels)}
    asked = [Asked((code[edge.influencer],), (window,), (code[edge.target],)) for edge in edges]
    return tuple(
        edge if found is None else replace(edge, **follow_numbers(found.of(0, 0)))
        for edge, found in zip(edges, count_followed(source, asked), strict=True)
    )


def _by_lag(data: JointData, label: int, weights: FloatArray, information: FloatArray) -> str:
    """When an influencer amplifies and when it inhibits, where it surely does both; else nothing.

    Sure is what holds for all lags of ``recency_`` together, by Bonferroni.
    """
    lags, rows = data.features.by_lag(label)
    width = _Z_LAGS * np.sqrt((rows * np.linalg.solve(information, rows.T).T).sum(axis=1))
    more, less = (
        [lag for lag, is_sure in zip(lags, side @ weights > width, strict=True) if is_sure]
        for side in (rows, -rows)
    )
    if not (more and less):
        return ""
    return f"more likely {', '.join(more)} events after it, less likely {', '.join(less)}"
