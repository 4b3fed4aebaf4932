"""How well models predict new events, from how often each of their states was followed by what."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from summarkov.engines import CountSource, StateCounts
from summarkov.models.fitted import Fitted
from summarkov.typing import FloatArray


@dataclass(frozen=True)
class Evaluated:
    """One model on new events."""

    n: FloatArray  # N(x; s) there
    theta: FloatArray  # of the same states

    @property
    def log_likelihood(self) -> float:
        """Summed over all positions."""
        return float((self.n * np.log(self.theta)).sum())

    @property
    def score(self) -> float:
        """Mean log-likelihood an event."""
        return self.log_likelihood / max(float(self.n.sum()), 1e-300)

    @property
    def brier(self) -> float:
        """Mean of (p - [it occurred])^2 for one label; for several the sum over the outcomes of that."""
        squares = 1 - 2 * self.theta + (self.theta**2).sum(axis=1, keepdims=True)
        total = float((self.n * squares).sum() / max(self.n.sum(), 1e-300))
        return total / 2 if self.n.shape[1] == 2 else total


def evaluate(models: Sequence[Fitted], source: CountSource) -> list[Evaluated]:
    """Evaluate models on events in their vocabulary, in one pass."""
    found = []
    for fitted, table in zip(models, source.count([each.request for each in models]), strict=True):
        assert isinstance(table, StateCounts)
        found.append(Evaluated(table.counts / source.scale, fitted.theta[fitted.rows(table.keys)]))
    return found
