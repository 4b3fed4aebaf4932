"""Learners of matrices, which scikit-learn fits: logistic regression and gradient boosting.

Histories become rows of numbers, one per position; a model of its own is fitted for every target.
"""

from __future__ import annotations

import warnings
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from summarkov.errors import SettingError, optional_library
from summarkov.events import EventSequences
from summarkov.events.vocabulary import translation
from summarkov.settings import check_whole, is_number
from summarkov.typing import BoolArray, FloatArray, IntArray

FEATURES = ("presence", "counts", "onehot")


@dataclass(frozen=True)
class MatrixRows:
    """Where the rows of a matrix stand: one row per position, an event or what happened together.

    ``tick`` has the row of every event, ``before`` how many positions of its sequence stand before each row,
    ``has`` which of the attributes ``names`` each row's sequence has.
    """

    tick: IntArray
    before: IntArray
    has: BoolArray

    @classmethod
    def of(cls, events: EventSequences, names: Sequence[str]) -> MatrixRows:
        """Those of some events; ``names`` are the attributes of the training data.

        >>> events = EventSequences.from_lists([["A", ["A", "B"]], [], ["B"]])
        >>> rows = MatrixRows.of(events, ())
        >>> rows.tick.tolist(), rows.before.tolist()
        ([0, 1, 1, 2], [0, 1, 0])
        """
        starts = np.ones(events.n_rows, bool) if events.moments is None else events.moments.starts
        has = np.zeros((int(starts.sum()), len(names)), bool)
        if names and events.attributes is not None:
            sequence = np.repeat(np.arange(len(events)), events.lengths)[starts]
            at = translation(names, events.attributes.names)[:-1]
            has[:, at >= 0] = events.attributes.present[sequence][:, at[at >= 0]]
        return cls(np.cumsum(starts) - 1, events.positions[starts] - 1, has)


def window_features(
    events: EventSequences, lookback: int, features: str, attributes: Sequence[str] = ()
) -> Any:
    """The last ``lookback`` positions before each as a sparse matrix with N rows.

    "presence": one column per label, 1 if it is among them; "counts": at how many of them; "onehot": one
    column per lag and label, lag 1 first, 1 if the label stands there. What is before the start of the
    sequence, and events of no known label, are zeros. One column per attribute follows.

    >>> events = EventSequences.from_lists([["A", "A", "B"]])
    >>> window_features(events, 2, "counts").toarray().astype(int).tolist()
    [[0, 0], [1, 0], [2, 0]]
    >>> window_features(events, 2, "onehot").toarray().astype(int).tolist()
    [[0, 0, 0, 0], [1, 0, 0, 0], [1, 0, 1, 0]]
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
    """How long ago each label occurred last, and the position: N rows, one column per label and one more.

    A lag counts positions back (1: the one just before) and is at most ``longest_lag``, which also stands for
    a label that has not occurred yet. The position counts from 0 and is at most ``last_position``. One column
    per attribute follows.

    >>> events = EventSequences.from_lists([["A", "A", "B"]])
    >>> recency_features(events).astype(int).tolist()
    [[200, 200, 0], [1, 200, 1], [1, 200, 2]]
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


T = TypeVar("T")

#: No baseline says less than this or more than one minus this: a certain mistake costs 27.6, not infinity.
TINY = 1e-12
#: C of the second fit of a relaxed lasso.
_RELAXED = 10.0


def clip(probability: npt.ArrayLike) -> FloatArray:
    """Keep probabilities away from 0 and 1 by ``TINY``."""
    return np.clip(np.asarray(probability, dtype=np.float64), TINY, 1 - TINY)


def base_rate(outcomes: BoolArray) -> float:
    r"""Smoothed share of a target's occurrences, for a target that never, or always, occurs in training.

    .. math:: \frac{N(x) + 1/2}{N + 1}
    """
    return float((outcomes.sum() + 0.5) / (len(outcomes) + 1))


def is_target(events: EventSequences, target: str) -> BoolArray:
    """Whether the target is at each position."""
    occurred: BoolArray = events.codes == events.code(target)
    if events.moments is None:
        return occurred
    found = np.zeros(events.n_ticks, bool)
    found[(np.cumsum(events.moments.starts) - 1)[occurred]] = True
    return found


def positives(name: str, values: object) -> None:
    """Refuse a grid that is empty or holds anything but finite numbers above 0."""
    if not isinstance(values, tuple | list | np.ndarray) or not len(values):
        raise SettingError(f"{name} must be a list of at least one number, not {values!r}")
    for value in values:
        if not is_number(value) or not 0 < value < float("inf"):
            raise SettingError(f"{name} must be finite numbers above 0, not {value!r}")


def load_thread_limits() -> Any:
    """``threadpool_limits``, which comes with scikit-learn; models of scikit-learn are fitted under it."""
    from threadpoolctl import threadpool_limits

    return threadpool_limits


class EventCache(Generic[T]):
    """Values by (events object, key), the least recently used forgotten first.

    Events are compared by identity, which is safe because they cannot be changed and are kept alive here
    as long as their value is.

    >>> events = EventSequences.from_lists([["A", "B"]])
    >>> sizes: EventCache[int] = EventCache(most=2)
    >>> sizes.get(events, "n", lambda: 2), sizes.get(events, "n", lambda: 99)
    (2, 2)
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._kept: OrderedDict[tuple[int, Hashable], tuple[EventSequences, T]] = OrderedDict()

    def get(self, events: EventSequences, key: Hashable, compute: Callable[[], T]) -> T:
        """The value for these events and this key, computed if it is not known."""
        place = (id(events), key)
        if place not in self._kept:
            self._kept[place] = (events, compute())
            if len(self._kept) > self._most:
                self._kept.popitem(last=False)
        self._kept.move_to_end(place)
        return self._kept[place][1]


@dataclass(frozen=True)
class Learned:
    """One fitted model per target, asked for its log-odds; events are put into the labels of training."""

    labels: tuple[str, ...]
    attributes: tuple[str, ...]
    features: Callable[..., Any] = field(repr=False)
    matrices: EventCache[Any] = field(repr=False)
    models: Mapping[str, Any] = field(default_factory=dict)  # a constant target has its base rate instead

    @classmethod
    def of(cls, train: EventSequences, features: Callable[..., Any], **more: Any) -> Any:
        """None fitted yet."""
        attributes = () if train.attributes is None else train.attributes.names
        return cls(train.labels, attributes, features, EventCache(most=4), **more)

    def matrix(self, events: EventSequences) -> Any:
        """The features of events, remembered."""
        return self.matrices.get(
            events,
            "features",
            lambda: self.features(events.recode(self.labels, unknown="ignore"), attributes=self.attributes),
        )

    def fit(self, train: EventSequences, targets: Sequence[str], fit: Callable[[Any, BoolArray], Any]) -> Any:
        """The same with a model for each target."""
        models: dict[str, Any] = {}
        for target in targets:
            outcomes = is_target(train, target)
            is_constant = outcomes.all() or not outcomes.any()
            models[target] = base_rate(outcomes) if is_constant else fit(self.matrix(train), outcomes)
        return replace(self, models=models)

    def probability(self, events: EventSequences, target: str) -> FloatArray:
        """Probability of the target at every position, at least ``TINY`` away from 0 and 1."""
        model = self.models[target]
        if isinstance(model, float) or not events.n_ticks:
            return np.full(events.n_ticks, model if isinstance(model, float) else 0.0)
        return clip(np.exp(-np.logaddexp(0.0, -self.log_odds(events, target))))

    def log_odds(self, events: EventSequences, target: str) -> FloatArray:
        """Of the target at every position."""
        raise NotImplementedError  # each kind of learner has its own

    def influencers(self, target: str) -> tuple[str, ...] | None:
        """None: whatever there is may be looked at."""
        return None


# ---------------------------------------------------------------------- logistic regression


class Line(NamedTuple):
    """One target's fitted regression: log-odds are ``intercept + features @ coefficients``."""

    intercept: float
    coefficients: FloatArray
    converged: bool = True


@dataclass(frozen=True)
class LogisticRegressionPredictor(Learned):
    """Fitted regressions, one per target."""

    def log_odds(self, events: EventSequences, target: str) -> FloatArray:
        """The sum of what is there, weighted."""
        line = self.models[target]
        return np.asarray(line.intercept + self.matrix(events) @ line.coefficients)

    def influencers(self, target: str) -> tuple[str, ...] | None:
        """What has a coefficient other than zero: with this kind of penalty, nearly all."""
        line = self.models[target]
        if isinstance(line, float):
            return ()
        n = len(line.coefficients) - len(self.attributes)
        has = line.coefficients != 0
        used = [*has[:n].reshape(-1, len(self.labels)).any(axis=0), *has[n:]]
        return tuple(sorted(z for z, use in zip((*self.labels, *self.attributes), used, strict=True) if use))

    @property
    def not_converged(self) -> tuple[str, ...]:
        """The targets whose regression stopped before it had converged."""
        return tuple(x for x, line in self.models.items() if isinstance(line, Line) and not line.converged)


@dataclass(frozen=True)
class LogisticRegressionContender:
    """Logistic regression of "the target comes next" on the last ``lookback`` positions, and attributes.

    Parameters
    ----------
    lookback : int
        How many positions back the features look.
    features : {"presence", "counts", "onehot"}
        Which labels occurred there, how often, or which label stands at each lag.
    penalised : bool
        With a squared penalty on the coefficients (not on the intercept), its weight 1 / C chosen from
        ``strengths``; or with none.
    strengths : sequence of float
        The values of C to choose from; smaller is more penalty.
    relaxed : bool
        The relaxed lasso: a penalty on the size of coefficients chooses the features, its weight 1 / C chosen
        from ``strengths``; then the chosen ones are fitted anew, with a squared penalty of weight 0.1 alone.
    max_iterations, tolerance
        When the solver (L-BFGS) stops. Not converging is no error and is told by the predictor's
        ``not_converged``; without a penalty it is common, since separable data have no optimum.
    name : str
        What tables call it.

    >>> LogisticRegressionContender(3, "onehot", penalised=False).name
    '3-LR onehot unpenalised'

    References: Meinshausen, "Relaxed Lasso", Computational Statistics & Data Analysis 52, 2007.
    """

    lookback: int
    features: str = "presence"
    penalised: bool = True
    strengths: Sequence[float] = (0.001, 0.01, 0.1, 1.0, 10.0, 100.0)
    max_iterations: int = 1000
    tolerance: float = 1e-5
    name: str = ""
    relaxed: bool = False

    def __post_init__(self) -> None:
        check_whole("lookback", self.lookback, 1)
        check_whole("max_iterations", self.max_iterations, 1)
        positives("strengths", self.strengths)
        positives("tolerance", [self.tolerance])
        if self.features not in FEATURES:
            raise SettingError(f"features must be one of {', '.join(FEATURES)}, not {self.features!r}")
        if self.relaxed and not self.penalised:
            raise SettingError("a relaxed lasso has a penalty; leave out penalised=False")
        if not self.name:
            penalty = " relaxed" if self.relaxed else "" if self.penalised else " unpenalised"
            object.__setattr__(self, "name", f"{self.lookback}-LR {self.features}{penalty}")

    def require(self) -> None:
        """Refuse to go on without scikit-learn."""
        _load_regression()

    def fit_each(
        self, train: EventSequences, targets: Sequence[str]
    ) -> Iterator[tuple[dict[str, Any], LogisticRegressionPredictor]]:
        """One per value of C; ``{"C": None}`` without a penalty."""
        features = partial(window_features, lookback=self.lookback, features=self.features)
        empty = LogisticRegressionPredictor.of(train, features)
        for strength in self.strengths if self.penalised else (None,):
            yield {"C": strength}, empty.fit(train, targets, partial(self._fit, strength=strength))

    def _fit(self, matrix: Any, outcomes: BoolArray, strength: float | None) -> Line | float:
        if not self.relaxed:
            return self._solve(matrix, outcomes, C=np.inf if strength is None else strength)
        chosen = np.flatnonzero(self._solve(matrix, outcomes, C=strength, **_lasso()).coefficients)
        if not len(chosen):
            return base_rate(outcomes)
        again = self._solve(matrix[:, chosen], outcomes, C=_RELAXED)
        coefficients = np.zeros(matrix.shape[1])
        coefficients[chosen] = again.coefficients
        return again._replace(coefficients=coefficients)

    def _solve(self, matrix: Any, outcomes: BoolArray, **penalty: Any) -> Line:
        model = _load_regression()(max_iter=self.max_iterations, tol=self.tolerance, **penalty)
        # Steps this small are many times slower on several BLAS threads than on one.
        with warnings.catch_warnings(record=True) as caught, load_thread_limits()(limits=1):
            warnings.simplefilter("always")
            model.fit(matrix, outcomes)
        converged = True
        for warning in caught:
            if warning.category.__name__ == "ConvergenceWarning":
                converged = False
            else:
                warnings.warn(warning.message, stacklevel=2)
        return Line(float(model.intercept_[0]), np.asarray(model.coef_[0], dtype=np.float64), converged)


def _lasso() -> dict[str, Any]:
    """The penalty on the size of coefficients, as this version of scikit-learn wants it called."""
    named = {"penalty": "l1"} if _load_regression()().get_params()["penalty"] == "l2" else {"l1_ratio": 1.0}
    return {**named, "solver": "liblinear", "random_state": 0}


def _load_regression() -> Any:
    with optional_library("logistic regression", "scikit-learn", extra="baselines"):
        from sklearn.linear_model import LogisticRegression
    return LogisticRegression


# ---------------------------------------------------------------------- gradient boosting


class Trees(NamedTuple):
    """What kind of trees, and how much each one says."""

    leaves: int
    learning_rate: float
    l2: float


class Stages:
    """The log-odds of one target on some events, tree by tree; going forward costs one tree per step."""

    def __init__(self, model: Any, matrix: FloatArray) -> None:
        self._model, self._matrix, self._at = model, matrix, -1

    def log_odds(self, iteration: int, threads: int) -> FloatArray:
        """The sum over the first trees; asking for fewer trees than before starts over."""
        if not 0 <= self._at <= iteration:
            self._steps, self._at = self._model.staged_decision_function(self._matrix), 0
        with load_thread_limits()(limits=threads, user_api="openmp"):
            while self._at < iteration:
                self._log_odds = np.asarray(next(self._steps), dtype=np.float64).reshape(-1)
                self._at += 1
        return self._log_odds


@dataclass(frozen=True)
class BoostingPredictor(Learned):
    """Boosted trees, stopped after some iterations."""

    threads: int = 1
    iteration: int = 1
    stages: EventCache[Stages] = field(default_factory=lambda: EventCache(most=1), repr=False)

    def log_odds(self, events: EventSequences, target: str) -> FloatArray:
        """By the first trees."""
        made = self.stages.get(events, target, lambda: Stages(self.models[target], self.matrix(events)))
        return made.log_odds(self.iteration, self.threads)


@dataclass(frozen=True)
class BoostingContender:
    """Gradient boosting (scikit-learn's histogram kind) of "the target comes next".

    The features are the lag to each label's last occurrence, at most 200 (also where it has not occurred),
    the position, at most 50, and attributes. Not in the paper, but what a user would try.

    Parameters
    ----------
    grid : sequence of (leaves, learning_rate, l2)
        The kinds of trees to choose from.
    iterations : int
        The most trees. One candidate after the first tree, and one every ``every`` trees, from one fit.
    min_samples_leaf : int
        The fewest positions in a leaf.
    threads : int
        Threads of scikit-learn while fitting and predicting. With one, results are the same to the last bit.
    name : str
        What tables call it.

    >>> BoostingContender(iterations=12, every=5).checkpoints
    (1, 5, 10, 12)
    """

    grid: Sequence[tuple[int, float, float]] = (
        Trees(5, 0.05, 10.0),
        Trees(8, 0.03, 100.0),
        Trees(15, 0.05, 10.0),
    )
    iterations: int = 300
    every: int = 5
    min_samples_leaf: int = 5
    threads: int = 1
    name: str = "boosting"

    def __post_init__(self) -> None:
        for setting in ("iterations", "every", "min_samples_leaf", "threads"):
            check_whole(setting, getattr(self, setting), 1)
        if not len(self.grid):
            raise SettingError("grid must hold at least one (leaves, learning_rate, l2)")
        for leaves, learning_rate, l2 in self.grid:
            check_whole("leaves", leaves, 2)
            positives("learning_rate", [learning_rate])
            if l2 != 0:
                positives("l2", [l2])

    @property
    def checkpoints(self) -> tuple[int, ...]:
        """The numbers of trees to choose from."""
        return tuple(sorted({1, self.iterations, *range(self.every, self.iterations + 1, self.every)}))

    def require(self) -> None:
        """Refuse to go on without scikit-learn."""
        _load_boosting()

    def fit_each(
        self, train: EventSequences, targets: Sequence[str]
    ) -> Iterator[tuple[dict[str, Any], BoostingPredictor]]:
        """One per kind of trees and number of them."""
        empty = BoostingPredictor.of(train, recency_features, threads=self.threads)
        for kind in (Trees(*kind) for kind in self.grid):
            stages: EventCache[Stages] = EventCache(most=3 * max(len(targets), 1))
            fitted = replace(empty.fit(train, targets, partial(self._fit, kind=kind)), stages=stages)
            for iteration in self.checkpoints:
                yield {**kind._asdict(), "iterations": iteration}, replace(fitted, iteration=iteration)

    def _fit(self, matrix: FloatArray, outcomes: BoolArray, kind: Trees) -> Any:
        model = _load_boosting()(
            learning_rate=kind.learning_rate,
            max_leaf_nodes=kind.leaves,
            l2_regularization=kind.l2,
            max_iter=self.iterations,
            min_samples_leaf=self.min_samples_leaf,
            early_stopping=False,
            random_state=0,
        )
        with load_thread_limits()(limits=self.threads, user_api="openmp"):
            return model.fit(matrix, outcomes)


def _load_boosting() -> Any:
    with optional_library("gradient boosting", "scikit-learn", extra="baselines"):
        from sklearn.ensemble import HistGradientBoostingClassifier
    return HistGradientBoostingClassifier
