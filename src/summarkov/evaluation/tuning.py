"""The table protocol: fit on train, choose on dev for each target, report on test; no refit."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from summarkov.baselines import Contender, Predictor
from summarkov.errors import SettingError
from summarkov.evaluation.measures import FloatArray, Measures, log_likelihood, measure, top_k
from summarkov.events import EventSequences

#: Accuracy of the next event is left out where the probabilities of all labels would not fit in memory.
_MOST_CELLS = 10**8
#: A probability may be so far outside 0 to 1.
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Split:
    """Train, dev and test over one vocabulary."""

    train: EventSequences
    dev: EventSequences
    test: EventSequences


@dataclass(frozen=True)
class Chosen:
    """What was chosen for one target, and how it did on test."""

    target: str
    settings: dict[str, Any]
    dev_log_likelihood: float
    n_influencers: int | None
    measures: Measures

    def to_dict(self) -> dict[str, Any]:
        """As plain values, for JSON."""
        return {**vars(self), "measures": self.measures.to_dict()}

    @classmethod
    def from_dict(cls, given: dict[str, Any]) -> Chosen:
        """Read what :meth:`to_dict` returned."""
        return cls(**{**given, "measures": Measures.from_dict(given["measures"])})


@dataclass(frozen=True)
class Tuned:
    """One contender on one split."""

    name: str
    chosen: tuple[Chosen, ...]
    seconds: float
    top_1: float | None
    top_3: float | None

    def to_dict(self) -> dict[str, Any]:
        """As plain values, for JSON."""
        return {**vars(self), "chosen": [each.to_dict() for each in self.chosen]}

    @classmethod
    def from_dict(cls, given: dict[str, Any]) -> Tuned:
        """Read what :meth:`to_dict` returned."""
        return cls(**{**given, "chosen": tuple(Chosen.from_dict(each) for each in given["chosen"])})

    @property
    def by_sequence(self) -> FloatArray:
        """Log-likelihood of each test sequence, mean over the targets."""
        return np.asarray(np.mean([each.measures.by_sequence for each in self.chosen], axis=0))

    @property
    def log_likelihood(self) -> float:
        """Test log-likelihood, mean over the targets: a cell of the paper's tables."""
        return float(np.mean([each.measures.log_likelihood for each in self.chosen]))


def tune(contender: Contender, split: Split, targets: Sequence[str]) -> Tuned:
    """Choose a contender's settings for each target by log-likelihood on dev; ties go to the first.

    Test is predicted only with settings that are the best on dev so far, and has no say in the choice.
    Accuracy of the next event is told where every label that occurs in train is a target.
    """
    start = time.perf_counter()
    best: dict[str, tuple[float, dict[str, Any], FloatArray, int | None]] = {}
    on_dev = {target: split.dev.codes == split.dev.code(target) for target in targets}
    for settings, predictor in contender.candidates(split.train, targets):
        for target in targets:
            dev = log_likelihood(_asked(contender, predictor, split.dev, target), on_dev[target])
            if target not in best or dev > best[target][0]:
                influencers = predictor.influencers(target)
                p = _asked(contender, predictor, split.test, target)
                best[target] = (dev, plain(settings), p, None if influencers is None else len(influencers))
    if not best:
        raise SettingError(f"{contender.name} has no settings to choose from, or there are no targets")
    chosen = tuple(
        Chosen(target, settings, dev, n_influencers, measure(split.test, target, p))
        for target, (dev, settings, p, n_influencers) in best.items()
    )
    seconds = time.perf_counter() - start
    accuracy: tuple[float, float] | tuple[None, None] = (None, None)
    labels = sorted(best)
    in_train = np.array(split.train.labels)[split.train.label_counts > 0].tolist()
    if set(labels) >= set(in_train) and split.test.n_events * len(labels) <= _MOST_CELLS:
        p = np.column_stack([best[label][2] for label in labels])
        test = split.test.recode(labels, unknown="ignore")
        accuracy = (top_k(test, p, 1), top_k(test, p, 3))
    return Tuned(contender.name, chosen, seconds, *accuracy)


def plain(value: Any) -> Any:
    """Settings as JSON can hold them, so that a result is the same when it was stored in between.

    >>> plain({"lookback": np.int64(5), "grid": (1, float("inf")), "of": BaseException})
    {'lookback': 5, 'grid': [1, 'inf'], 'of': "<class 'BaseException'>"}
    """
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if np.isfinite(value) else str(value)
    if isinstance(value, Mapping):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    return repr(value)


def _asked(contender: Contender, predictor: Predictor, events: EventSequences, target: str) -> FloatArray:
    """The probabilities, refused if they are none."""
    p = np.asarray(predictor.probability(events, target), dtype=np.float64)
    if p.shape != (events.n_events,):
        raise SettingError(
            f"{contender.name} must give {target!r} one probability a position, {events.n_events} of them, "
            f"not an array of shape {p.shape}"
        )
    if not ((p >= -_ROUNDING) & (p <= 1 + _ROUNDING)).all():
        raise SettingError(f"{contender.name} gives {target!r} a probability that is not between 0 and 1")
    return np.clip(p, 0.0, 1.0)
