"""Bags of trees as contenders: every tree grown once, pruned and read with each of the settings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from summarkov.baselines.contender import FloatArray, Predictor
from summarkov.engines.resampling import Bootstrap
from summarkov.events import EventSequences
from summarkov.models import InfluenceGraph, TreeSuMM


@dataclass(frozen=True)
class BagPredictor:
    """The trees of every target."""

    trees: Mapping[str, Sequence[TreeSuMM]]

    def probability(self, events: EventSequences, target: str) -> FloatArray:
        """The mean over the target's trees."""
        return np.asarray(np.mean([tree.predict_proba(events)[:, 0] for tree in self.trees[target]], axis=0))

    def influencers(self, target: str) -> tuple[str, ...] | None:
        """Those of any tree."""
        return tuple(sorted({z for tree in self.trees[target] for z in tree.influencers_}))


@dataclass(frozen=True)
class BagContender:
    """Bags of trees (:class:`summarkov.Bag`), with penalties and weights of shrinkage to choose from."""

    name: str = "tree-bag"
    template: TreeSuMM = field(default_factory=TreeSuMM)
    gammas: Sequence[float] = (0.25, 0.5, 0.75)
    alphas: Sequence[float] = (1.5, 5.0, 15.0)
    n_models: int = 15
    seed: int = 0
    n_jobs: int | None = field(default=None, repr=False)  # changes nothing but the time

    def candidates(
        self, train: EventSequences, targets: Sequence[str]
    ) -> Iterator[tuple[dict[str, Any], Predictor]]:
        """Every combination of penalty and weight."""
        grown = self.template.copy(gamma=min(self.gammas))
        draws = Bootstrap(self.n_models, self.seed)
        bags: dict[str, list[TreeSuMM]] = {target: [] for target in targets}
        for number in range(self.n_models):
            graph = InfluenceGraph(grown, targets=tuple(targets), n_jobs=self.n_jobs)
            graph.fit(train, sample_weight=draws.weights(number, len(train)))
            for target, model in graph.models_.items():
                assert isinstance(model, TreeSuMM)
                bags[target].append(model)
        for gamma in self.gammas:
            for alpha in self.alphas:
                settings = {"gamma": gamma, "alpha": alpha}
                read = {x: [tree.with_settings(**settings) for tree in trees] for x, trees in bags.items()}
                yield settings, BagPredictor(read)
