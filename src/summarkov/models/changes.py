"""Which edges of a graph changed between the parts of a store, and since when."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np

from summarkov.engines import CountStore, MemorySource, StateCounts
from summarkov.engines.counts import FIXED_POINT, in_units, n_fractions
from summarkov.engines.source import count_all
from summarkov.errors import SettingError
from summarkov.evidence import Contrast, contrasts_in_table, rate_ratio, robust_widening, widened
from summarkov.frames import Listed, Records
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


@dataclass(frozen=True, repr=False)
class Drift(Listed):
    """The edges of a graph, and how they changed between the parts of a store; one row per edge.

    Attributes
    ----------
    changes : tuple of Change
        Those that changed most surely first.
    level : float
        An edge has changed if its p-value is at most this.
    """

    changes: tuple[Change, ...]
    level: float

    listed = ("changes",)

    @property
    def changed(self) -> Records[Change]:
        """Those that changed."""
        return Records((one for one in self.changes if one.has_changed), Change)

    def _title(self) -> str:
        return f"{len(self.changed)} of {len(self.changes)} edges changed, at level {self.level:g}"


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
    requests = [model.fitted.request for model in models]
    parts = [store.to_events([name]) for name in names]
    weights = [np.ones(len(part)) if part.weights is None else part.weights for part in parts]
    scale = FIXED_POINT if any(map(n_fractions, weights)) else 1
    by_part = []
    for part, weight in zip(parts, weights, strict=True):
        source = MemorySource(part, sample_weight=in_units(weight, scale))
        by_part.append(source.recode(graph.labels_).map(count_all, requests))
    places: dict[tuple[str, str], list[tuple[float, str, Any]]] = defaultdict(list)
    for at, model in enumerate(models):
        fitted, n_labels = model.fitted, len(model.target_)
        tables = [table for counts in by_part if isinstance(table := counts[at], StateCounts)]
        for cut in range(1, len(names)):
            stretches = [
                contrasts_in_table(StateCounts.total(some), scale, n_labels)
                for some in (tables[:cut], tables[cut:])
            ]
            for (column, outcome, whole), *both in zip(fitted.contrasts(), *stretches, strict=True):
                wider = None
                if fitted.clusters is not None:  # how much wider the interval of all data is
                    clusters = fitted.clusters.edge(column, outcome)
                    wider = robust_widening(rate_ratio(whole.strata), whole.strata, *clusters)
                apart, numbers = _apart((contrast for *_, contrast in both), wider or 1.0)
                if apart is not None:
                    edge = model.influencers_[column], model.target_[outcome]
                    places[edge].append((apart, names[cut], numbers))
    tests = sum(map(len, places.values()))
    changes = []
    for edge, found in places.items():
        apart, since, numbers = max(found, key=lambda place: place[0])
        p_value = min(1.0, 2 * NormalDist().cdf(-apart) * tests)
        told: list[Any] = [*edge, since, *numbers, p_value, p_value <= level]
        changes.append(Change(*told))
    return Drift(tuple(sorted(changes, key=lambda one: (one.p_value, one.target, one.influencer))), level)


def _apart(stretches: Iterable[Contrast], wider: float) -> tuple[float | None, list[float]]:
    """How many standard errors two factors are apart, and both with their intervals; None: not known."""
    logs, variance, numbers = [], 0.0, list[float]()
    for found in (rate_ratio(one.strata) for one in stretches):
        low, high = (float(limit) for limit in widened(found, np.asarray(wider)))
        ratio = float(found.ratio)
        numbers += [ratio, low, high]
        if not (0 < low < high < np.inf and 0 < ratio < np.inf):
            return None, numbers
        logs.append(np.log(ratio))
        variance += float((np.log(high) - np.log(low)) / (2 * NormalDist().inv_cdf(0.975))) ** 2
    return float(abs(logs[0] - logs[1]) / np.sqrt(variance)), numbers
