"""Trees of states, grown and then pruned or averaged: of tests of the history, and of contexts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any, Self

import numpy as np

from summarkov.engines import RecencyCounts, RecencyRequest, StateCounts
from summarkov.errors import place
from summarkov.scores import Tree, half_log, log_evidence, probabilities, pseudo_counts
from summarkov.scores.trees import shrunken, split_gains, unexplained
from summarkov.search.problem import Ask, Done, Problem, SearchResult, Step, ask_each, ask_states, first_best
from summarkov.summaries import HistoryTest, TreeSummary
from summarkov.summaries.contexts import LABEL, parents, with_shorter
from summarkov.typing import BoolArray, FloatArray, IntArray, KeyArray

#: A split that alone gains less than this share of the penalty is not followed further: it costs a pass, and
#: seldom do the splits below make up for it.
WORTH_FOLLOWING = 0.3
#: About how many leaves of a tree are open at a time, in the largest of its levels.
_OPEN_LEAVES = 8


@dataclass(frozen=True)
class TreeProblem(Problem):
    """One target, and the tree that its ``summary`` holds so far; ``optional`` are the labels to test.

    ``split`` is the prior probability that a node is split if all prunings are averaged, else None.
    """

    max_depth: int = 12
    split: float | None = None

    @property
    def tree(self) -> TreeSummary:
        """The summary, which is a tree."""
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
        parameters = (self.target.n_outcomes - 1) * half_log(self.n_events)
        return self.scorer.gamma * (parameters + math.log(max(n_tests, 1)))

    def numbers(self, table: StateCounts) -> tuple[Tree, FloatArray, FloatArray]:
        """The tree, N(x; s) of all its nodes, and the pseudo-counts."""
        counts = node_counts(self.tree, table.counts) / self.scale
        return Tree(self.tree.parent), counts, pseudo_counts(counts[0], self.scorer.alpha, self.scorer.prior)

    def score(self, table: StateCounts, influencers: object = ()) -> float:
        """Log-likelihood at the estimates less the penalties, or the log of the weighted probability."""
        tree, counts, pseudo = self.numbers(table)
        if self.split is not None:
            return float(weigh(tree, np.zeros_like(counts), counts, pseudo, self.split)[0][0])
        theta, leaves = shrunken(tree, counts, pseudo), self.tree.leaves
        parameters = self.scorer.gamma * (self.target.n_outcomes - 1) * half_log(self.n_events)
        likelihood = float((counts[leaves] * np.log(theta[leaves])).sum())
        return likelihood - parameters - (len(leaves) - 1) * self.penalty

    def read_learned(self, told: Any, influencers: tuple[int, ...]) -> Self:
        """With the tree that was learned."""
        codes = {self.labels[code]: code for code in self.optional}
        with place(".tree"):
            return replace(self, summary=self.tree.read_learned(told.tree, codes, self.max_depth))

    def read_step(self, told: Any) -> None:
        return None

    def influencers_of(self, table: StateCounts) -> tuple[int, ...]:
        """The labels that the tree tests."""
        return self.tree.influencers

    def steps(self, table: StateCounts) -> tuple[Step, ...]:
        """The splits, depth first: what each adds to the score of the tree without it."""
        tree, counts, pseudo = self.numbers(table)
        theta = shrunken(tree, counts, pseudo)
        alone = replace(self, summary=replace(self.tree, nodes=(None,)), split=None)
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


def weigh(
    tree: Tree, own: FloatArray, total: FloatArray, pseudo: FloatArray, split: float
) -> tuple[FloatArray, FloatArray]:
    """Average over all prunings, see :meth:`Tree.weigh`, from counts of nodes alone and in all."""
    apart = np.zeros(len(own))  # what ends at a node that is split: at a context before unknown labels only
    some = np.flatnonzero(tree.is_inner & own.any(axis=1))
    apart[some] = log_evidence(own[some], pseudo)
    return tree.weigh(log_evidence(total, pseudo), apart, split)


@dataclass
class _Node:
    """A node while the tree grows."""

    counts: IntArray
    depth: int
    is_open: bool  # whether a split could be worth it
    tables: RecencyCounts | None = None  # what further tests would tell apart, while that is needed
    test: HistoryTest | None = None
    branches: tuple[int, int] = (-1, -1)


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
        requests = [[tree.request] for tree in under_way]
        for tree, (counts,) in zip(
            under_way, ask_each([t.problem for t in under_way], ask, requests), strict=True
        ):
            assert isinstance(counts, RecencyCounts)
            tree.take(counts)
        still = [tree for tree in under_way if tree.wanted]
        done(len(under_way) - len(still))
        under_way = still
    return [tree.result() for tree in trees]


class _Growing:
    """A tree while it grows: ``wanted`` are the leaves whose counts it needs next."""

    def __init__(self, problem: TreeProblem) -> None:
        self.problem, self.wanted, self.leaves = problem, [0], (0,)
        self.nodes: list[_Node] = []
        self.splits: list[tuple[int, int, int]] = []  # of the last level: a node and its branches

    @property
    def request(self) -> RecencyRequest:
        """What to ask for the next level."""
        problem = self.problem
        tree, number = problem.tree, {0: 0}
        if self.nodes:
            tree, rows = self._preorder()
            number = {row: leaf for leaf, row in enumerate(r for r in rows if self.nodes[r].test is None)}
        self.wanted.sort(key=number.__getitem__)
        return RecencyRequest(tree, problem.target, problem.optional, tuple(number[at] for at in self.wanted))

    def take(self, counts: RecencyCounts) -> None:
        """Grow until further leaves are to be counted, or nothing is open."""
        nodes = self.nodes
        if not nodes:
            nodes.append(_node(self.problem, counts.counts[0], 0))
            nodes[0].tables = counts
            open_ = [0] if nodes[0].is_open else []
        else:
            for place, at in enumerate(self.wanted):
                nodes[at].tables = counts.leaf(place)
            open_ = self._open()
        self.wanted = []
        while open_ and not self.wanted:
            self.splits = [(at, low, high) for at in open_ for low, high in _split(self.problem, nodes, at)]
            self.wanted = [at for _, low, high in self.splits for at in _counted(nodes, low, high)]
            open_ = [] if self.wanted else self._open()

    def _open(self) -> list[int]:
        """The open leaves of the last level, each with its counts: of two branches one may be the rest."""
        open_, nodes = list[int](), self.nodes
        for up, low, high in self.splits:
            rest = nodes[up].tables
            for at, other in ((low, high), (high, low)):
                tables = nodes[other].tables
                if nodes[at].tables is None and nodes[at].is_open and tables is not None:
                    assert rest is not None
                    nodes[at].tables = rest.minus(tables)
            nodes[up].tables = None
            open_ += [at for at in (low, high) if nodes[at].is_open]
        return open_

    def _preorder(self) -> tuple[TreeSummary, list[int]]:
        return _preorder(self.problem.tree, [(node.test, node.branches) for node in self.nodes])

    def result(self) -> SearchResult:
        """The tree, pruned."""
        full, rows = self._preorder()
        counts = np.array([self.nodes[row].counts for row in rows if self.nodes[row].test is None])
        return result_of(replace(self.problem, summary=full), counts)


def result_of(problem: TreeProblem, leaves: IntArray) -> SearchResult:
    """The problem's tree, with these counts at its leaves, pruned to the largest penalised likelihood."""
    tree, counts = problem.tree, node_counts(problem.tree, leaves)
    inner = np.flatnonzero(tree.branches[:, 0] >= 0)
    n = counts / problem.scale
    gain = split_gains(n[tree.branches[inner, 0]][:, None], n[inner])[:, 0]
    gain = np.where(gain > WORTH_FOLLOWING * problem.penalty, gain - problem.penalty, -np.inf)
    place = np.zeros(len(tree.nodes), np.int64)
    place[inner] = np.arange(1, len(inner) + 1)
    above = np.where(tree.parent[inner] >= 0, place[tree.parent[inner]], 0)
    kept = Tree(np.append(-1, above)).prune(np.append(0.0, gain))  # a root above the first split
    stays = (place > 0) & kept[place]
    left = [test if here else None for test, here in zip(tree.nodes, stays.tolist(), strict=True)]
    pruned, rows = _preorder(tree, list(zip(left, tree.branches.tolist(), strict=True)))
    counts = counts[np.array(rows)[pruned.leaves]]
    table = StateCounts(np.arange(len(counts), dtype=np.int32)[:, None], counts)
    score = replace(problem, summary=pruned).score(table)
    return SearchResult(pruned, pruned.influencers, score, table, ())  # the tree tells the steps


def _node(problem: TreeProblem, counts: IntArray, depth: int) -> _Node:
    """A leaf; it is open if a split of it could be worth it."""
    if depth >= problem.max_depth or not problem.tree.tests.size(len(problem.optional)):
        return _Node(counts, depth, False)
    return _Node(counts, depth, bool(unexplained(counts / problem.scale) > problem.penalty))


def _split(problem: TreeProblem, nodes: list[_Node], at: int) -> list[tuple[int, int]]:
    """Split a node by its best test; the two branches, or nothing if no test is good enough."""
    node, tests = nodes[at], problem.tree.tests
    assert node.tables is not None
    yes = tests.yes(node.tables.lags, node.tables.starts, node.tables.pairs)[0]
    gains = split_gains(yes / problem.scale, node.counts / problem.scale)
    best = first_best(gains)
    if gains[best] <= max(WORTH_FOLLOWING * problem.penalty, 1e-9 * problem.n_events):
        return []
    node.test = tests.nth(best, problem.optional)
    nodes.append(_node(problem, yes[best], node.depth + 1))
    nodes.append(_node(problem, node.counts - yes[best], node.depth + 1))
    node.branches = len(nodes) - 2, len(nodes) - 1
    return [node.branches]


def _counted(nodes: list[_Node], low: int, high: int) -> Sequence[int]:
    """Which of two branches must be counted: the smaller one, if both are open."""
    open_ = [at for at in (low, high) if nodes[at].is_open]
    return open_ if len(open_) < 2 else [min(open_, key=lambda at: int(nodes[at].counts.sum()))]


def _preorder(
    like: TreeSummary, nodes: Sequence[tuple[HistoryTest | None, Sequence[int]]]
) -> tuple[TreeSummary, list[int]]:
    """The tree of nodes that have a test, or None, and branches; and the place of each node in the list."""
    rows, waiting = list[int](), [0]
    while waiting:
        row = waiting.pop()
        test, branches = nodes[row]
        rows.append(row)
        if test is not None:
            waiting += reversed(branches)
    return replace(like, nodes=tuple(nodes[row][0] for row in rows)), rows


@dataclass(eq=False)
class _Same:
    """Keys, equal to no others but themselves: all targets of a graph have the same, to be looked at once."""

    keys: KeyArray

    def __hash__(self) -> int:
        return id(self.keys)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and other.keys is self.keys


@lru_cache(maxsize=1)
def _grown(given: _Same) -> tuple[KeyArray, IntArray]:
    return with_shorter(given.keys)


@lru_cache(maxsize=2)
def _tree(given: _Same) -> Tree:
    return Tree(parents(given.keys))


def tree_of(contexts: KeyArray) -> Tree:
    """Contexts, with each of which the next shorter is there, as a tree."""
    return _tree(_Same(contexts))


def every_context(table: StateCounts) -> StateCounts:
    """The contexts of a table and all shorter ones, in order; those without any count are left out."""
    keys, where = _grown(_Same(table.keys))
    counts = np.zeros((len(keys), table.counts.shape[1]), np.int64)
    counts[where] = table.counts
    seen = tree_of(keys).totals(counts.sum(axis=1)) > 0
    seen[:1] = True
    return StateCounts(keys, counts) if seen.all() else StateCounts(keys[seen], counts[seen])


@dataclass(frozen=True)
class ContextProblem(Problem):
    """One target, whose states are contexts; a table holds, with each of them, all shorter ones.

    ``counts[s]`` is of the positions at which s is the longest context of the table. ``split`` is the prior
    probability that a context is split if all prunings are averaged, else None.
    """

    split: float | None = None

    def influencers_of(self, table: StateCounts) -> tuple[int, ...]:
        """The labels that the contexts hold; of an average all, unless there is nothing to tell apart."""
        if self.split is not None:
            return self.optional if table.keys.shape[1] and self.target.n_outcomes > 1 else ()
        symbols = np.unique(table.keys)
        return tuple((symbols[symbols >= LABEL] - LABEL).tolist())

    @property
    def penalty(self) -> float:
        r"""What a context must gain: :math:`\gamma (|X| - 1) \log(N) / 2`, for its distribution."""
        return self.scorer.gamma * (self.target.n_outcomes - 1) * half_log(self.n_events)

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
        """BIC: the log-likelihood at the estimates, less the penalty of every context.

        Of an average it is the log of the weighted probability of the data.
        """
        tree = tree_of(table.keys)
        own, total = table.counts / self.scale, tree.totals(table.counts) / self.scale
        pseudo = pseudo_counts(total[0], self.scorer.alpha, self.scorer.prior)
        if self.split is not None:
            return float(weigh(tree, own, total, pseudo, self.split)[0][0])
        return float((own * np.log(probabilities(total, pseudo))).sum()) - len(own) * self.penalty


def find_contexts(problems: Sequence[Problem], ask: Ask, done: Done) -> list[SearchResult]:
    """Grow the tree of all contexts that were seen, and prune it from its leaves unless it is averaged.

    A context is kept if the log-likelihood that it gains over the next shorter one, and its kept descendants
    over theirs, is at least the penalty of all of them. So the kept contexts are those with the largest
    penalised likelihood, and their labels are the influencers. A target that is always the same has none.
    """
    found = []
    for problem, seen in zip(problems, ask_states(problems, ask, [()] * len(problems)), strict=True):
        assert isinstance(problem, ContextProblem)
        table = every_context(seen)
        if problem.split is None:
            kept = tree_of(table.keys).prune(problem.gains(table) - problem.penalty)
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
