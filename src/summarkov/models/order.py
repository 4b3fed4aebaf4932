"""The order test: the edges of a graph against the same sequences shuffled inside."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from summarkov.confidence import (
    EdgeOrder,
    OrderTest,
    RateRatio,
    Remainder,
    Sums,
    against_shuffled,
    benjamini_hochberg,
    order_word,
)
from summarkov.engines import CountSource, StateCounts
from summarkov.engines.followed import Asked
from summarkov.engines.shuffled import Shuffles, count_shuffled, longest_reach
from summarkov.errors import SettingError
from summarkov.explain import contrast
from summarkov.models.bootstrap import check_resampling
from summarkov.models.fitted_rules import tested_codes
from summarkov.models.model import SummaryModel
from summarkov.settings import Progress, is_whole, reporter
from summarkov.typing import FloatArray

#: Events of each sequence that stay in place: nothing came before the first that could have influenced it.
_KEPT = 1
#: Blocks in which events change places are so many times as long as the longest look-back.
_TIMES = 4


def order_test(
    models: Sequence[SummaryModel],
    source: CountSource,
    *,
    n: int = 99,
    within: int | str | None = "auto",
    seed: int = 0,
    progress: Progress = None,
) -> OrderTest:
    """Test the edges of fitted models of one kind; see :meth:`InfluenceGraph.order_test`."""
    check_resampling(models, source, n, seed)
    if n < 19:
        raise SettingError(f"n must be at least 19 shuffles, not {n}; a spread from fewer means little")
    chosen = is_whole(within) and within >= 2
    if not (within is None or (isinstance(within, str) and within == "auto") or chosen):
        raise SettingError(
            "within must be a number of positions from 2 on, 'auto', or None for whole sequences, not "
            f"{within!r}"
        )
    if not models[0].fitted.summary.by_label:
        raise SettingError(f"a {type(models[0]).__name__} has no edges; use a BSuMM, OSuMM or CSuMM")
    influenced = [model for model in models if model.fitted.influencers]
    asked = [_asked(model) for model in influenced]
    positions = _positions(asked) if isinstance(within, str) else within
    shuffled = _Shuffled(source, Shuffles(int(n), int(seed), positions, _KEPT))
    edges = shuffled.edges(influenced, asked, reporter(progress))
    n_pairs = sum(map(_n_candidates, models))
    found = _with_remainders(shuffled, edges, _tested(edges, n_pairs), n_pairs)
    return OrderTest(int(n), int(seed), positions, n_pairs, tuple(found))


def _positions(asked: Sequence[Asked]) -> int | None:
    """Blocks long enough for what happens within a look-back, and not for slow changes."""
    reach = longest_reach(asked)
    return None if reach is None else _TIMES * reach


def _asked(model: SummaryModel, more: Iterable[int] = ()) -> Asked:
    """A target beside its influencers, and some labels more."""
    fitted = model.fitted
    windows = tuple(fitted.reach(fitted.labels[z]) for z in fitted.influencers)
    return Asked(fitted.influencers, windows, tuple(sorted({*fitted.target.codes, *more})))


def _n_candidates(model: SummaryModel) -> int:
    """How many influencers the search could choose from."""
    settings = model.fitted.settings
    return len(tested_codes(model.fitted.labels, settings["candidates"], settings["forbidden"]))


@dataclass(frozen=True)
class _Shuffled:
    """Where the counts of edges come from."""

    source: CountSource
    shuffles: Shuffles

    def edges(
        self,
        models: Sequence[SummaryModel],
        asked: Sequence[Asked],
        progress: Callable[[int, int], None] | None = None,
    ) -> list[_Edge]:
        """All edges of some models, with what was counted."""
        tables = count_shuffled(self.source, asked, self.shuffles, progress) if asked else []
        return [
            _Edge(model, one, table, self.source.scale, column)
            for model, one, table in zip(models, asked, tables, strict=True)
            for column in range(len(one.influencers))
        ]


@dataclass(frozen=True)
class _Edge:
    """The influencer in ``column`` of a model, and the counts of the data and of the shuffles."""

    model: SummaryModel
    asked: Asked
    table: StateCounts
    scale: int
    column: int

    @property
    def influencer(self) -> str:
        return self.model.fitted.labels[self.asked.influencers[self.column]]

    @property
    def target(self) -> str:
        return self.model.target_[0]

    @property
    def shown(self) -> float:
        """The ratio that the graph shows."""
        edges = {i.influencer: i.ratio for i in self.model.fitted.influences}
        return edges.get(self.influencer, np.nan)

    def sums(self, left_out: Collection[str] = ()) -> Sums:
        """The sums of the data and of each shuffle, without the events of some labels."""
        names = self.model.fitted.labels
        gone = [at for at, code in enumerate(self.asked.labels) if names[code] in left_out]
        kept = [code for code in self.asked.labels if names[code] not in left_out]
        table = StateCounts(self.table.keys, np.delete(self.table.counts, gone, axis=-1))
        outcome = kept.index(self.model.fitted.target.codes[0])
        return Sums.of(contrast(table, self.scale, self.column, outcome).strata)


def _estimates(sums: Sequence[Sums]) -> tuple[RateRatio, FloatArray]:
    return against_shuffled(Sums(*(np.array(each) for each in zip(*sums, strict=True))))


def _tested(edges: Sequence[_Edge], n_pairs: int) -> list[EdgeOrder]:
    if not edges:
        return []
    sums = [edge.sums() for edge in edges]
    found, shuffled = _estimates(sums)
    adjusted = benjamini_hochberg(found.p_value.tolist(), n_pairs)
    numbers = zip(found.ratio.tolist(), found.low.tolist(), found.high.tolist(), strict=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        observed = [float(each.above[0] / each.below[0]) for each in sums]
    return [
        EdgeOrder(
            edge.influencer,
            edge.target,
            order_word(edge.shown, low, high, adjusted[at]),
            ratio,
            low,
            high,
            float(found.p_value[at]),
            adjusted[at],
            observed[at],
            float(shuffled[at]),
        )
        for at, (edge, (ratio, low, high)) in enumerate(zip(edges, numbers, strict=True))
    ]


def _with_remainders(
    shuffled: _Shuffled, edges: Sequence[_Edge], found: Sequence[EdgeOrder], n_pairs: int
) -> list[EdgeOrder]:
    """Add to inhibitions about order what is left without the labels that their influencer amplifies."""
    amplified: dict[str, set[str]] = defaultdict(set)
    for one in found:
        if one.order == "about order" and one.ratio > 1:
            amplified[one.influencer].add(one.target)
    again = [
        at
        for at, one in enumerate(found)
        if one.order == "about order" and one.ratio < 1 and one.influencer in amplified
    ]
    result = list(found)
    if not again:
        return result
    models = {edges[at].target: edges[at].model for at in again}
    beside: dict[str, set[int]] = defaultdict(set)
    for at in again:
        labels = edges[at].model.fitted.labels
        beside[edges[at].target] |= {labels.index(label) for label in amplified[found[at].influencer]}
    asked = [_asked(model, beside[target]) for target, model in models.items()]
    counted = {(e.influencer, e.target): e for e in shuffled.edges(list(models.values()), asked)}
    sums = [
        counted[found[at].influencer, found[at].target].sums(amplified[found[at].influencer]) for at in again
    ]
    left, _ = _estimates(sums)
    adjusted = benjamini_hochberg(left.p_value.tolist(), n_pairs)
    for row, at in enumerate(again):
        remainder = Remainder(
            tuple(sorted(amplified[found[at].influencer])),
            float(left.ratio[row]),
            float(left.low[row]),
            float(left.high[row]),
            float(left.p_value[row]),
            adjusted[row],
        )
        result[at] = replace(found[at], remainder=remainder)
    return result
