"""From sort keys to moments: which events happened together, and when."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from summarkov.errors import DataError, SettingError
from summarkov.events.moments import Moments, TimeUnit
from summarkov.io.grouping import Keys
from summarkov.typing import CodeArray, IntArray

if TYPE_CHECKING:
    import pyarrow as pa

    from summarkov.io.wanted import Wanted

#: What may become of events with the same place.
TIES = ("in row order", "together", "error")
_NANOSECONDS = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}
_DAY = 86400 * 10**9
#: Numbers that are not whole are told apart to this part of one.
_PARTS = 10**9


def with_moments(
    codes: CodeArray,
    offsets: IntArray,
    keys: Keys,
    kind: pa.DataType | None,
    ties: int,
    wanted: Wanted,
    where: tuple[str, str],
) -> tuple[CodeArray, IntArray, Moments | None, int]:
    """The codes and offsets of sorted events, their moments as asked for, and the ties that are left.

    ``keys`` are what events were sorted by, ``kind`` is the type of the first of these columns, and ``where``
    the name of that and of the source.
    """
    if not keys or kind is None:
        if wanted.times or wanted.ties == "together":
            raise SettingError(
                f"times=True and ties='together' need the time of every event, and {where[1]} has no order "
                "column; name it with order="
            )
        return codes, offsets, None, ties
    refuse_ties(ties, wanted, *where)
    together = wanted.ties == "together"
    if not together and not wanted.times:
        return codes, offsets, None, ties
    starts = np.ones(len(codes), bool)
    if together:
        starts[1:] = ~np.logical_and.reduce([each[1:] == each[:-1] for each in keys])
    times, unit = _times(keys, kind, where) if wanted.times else (None, TimeUnit(1, True))
    codes, offsets, moments = Moments.made(codes, offsets, starts, times, unit)
    return codes, offsets, moments, 0 if together else ties


def refuse_ties(ties: int, wanted: Wanted, name: str, source: str) -> None:
    """Refuse events with the same place as the one before, if asked to."""
    if ties and wanted.ties == "error":
        raise DataError(
            f"{ties:,} event{'' if ties == 1 else 's'} of {source} with the same {name!r} as the one before; "
            "say ties='together' if they happened at once, or ties='in row order' if the rows are in order"
        )


def _times(keys: Keys, kind: pa.DataType, where: tuple[str, str]) -> tuple[IntArray, TimeUnit]:
    """The times that keys stand for, and what these are measured in."""
    import pyarrow as pa

    first = keys[0]
    if pa.types.is_floating(kind):
        if not np.isfinite(first).all() or (np.abs(first) > 2**31).any():
            raise DataError(
                f"order column {where[0]!r} of {where[1]} holds numbers that are too large to be times; "
                "subtract the first, or write whole numbers"
            )
        return np.rint(first.astype(np.float64) * _PARTS).astype(np.int64), TimeUnit(1, False)
    if pa.types.is_integer(kind):
        return first.astype(np.int64), TimeUnit(_PARTS, False)
    if pa.types.is_decimal(kind):
        raise DataError(
            f"order column {where[0]!r} of {where[1]} holds {kind}, which cannot be kept as times; turn it "
            "into floats or whole numbers first"
        )
    size = _DAY if pa.types.is_date32(kind) else _NANOSECONDS[getattr(kind, "unit", "ms")]
    return first.astype(np.int64), TimeUnit(size, True)
