"""How sure each edge of a graph is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from summarkov.confidence.records import Comparable
from summarkov.frames import Column, Records, Sheet, Tabular, columns_of, keep_records
from summarkov.wording import plural


@dataclass(frozen=True)
class EdgeConfidence(Comparable):
    """How often an edge was found again, and in which interval its ratio lies.

    ``frequency`` is the share of replicates whose graph has the edge. ``ratio`` is that of the data
    themselves, see :class:`summarkov.explain.Influence`, worked out beside the influencers that the graph
    gives the target (for an edge that is not ``in_graph``, and this one; where look-backs are learned, at the
    one that most replicates found). ``low`` and ``high`` are its interval: that from counts, or a wider one
    if the ratios of the replicates spread more than counts let one expect, because sequences differ.
    ``effect`` has the same meaning as everywhere: what the whole interval says.

    Trees and summaries of your own have no ratio for an edge that is not in the graph: it is NaN there.
    """

    influencer: str
    target: str
    in_graph: bool
    effect: str
    ratio: float
    low: float
    high: float
    frequency: float


@dataclass(frozen=True, repr=False)
class Confidence(Tabular):
    """The result of a bootstrap: ``n`` graphs, each learned from as many ``units`` drawn with replacement.

    ``edges`` are those of the graph, and others that at least a tenth of the replicates have, target by
    target, the most frequent first. ``level`` is that of the intervals. The frame has one row per edge.
    """

    n: int
    seed: int
    level: float
    units: str  # "sequences" or "blocks"
    n_units: int
    edges: tuple[EdgeConfidence, ...]

    def __post_init__(self) -> None:
        keep_records(self, edges=EdgeConfidence)

    def _columns(self) -> Mapping[str, Column]:
        return columns_of(EdgeConfidence, self.edges)

    def summary(self) -> Sheet:
        """The edges, as a table that prints well and that notebooks show in HTML."""
        unit = self.units.removesuffix("s")
        drawn = f"{plural(self.n, 'graph')}, each learned from {plural(self.n_units, unit)} drawn again"
        return Records(self.edges, EdgeConfidence).sheet(f"{drawn}; {self.level:.0%} intervals")

    def of(self, influencer: str, target: str) -> EdgeConfidence | None:
        """The edge from ``influencer`` to ``target``, if it is listed."""
        for edge in self.edges:
            if edge.influencer == influencer and edge.target == target:
                return edge
        return None

    def stable(self, at_least: float = 0.9) -> Records[EdgeConfidence]:
        """The edges of the graph that at least such a share of the replicates have too."""
        found = (edge for edge in self.edges if edge.in_graph and edge.frequency >= at_least)
        return Records(found, EdgeConfidence)

    def missing(self, at_least: float = 0.5) -> Records[EdgeConfidence]:
        """The edges that the graph does not have, and at least such a share of the replicates has."""
        found = (edge for edge in self.edges if not edge.in_graph and edge.frequency >= at_least)
        return Records(found, EdgeConfidence)
