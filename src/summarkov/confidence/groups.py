"""How two groups differ."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class EdgeDifference:
    """One edge in two groups.

    Strengths are worked out in both beside the same influencers. ``difference`` is that of the second group
    less that of the first, ``low`` and ``high`` are its percentiles over resampled groups. ``p_value`` is how
    often groups made at random differ at least so much, ``adjusted`` how often the most different of all
    their edges does: about a share q of comparisons of groups that are alike has any edge with an adjusted
    value up to q. NaN where a group does not show the strength.
    """

    influencer: str
    target: str
    in_first: bool
    in_second: bool
    strength_first: float
    strength_second: float
    difference: float
    low: float
    high: float
    p_value: float
    adjusted: float


@dataclass(frozen=True)
class GroupComparison:
    """The edges of two groups' graphs and of the one of both together, those that surely differ first."""

    n: int
    seed: int
    level: float
    sizes: tuple[int, int]  # sequences
    edges: tuple[EdgeDifference, ...]

    def differing(self, at: float = 0.05) -> tuple[EdgeDifference, ...]:
        """The edges that differ, at the adjusted level."""
        return tuple(edge for edge in self.edges if edge.adjusted <= at)
