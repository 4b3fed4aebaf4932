"""Comma- and tab-separated files: their header, their separator and their quotes; Arrow parses the cells.

DuckDB's reader was tried and not taken: it refuses files whose lines end now in one way and now in another,
drops quotes after a blank, and passes over empty cells beyond the last column.
"""

from __future__ import annotations

import csv
import re
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from io import BufferedReader, RawIOBase, TextIOWrapper
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from summarkov.arrow import csv as arrow_csv
from summarkov.arrow import pa
from summarkov.errors import DataError
from summarkov.read.columns import Columns, choose_columns, refuse_unused_times
from summarkov.read.files import decode, endings_of, open_text

#: What may separate cells, the first that fits.
SEPARATORS = {"csv": (",", ";", "\t", "|"), "tsv": ("\t",)}
#: What is parsed at a time; no row may be longer.
BLOCK = 1 << 22
#: What is looked at at a time in search of quotes: Arrow takes all that follows an open one as one cell.
_PIECE, _QUOTE = 1 << 18, ord('"')
#: Held while the limit of cells is another one.
_LIMIT = threading.RLock()
#: A date, as the beginning of a cell: 2024-05-01, 1.5.2024, 05/01/24.
DATE = re.compile(r"\d{4}-\d\d?-\d\d?|\d{1,2}([./])\d{1,2}\1(\d{4}|\d{2})(?![./\d])")


def separators_of(path: str, format: str = "csv") -> tuple[str, ...]:
    """What may separate the cells of a file."""
    return SEPARATORS["tsv" if format == "tsv" or path.lower().endswith(endings_of("tsv")) else "csv"]


class Header(NamedTuple):
    """The names of the columns, what separates cells, and how many lines to skip before it."""

    names: list[str]
    delimiter: str
    skipped: int = 0

    @classmethod
    def of(cls, path: str, asked: Columns, separators: Sequence[str]) -> Header:
        """Read the first line that is not empty; find the separator that makes the columns asked for of it.

        If Excel's ``sep=;`` is the first line, that is the separator, and the header is what comes next.
        """
        with open_text(path) as file:
            read = iter(lambda: file.readline(BLOCK + 1), b"")
            numbered = ((at, decode(_whole(line, path), path, at)) for at, line in enumerate(read, start=1))
            lines = ((number, line) for number, line in numbered if line.strip("\r\n"))
            number, first = next(lines, (0, ""))
            stated = stated_separator(first, path) if number == 1 else None
            if stated:
                separators = (stated,)
                number, first = next(lines, (0, ""))
            if not first:
                what = "nothing after its first line" if stated else "no lines"
                raise DataError(f"{path} holds {what}; expected a header line with the names of the columns")
            try:
                delimiter = _separator(first, path, asked, separators)
                with long_cells():
                    rows = csv.reader(chain([first], (line for _, line in numbered)), delimiter=delimiter)
                    names = next(rows)
            except csv.Error as error:
                why = str(error)
                if "new-line character" in why:
                    why = "lines end in carriage returns alone; save the file with line feeds"
                raise DataError(f"{path}, line {number}: the header cannot be read: {why}") from error
            chosen = choose_columns(names, asked, path)
            refuse_unused_times(chosen, names, asked, path, time_columns=_dated(file, names, delimiter))
        return cls(names, delimiter, 1 if stated else 0)


def _dated(file: BufferedReader, names: Sequence[str], delimiter: str) -> list[str]:
    """Return the columns that begin with a date in the first row of data, as far as it is at hand."""
    row = file.peek(1).lstrip(b"\r\n").partition(b"\n")[0].decode("utf-8", "replace")
    with suppress(csv.Error, StopIteration):
        cells = _cells(row, [delimiter])[delimiter]
        return [name for name, cell in zip(names, cells, strict=False) if DATE.match(cell)]
    return []


def _whole(line: bytes, path: str) -> bytes:
    if len(line) > BLOCK:
        raise DataError(
            f"{path}: the header is longer than {BLOCK >> 20} MiB; check that this is a table with a "
            "header line"
        )
    return line


def stated_separator(line: str, path: str) -> str | None:
    r"""What separates cells if the first line of a file says so, as Excel writes and reads it.

    >>> stated_separator("sep=;\r\n", "log.csv"), stated_separator("case,event\n", "log.csv")
    (';', None)
    """
    said = re.fullmatch(r'sep=(.)|"sep=(.)"', line.rstrip("\r\n"), re.IGNORECASE)
    if not said:
        return None
    separator = said[1] or said[2]
    if not re.fullmatch(r"[\t !#-~]", separator):
        raise DataError(
            f"{path}, line 1: {separator!r} cannot separate cells; write the file with commas or semicolons"
        )
    return separator


def _separator(line: str, path: str, asked: Columns, separators: Sequence[str]) -> str:
    """The first character that makes cells with the needed columns among them, else the most cells."""
    cells = _cells(line, separators)
    for separator, names in cells.items():
        with suppress(DataError):
            choose_columns(names, asked, path)
            return separator
    return max(separators, key=lambda separator: len(cells[separator]))


def _cells(line: str, separators: Sequence[str]) -> dict[str, list[str]]:
    """The cells of a line, by what may separate them."""
    with long_cells():
        return {separator: next(csv.reader([line], delimiter=separator)) for separator in separators}


def read_whole(path: str, format: str) -> pa.Table:
    """All columns of a small table with a header line, as text; an empty cell is a missing value."""
    with open_text(path) as file:
        first = decode(_whole(file.readline(BLOCK + 1), path), path, 1)
    cells = _cells(first, SEPARATORS[format])
    delimiter = max(cells, key=lambda one: len(cells[one]))
    header = Header(cells[delimiter], delimiter)
    batches = list(csv_batches(path, header, None))
    return pa.Table.from_batches(batches) if batches else pa.table({name: [] for name in header.names})


def csv_batches(path: str, header: Header, names: Sequence[str] | None) -> Iterator[pa.RecordBatch]:
    """The rows of a file, as text: some columns, or all if ``names`` is None.

    An empty cell is a missing value, and a quoted one an empty text.
    """
    convert = arrow_csv.ConvertOptions(
        include_columns=names,
        column_types=dict.fromkeys(header.names if names is None else names, pa.string()),
        null_values=[""],
        strings_can_be_null=True,
        quoted_strings_can_be_null=False,
    )
    parse = arrow_csv.ParseOptions(delimiter=header.delimiter, newlines_in_values=True)
    options = arrow_csv.ReadOptions(use_threads=False, block_size=BLOCK, skip_rows=header.skipped)
    how = {"read_options": options, "parse_options": parse, "convert_options": convert}
    with open_text(path) as text:
        scan = QuoteScan(text, header.delimiter)
        try:
            with arrow_csv.open_csv(scan, **how) as reader:
                yield from reader
        except pa.ArrowException as error:
            if "Empty CSV file" in str(error):  # but for its header
                return
            if scan.n_quotes:
                refuse_open_quotes(path, header.delimiter)
            raise DataError(_reason(path, header, str(error))) from error
        if not scan.is_good():
            refuse_open_quotes(path, header.delimiter)


def _reason(path: str, header: Header, message: str) -> str:
    """What to say of a row of the wrong length, of bytes that are no text, or of whatever Arrow says."""
    found = re.search(r"Row #(\d+): (?:Expected (\d+) columns, got (\d+)|.*invalid UTF8)", message)
    if found:
        row, expected, n = found.groups()
        where = f"{path}, row {int(row) - header.skipped} (the header is row 1)"
        if expected is None:
            return f"{where}: the text is not UTF-8; save the file as UTF-8"
        return (
            f"{where}: {n} cells where the header has {expected}; mend the row, or check that "
            f"{header.delimiter!r} separates cells"
        )
    if "straddl" in message:
        return (
            f"{path}: a row is longer than {BLOCK >> 20} MiB; close a quote that is left open, "
            "or shorten what stands there"
        )
    return f"{path} cannot be read as a table: {' '.join(message.split())}"


class QuoteScan(RawIOBase):
    """A file that is looked at as it is read: all quotes open or close cells, or stand twice inside of one.

    Every other quote opens; it must stand after a separator, a line break or a quote that it is the twin of,
    and one that closes before such.

    >>> from io import BytesIO
    >>> scan = QuoteScan(BytesIO(b'x,"a ""b""\\nc"\\n'), ",")
    >>> _ = scan.read()
    >>> scan.is_good()
    True
    """

    def __init__(self, file: Any, delimiter: str) -> None:
        self._file, self._good, self.n_quotes = file, True, 0
        self._edge = np.zeros(256, dtype=bool)
        self._edge[[ord(delimiter), 10, 13, _QUOTE]] = True
        self._rest = b"\n"  # the last byte, which the next one is needed to judge, and the one before it

    def readable(self) -> bool:
        return True

    def readinto(self, into: Any) -> int:
        n = int(self._file.readinto(into))
        for start in range(0, n, _PIECE):
            self._look(bytes(into[start : min(n, start + _PIECE)]))
        return n

    def _look(self, block: bytes) -> None:
        content = self._rest + block
        self._rest = content[-2:]
        if b'"' not in content:  # the usual case, and far faster
            return
        data = np.frombuffer(content, dtype=np.uint8)
        at = np.flatnonzero(data[1:-1] == _QUOTE)  # each one less than its place: that of the byte before
        opens = self.n_quotes % 2  # the first of these that does
        self.n_quotes += len(at)
        before, after = data.take(at[opens::2]), data[2:].take(at[1 - opens :: 2])
        self._good = self._good and bool(self._edge.take(before).all() and self._edge.take(after).all())

    def is_good(self) -> bool:
        """Whether all is as it should be, at the end of the file."""
        self._look(b"\n")
        return self._good and self.n_quotes % 2 == 0


@contextmanager
def long_cells() -> Iterator[None]:
    """Let Python's own reader of CSV read cells of any length; the limit is one for the whole process."""
    with _LIMIT:
        before = csv.field_size_limit(2**31 - 1)
        try:
            yield
        finally:
            csv.field_size_limit(before)


def refuse_open_quotes(path: str, delimiter: str) -> None:
    """Read a file with care, slowly, as text or not; say where a quote is left open, or what follows one."""
    with open_text(path) as file, TextIOWrapper(file, "utf-8-sig", "replace", "\n") as lines:
        reader = csv.reader(lines, delimiter=delimiter, strict=True)
        before = 0
        try:
            with long_cells():
                for _ in reader:
                    before = reader.line_num
        except csv.Error as error:
            where = f"{path}, line {before + 1}"
            if "expected after" in str(error):
                raise DataError(
                    f"{where}: something stands between the end of a quoted cell and {delimiter!r}; write "
                    "quotes inside of a cell twice, or close the quote before"
                ) from None
            raise DataError(f"{where}: a quote opens here and is never closed; close it") from None
