"""How edges differ between two groups of sequences, and which changed between the parts of a store."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from summarkov.confidence import RateRatio, rate_ratio, robust_widening, widened, widening
from summarkov.confidence.adjusted import compared_ratios, limits_of_ratios
from summarkov.engines import (
    Bootstrap,
    CountStore,
    MemorySource,
    ReplicatedSource,
    StateCounts,
    StatesRequest,
)
from summarkov.engines.weights import FIXED_POINT, in_units, n_fractions
from summarkov.engines.work import CountWork
from summarkov.errors import SettingError
from summarkov.events import EventSequences
from summarkov.explain import Contrast, EdgeDifference, Influence, contrasts_in_table, influence_of
from summarkov.frames import Column, Records, Sheet, Tabular, columns_of
from summarkov.models.fitted import Fitted
from summarkov.models.graph import InfluenceGraph
from summarkov.settings import check_level
from summarkov.summaries import BinarySummary, Summary
from summarkov.typing import FloatArray


@dataclass(frozen=True)
class Change:
    """An edge before and after the place where its ratio differs most.

    Attributes
    ----------
    influencer, target : str
        The edge.
    since : str
        The name of the first part after the change.
    ratio_before, low_before, high_before : float
        The ratio before it, with its 95% interval.
    ratio_after, low_after, high_after : float
        The ratio after it, with its 95% interval.
    p_value : float
        That of no change, for all places and edges that were looked at.
    has_changed : bool
        Whether that is at most the level that was asked for.
    """

    influencer: str
    target: str
    since: str
    ratio_before: float
    low_before: float
    high_before: float
    ratio_after: float
    low_after: float
    high_after: float
    p_value: float
    has_changed: bool


class Drift(Tabular):
    """The edges of a graph, and how they changed between the parts of a store; one row per edge.

    Attributes
    ----------
    level : float
        An edge has changed if its p-value is at most this.
    changes : tuple of Change
        Those that changed most surely first.
    """

    def __init__(self, changes: Sequence[Change], level: float) -> None:
        self.level = level
        self.changes = Records(
            sorted(changes, key=lambda one: (one.p_value, one.target, one.influencer)), Change
        )

    @property
    def changed(self) -> tuple[Change, ...]:
        """Those that did."""
        return tuple(one for one in self.changes if one.has_changed)

    def _columns(self) -> Mapping[str, Column]:
        return columns_of(Change, self.changes)

    def summary(self) -> Sheet:
        """What changed, as a table that prints well."""
        rows = [
            [
                f"{one.influencer} → {one.target}",
                one.since,
                f"×{one.ratio_before:.2g} ({one.low_before:.2g} to {one.high_before:.2g})",
                f"×{one.ratio_after:.2g} ({one.low_after:.2g} to {one.high_after:.2g})",
                f"{one.p_value:.2g}",
            ]
            for one in self.changed
        ]
        title = f"{len(rows)} of {len(self.changes)} edges changed, at level {self.level:g}"
        return Sheet(title, ["edge", "since", "before", "after", "p"], rows, len(rows))


def drift(graph: InfluenceGraph, store: CountStore, *, level: float = 0.05) -> Drift:
    """Find out which edges of a graph changed between the parts of a store, and since which part.

    For each edge the parts are cut in two, an earlier and a later stretch, at every place in turn, and the
    factors of both (see :class:`Influence`), other influencers equal, are compared by the difference of their
    logarithms. The place where they differ most surely is shown, with a p-value that allows for all places
    and all edges (Bonferroni). The intervals are as much wider than from counts as those of the graph are,
    because sequences differ.

    Parameters
    ----------
    graph : InfluenceGraph
        Learned from the store, or from some of its parts.
    store : CountStore
        At least two parts, in the order of time.
    level : float
        An edge has changed if its p-value is at most this.
    """
    check_level("level", level)
    names = store.names
    if len(names) < 2:
        raise SettingError("a store of at least two parts is needed to tell what changed between them")
    models = [model for model in graph.models_.values() if model.influencers_]
    if not all(model.fitted.summary.by_level for model in models):
        raise SettingError("the edges of these models have no factors; use a BSuMM, OSuMM or CSuMM")
    work = CountWork(tuple(model.fitted.request for model in models))
    parts = [store.to_events([name]) for name in names]
    fractions = any(part.weights is not None and n_fractions(part.weights) for part in parts)
    scale = FIXED_POINT if fractions else 1
    by_part = [_of_part(part, scale).recode(graph.labels_).run(work) for part in parts]
    found: dict[tuple[str, str], list[_Place]] = defaultdict(list)
    for at, model in enumerate(models):
        tables = [table for counts in by_part if isinstance(table := counts[at], StateCounts)]
        wider = _wider(model.fitted)
        for column, outcome, place in _places(tables, scale, names, wider):
            found[model.influencers_[column], model.target_[outcome]].append(place)
    tests = sum(len(places) for places in found.values())
    changes = []
    for names, places in found.items():
        place = max(places, key=lambda place: place.apart)
        p_value = min(1.0, 2 * NormalDist().cdf(-place.apart) * tests)
        changes.append(Change(*names, place.since, *place.before, *place.after, p_value, p_value <= level))
    return Drift(changes, level)


def _of_part(events: EventSequences, scale: int) -> MemorySource:
    weights = np.ones(len(events)) if events.weights is None else events.weights
    return MemorySource(events, sample_weight=in_units(weights, scale))


class _Factor(NamedTuple):
    """The factor of an edge in some parts of a store, with its 95% interval."""

    ratio: float
    low: float
    high: float

    @property
    def spread(self) -> float:
        """The standard error of its logarithm, from the interval; infinite if that has no ends."""
        if not (0 < self.low < self.high < np.inf and 0 < self.ratio < np.inf):
            return np.inf
        return float((np.log(self.high) - np.log(self.low)) / (2 * NormalDist().inv_cdf(0.975)))


class _Place(NamedTuple):
    """Where the parts are cut in two: how surely both stretches differ, and the first part after it."""

    apart: float
    since: str
    before: _Factor
    after: _Factor


def _places(
    tables: Sequence[StateCounts], scale: int, names: Sequence[str], wider: FloatArray
) -> Iterator[tuple[int, int, _Place]]:
    """Column and outcome of each edge of a model, and each place at which its factors can be compared.

    ``wider[outcome, column]`` is how many times as wide as from counts their intervals are.
    """
    for cut in range(1, len(names)):
        stretches = (
            contrasts_in_table(StateCounts.total(some), scale, len(wider))
            for some in (tables[:cut], tables[cut:])
        )
        for (column, outcome, earlier), (_, _, later) in zip(*stretches, strict=True):
            factor = wider[outcome, column]
            before, after = (_factor(rate_ratio(each.strata), factor) for each in (earlier, later))
            spread = np.hypot(before.spread, after.spread)
            if np.isfinite(spread):
                apart = abs(np.log(before.ratio) - np.log(after.ratio)) / spread
                yield column, outcome, _Place(float(apart), names[cut], before, after)


def _factor(found: RateRatio, wider: float) -> _Factor:
    low, high = widened(found, np.asarray(wider))
    return _Factor(float(found.ratio), float(low), float(high))


def _wider(fitted: Fitted) -> FloatArray:
    """How many times as wide as from counts the intervals of all data are, because sequences differ."""
    wider = np.ones((len(fitted.target.codes), len(fitted.influencers)))
    for column, outcome, found in fitted.contrasts():
        if fitted.clusters is not None:
            clusters = fitted.clusters.edge(column, outcome)
            factor = robust_widening(rate_ratio(found.strata), found.strata, *clusters)
            wider[outcome, column] = 1.0 if factor is None else factor
    return wider


# ---------------------------------------------------------------------- two groups


def _windows(graphs: Sequence[InfluenceGraph], sets: dict[int, tuple[int, ...]]) -> list[Summary]:
    """By which presence of influencers the edges of each target are compared: as the model looks back.

    Of trees, each label as far back as any of them asks about it.
    """
    summary = graphs[0].model.make_summary()
    if summary.by_level:
        return [summary] * len(sets)
    labels, found = graphs[0].labels_, list[Summary]()
    for x, u in sets.items():
        fitted = [graph.models_[labels[x]].fitted for graph in graphs]
        reaches = {z: [one.reach(labels[z]).lookback for one in fitted if z in one.influencers] for z in u}
        widest = {
            labels[z]: None if None in each else max(k for k in each if k is not None)
            for z, each in reaches.items()
        }
        found.append(BinarySummary(widest))
    return found


def _sets(graphs: Sequence[InfluenceGraph]) -> dict[int, tuple[int, ...]]:
    """All influencers that any graph gives each target."""
    sets: dict[int, set[int]] = {}
    for graph in graphs:
        for fitted in (model.fitted for model in graph.models_.values()):
            sets.setdefault(fitted.target.codes[0], set()).update(fitted.influencers)
    return {x: tuple(sorted(u)) for x, u in sets.items() if u}


def _contrasts(
    graphs: Sequence[InfluenceGraph],
    source: MemorySource | ReplicatedSource,
    sets: dict[int, tuple[int, ...]],
) -> list[Contrast]:
    """The contrast of every edge, beside all influencers of its target."""
    targets = {model.fitted.target.codes[0]: model.fitted.target for model in graphs[0].models_.values()}
    asked = zip(_windows(graphs, sets), sets.items(), strict=True)
    tables = source.count([StatesRequest(window, u, targets[x]) for window, (x, u) in asked])
    counted = (table for table in tables if isinstance(table, StateCounts))
    return [one for table in counted for _, _, one in contrasts_in_table(table, source.scale, 1)]


def edge_differences(
    graphs: Sequence[InfluenceGraph],
    sources: Sequence[MemorySource],
    draws: tuple[int, int],
    level: float,
    tell: Callable[[int, int], None],
) -> tuple[EdgeDifference, ...]:
    """How the edges of three graphs, of either group and of both, differ between the groups."""
    sets = _sets(graphs)
    names = [(z, x) for x, u in sets.items() for z in u]
    labels = graphs[0].labels_
    influences: list[list[Influence]] = []
    limits = []
    for at, source in enumerate(sources):
        found = _contrasts(graphs, source, sets)
        n, seed = draws
        drawn = _contrasts(graphs, source.replicated(Bootstrap(n, seed + at)), sets)
        strata = [one.strata for one in found]
        wider = [
            float(widening(rate_ratio(one), many.strata.ratio()))
            for one, many in zip(strata, drawn, strict=True)
        ]
        influences.append(
            [
                influence_of(
                    labels[z], labels[x], one, [labels[u] for u in sets[x] if u != z], None, wider=factor
                )
                for (z, x), one, factor in zip(names, found, wider, strict=True)
            ]
        )
        limits.append(limits_of_ratios(strata, wider))
        tell(4 + at, 5)
    changes = compared_ratios(limits[0], limits[1], len(names), level)
    edges = [
        EdgeDifference(
            labels[z],
            labels[x],
            labels[z] in graphs[0].influencers_[labels[x]],
            labels[z] in graphs[1].influencers_[labels[x]],
            influences[0][at],
            influences[1][at],
            changes[at],
        )
        for at, (z, x) in enumerate(names)
    ]
    return tuple(sorted(edges, key=lambda edge: (edge.change.adjusted, edge.change.p_value, edge.target)))
