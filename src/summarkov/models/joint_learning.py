"""How a joint model is learned from counts: weights, influencers, trees, edges; and what follows."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import Any

import numpy as np

from summarkov.engines import CountSource, StateCounts, StatesRequest, Target
from summarkov.errors import DataError, SettingError
from summarkov.explain import Influence, effect_of
from summarkov.explain.explanation import Share, SharedExplanation, ordered
from summarkov.kernels import Index, LevelArray
from summarkov.models.joint_features import N_HABITS, N_LAGS, PER_LABEL, JointFeatures, base_rates
from summarkov.models.next_event import Distribution
from summarkov.scores.kneser_ney import LastLabels
from summarkov.scores.softmax import Features, Weights, dense, maximise, softmax, zero_weights
from summarkov.search.boosting import Boosting, Trees, boost
from summarkov.settings import OnStep
from summarkov.summaries import Memory
from summarkov.summaries.profile import ProfileSummary
from summarkov.typing import BoolArray, CodeArray, FloatArray, IntArray


@dataclass(frozen=True)
class FittedJoint(Distribution):
    """Weights, influencers and trees of a joint model.

    With trees, the logarithm of a probability is the mean of two: that of the weights with ``trees`` on top,
    and that of the trees ``alone``, which start from base rates. Each has as many rounds as the other.
    Beside them, what followed the last labels in all sequences (``last``) has its share, if asked for.
    """

    summary: ProfileSummary
    vocabulary: tuple[str, ...]
    features: JointFeatures
    weights: Weights
    chosen: BoolArray  # [z, x]: whether z is an influencer of x
    trees: Trees
    alone: Trees
    last: LastLabels | None
    edges: tuple[Influence, ...]
    gains: FloatArray  # [z, x]
    log_likelihood: float
    n_sequences: int
    label_counts: FloatArray
    settings: Mapping[str, Any]

    @property
    def labels(self) -> tuple[str, ...]:
        return self.vocabulary

    @property
    def memory(self) -> Memory:
        return self.summary.memory()

    @property
    def n_events(self) -> float:
        """How many events it was learned from."""
        return float(self.label_counts.sum())

    def check_complete(self) -> None:
        if self.features.target.has_residual:
            raise SettingError("this needs all labels told apart; fit the model without targets=")

    def at(self, index: Index, positions: IntArray | slice = slice(None)) -> FloatArray:
        profile = self.summary.read(self.summary.rows(index, positions), len(self.labels))
        rows = self.features.of(profile)
        found, alone = rows.logits(self.weights), None
        if len(self.trees):
            levels = self.features.levels(profile, rows.own)
            self.trees.add_to(found, levels)
            alone = self.features.usual(len(found))
            self.alone.add_to(alone, levels)
        after = None if self.last is None else self.last.at(self.features.context(profile))
        return softmax(pooled(found, alone, after, self.contexts))

    @property
    def contexts(self) -> float:
        """The share of what followed the last labels."""
        return float(self.settings["contexts"])

    def by_recency(self, influencer: str, outcome: int) -> dict[str, float]:
        """The factor of an outcome's odds by how long ago an influencer occurred, once in a long past."""
        z = self.labels.index(influencer)
        lags, rows = self.features.by_lag(z)
        weights = self.weights.shared[self.features.columns(z), outcome]
        return dict(zip(lags, np.exp(rows @ weights).tolist(), strict=True))

    def explain(self, index: Index, ends: IntArray, outcome: int) -> SharedExplanation:
        """Why an outcome has its probability at one place: a product of factors."""
        profile = self.summary.read(self.summary.rows(index, ends), len(self.labels))
        features = self.features.of(profile)
        row, half = dense(features.shared)[0], (1 - self.contexts) * (0.5 if len(self.trees) else 1.0)
        weights = half * self.weights.shared[:, outcome]
        found = []
        for z in np.flatnonzero(profile.lag[0]).tolist():
            if self.chosen[z, outcome]:
                columns = self.features.columns(z)
                factor = math.exp(float(row[columns] @ weights[columns]))
                found.append(Share(self.labels[z], int(profile.lag[0, z]), factor))
        start, base_rate = PER_LABEL * len(self.labels), float(self.features.outcome_rates[outcome])
        level = half * (float(self.weights.level[outcome]) - math.log(base_rate))
        place = math.exp(level + float(row[start:] @ weights[start:]))
        habits = math.exp(half * float(features.own[:, 0, outcome] @ self.weights.own[:, outcome]))
        said = np.zeros((1, self.features.target.n_outcomes))
        for trees in (self.trees, self.alone):
            if len(trees):
                trees.add_to(said, self.features.levels(profile, features.own))
        by_trees = math.exp(half * float(said[0, outcome]))
        probability = float(self.at(index, ends)[0, outcome])
        after = 1.0
        if self.last is not None:
            said_after = float(self.last.at(self.features.context(profile))[0, outcome])
            after = (said_after / base_rate) ** self.contexts
        told = math.prod(share.factor for share in found) * place * habits * by_trees * after
        return SharedExplanation(
            target=self.labels[self.features.target.codes[outcome]],
            probability=probability,
            base_rate=base_rate,
            shares=ordered(found),
            habits=habits,
            place=place,
            trees=by_trees,
            contexts=after,
            competition=probability / (base_rate * told),
        )


def pooled(
    found: FloatArray, alone: FloatArray | None, after: FloatArray | None, contexts: float
) -> FloatArray:
    """The logarithms of probabilities, up to a number per row.

    The mean of weights with trees on top (``found``) and of trees ``alone``; beside it, with the share
    ``contexts``, the logarithms of ``after``, the probabilities after the last labels.
    """
    both = found if alone is None else 0.5 * (found + alone)
    return both if after is None else (1 - contexts) * both + contexts * np.log(after)


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
