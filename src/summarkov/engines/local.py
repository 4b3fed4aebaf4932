"""Events in memory, cut into shards, a thread each."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from summarkov import kernels
from summarkov.engines.counts import Counts, total
from summarkov.engines.past import even_cuts, joint_memory, pieces
from summarkov.engines.pools import pool_of, threads
from summarkov.engines.replicated import ReplicatedSource
from summarkov.engines.requests import CandidatesRequest, RecencyRequest, Request, join
from summarkov.engines.shard import Shard
from summarkov.engines.weights import Draws, fixed_point, refuse_overflow, units_of
from summarkov.events import EventSequences
from summarkov.typing import IntArray

#: Events a shard: bounds what the kernels need beside the data itself, which is more in NumPy.
SHARD_EVENTS = 1 << (22 if kernels.backend() == "native" else 20)
#: Requests whose parts are in memory at once.
AT_ONCE = 32
#: Bytes that the tables of one request may take.
TABLE_BYTES = 1 << 30


class LocalSource:
    """A ``CountSource`` over events in memory.

    The result does not depend on ``n_jobs``, the number of threads (None: one; -1: one a core), nor on
    where the data is cut.
    """

    def __init__(
        self, events: EventSequences, *, sample_weight: Any = None, n_jobs: int | None = None
    ) -> None:
        self.events = events
        self.n_jobs = threads(n_jobs)
        self.weights, self.scale = fixed_point(sample_weight, len(events))
        if self.weights is not None:
            refuse_overflow(float(self.weights.astype(float) @ events.lengths), self.scale)
        self._shards: tuple[tuple[int, int | None], list[Shard]] | None = None

    @property
    def labels(self) -> tuple[str, ...]:
        return self.events.labels

    @property
    def n_sequences(self) -> int:
        return len(self.events)

    @cached_property
    def label_counts(self) -> IntArray:
        if self.weights is None:
            return self.events.label_counts
        counts = np.zeros(len(self.labels) + 1, np.int64)
        np.add.at(counts, self.events.codes, np.repeat(self.weights, self.events.lengths))
        return counts[:-1]

    def count(self, requests: Sequence[Request]) -> list[Counts]:
        """Answer all requests in one pass over the data."""
        if not requests:
            return []
        joint, answered_by = join(requests, most_targets(requests, TABLE_BYTES))
        shards = self.shards(joint)
        with pool_of(self.n_jobs) as pool:
            totals: list[Counts] = []
            for some in range(0, len(joint), AT_ONCE):
                batch = joint[some : some + AT_ONCE]
                pairs = [(request, shard) for request in batch for shard in shards]
                parts = list(pool.map(lambda pair: pair[1].count(pair[0]), pairs))
                totals += [total(parts[i : i + len(shards)]) for i in range(0, len(parts), len(shards))]
        return [
            totals[at].narrow(joint[at].target, request.target)
            for request, at in zip(requests, answered_by, strict=True)
        ]

    def shards(self, requests: Sequence[Request]) -> list[Shard]:
        """Cut the data evenly, inside sequences too."""
        memory = joint_memory({id(request.summary): request.summary for request in requests}.values())
        if self._shards is None or self._shards[0] != memory:  # what kernels look up is worth keeping
            n = self.events.n_events
            each = max(
                1, -(-n // (SHARD_EVENTS * self.n_jobs))
            )  # as many a thread, so that none is waited for
            cuts = even_cuts(n, each * self.n_jobs)
            shards = [
                Shard(
                    piece.index,
                    self.labels,
                    None if self.weights is None else self.weights[piece.first : piece.last],
                )
                for piece in pieces(self.events, cuts, memory)
            ]
            self._shards = memory, shards
        return self._shards[1]

    def replicated(self, draws: Draws, blocks: Any = None) -> ReplicatedSource:
        """The same events under each of many weights of their sequences, or of blocks of them."""
        units, lengths = units_of(self.events, blocks), self.events.lengths
        unit, held = units.of, np.zeros(units.n, bool)  # only units with something to count are drawn
        held[unit if self.weights is None else unit[np.repeat(self.weights, lengths) > 0]] = True
        n_held = int(held.sum())
        weights = np.zeros((units.n, draws.n), np.int64)
        for replicate in range(draws.n):
            weights[held, replicate] = draws.weights(replicate, n_held)
        if self.weights is not None:
            sequence = np.repeat(np.arange(len(self.events)), lengths)
            both, unit = np.unique(sequence * units.n + unit, return_inverse=True)
            weights = weights[both % units.n] * self.weights[both // units.n, None]
        source = ReplicatedSource(self.events, unit, weights, self.scale, self.n_jobs)
        source.units, source.n_units = units.kind, n_held
        return source


def most_targets(requests: Sequence[Request], table_bytes: int) -> int:
    """How many labels may share one table of candidates."""
    cells = [2 * len(r.candidates) for r in requests if isinstance(r, CandidatesRequest)]
    cells += [r.cells for r in requests if isinstance(r, RecencyRequest)]
    return max(1, (table_bytes >> 2) // (8 * max([*cells, 2])))
