"""Positions with an influencer and without it, all else equal: strata of a table of states, or of a tree."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from summarkov.confidence import Strata, added
from summarkov.engines import StateCounts
from summarkov.summaries import TreeSummary
from summarkov.typing import BoolArray, CodeArray, FloatArray, IntArray


class Totals(NamedTuple):
    """Hits and positions with an influencer and without it, whatever else there is."""

    hits_with: float
    n_with: float
    hits_without: float
    n_without: float


@dataclass(frozen=True)
class Contrast:
    """Positions with an influencer and without it.

    ``strata`` has the hits of one label, ``[..., c]``, in the configurations c of the other influencers.
    ``keys[c]`` is the configuration, ``totals`` sum over all positions, those of configurations that were
    seen only with or only without included. ``stratum[s]`` is the configuration of state s, -1 where it is
    not compared, and ``here[s]`` tells whether the influencer is there. Configurations that were seen only
    with or only without it are ``apart``, with ``apart_keys``.
    """

    strata: Strata
    keys: CodeArray
    totals: Totals
    stratum: IntArray
    here: BoolArray
    apart: Strata
    apart_keys: CodeArray

    def added(self) -> tuple[FloatArray, FloatArray]:
        """What a position in each state adds to the logarithm of the ratio, and a hit beside that."""
        if not len(self.keys):
            return np.zeros(len(self.here)), np.zeros(len(self.here))
        side = np.where(self.here, 0, 1)
        base, hit = (values[side, self.stratum] for values in added(self.strata))
        compared = self.stratum >= 0
        return np.where(compared, base, 0.0), np.where(compared, hit, 0.0)


def presence(table: StateCounts) -> StateCounts:
    """A table by presence alone: ordinal and count states are collapsed."""
    return table.regroup((table.keys > 0).astype(np.int32))


def contrast(table: StateCounts, scale: int, column: int, outcome: int) -> Contrast:
    """The contrast of the influencer in ``column`` in a table by presence; replicates come first."""
    with_, without = presence_pairs(table.keys, column)
    hits, n = table.counts[..., outcome] / scale, table.counts.sum(axis=-1) / scale
    here = table.keys[:, column] > 0
    sums = (numbers[..., rows].sum(axis=-1) for rows in (here, ~here) for numbers in (hits, n))
    totals = Totals(*(float(each) if each.ndim == 0 else np.nan for each in sums))
    strata = Strata.of(hits[..., with_], n[..., with_], hits[..., without], n[..., without])
    stratum = np.full(len(here), -1)
    stratum[with_] = stratum[without] = np.arange(len(with_))
    others, rest = np.delete(table.keys, column, axis=1), np.flatnonzero(stratum < 0)
    apart = Strata(*(numbers[..., rest] * side[rest] for side in (here, ~here) for numbers in (hits, n)))
    return Contrast(strata, others[with_], totals, stratum, here, apart, others[rest])


def presence_pairs(keys: CodeArray, column: int) -> tuple[IntArray, IntArray]:
    """Rows of presence with the influencer in ``column``, and those that differ from them in nothing else."""
    here = keys[:, column] > 0
    others = np.delete(keys, column, axis=1).tolist()
    without = {tuple(others[row]): row for row in np.flatnonzero(~here).tolist()}
    pairs = [
        (row, without[tuple(others[row])]) for row in np.flatnonzero(here) if tuple(others[row]) in without
    ]
    with_, without_ = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    return with_, without_


def contrasts_in_table(table: StateCounts, scale: int, n_labels: int) -> Iterator[tuple[int, int, Contrast]]:
    """Column, outcome and contrast for every influencer of a table and the first ``n_labels`` outcomes."""
    if not table.keys.shape[1]:
        return
    collapsed = presence(table)
    for column in range(table.keys.shape[1]):
        for outcome in range(n_labels):
            yield column, outcome, contrast(collapsed, scale, column, outcome)


def contrast_in_tree(tree: TreeSummary, at_nodes: FloatArray, influencer: int, outcome: int) -> Contrast:
    """The contrast of an influencer where a tree first asks about it on each path.

    A stratum is a node whose test is the first on its path that asks about the influencer; with it are the
    positions that answer yes. Nothing is said of a label that others are merely compared with.
    ``at_nodes[node, x]`` are the counts.
    """
    rows = []
    for row, test in enumerate(tree.nodes):
        if test is None or not test.labels or test.labels[0] != influencer:
            continue
        if not any(influencer in earlier.labels for earlier, _ in tree.path(row)):
            rows.append(tree.branches[row])
    yes, no = np.array(rows, np.int64).reshape(-1, 2).T
    hits, n = at_nodes[:, outcome], at_nodes.sum(axis=1)
    each = hits[yes], n[yes], hits[no], n[no]
    keys = np.arange(len(rows), dtype=np.int32)[:, None]
    totals = Totals(*(float(numbers.sum()) for numbers in each))
    apart = Strata(*(numbers[:0] for numbers in each))
    return Contrast(Strata.of(*each), keys, totals, *_asked_at(tree, yes, no), apart, keys[:0])


def _asked_at(tree: TreeSummary, yes: IntArray, no: IntArray) -> tuple[IntArray, BoolArray]:
    """For each leaf the pair of branches that it is below, or -1, and whether that is the one of yes."""
    stratum, here = np.full(len(tree.nodes), -1), np.zeros(len(tree.nodes), bool)
    stratum[yes] = stratum[no] = np.arange(len(yes))
    here[yes] = True
    for row, above in enumerate(tree.parent.tolist()):  # which come first
        if above >= 0 and stratum[row] < 0:
            stratum[row], here[row] = stratum[above], here[above]
    return stratum[tree.leaves], here[tree.leaves]
