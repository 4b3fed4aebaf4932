"""How two groups differ."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from summarkov.confidence import Difference
from summarkov.explain.influence import Influence
from summarkov.frames import Listed, Record, Records
from summarkov.wording import number


@dataclass(frozen=True)
class LabelDifference:
    """One label in two groups.

    Attributes
    ----------
    label : str
        The label.
    reach_first, reach_second, reach : float, float, Difference
        The share of sequences in which it occurs, in each group, and how these differ.
    rate_first, rate_second, rate : float, float, Difference
        Its share of all events, in each group, and how these differ.
    """

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


@dataclass(frozen=True, repr=False)
class EdgeDifference(Record):
    """One edge in two groups.

    Attributes
    ----------
    influencer, target : str
        The edge.
    in_first, in_second : bool
        Whether the graph of that group alone has the edge.
    first, second : Influence
        The influence in each group, beside the same influencers.
    change : Difference
        How the two ratios differ.
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
class GroupComparison(Listed):
    """Labels and edges of two groups, those that surely differ first.

    The frame has one row per edge; ``labels.to_frame()`` has one row per label.

    Attributes
    ----------
    names, sizes : pair of str, pair of int
        The two groups, and their numbers of sequences.
    n, seed : int
        How many resampled groups were drawn, and the seed.
    level : float
        That of the intervals, all of one kind together.
    labels : tuple of LabelDifference
        One for every label.
    edges : tuple of EdgeDifference
        One for every edge of the graph of either group, or of both together.
    """

    names: tuple[str, str]
    n: int
    seed: int
    level: float
    sizes: tuple[int, int]
    labels: tuple[LabelDifference, ...]
    edges: tuple[EdgeDifference, ...]

    listed = ("edges", "labels")

    def differing(self, at: float | None = None) -> Records[EdgeDifference]:
        """The edges that differ, at an adjusted level; None: those whose interval leaves out 1."""
        at = 1 - self.level if at is None else at
        return Records((edge for edge in self.edges if edge.change.adjusted <= at), EdgeDifference)

    def differing_labels(self, at: float | None = None) -> Records[LabelDifference]:
        """The labels that occur in more of the sequences, or more often, in one group, at that level."""
        at = 1 - self.level if at is None else at
        found = (one for one in self.labels if min(one.reach.adjusted, one.rate.adjusted) <= at)
        return Records(found, LabelDifference)

    def _title(self) -> str:
        first, second = (
            f"{name} ({number(n)} sequences)" for name, n in zip(self.names, self.sizes, strict=True)
        )
        return f"first: {first}, second: {second}; change is second by first, {self.level:.0%} intervals"

    def _notes(self) -> Iterable[str]:
        labels = ", ".join(one.label for one in self.differing_labels()) or "none"
        return f"{len(self.differing())} edges differ.", f"Labels that differ: {labels}"


@dataclass(frozen=True)
class GroupShare:
    """One label in one of several groups.

    Attributes
    ----------
    label, group : str
        The label, and the group.
    reach, rate : float
        The share of sequences in which it occurs, and its share of all events.
    """

    label: str
    group: str
    reach: float
    rate: float


@dataclass(frozen=True, repr=False)
class SeveralGroups(Listed):
    """Groups of sequences by what a column says of them: how each differs from all others.

    The frame has one row per label and group.

    Attributes
    ----------
    by : str
        The column.
    names, sizes : tuple
        The groups, and their numbers of sequences.
    left_out : dict
        Groups of fewer than two sequences, with their numbers of sequences: they are only among the
        others.
    shares : tuple of GroupShare
        One for every label in every group.
    comparisons : tuple of GroupComparison
        One for every group, with the others as its first and the group as its second; where there are but
        two groups, one of the second with the first. Their levels are such that all hold together.
    """

    by: str
    names: tuple[str, ...]
    sizes: tuple[int, ...]
    left_out: dict[str, int]
    shares: tuple[GroupShare, ...]
    comparisons: tuple[GroupComparison, ...]

    listed = ("shares",)

    def differing(self) -> dict[str, Records[EdgeDifference]]:
        """The edges that differ, by the name of the group."""
        return {one.names[1]: one.differing() for one in self.comparisons}

    def differing_labels(self) -> dict[str, Records[LabelDifference]]:
        """The labels that differ, by the name of the group."""
        return {one.names[1]: one.differing_labels() for one in self.comparisons}

    def _title(self) -> str:
        each = zip(self.names, self.sizes, strict=True)
        return f"{self.by}: " + ", ".join(f"{name} ({number(n)} sequences)" for name, n in each)

    def _notes(self) -> Iterable[str]:
        differing = self.differing().items()
        return [f"{name}: {len(edges)} edges differ from those of the others" for name, edges in differing]
