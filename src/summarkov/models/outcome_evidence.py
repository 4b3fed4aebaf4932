"""How well a model of outcomes predicts, and how far its influences can be trusted."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from typing import Any

from summarkov.confidence import Confidence, OrderTest
from summarkov.engines.endings import EndedSource
from summarkov.events.vocabulary import Unknown
from summarkov.io import read_events
from summarkov.models.bootstrap import bootstrap
from summarkov.models.model import SummaryModel
from summarkov.models.order import order_test
from summarkov.settings import Progress, seed_of


class OutcomeEvidence(ABC):
    """Something fitted that tells how sequences end, with data that tell how they did."""

    @property
    @abstractmethod
    def model_(self) -> SummaryModel:
        """The model of the outcome: one with the outcome and its opposite as target."""

    @property
    @abstractmethod
    def name_(self) -> str:
        """The outcome."""

    @abstractmethod
    def _again(self, events: Any, y: Any, sample_weight: Any) -> EndedSource:
        """Sequences that end in what was learned, or not."""

    def score(
        self, events: Any, y: Any = None, *, unknown: Unknown = "error", sample_weight: Any = None
    ) -> float:
        """Mean log-likelihood, per sequence, of how new sequences ended; ``y`` as in ``fit``."""
        return self.model_.score(self._again(read_events(events), y, sample_weight).events(), unknown=unknown)

    def confidence(
        self,
        events: Any,
        y: Any = None,
        *,
        n: int = 100,
        seed: int = 0,
        random_state: int | None = None,
        level: float = 0.95,
        sample_weight: Any = None,
        progress: Progress = None,
    ) -> Confidence:
        """How sure each influence is, from resampled sequences; see ``InfluenceGraph.confidence``."""
        source = self._again(events, y, sample_weight)
        seed = seed_of(seed, random_state)
        found = bootstrap([self.model_], source, n=n, seed=seed, level=level, progress=progress)
        mine = tuple(edge for edge in found.edges if edge.target == self.name_)
        return replace(found, edges=mine, seldom=tuple(one for one in found.seldom if one[1] == self.name_))

    def order_test(
        self,
        events: Any,
        y: Any = None,
        *,
        n: int = 99,
        within: Any = None,
        seed: int = 0,
        random_state: int | None = None,
        sample_weight: Any = None,
        progress: Progress = None,
    ) -> OrderTest:
        """Which influences are about the order of events; see ``InfluenceGraph.order_test``."""
        source = self._again(events, y, sample_weight)
        seed = seed_of(seed, random_state)
        return order_test([self.model_], source, n=n, within=within, seed=seed, progress=progress)
