"""What takes part in a comparison: anything that gives a target's probability at every position."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np

from summarkov.comparison.learners import EventCache
from summarkov.engines import EventSource, as_source, joint_memory
from summarkov.events import EventSequences
from summarkov.kernels import Index
from summarkov.models import InfluenceGraph, JointSuMM, SummaryModel, TreeSuMM
from summarkov.models.graph import fit_together
from summarkov.models.joint_fitted import FittedJoint
from summarkov.summaries import Memory
from summarkov.typing import CodeArray, FloatArray

#: Models of single targets that are fitted, or asked, in the passes of one.
MOST_MODELS = 1 << 12
#: What models are fitted to and measured on.
Data = EventSequences | EventSource


class Predictor(Protocol):
    """Something fitted."""

    def probability(self, events: EventSequences, target: str) -> FloatArray:
        """Probability of the target at every position of events over the training vocabulary.

        An event whose label does not occur in train has the code -1.
        """

    def influencers(self, target: str) -> tuple[str, ...] | None:
        """The labels that the target's probability depends on; None where that means nothing."""


@runtime_checkable
class BlockPredictor(Predictor, Protocol):
    """One that can be asked block by block, and so about events that are not in memory together."""

    def memory(self) -> Memory:
        """What must be remembered of a sequence that is cut, as :meth:`Summary.memory` tells it."""

    def at(self, index: Index, target: str) -> FloatArray:
        """Probability of the target at every position of a block."""

    def only(self, target: str) -> BlockPredictor:
        """What is needed for one target, so that nothing else need be kept, or sent to where events are."""


class Contender(Protocol):
    """Something to be tuned and compared.

    One that can be fitted to a source of events (:class:`EventSource`) too says so by a class attribute,
    ``takes_sources = True``, and yields predictors that are :class:`BlockPredictor`. One that needs something
    that may be missing has a method ``require()``, which is called before anything is fitted and raises an
    error that says what to do. One that is a single model of all targets has a class attribute,
    ``one_for_all = True``: then all targets have the settings that are best for all of them together.
    """

    @property
    def name(self) -> str:
        """What the tables call it."""

    def fit_each(
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

    def memory(self) -> Memory:
        """What all summaries need."""
        return joint_memory(model.fitted.summary for model in self.models.values())

    def at(self, index: Index, target: str) -> FloatArray:
        """The target's own model, on a block."""
        fitted = self.models[target].fitted
        return np.asarray(fitted.theta[fitted.predict(index), 0])

    def only(self, target: str) -> ModelsPredictor:
        """One of the models."""
        return ModelsPredictor({target: self.models[target]})


@dataclass(frozen=True)
class ModelContender:
    """One of our models with a grid of settings, fitted to all targets together.

    Attributes
    ----------
    name : str
        What the contender is called in the results.
    template : SummaryModel
        A model without a target.
    grid : dict
        The values to try for each setting; the best on the development sequences is taken.
    n_jobs : int or None
        Threads; they change nothing but the time.
    """

    name: str
    template: SummaryModel
    grid: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    n_jobs: int | None = field(default=None, repr=False)
    takes_sources: ClassVar[bool] = True

    def fit_each(self, train: Data, targets: Sequence[str]) -> Iterator[tuple[dict[str, Any], Predictor]]:
        """Every combination of the grid; many are learned side by side, in the passes of one."""
        every = [
            dict(zip(self.grid, values, strict=True)) for values in itertools.product(*self.grid.values())
        ]
        at_once = max(1, MOST_MODELS // max(1, len(targets)))
        for start in range(0, len(every), at_once):
            some = every[start : start + at_once]
            graphs = [
                InfluenceGraph(self.template.copy(**settings), targets=tuple(targets), n_jobs=self.n_jobs)
                for settings in some
            ]
            fit_together(graphs, train)
            for settings, graph in zip(some, graphs, strict=True):
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

    def fit_each(self, train: Data, targets: Sequence[str]) -> Iterator[tuple[dict[str, Any], Predictor]]:
        """Every combination of the grid."""
        grown = self.grow(train, targets)
        for values in itertools.product(*self.grid.values()):
            settings = dict(zip(self.grid, values, strict=True))
            yield settings, self.read(grown, settings)

    def grow(self, train: Any, targets: Sequence[str]) -> dict[str, TreeSuMM]:
        """The trees of the least gamma."""
        least = min(self.grid.get("gamma", (self.template.gamma,)))
        graph = InfluenceGraph(self.template.copy(gamma=least), targets=tuple(targets), n_jobs=self.n_jobs)
        graph.fit(train)
        return {x: model for x, model in graph.models_.items() if isinstance(model, TreeSuMM)}

    def read(self, grown: Mapping[str, TreeSuMM], settings: Mapping[str, Any]) -> ModelsPredictor:
        """The same trees with other settings."""
        return ModelsPredictor({x: tree.with_settings(**settings) for x, tree in grown.items()})


@dataclass(frozen=True)
class JointPredictor:
    """A fitted joint model, asked for one label after the other."""

    fitted: FittedJoint
    #: What weights and trees say, which is the same for all shares of the last labels.
    said: EventCache[tuple[FloatArray, CodeArray]] = field(
        default_factory=lambda: EventCache(most=2), repr=False
    )
    _kept: EventCache[FloatArray] = field(default_factory=lambda: EventCache(most=2), repr=False)

    def next_event(self, events: EventSequences) -> FloatArray:
        """The distribution at every position, kept for the last two that were asked about."""

        def said() -> tuple[FloatArray, CodeArray]:
            data = events.recode(self.fitted.labels, unknown="ignore")
            return self.fitted.without_last(Index(data.codes, data.offsets, len(data.labels)))

        return self._kept.get(events, "p", lambda: self.fitted.with_last(*self.said.get(events, "p", said)))

    def loss(self, events: EventSequences) -> float:
        """Log loss of the next event, per event; sequences count as much as they weigh.

        Events of no known label are left out.
        """
        data = events.recode(self.fitted.labels, unknown="ignore")
        happened = self.fitted.features.target.outcome_of()[data.codes]
        known = np.flatnonzero(happened >= 0)
        weights = None if events.weights is None else np.repeat(events.weights, events.lengths)[known]
        said = self.next_event(events)[known, happened[known]]
        return float(-np.average(np.log(said), weights=weights))

    def probability(self, events: EventSequences, target: str) -> FloatArray:
        """What the one distribution says of the target."""
        return np.asarray(self.next_event(events)[:, self._outcome(target)])

    def influencers(self, target: str) -> tuple[str, ...] | None:
        """As learned."""
        chosen = self.fitted.chosen[:, self._outcome(target)]
        return tuple(label for label, use in zip(self.fitted.labels, chosen, strict=True) if use)

    def memory(self) -> Memory:
        """What the model looks back at."""
        return self.fitted.memory

    def at(self, index: Index, target: str) -> FloatArray:
        """The same on a piece; the probabilities of all labels are kept for the next question."""
        kept = index.kept.get(JointPredictor)
        if kept is None or kept[0] is not self.fitted:
            kept = index.kept[JointPredictor] = self.fitted, self.fitted.at(index)
        return np.asarray(kept[1][:, self._outcome(target)])

    def only(self, target: str) -> JointPredictor:
        """All of it: one label's probability depends on what all others have."""
        return self

    def _outcome(self, target: str) -> int:
        return self.fitted.features.target.codes.index(self.fitted.labels.index(target))


@dataclass(frozen=True)
class JointContender:
    """Joint models (:class:`summarkov.JointSuMM`) with several settings and numbers of rounds.

    Where only some labels are targets, all others are one outcome.

    Parameters
    ----------
    name : str
        What tables call it.
    template : JointSuMM
        The other settings.
    grid : sequence of settings
        One fit each. ``contexts`` may be several shares, all of which one fit has.
    rounds : sequence of int
        After how many rounds the trees of a fit may be stopped; they grow.
    stop_on : events, optional
        Grow no more trees once two of these numbers in a row foretold these events less well than an earlier
        one: faster. The model without trees does not count as one: few trees alone say little yet, so it is
        often better than a model with few of them and worse than one with many. Give the events that settings
        are chosen on, never those that are measured.
    """

    name: str
    template: JointSuMM
    grid: Sequence[Mapping[str, Any]]
    rounds: Sequence[int] = (0,)
    stop_on: EventSequences | None = field(default=None, repr=False)
    n_jobs: int | None = field(default=None, repr=False)  # changes nothing but the time
    takes_sources: ClassVar[bool] = True
    one_for_all: ClassVar[bool] = True  # with settings of their own, labels would not sum to 1

    def fit_each(self, train: Data, targets: Sequence[str]) -> Iterator[tuple[dict[str, Any], Predictor]]:
        """Every setting with every number of rounds."""
        some = None if len(targets) == len(train.labels) else tuple(targets)
        source = as_source(train, n_jobs=self.n_jobs)
        model = self.template.copy(targets=some, n_jobs=self.n_jobs)
        data = model._count(source)
        for settings in self.grid:
            losses: list[float] = []
            given = settings.get("contexts", model.contexts)
            shares = given if isinstance(given, tuple) else (given,)
            one = model.copy(**{**settings, "contexts": shares[0]})
            one._check()
            for rounds, each in zip(self.rounds, one._learn(data, source, self.rounds, shares), strict=False):
                said: EventCache[tuple[FloatArray, CodeArray]] = EventCache(most=2)
                predictors = [JointPredictor(fitted, said) for fitted in each]
                for share, predictor in zip(shares, predictors, strict=True):
                    told = {"contexts": share} if "contexts" in settings else {}
                    yield {**settings, **told, "rounds": rounds}, predictor
                if self.stop_on is not None and rounds:
                    losses.append(min(predictor.loss(self.stop_on) for predictor in predictors))
                    if min(losses[-2:]) > min(losses):
                        break
