"""How good probabilities are, from the probabilities and what happened."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from summarkov.events import EventSequences

FloatArray = npt.NDArray[np.float64]

#: Edges of the bins of a reliability table; finer next to 0, where rare labels live.
BINS = (0.0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)


@dataclass(frozen=True)
class Measures:
    """One target's probabilities against what happened in the test sequences."""

    by_sequence: FloatArray  # log-likelihood of each test sequence; -inf where what happened was ruled out
    brier: float  # mean of (p - [it occurred])^2 over positions
    reliability: FloatArray  # a row a bin: positions, sum of p, occurrences

    @property
    def log_likelihood(self) -> float:
        """Summed over all test positions."""
        return float(self.by_sequence.sum())

    def to_dict(self) -> dict[str, Any]:
        """As plain values, for JSON."""
        return {
            "by_sequence": self.by_sequence.tolist(),
            "brier": self.brier,
            "reliability": self.reliability.tolist(),
        }

    @classmethod
    def from_dict(cls, given: dict[str, Any]) -> Measures:
        """Read what :meth:`to_dict` returned."""
        return cls(np.array(given["by_sequence"]), given["brier"], np.array(given["reliability"]))


def log_likelihood(p: FloatArray, occurred: npt.NDArray[np.bool_]) -> float:
    """Sum of log p where the target occurred and of log(1 - p) where it did not.

    It is minus infinity, without a warning, if something that happened was given no probability at all.

    >>> round(log_likelihood(np.array([0.5, 0.25]), np.array([True, False])), 4)
    -0.9808
    """
    return float(_logs(p, occurred).sum())


def _logs(p: FloatArray, occurred: npt.NDArray[np.bool_]) -> FloatArray:
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(np.where(occurred, p, 1 - p)))


def measure(events: EventSequences, target: str, p: FloatArray) -> Measures:
    """Measure the probabilities ``p`` of one target, one a position."""
    occurred = events.codes == events.code(target)
    sequence = np.repeat(np.arange(len(events)), events.lengths)
    by_sequence: FloatArray = np.asarray(
        np.bincount(sequence, weights=_logs(p, occurred), minlength=len(events)), dtype=np.float64
    )
    bins = np.clip(np.searchsorted(BINS, p, side="right") - 1, 0, len(BINS) - 2)
    reliability: FloatArray = np.stack(
        [
            np.bincount(bins, weights=w, minlength=len(BINS) - 1)
            for w in (np.ones(len(p)), p, occurred.astype(float))
        ],
        axis=1,
    )
    brier = float(((p - occurred) ** 2).mean()) if len(p) else 0.0
    return Measures(by_sequence, brier, reliability)


def top_k(events: EventSequences, p: FloatArray, k: int) -> float:
    """Share of the events whose label is among the k most probable; ``p[i, m]``, ties to the first labels.

    An event of no label (code -1) can be nobody's prediction and counts as missed.
    """
    if not events.n_events:
        return 0.0
    known = np.flatnonzero(events.codes >= 0)
    own = p[known, events.codes[known]][:, None]
    ahead = (p[known] > own).sum(axis=1)
    ahead += ((p[known] == own) & (np.arange(p.shape[1]) < events.codes[known][:, None])).sum(axis=1)
    return float((ahead < k).sum() / events.n_events)
