"""LightGBM's multiclass trees for all targets, with all that a joint model sees: an outside contender.

It takes part in ``sm.compare(events, models=["joint-boosted", LightgbmContender()])``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from paper.network_contender import EventCache, clip, positives
from summarkov.comparison.contenders import recency_features, window_features
from summarkov.engines import Target
from summarkov.errors import SettingError, optional_library
from summarkov.events import EventSequences
from summarkov.kernels import Index
from summarkov.models.joint_parts import JointFeatures, ProfileSummary, base_rates
from summarkov.settings import check_whole
from summarkov.typing import FloatArray, IntArray

#: Kinds of trees: for few events and for many.
GRID: tuple[Mapping[str, float], ...] = (
    {"num_leaves": 4, "min_data_in_leaf": 20, "lambda_l2": 10},
    {"num_leaves": 8, "min_data_in_leaf": 20, "lambda_l2": 10},
    {"num_leaves": 4, "min_data_in_leaf": 5, "lambda_l2": 1},
    {"num_leaves": 8, "min_data_in_leaf": 50, "lambda_l2": 100},
)
#: Of the number of rounds that is best where a fit is stopped, the shares to choose from.
_SHARES = (0.5, 0.7, 0.85, 1.0)
#: A fit stops once this many rounds brought nothing.
_PATIENCE = 25


@dataclass(frozen=True)
class Histories:
    """Histories as rows of numbers: lags, counts in windows, the last labels, the place and habits."""

    labels: tuple[str, ...]
    targets: tuple[str, ...]
    rates: FloatArray
    cache: EventCache[FloatArray] = field(repr=False)

    def of(self, events: EventSequences) -> FloatArray:
        """One row per position, remembered."""
        return self.cache.get(
            events, "rows", lambda: self._compute(events.recode(self.labels, unknown="ignore"))
        )

    def outcomes(self, events: EventSequences) -> IntArray:
        """The target at every position, the number of targets for all other labels."""
        number = {label: at for at, label in enumerate(self.targets)}
        known = events.recode(self.labels)
        return np.array([number.get(label, len(self.targets)) for label in known.labels])[known.codes]

    @property
    def n_outcomes(self) -> int:
        """The targets, and one more unless they are all labels."""
        return len(self.targets) + (len(self.targets) < len(self.labels))

    def _compute(self, events: EventSequences) -> FloatArray:
        counts = [window_features(events, k, "counts").toarray() for k in (5, 10, 20, 500)]
        before, last = events.positions - 1, np.full((events.n_events, 3), -1)
        for lag in (1, 2, 3):
            there = np.flatnonzero(before >= lag)
            last[there, lag - 1] = events.codes[there - lag]
        summary, n = ProfileSummary(), len(self.labels)
        target = Target(tuple(self.labels.index(x) for x in self.targets), n)
        index = Index(events.codes, events.offsets, n)
        profile = summary.of(index)
        habits = JointFeatures(self.rates, target).of(profile).own
        lags = recency_features(events, last_position=200)
        return np.hstack([lags, *counts, last, *profile.followed, *habits]).astype(np.float32)


@dataclass(frozen=True)
class LightgbmPredictor:
    """Boosted trees, stopped after some rounds."""

    histories: Histories
    model: Any = field(repr=False)
    rounds: int
    rows: EventCache[FloatArray] = field(repr=False)

    def next_event(self, events: EventSequences) -> FloatArray:
        """The distribution at every position: one column per target, and one for all else."""
        if not events.n_events:
            return np.empty((0, self.histories.n_outcomes))

        def compute() -> FloatArray:
            said = self.model.predict(self.histories.of(events), num_iteration=self.rounds)
            return np.asarray(said, dtype=np.float64)

        return self.rows.get(events, (id(self.model), self.rounds), compute)

    def probability(self, events: EventSequences, target: str) -> FloatArray:
        """Probability of the target at every position, at least ``TINY`` away from 0 and 1."""
        return clip(self.next_event(events)[:, self.histories.targets.index(target)])

    def influencers(self, target: str) -> tuple[str, ...] | None:
        """None: trees may look at every label."""
        return None


@dataclass(frozen=True)
class LightgbmContender:
    """Multiclass gradient boosting by LightGBM, with the history features of a joint model.

    Parameters
    ----------
    grid : sequence of settings
        Kinds of trees to choose from, by LightGBM's names; one fit each.
    rounds : sequence of int
        After how many rounds a fit may be stopped.
    stop_on : events, optional
        End a fit early where these are foretold best, and choose among shares of that number of rounds
        instead: faster. Give the events that settings are chosen on, never those that are measured.
    learning_rate : float
        How much of the best step a tree takes.
    seed : int
        Of the rows and features that each tree is grown on.
    name : str
        What tables call it.
    """

    grid: Sequence[Mapping[str, float]] = GRID
    rounds: Sequence[int] = (20, 40, 60, 80, 120, 160, 240, 360, 600)
    stop_on: EventSequences | None = field(default=None, repr=False)
    learning_rate: float = 0.05
    seed: int = 0
    name: str = "LightGBM"
    one_for_all: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not len(self.grid) or not len(self.rounds):
            raise SettingError("grid and rounds must hold at least one setting each")
        for rounds in self.rounds:
            check_whole("rounds", rounds, 1)
        positives("learning_rate", [self.learning_rate])
        check_whole("seed", self.seed, 0)

    def require(self) -> None:
        """Refuse to go on without LightGBM."""
        _load()

    def fit_each(
        self, train: EventSequences, targets: Sequence[str]
    ) -> Iterator[tuple[dict[str, Any], LightgbmPredictor]]:
        """One per kind of trees and number of rounds."""
        lgb, rates = _load(), base_rates(train.label_counts.astype(float))
        histories = Histories(train.labels, tuple(targets), rates, EventCache(most=3))
        rows: EventCache[FloatArray] = EventCache(most=3)
        fixed = {
            "objective": "multiclass",
            "num_class": histories.n_outcomes,
            "learning_rate": self.learning_rate,
            "feature_fraction": 0.7,
            "bagging_fraction": 0.8,
            "bagging_freq": 1,
            "seed": self.seed,
            "num_threads": 1,
            "verbosity": -1,
        }
        for kind in self.grid:
            data = lgb.Dataset(histories.of(train), histories.outcomes(train), params={"verbosity": -1})
            valid, callbacks, numbers = [], [], sorted(set(self.rounds))
            if self.stop_on is not None:
                dev = self.stop_on
                valid = [lgb.Dataset(histories.of(dev), histories.outcomes(dev), reference=data)]
                callbacks = [lgb.early_stopping(_PATIENCE, verbose=False)]
            model = lgb.train({**fixed, **kind}, data, numbers[-1], valid, callbacks=callbacks)
            if self.stop_on is not None:
                numbers = sorted({max(1, round(model.best_iteration * share)) for share in _SHARES})
            for number in numbers:
                yield {**kind, "rounds": number}, LightgbmPredictor(histories, model, number, rows)


def _load() -> Any:
    with optional_library("gradient boosting by LightGBM", "lightgbm", extra="paper"):
        import lightgbm
    return lightgbm
