"""How two groups differ."""

from __future__ import annotations

from dataclasses import dataclass

from summarkov.confidence import Difference
from summarkov.explain.influence import Influence


@dataclass(frozen=True)
class LabelDifference:
    """One label in two groups: the share of sequences in which it occurs, and its share of all events."""

    label: str
    reach_first: float
    reach_second: float
    reach: Difference
    rate_first: float
    rate_second: float
    rate: Difference


@dataclass(frozen=True)
class EdgeDifference:
    """One edge in two groups.

    ``first`` and ``second`` are the influence in each group, beside the same influencers; ``in_first`` and
    ``in_second`` say whether the graph of that group alone has the edge. ``change`` compares their ratios.
    """

    influencer: str
    target: str
    in_first: bool
    in_second: bool
    first: Influence
    second: Influence
    change: Difference


@dataclass(frozen=True)
class GroupComparison:
    """Labels and edges of two groups, those that surely differ first."""

    names: tuple[str, str]
    n: int
    seed: int
    level: float
    sizes: tuple[int, int]  # sequences
    labels: tuple[LabelDifference, ...]
    edges: tuple[EdgeDifference, ...]

    def differing(self, at: float = 0.05) -> tuple[EdgeDifference, ...]:
        """The edges that differ, at the adjusted level."""
        return tuple(edge for edge in self.edges if edge.change.adjusted <= at)

    def differing_labels(self, at: float = 0.05) -> tuple[LabelDifference, ...]:
        """The labels that occur in more of the sequences, or more often, in one group, at that level."""
        return tuple(one for one in self.labels if min(one.reach.adjusted, one.rate.adjusted) <= at)
