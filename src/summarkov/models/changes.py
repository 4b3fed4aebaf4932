"""Which edges of a graph changed from one part of a store to the next, and since when."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from summarkov.confidence import Strata, rate_ratio
from summarkov.engines import CountStore, StateCounts
from summarkov.engines.work import CountWork
from summarkov.errors import SettingError
from summarkov.explain import contrast, presence
from summarkov.frames import Column, Records, Sheet, Tabular, columns_of
from summarkov.models.graph import InfluenceGraph
from summarkov.settings import check_level


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
    logarithms. The place where they differ most surely is told, with a p-value that allows for all places and
    all edges (Bonferroni). Counts of parts are those of the store, so little is counted anew.

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
    if len(store.names) < 2:
        raise SettingError("a store of at least two parts is needed to tell what changed between them")
    models = [model for model in graph.models_.values() if model.influencers_]
    if not all(model.fitted.summary.by_level for model in models):
        raise SettingError("the edges of these models have no factors; use a BSuMM, OSuMM or CSuMM")
    work = CountWork(tuple(model.fitted.request for model in models))
    by_part = [store.run_on(name, work) for name in store.names]
    found: list[tuple[str, str, list[tuple[float, str, Strata, Strata]]]] = []
    for at, model in enumerate(models):
        tables = [counts[at] for counts in by_part]
        for column, influencer in enumerate(model.influencers_):
            for outcome, target in enumerate(model.target_):
                places = list(_places(tables, store.scale, store.names, column, outcome))
                found.append((influencer, target, places))
    tests = sum(len(places) for _, _, places in found)
    return Drift([_change(*one, tests, level) for one in found if one[2]], level)


def _places(
    tables: Sequence[object], scale: int, names: Sequence[str], column: int, outcome: int
) -> Iterator[tuple[float, str, Strata, Strata]]:
    """For each place to cut at: how surely both stretches differ, the part after it, and their strata."""
    for cut in range(1, len(names)):
        before, after = (
            contrast(
                presence(StateCounts.total([table for table in some if isinstance(table, StateCounts)])),
                scale,
                column,
                outcome,
            ).strata
            for some in (tables[:cut], tables[cut:])
        )
        spread = np.hypot(_spread(before), _spread(after))
        if np.isfinite(spread):
            apart = np.log(float(rate_ratio(before).ratio)) - np.log(float(rate_ratio(after).ratio))
            yield float(abs(apart) / spread), names[cut], before, after


def _spread(strata: Strata) -> float:
    """The standard error of the logarithm of a factor, from its interval; infinite if that has no ends."""
    found = rate_ratio(strata)
    low, high = float(found.low), float(found.high)
    if not (0 < low < high < np.inf and 0 < float(found.ratio) < np.inf):
        return np.inf
    return float((np.log(high) - np.log(low)) / (2 * NormalDist().inv_cdf(0.975)))


def _change(
    influencer: str,
    target: str,
    places: Sequence[tuple[float, str, Strata, Strata]],
    tests: int,
    level: float,
) -> Change:
    """The place where an edge differs most surely."""
    apart, since, *strata = max(places, key=lambda place: place[0])
    before, after = (rate_ratio(each) for each in strata)
    p_value = min(1.0, 2 * NormalDist().cdf(-apart) * tests)
    return Change(
        influencer,
        target,
        since,
        float(before.ratio),
        float(before.low),
        float(before.high),
        float(after.ratio),
        float(after.low),
        float(after.high),
        p_value,
        p_value <= level,
    )
