"""Bags of trees as contenders: every tree is grown once, then pruned and read with each of the settings."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from summarkov.baselines.contender import FloatArray, Predictor, TreeContender
from summarkov.engines.resampling import Bootstrap
from summarkov.events import EventSequences
from summarkov.models import TreeSuMM


@dataclass(frozen=True)
class BagPredictor:
    """Predictors whose mean is taken."""

    each: Sequence[Predictor]

    def probability(self, events: EventSequences, target: str) -> FloatArray:
        """The mean."""
        return np.asarray(np.mean([one.probability(events, target) for one in self.each], axis=0))

    def influencers(self, target: str) -> tuple[str, ...] | None:
        """Those of any of them."""
        return tuple(sorted({z for one in self.each for z in one.influencers(target) or ()}))


@dataclass(frozen=True)
class BagContender:
    """Bags of trees (:class:`summarkov.Bag`), with the grid of a :class:`TreeContender`."""

    name: str
    template: TreeSuMM
    grid: Mapping[str, Sequence[Any]]
    n_models: int = 40
    seed: int = 0
    n_jobs: int | None = field(default=None, repr=False)  # changes nothing but the time

    def candidates(
        self, train: EventSequences, targets: Sequence[str]
    ) -> Iterator[tuple[dict[str, Any], Predictor]]:
        """Every combination of the grid."""
        trees = TreeContender(self.name, self.template, self.grid, self.n_jobs)
        draws = Bootstrap(self.n_models, self.seed)
        bag = [
            trees.grow(train, targets, draws.weights(number, len(train))) for number in range(self.n_models)
        ]
        for values in itertools.product(*self.grid.values()):
            settings = dict(zip(self.grid, values, strict=True))
            yield settings, BagPredictor([trees.read(grown, settings) for grown in bag])
