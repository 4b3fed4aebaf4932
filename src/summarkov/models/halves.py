"""False-discovery control: influencers proposed by one half of the data and tested on the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from summarkov.confidence import Discoveries, Discovery, benjamini_yekutieli, rate_ratio
from summarkov.engines import CountSource, StateCounts
from summarkov.errors import DataError, SettingError
from summarkov.explain import contrast, presence
from summarkov.models.bootstrap import check_resampling
from summarkov.models.learning import learn_replicates, told
from summarkov.models.model import SummaryModel
from summarkov.settings import Progress, check_level
from summarkov.typing import IntArray


@dataclass(frozen=True)
class Halves:
    """Two replicates: a half of the units, chosen at random, and the other."""

    seed: int = 0
    n: int = 2

    def weights(self, replicate: int, n_units: int) -> IntArray:
        """1 for the units of the half, else 0."""
        order = np.random.default_rng(self.seed).permutation(n_units)
        chosen = np.zeros(n_units, np.int64)
        chosen[order[: (n_units + 1) // 2] if replicate == 0 else order[(n_units + 1) // 2 :]] = 1
        return chosen


def discoveries(
    models: Sequence[SummaryModel],
    source: CountSource,
    *,
    rate: float = 0.1,
    seed: int = 0,
    blocks: Any = None,
    progress: Progress = None,
) -> Discoveries:
    """Propose and test edges for fitted models of one kind; see :meth:`InfluenceGraph.discoveries`."""
    local = check_resampling(models, source, 2, seed)
    if not models[0].fitted.summary.by_level:
        name = type(models[0]).__name__
        raise SettingError(f"edges of a {name} cannot be tested; use a BSuMM, OSuMM or CSuMM")
    check_level("rate", rate)
    halves = local.replicated(Halves(seed), blocks)
    if halves.n_units < 2:
        raise DataError(f"there is nothing to split in halves; give at least two {halves.units}")
    templates = [type(model)(**model.fitted.settings) for model in models]
    on_done = told(progress, len(models))
    proposed = [r[0] for r in learn_replicates(templates, halves, templates[0].make_summary(), on_done)]
    requests = [  # with the summary that this half learned, where one is
        replace(model.fitted.request, summary=half.summary, influencers=half.influencers, replicates=(1,))
        for model, half in zip(models, proposed, strict=True)
    ]
    names, tests = [], []
    for model, half, table in zip(models, proposed, halves.count(requests), strict=True):
        assert isinstance(table, StateCounts)
        one = presence(StateCounts(table.keys, table.counts[0]))
        for column, z in enumerate(half.influencers):
            for outcome, label in enumerate(model.target_):
                names.append((model.labels_[z], label))
                test = rate_ratio(contrast(one, halves.scale, column, outcome).strata)
                tests.append(test)
    adjusted = benjamini_yekutieli([float(test.p_value) for test in tests])
    found = [
        Discovery(
            *name,
            ratio=float(test.ratio),
            low=float(test.low),
            high=float(test.high),
            p_value=float(test.p_value),
            adjusted=q,
            is_kept=q <= rate,
        )
        for name, test, q in zip(names, tests, adjusted, strict=True)
    ]
    return Discoveries(float(rate), seed, halves.units, halves.n_units, tuple(found))
