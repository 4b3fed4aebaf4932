"""Positions as rows of what they see, counted under many weights at once.

Positions that see the same and hold the same label count alike under any weights, so they are merged first;
then every cell of a count is a sum of rows of weights (``add_rows``).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from summarkov import kernels
from summarkov.kernels.index import MOST_CELLS, Index
from summarkov.kernels.numpy_kernels import (
    COUNT,
    ORDINAL_FIRST,
    ORDINAL_LAST,
    Window,
    _levels,
    _pairs,
    _refine,
)
from summarkov.typing import CodeArray, IntArray


@dataclass(frozen=True)
class Positions:
    """Positions as rows, each a label that occurred and the labels in the window then, and their weights.

    Weights are ``weights[unit, b]``: many, for each unit. A position belongs to a unit, such as its sequence.
    Positions that are alike are one row that is its own unit, unless there are few such.
    """

    window: Window
    own: CodeArray  # the label of each row
    unit: IntArray  # its row of weights
    weights: IntArray
    row: IntArray  # pairs of a row and a label in its window, label by label
    pair_unit: IntArray
    level: CodeArray
    starts: IntArray  # where the pairs of each label begin

    @classmethod
    def of(cls, index: Index, window: Window, unit: IntArray, weights: IntArray) -> Positions:
        """Make rows from positions, the unit of each, and the weights of the units."""
        position, code, level = window_pairs(index, window)
        number, chosen = merge_alike(index, position, code, level)
        own = index.codes
        if 2 * len(chosen) <= len(own):
            weights = kernels.add_rows(number, unit, weights, len(chosen))
            one = np.zeros(len(own), bool)
            one[chosen] = True
            here = one[position]
            position, code, level = number[position[here]], code[here], level[here]
            own, unit = own[chosen], np.arange(len(chosen))
        order = np.argsort(code, kind="stable")
        starts = np.searchsorted(code[order], np.arange(index.n_labels + 1))
        row = position[order]
        return cls(window, own, unit, weights, row, unit[row], level[order], starts)

    @property
    def n_bytes(self) -> int:
        """Bytes of its arrays; weights that are those of the units are not its own."""
        weights = self.weights.nbytes if len(self.weights) == len(self.own) else 0
        rest = self.own, self.unit, self.row, self.pair_unit, self.level, self.starts
        return weights + sum(array.nbytes for array in rest)

    def count(
        self,
        influencers: CodeArray,
        candidates: CodeArray | None,
        outcome_of: CodeArray,
        n_outcomes: int,
        which: IntArray | None,
    ) -> tuple[CodeArray, IntArray, IntArray]:
        """As ``count_candidates``, with one more axis at the end: the weights ``which`` (None: all).

        Without ``candidates`` the last is empty.
        """
        levels = self._levels(influencers)
        ids, keys = np.zeros(len(self.own), np.int64), np.zeros((min(len(self.own), 1), 0), np.int32)
        for u in range(len(influencers)):
            level = self._place(levels, levels[u])
            ids, keys = _refine(ids, keys, level, self.window.n_levels(len(influencers) - 1))
        weights = self.weights if which is None else np.ascontiguousarray(self.weights[:, which])
        outcome = outcome_of[self.own].astype(np.int64)
        n, width = len(keys), weights.shape[1]
        cells = np.where(outcome < 0, -1, ids * n_outcomes + outcome)
        counts = kernels.add_rows(cells, self.unit, weights, n * n_outcomes).reshape(n, n_outcomes, width)
        if candidates is None:
            return keys, counts, np.zeros((0, n, 0, n_outcomes, width), np.int64)
        deep = self.window.n_levels(len(influencers)) - 1
        size = n * deep * n_outcomes
        if len(candidates) * size * width > MOST_CELLS:
            raise MemoryError
        block = np.full(len(self.starts) - 1, -1)
        block[candidates] = np.arange(len(candidates))
        block = np.repeat(block, np.diff(self.starts))  # of each pair
        # less than 0 for what is no candidate and what is not counted
        cells = np.where(outcome < 0, -2 * MOST_CELLS, ids * (deep * n_outcomes) + outcome)[self.row]
        cells += block * size
        if deep > 1:
            cells += (self._place([level[self.row] for level in levels], self.level) - 1) * n_outcomes
        present = kernels.add_rows(cells, self.pair_unit, weights, len(candidates) * size)
        return keys, counts, present.reshape(len(candidates), n, deep, n_outcomes, width)

    def _levels(self, influencers: CodeArray) -> list[IntArray]:
        """The level of each influencer in each row, 0 where it is not in the window."""
        levels = [np.zeros(len(self.own), np.int64) for _ in influencers]
        for level, z in zip(levels, influencers.tolist(), strict=True):
            pairs = slice(self.starts[z], self.starts[z + 1])
            level[self.row[pairs]] = self.level[pairs]
        return levels

    def _place(self, influencers: list[IntArray], level: IntArray | CodeArray) -> IntArray:
        """The level of a label beside the influencers: ordinal ones are places among these alone."""
        if self.window.kind not in (ORDINAL_LAST, ORDINAL_FIRST):
            return level.astype(np.int64)
        place = np.where(level > 0, 1, 0)
        for other in influencers:
            place += (other > 0) & (other < level)
        return place


#: More pairs of a position and a label in its window than this are refused with a MemoryError.
MOST_PAIRS = 2**26


def window_pairs(index: Index, window: Window) -> tuple[IntArray, CodeArray, CodeArray]:
    """Every label in the window of every position: positions, codes and levels, in order of position.

    The level is 1 (binary), the capped count, or the place (1 = oldest) among all labels in the window
    (ordinal).
    """
    seen = index.occurrences
    which = np.flatnonzero(seen.code >= 0)
    nobody = np.empty((0, len(index.codes)), np.int64)
    parts, n = [], 0
    for event, position in _pairs(seen, which, window):
        n += len(event)
        if n > MOST_PAIRS:
            raise MemoryError
        level = np.ones(len(event), np.int64)
        if window.kind == COUNT:
            level = _levels(seen, event, position, nobody, window)
        parts.append((position, seen.position[event], seen.code[event], level))
    position, stand, code, level = (np.concatenate([part[i] for part in parts]) for i in range(4))
    if window.kind in (ORDINAL_LAST, ORDINAL_FIRST):
        order = np.lexsort((stand, position))
        position, code = position[order], code[order]
        level = 1 + np.arange(n) - np.searchsorted(position, position)
    else:
        order = np.lexsort((code, position))
        position, code, level = position[order], code[order], level[order]
    return position, code, level.astype(np.int32)


def merge_alike(
    index: Index, position: IntArray, code: CodeArray, level: CodeArray
) -> tuple[IntArray, IntArray]:
    """Number the positions that hold the same label and see the same labels at the same levels alike.

    Takes what ``window_pairs`` returns. Returns the number of every position, and for each number one of its
    positions. Equal sums of hashes are only a hint, and each is checked, so the merging is exact.
    """
    n = len(index.codes)
    starts = np.searchsorted(position, np.arange(n + 1))
    pairs = (code.astype(np.uint64) << np.uint64(32)) | level.astype(np.uint64)
    sums = np.append(np.uint64(0), np.cumsum(_hash(pairs), dtype=np.uint64))
    own = index.codes.astype(np.int64)
    hashed = sums[starts[1:]] - sums[starts[:-1]] + _hash((own - (1 << 62)).astype(np.uint64))
    order = np.argsort(hashed, kind="stable")
    a, b = order[:-1], order[1:]
    length = np.diff(starts)
    same = (hashed[a] == hashed[b]) & (own[a] == own[b]) & (length[a] == length[b])
    hinted = np.flatnonzero(same)
    sizes = length[a[hinted]]
    within = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    one = np.repeat(starts[a[hinted]], sizes) + within
    two = np.repeat(starts[b[hinted]], sizes) + within
    differs = (code[one] != code[two]) | (level[one] != level[two])
    same[np.repeat(hinted, sizes)[differs]] = False
    first = np.append(True, ~same)[:n]
    number = np.empty(n, np.int64)
    number[order] = np.cumsum(first) - 1
    return number, order[first]


def _hash(x: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """Mix the bits (the finaliser of SplitMix64)."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(x ^ (x >> np.uint64(31)))
