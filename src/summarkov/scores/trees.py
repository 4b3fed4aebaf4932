"""Trees of nested states, one of whose prunings is the model, or all of them together."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from summarkov.typing import BoolArray, FloatArray, IntArray


@dataclass(frozen=True)
class Tree:
    """A tree by the parent of every node: the root first, with parent -1, and nodes after their parents.

    A *pruning* is a set of nodes that holds the root and the parent of each of its nodes; in it, what belongs
    to a node of the tree belongs to its nearest ancestor that is kept. All methods take and return one entry
    a node, and take one step a level of the tree.

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

    def totals(self, own: IntArray) -> IntArray:
        """Add to what each node has of its own what its descendants have."""
        total = own.copy()
        for nodes in self.levels[:0:-1]:
            np.add.at(total, self.parent[nodes], total[nodes])
        return total

    def own(self, totals: IntArray) -> IntArray:
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
