"""Tables as blocks of rows: Arrow objects and data frames, Parquet files, and comma-separated files.

DuckDB's reader of CSV was tried and not taken: it refuses files whose lines end now in one way and now in
another, drops quotes after a blank, and passes over empty cells beyond the last column.
"""

from __future__ import annotations

import csv
import math
import os
import re
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from datetime import date, time
from decimal import Decimal
from io import BufferedReader, RawIOBase, TextIOWrapper
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from summarkov.arrow import csv as arrow_csv
from summarkov.arrow import is_list, is_text, pa, parquet
from summarkov.errors import DataError, SummarkovError
from summarkov.events.vocabulary import is_label, is_missing
from summarkov.read.columns import TABLE, Columns, Wanted, choose_columns
from summarkov.read.files import decode, endings_of, open_file, open_text
from summarkov.read.rows import Block, Source

#: Rows to read at a time; and bytes that Arrow reads ahead of a column.
ROWS, _PAGE = 1 << 17, 1 << 20
#: What may separate cells, the first that fits.
_SEPARATORS = {"csv": (",", ";", "\t", "|"), "tsv": ("\t",)}
#: What is parsed at a time; no row may be longer.
BLOCK = 1 << 22
#: What is looked at at a time in search of quotes: Arrow takes all that follows an open one as one cell.
_PIECE, _QUOTE = 1 << 18, ord('"')
#: A date, as the beginning of a cell: 2024-05-01, 1.5.2024, 05/01/24.
_DATE = re.compile(r"\d{4}-\d\d?-\d\d?|\d{1,2}([./])\d{1,2}\1(\d{4}|\d{2})(?![./\d])")


def is_table(source: object) -> bool:
    """Whether an object speaks Arrow: a data frame, table, relation, record batch, reader or cursor."""
    return hasattr(source, "__arrow_c_stream__") or hasattr(source, "__arrow_c_array__")


def refuse_cut_rows() -> None:
    """Refuse a table that scikit-learn's cross-validation has split by row, in the middle of sequences.

    Nothing in such a piece tells that it is one, so it is told by who asks for it to be read.
    """
    frame = sys._getframe(1)
    while frame.f_back is not None:
        frame = frame.f_back
        if frame.f_globals.get("__name__") == "sklearn.model_selection._validation":
            raise DataError(
                "cross-validation splits a table by row, in the middle of sequences; read it first, with "
                "events = summarkov.read_events(table), and give the events, which are split by sequence"
            )


def table_source(table: Any, wanted: Wanted, rows: float = math.inf) -> Source:
    """A table by the Arrow interface, or a dict of columns, in blocks of so many ``rows`` at least."""
    with ExitStack() as opened, _explained(f"{TABLE} cannot be read by Arrow"):
        table, left_out, times = as_arrow(table, wanted.columns.may_mean)
        reader = (
            pa.RecordBatchReader.from_stream(table)
            if hasattr(table, "__arrow_c_stream__")
            else pa.table(pa.record_batch(table)).to_reader()
        )
        opened.enter_context(reader)  # closed also on error: a DuckDB connection serves one at a time
        chosen = _columns_of(reader.schema, wanted.columns, TABLE, left_out, times)
        opened.pop_all()
        return Source(TABLE, wanted, chosen, _blocks_of(reader, chosen, rows))


def _blocks_of(reader: pa.RecordBatchReader, chosen: Columns, rows: float) -> Iterator[Block]:
    """The columns that are needed, in blocks of so many rows at least."""
    names = [name for name in chosen.to_read() if name in reader.schema.names]
    schema = pa.schema([reader.schema.field(name) for name in names])
    held, first, n = list[pa.RecordBatch](), 0, 0
    with reader, _explained(f"{TABLE} cannot be read by Arrow"):
        for batch in reader:
            held.append(batch.select(names))
            n += batch.num_rows
            if n >= rows:
                yield Block(pa.Table.from_batches(held, schema), TABLE, first)
                held, first, n = [], first + n, 0
        yield Block(pa.Table.from_batches(held, schema), TABLE, first)


@contextmanager
def _explained(what: str) -> Iterator[None]:
    """Say in one sentence what failed; Arrow may raise almost anything of damaged files and odd objects."""
    try:
        yield
    except SummarkovError:
        raise
    except Exception as error:  # pandas hands over several texts, Arrow adds tracebacks
        text = " ".join(" ".join(str(part) for part in error.args).split())
        raise DataError(f"{what}: {text.partition('. Detail: Python exception')[0][:300]}") from error


def _columns_of(
    schema: pa.Schema, asked: Columns, source: str, others: Sequence[str] = (), times: Collection[str] = ()
) -> Columns:
    """Choose the columns of a table by name; ``others`` are more of its names, some of them ``times``."""
    return choose_columns(
        [*schema.names, *others],
        asked,
        source,
        list_columns={field.name for field in schema if is_list(field.type)},
        time_columns=[*times, *(field.name for field in schema if _is_time(field.type))],
    )


def _is_time(kind: pa.DataType) -> bool:
    return bool(pa.types.is_timestamp(kind) or pa.types.is_date(kind) or pa.types.is_time(kind))


# ---------------------------------------------------------------------- data frames and Python objects

_Column = tuple[str, Any]


def as_arrow(table: Any, meant: Callable[[str], bool] = lambda _: True) -> tuple[Any, list[str], list[str]]:
    """Columns of a pandas frame or a dict that may be ``meant``, as Arrow; names of others, and of the times.

    Others may be of types that Arrow cannot take. All else that speaks Arrow stays as it is.
    """
    columns: Sequence[_Column]
    if isinstance(table, Mapping):
        columns = [(str(name), column) for name, column in table.items()]
    elif type(table).__module__.partition(".")[0] == "pandas" and getattr(table, "ndim", 0) == 2:
        columns = [(str(name), table.iloc[:, at]) for at, name in enumerate(table.columns)]
    else:
        return table, [], []
    kept, times = [column for column in columns if meant(column[0])], []
    others = [column for column in columns if not meant(column[0])]
    for name, column in others:
        with suppress(Exception):  # whatever it holds, nobody asked for it
            if _is_time(getattr(column, "type", None) or pa.array(column[:1000], from_pandas=True).type):
                times.append(name)
    found = pa.table([_array(*column) for column in kept], names=[name for name, _ in kept])
    return found, [name for name, _ in others], times


def _array(name: str, column: Any) -> Any:
    """A column as Arrow has it; Python objects other than text as the text that Python writes of each.

    Arrow would take a time without a zone for one in UTC, and a time for the date that it has; it drops zones
    of times of day and nanoseconds. As text they are read, or refused, as in a file.

    >>> from datetime import date, datetime
    >>> _array("time", [date(2024, 1, 31), None, datetime(2024, 1, 31, 18)]).to_pylist()
    ['2024-01-31', None, '2024-01-31 18:00:00']
    """
    if isinstance(column, pa.Array | pa.ChunkedArray):
        return column
    kind: Any = getattr(column, "dtype", None)
    objects = kind.categories if str(kind) == "category" else column
    with _explained(f"{TABLE} cannot be read by Arrow: column {name}"):
        if str(getattr(objects, "dtype", "object")) == "object" and not {*map(type, objects)} <= _AS_THEY_ARE:
            values = [None if is_missing(value) else value for value in column]
            if all(value is None or is_label(value) or isinstance(value, _TEXTS) for value in values):
                return pa.array([None if value is None else str(value) for value in values], pa.string())
        return pa.array(column, from_pandas=True)


#: What Arrow takes for what it is; and what else Python writes as we read it.
_AS_THEY_ARE, _TEXTS = {str, float, bool, type(None)}, (date, time, Decimal)


# ---------------------------------------------------------------------- files


def file_source(paths: Sequence[str], name: str, format: str, wanted: Wanted) -> Source:
    """Files with the same columns ("parquet", "csv" or "tsv") as one table, block by block."""
    if format == "parquet":
        schema = _parquet_schema(paths[0])
    else:
        header = Header.of(paths[0], wanted.columns, format)
        schema = pa.schema([(name, pa.string()) for name in header.names])
    chosen = _columns_of(schema, wanted.columns, paths[0])
    kinds = {name: _plain(schema.field(name).type) for name in chosen.names()}
    return Source(name, wanted, chosen, _blocks(paths, format, chosen, kinds))


def _blocks(
    paths: Sequence[str], format: str, chosen: Columns, kinds: Mapping[str, pa.DataType]
) -> Iterator[Block]:
    """Read all files, some rows at a time, as columns of the types of the first file."""
    for path in paths:
        row = 0
        for batch in (_parquet if format == "parquet" else _csv)(path, format, chosen):
            columns = {name: _aligned(batch, name, kind, (paths[0], path)) for name, kind in kinds.items()}
            other = chosen.other_lifecycle
            if other in batch.schema.names and is_text(_plain(batch.column(other).type)):
                columns[str(other)] = batch.column(other)
            yield Block(pa.table(columns), path, row)
            row += batch.num_rows


def _aligned(batch: pa.RecordBatch, name: str, kind: pa.DataType, paths: tuple[str, str]) -> pa.Array:
    """A column as what it is in the first file."""
    column = batch.column(name)
    if _plain(column.type) == kind:
        return column
    try:
        if (getattr(column.type, "tz", None) is None) != (getattr(kind, "tz", None) is None):
            raise pa.ArrowInvalid("what a time without a zone means is not known")
        return column.cast(kind)
    except pa.ArrowException as error:
        raise DataError(
            f"column {name!r} holds {kind} in {paths[0]} and {_plain(column.type)} in {paths[1]}, which does "
            "not fit; write all files with the same types"
        ) from error


def _plain(kind: pa.DataType) -> pa.DataType:
    """The type of the values; all types of text are one, and so are all types of lists."""
    if is_list(kind):
        return pa.list_(_plain(kind.value_type))
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    return pa.string() if is_text(kind) else kind


def read_whole(path: str, format: str) -> pa.Table:
    """All columns of a small table of text, "csv" or "tsv"."""
    with open_text(path) as file:
        first = decode(_whole(file.readline(BLOCK + 1), path), path, 1)
    cells = _cells(first, _SEPARATORS[format])
    delimiter = max(cells, key=lambda one: len(cells[one]))
    header = Header(cells[delimiter], delimiter)
    schema = pa.schema([(name, pa.string()) for name in header.names])
    return pa.Table.from_batches(list(csv_batches(path, header, None)), schema)


# ---------------------------------------------------------------------- Parquet


def _reading_parquet(path: str) -> Any:
    return _explained(f"{path} cannot be read as Parquet")


def _parquet_schema(path: str) -> pa.Schema:
    """The columns of a file."""
    with open_file(path) as file, _reading_parquet(path):
        schema = parquet.read_schema(file)
        _ = schema.names  # which may not be text
        return schema


def _parquet(path: str, _: str, chosen: Columns) -> Iterator[pa.RecordBatch]:
    schema = _parquet_schema(path)
    names = schema.names
    choose_columns(names, chosen, path)
    few = (str(chosen.event), *chosen.attributes)  # whose texts repeat
    few = tuple(name for name in few if is_text(schema.field(name).type))
    return _parquet_batches(path, [name for name in chosen.to_read() if name in names], few)


def _parquet_batches(path: str, names: Sequence[str], few: Sequence[str] = ()) -> Iterator[pa.RecordBatch]:
    """Some columns of a file, some rows at a time, the texts of a ``few`` straight into dictionaries."""
    open_file(path).close()  # says what is wrong with it
    with _reading_parquet(path):
        file = parquet.ParquetFile(
            pa.OSFile(os.fsencode(path)), read_dictionary=[*few], buffer_size=_PAGE, pre_buffer=False
        )
    with file:
        done, total = 0, file.metadata.num_rows
        batches = file.iter_batches(ROWS, columns=list(names))
        while True:
            with _reading_parquet(path):
                batch = next(batches, None)
                if batch is None:
                    break
                batch.validate(full=True)  # Arrow itself trusts the codes of texts that it finds in a file
            done += batch.num_rows
            yield batch.select(list(names))
        if done != total:  # a damaged file whose rows end too soon, which Arrow may pass over without a word
            raise DataError(
                f"{path} cannot be read as Parquet: by its own account it has {total} rows, and {done} can "
                "be read; it is damaged, write it again"
            )


# ---------------------------------------------------------------------- comma-separated files


def _csv(path: str, format: str, chosen: Columns) -> Iterator[pa.RecordBatch]:
    header = Header.of(path, chosen, format)
    return csv_batches(path, header, [name for name in chosen.to_read() if name in header.names])


class Header(NamedTuple):
    """The names of the columns, and what separates cells."""

    names: list[str]
    delimiter: str

    @classmethod
    def of(cls, path: str, asked: Columns, format: str) -> Header:
        """Read the first line that is not empty; find the separator that makes the needed columns of it."""
        separators = _SEPARATORS["tsv" if path.lower().endswith(endings_of("tsv")) else format]
        with open_text(path) as file:
            read = iter(lambda: file.readline(BLOCK + 1), b"")
            numbered = ((at, decode(_whole(line, path), path, at)) for at, line in enumerate(read, start=1))
            number, first = next(((at, line) for at, line in numbered if line.strip("\r\n")), (0, ""))
            if not first:
                raise DataError(
                    f"{path} holds no lines; expected a header line with the names of the columns"
                )
            try:
                delimiter = _separator(first, path, asked, separators)
                names = next(csv.reader(chain([first], (line for _, line in numbered)), delimiter=delimiter))
            except csv.Error as error:
                why = str(error)
                if "new-line character" in why:
                    why = "lines end in carriage returns alone; save the file with line feeds"
                raise DataError(f"{path}, line {number}: the header cannot be read: {why}") from error
            choose_columns(names, asked, path, time_columns=_dated(file, names, delimiter))
        return cls(names, delimiter)


def _dated(file: BufferedReader, names: Sequence[str], delimiter: str) -> list[str]:
    """Return the columns that begin with a date in the first row of data, as far as it is at hand."""
    row = file.peek(1).lstrip(b"\r\n").partition(b"\n")[0].decode("utf-8", "replace")
    with suppress(csv.Error, StopIteration):
        cells = _cells(row, [delimiter])[delimiter]
        return [name for name, cell in zip(names, cells, strict=False) if _DATE.match(cell)]
    return []


def _whole(line: bytes, path: str) -> bytes:
    if len(line) > BLOCK:
        raise DataError(
            f"{path}: the header is longer than {BLOCK >> 20} MiB; check that this is a table with a "
            "header line"
        )
    return line


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
    return {separator: next(csv.reader([line], delimiter=separator)) for separator in separators}


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
    options = arrow_csv.ReadOptions(use_threads=False, block_size=BLOCK)
    with open_text(path) as text:
        scan = QuoteScan(text, header.delimiter)
        try:
            with arrow_csv.open_csv(scan, options, parse, convert) as reader:
                yield from reader
        except pa.ArrowException as error:
            if "Empty CSV file" in str(error):  # but for its header
                return
            if scan.n_quotes:
                _refuse_open_quotes(path, header.delimiter)
            raise DataError(_reason(path, header, str(error))) from error
        if not scan.is_good():
            _refuse_open_quotes(path, header.delimiter)


def _reason(path: str, header: Header, message: str) -> str:
    """What to say of a row of the wrong length, of bytes that are no text, or of whatever Arrow says."""
    found = re.search(r"Row #(\d+): (?:Expected (\d+) columns, got (\d+)|.*invalid UTF8)", message)
    if found:
        row, expected, n = found.groups()
        where = f"{path}, row {row} (the header is row 1)"
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


def _refuse_open_quotes(path: str, delimiter: str) -> None:
    """Read a file with care, slowly, as text or not; say where a quote is left open, or what follows one."""
    limit = csv.field_size_limit(2**31 - 1)
    with open_text(path) as file, TextIOWrapper(file, "utf-8-sig", "replace", "\n") as lines:
        reader = csv.reader(lines, delimiter=delimiter, strict=True)
        before = 0
        try:
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
        finally:
            csv.field_size_limit(limit)
