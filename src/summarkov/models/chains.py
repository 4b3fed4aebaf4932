"""Chains, which look at the last labels: always at k of them, or at as many as each context is worth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from summarkov.engines import EventSource, StateCounts, StatesRequest, Target
from summarkov.engines.followings import Followed
from summarkov.models.fitted import Fitted
from summarkov.models.model import SummaryModel
from summarkov.search import Problem, Search
from summarkov.search.criteria import Scorer, probabilities
from summarkov.search.trees import ContextProblem, Tree, find_contexts, tree_of
from summarkov.summaries import ChainSummary, ContextSummary, Summary
from summarkov.summaries.contexts import longest
from summarkov.typing import FloatArray, IntArray, KeyArray


@dataclass(frozen=True)
class FittedContexts(Fitted):
    """Counts of contexts, each together with all shorter ones that it ends with.

    The state of a history is the longest of them that it ends with; ``table`` counts that. The estimate of a
    context rests on all histories that end with it, those of longer contexts included.
    """

    @cached_property
    def tree(self) -> Tree:
        """The contexts as a tree: the parent of one is the next shorter."""
        return tree_of(self.table.keys)

    @cached_property
    def observed(self) -> IntArray:
        """N(x; s) of all histories that end with a context, in units of ``1 / scale``."""
        return self.tree.totals(self.table.counts)

    @cached_property
    def theta(self) -> FloatArray:
        """The estimate of each context; one more row, which holds for none."""
        plain = probabilities(self.observed / self.scale, self.pseudo)
        return np.concatenate([plain, (self.pseudo / self.pseudo.sum())[None]])

    @property
    def request(self) -> StatesRequest:
        """Contexts of full length; all targets can share them."""
        return StatesRequest(self.summary, (), self.target)

    def rows(self, keys: KeyArray) -> IntArray:
        """The row of the longest context that each key ends with."""
        return longest(self.table.keys, keys)

    def plus(self, table: StateCounts, source: EventSource, followed: Followed | None) -> Fitted:
        """Add the counts of further data; the contexts stay."""
        counts = np.zeros_like(self.table.counts)
        np.add.at(counts, self.rows(table.keys), table.counts)
        return super().plus(StateCounts(self.table.keys, counts), source, followed)


@dataclass(eq=False, repr=False)
class MarkovChain(SummaryModel):
    """Markov chain of order k: the summary is the last k labels themselves (Remark 3 of the paper).

    Contexts cut short by the start of a sequence are contexts of their own. Nothing is searched for.

    Parameters
    ----------
    order : int
        k, how many of the last labels to look at.

    Attributes
    ----------
    influences_, patterns_, trace_
        Empty: nothing is searched for.

    Examples
    --------
    >>> chain = MarkovChain("B", order=1).fit([["A", "B", "A", "B"]] * 5)
    >>> [(row.words, row.n) for row in chain.table_]
    [('start', 5.0), ('A', 10.0), ('B', 10.0)]
    """

    command_name: ClassVar[str | None] = "chain"

    _: KW_ONLY
    order: int = 1

    def make_summary(self) -> Summary:
        return ChainSummary(self.order)

    @property
    def influencers_(self) -> tuple[str, ...]:
        """All labels: a chain looks at whatever came just before."""
        return self.labels_ if self.fitted.summary.horizon else ()


@dataclass(eq=False, repr=False)
class VariableOrderChain(SummaryModel):
    r"""Markov chain of variable order: as many of the last labels as they are worth (Remark 3 of the paper).

    The contexts of all lengths up to ``max_order`` that occur, most recent label first, make a tree; the
    start of a sequence is a symbol of its own, at which contexts end. It is pruned from its leaves: a context
    s is kept if the largest log-likelihood that it gains over the next shorter one p,

    .. math:: \sum_x N(x;s) \left( \log\frac{N(x;s)}{N(s)} - \log\frac{N(x;p)}{N(p)} \right),

    and that its kept descendants gain over theirs, is at least :math:`\gamma (|X| - 1) \log(N) / 2` for each
    of them. The state of a history is the longest kept context that it ends with. A context's estimate rests
    on all histories that end with it, so one that leaves the tree early is not left with the prior.
    ``influencers_`` are the labels in the kept contexts; ``score_`` is BIC at the estimates, with a parameter
    set for every kept context; ``partial_fit`` adds counts and keeps the contexts.

    Parameters
    ----------
    max_order : int
        The most labels to look back.
    gamma : float
        Weight of the penalty; larger means shorter contexts. 0 keeps every context that was seen, which is a
        chain of order ``max_order``; very large, and no label matters.

    Attributes
    ----------
    influences_, patterns_
        Empty: contexts are no sets of labels.

    Examples
    --------
    >>> events = [["A", "B", "C", "D"], ["D", "B", "D", "D"]] * 20
    >>> chain = VariableOrderChain("C", max_order=3).fit(events)
    >>> [(row.words, row.n, round(row.probabilities[0], 2)) for row in chain.table_ if "B" in row.state]
    [('B', 40.0, 0.5), ('A B', 20.0, 1.0), ('D B', 20.0, 0.0)]

    References: Rissanen, "A universal data compression system", IEEE Transactions on Information Theory 29
    (1983); Bühlmann, Wyner, "Variable length Markov chains", Annals of Statistics 27 (1999). They prune where
    the gain of a context alone is too small; here its descendants can make up for it, so that the kept
    contexts have the largest penalised likelihood of all prunings.
    """

    command_name: ClassVar[str | None] = "vom"
    fitted_type: ClassVar[type[Fitted]] = FittedContexts

    _: KW_ONLY
    max_order: int = 4
    gamma: float = 1.0

    def make_summary(self) -> Summary:
        return ContextSummary(self.max_order)

    def make_problem(
        self, labels: Sequence[str], target: Target, summary: Summary, n_events: float, scale: int
    ) -> Problem:
        scorer = Scorer(alpha=self.alpha, gamma=self.gamma, prior=self.prior)
        everyone = tuple(range(len(labels)))
        return ContextProblem(summary, target, scorer, labels, n_events, scale, (), everyone)

    def make_search(self, problem: Problem) -> Search:
        return find_contexts
