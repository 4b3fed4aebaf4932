"""The whole window in numbers, label by label: what a joint model of all labels is learned from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from summarkov.errors import TooLargeError
from summarkov.kernels import Index, merge_keys
from summarkov.kernels.index import MOST_CELLS
from summarkov.settings import check_whole
from summarkov.summaries.base import Encoded, Summary
from summarkov.typing import CodeArray, IntArray


@dataclass(frozen=True)
class Profile:
    """The columns of a profile, one row per position.

    ``lag[i, z]`` is how many events ago label z occurred last (0: not in the window), ``often[w][i, z]`` how
    often it is among the last ``windows[w]`` events, ``followed[o][i, x]`` how often x followed the last
    o + 1 labels before, ``recent[i, l]`` the label at lag l + 1 (its code + 1; 0: none) and ``seen[i]`` how
    many events there are to look back at. All of it within the last ``lookback`` events.
    """

    lag: CodeArray
    often: tuple[CodeArray, ...]
    followed: tuple[CodeArray, ...]
    recent: CodeArray
    seen: CodeArray


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
        """The numbers of some positions, one row per position, as :meth:`read` reads them."""
        codes, m, windows = index.codes, index.n_labels, self.windows
        begin = np.repeat(index.offsets[:-1], np.diff(index.offsets))  # where each event's sequence begins
        here = np.arange(len(codes))
        at = here[where]
        width = (1 + len(windows) + self.orders) * m + self.lags + 1
        if len(at) * width > MOST_CELLS or len(codes) * m > MOST_CELLS:
            raise TooLargeError(
                f"the windows of {len(index.codes):,} events of {index.n_labels:,} labels are too many "
                "numbers to hold; learn from a share of the sequences, or pool rare labels (PoolRare)"
            )
        rows = np.zeros((len(at), width), np.int32)
        first = [np.maximum(begin[at], at - w) for w in windows]
        for z in range(m):
            is_z = codes == z
            last = np.maximum.accumulate(np.where(is_z, here, -1))
            before = np.append(-1, last)[at]
            inside = (before >= begin[at]) & (at - before <= self.lookback)
            rows[:, z] = np.where(inside, at - before, 0)
            total = np.append(0, np.cumsum(is_z))
            for w, left in enumerate(first):
                rows[:, (1 + w) * m + z] = total[at] - total[left]
        recent = np.zeros((len(codes), max(self.lags, self.orders)), np.int32)
        for lag in range(1, recent.shape[1] + 1):
            has = np.flatnonzero(here - lag >= begin)
            recent[has, lag - 1] = codes[has - lag] + 1
        for order in range(1, self.orders + 1):
            column, reach = (len(windows) + order) * m, self.lookback - order
            rows[:, column : column + m] = _followed(codes, begin, recent[:, :order], m, reach)[at]
        rows[:, width - 1 - self.lags : width - 1] = recent[at, : self.lags]
        rows[:, -1] = np.minimum(at - begin[at], self.lookback)
        return rows

    def read(self, rows: CodeArray, n_labels: int) -> Profile:
        """The columns of rows by what they mean."""
        n_windows = len(self.windows)
        n = 1 + n_windows + self.orders
        blocks = [rows[:, i * n_labels : (i + 1) * n_labels] for i in range(n)]
        rest = rows[:, n * n_labels :]
        often, followed = tuple(blocks[1 : 1 + n_windows]), tuple(blocks[1 + n_windows :])
        return Profile(blocks[0], often, followed, rest[:, :-1], rest[:, -1])

    def encode(self, index: Index, influencers: Sequence[int], labels: Sequence[str]) -> Encoded:
        keys, (ids,) = merge_keys([self.rows(index)])
        return ids, keys

    def state(self, key: Sequence[int], influencers: Sequence[str], labels: Sequence[str]) -> tuple[int, ...]:
        """The numbers themselves."""
        return tuple(key)

    def words(self, key: Sequence[int], influencers: Sequence[str], labels: Sequence[str]) -> str:
        """The labels in the window, each with its lag, the nearest first."""
        there = sorted((lag, labels[z]) for z, lag in enumerate(key[: len(labels)]) if lag)
        return ", ".join(f"{label} {lag} before" for lag, label in there) or "an empty window"

    @property
    def horizon(self) -> int | None:
        return self.lookback


def _followed(codes: CodeArray, begin: IntArray, context: CodeArray, m: int, reach: int) -> CodeArray:
    """How often each label stood after the same context, at most ``reach`` positions ago.

    Positions of one context in one sequence are laid side by side in order; then the counts are differences
    of running sums.
    """
    counts = np.zeros((len(codes), m), np.int32)
    known = np.flatnonzero((context > 0).all(axis=1))
    group = begin[known]
    for column in context[known].T:
        group = np.unique(group * (m + 1) + column, return_inverse=True)[1]
    order = np.argsort(group, kind="stable")
    place, group = known[order], group[order]
    span = len(codes) + 1
    # The first position of the same context that is near enough.
    left = np.searchsorted(group * span + place, group * span + np.maximum(place - reach, 0))
    one_hot = np.zeros((len(place) + 1, m), np.int32)
    labelled = np.flatnonzero(codes[place] >= 0)
    one_hot[labelled + 1, codes[place[labelled]]] = 1
    running = np.cumsum(one_hot, axis=0, dtype=np.int32)
    counts[place] = running[np.arange(len(place))] - running[left]
    return counts
