"""Exact search: branch and bound over all sets of influencers."""

from __future__ import annotations

import heapq
import itertools
import math
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from summarkov.engines import CandidateCounts, CandidatesRequest, Request, StateCounts, StatesRequest
from summarkov.engines.counts import Counts
from summarkov.errors import SettingError, TooLargeError
from summarkov.kernels import Window, group
from summarkov.search.greedy import greedy, joined
from summarkov.search.problem import (
    Ask,
    Certificate,
    Codes,
    Done,
    Problem,
    SearchResult,
    ask_states,
    improves,
)
from summarkov.search.trees import likeliest
from summarkov.summaries import WindowSummary
from summarkov.typing import FloatArray, IntArray

#: Cells that the states of all candidates together may take.
_MOST_CELLS = 2**28


def exact(problems: Sequence[Problem], ask: Ask, done: Done) -> list[SearchResult]:
    r"""Find the best of all sets of influencers, and prove that it is.

    Ties (1e-9, relative) go to the smaller set, then to the first in sorted order. After
    ``problem.max_sets`` scored sets the search stops; the certificate then says what is still open, and how
    much better than the best so far any of that could be.

    *The data in one table.* The state of a history over all candidates together tells its state over every
    subset U of them: presence and capped counts are looked up label by label, and an order over all
    candidates is an order over U once the others are left out. So one pass, which counts the states of all
    candidates, is enough, and the partition of the positions by the states of V refines that by the states
    of U wherever U is a subset of V.

    *The bound.* Let :math:`H(U)` be the log-likelihood at the maximum-likelihood estimates,
    :math:`\sum_{x,s} N(x;s) \log (N(x;s) / N(s))`. The likelihood at any other estimates is smaller, those
    with a prior included, and the marginal likelihood is a mean of likelihoods. Splitting states never makes
    H smaller, because each part may keep the estimates of the whole. Hence for all sets U that hold I and
    nothing but I and R, at least one label of R included, with p the least penalty of any of these sets,

    .. math:: \mathrm{score}(U) \le H(I \cup R) - p

    and where that is below the best score so far, none of them needs to be looked at. The penalty of a BIC
    or AIC grows with the number of states, that of the extended BIC need not (the number of sets of one size
    falls again beyond half of the labels), so the least over all sizes that can still be reached is
    taken. The marginal likelihood has no penalty of its own, nor has gamma = 0.

    *The bound of chance.* With ``false_edges`` the penalty is at least what noise gains, g(U). For the
    marginal likelihood K it takes the place of the penalty: a score is at most
    :math:`K(\varnothing) - LL(\varnothing) + LL(U) - g(U)`, and :math:`K \le LL`, because
    :math:`K = E[\log L] - \mathrm{KL}` over the posterior of the parameters, KL being its divergence from the
    prior, and :math:`E[\log \theta] \le \log E[\theta]`.

    The sets are looked at by their bounds, the most promising first, beginning with what greedy search
    finds; at each set the labels that add least to it are left to the last, which makes their bounds small.
    """
    everyone = [_candidates(problem) for problem in problems]
    found = []
    for problem, table in zip(problems, ask_states(problems, ask, everyone), strict=True):
        found.append(_best_of_all(problem, table))
        done(1)
    return found


def _candidates(problem: Problem) -> Codes:
    """All labels that may be influencers; too many of them are refused."""
    everyone = problem.required
    if problem.room > 0:
        everyone = tuple(sorted((*problem.required, *problem.optional)))
    if len(everyone) * min(problem.n_events, problem.n_states(everyone)) > _MOST_CELLS:
        raise TooLargeError(
            f"the states of {len(everyone)} candidates together may be too many for search='exact'; give "
            "fewer candidates=, or use search='greedy'"
        )
    return everyone


def check_exact(problem: Problem) -> None:
    """Refuse a summary for which there is no exact search."""
    if not isinstance(problem.summary, WindowSummary):
        raise SettingError(
            "search='exact' needs a summary whose states over all labels tell those over some of them, which "
            "cannot be known of a summary of your own; use search='greedy'"
        )


class JointTable:
    """N(x; s) over the states of all candidates together; answers every request about some of them.

    A state of all candidates says which state the history is in for each subset of them (see
    ``WindowSummary.restricted``), so that the data need not be passed over again.
    """

    def __init__(self, summary: WindowSummary, candidates: Codes, table: StateCounts, scale: int) -> None:
        self.summary, self.table, self.scale = summary, table, scale
        self._column = {code: column for column, code in enumerate(candidates)}
        self._states_with = [np.flatnonzero(levels) for levels in table.keys.T]  # of each candidate

    def count(self, requests: Sequence[Request]) -> list[Counts]:
        """Answer requests as the data would."""
        return [
            self.with_each(request.influencers, request.candidates)
            if isinstance(request, CandidatesRequest)
            else self.states(request.influencers)
            for request in requests
            if isinstance(request, StatesRequest | CandidatesRequest)  # all that ask about windows
        ]

    def states(self, influencers: Codes) -> StateCounts:
        columns = [self._column[z] for z in influencers]
        return self.table.regroup(self.summary.restricted(self.table.keys, columns))

    def with_each(self, influencers: Codes, candidates: Codes) -> CandidateCounts:
        """The counts once each of some candidates joins the influencers."""
        columns, joining = ([self._column[z] for z in codes] for codes in (influencers, candidates))
        keys = self.table.keys
        rows = self.summary.restricted(keys, columns)
        ids, first = group(rows)
        n, x = len(first), self.table.counts.shape[1]
        deep = Window(self.summary.kind, ids, self.summary.delay, self.summary.cap).n_levels(len(columns)) - 1
        states = [self._states_with[column] for column in joining]
        number = np.repeat(np.arange(len(joining)), [len(some) for some in states])
        state = np.concatenate([ids[:0], *states])
        levels = (self.summary.level(keys, columns, z)[self._states_with[z]] for z in joining)
        level = np.concatenate([ids[:0], *levels])
        cells = (number * n + ids[state]) * deep + level - 1
        present = _add_rows(cells, state, self.table.counts, len(joining) * n * deep)
        counts = _add_rows(ids, np.arange(len(ids)), self.table.counts, n)
        return CandidateCounts(rows[first], counts, present.reshape(len(joining), n, deep, x))

    def likelihoods(self, influencers: Codes, rest: Codes) -> FloatArray:
        """The largest log-likelihood with the influencers and all of ``rest[i:]``, for every i.

        .. math:: \\sum_{x,s} N(x;s) \\log (N(x;s) / N(s))

        The labels join from the last on. Each splits only the states of the histories that it is in, and
        those are few where a look-back is short.
        """
        keys, each_state = self.table.keys, self.table.counts
        columns, joining = ([self._column[z] for z in codes] for codes in (influencers, rest))
        ids, first = group(self.summary.restricted(keys, columns))
        n = len(first)
        counts = np.zeros((n + sum(len(self._states_with[z]) for z in joining), each_state.shape[1]))
        counts[:n] = _add_rows(ids, np.arange(len(ids)), each_state, n)
        fit = likeliest(counts)
        found = np.full(len(rest) + 1, fit.sum())
        for i in range(len(rest) - 1, -1, -1):
            state = self._states_with[joining[i]]
            level = self.summary.level(keys, columns, joining[i])[state]
            deep = int(level.max(initial=0)) + 1
            split, part = np.unique(ids[state] * deep + level, return_inverse=True)
            whole, new = split // deep, slice(n, n + len(split))
            ids[state] = n + part
            counts[new] = _add_rows(part, state, each_state, len(split))
            np.subtract.at(counts, whole, counts[new])
            fit[whole], fit[new] = likeliest(counts[whole]), likeliest(counts[new])
            n += len(split)
            columns.append(joining[i])
            found[i] = fit.sum()
        return found / self.scale


def _add_rows(cells: IntArray, rows: IntArray, counts: IntArray, n_cells: int) -> IntArray:
    """Sums ``[cell, x]`` of ``counts[row, x]`` over pairs of a cell and a row."""
    sums = np.zeros((counts.shape[1], n_cells), np.int64)
    for total, each in zip(sums, counts.T, strict=True):  # much faster than all columns at once
        np.add.at(total, cells, each[rows])
    return np.ascontiguousarray(sums.T)


class Front:
    """The sets that tie with the best so far, each as ``(size, codes, score)``: ties go by that order."""

    def __init__(self) -> None:
        self.sets: list[tuple[int, Codes, float]] = []
        self.top = -math.inf

    @property
    def least(self) -> float:
        """What a set must score to tie with the best."""
        return self.top - 1e-9 * max(1.0, abs(self.top))

    def offer(self, score: float, influencers: Codes) -> None:
        """Take note of a set."""
        self.top = max(self.top, score)
        new = (len(influencers), influencers, score)
        self.sets = sorted(each for each in {*self.sets, new} if each[2] >= self.least)

    def is_hopeless(self, bound: float, size: int) -> bool:
        """Whether no set of at least this size that scores at most ``bound`` can be the answer."""
        if bound < self.top - 1e-9 * max(1.0, abs(self.top), abs(bound)):
            return True
        return any(n < size and score >= bound for n, _, score in self.sets)


class _Node(NamedTuple):
    """The sets that hold ``influencers`` and some of ``rest``, at least one; none scores above the bound."""

    minus_bound: float
    serial: int  # of equal bounds, the older first
    influencers: Codes
    rest: Codes  # the labels that may still join
    likelihood: float  # of influencers and rest together, or more


def _best_of_all(problem: Problem, table: StateCounts) -> SearchResult:
    """The best set, from the counts of the states of all candidates."""
    assert isinstance(problem.summary, WindowSummary)
    data, penalties = (
        JointTable(problem.summary, _candidates(problem), table, problem.scale),
        Penalties(problem),
    )
    (by_greedy,) = greedy([problem], data.count, lambda _: None)
    front, nodes, serial, first = Front(), list[_Node](), itertools.count(), problem.required
    limit, examined, pruned = math.inf if problem.max_sets is None else problem.max_sets, 1, 0

    def rules_out(influencers: Codes, rest: Codes, bound: float, fewest: int = 1) -> bool:
        """Whether none of the sets with at least this many of the rest can be the answer; they are pruned."""
        nonlocal pruned
        is_hopeless = front.is_hopeless(bound, len(influencers) + fewest)
        pruned += penalties.n_sets(influencers, rest, fewest) if is_hopeless else 0
        return is_hopeless

    def consider(influencers: Codes, rest: Codes, likelihood: float) -> None:
        bound = likelihood - penalties.least(influencers, rest)
        if not rules_out(influencers, rest, bound):
            heapq.heappush(nodes, _Node(-bound, next(serial), influencers, rest, likelihood))

    front.offer(by_greedy.score, by_greedy.influencers)
    front.offer(problem.score(data.states(first), first), first)
    if problem.room > 0:
        consider(first, problem.optional, float(data.likelihoods(first, problem.optional)[0]))
    while nodes and examined + len(nodes[0].rest) <= limit:
        bound, _, here, rest, likelihood = heapq.heappop(nodes)
        if rules_out(here, rest, -bound):  # by now
            continue
        scores = problem.joined_scores(data.with_each(here, rest), here, rest)
        examined += len(scores)
        for i in np.flatnonzero(scores >= front.least).tolist():
            front.offer(float(scores[i]), joined(here, rest[i]))
        rest = tuple(rest[i] for i in np.argsort(-scores, kind="stable").tolist())
        if penalties.n_sets(here, rest, 2) and not rules_out(
            here, rest, likelihood - penalties.least(here, rest, 2), 2
        ):
            likelihoods = data.likelihoods(here, rest)
            for i in range(len(rest) - 1):
                consider(joined(here, rest[i]), rest[i + 1 :], float(likelihoods[i]))
    stopped, nodes = nodes, []
    for node in stopped:
        consider(*node[2:])
    n_open, best = sum(penalties.n_sets(node.influencers, node.rest) for node in nodes), front.sets[0][1]
    found = data.states(best)
    score = problem.score(found, best)
    bound = max([score, front.top, *(-node.minus_bound for node in nodes)]) if n_open else score
    names = tuple(problem.labels[z] for z in by_greedy.influencers)
    worse = score - by_greedy.score if improves(score, by_greedy.score) else 0.0
    certificate = Certificate(examined, pruned, n_open, bound, bound - score, names, worse)
    return SearchResult(problem.summary, best, score, found, (), certificate)


class Penalties:
    """What is known of the sets that hold some influencers and some of the rest, without their counts."""

    def __init__(self, problem: Problem) -> None:
        assert isinstance(problem.summary, WindowSummary)
        self.problem, self.most = problem, len(problem.required) + max(0, problem.room)
        widths = problem.summary.widths(problem.labels)
        self.narrowest = sorted(problem.optional, key=widths.__getitem__)
        self._known: dict[tuple[int, int, float], float] = {}

    def n_sets(self, influencers: Codes, rest: Codes, fewest: int = 1) -> int:
        """How many allowed sets hold the influencers and at least ``fewest`` of the rest."""
        return n_subsets(len(rest), fewest, self.most - len(influencers))

    def least(self, influencers: Codes, rest: Codes, fewest: int = 1) -> float:
        """The least penalty of a set that holds the influencers and at least ``fewest`` of the rest."""
        smallest, largest = len(influencers) + fewest, min(self.most, len(influencers) + len(rest))
        # More labels, and wider windows where only what can be reached counts, have more states.
        left = set(rest)
        some = itertools.islice((z for z in self.narrowest if z in left), fewest)
        n_states = self.problem.n_states(sorted((*influencers, *some)))
        place = smallest, largest, n_states
        if place not in self._known:
            sizes = np.arange(smallest, largest + 1)
            nothing = np.zeros((len(sizes), 1, self.problem.target.n_outcomes))
            self._known[place] = -float(self.problem.scores(nothing, sizes, n_states).max())
        return self._known[place]


@lru_cache(maxsize=10_000)
def n_subsets(n: int, fewest: int, most: int) -> int:
    """How many subsets of n things have from ``fewest`` to ``most`` members."""
    return sum(math.comb(n, size) for size in range(fewest, min(n, most) + 1))
