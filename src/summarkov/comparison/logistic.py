"""Logistic regression on the last few positions."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from summarkov.comparison.learners import (
    FEATURES,
    EventCache,
    attributes_of,
    base_rate,
    is_target,
    load_thread_limits,
    logistic,
    positives,
    window_features,
)
from summarkov.errors import SettingError, optional_library
from summarkov.events import EventSequences
from summarkov.settings import check_whole
from summarkov.typing import FloatArray

#: C of the second fit of a relaxed lasso.
_RELAXED = 10.0


@dataclass(frozen=True)
class Line:
    """One target's fitted regression: log-odds are ``intercept + features @ coefficients``."""

    intercept: float
    coefficients: FloatArray | None  # None for a target that is constant in training
    converged: bool = True


@dataclass(frozen=True)
class LogisticRegressionPredictor:
    """Fitted regressions, one per target."""

    labels: tuple[str, ...]
    attributes: tuple[str, ...]
    lookback: int
    features: str
    lines: Mapping[str, Line]
    matrices: EventCache[Any] = field(repr=False)

    def probability(self, events: EventSequences, target: str) -> FloatArray:
        r"""Probability of the target at every position, at least ``TINY`` away from 0 and 1.

        .. math:: 1 / (1 + \exp(-b_0 - b \cdot f(h)))
        """
        line = self.lines[target]
        log_odds = np.full(events.n_ticks, line.intercept)
        if line.coefficients is not None:
            log_odds += _features(self.matrices, events, self) @ line.coefficients
        return logistic(log_odds)

    def influencers(self, target: str) -> tuple[str, ...] | None:
        """What has a coefficient other than zero: with this kind of penalty, nearly all."""
        coefficients = self.lines[target].coefficients
        if coefficients is None:
            return ()
        n = len(coefficients) - len(self.attributes)
        used = [*(coefficients[:n].reshape(-1, len(self.labels)) != 0).any(axis=0), *(coefficients[n:] != 0)]
        return tuple(sorted(z for z, use in zip((*self.labels, *self.attributes), used, strict=True) if use))

    @property
    def not_converged(self) -> tuple[str, ...]:
        """The targets whose regression stopped before it had converged."""
        return tuple(target for target, line in self.lines.items() if not line.converged)


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

    A target that never, or always, occurs in training gets its smoothed base rate everywhere.

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
        _load()

    def fit_each(
        self, train: EventSequences, targets: Sequence[str]
    ) -> Iterator[tuple[dict[str, Any], LogisticRegressionPredictor]]:
        """One per value of C; ``{"C": None}`` without a penalty."""
        matrices: EventCache[Any] = EventCache(most=4)
        empty = LogisticRegressionPredictor(
            train.labels, attributes_of(train), self.lookback, self.features, {}, matrices
        )
        for strength in self.strengths if self.penalised else (None,):
            matrix = _features(matrices, train, empty)
            lines = {target: self._fit(matrix, is_target(train, target), strength) for target in targets}
            yield {"C": strength}, replace(empty, lines=lines)

    def _fit(self, matrix: Any, outcomes: Any, strength: float | None) -> Line:
        if outcomes.all() or not outcomes.any():
            rate = base_rate(outcomes)
            return Line(float(np.log(rate / (1 - rate))), None)
        if not self.relaxed:
            return self._solve(matrix, outcomes, C=np.inf if strength is None else strength)
        lasso = self._solve(matrix, outcomes, C=strength, **_lasso())
        assert lasso.coefficients is not None
        chosen = np.flatnonzero(lasso.coefficients)
        coefficients = np.zeros(matrix.shape[1])
        if not len(chosen):
            rate = base_rate(outcomes)
            return Line(float(np.log(rate / (1 - rate))), coefficients)
        again = self._solve(matrix[:, chosen], outcomes, C=_RELAXED)
        coefficients[chosen] = again.coefficients
        return Line(again.intercept, coefficients, again.converged)

    def _solve(self, matrix: Any, outcomes: Any, **penalty: Any) -> Line:
        model = _load()(max_iter=self.max_iterations, tol=self.tolerance, **penalty)
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
    named = {"penalty": "l1"} if _load()().get_params()["penalty"] == "l2" else {"l1_ratio": 1.0}
    return {**named, "solver": "liblinear", "random_state": 0}


def _features(matrices: EventCache[Any], events: EventSequences, like: LogisticRegressionPredictor) -> Any:
    """The features of events, written in the vocabulary of training, remembered."""
    return matrices.get(
        events,
        "features",
        lambda: window_features(
            events.recode(like.labels, unknown="ignore"), like.lookback, like.features, like.attributes
        ),
    )


def _load() -> Any:
    with optional_library("logistic regression", "scikit-learn", extra="baselines"):
        from sklearn.linear_model import LogisticRegression
    return LogisticRegression
