"""How two groups, or two models, differ: every difference is a ratio with an interval, or an interval."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import ClassVar

import numpy as np

from summarkov.evidence.edges import Difference, Edge, Influence
from summarkov.evidence.ratios import Strata, rate_ratio, widened
from summarkov.evidence.words import times
from summarkov.frames import MOST, Column, Listed, Records, Sheet, Tabular, columns_of
from summarkov.typing import FloatArray
from summarkov.wording import factor, factor_interval, number, plural


@dataclass(frozen=True)
class LabelDifference:
    """One ``label`` in two groups: the share of sequences in which it occurs, and how these differ.

    ``reach_first`` and ``reach_second`` are the shares, and ``reach`` is by how many times they differ.
    """

    label: str
    reach_first: float
    reach_second: float
    reach: Difference

    shown_columns: ClassVar[tuple[str, ...]] = (
        *("label", "reach_first", "reach_second", "reach_ratio", "reach_adjusted"),
    )


@dataclass(frozen=True, repr=False)
class EdgeDifference(Edge):
    """One edge in two groups.

    ``in_first`` and ``in_second`` are whether the graph of that group alone has the edge, ``first`` and
    ``second`` the influence in each group, beside the same influencers, and ``change`` how their ratios
    differ.
    """

    in_first: bool
    in_second: bool
    first: Influence
    second: Influence
    change: Difference


@dataclass(frozen=True, repr=False)
class GroupComparison(Listed):
    """Labels and edges of two groups, those that surely differ first; a row for each edge.

    Attributes
    ----------
    names, sizes : pair of str, pair of int
        The two groups, and their numbers of sequences.
    level : float
        That of the intervals, all of one kind together.
    labels : tuple of LabelDifference
        One for every label; ``labels.to_frame()`` is their table.
    edges : tuple of EdgeDifference
        One for every edge of the graph of either group, or of both together.
    """

    names: tuple[str, str]
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
        """The labels that occur in more of the sequences of one group, at that level."""
        at = 1 - self.level if at is None else at
        return Records((one for one in self.labels if one.reach.adjusted <= at), LabelDifference)

    def summary(self) -> Sheet:
        """The first edges, with their ratio in each group and the interval of the change."""
        rows = [
            [
                *(edge.influencer, edge.target, shown_ratio(edge.first), shown_ratio(edge.second)),
                factor_interval(edge.change.low, edge.change.high),
            ]
            for edge in self.edges[:MOST]
        ]
        head = ("influencer", "target", "first", "second", "change")
        return Sheet(self._title(), head, rows, len(self.edges), tuple(self._notes()))

    def _title(self) -> str:
        first, second = (
            f"{name} ({number(n)} sequences)" for name, n in zip(self.names, self.sizes, strict=True)
        )
        return (
            f"first: {first}, second: {second}; rate ratios, change is second by first, "
            f"{self.level:.0%} intervals"
        )

    def _notes(self) -> Iterable[str]:
        labels = ", ".join(one.label for one in self.differing_labels()) or "none"
        edges = f"{len(self.differing())} edges differ."
        equal = (
            "Held equal in both: all influencers that the target has in either group or in both together, so "
            "ratios may differ from those of a graph of one group."
        )
        if not self.edges:
            edges = "No influence was found, neither in one of the groups nor in both together."
        return *([equal] * bool(self.edges)), edges, f"Labels that differ: {labels}"


def shown_ratio(edge: Influence) -> str:
    """The ratio of an edge in a group, in the words of every table; of an unclear one the ratio alone."""
    return times(edge) or factor(edge.ratio)


@dataclass(frozen=True, repr=False)
class SeveralGroups(Tabular):
    """Groups of sequences by what a column says of them: how each differs from all others.

    The frame has one row per group and edge.

    Attributes
    ----------
    by : str
        The column.
    names, sizes : tuple
        The groups, and their numbers of sequences.
    left_out : dict
        Groups of fewer than two sequences, with their numbers of sequences: they are only among the
        others.
    comparisons : tuple of GroupComparison
        One for every group, with the others as its first and the group as its second; where there are but
        two groups, one of the second with the first. Their levels are such that all hold together.
    """

    by: str
    names: tuple[str, ...]
    sizes: tuple[int, ...]
    left_out: dict[str, int]
    comparisons: tuple[GroupComparison, ...]

    def _columns(self) -> Mapping[str, Column]:
        edges = [edge for one in self.comparisons for edge in one.edges]
        groups = [one.names[1] for one in self.comparisons for _ in one.edges]
        return {"group": Column(str, groups), **columns_of(EdgeDifference, edges)}

    def differing(self) -> dict[str, Records[EdgeDifference]]:
        """The edges that differ, by the name of the group."""
        return {one.names[1]: one.differing() for one in self.comparisons}

    def differing_labels(self) -> dict[str, Records[LabelDifference]]:
        """The labels that differ, by the name of the group."""
        return {one.names[1]: one.differing_labels() for one in self.comparisons}

    def summary(self) -> Sheet:
        """The groups, and how many edges of each differ."""
        sizes = ", ".join(f"{a} ({number(n)} sequences)" for a, n in zip(self.names, self.sizes, strict=True))
        notes = [f"{name}: {plural(n, 'sequence')}, too few to compare" for name, n in self.left_out.items()]
        differing = self.differing().items()
        notes += [f"{name}: {len(some)} edges differ from those of the others" for name, some in differing]
        return Sheet(f"{self.by}: {sizes}", notes=notes)


# ---------------------------------------------------------------------- the numbers

#: Estimates of positive quantities and their limits at given levels, one for each quantity.
Limits = Callable[[FloatArray], tuple[FloatArray, FloatArray, FloatArray]]

_LEAST = 1e-16
_STEPS = 50


def simultaneous(level: float, n: int) -> FloatArray:
    """The level of each of n intervals that all hold together at a level (Bonferroni)."""
    return np.full(n, 1 - (1 - level) / max(n, 1))


def compared_rates(hits: Sequence[FloatArray], n: Sequence[FloatArray], level: float) -> list[Difference]:
    """Hits of n in the first group and in the second, for several things at once."""
    strata = Strata.of(*(np.asarray(numbers, float)[:, None] for numbers in (hits[1], n[1], hits[0], n[0])))
    found = rate_ratio(strata, simultaneous(level, len(hits[0])))
    return _differences(found.ratio, found.low, found.high, found.p_value)


def compared_ratios(first: Limits, second: Limits, n: int, level: float) -> list[Difference]:
    r"""How many times as large ``n`` quantities are in the second group as in the first.

    The limits of a quotient follow from those of its two parts: on the scale of logarithms, with estimates
    t and limits l and u,

    .. math:: t_2 - t_1 - \sqrt{(t_2 - l_2)^2 + (u_1 - t_1)^2} \quad\text{and}\quad
              t_2 - t_1 + \sqrt{(u_2 - t_2)^2 + (t_1 - l_1)^2}

    (Zou and Donner, Statistics in Medicine 27, 2008). Where an estimate is 0 or infinite, only the outer
    limits are sure: :math:`l_2 - u_1` and :math:`u_2 - l_1`. The p-value is the largest share of error at
    which 1 is still inside.
    """
    if not n:
        return []

    def quotient(level: FloatArray) -> FloatArray:
        """Logarithms of the second by the first, and limits."""
        with np.errstate(divide="ignore", invalid="ignore"):
            (t1, l1, u1), (t2, l2, u2) = np.log([first(level), second(level)])
            finite = np.isfinite(t1 + t2)
            low = np.where(finite, t2 - t1 - np.hypot(t2 - l2, u1 - t1), l2 - u1)
            high = np.where(finite, t2 - t1 + np.hypot(u2 - t2, t1 - l1), u2 - l1)
            unknown = np.isnan([low, high])
            return np.stack([t2 - t1, *np.where(unknown, [[-np.inf], [np.inf]], [low, high])])

    inside, outside = np.full(n, np.log(_LEAST)), np.zeros(n)  # logarithms of shares of error
    for _ in range(_STEPS):
        middle = (inside + outside) / 2
        _, low, high = quotient(-np.expm1(middle))
        holds = (low <= 0) & (high >= 0)
        inside, outside = np.where(holds, middle, inside), np.where(holds, outside, middle)
    ratio, low, high = np.exp(quotient(simultaneous(level, n)))
    p_value = np.where(outside == 0, 1.0, np.exp(inside))
    return _differences(ratio, low, high, p_value)


def limits_of_ratios(strata: Sequence[Strata], factors: Sequence[float]) -> Limits:
    """The limits of Mantel and Haenszel's ratios, each wider by its factor than counts alone say."""
    rows = zip(*(vars(one).values() for one in strata), strict=True)
    padded = (np.array([*zip_longest(*numbers, fillvalue=0.0)]).T for numbers in rows)
    joined, wider = Strata(*padded), np.asarray(factors, float)

    def limits(level: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        found = rate_ratio(joined, level)
        return (found.ratio, *widened(found, wider))

    return limits


def _differences(
    ratio: FloatArray, low: FloatArray, high: FloatArray, p_value: FloatArray
) -> list[Difference]:
    """Of ratios, limits and p-values, with p-values that allow for all (Bonferroni)."""
    rows = zip(*(each.tolist() for each in (ratio, low, high, p_value)), strict=True)
    return [Difference(r, a, b, p, min(1.0, p * len(ratio))) for r, a, b, p in rows]
