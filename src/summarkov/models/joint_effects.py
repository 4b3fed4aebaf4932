"""What the weights of a joint model say: an edge for each influencer, and why a label is likely now."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from summarkov.explain import Influence, effect_of
from summarkov.explain.shares import Share, SharedExplanation, ordered
from summarkov.kernels import Index
from summarkov.models.joint_features import PER_LABEL, tree_levels
from summarkov.models.joint_fitted import FittedJoint
from summarkov.models.joint_learning import JointData
from summarkov.scores.softmax import Weights, dense
from summarkov.typing import BoolArray, IntArray

#: Of a 95% interval.
_Z = 1.959963984540054


def joint_edges(
    data: JointData, weights: Weights, chosen: BoolArray, penalty: float, labels: Sequence[str]
) -> Iterator[Influence]:
    r"""An edge for each influencer of each target, with the factor of its odds and an interval.

    With a the mean features of z over the positions at which it is in the window, the factor is :math:`e^{a
    \cdot w}`. Its variance is :math:`a^T (H + \Lambda)^{-1} a`, H the information of the likelihood about the
    weights of z (all others held) and :math:`\Lambda` their penalties.
    """
    variance, n = data.variance(weights), data.counts.sum(axis=1)
    penalties = data.penalties(penalty, chosen)
    hits = data.counts.sum(axis=0)
    for z, influences in enumerate(chosen):
        targets = np.flatnonzero(influences[: len(data.features.target.codes)])
        here = np.flatnonzero(data.present[:, z])
        if not len(targets) or not n[here].sum():
            continue
        columns = data.features.columns(z)
        seen = dense(data.rows.shared[here][:, columns])
        mean = n[here] @ seen / n[here].sum()
        for x in targets.tolist():
            information = seen.T @ (variance[here, x, None] * seen) + np.diag(penalties.shared[columns, x])
            log_factor = float(mean @ weights.shared[columns, x])
            width = _Z * math.sqrt(float(mean @ np.linalg.solve(information, mean)))
            low, high = math.exp(log_factor - width), math.exp(log_factor + width)
            hits_with, n_with = float(data.counts[here, x].sum()), float(n[here].sum())
            yield Influence(
                influencer=labels[z],
                target=labels[data.features.target.codes[x]],
                effect=effect_of(low, high),
                ratio=math.exp(log_factor),
                low=low,
                high=high,
                hits_with=hits_with,
                n_with=n_with,
                hits_without=float(hits[x]) - hits_with,
                n_without=float(n.sum()) - n_with,
                interval="likelihood",
            )


def shares(fitted: FittedJoint, index: Index, ends: IntArray, outcome: int) -> SharedExplanation:
    """Explain the probability of an outcome at one place."""
    profile = fitted.summary.read(fitted.summary.rows(index, ends), len(fitted.labels))
    features = fitted.features.of(profile)
    row = dense(features.shared)[0]
    weights = fitted.weights.shared[:, outcome]
    found = []
    for z in np.flatnonzero(profile.lag[0]).tolist():
        if fitted.chosen[z, outcome]:
            columns = fitted.features.columns(z)
            factor = math.exp(float(row[columns] @ weights[columns]))
            found.append(Share(fitted.labels[z], int(profile.lag[0, z]), factor))
    start = PER_LABEL * len(fitted.labels)
    place = math.exp(float(row[start:] @ weights[start:]))
    habits = math.exp(float(features.own[:, 0, outcome] @ fitted.weights.own[:, outcome]))
    said = np.zeros((1, fitted.features.target.n_outcomes))
    if len(fitted.trees):
        fitted.trees.add_to(said, tree_levels(profile))
    trees = math.exp(float(said[0, outcome]))
    probability = float(fitted.at(index, ends)[0, outcome])
    base_rate = float(fitted.features.outcome_rates[outcome])
    told = math.prod(share.factor for share in found) * place * habits * trees
    return SharedExplanation(
        target=fitted.labels[fitted.features.target.codes[outcome]],
        probability=probability,
        base_rate=base_rate,
        shares=ordered(found),
        habits=habits,
        place=place,
        trees=trees,
        competition=probability / (base_rate * told),
    )
