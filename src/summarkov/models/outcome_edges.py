"""Influences on an outcome, in cases: what is counted, what is said, and which of them are the outcome."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from summarkov.explain import Influence
from summarkov.explain.verdicts import effect_word, limits, outcome_change, times
from summarkov.models.fitted import Fitted
from summarkov.settings import Duration
from summarkov.summaries.window import place_words
from summarkov.wording import number, percent, plural


def in_cases(edges: Iterable[Influence], fitted: Fitted, name: str) -> list[Influence]:
    """The edges to an outcome, with all counts in cases: those with the influencer in its window, and others.

    What follows what is the same question here, so its fields have the same numbers.
    """
    pairs: dict[str, dict[str, Influence]] = {}
    for edge in edges:
        pairs.setdefault(edge.influencer, {})[edge.target] = edge
    names = [fitted.labels[code] for code in fitted.target.codes]
    total = dict(zip(names, fitted.counts.sum(axis=0).tolist(), strict=True))
    found = []
    for pair in pairs.values():
        edge = pair[name]
        hits, n = edge.hits_with, edge.n_with
        followed = {x: each.cases_followed for x, each in pair.items() if each.cases_followed is not None}
        if len(followed) == len(pair):  # a tree asks about an influencer only in some cases
            hits, n = followed[name], sum(followed.values())
        others, n_others = total[name] - hits, sum(total.values()) - n
        found.append(
            replace(
                edge,
                hits_with=hits,
                n_with=n,
                hits_without=others,
                n_without=n_others,
                cases_followed=hits,
                cases_with=n,
                followed=hits,
                occurrences=n,
                follow_rate=hits / n if n else None,
                followed_other=others,
                occurrences_other=n_others,
                follow_rate_other=others / n_others if n_others else None,
                left_out=0.0,
                follow_rule="counted",
            )
        )
    return found


def window_words(fitted: Fitted, influencer: str) -> str:
    """Where in a case an influencer is looked for, to be put behind it; nothing where anywhere."""
    reach, thing = fitted.reach(influencer), "tick" if fitted.layout.together else "event"
    if influencer in fitted.layout.attributes or (reach.lookback is None and not reach.delay):
        return ""
    before = f" more than {place_words(reach.delay, thing)} before the end" if reach.delay else ""
    if reach.lookback is None:
        return before
    if isinstance(reach.lookback, Duration):
        return f"{before} within {place_words(reach.lookback, thing)} of the end"
    return (
        f"{before} as the last {thing}"
        if reach.lookback == 1
        else f"{before} among the last {reach.lookback} {thing}s"
    )


def case_sentence(edge: Influence, where: str = "") -> str:
    """What an edge to an outcome says, in cases.

    >>> edge = Influence("Release A", "ends with x", "amplifies", 3.0, 2.0, 4.0, 259, 623, 11, 377)
    >>> case_sentence(edge)
    'Of 623 cases with Release A, 259 end with x (41.6%); of 377 others, 11 (2.9%).'
    """
    verb = f"have {edge.target}"
    for one, many in (("ends with ", "end with "), ("contains ", "contain ")):
        verb = many + edge.target.removeprefix(one) if edge.target.startswith(one) else verb
    with_it = f"{number(edge.hits_with)} {verb} ({percent(edge.rate_with)})"
    others = f"of {number(edge.n_without)} others, {number(edge.hits_without)} ({percent(edge.rate_without)})"
    return f"Of {plural(edge.n_with, 'case')} with {edge.influencer}{where}, {with_it}; {others}."


def case_columns(edges: Sequence[Influence]) -> dict[str, list[str]]:
    """What is shown of each edge to an outcome beside its influencer."""
    return {
        "effect": [effect_word(edge) for edge in edges],
        "cases with it": [f"{number(edge.hits_with)} of {number(edge.n_with)}" for edge in edges],
        "without → with": [outcome_change(edge) for edge in edges],
        "rate ratio": [times(edge).split(" (")[0] or "unclear" for edge in edges],
        "95% interval": [limits(edge) for edge in edges],
    }


#: An influencer that has both of these shares is the outcome under another name, or its opposite.
NEARLY_ALL = 0.95


def is_the_outcome(edge: Influence) -> bool:
    """Whether nearly all cases with an influencer have the outcome, and nearly all with the outcome have it.

    Or the reverse: nearly none with it, and nearly all without it.
    """
    hits, n, other_hits, other_n = edge.hits_with, edge.n_with, edge.hits_without, edge.n_without
    if not (hits + other_hits and n - hits + other_n - other_hits and n and other_n):
        return False
    same = min(hits / n, hits / (hits + other_hits))
    misses, other_misses = n - hits, other_n - other_hits
    opposite = min(misses / n, misses / (misses + other_misses))
    return max(same, opposite) >= NEARLY_ALL


def notice(edge: Influence, *, is_option: bool = False) -> str:
    """That an influencer is the outcome, and what leaves it out: a setting, or an option."""
    name = edge.influencer
    leaves_out = f"--forbidden {name!r}" if is_option else f"forbidden=[{name!r}]"
    with_it = f"{number(edge.hits_with)} of {number(edge.n_with)} cases with it"
    without = f"{number(edge.hits_without)} of {number(edge.n_without)} without"
    return (
        f"{edge.influencer!r} nearly determines the outcome {edge.target!r}: {with_it} and {without} have it;"
        f" {leaves_out} leaves it out"
    )
