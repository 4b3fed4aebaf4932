"""How sure each edge is: what resampled data say of it."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

import numpy as np
import numpy.typing as npt

from summarkov.evidence.influence import CORRECTED, Influence
from summarkov.frames import Listed, Record, Records
from summarkov.wording import plural


@dataclass(frozen=True, repr=False)
class Edge(Record):
    """Something that is said of an edge, found or possible, from ``influencer`` to ``target``."""

    influencer: str
    target: str


@dataclass(frozen=True)
class Difference(Record):
    """A ratio that is 1 where nothing differs, such as of a second group by a first.

    Attributes
    ----------
    ratio, low, high : float
        The ratio and its interval, which may allow for all comparisons of its kind together. Then it leaves
        out 1 just where ``adjusted`` is less than one minus its level.
    p_value, adjusted : float
        How likely at least such a difference is by chance, and the same allowing for all comparisons: times
        their number (Bonferroni), or the least share of false ones among those kept (false-discovery rate).
    """

    ratio: float
    low: float
    high: float
    p_value: float
    adjusted: float


E = TypeVar("E", bound=Edge)


class EdgeList(Listed, Generic[E]):
    """A dataclass of what is said of ``edges``."""

    listed = ("edges",)
    edges: tuple[E, ...]

    def of(self, influencer: str, target: str) -> E | None:
        """What is said of the edge from ``influencer`` to ``target``; None if it is not listed."""
        return next((one for one in self.edges if (one.influencer, one.target) == (influencer, target)), None)


@dataclass(frozen=True, repr=False)
class EdgeConfidence(Edge):
    """How often an edge was found again, and in which interval its ratio lies.

    Trees and summaries of your own have no ratio for an edge that is not in the graph: it is NaN there.

    Attributes
    ----------
    influencer, target, in_graph : str, str, bool
        The edge, and whether the graph itself has it.
    effect : str
        What the whole interval says, as in :class:`summarkov.evidence.Influence`.
    ratio : float
        That of the data themselves, beside the influencers that the graph gives the target; for an edge
        that is not in the graph, beside these and itself. Where look-backs are learned, it is taken at
        the one that most replicates found.
    low, high : float
        The interval of the ratio: that of the edge itself, which allows for sequences that differ, or a wider
        one if the ratios of the replicates spread more. For an edge that is not in the graph, that from
        counts, or a wider one.
    frequency : float
        The share of replicates whose graph has the edge.
    corrected_ratio, corrected_low, corrected_high : float or None
        The same, allowing for selection, as in :class:`summarkov.evidence.Influence`; None for an edge
        that is not in the graph.
    """

    in_graph: bool
    effect: str
    ratio: float
    low: float
    high: float
    frequency: float
    corrected_ratio: float | None = None
    corrected_low: float | None = None
    corrected_high: float | None = None


@dataclass(frozen=True, repr=False)
class Confidence(EdgeList[EdgeConfidence]):
    """The result of a bootstrap: graphs, each learned from data drawn with replacement; a row for each edge.

    Attributes
    ----------
    n, seed, level : int, int, float
        How many graphs there are, the seed of the draws, and the level of the intervals.
    units, n_units : str, int
        What was drawn, "sequences" or "blocks", and how many of them for each graph.
    edges : tuple of EdgeConfidence
        Those of the graph, and others that at least a tenth of the replicates have, target by target, the
        most frequent first.
    seldom : tuple
        Pairs that fewer have: influencer, target, and how many replicates have them.
    """

    n: int
    seed: int
    level: float
    units: str
    n_units: int
    edges: tuple[EdgeConfidence, ...]
    seldom: tuple[tuple[str, str, int], ...] = ()

    def _title(self) -> str:
        unit = self.units.removesuffix("s")
        drawn = f"{plural(self.n, 'graph')}, each learned from {plural(self.n_units, unit)} drawn again"
        return f"{drawn}; {self.level:.0%} intervals"

    def stable(self, at_least: float = 0.9) -> Records[EdgeConfidence]:
        """The edges of the graph that at least this share of the replicates have too."""
        return self._having(True, at_least)

    def missing(self, at_least: float = 0.5) -> Records[EdgeConfidence]:
        """The edges that the graph does not have, and at least this share of the replicates has."""
        return self._having(False, at_least)

    def _having(self, in_graph: bool, at_least: float) -> Records[EdgeConfidence]:
        found = (one for one in self.edges if one.in_graph == in_graph and one.frequency >= at_least)
        return Records(found, EdgeConfidence)


def edge_confidence(
    names: tuple[str, str], known: Influence | None, frequency: float, in_graph: bool = True
) -> EdgeConfidence:
    """How sure an edge is of which this is known; None: nothing is, as the graph does not have it."""
    if known is None:
        return EdgeConfidence(*names, False, "unclear", math.nan, 0.0, math.inf, frequency)
    numbers = {name: getattr(known, name) for name in ("effect", "ratio", "low", "high", *CORRECTED)}
    return EdgeConfidence(*names, in_graph, frequency=frequency, **numbers)


def with_confidence(edge: Influence, sure: EdgeConfidence | None) -> Influence:
    """An edge with what the resampled data say of it."""
    if sure is None:
        return edge
    taken = ("effect", "low", "high", "frequency", *(() if sure.corrected_low is None else CORRECTED))
    interval = edge.interval if (sure.low, sure.high) == (edge.low, edge.high) else "resampled"
    return replace(edge, interval=interval, **{name: getattr(sure, name) for name in taken})


def benjamini_hochberg(p_values: npt.ArrayLike, n_tests: float) -> list[float]:
    r"""Adjusted p-values of some of ``n_tests`` tests; those that are not given are taken for 1.

    .. math:: \tilde p_{(i)} = \min_{j \ge i} \min(1, p_{(j)} \, m / j)

    Reject those up to q, and at most a share q of the rejections is false on average; Benjamini and Hochberg,
    Journal of the Royal Statistical Society B 57 (1995). Tests that were left out because they looked weak do
    no harm: a p-value of 1 is never too small.

    >>> [round(p, 4) for p in benjamini_hochberg([0.01, 0.04, 0.001], 10)]
    [0.05, 0.1333, 0.01]
    """
    scaled = np.asarray(p_values, float) * n_tests
    by_size = np.argsort(scaled, kind="stable")
    divided = scaled[by_size] / np.arange(1, len(scaled) + 1)
    adjusted = np.ones(len(scaled))
    adjusted[by_size] = np.minimum.accumulate(divided[::-1])[::-1]
    found: list[float] = np.minimum(adjusted, 1.0).tolist()
    return found
