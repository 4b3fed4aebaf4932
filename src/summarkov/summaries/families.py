"""The summaries of BSuMM, OSuMM and CSuMM: did influencers occur in a window, in which order, how often?"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import factorial, perm
from typing import Any, ClassVar

import numpy as np

from summarkov import kernels
from summarkov.errors import SettingError
from summarkov.settings import check_whole
from summarkov.summaries.window import WindowSummary
from summarkov.typing import IntArray, KeyArray
from summarkov.wording import AttributeName


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

    def listed(self, state: Any, name: Callable[[str], str]) -> str | None:
        return " + ".join(f"{name(z)}{self.times(z, n)}" for z, n in state)

    def times(self, label: str, level: int) -> str:
        return "" if isinstance(label, AttributeName) else f" x{level}{'+' if level == self.cap else ''}"


@dataclass(frozen=True)
class OrdinalSummary(WindowSummary):
    r"""The influencers in the window in the order of their last (or first) occurrence there.

    .. math:: |S(U)| = \sum_{i=0}^{|U|} |U|! / i!

    ``mask`` says which occurrence counts (Definition 5 of the paper): "last", its choice, or "first".

    >>> OrdinalSummary(lookback=3).n_states(3, n_labels=10)
    16
    """

    mask: str = "last"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.mask not in ("last", "first"):
            raise SettingError(f"mask must be 'last' or 'first', not {self.mask!r}")
        if isinstance(self.lookback, Mapping):
            raise SettingError("an ordinal summary has one look-back for all labels; give a number or None")

    @property
    def kind(self) -> int:  # type: ignore[override]  # depends on the mask
        return kernels.ORDINAL_LAST if self.mask == "last" else kernels.ORDINAL_FIRST

    @property
    def page_kind(self) -> str:  # type: ignore[override]  # depends on the mask
        return self.mask

    def n_states(self, n_influencers: int, n_labels: int) -> int:
        return sum(factorial(n_influencers) // factorial(i) for i in range(n_influencers + 1))

    def keys(self, influencers: Sequence[str], *, reachable: bool = False) -> list[tuple[int, ...]]:
        """List all orders of all subsets, or only those that fit into the window; for few influencers."""
        n = len(influencers)
        most = self._room(influencers) if reachable else n
        orders = itertools.chain.from_iterable(itertools.permutations(range(n), i) for i in range(most + 1))
        return sorted(tuple(order.index(u) + 1 if u in order else 0 for u in range(n)) for order in orders)

    def is_key(self, key: Sequence[int]) -> bool:
        """Whether a key is a state: places 1, 2, ... each taken once."""
        placed = sorted(level for level in key if level)
        return placed == list(range(1, len(placed) + 1))

    def fits(self, key: Sequence[int], influencers: Sequence[str]) -> bool:
        """Whether some history can have this state: a position of the window holds one label."""
        return max(key, default=0) <= self._room(influencers)

    def n_reachable(self, influencers: Sequence[str], n_labels: int) -> int:
        return sum(perm(len(influencers), i) for i in range(self._room(influencers) + 1))

    def _room(self, influencers: Sequence[str]) -> int:
        """How many of them can stand in the window at once: each takes a position, unless these are ticks."""
        n = len(influencers)
        return n if self.together else int(min([n, *self.widths(influencers)]))

    def without(self, keys: KeyArray, column: int) -> KeyArray:
        """Leave a label out of the order: those after it move up."""
        left = keys[:, column : column + 1]
        rest = super().without(keys, column)
        return np.asarray(rest - ((left > 0) & (rest > left)).astype(rest.dtype))

    def restricted(self, keys: KeyArray, columns: Sequence[int]) -> KeyArray:
        """Leave all other labels out of the order: those after them move up."""
        rest = keys[:, columns]
        state, column = np.nonzero(rest)
        order = np.lexsort((rest[state, column], state))
        state, column = state[order], column[order]
        only = np.zeros_like(rest)
        only[state, column] = np.arange(len(state)) - np.searchsorted(state, state) + 1
        return only

    def level_beside(
        self, keys: KeyArray, columns: Sequence[int], state: IntArray, column: IntArray
    ) -> IntArray:
        place = keys[state, column]
        level = np.ones(len(state), np.int64)
        for u in columns:
            level += (keys[state, u] > 0) & (keys[state, u] < place)
        return level

    def state(self, key: Sequence[int], influencers: Sequence[str], labels: Sequence[str]) -> tuple[str, ...]:
        """The influencers that occurred, oldest first."""
        placed = sorted((level, z) for z, level in zip(influencers, key, strict=True) if level)
        return tuple(z for _, z in placed)

    def words(self, key: Sequence[int], influencers: Sequence[str], labels: Sequence[str]) -> str:
        if not influencers:
            return "any history"
        return " then ".join(self.state(key, influencers, labels)) or "none of them"

    def listed(self, state: Any, name: Callable[[str], str]) -> str | None:
        return " then ".join(name(z) for z in state)
