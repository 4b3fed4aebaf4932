"""What follows the last labels, smoothed as Kneser and Ney do it."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from summarkov.typing import CodeArray, FloatArray


@dataclass(frozen=True)
class Level:
    """How often each outcome followed each context of one length, and how much is taken off each count."""

    rows: dict[bytes, int]  # the row of each context
    counts: FloatArray  # [context, outcome]
    discount: float

    @classmethod
    def of(cls, keys: CodeArray, counts: FloatArray) -> Level:
        """With the discount that Ney, Essen and Kneser estimate from the counts of 1 and of 2."""
        once = int(((counts > 0) & (counts <= 1)).sum())
        twice = int(((counts > 1) & (counts <= 2)).sum())
        discount = once / (once + 2 * twice) if once else 0.5
        return cls({key.tobytes(): row for row, key in enumerate(keys)}, counts, discount)

    @property
    def shares(self) -> tuple[FloatArray, FloatArray]:
        """For each context what its own counts give every outcome, and what is left to the shorter one."""
        taken, total = np.minimum(self.counts, self.discount), self.counts.sum(axis=1)
        return (self.counts - taken) / total[:, None], taken.sum(axis=1) / total


@dataclass(frozen=True, eq=False)
class LastLabels:
    """Interpolated Kneser-Ney smoothing: the distribution after the last labels.

    The probability after k labels is what their counts say, less a discount, and the rest goes to what is
    said after the last k - 1. There an outcome does not count as often as it occurred, but once for each
    different label before. What stands under all is that outcomes are equally likely.

    ``keys[c]`` are the codes of a context, the last label first; ``counts[c, x]`` is how often x followed.

    >>> after = LastLabels(np.array([[1], [2]], np.int32), np.array([[3.0, 1.0], [0.0, 2.0]]))
    >>> after.at(np.array([[1], [2], [3]], np.int32)).round(3).tolist()
    [[0.722, 0.278], [0.056, 0.944], [0.333, 0.667]]

    Reference: Kneser and Ney, "Improved backing-off for m-gram language modeling", ICASSP 1995.
    """

    keys: CodeArray
    counts: FloatArray
    levels: tuple[Level, ...] = field(init=False, repr=False)  # by the length of contexts, from 0 on

    def __post_init__(self) -> None:
        keys, counts = self.keys, self.counts
        levels = [Level.of(keys, counts)]
        for length in range(keys.shape[1] - 1, -1, -1):
            keys, counts = merged(keys[:, :length], (counts > 0).astype(float))
            levels.append(Level.of(keys, counts))
        object.__setattr__(self, "levels", tuple(reversed(levels)))

    @classmethod
    def of(cls, keys: CodeArray, counts: FloatArray) -> LastLabels:
        """From rows that may have equal contexts; those without any count are left out."""
        seen = counts.sum(axis=1) > 0
        return cls(*merged(keys[seen], counts[seen]))

    def at(self, keys: CodeArray) -> FloatArray:
        """The distribution after each context."""
        n = self.counts.shape[1]
        p = np.full((len(keys), n), 1 / n)
        for length, level in enumerate(self.levels):
            own, left = level.shares
            shorter = np.ascontiguousarray(keys[:, :length])
            found = np.array([level.rows.get(key.tobytes(), -1) for key in shorter], np.int64)
            known = np.flatnonzero(found >= 0)
            p[known] = own[found[known]] + left[found[known], None] * p[known]
        return p


def merged(keys: CodeArray, counts: FloatArray) -> tuple[CodeArray, FloatArray]:
    """Equal rows of ``keys`` as one, in sorted order, and the sums of their counts."""
    found, where = np.unique(keys, axis=0, return_inverse=True)
    sums = np.zeros((len(found), counts.shape[1]))
    np.add.at(sums, where.reshape(-1), counts)
    return np.ascontiguousarray(found), sums
