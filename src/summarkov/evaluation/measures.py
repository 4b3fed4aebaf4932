"""How good probabilities are, from the probabilities and what happened: sums that add, block by block."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from summarkov.engines.messages import travels
from summarkov.events.rows import Block
from summarkov.models.measures import Measured
from summarkov.scores.estimates import ExactSum
from summarkov.typing import BoolArray, FloatArray, IntArray

#: Edges of the bins of a reliability table; finer next to 0, where rare labels live.
BINS = (0.0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
_N_BINS = len(BINS) - 1


@dataclass(frozen=True)
class ReliabilityBin:
    """Predictions of about the same probability, and what came of them.

    Attributes
    ----------
    low, high : float
        The predictions are from ``low`` to below ``high``.
    n : int
        How many there are.
    predicted, occurred : float
        Their mean, and the share of them that came true.
    """

    low: float
    high: float
    n: int
    predicted: float
    occurred: float

    def to_dict(self) -> dict[str, float]:
        """As plain values, for JSON."""
        return {
            "from": self.low,
            "to": self.high,
            "n": self.n,
            "predicted": self.predicted,
            "occurred": self.occurred,
        }


@dataclass(frozen=True)
class Measures:
    """One target's probabilities against what happened in all test sequences."""

    log_likelihood: float  # summed over positions; -inf where what happened was ruled out
    brier: float  # mean of (p - [it occurred])^2 over positions
    reliability: FloatArray  # one row per bin: positions, sum of p, occurrences

    def to_dict(self) -> dict[str, Any]:
        """As plain values, for JSON."""
        return {**vars(self), "reliability": self.reliability.tolist()}

    @classmethod
    def from_dict(cls, given: dict[str, Any]) -> Measures:
        """Read what :meth:`to_dict` returned."""
        return cls(**{**given, "reliability": np.array(given["reliability"])})


@travels
@dataclass(frozen=True)
class Sums:
    """One target's probabilities against what happened in some of the events.

    The sums are exact, so they do not depend on where the events are nor on how they are cut.
    """

    measured: Measured = field(default_factory=Measured)  # the logs of the sequences that ended
    n: IntArray = field(default_factory=lambda: np.zeros(_N_BINS, np.int64))  # positions in each bin
    occurred: IntArray = field(default_factory=lambda: np.zeros(_N_BINS, np.int64))
    predicted: tuple[ExactSum, ...] = (ExactSum(),) * _N_BINS

    @classmethod
    def of(cls, p: FloatArray, occurred: BoolArray, by_sequence: FloatArray) -> Sums:
        """Measure the probabilities of a block, in which sequences ended that have these log-likelihoods."""
        bins = np.clip(np.searchsorted(BINS, p, side="right") - 1, 0, _N_BINS - 1)
        return cls(
            Measured(*map(ExactSum.of, (np.array([float(len(p))]), by_sequence, (p - occurred) ** 2))),
            np.bincount(bins, minlength=_N_BINS),
            np.bincount(bins[occurred], minlength=_N_BINS),
            tuple(ExactSum.of(p[bins == one]) for one in range(_N_BINS)),
        )

    def __add__(self, other: Sums) -> Sums:
        return Sums(
            self.measured + other.measured,
            self.n + other.n,
            self.occurred + other.occurred,
            tuple(a + b for a, b in zip(self.predicted, other.predicted, strict=True)),
        )

    @property
    def measures(self) -> Measures:
        """What they come to."""
        predicted = np.array([float(each) for each in self.predicted])
        reliability = np.stack([self.n.astype(float), predicted, self.occurred.astype(float)], axis=1)
        return Measures(self.measured.log_likelihood, self.measured.brier, reliability)


class SequenceSums:
    """Sums of values over the sequences of a block, each in the order of its positions.

    So that they do not depend on where a sequence is cut, what one has come to before goes along: the carry.

    >>> sums = SequenceSums(Block.of(np.zeros(3, np.int32), np.array([2])))
    >>> sums.of(np.array([1.0, 2.0, 4.0]), carry=0.5)
    (array([3.5]), 4.0)
    """

    def __init__(self, block: Block) -> None:
        lengths = np.diff(block.offsets)
        self._sequence = np.concatenate([[0], np.repeat(np.arange(len(lengths)), lengths)])
        self._n, self._goes_on = len(lengths), block.goes_on

    def of(self, values: FloatArray, carry: float) -> tuple[FloatArray, float]:
        """The sums of the sequences that end here, and the carry of the one that goes on, or 0."""
        weights = np.concatenate([[carry], values])
        sums = np.bincount(self._sequence, weights=weights, minlength=self._n)
        ended = np.asarray(sums[: self._n - self._goes_on], dtype=np.float64)
        return ended, float(sums[-1]) if self._goes_on else 0.0


def logs(p: FloatArray, occurred: BoolArray) -> FloatArray:
    """Log p where the target occurred and log(1 - p) where it did not.

    It is minus infinity, without a warning, if something that happened was given no probability at all.

    >>> logs(np.array([0.5, 0.0]), np.array([True, False])).round(4).tolist()
    [-0.6931, 0.0]
    """
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(np.where(occurred, p, 1 - p)))


def hits(codes: npt.NDArray[np.integer], p: FloatArray, k: int) -> int:
    """How many events have a label among the k most probable; ``p[i, m]``, ties to the first labels.

    An event of no label (code -1) can be nobody's prediction and counts as missed.

    >>> hits(np.array([0, 1, -1]), np.array([[0.5, 0.5]] * 3), 1)
    1
    """
    known = np.flatnonzero(codes >= 0)
    own = p[known, codes[known]][:, None]
    ahead = (p[known] > own).sum(axis=1)
    ahead += ((p[known] == own) & (np.arange(p.shape[1]) < codes[known][:, None])).sum(axis=1)
    return int((ahead < k).sum())
