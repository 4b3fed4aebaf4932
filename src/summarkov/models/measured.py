"""How well predictions fit what happened, wherever the events are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from summarkov.engines import EventSource
from summarkov.engines.messages import travels
from summarkov.engines.source import refuse_weights
from summarkov.engines.views import recoded
from summarkov.engines.weights import fixed_point
from summarkov.engines.work import Part
from summarkov.io import read_events
from summarkov.kernels import Index
from summarkov.models.bag import Bag
from summarkov.models.graph import InfluenceGraph
from summarkov.models.streaming import joint_probabilities
from summarkov.scores.sums import ExactSum
from summarkov.typing import FloatArray


@travels
@dataclass(frozen=True)
class Measured:
    """Sums over events: of weights, of w log p of what happened, and of w times the squared error.

    The sums are exact, so they do not depend on where the events are nor on how they are cut.
    """

    weight: ExactSum = field(default_factory=ExactSum)
    logs: ExactSum = field(default_factory=ExactSum)
    squares: ExactSum = field(default_factory=ExactSum)

    @property
    def log_likelihood(self) -> float:
        """Summed over all events."""
        return float(self.logs)

    @property
    def score(self) -> float:
        """Mean log-likelihood an event."""
        return float(self.logs) / max(float(self.weight), 1e-300)

    @property
    def brier(self) -> float:
        """Mean over events of the squared error, summed over outcomes."""
        return float(self.squares) / max(float(self.weight), 1e-300)

    @classmethod
    def of(cls, p: FloatArray, outcome: npt.NDArray[np.integer], weight: FloatArray) -> Measured:
        """Measure probabilities ``p[i, x]`` of events whose outcomes were these; -1 is not counted."""
        known = np.flatnonzero(outcome >= 0)
        hit, weight = p[known, outcome[known]], weight[known]
        squares = 1 - 2 * hit + (p[known] ** 2).sum(axis=1)
        with np.errstate(divide="ignore"):
            terms = (weight, weight * np.log(hit), weight * squares)
        return cls(*map(ExactSum.of, terms))

    def __add__(self, other: Measured) -> Measured:
        return Measured(self.weight + other.weight, self.logs + other.logs, self.squares + other.squares)


@dataclass(frozen=True)
class MeasureWork:
    """Measures the predictions of a graph or a bag on every part of a source."""

    model: InfluenceGraph | Bag

    def run(self, part: Part) -> Measured:
        """Block by block."""
        found = Measured()
        for _, index, p in joint_probabilities(self.model, part):
            found += Measured.of(p, outcomes_of(self.model, index), np.ones(len(p)))
        return found

    def total(self, answers: Sequence[Measured]) -> Measured:
        """Add up several parts."""
        return sum(answers, Measured())


def outcomes_of(model: InfluenceGraph | Bag, index: Index) -> npt.NDArray[np.integer]:
    """The column of the probabilities that came true at every event; -1 for none."""
    if isinstance(model, InfluenceGraph):
        return index.codes
    return np.asarray(model.models_[0].fitted.target.outcome_of()[index.codes])


def measure(model: InfluenceGraph | Bag, events: Any, unknown: str, sample_weight: Any = None) -> Measured:
    """Measure the predictions of a graph or a bag on events, or on a source of them."""
    if isinstance(events, EventSource):
        refuse_weights(events, sample_weight)
        return recoded(events, model.labels_, unknown).run(MeasureWork(model))
    data = read_events(events).recode(model.labels_, unknown=unknown)
    weights, scale = fixed_point(sample_weight, len(data))
    each = np.ones(len(data)) if weights is None else weights / scale
    index = Index(data.codes, data.offsets, len(data.labels))
    p = model.predict_proba(data, unknown="ignore")
    return Measured.of(p, outcomes_of(model, index), np.repeat(each, data.lengths))
