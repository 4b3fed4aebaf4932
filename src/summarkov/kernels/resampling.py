"""The same events many times over, counted under many weights at once; and random numbers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from summarkov import kernels
from summarkov.kernels.index import MOST_CELLS, Index, Stretches, Window
from summarkov.kernels.numpy_kernels import refine
from summarkov.typing import BoolArray, CodeArray, HashArray, IntArray

#: More pairs of a position and a label in its window than this are refused with a MemoryError.
MOST_PAIRS = 2**26
#: The step of SplitMix64.
_STEP = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True)
class Positions:
    """Positions as rows, each a label that occurred and the labels in the window then, and their weights.

    Positions that see the same and hold the same label count alike under any weights, so they are merged
    first; then every cell of a count is a sum of rows of weights (``add_rows``).

    Weights are ``weights[unit, b]``: many, for each unit. A position belongs to a unit, such as its sequence.
    Positions that are alike are one row that is its own unit, unless there are few such. Where several labels
    can share a position, each has a row, and the first of them also stands for the position.
    """

    window: Window
    own: CodeArray  # the label of each row
    heads: BoolArray  # whether it stands for its position
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
        own, heads = index.codes, index.heads
        if 2 * len(chosen) <= len(own):
            weights = kernels.add_rows(number, unit, weights, len(chosen))
            one = np.zeros(len(own), bool)
            one[chosen] = True
            here = one[position]
            position, code, level = number[position[here]], code[here], level[here]
            own, heads, unit = own[chosen], heads[chosen], np.arange(len(chosen))
        order = np.argsort(code, kind="stable")
        starts = np.searchsorted(code[order], np.arange(index.n_labels + 1))
        row = position[order]
        return cls(window, own, heads, unit, weights, row, unit[row], level[order], starts)

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
            ids, keys = refine(ids, keys, level, self.window.n_levels(len(influencers) - 1))
        weights = self.weights if which is None else np.ascontiguousarray(self.weights[:, which])
        n, width = len(keys), weights.shape[1]
        counts = self._sums(ids, n, self.unit, None, outcome_of, n_outcomes, weights).reshape(
            n, n_outcomes, width
        )
        if candidates is None:
            return keys, counts, np.zeros((0, n, 0, n_outcomes, width), np.int64)
        deep = self.window.n_levels(len(influencers)) - 1
        size = n * deep
        if len(candidates) * size * n_outcomes * width > MOST_CELLS:
            raise MemoryError
        block = np.full(len(self.starts) - 1, -1)
        block[candidates] = np.arange(len(candidates))
        block = np.repeat(block, np.diff(self.starts))  # of each pair
        cells = ids[self.row] * deep
        if deep > 1:
            cells += self._place([level[self.row] for level in levels], self.level) - 1
        cells = np.where(block < 0, -1, cells + block * size)  # less than 0 for what is no candidate
        shape = len(candidates) * size
        present = self._sums(cells, shape, self.pair_unit, self.row, outcome_of, n_outcomes, weights)
        return keys, counts, present.reshape(len(candidates), n, deep, n_outcomes, width)

    def _sums(
        self,
        cells: IntArray,
        n_cells: int,
        unit: IntArray,
        row: IntArray | None,
        outcome_of: CodeArray,
        n_outcomes: int,
        weights: IntArray,
    ) -> IntArray:
        """Sums ``[cell, outcome, b]`` over rows, or over pairs that are each of a ``row``."""
        outcome, residual = outcome_of[self.own].astype(np.int64), int(outcome_of[-1])
        is_plain = bool(self.heads.all())
        if not is_plain:
            outcome[outcome == residual] = -1
        x, heads = (outcome, self.heads) if row is None else (outcome[row], self.heads[row])
        into = np.where((x < 0) | (cells < 0), -1, cells * n_outcomes + x)
        shape = n_cells, n_outcomes, weights.shape[1]
        sums: IntArray = kernels.add_rows(into, unit, weights, n_cells * n_outcomes).reshape(shape)
        if residual >= 0 and not is_plain:
            every = kernels.add_rows(np.where(heads, cells, -1), unit, weights, n_cells)
            sums[:, residual] = every - sums.sum(axis=1)
        return sums

    def _levels(self, influencers: CodeArray) -> list[IntArray]:
        """The level of each influencer in each row, 0 where it is not in the window."""
        levels = [np.zeros(len(self.own), np.int64) for _ in influencers]
        for level, z in zip(levels, influencers.tolist(), strict=True):
            pairs = slice(self.starts[z], self.starts[z + 1])
            level[self.row[pairs]] = self.level[pairs]
        return levels

    def _place(self, influencers: list[IntArray], level: IntArray | CodeArray) -> IntArray:
        """The level of a label beside the influencers: ordinal ones are places among these alone."""
        if not self.window.is_ordinal:
            return level.astype(np.int64)
        place = np.where(level > 0, 1, 0)
        for other in influencers:
            place += (other > 0) & (other < level)
        return place


def window_pairs(index: Index, window: Window) -> tuple[IntArray, CodeArray, CodeArray]:
    """Every label in the window of every position: positions, codes and levels, in order of position.

    The level is 1 (binary), the capped count, or the place (1 = oldest) among all labels in the window
    (ordinal).
    """
    stretches = Stretches.of(index, window)
    nobody = np.empty((0, len(index.codes)), np.int64)
    parts, n = [], 0
    for event, position in stretches.pairs(np.flatnonzero(index.codes >= 0)):
        n += len(event)
        if n > MOST_PAIRS:
            raise MemoryError
        parts.append((position, event, stretches.levels(event, position, nobody)))
    position, event, level = (np.concatenate([part[i] for part in parts]) for i in range(3))
    code = index.codes[event]
    if window.is_ordinal:
        order = np.lexsort((event, position))
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
    sums = np.append(np.uint64(0), np.cumsum(_mixed(pairs), dtype=np.uint64))
    own = 2 * index.codes.astype(np.int64) + index.heads  # whether the row stands for its position
    hashed = sums[starts[1:]] - sums[starts[:-1]] + _mixed((own - (1 << 62)).astype(np.uint64))
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


def sequence_seeds(seed: int, replicate: int, numbers: npt.ArrayLike) -> HashArray:
    """A seed for each sequence, from its number, that of the replicate, and the seed of all.

    >>> sequence_seeds(0, 1, [0, 7])
    array([ 3391245575278488096, 10982949063525286192], dtype=uint64)
    """
    mixed = np.zeros(1, np.uint64)
    for number in (np.uint64(seed % 2**64), np.uint64(replicate), np.asarray(numbers).astype(np.uint64)):
        mixed = _random_numbers(mixed, number + np.uint64(1))
    return mixed


def block_seeds(seeds: HashArray, numbers: IntArray) -> HashArray:
    """A seed for each block of a sequence, from that of the sequence and the number of the block."""
    return _random_numbers(seeds, numbers.astype(np.uint64) + np.uint64(1))


def _random_numbers(seeds: HashArray, steps: HashArray | np.uint64) -> HashArray:
    """SplitMix64: the numbers that come some steps after their seeds."""
    with np.errstate(over="ignore"):
        return _mixed(seeds + steps * _STEP)


def _mixed(x: HashArray) -> HashArray:
    """Mix the bits (the finaliser of SplitMix64)."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(x ^ (x >> np.uint64(31)))
