"""How the influencers of a target work together, where that has a simple name."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from summarkov.engines import StateCounts
from summarkov.evidence.edges import presence
from summarkov.evidence.ratios import exact_intervals, seen
from summarkov.search.criteria import probabilities
from summarkov.typing import BoolArray, FloatArray
from summarkov.wording import percent, several

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
        shares = f"{percent(self.probability)} instead of {percent(self.otherwise)}"
        return f"{self.target} with {self.words}: {shares}"


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
    if likely is None:
        words = f"{several(names)} together more than apart"
        found = Pattern(target, "together", tuple(names), words, float(theta[-1]), float(theta[0]))
        return found if _is_more_together(theta, low, high, n) else None
    named = _shape(collapsed.keys[likely].tolist(), names)
    if named is None:
        return None
    share = (float(counts[rows, outcome].sum() / n[rows].sum()) for rows in (likely, ~likely))
    return Pattern(target, named[0], tuple(names), named[1], *share)


def _two_levels(theta: FloatArray, low: FloatArray, high: FloatArray) -> BoolArray | None:
    """The likely states, if the table has two levels."""
    for least in np.unique(theta)[1:]:
        on = theta >= least
        apart = low[on].min() > high[~on].max()
        if apart and all(low[group].max() <= high[group].min() for group in (on, ~on)):
            return np.asarray(on)
    return None


def _shape(likely: list[list[int]], names: Sequence[str]) -> tuple[str, str] | None:
    """Kind and words for the likely states."""
    n, there = len(names), {tuple(key) for key in likely}
    nobody = (0,) * n
    if there == {(1,) * n}:
        return "and", f"{several(names)} together"
    if there == {nobody}:
        return "nor", f"neither {names[0]} nor {names[1]}" if n == 2 else f"none of {several(names)}"
    if len(there) == 2**n - 1 and nobody not in there:
        return "or", several(names, "or")
    if there == {(0, 1), (1, 0)}:
        return "xor", f"{names[0]} or {names[1]} but not both"
    if len(there) == 1:
        present, absent = (
            [z for z, level in zip(names, *there, strict=True) if level == at] for at in (1, 0)
        )
        return "without", f"{several(present)} without {several(absent, 'or')}"
    return None


def _is_more_together(theta: FloatArray, low: FloatArray, high: FloatArray, n: FloatArray) -> bool:
    """Whether two influencers do more together than each on its own; states are none, each alone, both."""
    if len(theta) != 4 or not (low[1:3] > high[0]).all() or not low[3] > high[1:3].max():
        return False
    log_not = np.log1p(-theta)
    spread = theta / ((1 - theta) * n)  # variance of log(1 - theta)
    excess = log_not[3] - log_not[1] - log_not[2] + log_not[0]
    return bool(excess < -1.96 * math.sqrt(spread.sum()))
