"""What influences and tables say, in words: the same on the terminal, in pages, figures and notebooks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from summarkov.confidence import exact_intervals, seen
from summarkov.engines import StateCounts
from summarkov.explain.contrasts import presence
from summarkov.explain.influence import Influence
from summarkov.scores import probabilities
from summarkov.typing import BoolArray, FloatArray
from summarkov.wording import factor, factor_interval, number, percent, plural, several


def change(edge: Influence) -> str:
    """The share of hits without the influencer and with it.

    >>> change(Influence("A", "B", "amplifies", 3.0, 2.0, 4.5, 30, 100, 20, 200))
    '10.0% → 30.0%'
    """
    if not edge.n_with and not edge.n_without:
        return ""
    return f"{_rate(edge.rate_without)} → {_rate(edge.rate_with)}"


def _rate(p: float) -> str:
    return "never seen" if math.isnan(p) else percent(p)


def rates(edge: Influence) -> str:
    """Both shares with their counts, to follow "after A".

    >>> rates(Influence("A", "B", "unclear", 1.0, 0.1, 9.0, 1, 52, 0, 12203))
    '1.9% (1 of 52), otherwise 0% (0 of 12,203)'
    """
    if not edge.n_with and not edge.n_without:
        return "nothing was counted, for the model only compares others with it"
    sides = ((edge.hits_with, edge.n_with), (edge.hits_without, edge.n_without))
    told = [
        f"{percent(hits / n)} ({number(hits)} of {number(n)})" if n else "never seen" for hits, n in sides
    ]
    return f"{told[0]}, otherwise {told[1]}"


def times(edge: Influence) -> str:
    """The ratio; of a mixed influence, which has not one, the word, and nothing of an unclear one."""
    return {"mixed": "mixed", "unclear": ""}.get(edge.effect, factor(edge.ratio))


def limits(edge: Influence) -> str:
    """The interval of the ratio; a mixed influence has not one ratio."""
    return "" if edge.effect == "mixed" else factor_interval(edge.low, edge.high)


def verdict(edge: Influence) -> str:
    """The effect with its ratio and interval, and what it is adjusted for.

    >>> from dataclasses import replace
    >>> verdict(Influence("A", "B", "amplifies", 2.9, 1.8, 4.7, 30, 100, 20, 200))
    'amplifies ×2.9 (95% interval 1.8 to 4.7), other influencers equal'
    >>> verdict(Influence("A", "B", "unclear", 1.0, 0.1, 9.0, 1, 52, 0, 12203))
    'unclear (95% interval 0.10 to 9.0), other influencers equal'
    """
    if edge.effect == "mixed":
        how = edge.depends or "more likely beside some of the other influencers, less beside others"
        return f"mixed: {how}{_about_order(edge)}"
    words = f"{edge.effect} {times(edge)}".strip() + f" (95% interval {limits(edge)})"
    if _is_adjusted(edge):
        of_odds = edge.interval == "likelihood"
        words += " of the odds, all else equal" if of_odds else ", other influencers equal"
    if edge.is_reversed:
        words += "; the two rates alone point the other way"
    if edge.is_narrow:
        words += f"; {corrected(edge)} allowing for its narrow selection"
    return words + _about_order(edge)


def corrected(edge: Influence) -> str:
    """The ratio and interval that allow for selection; nothing where they are not known.

    >>> numbers = 1.8, 1.3, 2.4, 30, 100, 20, 200
    >>> narrow = {"corrected_ratio": 1.2, "corrected_low": 0.95, "corrected_high": 2.4}
    >>> corrected(Influence("A", "B", "amplifies", *numbers, **narrow))
    '×1.2 (0.95 to 2.4)'
    """
    if edge.corrected_ratio is None or edge.corrected_low is None or edge.corrected_high is None:
        return ""
    interval = factor_interval(edge.corrected_low, edge.corrected_high)
    return f"{factor(edge.corrected_ratio)} ({interval})"


def _about_order(edge: Influence) -> str:
    """What the order test says, to follow the verdict; nothing if it was not asked."""
    if edge.order is None or edge.order_ratio is None or edge.order_low is None or edge.order_high is None:
        return ""
    against = f"{factor(edge.order_ratio)} against shuffled sequences".strip()
    numbers = f"{against} ({factor_interval(edge.order_low, edge.order_high)})"
    if edge.order == "company only":
        return f"; company only, shuffled sequences show it too: {numbers}"
    if edge.order == "unclear":
        return f"; unclear whether about order: {numbers}"
    turned = ", the other way round than it looks" if edge.is_turned else ""
    room = ""
    if edge.competition:
        others = "leave which it inhibits" if (edge.order_ratio or 0) > 1 else "take which it amplifies"
        room = f"; no more than the room that labels {others}"
    return f"; about order{turned}: {numbers}{room}"


def _is_adjusted(edge: Influence) -> bool:
    """Whether the ratio is another than that of the two rates."""
    if not edge.n_with or not edge.n_without or not edge.rate_without:
        return not (math.isinf(edge.ratio) or math.isnan(edge.ratio))
    return not math.isclose(edge.ratio, edge.rate_with / edge.rate_without, rel_tol=1e-9, abs_tol=1e-12)


def order_word(edge: Influence) -> str:
    """What the order test says, in a word for tables; see :data:`ORDER_WORDS`."""
    if edge.order == "about order":
        return "turned" if edge.is_turned else "room" if edge.competition else "yes"
    return {"company only": "company", "unclear": "unclear"}.get(edge.order or "", "")


#: What the words of a table mean.
ORDER_WORDS = {
    "yes": "about the order of events",
    "room": "so, but no more than the room that other labels take or leave",
    "turned": "order works the other way round than the ratio looks",
    "company": "shuffled sequences show it too",
    "unclear": "neither can be said",
}


def support(edge: Influence) -> str:
    """In how many sequences the target followed, where that is known, and whether the evidence is thin."""
    words = []
    if edge.cases_followed is not None and edge.cases_with is not None:
        words.append(f"in {number(edge.cases_followed)} of {plural(edge.cases_with, 'sequence')}")
    if edge.is_thin:
        words.append("thin evidence")
    if edge.frequency is not None:
        words.append(f"found again in {percent(edge.frequency)} of resampled data")
    return ", ".join(words)


def sentence(edge: Influence, influencer: str, target: str, where: str | None) -> str:
    """All of it as one sentence; names are given as they are to be shown.

    ``where`` says where the influencer is looked for; None: it is an attribute, which holds or does not.

    >>> edge = Influence("A", "B", "amplifies", 3.0, 1.8, 5.0, 30, 100, 20, 200, 25, 12)
    >>> sentence(edge, "'A'", "'B'", "within the last 5 events")  # doctest: +NORMALIZE_WHITESPACE
    "After 'A' within the last 5 events, 'B' follows at 30.0% (30 of 100), otherwise 10.0% (20 of 200), in 12
    of 25 sequences: amplifies ×3.0 (95% interval 1.8 to 5.0)."
    """
    behind = support(edge)
    when = f"Where {influencer} holds" if where is None else f"After {influencer} {where}"
    return f"{when}, {target} follows at {rates(edge)}{f', {behind}' if behind else ''}: {verdict(edge)}."


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
    words = f"{several(names)} together more than apart"
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
        return "and", f"{several(names)} together"
    if there == {nobody}:
        return "nor", f"neither {names[0]} nor {names[1]}" if two else f"none of {several(names)}"
    if len(there) == 2**n - 1 and nobody not in there:
        return "or", several(names, "or")
    if two and there == {(0, 1), (1, 0)}:
        return "xor", f"{names[0]} or {names[1]} but not both"
    if len(there) == 1:
        (key,) = there
        present = [z for z, level in zip(names, key, strict=True) if level]
        absent = [z for z, level in zip(names, key, strict=True) if not level]
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
