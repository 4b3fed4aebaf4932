"""Which contexts of a context tree are kept: all that were seen, or those that are worth their parameters."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from summarkov.engines import StateCounts
from summarkov.scores import Tree, half_log, log_evidence, probabilities, pseudo_counts
from summarkov.search.problem import Problem, Search, SearchResult
from summarkov.summaries.contexts import LABEL, parents, with_shorter
from summarkov.typing import BoolArray, FloatArray, IntArray, KeyArray


class _Same:
    """Keys, equal to no others but themselves: all targets of a graph have the same, to be looked at once."""

    def __init__(self, keys: KeyArray) -> None:
        self.keys = keys

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

    ``counts[s]`` is of the positions at which s is the longest context of the table.
    """

    def influencers_of(self, table: StateCounts) -> tuple[int, ...]:
        """The labels that the contexts hold."""
        symbols = np.unique(table.keys)
        return tuple((symbols[symbols >= LABEL] - LABEL).tolist())

    def _numbers(self, table: StateCounts) -> tuple[FloatArray, FloatArray, FloatArray]:
        """N(x; s) of the contexts alone and of all histories that end with them, and the pseudo-counts."""
        own, total = table.counts / self.scale, tree_of(table.keys).totals(table.counts) / self.scale
        return own, total, pseudo_counts(total[0], self.scorer.alpha, self.scorer.prior)


@dataclass(frozen=True)
class PrunedContexts(ContextProblem):
    """Contexts, each of which costs the parameters of its distribution."""

    @property
    def penalty(self) -> float:
        r"""What a context must gain: :math:`\gamma (|X| - 1) \log(N) / 2`."""
        return self.scorer.gamma * (self.target.n_outcomes - 1) * half_log(self.n_events)

    def gains(self, table: StateCounts) -> FloatArray:
        r"""The largest log-likelihood of each context's histories, less that of its parent's distribution.

        .. math:: \sum_x N(x;s) \left( \log\frac{N(x;s)}{N(s)} - \log\frac{N(x;p)}{N(p)} \right)
        """
        _, n, _ = self._numbers(table)
        ones = np.ones(n.shape[1])  # a product with it is faster than a sum over so short an axis
        share = n / np.maximum(n @ ones, 1e-300)[:, None]
        log_share = np.log(np.where(n > 0, share, 1.0))
        gain = (n * (log_share - log_share[tree_of(table.keys).parent])) @ ones
        gain[0] = 0.0
        return np.asarray(np.maximum(gain, 0.0))

    def score(self, table: StateCounts, influencers: object = ()) -> float:
        """BIC: the log-likelihood at the estimates, less the penalty of every context."""
        own, total, pseudo = self._numbers(table)
        return float((own * np.log(probabilities(total, pseudo))).sum()) - len(own) * self.penalty


@dataclass(frozen=True)
class WeightedContexts(ContextProblem):
    """Contexts, all of whose prunings are averaged; ``split`` is the prior probability that one is split."""

    split: float = 0.5

    def influencers_of(self, table: StateCounts) -> tuple[int, ...]:
        """All labels, as in a chain, unless there is nothing to tell apart."""
        return self.optional if table.keys.shape[1] and self.target.n_outcomes > 1 else ()

    def score(self, table: StateCounts, influencers: object = ()) -> float:
        """The log of the weighted probability of the data."""
        return float(weigh(tree_of(table.keys), *self._numbers(table), self.split)[0][0])


def weigh(
    tree: Tree, own: FloatArray, total: FloatArray, pseudo: FloatArray, split: float
) -> tuple[FloatArray, FloatArray]:
    """Average over all prunings, see :meth:`Tree.weigh`, from counts of contexts alone and in all."""
    apart = np.zeros(len(own))  # what ends at a context that has longer ones: before unknown labels only
    some = np.flatnonzero(tree.is_inner & own.any(axis=1))
    apart[some] = log_evidence(own[some], pseudo)
    return tree.weigh(log_evidence(total, pseudo), apart, split)


def prune_contexts(problem: PrunedContexts) -> Search:
    """Grow the tree of all contexts that were seen, and prune it from its leaves.

    A context is kept if the log-likelihood that it gains over the next shorter one, and its kept descendants
    over theirs, is at least the penalty of all of them. So the kept contexts are those with the largest
    penalised likelihood, and their labels are the influencers. A target that is always the same has none.
    """
    every = every_context((yield from problem.states(())))
    kept = tree_of(every.keys).prune(problem.gains(every) - problem.penalty)
    if problem.target.n_outcomes == 1:
        kept[1:] = False
    table = merge_contexts(every, kept)
    influencers = problem.influencers_of(table)
    return SearchResult(problem.summary, influencers, problem.score(table), table, ())


def weigh_contexts(problem: WeightedContexts) -> Search:
    """Take the tree of all contexts that were seen."""
    table = every_context((yield from problem.states(())))
    return SearchResult(problem.summary, problem.influencers_of(table), problem.score(table), table, ())


def merge_contexts(table: StateCounts, kept: BoolArray) -> StateCounts:
    """Add the counts of contexts that are not kept to those of the longest kept one that they end with."""
    tree, counts = tree_of(table.keys), table.counts.copy()
    for nodes in tree.levels[:0:-1]:
        gone = nodes[~kept[nodes]]
        np.add.at(counts, tree.parent[gone], counts[gone])
    return StateCounts(table.keys[kept], counts[kept])
