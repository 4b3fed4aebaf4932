"""Comma- and tab-separated files, parsed by Arrow at nearly the speed at which it merely parses."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from io import BufferedReader
from typing import TYPE_CHECKING, Any

from summarkov.errors import DataError
from summarkov.events import EventSequences
from summarkov.readers.columns import Columns, choose_columns
from summarkov.readers.files import decode, open_file
from summarkov.readers.tables import sequences_of

if TYPE_CHECKING:
    import pyarrow as pa


def read_csv(path: str, asked: Columns, labels: Sequence[str] | None, *, delimiter: str) -> EventSequences:
    """Read a file with a header line and an event a line; an empty cell is a missing value.

    Cells are text as they stand: ``007`` and ``NA`` are labels. Only the needed columns are converted.
    """
    with open_file(path) as file:
        if not file.seekable():  # Arrow opens it once more
            raise DataError(f"{path} is not a regular file; save it as one first")
        names = header_of(file, path, delimiter)
        chosen = choose_columns(names, asked, path)
        rest = _what_follows(file)
    if rest is None:
        return EventSequences([], [0], labels or [], [])
    table = _parse(path, chosen, delimiter, quotes=rest)
    return sequences_of(table, chosen, labels, path)


def header_of(file: BufferedReader, path: str, delimiter: str) -> list[str]:
    """Read the first line that is not empty, and no further."""

    def lines() -> Iterator[str]:
        for number, line in enumerate(file, start=1):
            yield decode(line, path, number)

    try:
        return next(cells for cells in csv.reader(lines(), delimiter=delimiter) if cells)
    except StopIteration:
        raise DataError(
            f"{path} holds no lines; expected a header line with the names of the columns"
        ) from None
    except csv.Error as error:
        raise DataError(f"{path}, line 1: the header cannot be read: {error}") from error


def _what_follows(file: BufferedReader) -> bool | None:
    """Whether there are quotes after the header; None if nothing follows at all.

    Without quotes no cell can hold a line break, and Arrow may cut the file at any of them, which is
    faster. To look costs a few percent of the parsing.
    """
    nothing = True
    block = bytearray(1 << 18)
    while size := file.readinto(block):
        nothing = False
        if block.find(b'"', 0, size) >= 0:
            return True
    return None if nothing else False


def _parse(path: str, chosen: Columns, delimiter: str, *, quotes: bool) -> pa.Table:
    """Parse the chosen columns, case and event straight into dictionaries."""
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    text = pa.dictionary(pa.int32(), pa.string())
    convert = arrow_csv.ConvertOptions(
        include_columns=chosen.names(),
        column_types={chosen.case: text, chosen.event: text},
        null_values=[""],
        strings_can_be_null=True,
        quoted_strings_can_be_null=False,
        check_utf8=False,  # checked below, once a value instead of once a row
    )
    parse = {"delimiter": delimiter, "newlines_in_values": quotes}
    try:
        table = arrow_csv.read_csv(
            path, parse_options=arrow_csv.ParseOptions(**parse), convert_options=convert
        )
        for chunk in (chunk for column in table.columns for chunk in column.chunks):
            values = chunk.dictionary if pa.types.is_dictionary(chunk.type) else chunk
            values.validate(full=True)
        return table
    except pa.ArrowException as error:
        raise DataError(_reason(path, parse, convert, error)) from error


def _reason(path: str, parse: dict[str, Any], convert: Any, error: Exception) -> str:
    """Parse again in one thread: only then does Arrow know the number of the row that it stumbled on."""
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    ragged: list[Any] = []

    def note(row: Any) -> str:
        ragged.append(row)
        return "error"

    message = str(error)
    convert.check_utf8 = True
    options = arrow_csv.ParseOptions(**parse, invalid_row_handler=note)
    try:
        arrow_csv.read_csv(
            path,
            read_options=arrow_csv.ReadOptions(use_threads=False),
            parse_options=options,
            convert_options=convert,
        )
    except pa.ArrowException as again:
        message = str(again)
    return reason(path, parse["delimiter"], ragged, message)


def reason(path: str, delimiter: str, ragged: list[Any], message: str) -> str:
    """What to say of a row of the wrong length, of bytes that are no text, or of whatever Arrow says."""
    if ragged:
        row = ragged[0]
        return (
            f"{path}, row {row.number} (the header is row 1): {row.actual_columns} cells where the header "
            f"has {row.expected_columns}; mend the row, or check that {delimiter!r} separates cells"
        )
    found = re.search(r"Row #(\d+): .*invalid UTF8", message)
    if found:
        return f"{path}, row {found[1]} (the header is row 1): the text is not UTF-8; save the file as UTF-8"
    return f"{path} cannot be read as a table: {message}"
