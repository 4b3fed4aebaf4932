"""What takes part in a comparison: anything that gives a target's probability at every position."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np

from summarkov.engines import EventSource, joint_memory
from summarkov.events import EventSequences
from summarkov.kernels import Index
from summarkov.models import InfluenceGraph, SummaryModel, TreeSuMM
from summarkov.typing import FloatArray

#: What models are fitted to and measured on.
Data = EventSequences | EventSource


class Predictor(Protocol):
    """Something fitted."""

    def probability(self, events: EventSequences, target: str) -> FloatArray:
        """Probability of the target at every position of events over the training vocabulary."""

    def influencers(self, target: str) -> tuple[str, ...] | None:
        """The labels that the target's probability depends on; None where that means nothing."""


@runtime_checkable
class PiecewisePredictor(Predictor, Protocol):
    """One that can be asked piece by piece, and so about events that are not in memory together."""

    def memory(self) -> tuple[int, int | None]:
        """What must be remembered of a sequence that is cut, as :meth:`Summary.memory` tells it."""

    def at(self, index: Index, target: str) -> FloatArray:
        """Probability of the target at every position of a piece."""

    def only(self, target: str) -> PiecewisePredictor:
        """What is needed for one target, so that nothing else need be kept, or sent to where events are."""


class Contender(Protocol):
    """Something to be tuned and compared.

    One that can be fitted to a source of events (:class:`EventSource`) too says so by a class attribute,
    ``takes_sources = True``, and yields predictors that are :class:`PiecewisePredictor`.
    """

    @property
    def name(self) -> str:
        """What the tables call it."""

    def candidates(
        self, train: EventSequences, targets: Sequence[str]
    ) -> Iterator[tuple[dict[str, Any], Predictor]]:
        """Fit to ``train`` with each of the settings to choose from; yield settings and what was fitted.

        What was fitted stays as it is: the predictor that turns out best is asked again at the end.
        """


@dataclass(frozen=True)
class ModelsPredictor:
    """The fitted model of every target as a predictor."""

    models: Mapping[str, SummaryModel]

    def probability(self, events: EventSequences, target: str) -> FloatArray:
        """That of the target's own model, which no graph has normalised."""
        return np.asarray(self.models[target].predict_proba(events)[:, 0])

    def influencers(self, target: str) -> tuple[str, ...] | None:
        """As learned."""
        return self.models[target].influencers_

    def memory(self) -> tuple[int, int | None]:
        """What all summaries need."""
        return joint_memory(model.fitted.summary for model in self.models.values())

    def at(self, index: Index, target: str) -> FloatArray:
        """The target's own model, on a piece."""
        fitted = self.models[target].fitted
        return np.asarray(fitted.theta[fitted.predict(index), 0])

    def only(self, target: str) -> ModelsPredictor:
        """One of the models."""
        return ModelsPredictor({target: self.models[target]})


@dataclass(frozen=True)
class ModelContender:
    """One of our models with a grid of settings, fitted to all targets together."""

    name: str
    template: SummaryModel
    grid: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    n_jobs: int | None = field(default=None, repr=False)  # changes nothing but the time
    takes_sources: ClassVar[bool] = True

    def candidates(self, train: Data, targets: Sequence[str]) -> Iterator[tuple[dict[str, Any], Predictor]]:
        """Every combination of the grid."""
        for values in itertools.product(*self.grid.values()):
            settings = dict(zip(self.grid, values, strict=True))
            model = self.template.copy(**settings)
            graph = InfluenceGraph(model, targets=tuple(targets), n_jobs=self.n_jobs).fit(train)
            yield settings, ModelsPredictor(graph.models_)


@dataclass(frozen=True)
class TreeContender:
    """Trees with a grid of gamma and settings that need no new fit: they are grown once, for the least gamma.

    All others follow from that (:meth:`TreeSuMM.with_settings`), as if each had been fitted.
    """

    name: str
    template: TreeSuMM
    grid: Mapping[str, Sequence[Any]]
    n_jobs: int | None = field(default=None, repr=False)  # changes nothing but the time
    takes_sources: ClassVar[bool] = True

    def candidates(self, train: Data, targets: Sequence[str]) -> Iterator[tuple[dict[str, Any], Predictor]]:
        """Every combination of the grid."""
        grown = self.grow(train, targets)
        for values in itertools.product(*self.grid.values()):
            settings = dict(zip(self.grid, values, strict=True))
            yield settings, self.read(grown, settings)

    def grow(self, train: Any, targets: Sequence[str], sample_weight: Any = None) -> dict[str, TreeSuMM]:
        """The trees of the least gamma."""
        least = min(self.grid.get("gamma", (self.template.gamma,)))
        graph = InfluenceGraph(self.template.copy(gamma=least), targets=tuple(targets), n_jobs=self.n_jobs)
        graph.fit(train, sample_weight=sample_weight)
        return {x: model for x, model in graph.models_.items() if isinstance(model, TreeSuMM)}

    def read(self, grown: Mapping[str, TreeSuMM], settings: Mapping[str, Any]) -> ModelsPredictor:
        """The same trees with other settings."""
        return ModelsPredictor({x: tree.with_settings(**settings) for x, tree in grown.items()})
