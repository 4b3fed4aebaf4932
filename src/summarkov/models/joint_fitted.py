"""What a joint model has learned, what follows from it, and why a label is likely now."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from summarkov.errors import SettingError
from summarkov.explain import Influence
from summarkov.explain.shares import Share, SharedExplanation, ordered
from summarkov.kernels import Index, LevelArray
from summarkov.models.joint_features import PER_LABEL, WITHIN, JointFeatures
from summarkov.models.next_event import Distribution
from summarkov.scores.softmax import Features, Weights, dense, softmax
from summarkov.search.boosting import Trees
from summarkov.summaries import Memory
from summarkov.summaries.profile import ProfileSummary
from summarkov.typing import BoolArray, FloatArray, IntArray


@dataclass(frozen=True)
class FittedJoint(Distribution):
    """Weights, influencers and trees of a joint model.

    With trees, the logarithm of a probability is the mean of two: that of the weights with ``trees`` on top,
    and that of the trees ``alone``, which start from base rates. Each has as many rounds as the other.
    """

    summary: ProfileSummary
    vocabulary: tuple[str, ...]
    features: JointFeatures
    weights: Weights
    chosen: BoolArray  # [z, x]: whether z is an influencer of x
    trees: Trees
    alone: Trees
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
        levels = self.features.levels(profile, rows.own) if len(self.trees) else None
        return softmax(logits(rows, levels, self.features, self.weights, self.trees, self.alone))

    def stopped(self, rounds: int) -> FittedJoint:
        """The same with the trees of the first rounds only."""
        return replace(self, trees=self.trees.first(rounds), alone=self.alone.first(rounds))

    def by_recency(self, influencer: str, outcome: int) -> dict[str, float]:
        """The factor of an outcome's odds by how long ago an influencer occurred, once in a long past."""
        z, seen = self.labels.index(influencer), WITHIN[-1] + 1
        columns = self.features.columns(z)
        weights = self.weights.shared[columns, outcome]
        lags = np.array([*WITHIN, seen])
        features = self.features.once(z, lags, np.maximum(lags, WITHIN[-1]))
        names = [*map(str, WITHIN), f"{seen}+"]
        return dict(zip(names, np.exp(features @ weights).tolist(), strict=True))

    def explain(self, index: Index, ends: IntArray, outcome: int) -> SharedExplanation:
        """Why an outcome has its probability at one place: a product of factors."""
        profile = self.summary.read(self.summary.rows(index, ends), len(self.labels))
        features = self.features.of(profile)
        row, half = dense(features.shared)[0], 0.5 if len(self.trees) else 1.0
        weights = half * self.weights.shared[:, outcome]
        found = []
        for z in np.flatnonzero(profile.lag[0]).tolist():
            if self.chosen[z, outcome]:
                columns = self.features.columns(z)
                factor = math.exp(float(row[columns] @ weights[columns]))
                found.append(Share(self.labels[z], int(profile.lag[0, z]), factor))
        start = PER_LABEL * len(self.labels)
        place = math.exp(float(row[start:] @ weights[start:]))
        habits = math.exp(half * float(features.own[:, 0, outcome] @ self.weights.own[:, outcome]))
        said = np.zeros((1, self.features.target.n_outcomes))
        for trees in (self.trees, self.alone):
            if len(trees):
                trees.add_to(said, self.features.levels(profile, features.own))
        by_trees = math.exp(half * float(said[0, outcome]))
        probability = float(self.at(index, ends)[0, outcome])
        base_rate = float(self.features.outcome_rates[outcome])
        told = math.prod(share.factor for share in found) * place * habits * by_trees
        return SharedExplanation(
            target=self.labels[self.features.target.codes[outcome]],
            probability=probability,
            base_rate=base_rate,
            shares=ordered(found),
            habits=habits,
            place=place,
            trees=by_trees,
            competition=probability / (base_rate * told),
        )


def logits(
    rows: Features,
    levels: LevelArray | None,
    features: JointFeatures,
    weights: Weights,
    trees: Trees,
    alone: Trees,
) -> FloatArray:
    """The logarithms of probabilities, up to a number per row; trees need ``levels``."""
    found = rows.logits(weights)
    if levels is None or not len(trees):
        return found
    trees.add_to(found, levels)
    other = np.tile(np.log(features.outcome_rates), (len(found), 1))
    alone.add_to(other, levels)
    return np.asarray(0.5 * (found + other))
