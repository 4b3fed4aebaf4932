"""What influences say, in words: the same on the terminal, in pages, figures and notebooks."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence

from summarkov.events.vocabulary import END
from summarkov.explain.influence import Influence
from summarkov.explain.verdicts import verdict
from summarkov.wording import AttributeName, number, percent, plural

#: Why edges are set aside, in the order in which that is reported.
_ASIDE = (
    "fixed order",
    "co-occurrence only",
    "crowding out",
    "unclear order",
    "unclear direction",
    "not comparable",
    "too few events",
)


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


def share(hits: float, n: float) -> str:
    """A share with its counts.

    >>> share(262, 623), share(0, 0)
    ('42.1% (262 of 623)', 'never seen')
    """
    return f"{percent(hits / n)} ({number(hits)} of {number(n)})" if n else "never seen"


def follows(edge: Influence) -> str:
    """How often the target follows the influencer, for a cell of a table.

    Without follow rates: the share of moments with the influencer in the window at which it comes next.

    >>> numbers = "A", "B", "amplifies", 3.0, 1.8, 5.0, 30, 100, 20, 200
    >>> follows(Influence(*numbers, occurrences=623, followed=262, follow_rate=262 / 623))
    '42.1% (262 of 623)'
    >>> follows(Influence(*numbers))
    '30.0% of moments (30 of 100)'
    """
    if edge.follow_rate is not None:
        return _follow_share(edge.follow_rate, edge.followed, edge.occurrences, edge.follow_rule)
    return _of_moments(edge.hits_with, edge.n_with)


def follows_others(edge: Influence, *, counts: bool = True) -> str:
    """The same after all other events; or without the influencer in the window."""
    if edge.follow_rate is None:
        text = _of_moments(edge.hits_without, edge.n_without)
    elif edge.follow_rate_other is None:
        return "never seen"
    else:
        numbers = edge.follow_rate_other, edge.followed_other, edge.occurrences_other
        text = _follow_share(*numbers, edge.follow_rule)
    return text if counts else text.split(" (")[0]


def _follow_share(rate: float, hits: float | None, n: float | None, rule: str | None) -> str:
    if not n or hits is None or math.isnan(rate):
        return "never seen"
    return f"about {percent(rate)}" if rule == "product-limit" else share(hits, n)


def _of_moments(hits: float, n: float) -> str:
    return share(hits, n).replace("% (", "% of moments (", 1)


def change(edge: Influence) -> str:
    """The follow rate after other events and after the influencer; without these, shares of moments.

    >>> numbers = "A", "B", "amplifies", 3.0, 2.0, 4.5, 30, 100, 20, 200
    >>> counted = {"occurrences": 50, "followed": 20, "occurrences_other": 400, "followed_other": 40}
    >>> change(Influence(*numbers, **counted, follow_rate=0.4, follow_rate_other=0.1))
    '10.0% → 40.0%'
    >>> change(Influence(*numbers))
    '10.0% → 30.0% of moments'
    """
    if not edge.n_with and not edge.n_without and edge.follow_rate is None:
        return ""
    if edge.follow_rate is None:
        rates = [edge.rate_without, edge.rate_with]
        return f"{' → '.join('never seen' if math.isnan(p) else percent(p) for p in rates)} of moments"
    return f"{follows_others(edge, counts=False)} → {follows(edge).split(' (')[0]}"


def rates(edge: Influence) -> str:
    """Both shares with their counts, without names.

    >>> rates(Influence("A", "B", "unclear", 1.0, 0.1, 9.0, 1, 52, 0, 12203))
    '1.9% of moments (1 of 52), otherwise 0% of moments (0 of 12,203)'
    """
    if edge.follow_rate is None and not edge.n_with and not edge.n_without:
        return "nothing was counted, for the model only compares others with it"
    if edge.follow_rate is None:
        return f"{follows(edge)}, otherwise {follows_others(edge)}"
    if isinstance(edge.influencer, AttributeName):
        return f"in {follows(edge)}, in other cases {follows_others(edge)}"
    if edge.target == END:
        return f"the case ends after it: {follows(edge)}; after other events: {follows_others(edge)}"
    lead = ""
    if edge.leads_with_cases and edge.cases_followed is not None and edge.cases_with is not None:
        lead = f"in {number(edge.cases_followed)} of {plural(edge.cases_with, 'case')} with it, "
    return f"{lead}follows {follows(edge)}, after other events {follows_others(edge)}"


def cases(edge: Influence) -> str:
    """In how many of the cases with the influencer the target follows it; empty where that is not known."""
    if edge.cases_followed is None or edge.cases_with is None:
        return ""
    return f"{number(edge.cases_followed)} of {number(edge.cases_with)}"


def follow_note(edges: Iterable[Influence]) -> str:
    """How follow rates were found, where not every occurrence was counted; else empty."""
    rules = {edge.follow_rule for edge in edges}
    words = []
    if "complete windows" in rules:
        words.append("Follow rates leave out all occurrences whose window is cut off.")
    if "product-limit" in rules:
        words.append("Follow rates marked 'about' are product-limit estimates, for most windows are cut off.")
    return " ".join(words)


# ---------------------------------------------------------------------- sentences


def support(edge: Influence) -> str:
    """In how many cases the target follows, whether that is too few, and how often it was found again."""
    words = [f"in {cases(edge)} cases"] if cases(edge) else []
    if edge.is_thin:
        words.append("too few events")
    if edge.frequency is not None:
        words.append(f"found again in {percent(edge.frequency)} of resampled data")
    return ", ".join(words)


def sentence(edge: Influence, influencer: str, target: str, where: str | None, within: str) -> str:
    """All of it in sentences; names are given as they are to be shown.

    ``where`` says where the influencer is looked for before the target; None: it is an attribute, which holds
    or does not. ``within`` says where the target is looked for after the influencer.

    >>> counted = {"occurrences": 623, "followed": 262, "follow_rate": 262 / 623, "occurrences_other": 1204}
    >>> counted |= {"followed_other": 38, "follow_rate_other": 38 / 1204}
    >>> counted |= {"cases_with": 620, "cases_followed": 261}
    >>> edge = Influence("A", "B", "amplifies", 3.0, 1.8, 5.0, 30, 100, 20, 200, **counted)
    >>> sentence(edge, "'A'", "'B'", "within the last 5 events", "within 5 events")
    ... # doctest: +NORMALIZE_WHITESPACE
    "'B' follows 'A' within 5 events in 42.1% of occurrences (262 of 623), after other events in 3.2% (38
    of 1,204); in 261 of 620 cases with 'A'. Effect on the next event: amplifies, 3.0 times as likely
    (95% interval 1.8 to 5.0)."
    """
    counted = evidence(edge, influencer, target, where, within)
    return f"{counted}. Effect on the next event: {verdict(edge)}."


def evidence(edge: Influence, influencer: str, target: str, where: str | None, within: str) -> str:
    """What was counted: the first part of :func:`sentence`."""
    if edge.follow_rate is None:
        words = _moments(edge, influencer, target, where)
    elif isinstance(edge.influencer, AttributeName):
        with_it = _of(follows(edge), f"cases with {influencer}")
        words = f"{target} occurs in {with_it}, in {_of(follows_others(edge), 'other cases')}"
    else:
        words = _followings(edge, influencer, target, within)
    if edge.is_thin:
        words += "; too few events"
    if edge.frequency is not None:
        words += f"; found again in {percent(edge.frequency)} of resampled data"
    return words


def outcome_evidence(edge: Influence, influencer: str, target: str) -> str:
    """The same of an outcome, which comes about or not in each case.

    >>> edge = Influence("A", "B", "amplifies", 3.0, 1.8, 5.0, 30, 100, 20, 200)
    >>> outcome_evidence(edge, "'A'", "'B'")
    "'B' in 30.0% of cases with 'A' (30 of 100), otherwise in 10.0% (20 of 200)"
    """
    with_it = share(edge.hits_with, edge.n_with).replace("% (", f"% of cases with {influencer} (", 1)
    return f"{target} in {with_it}, otherwise in {share(edge.hits_without, edge.n_without)}"


def _moments(edge: Influence, influencer: str, target: str, where: str | None) -> str:
    """Shares of moments, where follow rates are not known."""
    if not edge.n_with and not edge.n_without:
        return f"Of {influencer} {rates(edge)}"
    moments = _of(share(edge.hits_with, edge.n_with), "the moments")
    otherwise = share(edge.hits_without, edge.n_without)
    with_it = f"with {influencer}" if where is None else f"with {influencer} {where}"
    return f"At {moments} {with_it}, {target} is the next event; otherwise at {otherwise}"


def _followings(edge: Influence, influencer: str, target: str, within: str) -> str:
    """How often the target follows, by occurrences and by cases; the more telling first."""
    is_never = not edge.followed and edge.occurrences
    none = f"(0 of {number(edge.occurrences or 0)})"
    if edge.target == END:
        how = (
            f"never ends after {influencer} {none}"
            if is_never
            else f"ends after {influencer}: {follows(edge)}"
        )
        return f"The case {how}; after other events: {follows_others(edge)}"
    others = f"after other events in {follows_others(edge)}"
    if is_never:
        return f"{target} never follows {influencer} {within} {none}, {others}"
    by_event = f"in {_of(follows(edge), 'occurrences')}, {others}"
    by_case = f"{cases(edge)} cases with {influencer}"
    if not cases(edge):
        return f"{target} follows {influencer} {within} {by_event}"
    if edge.leads_with_cases:
        return f"In {by_case}, {target} follows {within}; {by_event}"
    return f"{target} follows {influencer} {within} {by_event}; in {by_case}"


def _of(counted: str, things: str) -> str:
    """A share with what it is a share of.

    >>> _of("42.1% (262 of 623)", "cases"), _of("about 42.1%", "cases")
    ('42.1% of cases (262 of 623)', 'about 42.1% of cases')
    """
    return counted.replace("% (", f"% of {things} (", 1) if "% (" in counted else f"{counted} of {things}"
