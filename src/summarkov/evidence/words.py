"""What influences say, in words: the same on the terminal, in pages, figures and notebooks."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence

from summarkov.events.vocabulary import END
from summarkov.evidence.edges import ORDERS, Influence
from summarkov.wording import AttributeName, factor, factor_interval, number, percent, plural

#: Why edges are set aside, in the order in which that is reported.
_ASIDE = (
    *("fixed order", "co-occurrence only", "crowding out"),
    *("unclear order", "unclear direction", "not comparable", "too few events"),
)
#: A ratio of moments so many times that of follow rates is explained.
_FAR = 3
#: How follow rates were found, where not every occurrence was counted.
_RULES = {
    "complete windows": "Follow rates leave out all occurrences whose window is cut off.",
    "product-limit": "Follow rates marked 'about' are product-limit estimates, for most windows are cut off.",
}
#: What the grades of an edge that depends on order mean.
SCALES = {"short range": "at short range", "slow change": "by a slow change (drift, cycle or regime)"}


def headline(edges: Sequence[Influence]) -> str:
    """How many influences pass, and how many were set aside as what.

    >>> edge = Influence("A", "B", "amplifies", 3.0, 1.8, 5.0, 30, 100, 20, 200)
    >>> thin = Influence("A", "C", "amplifies", 3.0, 1.8, 5.0, 3, 100, 2, 200)
    >>> headline([edge, edge]), headline([edge, thin])
    ('2 influences', '1 influence (set aside: 1 too few events)')
    """
    reasons = Counter(edge.set_aside for edge in edges)
    passing = reasons.pop("", 0)
    words = plural(passing, "influence")
    if any(edge.order is not None for edge in edges):
        words += " depends on order" if passing == 1 else " depend on order"
    aside = ", ".join(f"{number(reasons[why])} {why}" for why in _ASIDE if reasons[why])
    return f"{words} (set aside: {aside})" if aside else words


# ---------------------------------------------------------------------- follow rates


def share(hits: float, n: float, things: str = "") -> str:
    """A share with its counts, and with what it is a share of.

    >>> share(262, 623), share(262, 623, "moments"), share(0, 0)
    ('42.1% (262 of 623)', '42.1% of moments (262 of 623)', 'never seen')
    """
    of = f" of {things}" if things else ""
    return f"{percent(hits / n)}{of} ({number(hits)} of {number(n)})" if n else "never seen"


def follows(edge: Influence, *, others: bool = False, counts: bool = True) -> str:
    """How often the target follows the influencer, or ``others``; without follow rates, shares of moments.

    >>> numbers = "A", "B", "amplifies", 3.0, 1.8, 5.0, 30, 100, 20, 200
    >>> follows(Influence(*numbers, occurrences=623, followed=262, follow_rate=262 / 623))
    '42.1% (262 of 623)'
    >>> follows(Influence(*numbers)), follows(Influence(*numbers), others=True, counts=False)
    ('30.0% of moments (30 of 100)', '10.0% of moments')
    """
    if edge.follow_rate is None:
        counted = (edge.hits_without, edge.n_without) if others else (edge.hits_with, edge.n_with)
        said = share(*counted, "moments")
    else:
        rate = edge.follow_rate_other if others else edge.follow_rate
        hits = edge.followed_other if others else edge.followed
        n = edge.occurrences_other if others else edge.occurrences
        if not n or hits is None or rate is None or math.isnan(rate):
            return "never seen"
        said = f"about {percent(rate)}" if edge.follow_rule == "product-limit" else share(hits, n)
    return said if counts else said.split(" (")[0]


def change(edge: Influence) -> str:
    """The follow rate after other events and after the influencer; without these, shares of moments.

    >>> numbers = "A", "B", "amplifies", 3.0, 2.0, 4.5, 30, 100, 20, 200
    >>> counted = {"occurrences": 50, "followed": 20, "occurrences_other": 400, "followed_other": 40}
    >>> change(Influence(*numbers, **counted, follow_rate=0.4, follow_rate_other=0.1))
    '10.0% → 40.0%'
    >>> change(Influence(*numbers))
    '10.0% → 30.0% of moments'
    """
    if edge.follow_rate is not None:
        return f"{follows(edge, others=True, counts=False)} → {follows(edge, counts=False)}"
    return f"{outcome_change(edge)} of moments" if edge.n_with or edge.n_without else ""


def outcome_change(edge: Influence) -> str:
    """The share of cases that end so, without the influencer and with it."""
    return " → ".join(percent(rate) or "never seen" for rate in (edge.rate_without, edge.rate_with))


def cases(edge: Influence) -> str:
    """In how many of the cases with the influencer the target follows it; empty where that is not known."""
    if edge.cases_followed is None or edge.cases_with is None:
        return ""
    return f"{number(edge.cases_followed)} of {number(edge.cases_with)}"


def follow_note(edges: Iterable[Influence]) -> str:
    """How follow rates were found, where not every occurrence was counted; else empty."""
    rules = {edge.follow_rule for edge in edges}
    return " ".join(words for rule, words in _RULES.items() if rule in rules)


# ---------------------------------------------------------------------- sentences


def support(edge: Influence) -> str:
    """In how many cases the target follows, whether that is too few, and how often it was found again."""
    return ", ".join([f"in {cases(edge)} cases"] * bool(cases(edge)) + _doubts(edge))


def _doubts(edge: Influence) -> list[str]:
    again = "" if edge.frequency is None else f"found again in {percent(edge.frequency)} of resampled data"
    return ["too few events"] * edge.is_thin + [again] * bool(again)


def sentence(edge: Influence, influencer: str, target: str, within: str) -> str:
    """All of it in sentences; names are given as they are to be shown.

    ``within`` says where the target is looked for after the influencer.

    >>> counted = {"occurrences": 623, "followed": 262, "follow_rate": 262 / 623, "occurrences_other": 1204}
    >>> counted |= {"followed_other": 168, "follow_rate_other": 168 / 1204}
    >>> counted |= {"cases_with": 620, "cases_followed": 261}
    >>> edge = Influence("A", "B", "amplifies", 3.0, 1.8, 5.0, 30, 100, 20, 200, **counted)
    >>> sentence(edge, "'A'", "'B'", "within 5 events")
    ... # doctest: +NORMALIZE_WHITESPACE
    "'B' follows 'A' within 5 events in 42.1% of occurrences (262 of 623), after other events in 14.0% (168
    of 1,204); in 261 of 620 cases with 'A'. Effect on the next event: amplifies, 3.0 times as likely
    (95% interval 1.8 to 5.0)."
    """
    return f"{evidence(edge, influencer, target, within)}. Effect on the next event: {verdict(edge)}."


def evidence(edge: Influence, influencer: str, target: str, within: str) -> str:
    """What was counted: the first part of :func:`sentence`."""
    is_attribute = isinstance(edge.influencer, AttributeName)
    if edge.follow_rate is None:
        words = _moments(edge, influencer, target, "" if is_attribute else " in its window")
    elif is_attribute:
        with_it = _of(follows(edge), f"cases with {influencer}")
        words = f"{target} occurs in {with_it}, in {_of(follows(edge, others=True), 'other cases')}"
    else:
        words = _followings(edge, influencer, target, within)
    return "; ".join([words, *_doubts(edge)])


def finding(edge: Influence, influencer: str, target: str) -> str:
    """What was found, in one plain sentence; names are given as they are to be shown.

    >>> counted = {"occurrences": 50, "followed": 20, "occurrences_other": 400, "followed_other": 40}
    >>> numbers = "A", "B", "amplifies", 3.0, 2.0, 4.5, 30, 100, 20, 200
    >>> edge = Influence(*numbers, **counted, follow_rate=0.4, follow_rate_other=0.1)
    >>> finding(edge, "'A'", "'B'")
    "'B' is more likely after 'A': it follows in 40.0% of occurrences (20 of 50), after other events in 10.0%"
    """
    likely = "more likely" if edge.shown_effect == "amplifies" else "less likely"
    own, other = follows(edge), follows(edge, others=True, counts=False)
    if edge.follow_rate is None:
        return f"{target} is {likely} with {influencer} in the window: at {own}, otherwise at {other}"
    if isinstance(edge.influencer, AttributeName):
        cases_with = f"in cases with {influencer}: it occurs in {own}"
        return f"{target} is {likely} {cases_with}, in other cases in {other}"
    if edge.target == END:
        return f"The case is {likely} to end after {influencer}: {own}, after other events {other}"
    follows_in = f"it follows in {_of(own, 'occurrences')}"
    return f"{target} is {likely} after {influencer}: {follows_in}, after other events in {other}"


def badges(edge: Influence) -> list[str]:
    """What marks an influence in a table: what the order test shows, and if it goes beyond the step before.

    >>> numbers = "A", "B", "amplifies", 3.0, 2.0, 4.5, 30, 100, 20, 200
    >>> badges(Influence(*numbers, beyond_ratio=2.0, beyond_low=1.5, beyond_high=2.6))
    ['order untested', 'beyond the previous step']
    """
    order = "fixed order" if edge.succession else edge.order_scale or edge.order or "order untested"
    return [order] + ["beyond the previous step"] * edge.is_beyond


def outcome_evidence(edge: Influence, influencer: str, target: str) -> str:
    """The same of an outcome, which comes about or not in each case.

    >>> edge = Influence("A", "B", "amplifies", 3.0, 1.8, 5.0, 30, 100, 20, 200)
    >>> outcome_evidence(edge, "'A'", "'B'")
    "'B' in 30.0% of cases with 'A' (30 of 100), otherwise in 10.0% (20 of 200)"
    """
    with_it = share(edge.hits_with, edge.n_with, f"cases with {influencer}")
    return f"{target} in {with_it}, otherwise in {share(edge.hits_without, edge.n_without)}"


def _moments(edge: Influence, influencer: str, target: str, where: str) -> str:
    """Shares of moments, where follow rates are not known."""
    if not edge.n_with and not edge.n_without:
        return f"Of {influencer} nothing was counted, for the model only compares others with it"
    moments = _of(share(edge.hits_with, edge.n_with), "the moments")
    otherwise = share(edge.hits_without, edge.n_without)
    return f"At {moments} with {influencer}{where}, {target} is the next event; otherwise at {otherwise}"


def _followings(edge: Influence, influencer: str, target: str, within: str) -> str:
    """How often the target follows, by occurrences and by cases; the more telling first."""
    is_never = not edge.followed and (edge.target == END or not edge.hits_with)
    never = f"(0 of {number(edge.occurrences or 0)})"
    others = follows(edge, others=True) if edge.occurrences_other else ""
    left = f"; {plural(edge.left_out, 'occurrence')} left out" if edge.left_out else ""
    if edge.target == END:
        how = f"ends after {influencer}: {follows(edge)}"
        if is_never:
            how = f"never ends after {influencer} {never}"
        return f"The case {how}{f'; after other events: {others}' if others else ''}{left}"
    rest = f", after other events in {others}{left}" if others else left
    if is_never:
        return f"{target} never follows {influencer} {within} {never}{rest}"
    by_event = f"in {_of(follows(edge), 'occurrences')}{rest}"
    by_case = f"{cases(edge)} cases with {influencer}"
    if cases(edge) and edge.leads_with_cases:
        return f"In {by_case}, {target} follows {within}; {by_event}"
    return f"{target} follows {influencer} {within} {by_event}{f'; in {by_case}' if cases(edge) else ''}"


def _of(counted: str, things: str) -> str:
    """A share with what it is a share of."""
    return counted.replace("% (", f"% of {things} (", 1) if "% (" in counted else f"{counted} of {things}"


# ---------------------------------------------------------------------- ratios


def times(edge: Influence) -> str:
    """The rate ratio for a table or a figure; empty for an unclear influence.

    "never" and "only with it" are said of raw counts alone. The raw ratio stands for one that rests on too
    few comparable events, and beside one that points the other way.

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
    raw = f"raw {factor(edge.raw_ratio)}"
    if edge.is_raw or _whole(edge):
        return _whole(edge) or raw
    return f"{factor(edge.ratio)}, {raw}" if edge.is_reversed else factor(edge.ratio)


def _whole(edge: Influence) -> str:
    """That the target never follows, or follows nothing else, if it is so; from raw counts."""
    if not edge.hits_with and edge.n_with and edge.hits_without:
        return f"never (0 of {number(edge.n_with if edge.occurrences is None else edge.occurrences)})"
    if not edge.hits_without and edge.n_without and edge.hits_with:
        return f"only with it ({number(edge.hits_with)} of {number(edge.hits_with)})"
    return ""


def limits(edge: Influence) -> str:
    """The interval of the ratio; empty where that ratio is not shown, and for a mixed influence."""
    is_hidden = edge.is_raw and edge.effect != "unclear" and not _whole(edge)
    if edge.effect == "mixed" or edge.not_comparable or is_hidden:
        return ""
    return factor_interval(edge.low, edge.high)


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
    words = f"{effect_word(edge)}, {_ratio(edge)}"
    if edge.not_comparable:
        words = f"not comparable with {edge.not_comparable} held equal; {_raw(edge)}"
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
    if _whole(edge):
        return f"{_raw(edge)}; rate ratio {limits(edge)} (95% interval)"
    if edge.is_raw:
        return f"{_raw(edge)}; with other influencers equal too few events are comparable"
    what = "the odds" if edge.interval == "likelihood" else "as likely"
    both = f"; {_raw(edge)}" if edge.is_reversed else ""
    return f"{likely(edge.ratio, what)} ({interval}){equal}{both}{_next_event(edge)}"


def _next_event(edge: Influence) -> str:
    """Shares of moments, where the ratio is far from that of the follow rates beside it."""
    if not is_far(edge):
        return ""
    with_it = share(edge.hits_with, edge.n_with, "moments with it in the window")
    return f"; it is next at {with_it}, otherwise at {share(edge.hits_without, edge.n_without)}"


def is_far(edge: Influence) -> bool:
    """Whether the ratio is three times that of the follow rates, or less than a third of it.

    >>> numbers = "A", "B", "amplifies", 90.0, 50.0, 200.0, 30, 100, 2, 600
    >>> is_far(Influence(*numbers, follow_rate=0.9, follow_rate_other=0.2))
    True
    """
    rate, other = edge.follow_rate, edge.follow_rate_other
    if not rate or not other or isinstance(edge.influencer, AttributeName):
        return False
    if edge.effect not in ("amplifies", "inhibits") or edge.is_raw or edge.not_comparable:
        return False
    return not 1 / _FAR < edge.ratio * other / rate < _FAR


def _raw(edge: Influence) -> str:
    """What raw counts say: never, only with it, or the ratio of the two rates."""
    whole = _whole(edge)
    if edge.follow_rate is not None and not isinstance(edge.influencer, AttributeName):
        whole = whole.replace("only with it", "follows only after it")
        whole = whole if edge.target == END else whole.replace("never", "never follows")
    return whole or f"raw, {likely(edge.raw_ratio)}"


def corrected(edge: Influence) -> str:
    """The ratio and interval that allow for selection; empty where they are not known.

    >>> numbers = 1.8, 1.3, 2.4, 30, 100, 20, 200
    >>> barely = {"corrected_ratio": 1.2, "corrected_low": 0.95, "corrected_high": 2.4}
    >>> corrected(Influence("A", "B", "amplifies", *numbers, **barely))
    '×1.2 (0.95 to 2.4)'
    """
    if edge.corrected_ratio is None or edge.corrected_low is None or edge.corrected_high is None:
        return ""
    return f"{factor(edge.corrected_ratio)} ({factor_interval(edge.corrected_low, edge.corrected_high)})"


def _is_adjusted(edge: Influence) -> bool:
    """Whether the ratio is another than that of the two rates."""
    raw = edge.raw_ratio
    if not math.isfinite(raw):
        return math.isfinite(edge.ratio)
    return not math.isclose(edge.ratio, raw, rel_tol=1e-9, abs_tol=1e-12)


# ---------------------------------------------------------------------- order


def _order(edge: Influence) -> str:
    """What the order test shows, to follow the verdict; empty if it was not run."""
    if edge.order is None or edge.order_ratio is None or edge.order_low is None or edge.order_high is None:
        return ""
    interval = factor_interval(edge.order_low, edge.order_high)
    is_known = not math.isnan(edge.order_ratio)
    numbers = f": {factor(edge.order_ratio)} against shuffled cases ({interval})" if is_known else ""
    if edge.order == "fixed order":
        if edge.cases_first is None or edge.cases_both is None:
            return "; fixed order"
        first = f"{number(edge.cases_first)} of {number(edge.cases_both)}"
        return f"; fixed order: it comes first in {first} cases with both"
    if edge.order != ORDERS[0]:
        is_company = edge.order == ORDERS[1]
        words = "co-occurrence only, no clear difference from shuffled cases" if is_company else ""
        return f"; {words or 'unclear whether it depends on order'}{numbers}"
    if edge.is_turned:
        return f"; {reversed_words(edge)}{numbers}"
    crowding = ""
    if edge.competition:
        became = "less" if edge.order_ratio > 1 else "more"
        crowding = f"; crowding out: other events becoming {became} likely explain most of it"
    scale = f", {SCALES[edge.order_scale]}" if edge.order_scale in SCALES else ""
    return f"; depends on order{scale}{numbers}{crowding}"


def reversed_words(edge: Influence) -> str:
    """What it means that the order of events works the other way than the ratio."""
    more = "more" if (edge.order_ratio or 0.0) > 1 else "less"
    return f"reversed: follows {more} often than its overall co-occurrence suggests"
