"""From rows to sequences: group by case, sort by order, count ties. NumPy only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from summarkov.typing import IntArray


@dataclass(frozen=True)
class Grouping:
    """Where the rows go: row ``rows[i]`` is event ``i`` (``rows=None``: they are in place already)."""

    rows: IntArray | None
    offsets: IntArray
    cases: npt.NDArray[np.integer]  # the case code of every sequence
    tied_order: int


def group(case: npt.NDArray[np.integer], order: npt.NDArray[Any] | None = None) -> Grouping:
    """Put the rows of each case together, cases by first appearance, rows by ``order`` or as they come.

    Rows that are grouped (and sorted) already are recognised and stay where they are; nothing is
    sorted then. All sorting is stable.

    >>> grouping = group(np.array([7, 3, 7]))
    >>> grouping.rows.tolist(), grouping.offsets.tolist(), grouping.cases.tolist()
    ([0, 2, 1], [0, 2, 3], [7, 3])
    """
    rows = None
    starts = run_starts(case)
    if repeats(case[starts]):
        rows = stable_order(first_appearance(case[starts])[case])
        case = case[rows]
        starts = run_starts(case)
    ties = 0
    if order is not None:
        keys = order if rows is None else order[rows]
        if not sorted_within(keys, starts):
            moved = sort_within(keys, starts)
            rows = moved if rows is None else rows[moved]
            keys = keys[moved]
        ties = count_ties(keys, starts)
    return Grouping(rows, np.append(starts, len(case)), case[starts], ties)


def run_starts(case: npt.NDArray[np.integer]) -> IntArray:
    """Return the rows at which another case begins."""
    if not len(case):
        return np.zeros(0, dtype=np.int64)
    changes = np.flatnonzero(case[1:] != case[:-1]) + 1
    return np.concatenate([np.zeros(1, dtype=np.int64), changes])


def repeats(run_cases: npt.NDArray[np.integer]) -> bool:
    """Whether some case comes in more than one run."""
    return len(run_cases) > 0 and bool(np.bincount(run_cases).max() > 1)


def first_appearance(run_cases: npt.NDArray[np.integer]) -> IntArray:
    """Return, for every case code, its place in the order of first appearance."""
    first = np.full(run_cases.max() + 1, len(run_cases))
    np.minimum.at(first, run_cases, np.arange(len(run_cases)))
    place = np.empty_like(first)
    place[np.argsort(first, kind="stable")] = np.arange(len(first))
    return place


def stable_order(keys: npt.NDArray[np.integer]) -> IntArray:
    """Return ``argsort(keys, kind="stable")`` of keys 0, 1, ..., several times as fast.

    Key and row number are packed into one integer: no two are equal, so the fastest sort will do.
    Both fit in 63 bits, since keys are 32-bit codes and rows are far fewer than 2^32.
    """
    bits = max(len(keys) - 1, 1).bit_length()
    packed = (keys.astype(np.int64) << bits) | np.arange(len(keys))
    packed.sort()
    return packed & ((1 << bits) - 1)


def sorted_within(keys: npt.NDArray[Any], starts: IntArray) -> bool:
    """Whether every sequence is in order already."""
    falls = keys[1:] < keys[:-1]
    falls[starts[1:] - 1] = False  # from one case to the next they may fall
    return not falls.any()


def sort_within(keys: npt.NDArray[Any], starts: IntArray) -> IntArray:
    """Sort every sequence by its keys; equal keys keep their order."""
    lengths = np.diff(np.append(starts, len(keys)))
    sequence = np.repeat(np.arange(len(starts)), lengths)
    by_key = np.argsort(keys, kind="stable")
    return by_key[stable_order(sequence[by_key])]


def count_ties(keys: npt.NDArray[Any], starts: IntArray) -> int:
    """Count the events whose key equals that of the event before, in the same sequence."""
    same = keys[1:] == keys[:-1]
    same[starts[1:] - 1] = False
    return int(np.count_nonzero(same))
