"""A source under many weights at once: the resamples of a bootstrap."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, partial

import numpy as np

from summarkov.engines.counts import Counts, JointCounts, Request, join, refuse_overflow
from summarkov.engines.source import Counting, EventSource, Shard, most_targets
from summarkov.events.draws import Bootstrap, Drawn
from summarkov.typing import HashArray, IntArray

#: Bytes that the tables of one request may take under all weights together.
_TABLE_BYTES = 1 << 29


class ReplicatedSource(Counting):
    """Answers requests for many replicates of a source at once, each a weight for every sequence.

    Counts have the replicates asked for as their first axis. Sequences are drawn by their ``keys``.
    """

    def __init__(self, source: EventSource, draws: Bootstrap, keys: HashArray) -> None:
        self._source, self._drawn = source, tuple(draws.drawn(number, keys) for number in range(draws.n))
        self.n_sequences, self.labels, self.scale = len(keys), source.labels, source.scale
        self.has_ticks, self.time_unit = source.has_ticks, source.time_unit
        self.attributes, self.outcomes = source.attributes, source.outcomes

    @cached_property
    def label_counts(self) -> IntArray:
        """N(x) of every label, ``[replicate, x]``, in units of ``1 / scale``."""
        return self.count_outcomes(range(len(self.labels)))

    @cached_property
    def n_positions(self) -> IntArray:
        """N of each replicate, in units of ``1 / scale``."""
        outcomes = np.searchsorted(self.labels, self.outcomes).tolist()
        return np.asarray(self.count_outcomes(outcomes, only=bool(self.outcomes)).sum(axis=1))

    def count(self, requests: Sequence[Request]) -> list[Counts]:
        """Answer all requests, each for its replicates, in one pass over the data."""
        if not requests:
            return []
        n = len(self._drawn)
        joint, answered_by = join(requests, most_targets(requests, _TABLE_BYTES // n))
        counted = self._source.map(partial(count_replicates, self._drawn, self.scale), joint)
        asked = [np.arange(n) if each.replicates is None else np.array(each.replicates) for each in joint]
        targets = [each.target for each in joint]
        totals = [JointCounts(*each) for each in zip(counted, targets, asked, strict=True)]
        return [
            totals[at].narrow(request.target, request.replicates)
            for request, at in zip(requests, answered_by, strict=True)
        ]


def count_replicates(
    drawn: Sequence[Drawn], scale: int, shard: Shard, requests: Sequence[Request]
) -> list[Counts]:
    """Counts with replicates as their last axis: those of a shard under one weighting after the other.

    A sequence that was not drawn still shows which states there are, so they are the same in all replicates.
    """
    found: list[list[Counts]] = [[] for _ in requests]
    lengths = np.diff(shard.offsets).astype(float)
    for number, each in enumerate(drawn):
        asked = [at for at, r in enumerate(requests) if r.replicates is None or number in r.replicates]
        if not asked:
            continue
        weights = each.weights(shard.keys)
        if shard.weights is not None:
            refuse_overflow(float(weights.astype(float) * shard.weights @ lengths), scale)
            weights = weights * shard.weights
        weighed = shard.weighed(weights)
        for at in asked:
            found[at].append(weighed.count(requests[at]))
    return [
        some[0].with_tables(
            np.stack(same, axis=-1) for same in zip(*(one.tables for one in some), strict=True)
        )
        for some in found
    ]
