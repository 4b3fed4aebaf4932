"""Bags of trees as contenders: every tree is grown once, then pruned and read with each of the settings."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from summarkov.baselines.contender import Data, PiecewisePredictor, Predictor, TreeContender
from summarkov.engines import EventSource, most_memory
from summarkov.engines.resampling import Bootstrap
from summarkov.events import EventSequences
from summarkov.kernels import Index
from summarkov.models import TreeSuMM
from summarkov.typing import FloatArray


@dataclass(frozen=True)
class BagPredictor:
    """Predictors whose mean is taken."""

    each: Sequence[PiecewisePredictor]

    def probability(self, events: EventSequences, target: str) -> FloatArray:
        """The mean."""
        return self._mean(one.probability(events, target) for one in self.each)

    def influencers(self, target: str) -> tuple[str, ...] | None:
        """Those of any of them."""
        return tuple(sorted({z for one in self.each for z in one.influencers(target) or ()}))

    def memory(self) -> tuple[int, int | None]:
        """What all of them need."""
        return most_memory(one.memory() for one in self.each)

    def at(self, index: Index, target: str) -> FloatArray:
        """The mean, on a piece."""
        return self._mean(one.at(index, target) for one in self.each)

    def only(self, target: str) -> BagPredictor:
        """Of each what is needed."""
        return BagPredictor([one.only(target) for one in self.each])

    def _mean(self, each: Iterator[FloatArray]) -> FloatArray:
        total = next(each).copy()
        for p in each:
            total += p
        return total / len(self.each)


@dataclass(frozen=True)
class BagContender:
    """Bags of trees (:class:`summarkov.Bag`), with the grid of a :class:`TreeContender`."""

    name: str
    template: TreeSuMM
    grid: Mapping[str, Sequence[Any]]
    n_models: int = 40
    seed: int = 0
    n_jobs: int | None = field(default=None, repr=False)  # changes nothing but the time
    takes_sources: ClassVar[bool] = True

    def candidates(self, train: Data, targets: Sequence[str]) -> Iterator[tuple[dict[str, Any], Predictor]]:
        """Every combination of the grid."""
        trees = TreeContender(self.name, self.template, self.grid, self.n_jobs)
        bag = list(self._grown(trees, train, targets))
        for values in itertools.product(*self.grid.values()):
            settings = dict(zip(self.grid, values, strict=True))
            yield settings, BagPredictor([trees.read(grown, settings) for grown in bag])

    def _grown(
        self, trees: TreeContender, train: Data, targets: Sequence[str]
    ) -> Iterator[dict[str, TreeSuMM]]:
        """The trees of every resample; only sequences with something to count are drawn."""
        draws = Bootstrap(self.n_models, self.seed)
        if isinstance(train, EventSource):
            drawn = train.replicated(draws)
            yield from (trees.grow(drawn.one(number), targets) for number in range(self.n_models))
            return
        held = train.lengths > 0
        for number in range(self.n_models):
            times = np.zeros(len(train), np.int64)
            times[held] = draws.weights(number, int(held.sum()))
            yield trees.grow(train, targets, times)
