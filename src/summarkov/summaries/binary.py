"""BSuMM's summary: did each influencer occur in its window?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from summarkov import kernels
from summarkov.summaries.window import WindowSummary


@dataclass(frozen=True)
class BinarySummary(WindowSummary):
    """Presence of each influencer in its window: 2^|U| states (Definition 4 of the paper).

    >>> BinarySummary(lookback=3).n_states(3, n_labels=10)
    8
    """

    kind: ClassVar[int] = kernels.BINARY
    page_kind: ClassVar[str] = "binary"

    def n_states(self, n_influencers: int, n_labels: int) -> int:
        return int(2**n_influencers)

    def state(self, key: Sequence[int], influencers: Sequence[str], labels: Sequence[str]) -> tuple[str, ...]:
        """The influencers that occurred."""
        return tuple(z for z, level in zip(influencers, key, strict=True) if level)

    def words(self, key: Sequence[int], influencers: Sequence[str], labels: Sequence[str]) -> str:
        if not influencers:
            return "any history"
        return ", ".join(
            self.named(z) if level else f"no {self.named(z)}"
            for z, level in zip(influencers, key, strict=True)
        )
