"""The edges of a graph in the data and in shuffled sequences, with and without the labels beside them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from summarkov.confidence import (
    EdgeOrder,
    RateRatio,
    Remainder,
    Sums,
    against_shuffled,
    benjamini_hochberg,
    competing,
    order_word,
)
from summarkov.engines import CountSource, StateCounts
from summarkov.engines.shuffled import count_shuffled
from summarkov.engines.shuffles import Shuffles
from summarkov.engines.surveys import Asked
from summarkov.explain import contrast
from summarkov.models.tree import tested_codes
from summarkov.typing import FloatArray

if TYPE_CHECKING:
    from summarkov.models.model import SummaryModel


def tested_edges(
    models: Sequence[SummaryModel],
    source: CountSource,
    shuffles: Shuffles,
    n_pairs: int,
    progress: Callable[[int, int], None] | None,
) -> list[EdgeOrder]:
    """What the order test says of every edge of some models; ``n_pairs`` could have been chosen."""
    shuffled = _Shuffled(source, shuffles)
    edges = shuffled.edges(models, [asked_of(model) for model in models], progress)
    return _with_remainders(shuffled, edges, _tested(edges, n_pairs), n_pairs)


def asked_of(model: SummaryModel, more: Iterable[int] = ()) -> Asked:
    """A target beside its influencers, and some labels more."""
    fitted = model.fitted
    windows = tuple(fitted.reach(fitted.labels[z]) for z in fitted.influencers)
    return Asked(fitted.influencers, windows, tuple(sorted({*fitted.target.codes, *more})))


def n_candidates(model: SummaryModel) -> int:
    """How many influencers the search could choose from."""
    fitted = model.fitted
    candidates, forbidden = fitted.settings["candidates"], fitted.settings["forbidden"]
    return len(tested_codes(fitted.labels, candidates, forbidden, fitted.target))


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
            for column, z in enumerate(one.influencers)
            if model.fitted.labels[z] not in model.fitted.layout.attributes  # which stand in no order
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
        if self.model.fitted.target.only:
            gone.append(len(self.asked.labels))  # what is no outcome is not counted
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
    """Add to edges about order what is left without the labels that their influencer moves the other way."""
    first, second = competing(found)
    if not first:
        return list(found)
    moved = _targets(found[at] for at in (*first, *second))
    models = {edges[at].target: edges[at].model for at in (*first, *second)}
    beside: dict[str, set[int]] = defaultdict(set)
    for at in (*first, *second):
        labels = edges[at].model.fitted.labels
        beside[edges[at].target] |= {
            labels.index(x) for x in moved[found[at].influencer, found[at].ratio < 1]
        }
    asked = [asked_of(model, beside[target]) for target, model in models.items()]
    counted = {(e.influencer, e.target): e for e in shuffled.edges(list(models.values()), asked)}
    result = _without(found, first, moved, counted, n_pairs)
    more = _targets(result[at] for at in first if not result[at].is_competition)
    return _without(result, second, more, counted, n_pairs)


def _targets(edges: Iterable[EdgeOrder]) -> dict[tuple[str, bool], set[str]]:
    """The labels that every influencer amplifies (True) or inhibits (False)."""
    of: dict[tuple[str, bool], set[str]] = defaultdict(set)
    for edge in edges:
        of[edge.influencer, edge.ratio > 1].add(edge.target)
    return of


def _without(
    found: Sequence[EdgeOrder],
    which: Sequence[int],
    moved: Mapping[tuple[str, bool], set[str]],
    counted: Mapping[tuple[str, str], _Edge],
    n_pairs: int,
) -> list[EdgeOrder]:
    """Add to some of the edges what is left without the events of labels that are moved the other way."""
    result = list(found)
    left_out = {at: moved.get((found[at].influencer, found[at].ratio < 1), set()) for at in which}
    which = [at for at in which if left_out[at]]
    if not which:
        return result
    sums = [counted[found[at].influencer, found[at].target].sums(left_out[at]) for at in which]
    left, _ = _estimates(sums)
    adjusted = benjamini_hochberg(left.p_value.tolist(), n_pairs)
    for row, at in enumerate(which):
        ratio, low, high, p_value = (
            float(each[row]) for each in (left.ratio, left.low, left.high, left.p_value)
        )
        remainder = Remainder(tuple(sorted(left_out[at])), ratio, low, high, p_value, adjusted[row])
        result[at] = replace(found[at], remainder=remainder)
    return result
