"""What every summary can do."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Sequence
from typing import Any, ClassVar

from summarkov import kernels
from summarkov.typing import IntArray, KeyArray


class Summary(ABC):
    """A function from histories to states, given the influencers U (Definition 2 of the paper).

    A state is known by its *key*, a row of a key array. States stand in the order of their keys, so equal
    counts are equal arrays wherever they were made.
    """

    #: Whether one label can join the influencers as one more level a state, so that one scan counts all
    #: candidates, and leave them again by merging states.
    by_level: ClassVar[bool] = False

    @property
    def by_label(self) -> bool:
        """Whether it can be told of single labels if they make the target more or less likely."""
        return self.by_level

    @abstractmethod
    def n_states(self, n_influencers: int, n_labels: int) -> int:
        """|S(U)|, the closed formula, whether or not every state can be reached."""

    @abstractmethod
    def encode(
        self, index: kernels.Index, influencers: Sequence[int], labels: Sequence[str]
    ) -> tuple[IntArray, KeyArray]:
        """State of every position of a shard as ids[N] and keys[S, ...]."""

    @abstractmethod
    def state(self, key: Sequence[Any], influencers: Sequence[str], labels: Sequence[str]) -> Hashable:
        """A key as a value that a person can read and compare."""

    @abstractmethod
    def words(self, key: Sequence[Any], influencers: Sequence[str], labels: Sequence[str]) -> str:
        """A key in words, for tables and explanations."""

    @abstractmethod
    def memory(self) -> tuple[int, int | None]:
        """How far back a cut sequence must be remembered.

        ``(recent, first)``: all of the last ``recent`` events, and, where the look-back has no limit, each
        label's first ``first`` occurrences and its last one before those (None: nothing further back).
        """

    def where(self, label: str) -> str:
        """Where an influencer is looked for, in words to follow it, if each is in a place of its own."""
        return ""

    def reach(self, label: str) -> tuple[int, int | None]:
        """How far back a label is looked for: ``(d, k)`` is from lag d + 1 to lag k, None without end."""
        recent, first = self.memory()
        return 0, recent if first is None else None

    def n_reachable(self, influencers: Sequence[str], n_labels: int) -> int:
        """How many states some history can reach at this look-back; all, unless a summary knows better."""
        return self.n_states(len(influencers), n_labels)

    def without(self, keys: KeyArray, column: int) -> KeyArray:
        """Keys of the same states once the influencer in ``column`` is left out (``by_level`` only)."""
        raise TypeError(f"{type(self).__name__} cannot leave out an influencer")  # pragma: no cover
