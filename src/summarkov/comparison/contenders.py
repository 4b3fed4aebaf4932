"""What takes part in a comparison: anything that gives a target's probability at every position."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

import numpy as np

from summarkov import kernels
from summarkov.comparison.learners import EventCache
from summarkov.engines import Layout, StateCounts, StatesRequest, Target, as_source
from summarkov.errors import SettingError
from summarkov.events import EventSequences
from summarkov.events.rows import Rows, recoded
from summarkov.kernels import Index
from summarkov.models import InfluenceGraph, JointSuMM, SummaryModel, TreeSuMM
from summarkov.models.graph import fit_together
from summarkov.models.joint import FittedJoint, learn_each
from summarkov.models.joint_parts import LastLabels
from summarkov.models.learning import check_in_a_row
from summarkov.settings import check_whole
from summarkov.summaries import ChainSummary
from summarkov.typing import CodeArray, FloatArray

#: Models of single targets that are fitted in the passes of one.
_MOST_MODELS = 1 << 12
#: Settings of a tree that follow from a larger one (:meth:`TreeSuMM.with_settings`).
_READ_ANEW = {"alpha", "prior", "gamma"}


class Predictor(Protocol):
    """Something fitted."""

    def probability(self, events: EventSequences, target: str) -> FloatArray:
        """Probability of the target at every position of events over the training vocabulary.

        An event whose label does not occur in train has the code -1.
        """

    def influencers(self, target: str) -> tuple[str, ...] | None:
        """The labels that the target's probability depends on; None where that means nothing."""


class Contender(Protocol):
    """Something to be tuned and compared.

    One that needs something that may be missing has a method ``require()``, which is called before anything
    is fitted and raises an error that says what to do. One that is a single model of all targets has a class
    attribute, ``one_for_all = True``: then all targets have the settings that are best for all of them
    together.
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
class Fitted:
    """A predictor by what it answers."""

    probability: Callable[[EventSequences, str], FloatArray]
    influencers: Callable[[str], tuple[str, ...] | None]


# ---------------------------------------------------------------------- models of single targets


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
        The values to try for each setting; the best on the development sequences is taken. Trees are grown
        once, for the least gamma, where the others follow from that.
    n_jobs : int or None
        Threads; they change nothing but the time.
    """

    name: str
    template: SummaryModel
    grid: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    n_jobs: int | None = field(default=None, repr=False)

    def fit_each(
        self, train: EventSequences, targets: Sequence[str]
    ) -> Iterator[tuple[dict[str, Any], Predictor]]:
        """Every combination of the grid; many are learned side by side, in the passes of one."""
        every = [
            dict(zip(self.grid, values, strict=True)) for values in itertools.product(*self.grid.values())
        ]
        indexes: EventCache[Index] = EventCache(most=2)

        def predictor(models: Mapping[str, SummaryModel]) -> Fitted:
            def probability(events: EventSequences, target: str) -> FloatArray:
                fitted = models[target].fitted  # which no graph has normalised

                def made() -> Index:
                    return Rows.of(recoded(events, fitted.labels, "ignore")).index()

                index = indexes.get(events, fitted.labels, made)
                return np.asarray(fitted.theta[fitted.predict(index), 0][index.begins])

            return Fitted(probability, lambda target: models[target].influencers_)

        if isinstance(self.template, TreeSuMM) and set(self.grid) <= _READ_ANEW:
            least = min(self.grid.get("gamma", (self.template.gamma,)))
            (grown,) = self._fitted(train, targets, [{"gamma": least}])
            for settings in every:
                yield settings, predictor({x: tree.with_settings(**settings) for x, tree in grown.items()})
            return
        at_once = max(1, _MOST_MODELS // max(1, len(targets)))
        for start in range(0, len(every), at_once):
            some = every[start : start + at_once]
            for settings, models in zip(some, self._fitted(train, targets, some), strict=True):
                yield settings, predictor(models)

    def _fitted(
        self, train: EventSequences, targets: Sequence[str], every: Sequence[Mapping[str, Any]]
    ) -> list[Mapping[str, Any]]:
        """The models of all targets for each of some settings."""
        graphs = [
            InfluenceGraph(self.template.copy(**settings), targets=tuple(targets), n_jobs=self.n_jobs)
            for settings in every
        ]
        fit_together(graphs, train)
        return [graph.models_ for graph in graphs]


# ---------------------------------------------------------------------- one distribution over all labels


@dataclass(frozen=True)
class KneserNeyContender:
    """Kneser-Ney smoothing (:class:`LastLabels`): the standard of language models before neural ones.

    It sums to 1 over all labels.

    Parameters
    ----------
    orders : sequence of int
        The lengths k to choose from.
    name : str
        What tables call it.
    """

    orders: Sequence[int] = (1, 2, 3, 4, 5)
    name: str = "kneser-ney"
    n_jobs: int | None = field(default=None, repr=False)  # changes nothing but the time
    one_for_all: ClassVar[bool] = True  # with settings of their own, labels would not sum to 1

    def __post_init__(self) -> None:
        if not len(self.orders):
            raise SettingError("orders must hold at least one length of contexts")
        for order in self.orders:
            check_whole("order", order, 0, 20)

    def fit_each(
        self, train: EventSequences, targets: Sequence[str]
    ) -> Iterator[tuple[dict[str, Any], Predictor]]:
        """One per length."""
        source = as_source(train, n_jobs=self.n_jobs)
        check_in_a_row(self.name, Layout.of(source))
        n = len(source.labels)
        every = Target(tuple(range(n)), n)
        tables = source.count([StatesRequest(ChainSummary(order), (), every) for order in self.orders])
        for order, table in zip(self.orders, tables, strict=True):
            assert isinstance(table, StateCounts)
            after = LastLabels.of(table.keys, table.counts[:, :n] / source.scale)
            yield {"order": order}, self._fitted(tuple(source.labels), order, after)

    def _fitted(self, labels: tuple[str, ...], order: int, after: LastLabels) -> Fitted:
        """The distribution of the next label after the last ``order`` ones, whatever they are."""

        def probability(events: EventSequences, target: str) -> FloatArray:
            data = events.recode(labels, unknown="ignore")
            ids, keys = kernels.chain_states(Index(data.codes, data.offsets, len(labels)), order)
            return np.asarray(after.at(keys)[ids, labels.index(target)])

        return Fitted(probability, lambda target: labels if order else ())


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
            return self.fitted.without_last(
                self.fitted.summary.of(Index(data.codes, data.offsets, len(data.labels)))
            )

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
    one_for_all: ClassVar[bool] = True  # with settings of their own, labels would not sum to 1

    def fit_each(
        self, train: EventSequences, targets: Sequence[str]
    ) -> Iterator[tuple[dict[str, Any], Predictor]]:
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
            learned = learn_each(data, source, one.get_params(deep=False), self.rounds, shares)
            for rounds, each in zip(self.rounds, learned, strict=False):
                said: EventCache[tuple[FloatArray, CodeArray]] = EventCache(most=2)
                predictors = [JointPredictor(fitted, said) for fitted in each]
                for share, predictor in zip(shares, predictors, strict=True):
                    told = {"contexts": share} if "contexts" in settings else {}
                    yield {**settings, **told, "rounds": rounds}, predictor
                if self.stop_on is not None and rounds:
                    losses.append(min(predictor.loss(self.stop_on) for predictor in predictors))
                    if min(losses[-2:]) > min(losses):
                        break
