"""One model in the page: how its states are told from the history, and what follows each of them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from summarkov.confidence.rate_ratio import FEW
from summarkov.explain import FittedModel
from summarkov.search import Certificate, Step
from summarkov.search.lookbacks import LookbackStep
from summarkov.summaries.window import plain_span
from summarkov.wording import all_rounded, rounded, whole

#: Probabilities are equal to those of ``predict_proba`` to this many digits.
_EXACT = 10


def target_content(
    model: FittedModel, fitted: Any = None, shown: Sequence[int] | None = None
) -> dict[str, Any]:
    """The table and the search of one model; or another table of the same states, of some of its labels.

    ``p`` has one entry per label of the target, row by row, and one more row for states that were never
    seen; ``n`` of the states and ``hits`` are the counts N(s) and N(x; s) of those that were, hardly seen if
    fewer than ``few``. The page works out intervals from these counts.
    """
    fitted, trace = model.fitted if fitted is None else fitted, model.trace_
    codes = {label: code for code, label in enumerate(fitted.labels)}
    # the residual outcome takes the rest
    columns = list(range(len(fitted.target.codes))) if shown is None else list(shown)
    targets = [fitted.target.codes[column] for column in columns]
    seen = fitted.observed / fitted.scale
    return {
        "x": targets,
        "u": list(fitted.influencers),
        "score": rounded(fitted.score, 8) if math.isfinite(fitted.score) else None,
        "likelihood": rounded(fitted.log_likelihood, 8),
        "trace": [_step(step, codes) for step in trace],
        "certificate": None if trace.certificate is None else _certificate(trace.certificate, codes),
        "patterns": [
            [
                codes[each.target],
                each.kind,
                each.words,
                rounded(each.probability, 4),
                rounded(each.otherwise, 4),
            ]
            for each in model.patterns_
            if codes[each.target] in targets
        ],
        "few": rounded(max(FEW, float(fitted.pseudo.sum())), 6),
        "summary": _summary(fitted, columns),
        "states": {**_states(fitted), "n": [whole(n) for n in seen.sum(axis=1).tolist()]},
        "hits": [whole(n) for n in seen[:, columns].ravel().tolist()],
        "p": all_rounded(fitted.theta[:, columns].ravel().tolist(), _EXACT),
    }


def _step(step: Step, codes: Mapping[str, int]) -> list[Any]:
    """Action, label (none for the split of a tree), score, gain, and the look-back if that was learned."""
    label = None if step.action == "split" else codes[step.label]
    numbers = [rounded(step.score, 8), rounded(step.gain, 6)]
    return [step.action, label, *numbers, *([step.lookback] if isinstance(step, LookbackStep) else [])]


def _certificate(found: Certificate, codes: Mapping[str, int]) -> dict[str, Any]:
    """How sure it is that there are no better influencers; numbers of sets may be astronomical."""
    return {
        "proved": found.is_optimal,
        "scored": found.examined,
        "sets": float(min(found.examined + found.pruned + found.open, 10**300)),
        "gap": rounded(found.gap, 6) if math.isfinite(found.gap) else None,
        "greedy": [codes[z] for z in found.greedy],
        "worse": rounded(found.greedy_gap, 6),
    }


def _summary(fitted: Any, columns: list[int]) -> dict[str, Any]:
    """How the page can tell the state of a history; of a tree also the counts and estimates of its nodes."""
    form: dict[str, Any] = fitted.summary.page_form(fitted.influencer_labels, marked(fitted.labels))
    if fitted.summary.by_label:
        form["reach"] = [plain_span(fitted.reach(label)[1]) for label in fitted.influencer_labels]
    if fitted.nodes is not None:
        counts, estimates = fitted.nodes
        form["at"] = [whole(n) for n in counts.sum(axis=1).tolist()]
        form["estimates"] = all_rounded(estimates[:, columns].ravel().tolist(), 4)
    return form


def _states(fitted: Any) -> dict[str, Any]:
    """The states as rows of ``width`` levels, or in words where the page cannot tell them."""
    keys, summary = fitted.table.keys, fitted.summary
    if summary.keys_on_page:
        return {"width": int(keys.shape[1]), "keys": keys.ravel().tolist()}
    names, labels = fitted.influencer_labels, marked(fitted.labels)
    return {"words": [summary.words(key, names, labels) for key in keys.tolist()]}


def marked(labels: Sequence[str]) -> list[str]:
    """Stand-ins for labels, which the page finds in words and replaces by the labels."""
    return [f"\x01{code}\x02" for code in range(len(labels))]
