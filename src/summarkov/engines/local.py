"""Events in memory, cut into shards, a thread each."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from summarkov import kernels
from summarkov.engines.counts import CandidateCounts, Counts, RecencyCounts, StateCounts
from summarkov.engines.past import Past, joint_memory
from summarkov.engines.requests import CandidatesRequest, RecencyRequest, Request, join
from summarkov.engines.shard import Shard
from summarkov.engines.weights import fixed_point
from summarkov.errors import SettingError
from summarkov.events import EventSequences

IntArray = npt.NDArray[np.int64]

#: Events a shard: bounds what the kernels need beside the data itself, which is more in NumPy.
SHARD_EVENTS = 1 << (22 if kernels.backend() == "native" else 20)
#: Requests whose parts are in memory at once.
_AT_ONCE = 32
#: Bytes that the tables of one request may take.
TABLE_BYTES = 1 << 30


class LocalSource:
    """A :class:`CountSource` over events in memory.

    The result does not depend on ``n_jobs``, the number of threads (None: one; -1: one a core), nor on
    where the data is cut.
    """

    def __init__(
        self, events: EventSequences, *, sample_weight: Any = None, n_jobs: int | None = None
    ) -> None:
        self.events = events
        self.n_jobs = _threads(n_jobs)
        self.weights, self.scale = fixed_point(sample_weight, len(events))
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
        joint, answered_by = join(requests, self._most_targets(requests))
        shards = self.shards(joint)
        with ThreadPoolExecutor(self.n_jobs) if self.n_jobs > 1 else _Inline() as pool:
            totals: list[Counts] = []
            for some in range(0, len(joint), _AT_ONCE):
                batch = joint[some : some + _AT_ONCE]
                pairs = [(request, shard) for request in batch for shard in shards]
                parts = list(pool.map(lambda pair: pair[1].count(pair[0]), pairs))
                totals += [_total(parts[i : i + len(shards)]) for i in range(0, len(parts), len(shards))]
        return [
            totals[at].narrow(joint[at].target, request.target)
            for request, at in zip(requests, answered_by, strict=True)
        ]

    def shards(self, requests: Sequence[Request]) -> list[Shard]:
        """Cut the data evenly, inside sequences too."""
        memory = joint_memory({id(request.summary): request.summary for request in requests}.values())
        if self._shards is None or self._shards[0] != memory:  # what kernels look up is worth keeping
            n = self.events.n_events
            pieces = max(1, self.n_jobs, -(-n // SHARD_EVENTS))
            cuts = np.unique(np.linspace(0, n, pieces + 1).astype(np.int64)).tolist()
            past, shards = Past(), []
            for start, stop in pairwise(cuts if len(cuts) > 1 else [0, n]):
                shards.append(self._shard(start, stop, past))
                begin = self.events.offsets[np.searchsorted(self.events.offsets, stop, side="right") - 1]
                if begin <= start:  # the sequence cut at `stop` was cut at `start` too, or begins there
                    past = past.extend(self.events.codes[start:stop], memory)
                else:
                    past = Past().extend(self.events.codes[begin:stop], memory)
            self._shards = memory, shards
        return self._shards[1]

    def _shard(self, start: int, stop: int, past: Past) -> Shard:
        """The events from ``start`` to ``stop``, with the past of a sequence cut at ``start``."""
        events = self.events
        first = max(0, int(np.searchsorted(events.offsets, start, side="right")) - 1)
        last = max(first, int(np.searchsorted(events.offsets, stop, side="left")))
        offsets = np.clip(events.offsets[first : last + 1], start, stop) - start
        return Shard(
            past.index(events.codes[start:stop], offsets, len(events.labels)),
            events.labels,
            None if self.weights is None else self.weights[first:last],
        )

    def _most_targets(self, requests: Sequence[Request]) -> int:
        """How many labels may share one table of candidates."""
        cells = [2 * len(r.candidates) for r in requests if isinstance(r, CandidatesRequest)]
        cells += [r.cells for r in requests if isinstance(r, RecencyRequest)]
        return max(1, (TABLE_BYTES >> 2) // (8 * max([*cells, 2])))


class _Inline:
    """A pool of no threads."""

    map = staticmethod(map)

    def __enter__(self) -> _Inline:
        return self

    def __exit__(self, *error: object) -> None:
        return None


def _total(parts: list[Counts]) -> Counts:
    if isinstance(parts[0], RecencyCounts):
        return RecencyCounts.total(parts)  # type: ignore[arg-type]
    if isinstance(parts[0], CandidateCounts):
        return CandidateCounts.total(parts)  # type: ignore[arg-type]
    return StateCounts.total(parts)  # type: ignore[arg-type]


def _threads(n_jobs: int | None) -> int:
    if n_jobs is None:
        return 1
    if not isinstance(n_jobs, int) or isinstance(n_jobs, bool) or n_jobs == 0 or n_jobs < -1:
        raise SettingError(f"n_jobs must be a number of threads, None or -1 for one a core, not {n_jobs!r}")
    return (os.cpu_count() or 1) if n_jobs == -1 else n_jobs
