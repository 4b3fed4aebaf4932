"""Chains, which look at the last labels, and decision trees over tests of the history."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import KW_ONLY, dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Literal, Self

import numpy as np

from summarkov.engines import StatesRequest
from summarkov.errors import SettingError
from summarkov.evidence import Contrast
from summarkov.evidence.edges import Totals, contrast_in_tree
from summarkov.kernels import OCCURS
from summarkov.models.fitted import Fitted
from summarkov.models.model import SummaryModel
from summarkov.models.parameters import tested_codes
from summarkov.search import Problem, Search, Trace
from summarkov.search.criteria import Scorer
from summarkov.search.trees import (
    ContextProblem,
    Tree,
    TreeProblem,
    find_contexts,
    grow_trees,
    node_counts,
    result_of,
    shrunken,
    tree_of,
)
from summarkov.settings import check_whole
from summarkov.summaries import ChainSummary, ContextSummary, HistoryTests, Reach, Summary, TreeSummary
from summarkov.summaries.contexts import longest
from summarkov.typing import BoolArray, FloatArray, IntArray, KeyArray


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

    @property
    def request(self) -> StatesRequest:
        """Contexts of full length; all targets can share them."""
        return StatesRequest(self.summary, (), self.target)

    def rows(self, keys: KeyArray) -> IntArray:
        """The row of the longest context that each key ends with."""
        return longest(self.table.keys, keys)


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
    influences_, trace_
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
    set for every kept context.

    Parameters
    ----------
    max_order : int
        The most labels to look back.
    gamma : float
        Weight of the penalty; larger means shorter contexts. 0 keeps every context that was seen, which is a
        chain of order ``max_order``; very large, and no label matters.

    Attributes
    ----------
    influences_
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

    def make_problem(self, problem: Problem) -> Problem:
        scorer = Scorer(alpha=self.alpha, gamma=self.gamma, prior=self.prior)
        everyone = tuple(range(len(problem.labels)))
        return ContextProblem(**vars(problem) | {"scorer": scorer, "optional": everyone})

    def make_search(self, problem: Problem) -> Search:
        return find_contexts


#: With more labels than this, their order is looked at only if asked for.
MOST_IN_PAIRS = 25


@dataclass(frozen=True)
class FittedTestTree(Fitted):
    """Counts at the leaves of a tree of tests; those of inner nodes are their sums."""

    @property
    def rules(self) -> TreeSummary:
        """The tree that was learned."""
        assert isinstance(self.summary, TreeSummary)
        return self.summary

    def reach(self, label: str) -> Reach:
        """As far back as the tests of the tree that was learned look for a label."""
        code = self.labels.index(label)
        tests = [test for test in self.rules.nodes if test is not None and code in test.labels]
        ends = [test.within if test.kind == OCCURS else None for test in tests]
        return Reach(0, None if None in ends else max((k for k in ends if k is not None), default=0))

    def met(self, label: str) -> BoolArray:
        """For each leaf, whether a test on the way says that a label occurred, or is the more recent one."""
        code = self.labels.index(label)
        about = [
            [
                answer == (test.labels[0] == code)
                for test, answer in self.rules.path(row)
                if code in test.labels
            ]
            for row in self.rules.leaves.tolist()
        ]
        return np.array([any(answers) for answers in about])

    @cached_property
    def nodes(self) -> tuple[FloatArray, FloatArray]:
        """Counts and estimates of all nodes, depth first; estimates are shrunk towards those of parents."""
        counts = np.asarray(node_counts(self.rules, self.table.counts) / self.scale)
        return counts, shrunken(Tree(self.rules.parent), counts, self.pseudo)

    @cached_property
    def theta(self) -> FloatArray:
        """The estimate of each leaf; one more row, of the prior."""
        return np.concatenate([self.nodes[1][self.rules.leaves], (self.pseudo / self.pseudo.sum())[None]])

    def rows(self, keys: KeyArray) -> IntArray:
        """The row of ``theta`` for each key: every leaf is there."""
        return keys[:, 0].astype(np.int64)

    def contrasts(self) -> Iterator[tuple[int, int, Contrast]]:
        """Column, outcome and contrast of each influencer: see :func:`contrast_in_tree`."""
        for column, z in enumerate(self.influencers):
            for outcome in range(len(self.target.codes)):
                found = contrast_in_tree(self.rules, self.nodes[0], z, outcome)
                if self.moments is not None:
                    found = replace(found, totals=Totals(*self.moments[column, outcome].tolist()))
                yield column, outcome, found


@dataclass(eq=False, repr=False)
class TreeSuMM(SummaryModel):
    r"""Tree summary Markov model: a decision tree over tests of the history, whose leaves are the states.

    The tests are "Z occurred within k positions", "Z occurred at least c times within k positions", "Z
    occurred more recently than Y" and "fewer than k positions since the start" (a position is an event, or a
    tick where events happen together). So look-backs are learned, for every label and branch, and branches
    share the parameters of what they do not ask about.

    Grown from the root: each leaf is split by the test that gains most log-likelihood. Pruned from the
    leaves: a split stays if its gain and that of the splits kept below it exceed the penalty of each,

    .. math:: \gamma \left( (|X| - 1) \frac{\log N}{2} + \log T \right)

    with T the number of tests to choose from. The estimate of a node is shrunk towards that of its parent,

    .. math:: \theta_{x|s} = \frac{N(x;s) + w\,\theta_{x|\text{parent}}}{N(s) + w}, \quad w = \alpha |X|

    and that of the root towards the prior.

    ``influencers_`` are the labels that are tested. ``score_`` is the log-likelihood at the estimates less
    the penalties of the splits and of the root's parameters. ``trace_`` has the splits in depth-first order.

    Parameters
    ----------
    lookbacks : numbers
        How far back to look for a label, ascending; None, which comes last, is the whole past.
    counts : numbers
        The c, from 2 on, of "at least c times"; empty to ask for none.
    pairs : {"auto", True, False}
        Whether to ask which of two labels is more recent; "auto": with at most 25 candidates.
    starts : numbers
        The k of "fewer than k positions since the start"; empty to ask for none.
    max_depth : int
        The most tests on the way to a leaf.
    alpha : float
        The weight, for each outcome, with which an estimate is drawn towards that of its parent.
    prior : {"uniform", "base-rate"}
        What the root's estimate is drawn towards: even odds, or the target's base rate.
    gamma : float
        Weight of the penalty for splits; larger means smaller trees.
    forbidden, candidates : labels
        Labels that may not be tested, and the only ones that may.

    Examples
    --------
    >>> events = [["A", "B", "C", "D", "A", "D", "C", "B"], ["D", "C", "A", "C", "D", "B"]] * 20
    >>> model = TreeSuMM("B").fit(events)
    >>> for row in model.table_:
    ...     print(f"{row.words}: {row.probabilities[0]:.2f} (n={row.n:g})")
    A within 2 positions and no B since, C within 5 positions: 0.02 (n=80)
    A within 2 positions and no B since, no C within 5 positions: 0.74 (n=20)
    A but not within 2 positions and no B since: 0.88 (n=40)
    no A since B or the start: 0.01 (n=180)

    References: the summary is a member of the family of Bhattacharjya et al. (2022), Definition 2; growing
    and pruning as Breiman, Friedman, Olshen, Stone, "Classification and Regression Trees" (1984), with a
    penalty that is set, not cross-validated.
    """

    command_name: ClassVar[str | None] = "tree"
    has_edges: ClassVar[bool] = True
    fitted_type: ClassVar[type[Fitted]] = FittedTestTree

    _: KW_ONLY
    lookbacks: Iterable[int | None] = (1, 2, 3, 5, 10, 20, None)
    counts: Iterable[int] = (2, 3)
    pairs: bool | str = "auto"
    starts: Iterable[int] = (1, 2, 3, 5, 10)
    max_depth: int = 12
    alpha: float = 5.0
    prior: Literal["uniform", "base-rate"] = "base-rate"
    gamma: float = 1.0
    forbidden: Iterable[str] = ()
    candidates: Iterable[str] | None = None

    def make_summary(self) -> Summary:
        if not isinstance(self.pairs, bool | np.bool_) and self.pairs != "auto":
            raise SettingError(f"pairs must be 'auto', True or False, not {self.pairs!r}")
        numbers = {}
        for name in ("lookbacks", "counts", "starts"):
            given = getattr(self, name)
            if isinstance(given, str | Iterator) or not isinstance(given, Iterable):
                raise SettingError(f"{name} must be a list of numbers, not {given!r}")
            numbers[name] = tuple(given)
        return TreeSummary((None,), HistoryTests(**numbers, pairs=bool(self.pairs)))

    def make_problem(self, problem: Problem) -> TreeProblem:
        tree = problem.summary
        assert isinstance(tree, TreeSummary)
        tested = tested_codes(problem.labels, self.candidates, self.forbidden, problem.target)
        if self.pairs == "auto":
            tree = replace(tree, tests=replace(tree.tests, pairs=len(tested) <= MOST_IN_PAIRS))
        own = {
            "summary": tree,
            "scorer": Scorer("bic", self.alpha, self.gamma, prior=self.prior),
            "optional": tested,
            "max_depth": check_whole("max_depth", self.max_depth, 0, 50),
        }
        return TreeProblem(**vars(problem) | own)

    def make_search(self, problem: Problem) -> Search:
        return grow_trees

    @property
    def trace_(self) -> Trace:
        """The splits in depth-first order: what each adds to the score of the tree without it."""
        fitted = self.fitted
        return Trace(self.copy(**fitted.settings)._problem(fitted).steps(fitted.table))

    def _problem(self, fitted: Fitted) -> TreeProblem:
        """The search with the tree that was learned."""
        counted = Scorer(), fitted.labels, fitted.n_events, fitted.scale, (), ()
        problem = Problem(fitted.summary, fitted.target, *counted, n_targets=fitted.n_targets)
        return self.make_problem(problem)

    def with_settings(self, **settings: Any) -> Self:
        """The model that a fit with other settings would give, without the data.

        ``alpha`` and ``prior`` read the same tree in another way; ``gamma`` prunes it
        further, so it may only grow. Nothing else can be changed without the data.

        >>> model = TreeSuMM("B", gamma=0.5).fit([["A", "B", "C"] * 5, ["B", "C", "A"] * 4] * 5)
        >>> model.with_settings(gamma=100.0).influencers_
        ()
        """
        fitted = self.fitted
        new = self.copy(**{**fitted.settings, **settings})
        if other := set(settings) - {"alpha", "prior", "gamma"}:
            raise SettingError(f"{min(other)} cannot be changed without the data; fit anew")
        if new.gamma < fitted.settings["gamma"]:
            raise SettingError(
                f"gamma can only grow, from {fitted.settings['gamma']:g} on, without the data; fit anew"
            )
        problem = new._problem(fitted)
        result = result_of(problem, fitted.table.counts)
        kept = ["n_sequences", "label_counts"]
        if len(result.table.keys) == len(fitted.table.keys):  # not pruned
            kept += ["followed", "moments", "clusters"]
        counted = {name: getattr(fitted, name) for name in kept}
        new._fitted = fitted.of(problem, result, new.get_params(deep=False), fitted.layout, **counted)
        return new
