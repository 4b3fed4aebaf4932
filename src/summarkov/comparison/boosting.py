"""Gradient boosting on how long ago each label occurred."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from summarkov.comparison.learners import (
    EventCache,
    attributes_of,
    base_rate,
    is_target,
    load_thread_limits,
    logistic,
    positives,
    recency_features,
)
from summarkov.errors import SettingError, optional_library
from summarkov.events import EventSequences
from summarkov.settings import check_whole
from summarkov.typing import FloatArray


class Trees(NamedTuple):
    """What kind of trees, and how much each one says."""

    leaves: int
    learning_rate: float
    l2: float


class Stages:
    """The log-odds of one target on some events, tree by tree; going forward costs one tree per step."""

    def __init__(self, model: Any, matrix: FloatArray, threads: int) -> None:
        self._model, self._matrix, self._threads = model, matrix, threads
        self._restart()

    def _restart(self) -> None:
        self._steps = self._model.staged_decision_function(self._matrix)
        self._at, self._log_odds = 0, np.zeros(len(self._matrix))

    def log_odds(self, iteration: int) -> FloatArray:
        """The sum over the first trees; asking for fewer trees than before starts over."""
        if iteration < self._at:
            self._restart()
        with load_thread_limits()(limits=self._threads, user_api="openmp"):
            while self._at < iteration:
                self._log_odds = np.asarray(next(self._steps), dtype=np.float64).reshape(-1)
                self._at += 1
        return self._log_odds


@dataclass(frozen=True)
class BoostedTrees:
    """The boosted trees of every target, and what was computed with them."""

    labels: tuple[str, ...]
    attributes: tuple[str, ...]
    models: Mapping[str, Any]  # a target that is constant in training has its base rate instead
    threads: int
    matrices: EventCache[FloatArray] = field(repr=False)
    stages: EventCache[Stages] = field(repr=False)

    def probability(self, events: EventSequences, target: str, iteration: int) -> FloatArray:
        """Probability of the target at every position by the first ``iteration`` trees."""
        model = self.models[target]
        if isinstance(model, float):
            return np.full(events.n_ticks, model)
        if not events.n_ticks:
            return np.empty(0)
        stages = self.stages.get(
            events,
            target,
            lambda: Stages(
                model, _features(self.matrices, events, self.labels, self.attributes), self.threads
            ),
        )
        return logistic(stages.log_odds(iteration))


@dataclass(frozen=True)
class BoostingPredictor:
    """Boosted trees, stopped after some iterations."""

    trees: BoostedTrees
    iteration: int

    def probability(self, events: EventSequences, target: str) -> FloatArray:
        """Probability of the target at every position, at least ``TINY`` away from 0 and 1."""
        return self.trees.probability(events, target, self.iteration)

    def influencers(self, target: str) -> tuple[str, ...] | None:
        """None: trees may look at every label."""
        return None


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

    A target that never, or always, occurs in training gets its smoothed base rate everywhere.

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
        _load()

    def fit_each(
        self, train: EventSequences, targets: Sequence[str]
    ) -> Iterator[tuple[dict[str, Any], BoostingPredictor]]:
        """One per kind of trees and number of them."""
        matrices: EventCache[FloatArray] = EventCache(most=3)
        for kind in (Trees(*kind) for kind in self.grid):
            models = {target: self._fit(train, target, kind, matrices) for target in targets}
            stages: EventCache[Stages] = EventCache(most=3 * max(len(targets), 1))
            trees = BoostedTrees(train.labels, attributes_of(train), models, self.threads, matrices, stages)
            for iteration in self.checkpoints:
                yield {**kind._asdict(), "iterations": iteration}, BoostingPredictor(trees, iteration)

    def _fit(self, train: EventSequences, target: str, kind: Trees, matrices: EventCache[FloatArray]) -> Any:
        outcomes = is_target(train, target)
        if outcomes.all() or not outcomes.any():
            return base_rate(outcomes)
        model = _load()(
            learning_rate=kind.learning_rate,
            max_leaf_nodes=kind.leaves,
            l2_regularization=kind.l2,
            max_iter=self.iterations,
            min_samples_leaf=self.min_samples_leaf,
            early_stopping=False,
            random_state=0,
        )
        with load_thread_limits()(limits=self.threads, user_api="openmp"):
            return model.fit(_features(matrices, train, train.labels, attributes_of(train)), outcomes)


def _features(
    matrices: EventCache[FloatArray],
    events: EventSequences,
    labels: tuple[str, ...],
    attributes: tuple[str, ...],
) -> FloatArray:
    """The features of events, written in the vocabulary of training, remembered."""
    return matrices.get(
        events, "features", lambda: recency_features(events.recode(labels, unknown="ignore"), attributes)
    )


def _load() -> Any:
    with optional_library("gradient boosting", "scikit-learn", extra="baselines"):
        from sklearn.ensemble import HistGradientBoostingClassifier
    return HistGradientBoostingClassifier
