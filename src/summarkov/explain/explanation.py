"""Why a model gives a probability after a history."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Explanation:
    """The state a history is in, how often it was seen, and what that makes of the target's probability.

    ``support`` is how often the state was seen, ``interval`` a 95% credible interval of ``probability``, and
    ``base_rate`` the target's share of all events. Printed, it is a sentence.
    """

    target: str
    state: Hashable
    words: str
    support: float
    probability: float
    interval: tuple[float, float]
    base_rate: float

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, for JSON."""
        return dict(vars(self))

    def __str__(self) -> str:
        lift = self.probability / self.base_rate if self.base_rate > 0 else float("inf")
        seen = f"seen {self.support:g} times" if self.support else "never seen, so this is the prior alone"
        return (
            f"{self.target}: {self.probability:.3f} (95% interval {self.interval[0]:.3f} to "
            f"{self.interval[1]:.3f}), {lift:.2g} times its base rate {self.base_rate:.3f}, "
            f"after: {self.words} ({seen})"
        )
