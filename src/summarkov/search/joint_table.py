"""The data collapsed to its distinct states over all candidates, from which every smaller set follows."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from summarkov import kernels
from summarkov.engines import CandidateCounts, CandidatesRequest, Request, StateCounts, StatesRequest
from summarkov.engines.counts import Counts
from summarkov.kernels import Window, group
from summarkov.search.problem import Problem
from summarkov.summaries import WindowSummary
from summarkov.typing import FloatArray, IntArray


class JointTable:
    """N(x; s) over the states of all candidates together; answers every request about some of them.

    A state of all candidates says which state the history is in for each subset of them (see
    ``WindowSummary.restricted``), so that the data need not be passed over again.
    """

    def __init__(
        self, summary: WindowSummary, candidates: tuple[int, ...], table: StateCounts, scale: int
    ) -> None:
        self.summary, self.candidates, self.table, self.scale = summary, candidates, table, scale
        self._column = {code: column for column, code in enumerate(candidates)}

    def count(self, requests: Sequence[Request]) -> list[Counts]:
        """Answer requests as the data would."""
        found: list[Counts] = []
        for request in requests:
            assert isinstance(request, StatesRequest | CandidatesRequest)  # all that ask about windows
            if isinstance(request, CandidatesRequest):
                found.append(self._with_each(request.influencers, request.candidates))
            else:
                found.append(self.states(request.influencers))
        return found

    def states(self, influencers: tuple[int, ...]) -> StateCounts:
        """The counts of one set of influencers."""
        return self.table.regroup(self.summary.restricted(self.table.keys, self._columns(influencers)))

    def scores_with(
        self, problem: Problem, influencers: tuple[int, ...], candidates: tuple[int, ...]
    ) -> FloatArray:
        """The scores once each of some candidates joins the influencers."""
        return problem.joined_scores(self._with_each(influencers, candidates), influencers, candidates)

    def _with_each(self, influencers: tuple[int, ...], candidates: tuple[int, ...]) -> CandidateCounts:
        columns, joining = self._columns(influencers), self._columns(candidates)
        rows = self.summary.restricted(self.table.keys, columns)
        ids, first = group(rows)
        n = len(first)
        deep = Window(self.summary.kind, ids, self.summary.delay, self.summary.cap).n_levels(len(columns)) - 1
        states = [self._states_with[column] for column in joining]
        number = np.repeat(np.arange(len(joining)), [len(some) for some in states])
        state, column = np.concatenate([ids[:0], *states]), np.array(joining, np.int64)[number]
        level = self.summary.level_beside(self.table.keys, columns, state, column)
        cells = (number * n + ids[state]) * deep + level - 1
        present = kernels.add_rows(cells, state, self.table.counts, len(joining) * n * deep)
        counts = self._counts(ids, n)
        return CandidateCounts(rows[first], counts, present.reshape(len(joining), n, deep, counts.shape[1]))

    def likelihoods(self, influencers: tuple[int, ...], rest: tuple[int, ...]) -> FloatArray:
        """The largest log-likelihood with the influencers and all of ``rest[i:]``, for every i.

        .. math:: \\sum_{x,s} N(x;s) \\log (N(x;s) / N(s))

        The labels join from the last on. Each splits only the states of the histories that it is in, and
        those are few where a look-back is short.
        """
        columns = self._columns(influencers)
        ids, first = group(self.summary.restricted(self.table.keys, columns))
        n = len(first)
        most = n + sum(len(self._states_with[self._column[z]]) for z in rest)
        counts = np.zeros((most, self.table.counts.shape[1]))
        counts[:n] = self._counts(ids, n)
        each = _likelihood(counts)
        found = np.empty(len(rest) + 1)
        found[-1] = each.sum()
        for i in range(len(rest) - 1, -1, -1):
            column = self._column[rest[i]]
            state = self._states_with[column]
            level = self.summary.level_beside(self.table.keys, columns, state, np.full(len(state), column))
            deep = int(level.max(initial=0)) + 1
            split, part = np.unique(ids[state] * deep + level, return_inverse=True)
            whole, moved = split // deep, kernels.add_rows(part, state, self.table.counts, len(split))
            ids[state] = n + part
            np.subtract.at(counts, whole, moved)
            counts[n : n + len(split)] = moved
            each[whole] = _likelihood(counts[whole])
            each[n : n + len(split)] = _likelihood(moved)
            n += len(split)
            columns.append(column)
            found[i] = each.sum()
        return found / self.scale

    @cached_property
    def _states_with(self) -> list[IntArray]:
        """The states in which each candidate is present."""
        return [np.flatnonzero(levels) for levels in self.table.keys.T]

    def _columns(self, codes: tuple[int, ...]) -> list[int]:
        return [self._column[code] for code in codes]

    def _counts(self, ids: IntArray, n: int) -> IntArray:
        """N(x; s) of fewer states, from the number that each state has among them."""
        counts: IntArray = kernels.add_rows(ids, np.arange(len(ids)), self.table.counts, n)
        return counts


def _likelihood(counts: IntArray | FloatArray) -> FloatArray:
    """Log-likelihood of each state's outcomes at their own shares."""
    share = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1e-300)
    return np.asarray((counts * np.log(np.where(counts > 0, share, 1.0))).sum(axis=1))
