"""What a window holds, label by label: how long ago, how often, and what followed such contexts before."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from summarkov.kernels.index import MOST_CELLS, Index
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

    @classmethod
    def of(cls, rows: CodeArray, n_labels: int, n_windows: int, orders: int) -> Profile:
        """Read the rows of :func:`profile_rows`."""
        blocks = [rows[:, i * n_labels : (i + 1) * n_labels] for i in range(1 + n_windows + orders)]
        rest = rows[:, (1 + n_windows + orders) * n_labels :]
        often, followed = tuple(blocks[1 : 1 + n_windows]), tuple(blocks[1 + n_windows :])
        return cls(blocks[0], often, followed, rest[:, :-1], rest[:, -1])


def profile_rows(
    index: Index, lookback: int, windows: tuple[int, ...], orders: int, lags: int, where: IntArray | slice
) -> CodeArray:
    """The profile of some positions, one row per position, as :meth:`Profile.of` reads it.

    ``windows`` are at most ``lookback`` wide. Of a past that was kept for longer windows only the last
    ``lookback`` events count.
    """
    near = index.past_positions >= -lookback
    codes = np.concatenate([index.past_codes[near], index.codes])
    n_past, m = int(near.sum()), index.n_labels
    starts = index.offsets[:-1] + n_past
    starts[:1] = 0
    lengths = np.diff(np.append(starts, len(codes)))
    begin = np.repeat(starts, lengths)  # where each event's sequence begins
    here = np.arange(len(codes))
    at = np.arange(n_past, len(codes))[where]
    width = (1 + len(windows) + orders) * m + lags + 1
    if len(at) * width > MOST_CELLS or len(codes) * m > MOST_CELLS:
        raise MemoryError
    rows = np.zeros((len(at), width), np.int32)
    first = [np.maximum(begin[at], at - w) for w in windows]
    for z in range(m):
        is_z = codes == z
        last = np.maximum.accumulate(np.where(is_z, here, -1))
        before = np.append(-1, last)[at]
        inside = (before >= begin[at]) & (at - before <= lookback)
        rows[:, z] = np.where(inside, at - before, 0)
        total = np.append(0, np.cumsum(is_z))
        for w, left in enumerate(first):
            rows[:, (1 + w) * m + z] = total[at] - total[left]
    recent = np.zeros((len(codes), max(lags, orders)), np.int32)
    for lag in range(1, recent.shape[1] + 1):
        has = np.flatnonzero(here - lag >= begin)
        recent[has, lag - 1] = codes[has - lag] + 1
    for order in range(1, orders + 1):
        column = (len(windows) + order) * m
        rows[:, column : column + m] = _followed(codes, begin, recent[:, :order], m, lookback - order)[at]
    rows[:, width - 1 - lags : width - 1] = recent[at, :lags]
    rows[:, -1] = np.minimum(at - begin[at], lookback)
    return rows


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
