"""What may be said of a ratio, and what the order test shows, in words."""

from __future__ import annotations

import math

from summarkov.confidence.order import ORDERS
from summarkov.events.vocabulary import END
from summarkov.explain.influence import Influence
from summarkov.wording import AttributeName, factor, factor_interval, number, percent

# ---------------------------------------------------------------------- ratios


def times(edge: Influence) -> str:
    """The rate ratio for a table or a figure; empty for an unclear influence.

    "never" and "only with it" are said of raw counts alone. A ratio that rests on too few comparable events
    is not shown: the raw one is. Both are, where they point different ways.

    >>> times(Influence("A", "B", "inhibits", 0.0, 0.0, 0.4, 0, 1204, 90, 2000))
    'never (0 of 1,204)'
    >>> numbers = "A", "B", "inhibits", 0.0, 0.0, 0.6, 35, 1000, 16, 1000
    >>> times(Influence(*numbers, comparable_hits=0, comparable_expected=12, not_comparable="C"))
    'raw ×2.2'
    >>> times(Influence("A", "B", "inhibits", 0.7, 0.6, 0.8, 350, 1000, 160, 1000))
    '×0.70, raw ×2.2'
    """
    if edge.effect == "mixed":
        return "mixed"
    if edge.effect == "unclear" and not edge.not_comparable:
        return ""
    if counted := _never(edge) or _only(edge):
        return counted
    if edge.is_raw:
        return f"raw {factor(edge.raw_ratio)}"
    return factor(edge.ratio) + (f", raw {factor(edge.raw_ratio)}" if edge.is_reversed else "")


def _never(edge: Influence) -> str:
    """That the target never follows, if it is so; from raw counts."""
    if edge.hits_with or not edge.n_with or not edge.hits_without:
        return ""
    n = edge.n_with if edge.occurrences is None else edge.occurrences
    return f"never (0 of {number(n)})"


def _only(edge: Influence) -> str:
    """That the target follows nothing else, if it is so; from raw counts."""
    if edge.hits_without or not edge.n_without or not edge.hits_with:
        return ""
    return f"only with it ({number(edge.hits_with)} of {number(edge.hits_with)})"


def limits(edge: Influence) -> str:
    """The interval of the ratio; empty where that ratio is not shown, and for a mixed influence."""
    if edge.effect == "mixed" or edge.not_comparable:
        return ""
    is_hidden = edge.is_raw and edge.effect != "unclear" and not (_never(edge) or _only(edge))
    return "" if is_hidden else factor_interval(edge.low, edge.high)


def outcome_change(edge: Influence) -> str:
    """The share of cases that end so, without the influencer and with it.

    >>> outcome_change(Influence("A", "B", "amplifies", 3.0, 2.0, 4.5, 30, 100, 20, 200))
    '10.0% → 30.0%'
    """
    both = edge.rate_without, edge.rate_with
    return " → ".join("never seen" if math.isnan(rate) else percent(rate) for rate in both)


def effect_word(edge: Influence) -> str:
    """The effect, or why there is no verb for it."""
    if edge.not_comparable:
        return "not comparable"
    return edge.effect if edge.shown_effect == edge.effect else "unclear direction"


def likely(ratio: float, what: str = "as likely") -> str:
    """A ratio in a sentence.

    >>> likely(2.9), likely(0.0), likely(1e9)
    ('2.9 times as likely', 'under 0.01 times as likely', 'over 100 times as likely')
    """
    return f"{factor(ratio).replace('×', '')} times {what}"


def verdict(edge: Influence) -> str:
    """The effect with its ratio and interval, what it is adjusted for, and what the order test shows.

    >>> verdict(Influence("A", "B", "amplifies", 2.9, 1.8, 4.7, 30, 100, 20, 200))
    'amplifies, 2.9 times as likely (95% interval 1.8 to 4.7), other influencers equal'
    >>> verdict(Influence("A", "B", "unclear", 1.0, 0.1, 9.0, 1, 52, 0, 12203))
    'unclear, 95% interval 0.10 to 9.0, other influencers equal'
    >>> numbers = "A", "B", "inhibits", 0.0, 0.0, 0.6, 35, 1000, 16, 1000
    >>> verdict(Influence(*numbers, comparable_hits=0, comparable_expected=12, not_comparable="C"))
    'not comparable with C held equal; raw, 2.2 times as likely'
    """
    if edge.effect == "mixed":
        how = edge.depends or "more likely beside some of the other influencers, less beside others"
        return f"mixed: {how}{_order(edge)}"
    if edge.not_comparable:
        words = f"not comparable with {edge.not_comparable} held equal; {_raw(edge)}"
    else:
        words = f"{effect_word(edge)}, {_ratio(edge)}"
    if edge.directions_differ and edge.effect != "unclear":
        words += "; follow rates point the other way"
    if edge.is_narrow:
        words += f"; barely selected, selection-adjusted {corrected(edge)}"
    return words + _order(edge)


def _ratio(edge: Influence) -> str:
    """The ratio with its interval, or the raw counts or the raw ratio where these are shown instead."""
    interval = f"95% interval {limits(edge)}"
    equal = ", other influencers equal" if _is_adjusted(edge) else ""
    if edge.effect == "unclear":
        return f"{interval}{equal}"
    if _never(edge) or _only(edge):
        return f"{_raw(edge)}; rate ratio {limits(edge)} (95% interval)"
    if edge.is_raw:
        return f"{_raw(edge)}; with other influencers equal too few events are comparable"
    what = "the odds" if edge.interval == "likelihood" else "as likely"
    both = f"; raw, {likely(edge.raw_ratio)}" if edge.is_reversed else ""
    return f"{likely(edge.ratio, what)} ({interval}){equal}{both}"


def _raw(edge: Influence) -> str:
    """What raw counts say: never, only with it, or the ratio of the two rates."""
    is_event = edge.follow_rate is not None and not isinstance(edge.influencer, AttributeName)
    if never := _never(edge):
        return never.replace("never", "never follows") if is_event and edge.target != END else never
    if only := _only(edge):
        return only.replace("only with it", "follows only after it") if is_event else only
    return f"raw, {likely(edge.raw_ratio)}"


def corrected(edge: Influence) -> str:
    """The ratio and interval that allow for selection; empty where they are not known.

    >>> numbers = 1.8, 1.3, 2.4, 30, 100, 20, 200
    >>> barely = {"corrected_ratio": 1.2, "corrected_low": 0.95, "corrected_high": 2.4}
    >>> corrected(Influence("A", "B", "amplifies", *numbers, **barely))
    '×1.2 (0.95 to 2.4)'
    """
    if edge.corrected_ratio is None or edge.corrected_low is None or edge.corrected_high is None:
        return ""
    interval = factor_interval(edge.corrected_low, edge.corrected_high)
    return f"{factor(edge.corrected_ratio)} ({interval})"


def _is_adjusted(edge: Influence) -> bool:
    """Whether the ratio is another than that of the two rates."""
    raw = edge.raw_ratio
    if math.isnan(raw) or math.isinf(raw):
        return not (math.isinf(edge.ratio) or math.isnan(edge.ratio))
    return not math.isclose(edge.ratio, raw, rel_tol=1e-9, abs_tol=1e-12)


# ---------------------------------------------------------------------- order


def _order(edge: Influence) -> str:
    """What the order test shows, to follow the verdict; empty if it was not run."""
    if edge.order is None or edge.order_ratio is None or edge.order_low is None or edge.order_high is None:
        return ""
    interval = factor_interval(edge.order_low, edge.order_high)
    is_known = not math.isnan(edge.order_ratio)
    numbers = f": {factor(edge.order_ratio)} against shuffled cases ({interval})" if is_known else ""
    if edge.order == ORDERS[1]:
        return f"; co-occurrence only, as strong in shuffled cases{numbers}"
    if edge.order == "fixed order":
        if edge.cases_first is None or edge.cases_both is None:
            return "; fixed order"
        first = f"{number(edge.cases_first)} of {number(edge.cases_both)}"
        return f"; fixed order: it comes first in {first} cases with both"
    if edge.order != ORDERS[0]:
        return f"; unclear whether it depends on order{numbers}"
    if edge.is_turned:
        return f"; {reversed_words(edge)}{numbers}"
    crowding = ""
    if edge.competition:
        became = "less" if edge.order_ratio > 1 else "more"
        crowding = f"; crowding out: no more than other events becoming {became} likely explains"
    scale = f", {SCALES[edge.order_scale]}" if edge.order_scale in SCALES else ""
    return f"; depends on order{scale}{numbers}{crowding}"


#: What the grades of an edge that depends on order mean.
SCALES = {"short range": "at short range", "slow change": "by a slow change (drift, cycle or regime)"}


def reversed_words(edge: Influence) -> str:
    """What it means that the order of events works the other way than the ratio."""
    more = "more" if (edge.order_ratio or 0.0) > 1 else "less"
    return f"reversed: follows {more} often than its overall co-occurrence suggests"
