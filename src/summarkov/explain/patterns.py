"""How influencers work together: and, or, neither, each on its own."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from summarkov.confidence import exact_intervals, seen
from summarkov.engines import StateCounts
from summarkov.explain.contrasts import presence
from summarkov.scores import probabilities
from summarkov.typing import BoolArray, CodeArray, FloatArray

#: Tables of more influencers have too many states to have one simple name.
_MOST = 4


@dataclass(frozen=True)
class Pattern:
    r"""The simple name of a target's table over two to four influencers, where its intervals support one.

    States are taken by presence alone, and each must have been seen often. The table has *two levels* if its
    states fall into likely and unlikely ones such that every 95% interval of the likely lies above every one
    of the unlikely, and within either group all intervals have a point in common. Then ``kind`` is, by the
    likely states,

    - "and": all influencers together; "nand": all states but that one;
    - "or": any of them; "nor": none of them;
    - "xor": one of two but not both; "xnor": both of two or neither;
    - "without": one state in which some are there and some are not.

    Else, where each influencer alone lies above none, and all together above each alone (by their intervals),

    - "noisy-or": each works on its own, as if independent causes could each bring it about:
      :math:`1 - p_S = (1 - p_0) \prod_{z \in S} \frac{1 - p_z}{1 - p_0}` for all states S of several, within
      1.96 standard deviations of the logarithm of either side;
    - "together": of two, both make more of it than that.

    ``probability`` and ``otherwise`` are the shares of the target in the likely and in all other states; for
    "noisy-or" and "together", with all influencers there and with none.
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
    how = _on_their_own(collapsed.keys, theta, low, high, n)
    if how is None:
        return None
    words = _list(names, "and") + (", each on its own" if how == "noisy-or" else " together more than apart")
    return Pattern(target, how, tuple(names), words, float(theta[-1]), float(theta[0]))


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
    if len(there) == 2**n - 1 and everyone not in there:
        return "nand", f"anything but {_list(names, 'and')} together"
    if two and there == {(0, 1), (1, 0)}:
        return "xor", f"{names[0]} or {names[1]} but not both"
    if two and there == {everyone, nobody}:
        return "xnor", f"both {names[0]} and {names[1]} or neither"
    if len(there) == 1:
        (key,) = there
        present = [z for z, level in zip(names, key, strict=True) if level]
        absent = [z for z, level in zip(names, key, strict=True) if not level]
        return "without", f"{_list(present, 'and')} without {_list(absent, 'or')}"
    return None


def _on_their_own(
    keys: CodeArray,
    theta: FloatArray,
    low: FloatArray,
    high: FloatArray,
    n: FloatArray,
) -> str | None:
    """Whether each influencer works on its own, or two of them do more than that together."""
    size = keys.sum(axis=1)  # states are in order, so that none is the first, and all the last
    alone, several = np.flatnonzero(size == 1), np.flatnonzero(size > 1)
    if not (low[alone] > high[0]).all() or not low[-1] > high[alone].max():
        return None
    log_not = np.log1p(-theta)
    spread = theta / ((1 - theta) * n)  # variance of log(1 - theta)
    excess = []
    for state in several:
        parts = [row for row in alone if (keys[row] <= keys[state]).all()]
        less = len(parts) - 1
        difference = log_not[state] - log_not[parts].sum() + less * log_not[0]
        deviation = math.sqrt(spread[state] + spread[parts].sum() + less**2 * spread[0])
        excess.append(difference / deviation)
    if max(map(abs, excess)) <= 1.96:
        return "noisy-or"
    return "together" if len(alone) == 2 and excess[0] < -1.96 else None


def _list(names: Sequence[str], last: str) -> str:
    *rest, end = names
    return f"{', '.join(rest)} {last} {end}" if rest else end
