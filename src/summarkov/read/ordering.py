"""From order columns to keys that NumPy can sort, and from rows to events case by case and in order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from summarkov.arrow import pa, pc
from summarkov.errors import DataError
from summarkov.read.date_formats import (
    DateFormat,
    family_of,
    fitting,
    is_text,
    misfit,
    order_text,
    shown,
    text_kinds,
    unordered,
    unreadable_row,
)
from summarkov.read.encoding import numpy_of, refuse_missing, without_codes
from summarkov.typing import BoolArray, IntArray

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
    given = OrderColumn(name)
    given.look(column, source)
    column = given.values(column)
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
        if row is None:
            row = misfit(before, text)
            if self.date_format is not None or family_of(text[row].as_py()) != "other":
                raise self._mixed(text, row, source, first_row)
        raise self._unordered(column, row, source, first_row)

    def _mixed(self, text: pa.ChunkedArray, row: int, source: str, first_row: int) -> DataError:
        """The error for texts each of which could be read, but not all in the same way."""
        assert self._first is not None
        where, first, value = self._first
        other = text[row].as_py()
        told = f"{self.thing} {first + 1} of the data holds {shown(value)}"
        told += f" and {self.thing} {first_row + row + 1}"
        told += f" {shown(other)}" if source == where else f" of {source} {shown(other)}"
        if {family_of(value), family_of(other)} == {"date", "date with zone"}:
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
        where = f"{self.thing} {first_row + row + 1} of the data holds {shown(column[row].as_py())}"
        return unordered(self.name, source, where, self.date_format)

    def values(self, column: pa.ChunkedArray) -> pa.ChunkedArray:
        """A part as values that have an order; all parts must have been looked at before."""
        column = without_codes(column)
        if not is_text(column.type) or (not len(column) and self._first is None):
            return column
        return self._kinds[0].read(order_text(column))


# ---------------------------------------------------------------------- rows, case by case and in order


#: What rows are sorted by: the first array, and where that has equal values the next, and so on.
Keys = Sequence[npt.NDArray[Any]]


def group(
    case: npt.NDArray[np.integer], order: Keys = ()
) -> tuple[IntArray | None, IntArray, npt.NDArray[np.integer]]:
    """Put the rows of each case together, cases by first appearance, rows by ``order`` or as they come.

    Returns the rows in that order (None: they are so already), where each case begins and the last ends, and
    the cases. All sorting is stable; nothing is sorted that is in order.

    >>> rows, offsets, cases = group(np.array([7, 3, 7]))
    >>> rows.tolist(), offsets.tolist(), cases.tolist()
    ([0, 2, 1], [0, 2, 3], [7, 3])
    """
    rows = None
    starts = run_starts(case)
    if len(starts) and np.bincount(case[starts]).max() > 1:
        rows = stable_order(first_appearance(case[starts])[case])
        case = case[rows]
        starts = run_starts(case)
    if order:
        keys = order if rows is None else [each[rows] for each in order]
        if count_falls(keys, starts):
            moved = sort_within(keys, starts)
            rows = moved if rows is None else rows[moved]
    return rows, np.append(starts, len(case)), case[starts]


def run_starts(case: npt.NDArray[np.integer]) -> IntArray:
    """Return the rows at which another case begins."""
    if not len(case):
        return np.zeros(0, dtype=np.int64)
    changes = np.flatnonzero(case[1:] != case[:-1]) + 1
    return np.concatenate([np.zeros(1, dtype=np.int64), changes])


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


def kept_offsets(offsets: IntArray, keep: BoolArray) -> IntArray:
    """Where sequences begin and end once only some of their events are kept."""
    return np.asarray(np.append(0, np.cumsum(keep))[offsets])


def repeated(codes: npt.NDArray[np.integer], tied: BoolArray) -> BoolArray:
    """Whether each event has the case, the place and the label of an earlier one.

    ``tied`` have the place of the event before.

    >>> repeated(np.array([3, 5, 3, 3]), np.array([False, True, True, False])).tolist()
    [False, False, True, False]
    """
    found = np.zeros(len(codes), bool)
    rows = np.flatnonzero(tied | np.append(tied[1:], False)) if tied.any() else []
    if not len(rows):
        return found
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
