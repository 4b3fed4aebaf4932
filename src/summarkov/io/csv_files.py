"""Comma- and tab-separated files, parsed by Arrow at nearly the speed at which it merely parses."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from io import BufferedReader, FileIO
from itertools import chain

from summarkov.arrow import csv as arrow_csv
from summarkov.arrow import pa
from summarkov.errors import DataError
from summarkov.events import EventSequences
from summarkov.io.addresses import arrow_file
from summarkov.io.columns import Columns, choose_columns, refuse_unused_times
from summarkov.io.files import decode, open_text
from summarkov.io.quotes import has_quotes, long_cells
from summarkov.io.tables import sequences_of
from summarkov.io.wanted import Wanted

#: What may separate cells, the first that fits.
SEPARATORS = {"csv": (",", ";", "\t", "|"), "tsv": ("\t",)}
#: What is parsed at a time; no row may be longer. Arrow reads several ahead, so that many fit into memory.
BLOCK, BLOCKS = 1 << 22, 128


@dataclass(frozen=True)
class Header:
    """The names of the columns, those that are chosen, what separates cells, and lines to skip before it."""

    names: list[str]
    chosen: Columns
    delimiter: str
    skipped: int


def read_csv(path: str, wanted: Wanted, *, format: str) -> EventSequences:
    """Read a file with a header line and one event per line; an empty cell is a missing value.

    Cells are text as they stand: ``007`` and ``NA`` are labels. Only the needed columns are converted.
    """
    with open_text(path) as file:
        as_it_is = isinstance(file.raw, FileIO)
        if as_it_is and not file.seekable():  # it is opened once more
            raise DataError(f"{path} is not a regular file; save it as one first")
        header = header_of(file, path, wanted.columns, SEPARATORS[format])
        anything = bool(file.peek(1))
    quotes = has_quotes(path, header.delimiter)
    if not anything:
        return EventSequences([], [0], wanted.labels or [], [])
    table = _parse(path, header, quotes=quotes, as_it_is=as_it_is)
    return sequences_of(table, header.chosen, wanted, path)


def read_whole(path: str, format: str) -> pa.Table:
    """All columns of a small table with a header line, as text; an empty cell is a missing value."""
    with open_text(path) as file:
        first = decode(_whole(file.readline(BLOCK + 1), path), path, 1)
    with long_cells():
        cells = {one: next(csv.reader([first], delimiter=one)) for one in SEPARATORS[format]}
    delimiter = max(cells, key=lambda one: len(cells[one]))
    convert = arrow_csv.ConvertOptions(
        column_types=dict.fromkeys(cells[delimiter], pa.string()),
        null_values=[""],
        strings_can_be_null=True,
        quoted_strings_can_be_null=False,
    )
    parse = arrow_csv.ParseOptions(delimiter=delimiter, newlines_in_values=True)
    try:
        with open_text(path) as file:
            return arrow_csv.read_csv(file, parse_options=parse, convert_options=convert)
    except pa.ArrowException as error:
        header = Header(cells[delimiter], Columns(), delimiter, 0)
        raise DataError(reason(path, header, str(error))) from error


def header_of(
    file: BufferedReader, path: str, asked: Columns, separators: Sequence[str], folders: Sequence[str] = ()
) -> Header:
    """Read the first line that is not empty, and no further; choose columns, and the separator for them.

    If Excel's ``sep=;`` is the first line, that is the separator, and the header is what comes next.
    ``folders`` are columns that the names of folders tell.
    """
    read = iter(lambda: file.readline(BLOCK + 1), b"")
    numbered = (
        (number, decode(_whole(line, path), path, number)) for number, line in enumerate(read, start=1)
    )
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
        delimiter = _separator(first, path, asked, separators, folders)
        with long_cells():
            names = next(csv.reader(chain([first], (line for _, line in numbered)), delimiter=delimiter))
    except csv.Error as error:
        why = str(error)
        if "new-line character" in why:
            why = "lines end in carriage returns alone; save the file with line feeds"
        raise DataError(f"{path}, line {number}: the header cannot be read: {why}") from error
    chosen = choose_columns([*names, *(name for name in folders if name not in names)], asked, path)
    refuse_unused_times(chosen, names, asked, path, time_columns=_dated(file, names, delimiter))
    return Header(names, chosen, delimiter, 1 if stated else 0)


#: A date, as the beginning of a cell: 2024-05-01, 1.5.2024, 05/01/24.
DATE = re.compile(r"\d{4}-\d\d?-\d\d?|\d{1,2}([./])\d{1,2}\1(\d{4}|\d{2})(?![./\d])")


def _dated(file: BufferedReader, names: Sequence[str], delimiter: str) -> list[str]:
    """Return the columns that begin with a date in the first row of data, as far as it is at hand."""
    row = file.peek(1).lstrip(b"\r\n").partition(b"\n")[0].decode("utf-8", "replace")
    with long_cells(), suppress(csv.Error, StopIteration):
        cells = next(csv.reader([row], delimiter=delimiter))
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


def _separator(
    line: str, path: str, asked: Columns, separators: Sequence[str], folders: Sequence[str]
) -> str:
    """The first character that makes cells with the needed columns among them, else the most cells."""
    with long_cells():
        cells = {separator: next(csv.reader([line], delimiter=separator)) for separator in separators}
    for separator, names in cells.items():
        with suppress(DataError):
            choose_columns([*names, *(name for name in folders if name not in names)], asked, path)
            return separator
    return max(separators, key=lambda separator: len(cells[separator]))


def _parse(path: str, header: Header, *, quotes: bool, as_it_is: bool) -> pa.Table:
    """Parse the chosen columns, all but the order straight into dictionaries."""
    chosen, text = header.chosen, pa.dictionary(pa.int32(), pa.string())
    types = dict.fromkeys(chosen.names(), text)
    types |= dict.fromkeys(chosen.order or (), pa.string())  # to be read as text in any order column is
    convert = arrow_csv.ConvertOptions(
        include_columns=chosen.names(),
        column_types=types,
        null_values=[""],
        strings_can_be_null=True,
        quoted_strings_can_be_null=False,
        check_utf8=False,  # checked below, once a value instead of once a row
    )
    parse = {"delimiter": header.delimiter, "newlines_in_values": quotes}

    def read(*, threads: bool) -> pa.Table:
        options = arrow_csv.ReadOptions(use_threads=threads, block_size=BLOCK, skip_rows=header.skipped)
        with arrow_file(path) if as_it_is else open_text(path) as source:
            return arrow_csv.read_csv(
                source,
                read_options=options,
                parse_options=arrow_csv.ParseOptions(**parse),
                convert_options=convert,
            )

    try:
        table = read(threads=True)
        for chunk in (chunk for column in table.columns for chunk in column.chunks):
            values = chunk.dictionary if pa.types.is_dictionary(chunk.type) else chunk
            values.validate(full=True)
        return table
    except pa.ArrowException as error:
        message = str(error)
        convert.check_utf8 = True
        try:
            read(threads=False)  # only so Arrow knows the number of the row
        except pa.ArrowException as again:
            message = str(again)
        raise DataError(reason(path, header, message)) from error


def reason(path: str, header: Header, message: str, block: int = BLOCK) -> str:
    """What to say of a row of the wrong length, of bytes that are no text, or of whatever Arrow says.

    ``block`` is what was parsed at a time.
    """
    ragged = re.search(r"Row #(\d+): Expected (\d+) columns, got (\d+)", message)
    if ragged:
        row, expected, found = ragged.groups()
        return (
            f"{path}, row {int(row) - header.skipped} (the header is row 1): {found} cells where the header "
            f"has {expected}; mend the row, or check that {header.delimiter!r} separates cells"
        )
    if "straddl" in message:
        more = "" if block == BLOCK else f", or set memory= to at least {BLOCKS * BLOCK >> 20}M"
        return (
            f"{path}: a row is longer than {block / 2**20:g} MiB; close a quote that is left open, "
            f"or shorten what stands there{more}"
        )
    no_text = re.search(r"Row #(\d+): .*invalid UTF8", message)
    if no_text:
        return (
            f"{path}, row {int(no_text[1]) - header.skipped} (the header is row 1): the text is not UTF-8; "
            "save the file as UTF-8"
        )
    return f"{path} cannot be read as a table: {' '.join(message.split())}"
