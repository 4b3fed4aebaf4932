"""One model in the page: its states and what follows each; or weights and trees of a joint model."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from summarkov.confidence.rate_ratio import FEW
from summarkov.explain import FittedDistribution, FittedModel
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
    """How the page can tell the state of a history; of a tree also the counts and estimates of its nodes.

    ``asked``, of an average over prunings, is how likely each node is split if the tree reaches it.
    """
    form: dict[str, Any] = fitted.summary.page_form(fitted.influencer_labels, marked(fitted.labels))
    if fitted.summary.by_label:
        form["reach"] = [plain_span(fitted.reach(label)[1]) for label in fitted.influencer_labels]
    if fitted.nodes is not None:
        counts, estimates = fitted.nodes
        form["at"] = [whole(n) for n in counts.sum(axis=1).tolist()]
        form["estimates"] = all_rounded(estimates[:, columns].ravel().tolist(), 4)
        splits = getattr(fitted, "splits", None)
        form["asked"] = None if splits is None else all_rounded(splits.tolist(), 4)
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
    return [type(label)(f"\x01{code}\x02") for code, label in enumerate(labels)]


#: Digits of weights, so that probabilities are those of ``predict_proba`` to ten digits.
_DIGITS = 13


def joint_targets(model: FittedDistribution) -> list[dict[str, Any]]:
    """What the page has of each target of any model; a joint one has no states."""
    labels, reach = model.fitted.labels, model.lookback
    return [
        {
            "x": [labels.index(x)],
            "u": [labels.index(z) for z in names],
            "score": None,
            "likelihood": rounded(model.fitted.log_likelihood, 8),
            "trace": [],
            "certificate": None,
            "patterns": [],
            "few": 0,
            "summary": {
                "kind": "joint",
                "reach": [reach] * len(names),
                "delay": 0,
                "where": [""] * len(names),
            },
            "states": {"n": []},
            "hits": [],
            "p": [],
        }
        for x, names in model.influencers_.items()
    ]


def joint_content(model: FittedDistribution) -> dict[str, Any]:
    """All numbers that probabilities follow from; labels and outcomes are told by their places."""
    fitted = model.fitted
    features, weights = fitted.features, fitted.weights
    n_labels, n_outcomes = len(fitted.labels), features.target.n_outcomes
    start = n_labels * features.per_label
    return {
        "codes": list(features.target.codes),
        "windows": list(fitted.summary.windows),
        "rates": features.base_rates.tolist(),
        "cuts": features.cuts,
        "level": all_rounded(weights.level.tolist(), _DIGITS),
        "own": [all_rounded(weights.own[:, x].tolist(), _DIGITS) for x in range(n_outcomes)],
        "place": [all_rounded(weights.shared[start:, x].tolist(), _DIGITS) for x in range(n_outcomes)],
        "influencers": [
            {
                z: all_rounded(weights.shared[features.columns(z), x].tolist(), _DIGITS)
                for z in np.flatnonzero(fitted.chosen[:, x]).tolist()
            }
            for x in range(n_outcomes)
        ],
        "gains": [[rounded(model.gains_[x][z], 3) for z in names] for x, names in model.influencers_.items()],
        "recency": [
            [all_rounded(list(by_lag.values()), 4) for by_lag in each.values()]
            for each in model.recency_.values()
        ],
        "trees": [_trees(trees) for trees in (fitted.trees, fitted.alone)],
        "contexts": {"share": fitted.contexts, "levels": _contexts(fitted.last)},
    }


def _contexts(after: Any) -> list[dict[str, list[Any]]]:
    """For each length of contexts what each gives every outcome itself, and leaves to the shorter one."""
    if after is None:
        return []
    found = []
    for level in after.levels:
        own, left = level.shares
        found.append(
            {
                ",".join(map(str, np.frombuffer(key, np.int32))): [
                    all_rounded(own[at].tolist(), _DIGITS),
                    rounded(float(left[at]), _DIGITS),
                ]
                for key, at in level.rows.items()
            }
        )
    return found


def _trees(trees: Any) -> list[list[Any]]:
    """One list per tree: leaf, feature and level of each split, one after the other; then the values."""
    found = []
    for t in range(len(trees)):
        splits = [
            int(part[t, k])
            for k in range(trees.leaf.shape[1])
            if trees.leaf[t, k] >= 0
            for part in (trees.leaf, trees.feature, trees.level)
        ]
        found.append([splits, all_rounded(trees.value[t].tolist(), _DIGITS)])
    return found
