"""What an influence says, in words: the same on the terminal, in pages, figures and notebooks."""

from __future__ import annotations

import math

from summarkov.explain.influence import Influence
from summarkov.wording import factor, factor_interval, number, percent, plural


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
        words += ", other influencers equal"
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
    if edge.sequences is not None and edge.sequences_with is not None:
        words.append(f"in {number(edge.sequences)} of {plural(edge.sequences_with, 'sequence')}")
    if edge.is_thin:
        words.append("thin evidence")
    if edge.frequency is not None:
        words.append(f"found again in {percent(edge.frequency)} of resampled data")
    return ", ".join(words)


def sentence(edge: Influence, influencer: str, target: str, where: str | None) -> str:
    """All of it as one sentence; names are given as they are to be shown.

    ``where`` says where the influencer is looked for; None: it is an attribute, which holds or does not.

    >>> edge = Influence("A", "B", "amplifies", 3.0, 1.8, 5.0, 30, 100, 20, 200, 12, 25)
    >>> sentence(edge, "'A'", "'B'", "within the last 5 events")  # doctest: +NORMALIZE_WHITESPACE
    "After 'A' within the last 5 events, 'B' follows at 30.0% (30 of 100), otherwise 10.0% (20 of 200), in 12
    of 25 sequences: amplifies ×3.0 (95% interval 1.8 to 5.0)."
    """
    behind = support(edge)
    when = f"Where {influencer} holds" if where is None else f"After {influencer} {where}"
    return f"{when}, {target} follows at {rates(edge)}{f', {behind}' if behind else ''}: {verdict(edge)}."
