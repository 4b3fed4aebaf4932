"""A probability as a product of factors."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from summarkov.frames import Column, Sheet, Tabular
from summarkov.wording import percent

#: The factors that are not of a single influencer.
_REST = ("habits", "place", "trees", "competition")


@dataclass(frozen=True)
class Share:
    """What one influencer that is in the window does to the target: it multiplies it by ``factor``.

    ``lag`` is how many events ago it occurred last.
    """

    label: str
    lag: int
    factor: float

    def __str__(self) -> str:
        return f"{self.label}, {self.lag} before: ×{self.factor:.2f}"


@dataclass(frozen=True, repr=False)
class SharedExplanation(Tabular):
    """Why a joint model gives a label its probability after a history.

    ``probability`` is exactly ``base_rate`` times the factors of all ``shares``, of the ``habits`` of this
    sequence, of the ``place`` in it, of the ``trees`` and of the ``competition``. The last is the room that
    all labels leave each other: below 1 where others are more likely than usual. The frame has one row per
    factor.
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

    def _columns(self) -> Mapping[str, Column]:
        rest = {name: getattr(self, name) for name in _REST}
        return {
            "target": Column(str, [self.target] * (len(self.shares) + len(rest))),
            "because_of": Column(str, [*(share.label for share in self.shares), *rest]),
            "lag": Column(int, [*(share.lag for share in self.shares), *([None] * len(rest))]),
            "factor": Column(float, [*(share.factor for share in self.shares), *rest.values()]),
        }

    def summary(self) -> Sheet:
        """The factors, as a table that prints well and that notebooks show in HTML."""
        rows = [[f"{share.label}, {share.lag} before", f"×{share.factor:.2f}"] for share in self.shares]
        rows += [[name, f"×{getattr(self, name):.2f}"] for name in _REST if getattr(self, name) != 1]
        title = f"{self.target}: {percent(self.probability)} instead of {percent(self.base_rate)}"
        return Sheet(title, ["because of", "factor"], rows, len(rows))


def ordered(shares: list[Share]) -> tuple[Share, ...]:
    """The strongest first, in either direction."""
    return tuple(sorted(shares, key=lambda share: (-abs(math.log(share.factor)), share.label)))
