"""What a joint model has learned, and what it says of histories."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from summarkov.engines import Layout
from summarkov.errors import SettingError
from summarkov.events import EventSequences
from summarkov.events.vocabulary import Unknown
from summarkov.explain import Influence
from summarkov.explain.explanation import Share, SharedExplanation, ordered
from summarkov.kernels import Index
from summarkov.models.distribution import OTHER, Distribution, Residual
from summarkov.models.joint_features import PER_LABEL, JointFeatures
from summarkov.models.learning import check_in_a_row
from summarkov.scores.kneser_ney import LastLabels
from summarkov.scores.softmax import Weights, dense, softmax
from summarkov.search.boosting import Trees
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
    labels: tuple[str, ...]
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
    def outcomes(self) -> tuple[str | Residual, ...]:
        target = self.features.target
        names = tuple(self.labels[code] for code in target.codes)
        return (*names, OTHER) if target.has_residual else names

    @property
    def outcome_of(self) -> CodeArray:
        return self.features.target.outcome_of()

    @property
    def horizon(self) -> int | None:
        return self.summary.horizon

    @property
    def overall(self) -> FloatArray:
        return self.features.outcome_rates

    def read(self, events: Any, unknown: Unknown = "error") -> EventSequences:
        data = super().read(events, unknown)
        check_in_a_row("JointSuMM", Layout(data.moments is not None and data.moments.has_ticks))
        return data

    @property
    def n_events(self) -> float:
        """How many events it was learned from."""
        return float(self.label_counts.sum())

    def after(self, histories: CodeArray) -> FloatArray:
        if self.features.target.has_residual:
            raise SettingError("this needs all labels told apart; fit the model without targets=")
        return super().after(histories)

    def at(self, index: Index, positions: IntArray | slice = slice(None)) -> FloatArray:
        return self.with_last(*self.without_last(index, positions))

    def without_last(
        self, index: Index, positions: IntArray | slice = slice(None)
    ) -> tuple[FloatArray, CodeArray]:
        """What weights and trees say at some positions, as logarithms; and the last labels there."""
        profile = self.summary.read(self.summary.rows(index, positions), len(self.labels))
        rows = self.features.of(profile)
        found, alone = rows.logits(self.weights), None
        if len(self.trees):
            levels = self.features.levels(profile, rows.own)
            self.trees.add_to(found, levels)
            alone = self.features.usual(len(found))
            self.alone.add_to(alone, levels)
        return halves(found, alone), self.features.context(profile)

    def with_last(self, both: FloatArray, context: CodeArray) -> FloatArray:
        """Probabilities from what :meth:`without_last` tells."""
        after = None if self.last is None else self.last.at(context)
        return softmax(pooled(both, after, self.contexts))

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
        start, rates = PER_LABEL * len(self.labels), self.features.outcome_rates
        level = self.weights.level + row[start:] @ self.weights.shared[start:]
        there = np.exp(half * (level - np.log(rates)))
        base_rate, place = float(rates[outcome]), float(there[outcome] / (rates @ there))
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


def halves(found: FloatArray, alone: FloatArray | None) -> FloatArray:
    """The mean of weights with trees on top (``found``) and of trees ``alone``, if there are any."""
    return found if alone is None else 0.5 * (found + alone)


def pooled(both: FloatArray, after: FloatArray | None, contexts: float) -> FloatArray:
    """The logarithms of probabilities, up to a number per row.

    Beside what weights and trees say stand, with the share ``contexts``, the logarithms of ``after``, the
    probabilities after the last labels.
    """
    return both if after is None or not contexts else (1 - contexts) * both + contexts * np.log(after)
