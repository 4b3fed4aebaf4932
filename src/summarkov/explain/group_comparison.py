"""How two groups differ."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from summarkov.confidence import Difference
from summarkov.explain.influence import Influence
from summarkov.frames import Column, Records, Sheet, Tabular, columns_of, keep_records
from summarkov.wording import number


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

    shown_columns: ClassVar[tuple[str, ...]] = (
        "label",
        "reach_first",
        "reach_second",
        "reach_ratio",
        "reach_adjusted",
        "rate_first",
        "rate_second",
        "rate_ratio",
        "rate_adjusted",
    )


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

    shown_columns: ClassVar[tuple[str, ...]] = (
        "influencer",
        "target",
        "first_effect",
        "first_ratio",
        "second_effect",
        "second_ratio",
        "change_ratio",
        "change_low",
        "change_high",
        "change_adjusted",
    )


@dataclass(frozen=True, repr=False)
class GroupComparison(Tabular):
    """Labels and edges of two groups, those that surely differ first.

    The frame has one row per edge; ``labels.to_frame()`` has one row per label.
    """

    names: tuple[str, str]
    n: int
    seed: int
    level: float
    sizes: tuple[int, int]  # sequences
    labels: tuple[LabelDifference, ...]
    edges: tuple[EdgeDifference, ...]

    def __post_init__(self) -> None:
        keep_records(self, labels=LabelDifference, edges=EdgeDifference)

    def differing(self, at: float = 0.05) -> Records[EdgeDifference]:
        """The edges that differ, at the adjusted level."""
        return Records((edge for edge in self.edges if edge.change.adjusted <= at), EdgeDifference)

    def differing_labels(self, at: float = 0.05) -> Records[LabelDifference]:
        """The labels that occur in more of the sequences, or more often, in one group, at that level."""
        found = (one for one in self.labels if min(one.reach.adjusted, one.rate.adjusted) <= at)
        return Records(found, LabelDifference)

    def _columns(self) -> Mapping[str, Column]:
        return columns_of(EdgeDifference, self.edges)

    def summary(self) -> Sheet:
        """The edges, as a table that prints well and that notebooks show in HTML."""
        first, second = (
            f"{name} ({number(n)} sequences)" for name, n in zip(self.names, self.sizes, strict=True)
        )
        title = f"first: {first}, second: {second}; change is second by first, {self.level:.0%} intervals"
        labels = ", ".join(one.label for one in self.differing_labels()) or "none"
        notes = (f"{len(self.differing())} edges differ.", f"Labels that differ: {labels}")
        return Records(self.edges, EdgeDifference).sheet(title, notes)
