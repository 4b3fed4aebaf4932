"""With an influencer and without it, all else equal: the counts behind an influence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from summarkov.confidence import Strata, directions, given_selected, rate_ratio
from summarkov.engines import StateCounts
from summarkov.explain.influence import Influence, effect_of
from summarkov.summaries import TreeSummary
from summarkov.typing import CodeArray, FloatArray, IntArray


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
    seen only with or only without included.
    """

    strata: Strata
    keys: CodeArray
    totals: Totals


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
    return Contrast(strata, np.delete(table.keys[with_], column, axis=1), totals)


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
    return Contrast(Strata.of(*each), keys, Totals(*(float(numbers.sum()) for numbers in each)))


def influence_of(
    influencer: str,
    target: str,
    found: Contrast,
    others: Sequence[str],
    sequences: tuple[float, float] | None,
    margin: float | None = None,
) -> Influence:
    """What a contrast says. ``others`` names the columns of its keys, if they stand for influencers.

    ``sequences`` are those with the influencer, and those in which the target followed it. ``margin`` is that
    by which the influencer was selected, see :func:`summarkov.confidence.given_selected`.
    """
    estimate = rate_ratio(found.strata)
    more, less = directions(found.strata)
    is_mixed = bool(more.any() and less.any())
    n_with, n_followed = sequences if sequences is not None else (None, None)
    corrected = (None, None, None) if margin is None else given_selected(found.strata, margin)
    return Influence(
        influencer,
        target,
        effect_of(float(estimate.low), float(estimate.high), is_mixed),
        float(estimate.ratio),
        float(estimate.low),
        float(estimate.high),
        *found.totals,
        sequences=n_followed,
        sequences_with=n_with,
        depends=_depends(found.keys[more], found.keys[less], others) if is_mixed else "",
        corrected_ratio=corrected[0],
        corrected_low=corrected[1],
        corrected_high=corrected[2],
    )


def _depends(up: CodeArray, down: CodeArray, others: Sequence[str]) -> str:
    """On which other influencer it depends whether one amplifies or inhibits.

    One that is there in every configuration beside which it amplifies and in none beside which it inhibits;
    or the other way round. Nothing where there is no such label.
    """
    for column, name in enumerate(others):
        if up[:, column].all() and not down[:, column].any():
            return f"amplifies with {name}, inhibits without"
        if down[:, column].all() and not up[:, column].any():
            return f"inhibits with {name}, amplifies without"
    return ""
