"""A source under many weights at once: the resamples of a bootstrap."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property, partial

import numpy as np

from summarkov.engines.counts import (
    Counts,
    Request,
    StateCounts,
    StatesRequest,
    refuse_overflow,
    side_by_side,
)
from summarkov.engines.source import EventSource, Shard
from summarkov.events.draws import Bootstrap, Drawn
from summarkov.typing import HashArray, IntArray


class ReplicatedSource:
    """Answers requests, each for one of many replicates of a source: weights for its sequences.

    Sequences are drawn by their ``keys``.
    """

    def __init__(self, source: EventSource, draws: Bootstrap, keys: HashArray) -> None:
        self.source, self.n_sequences = source, len(keys)
        self._drawn = tuple(draws.drawn(number, keys) for number in range(draws.n))

    @cached_property
    def n_positions(self) -> IntArray:
        """N of each replicate, in units of ``1 / scale``."""
        counted = self.count([self.source.positions(b) for b in range(len(self._drawn))])
        return np.array([each.tables[0].sum() for each in counted])

    def count(self, requests: Sequence[Request]) -> list[Counts]:
        """Answer all requests in one pass over the data."""
        return self.source.count_by(partial(count_replicates, self._drawn, self.source.scale), requests)

    def in_each(self, requests: Sequence[StatesRequest]) -> list[StateCounts]:
        """The states asked for in all replicates, side by side: ``counts[b, s, x]``."""
        n = len(self._drawn)
        counted = self.count([replace(each, replicate=b) for each in requests for b in range(n)])
        return [side_by_side(counted[start : start + n]) for start in range(0, len(counted), n)]


def count_replicates(
    drawn: Sequence[Drawn], scale: int, shard: Shard, requests: Sequence[Request]
) -> list[Counts]:
    """The answers to some requests, for each replicate after the other.

    A sequence that was not drawn still shows which states there are, so they are the same in all replicates.
    """
    asked: dict[int, list[int]] = {}
    for at, each in enumerate(requests):
        assert each.replicate is not None
        asked.setdefault(each.replicate, []).append(at)
    found: dict[int, Counts] = {}
    lengths = np.diff(shard.offsets).astype(float)
    for number, places in asked.items():
        weights = drawn[number].weights(shard.keys)
        if shard.weights is not None:
            refuse_overflow(float(weights.astype(float) * shard.weights @ lengths), scale)
            weights = weights * shard.weights
        weighed = shard.weighed(weights)
        found.update((at, weighed.count(requests[at])) for at in places)
    return [found[at] for at in range(len(requests))]
