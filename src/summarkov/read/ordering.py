"""From order columns to keys that NumPy can sort: numbers, dates and times, and text that stands for them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from summarkov.arrow import pa, pc
from summarkov.errors import DataError
from summarkov.read.date_formats import DateFormat
from summarkov.read.encoding import is_text, numpy_of, refuse_missing, without_codes
from summarkov.typing import BoolArray, IntArray

#: No number, date or time is written in more bytes than this.
_LONGEST = 1000


class TextKind(NamedTuple):
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
        if values is not None and pa.types.is_floating(self.type) and pc.any(pc.is_nan(values)).as_py():
            return None
        return values


def _cast(text: pa.ChunkedArray, kind: pa.DataType) -> pa.ChunkedArray | None:
    try:
        return text.cast(kind)
    except pa.ArrowInvalid:
        return None


def _as_iso(text: pa.ChunkedArray) -> pa.ChunkedArray:
    """Write dates as ISO does where they can mean only one: 2024/01/31, as Disco and ProM, and 31.01.2024."""
    text = pc.replace_substring_regex(text, r"^(\d{4})/(\d{2})/(\d{2})\b", r"\1-\2-\3")
    return pc.replace_substring_regex(text, r"^(\d{2})\.(\d{2})\.(\d{4})\b", r"\3-\2-\1")


def text_kinds(date_format: DateFormat | None = None) -> list[TextKind]:
    """What text in an order column can be: numbers, or as stated. The first kind that all fits is taken."""
    numbers = [TextKind("number", pa.int64()), TextKind("number", pa.float64())]
    if date_format is not None:
        return [TextKind("stated", date_format.type, date_format), *numbers]
    families = {"date": None, "date with zone": "UTC", "time of day": None}
    times = [
        TextKind(name, pa.timestamp(unit, zone)) for name, zone in families.items() for unit in ("us", "ns")
    ]
    return numbers + times


def _fitting(kinds: Sequence[TextKind], text: pa.ChunkedArray) -> tuple[TextKind, pa.ChunkedArray] | None:
    """The first of some kinds that all of some text fits, and its values."""
    each = ((kind, kind.read(text)) for kind in kinds)
    return next(((kind, values) for kind, values in each if values is not None), None)


def family_of(value: str) -> str:
    """What a text is taken for, alone."""
    found = _fitting(text_kinds(), pa.chunked_array([[value]]))
    return found[0].family if found else "other"


class OrderColumn:
    """An order column that comes in blocks, whose text is numbers, dates or times of day in all of them.

    ``kind`` is the type that all blocks so far have in common; see :meth:`settled`.
    """

    def __init__(self, name: str, date_format: DateFormat | None = None, thing: str = "row") -> None:
        self.name, self.date_format, self.thing = name, date_format, thing
        self.kind: pa.DataType | None = None
        self._family: str | None = None
        self._first = ("", 0, "")  # where the first text stands, and what it is

    def keys(
        self, column: pa.ChunkedArray, source: str, first_row: int = 0
    ) -> tuple[npt.NDArray[Any], pa.DataType]:
        """Numbers in the order of a block of numbers, dates or times, and their type.

        Text is read as numbers, else as ISO dates and times, else as times of day; text that is none of these
        is refused, since sorted as text "10" would come before "9".

        >>> import pyarrow as pa
        >>> OrderColumn("step").keys(pa.chunked_array([["10", "9"]]), "the table")[0].tolist()
        [10, 9]
        """
        self._refuse_long(column, source, first_row)
        column = without_codes(column)
        missing = pc.indices_nonzero(pc.is_null(column, nan_is_null=True))
        refuse_missing(numpy_of(pa.chunked_array([missing])), self.name, source, first_row)
        if pa.types.is_decimal(column.type):
            column = self._without_point(column, source)
        if is_text(column.type):
            if not len(column):
                return np.zeros(0, np.int64), self.kind or pa.int64()
            column = self._read(column, source, first_row)
        kind = column.type
        if self.kind is None or self.kind in (pa.int64(), pa.timestamp("us", getattr(kind, "tz", None))):
            self.kind = kind
        return self._numbers(column, source), kind

    def settled(self, keys: npt.NDArray[Any], kind: pa.DataType) -> npt.NDArray[Any]:
        """The keys of a block of some type as those of the type of all blocks."""
        if kind == self.kind or not len(keys):
            return keys
        if pa.types.is_floating(self.kind):
            return keys.astype(np.float64)
        if kind.unit == "us" and max(-int(keys.min()), int(keys.max())) >= 2**63 // 1000:
            raise DataError(
                f"order column {self.name!r} cannot be put in order: it has nanoseconds, and dates too far "
                "from 1970 for them; write all of it in microseconds"
            )
        return keys * 1000

    def _read(self, column: pa.ChunkedArray, source: str, first_row: int) -> pa.ChunkedArray:
        """A block of text as values."""
        text = pc.utf8_trim_whitespace(column.cast(pa.string()))
        if self._family is None:
            self._first = source, first_row, text[0].as_py()
        known = text_kinds(self.date_format)
        kinds = [kind for kind in known if self._family in (None, kind.family)]
        found = _fitting(kinds, text)
        if found is None:
            known = known if self.date_format is None else known[:1]  # what is not as stated is named
            kinds = kinds if self.date_format is None or _fitting(known, text) else known
            fit, unfit = 0, len(text)  # how many rows fit, and how many do not
            while unfit - fit > 1:
                half = (fit + unfit) // 2
                fit, unfit = (half, unfit) if _fitting(kinds, text[:half]) else (fit, half)
            if _fitting(known, text[fit : fit + 1]):
                raise self._mixed(text, fit, source, first_row)
            raise self._unordered(column[fit].as_py(), first_row + fit, source)
        self._family = found[0].family
        return found[1]

    def _numbers(self, column: pa.ChunkedArray, source: str) -> npt.NDArray[Any]:
        """Values as numbers of 64 bits."""
        kind = column.type
        if not len(column):
            return np.zeros(0, np.int64)
        if pa.types.is_integer(kind) or pa.types.is_floating(kind):
            found = numpy_of(column)
            return found.astype(
                {"f": np.float64, "i": np.int64, "u": np.uint64}[found.dtype.kind], copy=False
            )
        if pa.types.is_temporal(kind) and not pa.types.is_interval(kind):
            whole = column.cast(pa.int32() if kind.bit_width == 32 else pa.int64())
            return numpy_of(whole).astype(np.int64)
        raise DataError(
            f"order column {self.name!r} of {source} holds {kind}; it must hold numbers, dates or times "
            "(or use order_by=False if the rows are in order)"
        )

    def _without_point(self, column: pa.ChunkedArray, source: str) -> pa.ChunkedArray:
        """Decimals as whole numbers, or as floats if they have a point; no two become one."""
        whole = column.type.scale <= 0
        try:
            return column.cast(pa.decimal128(18 if whole else 15, column.type.scale)).cast(
                pa.int64() if whole else pa.float64()
            )
        except pa.ArrowInvalid:
            raise DataError(
                f"order column {self.name!r} of {source} holds {column.type} with more digits than a number "
                "of 64 bits has; turn it into floats or whole numbers first"
            ) from None

    def _mixed(self, text: pa.ChunkedArray, row: int, source: str, first_row: int) -> DataError:
        """The error for texts each of which could be read, but not all in the same way."""
        where, first, value = self._first
        other = text[row].as_py()
        told = f"{self.thing} {first + 1} of the data holds {value[:40]!r}"
        told += f" and {self.thing} {first_row + row + 1}"
        told += f" {other[:40]!r}" if source == where else f" of {source} {other[:40]!r}"
        if {family_of(value), family_of(other)} == {"date", "date with zone"}:
            return DataError(
                f"order column {self.name!r} of {where} cannot be put in order: {told}, one with a time zone "
                "and one without, so which came first is not known; write all with a zone, or all without"
            )
        return _unordered(self.name, where, told)

    def _unordered(self, value: str, row: int, source: str) -> DataError:
        where = f"{self.thing} {row + 1} of the data holds {value[:40]!r}"
        if self.date_format is None:
            return _unordered(self.name, source, where)
        return DataError(
            f"order column {self.name!r} of {source} cannot be read: {where}, which is not written as "
            f"date_format={self.date_format.text!r} says; mend it, or give the format that all of it has"
        )

    def _refuse_long(self, column: pa.ChunkedArray, source: str, first_row: int) -> None:
        """Refuse what is too long for a number or a date before a copy is made for every row."""
        if not pa.types.is_dictionary(column.type) or not is_text(column.type.value_type):
            return
        for chunk in column.chunks:
            long = pc.greater(pc.binary_length(chunk.dictionary.cast(pa.large_string())), _LONGEST)
            row = pc.index(long.take(chunk.indices), pa.scalar(True)).as_py() if pc.any(long).as_py() else -1
            if row >= 0:
                raise self._unordered(chunk[row].as_py(), first_row + row, source)
            first_row += len(chunk)


def _unordered(name: str, source: str, where: str) -> DataError:
    """The error for text that cannot be put in order."""
    return DataError(
        f"order column {name!r} of {source} cannot be put in order: {where}; write all "
        "of it as numbers, or all as dates like 2024-01-31 18:30:00, or say how dates are written, as in "
        "date_format='%d/%m/%Y %H:%M' (or use order_by=False if the rows are in order)"
    )


# ---------------------------------------------------------------------- rows, case by case and in order


#: What rows are sorted by: the first array, and where that has equal values the next, and so on.
Keys = Sequence[npt.NDArray[Any]]


def group(
    case: npt.NDArray[np.integer], order: Keys = ()
) -> tuple[IntArray | None, IntArray, npt.NDArray[np.integer]]:
    """Put the rows of each case together, cases by first appearance, rows by ``order`` or as they come.

    Returns the rows in that order (None: they are so already), where each case begins, and the cases. All
    sorting is stable; nothing is sorted that is in order.

    >>> rows, starts, cases = group(np.array([7, 3, 7]))
    >>> rows.tolist(), starts.tolist(), cases.tolist()
    ([0, 2, 1], [0, 2], [7, 3])
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
    return rows, starts, case[starts]


def run_starts(case: npt.NDArray[np.integer]) -> IntArray:
    """Return the rows at which another case begins."""
    return np.flatnonzero(np.append(len(case) > 0, case[1:] != case[:-1])[: len(case)])


def _stable_order(keys: npt.NDArray[np.integer]) -> IntArray:
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


def repeated(codes: npt.NDArray[np.integer], tied: BoolArray) -> BoolArray:
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


def tied(keys: Keys, starts: IntArray) -> BoolArray:
    """Whether the keys of each event equal those of the event before, in the same sequence."""
    found = np.zeros(len(keys[0]), bool)
    np.logical_and.reduce([each[1:] == each[:-1] for each in keys], out=found[1:])
    found[starts] = False
    return found
