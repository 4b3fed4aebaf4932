"""Small trees that are added to a softmax one after the other, each where it helps one label most."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from summarkov import kernels
from summarkov.kernels import LevelArray
from summarkov.scores.softmax import softmax
from summarkov.settings import OnStep, untold
from summarkov.typing import BoolArray, CodeArray, FloatArray

#: Gradients are added up as whole multiples of this, so that sums do not depend on their order.
_UNIT = 2.0**-30
#: A split must gain more than this, and a leaf have this much to go by (the variance of its hits).
_LEAST_GAIN, _LEAST_VARIANCE = 1e-6, 1e-3


@dataclass(frozen=True)
class Boosting:
    """How trees are grown.

    Parameters
    ----------
    leaves : int
        The most leaves of a tree.
    learning_rate : float
        The share of the best step that a tree takes.
    penalty : float
        Of the square of a leaf's value.
    features, rows : float
        The share of features that a tree may look at, and of rows that a round does.
    """

    leaves: int = 4
    learning_rate: float = 0.1
    penalty: float = 10.0
    features: float = 0.5
    rows: float = 0.8


@dataclass(frozen=True)
class Trees:
    """Trees of all outcomes, round by round: tree t is for outcome ``t % n_outcomes``.

    Split k of tree t sends the rows of leaf ``leaf[t, k]`` whose level of ``feature[t, k]`` is above
    ``level[t, k]`` to leaf k + 1; where there are fewer splits the leaf is -1. ``value[t, l]`` is added to
    the logarithm of the outcome's probability.
    """

    leaf: CodeArray
    feature: CodeArray
    level: CodeArray
    value: FloatArray
    n_outcomes: int

    @classmethod
    def none(cls, n_outcomes: int, leaves: int) -> Trees:
        """No trees yet."""
        empty = np.zeros((0, leaves - 1), np.int32)
        return cls(empty, empty, empty, np.zeros((0, leaves)), n_outcomes)

    @classmethod
    def together(cls, each: Sequence[Trees]) -> Trees:
        """Trees of several rounds as one."""
        leaf, feature, level, value = (
            np.concatenate([getattr(one, part) for one in each])
            for part in ("leaf", "feature", "level", "value")
        )
        return cls(leaf, feature, level, value, each[0].n_outcomes)

    def __len__(self) -> int:
        return len(self.value)

    @property
    def rounds(self) -> int:
        """How many trees each outcome has."""
        return len(self) // self.n_outcomes

    def add_to(self, logits: FloatArray, levels: LevelArray) -> None:
        """Add what the trees say of rows with these ``levels[feature, row]``."""
        logits += kernels.said_by_trees(
            levels, self.leaf, self.feature, self.level, self.value, self.n_outcomes
        ).T


def boost(
    levels: LevelArray,
    counts: FloatArray,
    logits: FloatArray,
    how: Boosting,
    rounds: Sequence[int],
    seed: int,
    allowed: BoolArray,
    on_step: OnStep = untold,
) -> Iterator[tuple[Trees, FloatArray]]:
    r"""Grow one tree per outcome in each round; yield the trees, and ``logits`` with what they add.

    Both after each of the numbers of ``rounds``, which grow; so trees are grown only as far as is asked for.

    With p the softmax so far, a leaf l of a tree for x has

    .. math:: v = \eta \frac{G_l}{H_l + \lambda}, \quad
              G_l = \sum_{s \in l} N(x; s) - N(s) p(x|s), \quad H_l = \sum_{s \in l} N(s) p(x|s) (1 - p(x|s))

    a Newton step of the log-likelihood, and splits are those with the largest gain in :math:`G^2 / (H +
    \lambda)`. ``counts[row, x]`` and ``logits[row, x]`` belong to ``levels[feature, row]``;
    ``allowed[feature, x]`` says what the trees of an outcome may look at; ``on_step`` is called after each
    round with the number of rounds left.

    Reference: Friedman, "Greedy function approximation: a gradient boosting machine", Annals of Statistics 29
    (2001), with Newton steps as in Friedman, Hastie, Tibshirani, "Additive logistic regression" (2000).
    """
    rng = np.random.default_rng(seed)
    grown = [Trees.none(counts.shape[1], how.leaves)]
    if not rounds[-1]:
        yield grown[0], logits.copy()
        return
    logits, n = logits.copy(), counts.sum(axis=1, keepdims=True)
    whole = np.empty((*counts.T.shape, 2), np.int64)
    n_levels = int(levels.max(initial=0)) + 1
    grow = kernels.tree_grower(levels)
    growth = kernels.Growth(n_levels, how.leaves, how.penalty, _UNIT, _LEAST_GAIN, _LEAST_VARIANCE)
    for done in range(rounds[-1] + 1):
        if done in rounds:
            grown = [Trees.together(grown)]
            yield grown[0], logits.copy()
        if done == rounds[-1]:
            return
        p = softmax(logits)
        expected = n * p
        whole[..., 0] = np.round((counts - expected) / _UNIT).T
        whole[..., 1] = np.round(expected * (1 - p) / _UNIT).T
        rows = np.flatnonzero(rng.random(len(n)) < how.rows).astype(np.int32)
        features = allowed.T & (rng.random(allowed.T.shape) < how.features)
        leaf, feature, level, sums = grow(features, rows, whole, growth)
        gradient, variance = np.moveaxis(sums * _UNIT, -1, 0)
        value = how.learning_rate * gradient / (variance + how.penalty)
        grown.append(Trees(leaf, feature, level, value, counts.shape[1]))
        grown[-1].add_to(logits, levels)
        on_step(rounds[-1] - done - 1)
