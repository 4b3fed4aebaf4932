"""Events in memory under many weights at once: the graphs of a bootstrap from shared counts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

import numpy as np

from summarkov import kernels
from summarkov.engines.counts import Counts, total
from summarkov.engines.past import Piece, even_cuts, joint_memory, pieces
from summarkov.engines.pools import pool_of
from summarkov.engines.requests import Request
from summarkov.engines.weighed import Kept, Weighed, answer
from summarkov.engines.weights import MOST, refuse_overflow
from summarkov.events import EventSequences
from summarkov.kernels.replicates import MOST_PAIRS
from summarkov.typing import IntArray


class ReplicatedSource:
    """Answers requests for many replicates at once; each has a weight for every unit of events.

    ``unit[i]`` is the unit of event i and ``weights[u, b]`` what it weighs in replicate b, in units of
    ``1 / scale``. Replicate b is what a :class:`LocalSource` with those weights would be, to the last bit.
    """

    def __init__(
        self, events: EventSequences, unit: IntArray, weights: IntArray, scale: int = 1, n_jobs: int = 1
    ) -> None:
        self.events, self.scale, self.n_jobs = events, scale, n_jobs
        self._unit, self._weights = unit, np.ascontiguousarray(weights)
        if float(weights.max(initial=0)) * len(unit) > MOST:  # else none can overflow
            totals = np.bincount(unit, minlength=len(weights)).astype(float) @ weights.astype(float)
            refuse_overflow(float(totals.max()), scale)
        self._kept = Kept()
        self.units, self.n_units = "sequences", len(weights)  # what was drawn from, and how many there are

    @property
    def labels(self) -> tuple[str, ...]:
        return self.events.labels

    @property
    def n_replicates(self) -> int:
        """B."""
        return int(self._weights.shape[1])

    @cached_property
    def label_counts(self) -> IntArray:
        """N(x) of every label, ``[replicate, x]``."""
        cells = self.events.codes.astype(np.int64)
        return np.asarray(kernels.add_rows(cells, self._unit, self._weights, len(self.labels)).T)

    def count(self, requests: Sequence[Request]) -> list[Counts]:
        """Answer all requests, each for its replicates."""
        return answer(requests, self.n_replicates, self._counted) if requests else []

    def _counted(self, requests: list[Request], asked: list[IntArray]) -> list[Counts]:
        """Counts with replicates as their last axis."""
        pairs = list(zip(requests, asked, strict=True))
        totals: list[Counts] = []
        with pool_of(self.n_jobs) as pool:
            for piece in self._pieces(requests):
                new = self._weighed(piece).count_all(pairs, pool)
                totals = [total(pair) for pair in zip(totals, new, strict=True)] if totals else new
        return totals

    def _pieces(self, requests: Sequence[Request]) -> Iterator[Piece]:
        """The whole, or pieces small enough for their pairs of positions and labels."""
        recent, unlimited = joint_memory(request.summary for request in requests)
        reach = len(self.labels) if unlimited is not None else min(len(self.labels), recent)
        n = self.events.n_events
        cuts = even_cuts(n, 1 + n * max(1, reach) // MOST_PAIRS)
        if len(cuts) == 2:
            return iter([self._whole])
        return pieces(self.events, cuts, (recent, unlimited))

    @cached_property
    def _whole(self) -> Piece:
        return next(pieces(self.events, [0, self.events.n_events], (0, None)))

    def _weighed(self, piece: Piece) -> Weighed:
        """A piece under all weights, with what is kept of it from pass to pass."""
        place = piece.start, piece.stop
        return Weighed(piece.index, self.labels, self._unit[slice(*place)], self._weights, self._kept, place)
