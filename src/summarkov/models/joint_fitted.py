"""What a joint model has learned, and what follows from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from summarkov.errors import SettingError
from summarkov.explain import Influence
from summarkov.kernels import Index
from summarkov.models.joint_features import JointFeatures, tree_levels
from summarkov.models.next_event import Distribution
from summarkov.scores.softmax import Weights, softmax
from summarkov.search.boosting import Trees
from summarkov.summaries.profile import ProfileSummary
from summarkov.typing import BoolArray, FloatArray, IntArray


@dataclass(frozen=True)
class FittedJoint(Distribution):
    """Weights, influencers and trees of a joint model."""

    summary: ProfileSummary
    vocabulary: tuple[str, ...]
    features: JointFeatures
    weights: Weights
    chosen: BoolArray  # [z, x]: whether z is an influencer of x
    trees: Trees
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
    def memory(self) -> tuple[int, int | None]:
        return self.summary.memory()

    def check_complete(self) -> None:
        if self.features.target.has_residual:
            raise SettingError("this needs all labels told apart; fit the model without targets=")

    def at(self, index: Index, positions: IntArray | slice = slice(None)) -> FloatArray:
        profile = self.summary.read(self.summary.rows(index, positions), len(self.labels))
        logits = self.features.of(profile).logits(self.weights)
        if len(self.trees):
            self.trees.add_to(logits, tree_levels(profile))
        return softmax(logits)

    def stopped(self, rounds: int) -> FittedJoint:
        """The same with the trees of the first rounds only."""
        return replace(self, trees=self.trees.first(rounds))
