"""From an Arrow order column to keys that NumPy can sort."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from summarkov.errors import DataError
from summarkov.readers.arrays import numpy_of, refuse_missing

if TYPE_CHECKING:
    import pyarrow as pa


def sort_keys(column: pa.ChunkedArray, name: str, source: str) -> npt.NDArray[Any]:
    """Return numbers in the order of a column of numbers, dates or times.

    Text is read as numbers, else as ISO dates and times; text that is neither is refused, since
    sorted as text "10" would come before "9".

    >>> import pyarrow as pa
    >>> sort_keys(pa.chunked_array([["10", "9"]]), "step", "the table").tolist()
    [10, 9]
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    column = as_ordered(column, name, source)
    if not len(column):
        return np.zeros(0, dtype=np.int64)
    kind = column.type
    if pa.types.is_integer(kind) or pa.types.is_floating(kind):
        return numpy_of(column)
    if pa.types.is_decimal(kind):
        return numpy_of(pa.chunked_array([pc.rank(column, tiebreaker="dense")]))
    if pa.types.is_date(kind) or pa.types.is_time(kind):
        kind = pa.int32() if kind.bit_width == 32 else pa.int64()
        return numpy_of(column.cast(kind))
    if pa.types.is_timestamp(kind) or pa.types.is_duration(kind):
        return numpy_of(column.cast(pa.int64()))
    raise DataError(
        f"order column {name!r} of {source} holds {kind}; it must hold numbers, dates or times "
        "(or use order=False if the rows are in order)"
    )


def as_ordered(column: pa.ChunkedArray, name: str, source: str, first_row: int = 0) -> pa.ChunkedArray:
    """Return the column, of a type that has an order: text as the first type that all of it fits.

    ``first_row`` is the row at which the column begins, where it is a part of a longer one.
    """
    import pyarrow as pa

    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    refuse_missing(column, name, source, first_row)
    return _parse(column, name, source, first_row) if is_text(column.type) and len(column) else column


def is_text(kind: pa.DataType) -> bool:
    """Whether a column of this type holds text."""
    import pyarrow as pa

    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def text_kinds() -> list[tuple[pa.DataType, bool]]:
    """What text in an order column can be, and whether its dates are then to be written as ISO does first.

    The first kind that all of it fits is taken.
    """
    import pyarrow as pa

    times = [pa.timestamp(unit, zone) for unit in ("us", "ns") for zone in (None, "UTC")]
    return [(kind, False) for kind in (pa.int64(), pa.float64(), *times)] + [(kind, True) for kind in times]


def read_text(text: pa.ChunkedArray, kind: tuple[pa.DataType, bool]) -> pa.ChunkedArray | None:
    """All of some text as values of a kind, or None if it does not fit."""
    import pyarrow as pa

    try:
        return (_as_iso(text) if kind[1] else text).cast(kind[0])
    except pa.ArrowInvalid:
        return None


def unreadable_row(text: pa.ChunkedArray) -> int:
    """The first row that is neither a number nor a date, or else the first of all."""
    return next((row for row, value in enumerate(_as_iso(text).to_pylist()) if not _readable(value)), 0)


def unordered(name: str, source: str, where: str, value: str) -> DataError:
    """The error for text that cannot be put in order."""
    return DataError(
        f"order column {name!r} of {source} cannot be put in order: {where} holds {value[:40]!r}; write all "
        "of it as numbers, or all as dates like 2024-01-31 18:30:00 "
        "(or use order=False if the rows are in order)"
    )


def _parse(column: pa.ChunkedArray, name: str, source: str, first_row: int) -> pa.ChunkedArray:
    """Read text as the first type that all of it fits."""
    import pyarrow as pa

    text = column.cast(pa.string())
    for kind in text_kinds():
        read = read_text(text, kind)
        if read is not None:
            return read
    row = unreadable_row(text)
    raise unordered(name, source, f"row {first_row + row + 1} of the data", text[row].as_py())


def _as_iso(text: pa.ChunkedArray) -> pa.ChunkedArray:
    """Write dates as ISO does where they can mean only one: 2024/01/31, as Disco and ProM, and 31.01.2024."""
    import pyarrow.compute as pc

    text = pc.replace_substring_regex(text, r"^(\d{4})/(\d{2})/(\d{2})\b", r"\1-\2-\3")
    return pc.replace_substring_regex(text, r"^(\d{2})\.(\d{2})\.(\d{4})\b", r"\3-\2-\1")


def _readable(value: str) -> bool:
    for read in (float, datetime.fromisoformat):
        try:
            read(value)
        except ValueError:
            continue
        return True
    return False
