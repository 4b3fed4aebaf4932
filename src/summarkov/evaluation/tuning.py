"""The table protocol: fit on train, choose on dev for each target, report on test; no refit."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from summarkov.baselines import BlockPredictor, Contender, Predictor
from summarkov.baselines.contenders import MOST_MODELS, Data
from summarkov.errors import SettingError
from summarkov.evaluation.measures import Measures, log_likelihoods, report
from summarkov.events import EventSequences
from summarkov.typing import FloatArray


@dataclass(frozen=True)
class Split:
    """Train, dev and test over one vocabulary."""

    train: Data
    dev: Data
    test: Data


@dataclass(frozen=True)
class Chosen:
    """What was chosen for one target, and how it did on test."""

    target: str
    settings: dict[str, Any]
    dev_log_likelihood: float
    n_influencers: int | None
    measures: Measures
    influencers: tuple[str, ...] | None = None

    def to_dict(self) -> dict[str, Any]:
        """As plain values, for JSON."""
        return {**vars(self), "measures": self.measures.to_dict()}

    @classmethod
    def from_dict(cls, given: dict[str, Any]) -> Chosen:
        """Read what :meth:`to_dict` returned."""
        found = given.get("influencers")
        return cls(
            **{
                **given,
                "measures": Measures.from_dict(given["measures"]),
                "influencers": None if found is None else tuple(found),
            }
        )


@dataclass(frozen=True)
class Tuned:
    """One contender on one split."""

    name: str
    chosen: tuple[Chosen, ...]
    by_sequence: FloatArray  # log-likelihood of each test sequence, mean over the targets
    seconds: float
    top_1: float | None
    top_3: float | None

    def to_dict(self) -> dict[str, Any]:
        """As plain values, for JSON."""
        chosen = [each.to_dict() for each in self.chosen]
        return {**vars(self), "chosen": chosen, "by_sequence": self.by_sequence.tolist()}

    @classmethod
    def from_dict(cls, given: dict[str, Any]) -> Tuned:
        """Read what :meth:`to_dict` returned."""
        chosen = tuple(Chosen.from_dict(each) for each in given["chosen"])
        return cls(**{**given, "chosen": chosen, "by_sequence": np.array(given["by_sequence"])})

    @property
    def n_positions(self) -> int:
        """The number of positions in the test part: events, or ticks where events happened together."""
        return int(self.chosen[0].measures.reliability[:, 0].sum())

    @property
    def log_likelihood(self) -> float:
        """Test log-likelihood, mean over the targets: a cell of the paper's tables."""
        return float(np.mean([each.measures.log_likelihood for each in self.chosen]))


@dataclass(frozen=True)
class _Best:
    """What is best on dev for one target, so far."""

    dev: float
    settings: dict[str, Any]
    influencers: tuple[str, ...] | None
    predictor: Predictor


def tune(contender: Contender, split: Split, targets: Sequence[str]) -> Tuned:
    """Choose a contender's settings for each target by log-likelihood on dev; ties go to the first.

    One that says ``one_for_all = True`` has the same settings for all targets, those with the largest sum of
    their log-likelihoods.

    Test is predicted once, with what is best on dev, and has no say in the choice. Accuracy of the next event
    is told where every label that occurs in train is a target.
    """
    start = time.perf_counter()
    best: dict[str, _Best] = {}
    train: Any = split.train  # a contender is given no source unless it takes them
    in_memory = isinstance(split.dev, EventSequences)  # where a pass for each of the settings costs nothing
    at_once = 1 if in_memory else max(1, MOST_MODELS // max(1, len(targets)))
    each = iter(contender.fit_each(train, targets))
    while some := list(islice(each, at_once)):
        asked = [dict.fromkeys(targets, predictor) for _, predictor in some]
        for (settings, predictor), on_dev in zip(
            some, log_likelihoods(split.dev, contender.name, asked), strict=True
        ):
            for target in _better(on_dev, best, getattr(contender, "one_for_all", False)):
                influencers = predictor.influencers(target)
                kept = predictor.only(target) if isinstance(predictor, BlockPredictor) else predictor
                best[target] = _Best(on_dev[target], plain(settings), influencers, kept)
    if not best:
        raise SettingError(f"{contender.name} has no settings to choose from, or there are no targets")
    in_train = {x for x, n in zip(train.labels, train.label_counts.tolist(), strict=True) if n}
    chosen_ones = {target: one.predictor for target, one in best.items()}
    found = report(split.test, contender.name, chosen_ones, accuracy=in_train <= set(best))
    chosen = tuple(
        Chosen(target, one.settings, one.dev, n_influencers, found.sums[target].measures, one.influencers)
        for target, one in best.items()
        for n_influencers in [None if one.influencers is None else len(one.influencers)]
    )
    n = max(split.test.n_events, 1)
    top_1, top_3 = (None, None) if found.hits is None else (right / n for right in found.hits)
    seconds = time.perf_counter() - start
    return Tuned(contender.name, chosen, found.by_sequence, seconds, top_1, top_3)


def _better(on_dev: Mapping[str, float], best: Mapping[str, _Best], one_for_all: bool) -> list[str]:
    """The targets for which something new is better than the best so far: each for itself, or all or none."""
    if not best:
        return list(on_dev)
    if one_for_all:
        return list(on_dev) if sum(on_dev.values()) > sum(one.dev for one in best.values()) else []
    return [target for target, dev in on_dev.items() if dev > best[target].dev]


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
