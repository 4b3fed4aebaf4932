"""From sort keys to moments: which events happened together, and when; and where sessions begin."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

import numpy as np
import numpy.typing as npt

from summarkov.arrow import pa
from summarkov.errors import DataError, SettingError, TiesWarning, warn_caller
from summarkov.events.describe import Origin
from summarkov.events.moments import FARTHEST, TimeUnit
from summarkov.settings import is_number, read_time
from summarkov.typing import BoolArray, IntArray

if TYPE_CHECKING:
    from summarkov.read.wanted import Wanted

#: What may become of events with the same place.
TieKind = Literal["in row order", "together", "error"]
TIES: tuple[TieKind, ...] = get_args(TieKind)
#: Up to this share of all events, those with the place of the one before are few.
_FEW = 0.01
_NANOSECONDS = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}
_DAY = 86400 * 10**9
#: Numbers that are not whole are told apart to this part of one.
_PARTS = 10**9


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
        n = 0 if tied is None else int(np.count_nonzero(tied))
        if tied is None or not n:
            return cls()
        sequence = int(np.searchsorted(offsets, tied.argmax(), side="right")) - 1
        return cls(n, str(ids[sequence]))


def warn_of_ties(n: int, n_events: int, origin: Origin | None, wanted: Wanted, source: str) -> None:
    """Warn of many events with the place of the one before, unless it was said what these are."""
    if wanted.ties is not None or n <= _FEW * n_events:
        return
    told = (origin or Origin()).ties(n, source)
    warn_caller(
        f"{told}, which may be an accident; say ties='together' if they happened at once, or ties='in row "
        "order' if the rows are in order",
        TiesWarning,
    )


def refuse_no_order(wanted: Wanted, source: str) -> None:
    """Refuse to tell when events happened where no order column does."""
    if wanted.gap is not None:
        raise SettingError(
            f"session_gap needs the time of every event, and {source} has no order column; "
            "name it with order_by="
        )
    if wanted.times or wanted.ties == "together":
        raise SettingError(
            f"look-backs in time, times=True and ties='together' need the time of every event, and {source} "
            "has no order column; name it with order_by="
        )
    if wanted.drop_duplicates:
        raise SettingError(
            "duplicates are rows of the same case, event and place, and without an order column "
            f"{source} tells no places; name it with order_by=, or leave out drop_duplicates=True"
        )


def refuse_ties(ties: Ties, wanted: Wanted, name: str, source: str) -> None:
    """Refuse events with the same place as the one before, if asked to."""
    if ties.n and wanted.ties == "error":
        raise DataError(
            f"{Origin(order=(name,), tied_case=ties.case).tied(ties.n, source)}; say "
            "ties='together' if they happened at once, or ties='in row order' if the rows are in order"
        )


def times_of(keys: npt.NDArray[Any], kind: pa.DataType, name: str, source: str) -> tuple[IntArray, TimeUnit]:
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

    def in_keys(self, kind: pa.DataType, name: str, source: str) -> Fraction:
        """Its length in the numbers that a column of this type is sorted by."""
        if pa.types.is_integer(kind) or pa.types.is_floating(kind):
            if self.timed:
                raise SettingError(
                    f"order column {name!r} of {source} holds numbers, not times; "
                    "give session_gap as a number in their unit"
                )
            return self.length
        return self.length * 10**9 / _nanoseconds(kind)


def cut_sessions(
    keys: npt.NDArray[Any], offsets: IntArray, ids: Sequence[str] | range, gap: Fraction
) -> tuple[IntArray, list[str], IntArray]:
    """Begin a new sequence wherever more than ``gap`` lies between an event and the one before it.

    ``keys`` are sorted in every sequence. Sequence ``a`` becomes ``a/1``, ``a/2``, ... Returns the
    offsets and names of the new sequences, and the number of the sequence
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
    number = np.arange(len(owner)) - np.searchsorted(owner, owner) + 1
    names = [f"{ids[own]}/{n}" for own, n in zip(owner.tolist(), number.tolist(), strict=True)]
    return np.append(starts[order], len(keys)), names, owner


def _far(keys: npt.NDArray[Any], gap: Fraction) -> BoolArray:
    """Whether each key but the first is further than the gap from the one before. (Falls do not matter.)"""
    if keys.dtype.kind == "f":
        with np.errstate(invalid="ignore", over="ignore"):  # from inf to inf is no gap
            return np.asarray(np.diff(keys) > float(gap))
    # exact also where the difference does not fit: modulo 2^64, and no rise is longer
    wide = keys.astype(np.uint64) if keys.dtype.kind == "u" else keys.astype(np.int64).view(np.uint64)
    return np.asarray((np.diff(wide) > min(math.floor(gap), 2**64 - 1)) & (keys[1:] > keys[:-1]))
