"""What each position sees, and which positions are alike: for counting under many weights at once.

Positions that see the same and hold the same label count alike under any weights, so they are merged first;
then every cell of a count is a sum of rows of weights (``add_rows``).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from summarkov.kernels.index import Index
from summarkov.kernels.numpy_kernels import COUNT, ORDINAL_FIRST, ORDINAL_LAST, Window, _levels, _pairs
from summarkov.typing import CodeArray, IntArray

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
