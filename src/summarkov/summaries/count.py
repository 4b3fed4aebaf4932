"""CSuMM's summary: how often did each influencer occur in its window?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from summarkov import kernels
from summarkov.settings import check_whole
from summarkov.summaries.window import WindowSummary
from summarkov.wording import AttributeName


@dataclass(frozen=True)
class CountSummary(WindowSummary):
    """Occurrences of each influencer in its window, at most ``cap``: (c + 1)^|U| states.

    The paper names it as future work. With ``cap=1`` it is the binary summary.

    >>> CountSummary(lookback=3, cap=2).n_states(2, n_labels=10)
    9
    """

    cap: int = 2  # type: ignore[misc]  # a constant in the other summaries, a setting here

    kind: ClassVar[int] = kernels.COUNT
    page_kind: ClassVar[str] = "count"

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "cap", check_whole("cap", self.cap, 1, 1000))  # no limit to powers of an int

    def n_states(self, n_influencers: int, n_labels: int) -> int:
        return int((self.cap + 1) ** n_influencers)

    def state(
        self, key: Sequence[int], influencers: Sequence[str], labels: Sequence[str]
    ) -> tuple[tuple[str, int], ...]:
        """The influencers that occurred, each with its capped count."""
        return tuple((z, int(level)) for z, level in zip(influencers, key, strict=True) if level)

    def words(self, key: Sequence[int], influencers: Sequence[str], labels: Sequence[str]) -> str:
        if not influencers:
            return "any history"
        return ", ".join(
            f"{self.named(z)}{self._times(z, level)}" if level else f"no {self.named(z)}"
            for z, level in zip(influencers, key, strict=True)
        )

    def listed(self, state: Any, name: Callable[[str], str]) -> str | None:
        return " + ".join(f"{name(z)}{self._times(z, n)}" for z, n in state)

    def _times(self, label: str, n: int) -> str:
        """How often it occurred, to follow a label; nothing for an attribute."""
        return "" if isinstance(label, AttributeName) else f" x{n}{'+' if n == self.cap else ''}"
