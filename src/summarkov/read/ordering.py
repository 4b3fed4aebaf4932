"""Rows, case by case and in order: grouped and sorted, their ties, their times, and where sessions begin."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

import numpy as np

from summarkov.arrow import pa
from summarkov.errors import DataError, SettingError, TiesWarning, warn_caller
from summarkov.events.describe import Origin
from summarkov.events.moments import FARTHEST, TimeUnit
from summarkov.settings import is_number, read_time
from summarkov.typing import Array, BoolArray, IntArray

if TYPE_CHECKING:
    from summarkov.read.columns import Wanted

#: What may become of events with the same place.
TieKind = Literal["in row order", "together", "error"]
TIES: tuple[TieKind, ...] = get_args(TieKind)
#: Up to this share of all events, those with the place of the one before are few.
_FEW = 0.01
_NANOSECONDS = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}
_DAY = 86400 * 10**9
#: Numbers that are not whole are told apart to this part of one.
_PARTS = 10**9

#: What rows are sorted by: the first array, and where that has equal values the next, and so on.
Keys = Sequence[Array]


def group(case: Array, order: Keys = ()) -> IntArray | None:
    """The rows, those of each case together, cases by first appearance, rows by ``order`` or as they come.

    None if they are so already. All sorting is stable; nothing is sorted that is in order.

    >>> group(np.array([7, 3, 7]))
    array([0, 2, 1])
    """
    rows = None
    starts = run_starts(case)
    if len(starts) and np.bincount(case[starts]).max() > 1:
        runs = case[starts]
        first = np.full(runs.max() + 1, len(runs))
        np.minimum.at(first, runs, np.arange(len(runs)))
        rows = _stable_order(first[case])
        case = case[rows]
        starts = run_starts(case)
    if order:
        keys = order if rows is None else [each[rows] for each in order]
        if count_falls(keys, starts):
            by_key = np.lexsort(keys[::-1]) if len(keys) > 1 else np.argsort(keys[0], kind="stable")
            lengths = np.diff(np.append(starts, len(case)))
            moved = by_key[_stable_order(np.repeat(np.arange(len(starts)), lengths)[by_key])]
            rows = moved if rows is None else rows[moved]
    return rows


def run_starts(case: Array) -> IntArray:
    """Return the rows at which another case begins."""
    return np.flatnonzero(np.append(len(case) > 0, case[1:] != case[:-1])[: len(case)])


def _stable_order(keys: Array) -> IntArray:
    """Return ``argsort(keys, kind="stable")`` of keys 0, 1, ..., several times as fast.

    Key and row number are packed into one integer: no two are equal, so the fastest sort will do.
    Both fit in 63 bits, since keys are below the number of rows, and rows are far fewer than 2^31.
    """
    bits = max(len(keys) - 1, 1).bit_length()
    packed = (keys.astype(np.int64) << bits) | np.arange(len(keys))
    packed.sort()
    return packed & ((1 << bits) - 1)


def count_falls(keys: Keys, starts: IntArray) -> int:
    """Count the events that come before the event that stands before them, in the same sequence."""
    falls = keys[-1][1:] < keys[-1][:-1]
    for each in keys[-2::-1]:
        falls = (each[1:] < each[:-1]) | ((each[1:] == each[:-1]) & falls)
    falls[starts[1:] - 1] = False  # from one case to the next they may fall
    return int(np.count_nonzero(falls))


# ---------------------------------------------------------------------- ties and times


def tied(keys: Keys, starts: IntArray) -> BoolArray:
    """Whether the keys of each event equal those of the event before, in the same sequence."""
    found = np.zeros(len(keys[0]), bool)
    np.logical_and.reduce([each[1:] == each[:-1] for each in keys], out=found[1:])
    found[starts] = False
    return found


def repeated(codes: Array, tied: BoolArray) -> BoolArray:
    """Whether each event has the case, the place and the label of an earlier one.

    ``tied`` have the place of the event before.

    >>> repeated(np.array([3, 5, 3, 3]), np.array([False, True, True, False])).tolist()
    [False, False, True, False]
    """
    found = np.zeros(len(codes), bool)
    rows = np.flatnonzero(tied | np.append(tied[1:], False))
    place, labels = np.cumsum(~tied)[rows], codes[rows]
    order = np.lexsort((labels, place))  # which is stable
    found[rows[order[1:]]] = (np.diff(place[order]) == 0) & (np.diff(labels[order]) == 0)
    return found


class Ties(NamedTuple):
    """How many events have the place of the one before, and the first case in which some have."""

    n: int = 0
    case: str | None = None

    @classmethod
    def of(cls, tied: BoolArray | None, offsets: IntArray, ids: Sequence[str] | range) -> Ties:
        """Those of some sequences, from which of their events are tied.

        >>> Ties.of(np.array([False, False, True]), np.array([0, 1, 3]), ["a", "b"])
        Ties(n=1, case='b')
        """
        if tied is None or not tied.any():
            return cls()
        sequence = int(np.searchsorted(offsets, tied.argmax(), side="right")) - 1
        return cls(int(np.count_nonzero(tied)), str(ids[sequence]))


def warn_of_ties(n: int, n_events: int, origin: Origin | None, wanted: Wanted, source: str) -> None:
    """Warn of many events with the place of the one before, unless it was said what these are."""
    if wanted.ties is None and n > _FEW * n_events:
        warn_caller(
            f"{(origin or Origin()).ties(n, source)}, which may be an accident; say ties='together' if they "
            "happened at once, or ties='in row order' if the rows are in order",
            TiesWarning,
        )


def refuse_ties(ties: Ties, wanted: Wanted, name: str, source: str) -> None:
    """Refuse events with the same place as the one before, if asked to."""
    if ties.n and wanted.ties == "error":
        raise DataError(
            f"{Origin(order=(name,), tied_case=ties.case).tied(ties.n, source)}; say "
            "ties='together' if they happened at once, or ties='in row order' if the rows are in order"
        )


def refuse_no_order(wanted: Wanted, source: str) -> None:
    """Refuse to tell when events happened where no order column does."""
    asked = {
        "session_gap": wanted.gap is not None,
        "look-backs in time (times=True)": wanted.times,
        f"ties={wanted.ties!r}": wanted.ties in ("together", "error"),
        "drop_duplicates": wanted.drop_duplicates,
    }
    if what := " and ".join(name for name, is_asked in asked.items() if is_asked):
        raise SettingError(
            f"for {what} the place of every event must be known, and {source} has no order column; name it "
            "with order_by="
        )


def times_of(keys: Array, kind: pa.DataType, name: str, source: str) -> tuple[IntArray, TimeUnit]:
    """The times that the keys of an order column of this type stand for, and what they are measured in."""
    farthest = 2**31 if pa.types.is_floating(kind) else FARTHEST
    if len(keys) and not (keys.min() > -farthest and keys.max() < farthest):
        raise DataError(
            f"order column {name!r} of {source} holds numbers that are too large to be times; "
            "subtract the first, or write whole numbers"
        )
    if pa.types.is_floating(kind):
        return np.rint(keys.astype(np.float64) * _PARTS).astype(np.int64), TimeUnit(1, False)
    number = pa.types.is_integer(kind)
    return keys.astype(np.int64), TimeUnit(_PARTS if number else _nanoseconds(kind), not number)


def _nanoseconds(kind: pa.DataType) -> int:
    """What 1 is, in the keys of a column of dates or times of this type."""
    return _DAY if pa.types.is_date32(kind) else _NANOSECONDS[getattr(kind, "unit", "ms")]


# ---------------------------------------------------------------------- sessions


class Gap(NamedTuple):
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

    def exceeded(self, keys: Array, kind: pa.DataType, name: str, source: str) -> BoolArray:
        """Whether each key but the first is further than this from the one before. (Falls do not matter.)"""
        number = pa.types.is_integer(kind) or pa.types.is_floating(kind)
        if number and self.timed:
            raise SettingError(
                f"order column {name!r} of {source} holds numbers, not times; "
                "give session_gap as a number in their unit"
            )
        gap = self.length if number else self.length * 10**9 / _nanoseconds(kind)
        if keys.dtype.kind == "f":
            with np.errstate(invalid="ignore", over="ignore"):  # from inf to inf is no gap
                return np.asarray(np.diff(keys) > float(gap))
        # exact also where the difference does not fit: modulo 2^64, and no rise is longer
        wide = keys.astype(np.uint64)
        return np.asarray((np.diff(wide) > min(gap // 1, 2**64 - 1)) & (keys[1:] > keys[:-1]))


def cut_sessions(
    far: BoolArray, offsets: IntArray, ids: Sequence[str] | range
) -> tuple[IntArray, list[str], IntArray]:
    """Begin a new sequence wherever an event is ``far`` from the one before it, of all events but the first.

    Sequence ``a`` becomes ``a/1``, ``a/2``, ... Returns the offsets and names of the new sequences, and the
    number of the sequence that each was a part of.

    >>> offsets, ids, of = cut_sessions(np.array([False, True, False]), np.array([0, 3, 4]), ["a", "b"])
    >>> offsets.tolist(), ids, of.tolist()
    ([0, 2, 3, 4], ['a/1', 'a/2', 'b/1'], [0, 0, 1])
    """
    cuts = np.setdiff1d(np.flatnonzero(far) + 1, offsets)
    starts = np.concatenate([offsets[:-1], cuts])
    owner = np.concatenate([np.arange(len(offsets) - 1), np.searchsorted(offsets, cuts, side="right") - 1])
    order = np.argsort(starts, kind="stable")
    owner = owner[order]
    number = np.arange(len(owner)) - np.searchsorted(owner, owner) + 1
    names = [f"{ids[own]}/{n}" for own, n in zip(owner.tolist(), number.tolist(), strict=True)]
    return np.append(starts[order], offsets[-1]), names, owner
