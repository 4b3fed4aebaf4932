"""Trees of nested states: their prunings, and estimates that are drawn towards that of the parent."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from summarkov.scores.estimates import probabilities
from summarkov.typing import BoolArray, FloatArray, IntArray


@dataclass(frozen=True)
class Tree:
    """A tree by the parent of every node: the root first, with parent -1, and nodes after their parents.

    A *pruning* is a set of nodes that holds the root and the parent of each of its nodes; in it, what belongs
    to a node of the tree belongs to its nearest ancestor that is kept. All methods take and return one entry
    per node, and take one step per level of the tree.

    >>> tree = Tree(np.array([-1, 0, 1, 0]))
    >>> tree.totals(np.array([1, 2, 3, 4]))
    array([10,  5,  3,  4])
    """

    parent: IntArray

    @cached_property
    def levels(self) -> list[IntArray]:
        """The nodes of every depth, the root's first."""
        depth, up = np.zeros(len(self.parent), np.int64), self.parent
        while (above := up >= 0).any():
            depth += above
            up = np.where(above, self.parent[up], -1)
        order = np.argsort(depth, kind="stable")
        return np.split(order, np.cumsum(np.bincount(depth))[:-1])

    @cached_property
    def is_inner(self) -> BoolArray:
        """Whether a node has children."""
        inner = np.zeros(len(self.parent), bool)
        inner[self.parent[1:]] = True
        return inner

    def totals(self, own: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Add to what each node has of its own what its descendants have."""
        total = own.copy()
        for nodes in self.levels[:0:-1]:
            np.add.at(total, self.parent[nodes], total[nodes])
        return total

    def own(self, totals: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """What each node has of its own: its total less those of its children."""
        own = totals.copy()
        np.subtract.at(own, self.parent[1:], totals[1:])
        return own

    def prune(self, gain: FloatArray) -> BoolArray:
        """The pruning whose nodes, but for the root, gain most together; of several the largest.

        A node is kept if it and its descendants that are kept do not lose together (1e-9 is a tie).

        >>> Tree(np.array([-1, 0, 1, 0])).prune(np.array([0.0, -1.0, 3.0, -1.0]))
        array([ True,  True,  True, False])
        """
        together = gain.astype(float)
        kept = np.zeros(len(gain), bool)
        for nodes in self.levels[:0:-1]:
            kept[nodes] = together[nodes] >= -1e-9
            worth = nodes[kept[nodes]]
            np.add.at(together, self.parent[worth], together[worth])
        kept[0] = True
        for nodes in self.levels[1:]:
            kept[nodes] &= kept[self.parent[nodes]]
        return kept

    def weigh(self, here: FloatArray, apart: FloatArray, split: float) -> tuple[FloatArray, FloatArray]:
        r"""Average over the prunings that keep all children of a node or none, each with its weight.

        Returns the log of the weighted probability, and the posterior probability that a node is split.

        .. math:: P_w(s) = (1 - \sigma) P(s) + \sigma P_0(s) \prod_{\text{children } c} P_w(c)

        ``here[s]`` is :math:`\log P(s)`, of all that belongs to the node and its descendants where it is not
        split, ``apart[s]`` is :math:`\log P_0(s)`, of what belongs to no child, ``split`` is :math:`\sigma`;
        a node without children has :math:`P_w = P`. A node is split with its posterior probability if the
        tree reaches it.

        Willems, Shtarkov, Tjalkens, "The context-tree weighting method: basic properties", IEEE Transactions
        on Information Theory 41 (1995), Definition 5, where :math:`\sigma = 1/2`.
        """
        log_split = math.log(split) if split > 0 else -math.inf
        log_stay = math.log1p(-split) if split < 1 else -math.inf
        weighted, splits = here.astype(float), np.zeros(len(here))
        below = apart.astype(float)
        for nodes in self.levels[::-1]:
            inner = nodes[self.is_inner[nodes]]
            divided = log_split + below[inner]
            weighted[inner] = np.logaddexp(log_stay + here[inner], divided)
            splits[inner] = np.exp(divided - weighted[inner])
            if nodes[0] != 0:
                np.add.at(below, self.parent[nodes], weighted[nodes])
        return weighted, splits

    def mix(self, values: FloatArray, splits: FloatArray) -> FloatArray:
        """Average ``values[node, ...]`` over where the tree ends on the path from the root to each node.

        ``splits`` is as :meth:`weigh` gives it. Where the tree goes on below the last node of the path, that
        node's value holds.
        """
        reached = np.ones((len(values), 1))
        passed = np.zeros_like(values)
        for nodes in self.levels[1:]:
            up = self.parent[nodes]
            split = splits[up, None]
            passed[nodes] = passed[up] + reached[up] * (1 - split) * values[up]
            reached[nodes] = reached[up] * split
        return np.asarray(passed + reached * values)


def shrunken(tree: Tree, counts: FloatArray, pseudo: FloatArray) -> FloatArray:
    r"""Estimates of all nodes of a tree, each shrunk towards its parent, the root towards the prior.

    .. math:: \theta_{x|s} = \frac{N(x;s) + w \, \theta_{x|\text{parent of } s}}{N(s) + w}

    ``counts[s, x]`` is N(x; s) of a node with all its descendants, ``pseudo[x]`` the prior's pseudo-counts,
    whose sum is w.

    >>> shrunken(Tree(np.array([-1, 0, 0])), np.array([[6.0, 2], [6, 0], [0, 2]]), np.array([1.0, 1.0]))
    array([[0.7  , 0.3  ],
           [0.925, 0.075],
           [0.35 , 0.65 ]])
    """
    weight = float(pseudo.sum())
    theta = probabilities(counts, pseudo)
    for nodes in tree.levels[1:]:
        n = counts[nodes]
        theta[nodes] = (n + weight * theta[tree.parent[nodes]]) / (n.sum(axis=1, keepdims=True) + weight)
    return theta


def split_gains(yes: FloatArray, whole: FloatArray) -> FloatArray:
    r"""What the largest log-likelihood gains where a table is split in two; 0 where one part is empty.

    .. math:: \sum_x N(x;1) \log\frac{N(x;1)}{N(1)} + \sum_x N(x;0) \log\frac{N(x;0)}{N(0)}
        - \sum_x N(x) \log\frac{N(x)}{N}

    ``whole[..., x]`` is N(x), ``yes[..., test, x]`` is N(x; 1) for each of several ways to split.

    >>> split_gains(np.array([[3.0, 1.0], [2.0, 2.0]]), np.array([4.0, 4.0])).round(4)
    array([1.0465, 0.    ])
    """
    gain = _fit(yes) + _fit(whole[..., None, :] - yes) - _fit(whole)[..., None]
    return np.maximum(gain, 0.0)  # which rounding could leave below 0


def unexplained(counts: FloatArray) -> FloatArray:
    """The most that any splits could gain: less the largest log-likelihood of ``counts[..., x]``."""
    return np.asarray(-_fit(counts))


def _fit(counts: FloatArray) -> FloatArray:
    return np.asarray(_sum(_x_log_x(counts)) - _x_log_x(_sum(counts)))


def _sum(x: FloatArray) -> FloatArray:
    """Over outcomes; there are many tests and few outcomes, so one outcome at a time is much faster."""
    total = x[..., 0]
    for outcome in range(1, x.shape[-1]):
        total = total + x[..., outcome]
    return total


def _x_log_x(x: FloatArray) -> FloatArray:
    return np.asarray(x * np.log(np.maximum(x, 1e-300)))
