"""One piece of the data, and the counts of one request on it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from summarkov import kernels
from summarkov.engines.counts import CandidateCounts, Counts, RecencyCounts, StateCounts
from summarkov.engines.requests import CandidatesRequest, RecencyRequest, Request
from summarkov.errors import TooLargeError
from summarkov.summaries import WindowSummary
from summarkov.typing import IntArray


@dataclass(frozen=True)
class Shard:
    """Some sequences; the first may be the continuation of one that was cut, with its past."""

    index: kernels.Index
    labels: Sequence[str]
    weights: IntArray | None = None  # one a sequence

    def count(self, request: Request) -> Counts:
        """Answer one request for this piece alone."""
        if isinstance(request, RecencyRequest):
            return self._count_recency(request)
        influencers = np.array(request.influencers, np.int32)
        outcomes = (request.target.outcome_of(), request.target.n_outcomes)
        if isinstance(request, CandidatesRequest):
            candidates, window = np.array(request.candidates, np.int32), request.summary.window(self.labels)
            try:
                counted = kernels.count_candidates(
                    self.index, self.weights, influencers, candidates, *outcomes, window
                )
            except MemoryError:
                raise TooLargeError(
                    f"the states of {len(influencers)} influencers joined by each of {len(candidates)} "
                    "candidates are too many to count; set max_influencers, raise gamma, or give candidates"
                ) from None
            return CandidateCounts(*counted)
        if isinstance(request.summary, WindowSummary):
            window = request.summary.window(self.labels)
            return StateCounts(
                *kernels.count_states(self.index, self.weights, influencers, *outcomes, window)
            )
        ids, keys = request.summary.encode(self.index, request.influencers, self.labels)
        return StateCounts(keys, kernels.tabulate(self.index, self.weights, ids, len(keys), *outcomes))

    def _count_recency(self, request: RecencyRequest) -> RecencyCounts:
        tree = request.summary
        slots = np.full(len(tree.nodes), -1, np.int64)
        slots[tree.leaves[list(request.open)]] = np.arange(len(request.open))
        recency = tree.tests.recency(request.candidates)
        outcomes = (request.target.outcome_of(), request.target.n_outcomes)
        try:
            return RecencyCounts(
                *kernels.count_tests(self.index, self.weights, tree.arrays, slots, recency, *outcomes)
            )
        except MemoryError:
            raise TooLargeError(
                f"the tests of {len(request.candidates)} labels at {len(request.open)} leaves for "
                f"{request.target.n_outcomes} outcomes are too many to count; give candidates, "
                "set max_depth, raise gamma, or leave out counts or pairs"
            ) from None
