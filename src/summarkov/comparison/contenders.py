"""What takes part in a comparison: anything that gives a target's probability at every position.

Our models are asked for theirs. For learners of scikit-learn histories become rows of numbers, one per
position, and a model of its own is fitted for every target.
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar, NamedTuple, Protocol, TypeVar

import numpy as np
from threadpoolctl import threadpool_limits

from summarkov.engines import as_source
from summarkov.errors import SettingError, optional_library
from summarkov.events import EventSequences
from summarkov.events.rows import Rows, recoded
from summarkov.kernels import Index
from summarkov.models import InfluenceGraph, JointSuMM, SummaryModel, TreeSuMM
from summarkov.models.graph import fit_together
from summarkov.models.joint import FittedJoint, learn_each
from summarkov.settings import check_whole
from summarkov.typing import BoolArray, FloatArray, IntArray

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

    It may have a method ``require()``, called before anything is fitted, which raises an error that says what
    is missing. With a class attribute ``one_for_all = True`` all targets have the settings that are best for
    all of them together.
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
    """A predictor made of two functions."""

    probability: Callable[[EventSequences, str], FloatArray]
    influencers: Callable[[str], tuple[str, ...] | None]


T = TypeVar("T")


def remembering(compute: Callable[[EventSequences], T]) -> Callable[[EventSequences], T]:
    """The same function of events, which keeps what it last said: targets ask one after the other."""
    last: list[tuple[EventSequences, T]] = []

    def found(events: EventSequences) -> T:
        if not last or last[0][0] is not events:
            last[:] = [(events, compute(events))]
        return last[0][1]

    return found


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
        The values to try for each setting. Trees are grown once, for the least gamma, where that will do.
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
        labels = as_source(train).labels
        index_of = remembering(lambda events: Rows.of(recoded(events, labels, "ignore")).index())

        def fitted(some: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
            models = [self.template.copy(**settings) for settings in some]
            graphs = [InfluenceGraph(each, targets=tuple(targets), n_jobs=self.n_jobs) for each in models]
            fit_together(graphs, train)
            return [graph.models_ for graph in graphs]

        def predictor(models: Mapping[str, SummaryModel]) -> Fitted:
            def probability(events: EventSequences, target: str) -> FloatArray:
                one = models[target].fitted  # which no graph has normalised
                index = index_of(events)
                return np.asarray(one.theta[one.predict(index), 0][index.begins])

            return Fitted(probability, lambda target: models[target].influencers_)

        if isinstance(self.template, TreeSuMM) and set(self.grid) <= _READ_ANEW:
            least = min(self.grid.get("gamma", (self.template.gamma,)))
            (grown,) = fitted([{"gamma": least}])
            for settings in every:
                yield settings, predictor({x: tree.with_settings(**settings) for x, tree in grown.items()})
            return
        at_once = max(1, _MOST_MODELS // max(1, len(targets)))
        for start in range(0, len(every), at_once):
            some = every[start : start + at_once]
            for settings, models in zip(some, fitted(some), strict=True):
                yield settings, predictor(models)


# ---------------------------------------------------------------------- one distribution over all labels


@dataclass(frozen=True)
class JointPredictor:
    """A fitted joint model, and its distribution at every position of events."""

    fitted: FittedJoint
    next_event: Callable[[EventSequences], FloatArray]

    def probability(self, events: EventSequences, target: str) -> FloatArray:
        """The target's share of the distribution."""
        return np.asarray(self.next_event(events)[:, self._outcome(target)])

    def influencers(self, target: str) -> tuple[str, ...] | None:
        """As learned."""
        return tuple(itertools.compress(self.fitted.labels, self.fitted.chosen[:, self._outcome(target)]))

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
        One fit each.
    rounds : sequence of int
        After how many rounds the trees of a fit may be stopped; they grow.
    """

    name: str
    template: JointSuMM
    grid: Sequence[Mapping[str, Any]]
    rounds: Sequence[int] = (0,)
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
            one = model.copy(**settings)
            one._check()
            learned = learn_each(data, source, one.get_params(deep=False), self.rounds)
            for rounds, fitted in zip(self.rounds, learned, strict=True):
                next_event = remembering(partial(_next_event, fitted))
                yield {**settings, "rounds": rounds}, JointPredictor(fitted, next_event)


def _next_event(fitted: FittedJoint, events: EventSequences) -> FloatArray:
    data = events.recode(fitted.labels, unknown="ignore")
    return fitted.at(Index(data.codes, data.offsets, len(data.labels)))


# ---------------------------------------------------------------------- learners of matrices

FEATURES = ("presence", "counts", "onehot")
#: No baseline says less than this or more than one minus this: a certain mistake costs 27.6, not infinity.
TINY = 1e-12


class MatrixRows(NamedTuple):
    """Where the rows of a matrix stand: one row per position, an event or what happened together."""

    tick: IntArray  # the row of every event
    before: IntArray  # how many positions of its sequence stand before each row
    has: BoolArray  # which of the attributes of the training data each row's sequence has

    @classmethod
    def of(cls, events: EventSequences, names: Sequence[str]) -> MatrixRows:
        """Those of some events; ``names`` are the attributes of the training data."""
        starts = events.moments.starts
        sequence = np.repeat(np.arange(len(events)), events.lengths)[starts]
        given = events.attributes
        has = np.zeros((len(events), len(names)), bool) if given is None else given.among(names)
        return cls(np.cumsum(starts) - 1, events.positions[starts] - 1, has[sequence])


def window_features(
    events: EventSequences, lookback: int, features: str, attributes: Sequence[str] = ()
) -> Any:
    """The last ``lookback`` positions before each as a sparse matrix with N rows; attributes come last.

    "presence": one column per label, 1 if it is among them; "counts": at how many of them; "onehot": one
    column per lag and label, lag 1 first, 1 if the label stands there.
    """
    from scipy import sparse

    at = MatrixRows.of(events, attributes)
    n, m = len(at.before), len(events.labels)
    width = m * lookback if features == "onehot" else m
    row, column = np.nonzero(at.has)
    rows, columns = [row], [column + width]
    known = np.flatnonzero(events.codes >= 0)
    for lag in range(1, min(lookback, int(at.before.max(initial=0))) + 1):
        row = at.tick[known] + lag
        here = at.before[np.minimum(row, n - 1)] >= lag  # in the same sequence
        here &= row < n
        rows.append(row[here])
        columns.append(events.codes[known[here]].astype(np.int64) + (lag - 1) * m * (features == "onehot"))
    width += at.has.shape[1]
    small = np.int32 if max(n, width) < 2**31 else np.int64  # scikit-learn's solvers want small indices
    row, column = np.concatenate(rows).astype(small), np.concatenate(columns).astype(small)
    matrix = sparse.csr_array((np.ones(len(row)), (row, column)), shape=(n, width))  # sums repeated cells
    if features == "presence":
        matrix.data[:] = 1.0
    return matrix


def recency_features(
    events: EventSequences,
    attributes: Sequence[str] = (),
    longest_lag: int = 200,
    last_position: int = 50,
) -> FloatArray:
    """How many positions ago each label occurred last, the position, and attributes, as N rows of numbers.

    A lag is at most ``longest_lag``, which also stands for a label that has not occurred yet. The position
    counts from 0 and is at most ``last_position``.
    """
    at = MatrixRows.of(events, attributes)
    n, m = len(at.before), len(events.labels)
    here = np.arange(n)
    matrix = np.full((n, m + 1), float(longest_lag))
    for code in range(m):
        there = np.full(n, -1)
        there[at.tick[events.codes == code]] = at.tick[events.codes == code]
        last = np.maximum.accumulate(there)
        last = np.concatenate([[-1], last[:-1]])[:n]  # a position is not its own history
        lag = here - last
        seen = (last >= 0) & (lag <= at.before)
        matrix[:, code] = np.where(seen, np.minimum(lag, longest_lag), longest_lag)
    matrix[:, m] = np.minimum(at.before, last_position)
    return np.hstack([matrix, at.has])


def is_target(events: EventSequences, target: str) -> BoolArray:
    """Whether the target is at each position."""
    occurred = events.codes == events.code(target)
    found = np.zeros(events.n_ticks, bool)
    found[(np.cumsum(events.moments.starts) - 1)[occurred]] = True
    return found


def _learner(is_trees: bool) -> Callable[..., Any]:
    """What makes a learner from its settings: gradient boosting of the histogram kind, or regression."""
    what = "gradient boosting" if is_trees else "logistic regression"
    with optional_library(what, "scikit-learn", extra="baselines"):
        from sklearn.ensemble import HistGradientBoostingClassifier
        from sklearn.linear_model import LogisticRegression
    if is_trees:
        fixed: dict[str, Any] = {"min_samples_leaf": 5, "early_stopping": False, "random_state": 0}
        return partial(HistGradientBoostingClassifier, **fixed)
    return partial(LogisticRegression, max_iter=1000, tol=1e-5)


@dataclass(frozen=True)
class MatrixContender:
    """A learner of matrices: histories become rows of numbers, one per position; it needs scikit-learn.

    Parameters
    ----------
    name : str
        What tables call it.
    grid : sequence of settings
        What to choose from, settings of scikit-learn's LogisticRegression (``C=inf``: no penalty) or of its
        HistGradientBoostingClassifier.
    lookback : int, optional
        How many positions back the features of a regression look; None: boosting, which sees recency
        (:func:`recency_features`).
    features : {"presence", "counts", "onehot"}
        See :func:`window_features`.
    """

    name: str
    grid: Sequence[Mapping[str, Any]]
    lookback: int | None = None
    features: str = "presence"

    def __post_init__(self) -> None:
        if self.lookback is not None:
            check_whole("lookback", self.lookback, 1)
        if self.features not in FEATURES:
            raise SettingError(f"features must be one of {', '.join(FEATURES)}, not {self.features!r}")

    def require(self) -> None:
        """Refuse to go on without scikit-learn."""
        _learner(self.lookback is None)

    def fit_each(
        self, train: EventSequences, targets: Sequence[str]
    ) -> Iterator[tuple[dict[str, Any], Predictor]]:
        """One per setting; a target that never, or always, occurs has its base rate instead of a model."""
        labels, attributes = train.labels, () if train.attributes is None else train.attributes.names

        def features(events: EventSequences) -> Any:
            known = events.recode(labels, unknown="ignore")
            if self.lookback is None:
                return recency_features(known, attributes)
            return window_features(known, self.lookback, self.features, attributes)

        rows, matrix = features(train), remembering(features)

        def predictor(models: Mapping[str, Any]) -> Fitted:
            def probability(events: EventSequences, target: str) -> FloatArray:
                model = models[target]
                if isinstance(model, float) or not events.n_ticks:
                    return np.full(events.n_ticks, model if isinstance(model, float) else 0.0)
                with threadpool_limits(limits=1):
                    odds = model.decision_function(matrix(events))
                return np.asarray(np.clip(np.exp(-np.logaddexp(0.0, -odds)), TINY, 1 - TINY))

            def influencers(target: str) -> tuple[str, ...] | None:
                """What has a coefficient other than zero; None of trees, which may look at anything."""
                model = models[target]
                if isinstance(model, float):
                    return ()
                if not hasattr(model, "coef_"):
                    return None
                has = model.coef_[0] != 0
                n = len(has) - len(attributes)
                used = [*has[:n].reshape(-1, len(labels)).any(axis=0), *has[n:]]
                return tuple(sorted(itertools.compress((*labels, *attributes), used)))

            return Fitted(probability, influencers)

        made = _learner(self.lookback is None)
        for settings in self.grid:
            models: dict[str, Any] = {}
            for target in targets:
                outcomes = is_target(train, target)
                if outcomes.all() or not outcomes.any():
                    models[target] = float((outcomes.sum() + 0.5) / (len(outcomes) + 1))
                    continue
                with threadpool_limits(limits=1), warnings.catch_warnings():
                    # Without a penalty it may not converge, since separable data have no optimum.
                    warnings.filterwarnings("ignore", ".*(failed to converge|[Ii]ncrease the number of iter)")
                    models[target] = made(**settings).fit(rows, outcomes)
            yield dict(settings), predictor(models)
