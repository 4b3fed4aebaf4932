"""From an Arrow order column to keys that NumPy can sort."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, time
from typing import Any

import numpy as np
import numpy.typing as npt

from summarkov.arrow import pa, pc
from summarkov.errors import DataError
from summarkov.io.date_formats import DateFormat
from summarkov.io.encoding import missing_rows, numpy_of, refuse_missing, without_codes
from summarkov.typing import IntArray

#: Digits that 64 bits hold.
_DIGITS = 18
#: No number, date or time is written in more bytes than this.
_LONGEST = 1000


def sort_keys(column: pa.ChunkedArray, name: str, source: str) -> npt.NDArray[Any]:
    """Return numbers in the order of a column of numbers, dates or times.

    Text is read as numbers, else as ISO dates and times, else as times of day; text that is none of these
    is refused, since sorted as text "10" would come before "9".

    >>> import pyarrow as pa
    >>> sort_keys(pa.chunked_array([["10", "9"]]), "step", "the table").tolist()
    [10, 9]
    """
    column = as_ordered(column, name, source)
    if not len(column):
        return np.zeros(0, dtype=np.int64)
    kind = column.type
    if pa.types.is_integer(kind) or pa.types.is_floating(kind):
        return numpy_of(column)
    if is_ranked(kind):
        return numpy_of(pa.chunked_array([pc.rank(column, tiebreaker="dense")]))
    if pa.types.is_decimal(kind):
        return _unscaled(column)
    if pa.types.is_date(kind) or pa.types.is_time(kind):
        kind = pa.int32() if kind.bit_width == 32 else pa.int64()
        return numpy_of(column.cast(kind))
    if pa.types.is_timestamp(kind) or pa.types.is_duration(kind):
        return numpy_of(column.cast(pa.int64()))
    raise DataError(
        f"order column {name!r} of {source} holds {kind}; it must hold numbers, dates or times "
        "(or use order=False if the rows are in order)"
    )


def is_ranked(kind: pa.DataType) -> bool:
    """Whether no numbers of 64 bits stand for the values, so that keys of one part say nothing of another."""
    return bool(pa.types.is_decimal(kind)) and kind.precision > _DIGITS


def _unscaled(column: pa.ChunkedArray) -> IntArray:
    """Decimals without their point: they have two words of 64 bits, and few digits fit into the lower one."""
    column = column.cast(pa.decimal128(column.type.precision, column.type.scale))
    words = [np.frombuffer(chunk.buffers()[1], "<i8")[::2] for chunk in column.chunks]
    each = zip(words, column.chunks, strict=True)
    return np.concatenate([some[chunk.offset : chunk.offset + len(chunk)] for some, chunk in each])


def as_ordered(
    column: pa.ChunkedArray,
    name: str,
    source: str,
    first_row: int = 0,
    date_format: DateFormat | None = None,
    thing: str = "row",
) -> pa.ChunkedArray:
    """Return the column, of a type that has an order: text as the first kind that all of it fits.

    ``first_row`` is the row at which the column begins, where it is a part of a longer one; ``thing`` is what
    errors call a row.
    """
    order = OrderColumn(name, date_format, thing)
    order.look(column, source, first_row)
    return order.values(column)


class OrderColumn:
    """An order column that comes in parts: looked at part by part, then read as one type.

    Whether text holds numbers, dates or times of day is decided by all of it, so that the result does not
    depend on how the column was cut.
    """

    def __init__(self, name: str, date_format: DateFormat | None = None, thing: str = "row") -> None:
        self.name, self.date_format, self.thing = name, date_format, thing
        self._kinds = text_kinds(date_format)
        self._first: tuple[str, int, str] | None = None  # where the first text stands, and what it is

    def look(self, column: pa.ChunkedArray, source: str, first_row: int = 0) -> None:
        """Refuse missing values, and text that is neither number nor date; note what text can be."""
        refuse_missing(column, self.name, source, first_row)
        self._refuse_long(column, source, first_row)
        column = without_codes(column)
        if not is_text(column.type) or not len(column):
            return
        text = order_text(column)
        if self._first is None:
            self._first = source, first_row, text[0].as_py()
        before, self._kinds = self._kinds, fitting(self._kinds, text)
        if self._kinds:
            return
        row = unreadable_row(text, self.date_format)
        if row is not None:
            raise self._unordered(column, row, source, first_row)
        raise self._mixed(text, _misfit(before, text), source, first_row)

    def _mixed(self, text: pa.ChunkedArray, row: int, source: str, first_row: int) -> DataError:
        """The error for texts each of which could be read, but not all in the same way."""
        assert self._first is not None
        where, first, value = self._first
        other = text[row].as_py()
        told = f"{self.thing} {first + 1} of the data holds {_shown(value)}"
        told += f" and {self.thing} {first_row + row + 1}"
        told += f" {_shown(other)}" if source == where else f" of {source} {_shown(other)}"
        if {_family(value), _family(other)} == {"date", "date with zone"}:
            return DataError(
                f"order column {self.name!r} of {where} cannot be put in order: {told}, one with a time zone "
                "and one without, so which came first is not known; write all with a zone, or all without"
            )
        return unordered(self.name, where, told)

    def _refuse_long(self, column: pa.ChunkedArray, source: str, first_row: int) -> None:
        """Refuse what is too long for a number or a date before a copy is made for every row."""
        if not pa.types.is_dictionary(column.type) or not is_text(column.type.value_type):
            return
        row = 0
        for chunk in column.chunks:
            long = pc.greater(pc.binary_length(chunk.dictionary.cast(pa.string())), _LONGEST)
            if pc.any(long).as_py():
                found = pc.index(long.take(chunk.indices), pa.scalar(True)).as_py()
                if found >= 0:
                    raise self._unordered(column, row + found, source, first_row)
            row += len(chunk)

    def _unordered(self, column: pa.ChunkedArray, row: int, source: str, first_row: int) -> DataError:
        where = f"{self.thing} {first_row + row + 1} of the data holds {_shown(column[row].as_py())}"
        return unordered(self.name, source, where, self.date_format)

    def values(self, column: pa.ChunkedArray) -> pa.ChunkedArray:
        """A part as values that have an order; all parts must have been looked at before."""
        column = without_codes(column)
        if not is_text(column.type) or not len(column):
            return column
        return self._kinds[0].read(order_text(column))


def is_text(kind: pa.DataType) -> bool:
    """Whether a column of this type holds text."""
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


@dataclass(frozen=True)
class TextKind:
    """One way to read the text of an order column. No text fits kinds of two families."""

    family: str  # "number", "date", "date with zone", "time of day" or "stated"
    type: pa.DataType
    format: DateFormat | None = None

    def read(self, text: pa.ChunkedArray) -> pa.ChunkedArray | None:
        """All of some text as values, or None if it does not fit; "nan" is no number."""
        if self.format is not None:
            return self.format.read(text)
        if self.family == "time of day":
            text = pc.binary_join_element_wise("1970-01-01", text, " ")
        values = _cast(text, self.type)
        if values is None and self.family.startswith("date"):
            values = _cast(_as_iso(text), self.type)
        if values is not None and pa.types.is_floating(self.type) and len(missing_rows(values)):
            return None
        return values


def text_kinds(date_format: DateFormat | None = None) -> list[TextKind]:
    """What text in an order column can be: numbers, or as stated. The first kind that all fits is taken."""
    if date_format is not None:
        numbers = [kind for kind in text_kinds() if kind.family == "number"]
        return [TextKind("stated", date_format.type, date_format), *numbers]
    return [
        TextKind("number", pa.int64()),
        TextKind("number", pa.float64()),
        TextKind("date", pa.timestamp("us")),
        TextKind("date", pa.timestamp("ns")),
        TextKind("date with zone", pa.timestamp("us", "UTC")),
        TextKind("date with zone", pa.timestamp("ns", "UTC")),
        TextKind("time of day", pa.timestamp("us")),
        TextKind("time of day", pa.timestamp("ns")),
    ]


def fitting(kinds: Sequence[TextKind], text: pa.ChunkedArray) -> list[TextKind]:
    """Those of some kinds that all of some text fits."""
    first = next((at for at, kind in enumerate(kinds) if kind.read(text) is not None), len(kinds))
    rest = [kind for kind in kinds[first + 1 :] if kind.family == kinds[first].family]
    return [*kinds[first : first + 1], *(kind for kind in rest if kind.read(text) is not None)]


def order_text(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """The text of an order column, without blanks around it."""
    return pc.utf8_trim_whitespace(column.cast(pa.string()))


def _misfit(kinds: Sequence[TextKind], text: pa.ChunkedArray) -> int:
    """The first row with which no kind fits all rows so far any more; there is one."""
    fit, unfit = 0, len(text)  # how many rows fit, and how many do not
    while unfit - fit > 1:
        half = (fit + unfit) // 2
        fit, unfit = (half, unfit) if fitting(kinds, text[:half]) else (fit, half)
    return fit


def _family(value: str) -> str:
    return next((kind.family for kind in fitting(text_kinds(), pa.chunked_array([[value]]))), "other")


def unreadable_row(text: pa.ChunkedArray, date_format: DateFormat | None = None) -> int | None:
    """The first row that is neither a number nor a date nor a time, or not as stated, if there is one."""
    if date_format is not None:
        return date_format.first_unfit(text)
    return next((row for row, value in enumerate(_as_iso(text).to_pylist()) if not _readable(value)), None)


def unordered(name: str, source: str, where: str, date_format: DateFormat | None = None) -> DataError:
    """The error for text that cannot be put in order."""
    if date_format is not None:
        return DataError(
            f"order column {name!r} of {source} cannot be read: {where}, which is not written as "
            f"date_format={date_format.text!r} says; mend it, or give the format that all of it has"
        )
    return DataError(
        f"order column {name!r} of {source} cannot be put in order: {where}; write all "
        "of it as numbers, or all as dates like 2024-01-31 18:30:00, or say how dates are written, as in "
        "date_format='%d/%m/%Y %H:%M' (or use order=False if the rows are in order)"
    )


def _shown(value: str) -> str:
    return repr(value[:40])


def _cast(text: pa.ChunkedArray, kind: pa.DataType) -> pa.ChunkedArray | None:
    try:
        return text.cast(kind)
    except pa.ArrowInvalid:
        return None


def _as_iso(text: pa.ChunkedArray) -> pa.ChunkedArray:
    """Write dates as ISO does where they can mean only one: 2024/01/31, as Disco and ProM, and 31.01.2024."""
    text = pc.replace_substring_regex(text, r"^(\d{4})/(\d{2})/(\d{2})\b", r"\1-\2-\3")
    return pc.replace_substring_regex(text, r"^(\d{2})\.(\d{2})\.(\d{4})\b", r"\3-\2-\1")


def _readable(value: str) -> bool:
    for read in (float, datetime.fromisoformat, time.fromisoformat):
        try:
            found = read(value)
        except ValueError:
            continue
        return found == found  # which nan is not
    return False
