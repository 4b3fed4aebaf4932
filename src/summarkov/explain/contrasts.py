"""With an influencer and without it, all else equal: the counts behind an influence, and their patterns."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from summarkov.confidence import Strata, directions, exact_intervals, given_selected, rate_ratio, seen
from summarkov.engines import StateCounts
from summarkov.explain.influence import Influence, effect_of
from summarkov.scores import probabilities
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


#: Tables of more influencers have too many states to have one simple name.
_MOST = 4


@dataclass(frozen=True)
class Pattern:
    r"""The simple name of a target's table over two to four influencers, where its intervals support one.

    States are taken by presence alone, and each must have been seen often. The table has *two levels* if its
    states fall into likely and unlikely ones such that every 95% interval of the likely lies above every one
    of the unlikely, and within either group all intervals have a point in common. Then ``kind`` is, by the
    likely states,

    - "and": all influencers together;
    - "or": any of them; "nor": none of them;
    - "xor": one of two but not both;
    - "without": one state in which some are there and some are not.

    Else it is "together" if two influencers do more together than each on its own: each alone lies above
    none, and both above each alone (by their intervals), and :math:`1 - p` with both is less than independent
    causes would make it, :math:`(1 - p_1)(1 - p_2) / (1 - p_0)`, by more than 1.96 standard deviations of the
    logarithm of either side.

    Attributes
    ----------
    target, influencers : str, tuple of str
        The label, and those that it depends on.
    kind, words : str
        The name of the pattern, and the same in a sentence.
    probability, otherwise : float
        The share of the target in the likely states and in all others; for "together", with both
        influencers there and with none.
    """

    target: str
    kind: str
    influencers: tuple[str, ...]
    words: str
    probability: float
    otherwise: float

    def __str__(self) -> str:
        return f"{self.target} after {self.words}: {self.probability:.3f} instead of {self.otherwise:.3f}"


def pattern_of(
    table: StateCounts, pseudo: FloatArray, scale: int, outcome: int, target: str, names: Sequence[str]
) -> Pattern | None:
    """Name the pattern of a table for one outcome, or None where there is no simple name."""
    collapsed = presence(table)
    counts = collapsed.counts / scale
    n = counts.sum(axis=1)
    if not 2 <= len(names) <= _MOST or len(n) < 2 ** len(names):
        return None
    if any(seen(each, float(pseudo.sum())) != "often" for each in n.tolist()):
        return None
    theta = probabilities(counts, pseudo)[:, outcome]
    low, high = np.moveaxis(exact_intervals(counts[:, outcome], n), -1, 0)
    likely = _two_levels(theta, low, high)
    if likely is not None:
        named = _shape(collapsed.keys[likely].tolist(), names)
        if named is None:
            return None
        share = [float(counts[rows, outcome].sum() / n[rows].sum()) for rows in (likely, ~likely)]
        kind, words = named
        return Pattern(target, kind, tuple(names), words, *share)
    if not _is_more_together(theta, low, high, n):
        return None
    words = f"{_list(names, 'and')} together more than apart"
    return Pattern(target, "together", tuple(names), words, float(theta[-1]), float(theta[0]))


def _two_levels(theta: FloatArray, low: FloatArray, high: FloatArray) -> BoolArray | None:
    """The likely states, if the table has two levels."""
    order = np.argsort(theta)
    for cut in range(1, len(order)):
        off, on = order[:cut], order[cut:]
        apart = low[on].min() > high[off].max()
        if apart and low[on].max() <= high[on].min() and low[off].max() <= high[off].min():
            likely = np.zeros(len(theta), bool)
            likely[on] = True
            return likely
    return None


def _shape(likely: list[list[int]], names: Sequence[str]) -> tuple[str, str] | None:
    """Kind and words for the likely states."""
    there = {tuple(key) for key in likely}
    n = len(names)
    everyone, nobody = (1,) * n, (0,) * n
    two = n == 2
    if there == {everyone}:
        return "and", f"{_list(names, 'and')} together"
    if there == {nobody}:
        return "nor", f"neither {names[0]} nor {names[1]}" if two else f"none of {_list(names, 'and')}"
    if len(there) == 2**n - 1 and nobody not in there:
        return "or", _list(names, "or")
    if two and there == {(0, 1), (1, 0)}:
        return "xor", f"{names[0]} or {names[1]} but not both"
    if len(there) == 1:
        (key,) = there
        present = [z for z, level in zip(names, key, strict=True) if level]
        absent = [z for z, level in zip(names, key, strict=True) if not level]
        return "without", f"{_list(present, 'and')} without {_list(absent, 'or')}"
    return None


def _is_more_together(theta: FloatArray, low: FloatArray, high: FloatArray, n: FloatArray) -> bool:
    """Whether two influencers do more together than each on its own; states are none, each alone, both."""
    if len(theta) != 4 or not (low[1:3] > high[0]).all() or not low[3] > high[1:3].max():
        return False
    log_not = np.log1p(-theta)
    spread = theta / ((1 - theta) * n)  # variance of log(1 - theta)
    excess = log_not[3] - log_not[1] - log_not[2] + log_not[0]
    return bool(excess < -1.96 * math.sqrt(spread.sum()))


def _list(names: Sequence[str], last: str) -> str:
    *rest, end = names
    return f"{', '.join(rest)} {last} {end}" if rest else end
