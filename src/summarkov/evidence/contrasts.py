"""Positions with an influencer and without it, all else equal: strata of a table of states, or of a tree."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from summarkov.engines import StateCounts
from summarkov.evidence.ratios import Strata, added
from summarkov.summaries import TreeSummary
from summarkov.typing import BoolArray, CodeArray, FloatArray, IntArray
from summarkov.wording import several

#: What is named as not comparable where no single influencers can be: in trees.
NOT_NAMED = "other influencers"


class Totals(NamedTuple):
    """Hits and positions with an influencer and without it, whatever else there is."""

    hits_with: float
    n_with: float
    hits_without: float
    n_without: float


@dataclass(frozen=True)
class Contrast:
    """Positions with an influencer and without it, and hits of one label among them.

    ``counted`` has them in every configuration c of the other influencers, the last axis, ``keys[c]`` is the
    configuration, and ``totals`` are over all positions. State s of the table is in configuration
    ``stratum[s]`` (-1: in none), and ``here[s]`` tells whether the influencer is there.
    """

    counted: Strata
    keys: CodeArray
    stratum: IntArray
    here: BoolArray
    totals: Totals

    @cached_property
    def strata(self) -> Strata:
        """What is compared: configurations that were seen both with the influencer and without it."""
        return Strata.of(*vars(self.counted).values())

    def added(self) -> tuple[FloatArray, FloatArray]:
        """What a position in each state adds to the logarithm of the ratio, and a hit beside that."""
        base, hit = added(self.strata)
        side = np.where(self.here, 0, 1)
        return base[side, self.stratum], hit[side, self.stratum]


def presence(table: StateCounts) -> StateCounts:
    """A table by presence alone: ordinal and count states are collapsed."""
    return table.regroup((table.keys > 0).astype(np.int32))


def contrast(table: StateCounts, scale: int, column: int, outcome: int) -> Contrast:
    """The contrast of the influencer in ``column`` in a table by presence; replicates come first."""
    here, others = table.keys[:, column] > 0, table.keys.copy()
    others[:, column] = 0
    keys, stratum = np.unique(others, axis=0, return_inverse=True)
    stratum = stratum.ravel()
    counted = np.zeros((4, *table.counts.shape[:-2], len(keys)))
    for side, rows in enumerate((here, ~here)):
        counted[2 * side][..., stratum[rows]] = table.counts[..., rows, outcome] / scale
        counted[2 * side + 1][..., stratum[rows]] = table.counts[..., rows, :].sum(axis=-1) / scale
    totals = Totals(*counted.sum(axis=-1).tolist())
    return Contrast(Strata(*counted), np.delete(keys, column, axis=1), stratum, here, totals)


def contrasts_in_table(table: StateCounts, scale: int, n_labels: int) -> Iterator[tuple[int, int, Contrast]]:
    """Column, outcome and contrast for every influencer of a table and the first ``n_labels`` outcomes."""
    collapsed = presence(table)
    for column in range(table.keys.shape[1]):
        for outcome in range(n_labels):
            yield column, outcome, contrast(collapsed, scale, column, outcome)


def contrast_in_tree(tree: TreeSummary, at_nodes: FloatArray, influencer: int, outcome: int) -> Contrast:
    """The contrast of an influencer where a tree first asks about it on each path.

    A stratum is a node whose test is the first on its path that asks about the influencer; with it are the
    positions that answer yes. Nothing is said of a label that others are merely compared with.
    ``at_nodes[node, x]`` are the counts. The last stratum is empty, for leaves that are below none.
    """
    asks = [
        row
        for row, test in enumerate(tree.nodes)
        if test is not None
        and influencer in test.labels[:1]
        and not any(influencer in earlier.labels for earlier, _ in tree.path(row))
    ]
    stratum, here = np.full(len(tree.nodes), -1), np.zeros(len(tree.nodes), bool)
    counted = np.zeros((4, len(asks) + 1))
    for at, row in enumerate(asks):
        yes, no = tree.branches[row]
        stratum[[yes, no]], here[yes] = at, True
        counted[:, at] = [number for side in at_nodes[[yes, no]] for number in (side[outcome], side.sum())]
    for row, above in enumerate(tree.parent.tolist()):  # which come first
        if above >= 0 and stratum[row] < 0:
            stratum[row], here[row] = stratum[above], here[above]
    totals, keys = Totals(*counted.sum(axis=-1).tolist()), np.arange(len(asks) + 1, dtype=np.int32)[:, None]
    return Contrast(Strata(*counted), keys, stratum[tree.leaves], here[tree.leaves], totals)


# ---------------------------------------------------------------------- is there anything to compare?


def comparable_counts(strata: Strata) -> tuple[float, float]:
    """Hits with the influencer in comparable strata, and those expected there from the rates without it."""
    expected = strata.n_with * strata.hits_without / np.maximum(strata.n_without, 1e-300)
    return float(strata.hits_with.sum()), float(expected.sum())


def not_comparable(contrast: Contrast, others: Sequence[str]) -> str:
    """The other influencers with which a comparison is missing; empty where none is.

    It is missing where the ratio of comparable strata is 0, infinite or unknown though the counts of all
    positions are not. Then one influencer after the other is no longer held equal, each time the one that
    makes most comparable, until the ratio is what counts allow.
    """
    dropped: list[int] = []
    if not _is_missing(contrast, dropped):
        return ""
    while len(dropped) < len(others) and _is_missing(contrast, dropped):
        rest = (column for column in range(len(others)) if column not in dropped)
        dropped.append(max(rest, key=lambda column: sorted(_compared(contrast, [*dropped, column]))))
    return several(others[column] for column in sorted(dropped)) if dropped else NOT_NAMED


def _is_missing(contrast: Contrast, dropped: Sequence[int]) -> bool:
    """Whether the ratio is 0, infinite or unknown only because strata leave out hits."""
    totals = contrast.totals
    if not (totals.n_with and totals.n_without):
        return False
    above, below = _compared(contrast, dropped)
    return bool((not above and totals.hits_with > 0) or (not below and totals.hits_without > 0))


def _compared(contrast: Contrast, dropped: Sequence[int]) -> tuple[float, float]:
    """Mantel and Haenszel's sums if some of the other influencers are not held equal."""
    keys = contrast.keys.copy()
    keys[:, dropped] = 0
    of = np.unique(keys, axis=0, return_inverse=True)[1].ravel() if dropped else np.arange(len(keys))
    above, below = Strata.of(*(np.bincount(of, each) for each in vars(contrast.counted).values())).sums()
    return float(above), float(below)
