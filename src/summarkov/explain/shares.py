"""A probability as a product of factors."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from summarkov.frames import Sheet
from summarkov.wording import percent


@dataclass(frozen=True)
class Share:
    """What one influencer that is in the window does to the target: it multiplies it by ``factor``.

    ``lag`` is how many events ago it occurred last.
    """

    label: str
    lag: int
    factor: float


@dataclass(frozen=True, repr=False)
class SharedExplanation:
    """Why a joint model gives a label its probability after a history.

    ``probability`` is exactly ``base_rate`` times the factors of all ``shares``, of the ``habits`` of this
    sequence, of the ``place`` in it, of the ``trees`` and of the ``competition``. The last is the room that
    all labels leave each other: below 1 where others are more likely than usual.
    """

    target: str
    probability: float
    base_rate: float
    shares: tuple[Share, ...]  # the strongest first
    habits: float
    place: float
    trees: float
    competition: float

    def to_dict(self) -> dict[str, Any]:
        """As plain values, for JSON."""
        return {**vars(self), "shares": [dict(vars(share)) for share in self.shares]}

    def summary(self) -> Sheet:
        """The factors, as a table that prints well and that notebooks show in HTML."""
        rows = [[f"{share.label}, {share.lag} before", f"×{share.factor:.2f}"] for share in self.shares]
        rest = ("habits", "place", "trees", "competition")
        rows += [[name, f"×{getattr(self, name):.2f}"] for name in rest if getattr(self, name) != 1]
        title = f"{self.target}: {percent(self.probability)} instead of {percent(self.base_rate)}"
        return Sheet(title, ["because of", "factor"], rows, len(rows))

    def __repr__(self) -> str:
        return repr(self.summary())


def ordered(shares: list[Share]) -> tuple[Share, ...]:
    """The strongest first, in either direction."""
    return tuple(sorted(shares, key=lambda share: (-abs(math.log(share.factor)), share.label)))
