"""How well the next event is told: by the most probable labels, and by one distribution over all of them."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from summarkov.engines.messages import travels
from summarkov.models.measures import hits
from summarkov.scores.estimates import ExactSum
from summarkov.typing import FloatArray


@travels
@dataclass(frozen=True)
class NextEvent:
    """Probabilities of all targets against the label that came, in some of the events; several add up.

    An event that is no target (code -1) can be nobody's prediction: it counts as missed, and the log loss
    leaves it out.
    """

    top_1: int = 0  # events whose label was the most probable
    top_3: int = 0  # or among the three most probable
    n: int = 0  # events that are targets
    logs: ExactSum = field(default_factory=ExactSum)  # of the probability of what came, among all targets

    @classmethod
    def of(cls, codes: npt.NDArray[np.integer], p: FloatArray) -> NextEvent:
        """Measure ``p[i, m]``, the probability of target m at event i, which was ``codes[i]``."""
        logs = logs_among_all(codes, p)
        return cls(hits(codes, p, 1), hits(codes, p, 3), len(logs), ExactSum.of(logs))

    def __add__(self, other: NextEvent) -> NextEvent:
        return NextEvent(
            self.top_1 + other.top_1, self.top_3 + other.top_3, self.n + other.n, self.logs + other.logs
        )

    @property
    def log_loss(self) -> float | None:
        """Minus the mean logarithm, infinite where what came had no probability; None without events."""
        return abs(float(self.logs)) / self.n if self.n else None


def logs_among_all(codes: npt.NDArray[np.integer], p: FloatArray) -> FloatArray:
    """Logarithms of what came, where ``p[i, m]`` is divided by the sum of its row; without events of code -1.

    They are minus infinity, without a warning, where what came was given no probability at all.

    >>> logs_among_all(np.array([0, -1, 1]), np.array([[0.5, 1.5], [1, 1], [0, 0]])).round(4).tolist()
    [-1.3863, -inf]
    """
    known = np.flatnonzero(codes >= 0)
    own, total = p[known, codes[known]], p.sum(axis=1)[known]
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(np.divide(own, total, out=np.zeros_like(own), where=own > 0)))
