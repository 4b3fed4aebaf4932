"""Edges in the page: their numbers as they are, and what is said of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from summarkov.explain import Influence, Shown, is_joint, is_outcome, models_of, sentences, verdicts, weight
from summarkov.report.events import numbers_or_none
from summarkov.summaries.window import later_words
from summarkov.wording import AttributeName, plural, rounded, whole

#: What is known of followings.
_FOLLOWINGS = (
    *("cases_with", "cases_followed", "occurrences", "followed", "follow_rate"),
    *("occurrences_other", "followed_other", "follow_rate_other", "left_out", "follow_rule"),
    *("cases_both", "cases_first"),
)
#: What the page and the table that it saves have of an edge as it is, in this order.
EDGE_NUMBERS = (
    *("ratio", "low", "high", "hits_with", "n_with", "hits_without", "n_without"),
    *_FOLLOWINGS,
    *("comparable_hits", "comparable_expected", "not_comparable", "interval"),
    *("frequency", "order", "order_scale", "set_aside"),
)


#: Stand-ins for an influencer and its target.
_NAMES = "'#z'", "'#x'"


def edge_content(model: Shown, edges: Sequence[Influence], codes: Mapping[str, int]) -> list[list[Any]]:
    """Of each edge influencer, target, effect as it is shown, weight, why it is faint, numbers, and words.

    The words are those of the effect, of both rates, of the ratio, the verdict, the cases behind it, and the
    counts as the beginning of a sentence, in which #z and #x stand for influencer and target.
    """
    if is_outcome(model):  # each case counts once, and is what shares are of
        unknown: dict[str, Any] = dict.fromkeys(_FOLLOWINGS)
        edges = [replace(edge, **unknown) for edge in edges]
    within = _within(model)
    content = []
    for edge in edges:
        words = [
            verdicts.effect_word(edge),
            sentences.change(edge),
            verdicts.times(edge),
            verdicts.verdict(edge),
            sentences.support(edge),
        ]
        if is_outcome(model):
            words = [each.removesuffix(" of moments") for each in words]
            words.append(sentences.outcome_evidence(edge, *_NAMES))
        else:
            where = None if isinstance(edge.influencer, AttributeName) else "in its window"
            words.append(sentences.evidence(edge, *_NAMES, where, within(edge)))
        numbers = [_plain(getattr(edge, name)) for name in EDGE_NUMBERS]
        ends = codes[edge.influencer], codes[edge.target]
        content.append([*ends, edge.shown_effect, rounded(weight(edge), 6), edge.faint, numbers, words])
    return content


def _within(model: Shown) -> Callable[[Influence], str]:
    """Where a target is looked for after an influencer."""
    if is_joint(model):
        return lambda edge: f"within {plural(model.lookback, 'event')}"
    fitted = {x: each.fitted for each in models_of(model) for x in each.target_}
    thing = "tick" if next(iter(fitted.values())).layout.together else "event"
    return lambda edge: later_words(fitted[edge.target].reach(edge.influencer), thing)


def _plain(value: Any) -> Any:
    """A number of an edge as JSON has it: none where it is not known, and infinite ones beyond all others."""
    if not isinstance(value, float):
        return value
    return whole(value) if value.is_integer() else numbers_or_none((value,), 5)[0]
