"""How sure each edge of a graph is."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class EdgeConfidence:
    """How often an edge was found again, and in which interval its strength lies.

    ``frequency`` is the share of replicates whose graph has the edge. ``strength`` is that on the data
    themselves, ``low`` and ``high`` are percentiles of it over the replicates. It is always worked out beside
    the same influencers, those that the graph gives the target (for an edge that is not ``in_graph``, and
    this one, where look-backs are learned at the one most replicates found), so that it has one meaning and
    exists in nearly every replicate. NaN where it never does.
    Trees and summaries of your own have frequencies only. ``effect`` is "amplifies" or "inhibits" if the
    whole interval says so, else "unclear".
    """

    influencer: str
    target: str
    in_graph: bool
    effect: str
    strength: float
    low: float
    high: float
    frequency: float


@dataclass(frozen=True)
class Confidence:
    """The result of a bootstrap: ``n`` graphs, each learned from as many ``units`` drawn with replacement.

    ``edges`` are those of the graph, and others that at least a tenth of the replicates have, target by
    target, the most frequent first. ``level`` is that of the intervals.
    """

    n: int
    seed: int
    level: float
    units: str  # "sequences" or "blocks"
    n_units: int
    edges: tuple[EdgeConfidence, ...]

    def of(self, influencer: str, target: str) -> EdgeConfidence | None:
        """The edge from ``influencer`` to ``target``, if it is listed."""
        for edge in self.edges:
            if edge.influencer == influencer and edge.target == target:
                return edge
        return None

    def stable(self, at_least: float = 0.9) -> tuple[EdgeConfidence, ...]:
        """The edges of the graph that at least such a share of the replicates have too."""
        return tuple(edge for edge in self.edges if edge.in_graph and edge.frequency >= at_least)

    def missing(self, at_least: float = 0.5) -> tuple[EdgeConfidence, ...]:
        """The edges that the graph has not, and at least such a share of the replicates has."""
        return tuple(edge for edge in self.edges if not edge.in_graph and edge.frequency >= at_least)
