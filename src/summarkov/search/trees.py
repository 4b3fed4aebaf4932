"""Trees of nested states, grown and then pruned: of tests of the history, and of contexts."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from summarkov.engines import RecencyCounts, RecencyRequest, StateCounts
from summarkov.errors import place
from summarkov.search.criteria import probabilities, pseudo_counts
from summarkov.search.problem import Ask, Done, Problem, SearchResult, Step, ask_states, first_best
from summarkov.summaries import HistoryTest, TreeSummary
from summarkov.summaries.contexts import LABEL, parents, with_shorter
from summarkov.typing import BoolArray, FloatArray, IntArray, KeyArray

#: A split that alone gains less than this share of the penalty is not followed further: it costs a pass, and
#: seldom do the splits below make up for it.
WORTH_FOLLOWING = 0.3
#: About how many leaves of a tree are open at a time, in the largest of its levels.
_OPEN_LEAVES = 8


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

    def totals(self, own: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Add to what each node has of its own what its descendants have."""
        total = own.copy()
        for nodes in self.levels[:0:-1]:
            np.add.at(total, self.parent[nodes], total[nodes])
        return total

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
    gain = likeliest(yes) + likeliest(whole[..., None, :] - yes) - likeliest(whole)[..., None]
    return np.maximum(gain, 0.0)  # which rounding could leave below 0


def likeliest(counts: FloatArray) -> FloatArray:
    r"""The largest log-likelihood of tables, :math:`\sum_x N(x) \log (N(x) / N)` of ``counts[..., x]``."""
    return np.asarray(_sum(_x_log_x(counts)) - _x_log_x(_sum(counts)))


def _sum(x: FloatArray) -> FloatArray:
    """Over outcomes; there are many tests and few outcomes, so one outcome at a time is much faster."""
    total = x[..., 0]
    for outcome in range(1, x.shape[-1]):
        total = total + x[..., outcome]
    return total


def _x_log_x(x: FloatArray) -> FloatArray:
    return np.asarray(x * np.log(np.maximum(x, 1e-300)))


@dataclass(frozen=True)
class TreeProblem(Problem):
    """One target, and the tree that its ``summary`` holds so far; ``optional`` are the labels to test."""

    max_depth: int = 12

    @property
    def tree(self) -> TreeSummary:
        assert isinstance(self.summary, TreeSummary)
        return self.summary

    @property
    def bytes_held(self) -> int:
        """About how much a level of the tree holds: what the tests of its open leaves tell apart."""
        root = RecencyRequest(self.tree, self.target, self.optional, (0,))
        return _OPEN_LEAVES * 8 * self.target.n_outcomes * root.cells

    @cached_property
    def penalty(self) -> float:
        r"""What a split must gain: :math:`\gamma \left( (|X| - 1) \log(N) / 2 + \log T \right)`.

        The first part is BIC's for one more set of parameters, the second is for the choice among T tests.
        """
        n_tests = self.tree.tests.size(len(self.optional))
        return self.per_state + self.scorer.gamma * math.log(max(n_tests, 1))

    def numbers(self, table: StateCounts) -> tuple[Tree, FloatArray, FloatArray]:
        """The tree, N(x; s) of all its nodes, and the pseudo-counts."""
        counts = node_counts(self.tree, table.counts) / self.scale
        return Tree(self.tree.parent), counts, pseudo_counts(counts[0], self.scorer.alpha, self.scorer.prior)

    def score(self, table: StateCounts, influencers: object = ()) -> float:
        """Log-likelihood at the estimates less the penalties."""
        tree, counts, pseudo = self.numbers(table)
        theta, leaves = shrunken(tree, counts, pseudo), self.tree.leaves
        likelihood = float((counts[leaves] * np.log(theta[leaves])).sum())
        return likelihood - self.per_state - (len(leaves) - 1) * self.penalty

    def read_learned(self, told: Any, influencers: tuple[int, ...]) -> Self:
        codes = {self.labels[code]: code for code in self.optional}
        with place(".tree"):
            return replace(self, summary=self.tree.read_learned(told.tree, codes, self.max_depth))

    def read_step(self, told: Any) -> None:
        return None

    def influencers_of(self, table: StateCounts) -> tuple[int, ...]:
        return self.tree.influencers

    def steps(self, table: StateCounts) -> tuple[Step, ...]:
        """The splits, depth first: what each adds to the score of the tree without it."""
        tree, counts, pseudo = self.numbers(table)
        theta = shrunken(tree, counts, pseudo)
        alone = replace(self, summary=replace(self.tree, nodes=(None,)))
        whole = StateCounts(np.zeros((1, 1), np.int32), table.counts.sum(axis=0, keepdims=True))
        score, steps = alone.score(whole), []
        for row, test in enumerate(self.tree.nodes):
            if test is None:
                continue
            below = self.tree.branches[row]
            gain = float((counts[below] * np.log(theta[below] / theta[row])).sum()) - self.penalty
            score += gain
            words = ", ".join(self.tree.rule(row, self.labels))
            words = test.words(True, self.labels) + (f", given {words}" if words else "")
            steps.append(Step("split", words, score, gain))
        return tuple(steps)


def node_counts(tree: TreeSummary, leaves: IntArray) -> IntArray:
    """Counts of all nodes from those of the leaves."""
    own = np.zeros((len(tree.nodes), leaves.shape[1]), np.int64)
    own[tree.leaves] = leaves
    return Tree(tree.parent).totals(own)


@dataclass(eq=False)
class _Node:
    """A node while the tree grows."""

    counts: IntArray
    depth: int
    is_open: bool  # whether a split could be worth it
    tables: RecencyCounts | None = None  # what further tests would tell apart, while that is needed
    test: HistoryTest | None = None
    branches: tuple[_Node, ...] = ()

    def preorder(self) -> list[_Node]:
        """The node and all below it, depth first, the yes branch first."""
        return [self, *(node for branch in self.branches for node in branch.preorder())]


def grow_trees(problems: Sequence[Problem], ask: Ask, done: Done) -> list[SearchResult]:
    """Split every leaf by the test that gains most likelihood, level by level; then prune from the leaves.

    A leaf is split while that can be worth it: while perfect prediction would gain more than the penalty, the
    best test gains a good part of it, and ``max_depth`` is not reached. Then a split is kept if its gain and
    that of the kept splits below it exceed their penalties. All leaves of one depth are one pass over the
    data. Of two branches only the smaller one is counted; the other one is the rest.
    """
    trees = [_Growing(problem) for problem in problems if isinstance(problem, TreeProblem)]
    under_way = trees
    while under_way:
        answers = ask([tree.request() for tree in under_way])
        for tree, counts in zip(under_way, answers, strict=True):
            assert isinstance(counts, RecencyCounts)
            tree.take(counts)
        done(sum(not tree.wanted for tree in under_way))
        under_way = [tree for tree in under_way if tree.wanted]
    return [result_of(tree.problem_now, np.array([leaf.counts for leaf in tree.leaves])) for tree in trees]


class _Growing:
    """A tree while it grows: ``wanted`` are the leaves whose counts it needs next."""

    def __init__(self, problem: TreeProblem) -> None:
        self.problem, self.root = problem, _Node(np.zeros(problem.target.n_outcomes, np.int64), 0, False)
        self.wanted, self.splits = [self.root], list[_Node]()  # the nodes that were split last

    @property
    def problem_now(self) -> TreeProblem:
        nodes = tuple(node.test for node in self.root.preorder())
        return replace(self.problem, summary=replace(self.problem.tree, nodes=nodes))

    @property
    def leaves(self) -> list[_Node]:
        return [node for node in self.root.preorder() if node.test is None]

    def request(self) -> RecencyRequest:
        leaves = self.leaves
        numbers = tuple(number for number, leaf in enumerate(leaves) if leaf in self.wanted)
        self.wanted = [leaves[number] for number in numbers]
        problem = self.problem_now
        return RecencyRequest(problem.tree, problem.target, problem.optional, numbers, problem.replicate)

    def take(self, counts: RecencyCounts) -> None:
        """Split the leaves that were counted, and those that are the rest of a node without its branch."""
        for at, leaf in enumerate(self.wanted):
            leaf.tables = counts.leaf(at)
        if not self.root.branches:
            self.root = self._leaf(counts.counts[0], 0)
            self.root.tables = counts
        for node in self.splits:
            for leaf, other in (node.branches, node.branches[::-1]):
                if leaf.tables is None and other.tables is not None and leaf.is_open:
                    assert node.tables is not None
                    leaf.tables = node.tables.minus(other.tables)
            node.tables = None
        leaves = [leaf for node in self.splits for leaf in node.branches] or [self.root]
        self.splits = [leaf for leaf in leaves if leaf.is_open and self._split(leaf)]
        self.wanted = []
        for node in self.splits:  # if both branches are open, the smaller one
            branches = sorted(node.branches, key=lambda leaf: int(leaf.counts.sum()))
            self.wanted += [leaf for leaf in branches if leaf.is_open][:1]

    def _leaf(self, counts: IntArray, depth: int) -> _Node:
        """A leaf; it is open if a split of it could be worth it."""
        problem = self.problem
        can_split = depth < problem.max_depth and problem.tree.tests.size(len(problem.optional)) > 0
        worth = can_split and bool(-likeliest(counts / problem.scale) > problem.penalty)
        return _Node(counts, depth, worth)

    def _split(self, node: _Node) -> bool:
        """Split a node by its best test, if that is good enough."""
        problem, tests, tables = self.problem, self.problem.tree.tests, node.tables
        assert tables is not None
        yes = tests.yes(tables.lags, tables.starts, tables.pairs)[0]
        gains = split_gains(yes / problem.scale, node.counts / problem.scale)
        best = first_best(gains)
        if gains[best] <= max(WORTH_FOLLOWING * problem.penalty, 1e-9 * problem.n_events):
            return False
        node.test = next(itertools.islice(tests.each(problem.optional), best, None))
        node.branches = tuple(self._leaf(n, node.depth + 1) for n in (yes[best], node.counts - yes[best]))
        return True


def result_of(problem: TreeProblem, leaves: IntArray) -> SearchResult:
    """The problem's tree, with these counts at its leaves, pruned to the largest penalised likelihood."""
    tree, counts = problem.tree, node_counts(problem.tree, leaves)
    n, is_inner = counts / problem.scale, tree.branches[:, 0] >= 0
    gain = split_gains(n[tree.branches[:, 0]][:, None], n)[:, 0]
    worth = is_inner & (gain > WORTH_FOLLOWING * problem.penalty)
    gain = np.append(0.0, np.where(worth, gain - problem.penalty, -np.inf))
    stays = Tree(np.append(-1, tree.parent + 1)).prune(gain)[1:]  # with a root above, which is always kept
    there = np.append(True, stays[tree.parent[1:]])
    rows = np.flatnonzero(there)
    pruned = replace(tree, nodes=tuple(tree.nodes[row] if stays[row] else None for row in rows.tolist()))
    counts = counts[rows[pruned.leaves]]
    table = StateCounts(np.arange(len(counts), dtype=np.int32)[:, None], counts)
    score = replace(problem, summary=pruned).score(table)
    return SearchResult(pruned, pruned.influencers, score, table, ())  # the tree tells the steps


@lru_cache(maxsize=4)
def _looked_at(contexts: bytes, shape: tuple[int, int]) -> tuple[Tree, KeyArray, IntArray]:
    keys: KeyArray = np.frombuffer(contexts, np.int32).reshape(shape)
    every, where = with_shorter(keys)
    return Tree(parents(every)), every, where


def tree_of(contexts: KeyArray) -> Tree:
    """Contexts, with each of which the next shorter is there, as a tree."""
    return _looked_at(contexts.tobytes(), contexts.shape)[0]  # all targets of a graph have the same


def every_context(table: StateCounts) -> StateCounts:
    """The contexts of a table and all shorter ones, in order; those without any count are left out."""
    tree, keys, where = _looked_at(table.keys.tobytes(), table.keys.shape)
    counts = np.zeros((len(keys), table.counts.shape[1]), np.int64)
    counts[where] = table.counts
    seen = tree.totals(counts.sum(axis=1)) > 0
    seen[:1] = True
    return StateCounts(keys[seen], counts[seen])


@dataclass(frozen=True)
class ContextProblem(Problem):
    """One target, whose states are contexts; a table holds, with each of them, all shorter ones.

    ``counts[s]`` is of the positions at which s is the longest context of the table.
    """

    def influencers_of(self, table: StateCounts) -> tuple[int, ...]:
        symbols = np.unique(table.keys)
        return tuple((symbols[symbols >= LABEL] - LABEL).tolist())

    def gains(self, table: StateCounts) -> FloatArray:
        r"""The largest log-likelihood of each context's histories, less that of its parent's distribution.

        .. math:: \sum_x N(x;s) \left( \log\frac{N(x;s)}{N(s)} - \log\frac{N(x;p)}{N(p)} \right)
        """
        tree = tree_of(table.keys)
        n = tree.totals(table.counts) / self.scale
        ones = np.ones(n.shape[1])  # a product with it is faster than a sum over so short an axis
        share = n / np.maximum(n @ ones, 1e-300)[:, None]
        log_share = np.log(np.where(n > 0, share, 1.0))
        gain = (n * (log_share - log_share[tree.parent])) @ ones
        gain[0] = 0.0
        return np.asarray(np.maximum(gain, 0.0))

    def score(self, table: StateCounts, influencers: object = ()) -> float:
        """BIC: the log-likelihood at the estimates, less the penalty of every context."""
        tree = tree_of(table.keys)
        own, total = table.counts / self.scale, tree.totals(table.counts) / self.scale
        pseudo = pseudo_counts(total[0], self.scorer.alpha, self.scorer.prior)
        return float((own * np.log(probabilities(total, pseudo))).sum()) - len(own) * self.per_state


def find_contexts(problems: Sequence[Problem], ask: Ask, done: Done) -> list[SearchResult]:
    """Grow the tree of all contexts that were seen, and prune it from its leaves.

    A context is kept if the log-likelihood that it gains over the next shorter one, and its kept descendants
    over theirs, is at least the penalty of all of them. So the kept contexts are those with the largest
    penalised likelihood, and their labels are the influencers. A target that is always the same has none.
    """
    found = []
    for problem, seen in zip(problems, ask_states(problems, ask, [()] * len(problems)), strict=True):
        assert isinstance(problem, ContextProblem)
        table = every_context(seen)
        kept = tree_of(table.keys).prune(problem.gains(table) - problem.per_state)
        if problem.target.n_outcomes == 1:
            kept[1:] = False
        table = merge_contexts(table, kept)
        influencers = problem.influencers_of(table)
        found.append(SearchResult(problem.summary, influencers, problem.score(table), table, ()))
    done(len(problems))
    return found


def merge_contexts(table: StateCounts, kept: BoolArray) -> StateCounts:
    """Add the counts of contexts that are not kept to those of the longest kept one that they end with."""
    tree, counts = tree_of(table.keys), table.counts.copy()
    for nodes in tree.levels[:0:-1]:
        gone = nodes[~kept[nodes]]
        np.add.at(counts, tree.parent[gone], counts[gone])
    return StateCounts(table.keys[kept], counts[kept])
