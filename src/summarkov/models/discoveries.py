"""False-discovery control: influencers proposed by one half of the data and tested on the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from summarkov.confidence import Discoveries, Discovery, benjamini_yekutieli, rate_ratio
from summarkov.engines import CountSource, StateCounts
from summarkov.errors import DataError, SettingError
from summarkov.events.draws import Drawn, deal
from summarkov.explain import contrast, presence
from summarkov.models.bootstrap import Resampled, check_resampling
from summarkov.models.learning import learn_replicates, progress_counter
from summarkov.models.model import SummaryModel
from summarkov.settings import Progress, check_level, seed_of
from summarkov.typing import HashArray


@dataclass(frozen=True)
class Halves:
    """Two replicates: a half of the units, chosen at random, and the other."""

    seed: int = 0
    n: int = 2

    def drawn(self, replicate: int, keys: HashArray) -> Drawn:
        """The units of the half."""
        return deal(keys, [(len(keys) + 1) // 2], self.seed)[replicate]


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
    on_done = progress_counter(progress, len(models))
    n_targets = models[0].fitted.n_targets
    learned = learn_replicates(templates, halves, templates[0].make_summary(), n_targets, on_done)
    proposed = [results[0] for results in learned]
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


class Halved(Resampled):
    """A graph whose edges can also be proposed by one half of the data and tested on the other."""

    def discoveries(
        self,
        events: Any,
        *,
        rate: float = 0.1,
        seed: int = 0,
        random_state: int | None = None,
        blocks: Any = None,
        sample_weight: Any = None,
        progress: Progress = None,
    ) -> Discoveries:
        """Which edges hold if at most a share of ``rate`` may be false: for graphs over many labels.

        One half of the sequences, drawn at random, proposes the influencers of every target; the other half
        tests each of them, given the target's other influencers (a conditional G-test, see
        ``confidence.conditional_test``). Of all tests together those are kept that the
        procedure of Benjamini and Yekutieli allows. Half the data find less than all of them, so edges of the
        graph that are not kept need not be wrong; see :meth:`confidence` for those. The promise is about
        edges that do not hold given the others proposed: one that stands for an influencer that the first
        half missed is not false in this sense.

        Parameters
        ----------
        events, sample_weight
            What the graph was learned from.
        rate : float
            The share of false edges among those kept, on average, that one is ready to accept.
        seed, random_state, blocks, progress
            As for :meth:`confidence`; the halves are of sequences, or of blocks.

        >>> from summarkov import BSuMM, InfluenceGraph, read_events
        >>> events = read_events([["A", "B", "C"] * 4, ["C", "A", "B"] * 4] * 5)
        >>> found = InfluenceGraph(BSuMM(lookback=1)).fit(events).discoveries(events, rate=0.05)
        >>> [(edge.influencer, edge.target) for edge in found.kept]
        [('C', 'A'), ('A', 'B'), ('B', 'C')]
        """
        source = self._resampled_source(events, sample_weight)
        settings = {"rate": rate, "seed": seed_of(seed, random_state), "blocks": blocks, "progress": progress}
        return discoveries(list(self.models_.values()), source, **settings)
