"""What came of one contender on one split: the settings that were chosen, and how they did on test."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from summarkov.comparison.measures import Measures
from summarkov.typing import FloatArray


@dataclass(frozen=True)
class Chosen:
    """What was chosen for one target, and how it did on test."""

    target: str
    settings: dict[str, Any]
    dev_log_likelihood: float
    n_influencers: int | None
    measures: Measures
    influencers: tuple[str, ...] | None = None

    def to_dict(self) -> dict[str, Any]:
        """As plain values, for JSON."""
        return {**vars(self), "measures": self.measures.to_dict()}

    @classmethod
    def from_dict(cls, given: dict[str, Any]) -> Chosen:
        """Read what :meth:`to_dict` returned."""
        found = given.get("influencers")
        return cls(
            **{
                **given,
                "measures": Measures.from_dict(given["measures"]),
                "influencers": None if found is None else tuple(found),
            }
        )


@dataclass(frozen=True)
class Tuned:
    """One contender on one split."""

    name: str
    chosen: tuple[Chosen, ...]
    by_sequence: FloatArray  # log-likelihood of each test sequence, mean over the targets
    seconds: float
    top_1: float | None
    top_3: float | None
    next_event_log_loss: float | None = None
    one_for_all: bool = False  # whether all targets have the same settings

    def to_dict(self) -> dict[str, Any]:
        """As plain values, for JSON."""
        chosen = [each.to_dict() for each in self.chosen]
        return {**vars(self), "chosen": chosen, "by_sequence": self.by_sequence.tolist()}

    @classmethod
    def from_dict(cls, given: dict[str, Any]) -> Tuned:
        """Read what :meth:`to_dict` returned."""
        chosen = tuple(Chosen.from_dict(each) for each in given["chosen"])
        return cls(**{**given, "chosen": chosen, "by_sequence": np.array(given["by_sequence"])})

    @property
    def n_positions(self) -> int:
        """The number of positions in the test part: events, or ticks where events happened together."""
        return int(self.chosen[0].measures.reliability[:, 0].sum())

    @property
    def log_likelihood(self) -> float:
        """Test log-likelihood, mean over the targets: a cell of the paper's tables."""
        return float(np.mean([each.measures.log_likelihood for each in self.chosen]))


def total_of(each: Sequence[Tuned]) -> float:
    """The log-likelihood of a contender, mean over splits."""
    return float(np.mean([tuned.log_likelihood for tuned in each]))
