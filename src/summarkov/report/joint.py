"""A joint model in the page: its weights and trees, from which the page works out what comes next."""

from __future__ import annotations

from typing import Any

import numpy as np

from summarkov.explain import FittedDistribution
from summarkov.wording import all_rounded, rounded

#: Digits of weights, so that probabilities are those of ``predict_proba`` to ten digits.
_EXACT = 13


def joint_targets(model: FittedDistribution) -> list[dict[str, Any]]:
    """What the page has of each target of any model; a joint one has no states."""
    fitted = model.fitted
    reach = model.lookback
    found: list[dict[str, Any]] = []
    for x, names in model.influencers_.items():
        found.append(
            {
                "x": [fitted.labels.index(x)],
                "u": [fitted.labels.index(z) for z in names],
                "score": None,
                "likelihood": rounded(fitted.log_likelihood, 8),
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
        )
    return found


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
        "level": all_rounded(weights.level.tolist(), _EXACT),
        "own": [all_rounded(weights.own[:, x].tolist(), _EXACT) for x in range(n_outcomes)],
        "place": [all_rounded(weights.shared[start:, x].tolist(), _EXACT) for x in range(n_outcomes)],
        "influencers": [
            {
                z: all_rounded(weights.shared[features.columns(z), x].tolist(), _EXACT)
                for z in np.flatnonzero(fitted.chosen[:, x]).tolist()
            }
            for x in range(n_outcomes)
        ],
        "gains": [[rounded(gain, 3) for gain in gains.values()] for gains in _by_label(model)],
        "recency": [
            [all_rounded(list(by_lag.values()), 4) for by_lag in each.values()]
            for each in model.recency_.values()
        ],
        "trees": [_trees(trees) for trees in (fitted.trees, fitted.alone)],
    }


def _by_label(model: FittedDistribution) -> list[dict[str, float]]:
    """Gains of each target, in the order of its influencers."""
    return [{z: model.gains_[x][z] for z in names} for x, names in model.influencers_.items()]


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
        found.append([splits, all_rounded(trees.value[t].tolist(), _EXACT)])
    return found
