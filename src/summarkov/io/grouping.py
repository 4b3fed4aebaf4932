"""From rows to sequences: grouped by case, sorted by order, and cut into sessions."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from summarkov.arrow import pa
from summarkov.errors import DataError, SettingError
from summarkov.settings import is_number, read_time
from summarkov.typing import BoolArray, IntArray


@dataclass(frozen=True)
class Grouping:
    """Where the rows go: row ``rows[i]`` is event ``i`` (``rows=None``: they are in place already)."""

    rows: IntArray | None
    offsets: IntArray
    cases: npt.NDArray[np.integer]  # the case code of every sequence
    tied: BoolArray | None = None  # whether each event has the place of the one before, if it has a place

    @property
    def tied_order(self) -> int:
        """How many events have the place of the one before."""
        return 0 if self.tied is None else int(np.count_nonzero(self.tied))

    def placed(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """The values of rows in the order of events."""
        return values if self.rows is None else values[self.rows]


#: What rows are sorted by: the first array, and where that has equal values the next, and so on.
Keys = Sequence[npt.NDArray[Any]]


def group(case: npt.NDArray[np.integer], order: Keys = ()) -> Grouping:
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
    ties = None
    if order:
        keys = order if rows is None else [each[rows] for each in order]
        if not sorted_within(keys, starts):
            moved = sort_within(keys, starts)
            rows = moved if rows is None else rows[moved]
            keys = [each[moved] for each in keys]
        ties = tied(keys, starts)
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


def sorted_within(keys: Keys, starts: IntArray) -> bool:
    """Whether every sequence is in order already."""
    return count_falls(keys, starts) == 0


def count_falls(keys: Keys, starts: IntArray) -> int:
    """Count the events that come before the event that stands before them, in the same sequence."""
    falls = keys[-1][1:] < keys[-1][:-1]
    for each in keys[-2::-1]:
        falls = (each[1:] < each[:-1]) | ((each[1:] == each[:-1]) & falls)
    falls[starts[1:] - 1] = False  # from one case to the next they may fall
    return int(np.count_nonzero(falls))


def sort_within(keys: Keys, starts: IntArray) -> IntArray:
    """Sort every sequence by its keys; equal keys keep their order."""
    lengths = np.diff(np.append(starts, len(keys[0])))
    sequence = np.repeat(np.arange(len(starts)), lengths)
    by_key = np.lexsort(keys[::-1]) if len(keys) > 1 else np.argsort(keys[0], kind="stable")
    return by_key[stable_order(sequence[by_key])]


def tied(keys: Keys, starts: IntArray) -> BoolArray:
    """Whether the keys of each event equal those of the event before, in the same sequence."""
    found = np.zeros(len(keys[0]), bool)
    np.logical_and.reduce([each[1:] == each[:-1] for each in keys], out=found[1:])
    found[starts] = False
    return found


_PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}


@dataclass(frozen=True)
class Gap:
    """A length of time, or if ``timed`` is not set a number, in whatever unit the order column has."""

    length: Fraction
    timed: bool

    @staticmethod
    def of(given: object) -> Gap:
        """Read "30min", "90 days", a number, or a timedelta of Python, NumPy or pandas.

        >>> Gap.of("1.5h"), Gap.of("2 days")
        (Gap(length=Fraction(5400, 1), timed=True), Gap(length=Fraction(172800, 1), timed=True))
        """
        found = read_time(given, "session_gap")
        if found is not None:
            return Gap(*found)
        plain = given.item() if isinstance(given, np.generic) else given
        if is_number(plain) and 0 <= plain <= sys.float_info.max:
            return Gap(Fraction(plain), timed=False)
        raise SettingError(
            "session_gap must be a time such as '30min' or '90 days' (ms, s, min, h, d, w), a number from 0 "
            "on in the unit of the order column (seconds, if that holds dates or times), or a timedelta, not "
            f"{given!r}"
        )

    def in_keys(self, kind: pa.DataType, name: str, source: str) -> Fraction:
        """Its length in the numbers that a column of this type is sorted by. (Text must be empty.)"""
        if pa.types.is_integer(kind) or pa.types.is_floating(kind):
            if self.timed:
                raise SettingError(
                    f"order column {name!r} of {source} holds numbers, not times; "
                    "give session_gap as a number in their unit"
                )
            return self.length
        if pa.types.is_date32(kind):
            return self.length / 86400
        if pa.types.is_date64(kind):
            return self.length * 1000
        if pa.types.is_decimal(kind):
            raise DataError(
                f"order column {name!r} of {source} holds {kind}, which session_gap cannot measure; "
                "turn it into floats or whole numbers first"
            )
        return self.length * _PER_SECOND[getattr(kind, "unit", "s")]


def cut_sessions(
    keys: npt.NDArray[Any], offsets: IntArray, ids: Sequence[str], gap: Fraction, first: int = 1
) -> tuple[IntArray, list[str], IntArray]:
    """Begin a new sequence wherever more than ``gap`` lies between an event and the one before it.

    ``keys`` are sorted in every sequence. Sequence ``a`` becomes ``a/1``, ``a/2``, ..., the first one from
    number ``first`` on. Returns the offsets and names of the new sequences, and the number of the sequence
    that each was a part of.

    >>> offsets, ids, of = cut_sessions(np.array([1, 2, 9, 4]), np.array([0, 3, 4]), ["a", "b"], Fraction(5))
    >>> offsets.tolist(), ids, of.tolist()
    ([0, 2, 3, 4], ['a/1', 'a/2', 'b/1'], [0, 0, 1])
    """
    far = _far(keys, gap)
    far[offsets[1:-1][(offsets[1:-1] > 0) & (offsets[1:-1] < len(keys))] - 1] = False
    cuts = np.flatnonzero(far) + 1
    starts = np.concatenate([offsets[:-1], cuts])
    owner = np.concatenate([np.arange(len(offsets) - 1), np.searchsorted(offsets, cuts, side="right") - 1])
    order = np.argsort(starts, kind="stable")
    owner = owner[order]
    number = np.arange(len(owner)) - np.searchsorted(owner, owner) + np.where(owner == 0, first, 1)
    names = [f"{ids[own]}/{n}" for own, n in zip(owner.tolist(), number.tolist(), strict=True)]
    return np.append(starts[order], len(keys)), names, owner


class Sessions:
    """Cuts sequences that are read some events at a time, see :func:`cut_sessions`."""

    def __init__(self, gap: Fraction) -> None:
        self._gap, self._number = gap, 0  # that of the last session
        self._name: str | None = None
        self._key: npt.NDArray[Any] = np.empty(0)  # of the last event, which was of that name

    def cut(
        self, keys: npt.NDArray[Any], starts: IntArray, ids: Sequence[str]
    ) -> tuple[IntArray, list[str], IntArray]:
        """Where sessions begin or go on, their names, and the number of the run that each is a part of.

        >>> sessions = Sessions(Fraction(5))
        >>> sessions.cut(np.array([1, 2, 9]), np.array([0]), ["a"])[1]
        ['a/1', 'a/2']
        >>> sessions.cut(np.array([10, 20, 4]), np.array([0, 2]), ["a", "b"])[1]
        ['a/2', 'a/3', 'b/1']
        """
        first = 1
        if ids[0] == self._name:
            first = self._number + int(_far(np.concatenate([self._key, keys[:1]]), self._gap)[0])
        offsets, names, of = cut_sessions(keys, np.append(starts, len(keys)), ids, self._gap, first)
        self._name, self._key, self._number = ids[-1], keys[-1:], int(names[-1].rpartition("/")[2])
        return offsets[:-1], names, of


def _far(keys: npt.NDArray[Any], gap: Fraction) -> BoolArray:
    """Whether each key but the first is further than the gap from the one before. (Falls do not matter.)"""
    if keys.dtype.kind == "f":
        with np.errstate(invalid="ignore", over="ignore"):  # from inf to inf is no gap
            return np.asarray(np.diff(keys) > float(gap))
    # exact also where the difference does not fit: modulo 2^64, and no rise is longer
    wide = keys.astype(np.uint64) if keys.dtype.kind == "u" else keys.astype(np.int64).view(np.uint64)
    return np.asarray((np.diff(wide) > min(math.floor(gap), 2**64 - 1)) & (keys[1:] > keys[:-1]))
