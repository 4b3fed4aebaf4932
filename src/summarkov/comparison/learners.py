"""Learners of matrices, which scikit-learn fits: logistic regression and gradient boosting.

Histories become rows of numbers, one per position; a model of its own is fitted for every target.
"""

from __future__ import annotations

import warnings
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np
import numpy.typing as npt

from summarkov.errors import SettingError, optional_library
from summarkov.events import EventSequences
from summarkov.events.vocabulary import translation
from summarkov.settings import check_whole
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


# ---------------------------------------------------------------------- models of scikit-learn


def logistic_regression() -> Any:
    """That of scikit-learn."""
    with optional_library("logistic regression", "scikit-learn", extra="baselines"):
        from sklearn.linear_model import LogisticRegression
    return LogisticRegression


def boosted_trees() -> Any:
    """Those of scikit-learn, of the histogram kind."""
    with optional_library("gradient boosting", "scikit-learn", extra="baselines"):
        from sklearn.ensemble import HistGradientBoostingClassifier
    return HistGradientBoostingClassifier


def ridge(matrix: Any, outcomes: BoolArray, C: float | None) -> Any:
    """Logistic regression with a squared penalty of weight 1 / C on coefficients; None: with none.

    Without a penalty it may not converge, since separable data have no optimum; that is no error.
    """
    model = logistic_regression()(C=np.inf if C is None else C, max_iter=1000, tol=1e-5)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*(failed to converge|[Ii]ncrease the number of iterations)")
        return model.fit(matrix, outcomes)


def trees(
    matrix: FloatArray, outcomes: BoolArray, leaves: int, learning_rate: float, l2: float, iterations: int
) -> Any:
    """Gradient boosting."""
    model = boosted_trees()(
        learning_rate=learning_rate,
        max_leaf_nodes=leaves,
        l2_regularization=l2,
        max_iter=iterations,
        min_samples_leaf=5,
        early_stopping=False,
        random_state=0,
    )
    return model.fit(matrix, outcomes)


@dataclass(frozen=True)
class Learned:
    """One fitted model per target; a target that never, or always, occurs has its base rate instead."""

    labels: tuple[str, ...]
    attributes: tuple[str, ...]
    models: Mapping[str, Any]
    matrix: Callable[[EventSequences], Any]

    def probability(self, events: EventSequences, target: str) -> FloatArray:
        """Probability of the target at every position, at least ``TINY`` away from 0 and 1."""
        model = self.models[target]
        if isinstance(model, float) or not events.n_ticks:
            return np.full(events.n_ticks, model if isinstance(model, float) else 0.0)
        with _one_thread():
            odds = model.decision_function(self.matrix(events))
        return clip(np.exp(-np.logaddexp(0.0, -odds)))

    def influencers(self, target: str) -> tuple[str, ...] | None:
        """What has a coefficient other than zero; None of trees, which may look at whatever there is."""
        model = self.models[target]
        if isinstance(model, float):
            return ()
        if not hasattr(model, "coef_"):
            return None
        has = model.coef_[0] != 0
        n = len(has) - len(self.attributes)
        used = [*has[:n].reshape(-1, len(self.labels)).any(axis=0), *has[n:]]
        return tuple(sorted(z for z, use in zip((*self.labels, *self.attributes), used, strict=True) if use))


@dataclass(frozen=True)
class MatrixContender:
    """A learner of matrices: histories become rows of numbers, one per position; it needs scikit-learn.

    Parameters
    ----------
    name : str
        What tables call it.
    grid : sequence of settings
        What to choose from: of logistic regression ``C``, smaller is more penalty, and None is none at all;
        of trees ``leaves``, ``learning_rate``, ``l2`` and ``iterations``, the number of trees.
    lookback : int, optional
        How many positions back the features of a regression look; None: trees, which see recency
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
        (boosted_trees if self.lookback is None else logistic_regression)()

    def fit_each(
        self, train: EventSequences, targets: Sequence[str]
    ) -> Iterator[tuple[dict[str, Any], Learned]]:
        """One per setting."""
        labels, attributes = train.labels, () if train.attributes is None else train.attributes.names
        kept: EventCache[Any] = EventCache(most=4)

        def features(events: EventSequences) -> Any:
            if self.lookback is None:
                return recency_features(events, attributes)
            return window_features(events, self.lookback, self.features, attributes)

        def matrix(events: EventSequences) -> Any:
            return kept.get(events, "", lambda: features(events.recode(labels, unknown="ignore")))

        fit: Callable[..., Any] = trees if self.lookback is None else ridge
        for settings in self.grid:
            models: dict[str, Any] = {}
            for target in targets:
                outcomes = is_target(train, target)
                if outcomes.all() or not outcomes.any():
                    models[target] = base_rate(outcomes)
                    continue
                with _one_thread():
                    models[target] = fit(matrix(train), outcomes, **settings)
            yield dict(settings), Learned(labels, attributes, models, matrix)


def _one_thread() -> Any:
    """Steps this small are many times slower on several threads than on one."""
    try:
        from threadpoolctl import threadpool_limits  # which comes with scikit-learn
    except ModuleNotFoundError:  # learning says that scikit-learn is missing
        return nullcontext()
    return threadpool_limits(limits=1)


def regression(
    lookback: int,
    features: str = "presence",
    strengths: Sequence[float | None] = (0.001, 0.01, 0.1, 1.0, 10.0, 100.0),
    name: str | None = None,
) -> MatrixContender:
    """Logistic regression of "the target comes next" on the last positions and attributes.

    ``strengths`` are the values of C to choose from; ``[None]`` is no penalty.

    >>> regression(3, "onehot", [None]).name
    '3-LR onehot unpenalised'
    """
    kind = " unpenalised" if [*strengths] == [None] else ""
    grid = tuple({"C": strength} for strength in strengths)
    return MatrixContender(name or f"{lookback}-LR {features}{kind}", grid, lookback, features)


def boosting(
    grid: Sequence[tuple[int, float, float]] = ((5, 0.05, 10.0), (8, 0.03, 100.0), (15, 0.05, 10.0)),
    n_trees: Sequence[int] = (30, 100, 300),
    name: str = "boosting",
) -> MatrixContender:
    """Gradient boosting of "the target comes next" on the lag to the last event of each label.

    It is not in the paper, but what a user would try. ``grid`` has leaves, learning rate and l2 of the kinds
    of trees, ``n_trees`` how many trees of each kind to try.

    >>> boosting(n_trees=[12]).grid[0]
    {'leaves': 5, 'learning_rate': 0.05, 'l2': 10.0, 'iterations': 12}
    """
    kinds = ({"leaves": leaves, "learning_rate": rate, "l2": l2} for leaves, rate, l2 in grid)
    return MatrixContender(name, tuple({**kind, "iterations": n} for kind in kinds for n in n_trees))
