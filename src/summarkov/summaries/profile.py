"""The whole window in numbers, label by label: what a joint model of all labels is learned from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from summarkov.errors import TooLargeError
from summarkov.kernels import Index, merge_keys
from summarkov.kernels.profile import Profile, profile_rows
from summarkov.settings import check_whole
from summarkov.summaries.base import Memory, Summary
from summarkov.typing import CodeArray, IntArray, KeyArray


@dataclass(frozen=True)
class ProfileSummary(Summary):
    r"""For each label how long ago it occurred, how often, and how often it followed the labels just before.

    All of it within the last ``lookback`` events: the lag of the last occurrence; the number of occurrences
    among the last n events, for each n of ``near``, and in the whole window; for each order o up to
    ``orders``, how often the label came after the same o labels that stand just before the position. Beside
    that, the labels at lags 1 to ``lags``, and the number of events in the window.

    Two histories with equal numbers are one state. With long sequences nearly all of them differ, so a table
    of states is then about as long as the data.
    """

    lookback: int = 500
    near: tuple[int, ...] = (5, 10, 20)
    orders: int = 3
    lags: int = 3

    def __post_init__(self) -> None:
        check_whole("lookback", self.lookback, self.near[-1], 100_000)

    @property
    def windows(self) -> tuple[int, ...]:
        """The windows in which occurrences are counted."""
        return *self.near, self.lookback

    def n_states(self, n_influencers: int, n_labels: int) -> int:
        """A bound: no number is above ``lookback``, and no label above their number."""
        columns = (1 + len(self.windows) + self.orders) * n_labels + 1
        return int((self.lookback + 1) ** columns * (n_labels + 1) ** self.lags)

    def rows(self, index: Index, where: IntArray | slice = slice(None)) -> CodeArray:
        """The numbers of some positions, one row per position."""
        try:
            return profile_rows(index, self.lookback, self.windows, self.orders, self.lags, where)
        except MemoryError:
            raise TooLargeError(
                f"the windows of {len(index.codes):,} events of {index.n_labels:,} labels are too many "
                "numbers to hold; learn from a share of the sequences, or pool rare labels (PoolRare)"
            ) from None

    def read(self, rows: CodeArray, n_labels: int) -> Profile:
        """The columns of rows by what they mean."""
        return Profile.of(rows, n_labels, len(self.windows), self.orders)

    def encode(
        self, index: Index, influencers: Sequence[int], labels: Sequence[str]
    ) -> tuple[IntArray, KeyArray]:
        keys, (ids,) = merge_keys([self.rows(index)])
        return ids, keys

    def state(self, key: Sequence[int], influencers: Sequence[str], labels: Sequence[str]) -> tuple[int, ...]:
        """The numbers themselves."""
        return tuple(key)

    def words(self, key: Sequence[int], influencers: Sequence[str], labels: Sequence[str]) -> str:
        """The labels in the window, each with its lag, the nearest first."""
        there = sorted((lag, labels[z]) for z, lag in enumerate(key[: len(labels)]) if lag)
        return ", ".join(f"{label} {lag} before" for lag, label in there) or "an empty window"

    def memory(self) -> Memory:
        return Memory(self.lookback, None)
