"""Files of one format as one long table, some rows at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from summarkov.arrow import csv as arrow_csv
from summarkov.arrow import pa, parquet
from summarkov.errors import DataError
from summarkov.io.addresses import arrow_file, size_of
from summarkov.io.columns import Columns, choose_columns, refuse_unused_times
from summarkov.io.csv_files import (
    BLOCK,
    BLOCKS,
    DATE,
    SEPARATORS,
    QuoteScan,
    Watched,
    conversion,
    has_quotes,
    header_of,
    reason,
    refuse_open_quotes,
)
from summarkov.io.date_formats import is_text
from summarkov.io.files import LEAST, ROW_BYTES, as_text, endings_of, open_file, open_text
from summarkov.io.finding import folder_columns
from summarkov.io.list_columns import is_list
from summarkov.io.parquet_files import PAGE, check_rows, is_small_text, parquet_schema, plan, reading_parquet
from summarkov.io.tables import columns_of, list_columns
from summarkov.io.wanted import Wanted


@dataclass(frozen=True)
class TableBlock:
    """Some rows: the chosen columns, of which file, where they begin, and bytes of all files read, about."""

    table: pa.Table
    path: str
    first_row: int
    done: int


@dataclass(frozen=True)
class Files:
    """Files with the same columns; ``format`` is "parquet", "csv" or "jsonl"; and bytes to read them in.

    Columns that are asked for and that are in no file may be told by the names of folders, such as
    ``day=2024-05-01``.
    """

    paths: list[str]
    format: str
    wanted: Wanted
    memory: int

    @property
    def n_bytes(self) -> int:
        """Their size."""
        return sum(size_of(path) for path in self.paths)

    @cached_property
    def schema(self) -> pa.Schema:
        """The columns of the first file, whose types those of all others must fit."""
        path, folders = self.paths[0], self._folders(self.paths[0])
        if self.format == "parquet":
            schema = parquet_schema(path)
        else:
            schema = _csv_schema(path, self.wanted.columns, folders)
        return pa.schema([*schema, *((name, pa.string()) for name in folders if name not in schema.names)])

    def _folders(self, path: str) -> dict[str, str | None]:
        """What the folders of a file tell of the columns that are asked for by name."""
        asked = set(self.wanted.columns.names())
        return {name: value for name, value in folder_columns(path).items() if name in asked}

    @cached_property
    def chosen(self) -> Columns:
        """The columns to read, by name."""
        path, asked = self.paths[0], self.wanted.columns
        chosen = columns_of(self.schema, asked, path)
        told = folder_columns(path)
        dated = [name for name, value in told.items() if value is not None and DATE.match(value)]
        if chosen.event[0] not in list_columns(self.schema):
            refuse_unused_times(chosen, told, asked, path, time_columns=dated)
        return chosen

    @property
    def of_lists(self) -> bool:
        """Whether a row is a whole sequence."""
        return self.chosen.event[0] in list_columns(self.schema)

    def blocks(self, n_rows: int) -> Iterator[TableBlock]:
        """Read all files, at most ``n_rows`` rows at a time, and fewer where rows are large."""
        before = 0
        for path in self.paths:
            size = size_of(path)
            read = self._parquet if self.format == "parquet" else self._csv
            row = 0
            for batch, share in read(path, n_rows):
                for start in range(0, batch.num_rows, n_rows):
                    part = batch.slice(start, n_rows)
                    yield TableBlock(self._aligned(part, path), path, row, before + int(share * size))
                    row += part.num_rows
                pa.default_memory_pool().release_unused()
            before += size

    def _parquet(self, path: str, n_rows: int) -> Iterator[tuple[pa.RecordBatch, float]]:
        schema = parquet_schema(path)
        there = [*schema.names, *(name for name in self._folders(path) if name not in schema.names)]
        choose_columns(there, self.chosen, path, list_columns=list_columns(schema))
        names = [name for name in self.chosen.names() if name in schema.names]
        with reading_parquet(path):
            other = self.chosen.other_lifecycle
            if other is not None and other in schema.names and is_small_text(path, other):
                names.append(other)
            how = plan(path, names, self.memory)
            n_rows = max(1, min(n_rows, n_rows * ROW_BYTES // how.row_bytes))
            file = parquet.ParquetFile(
                arrow_file(path),
                read_dictionary=how.dictionaries,
                buffer_size=PAGE,
                pre_buffer=False,
            )
        with file:
            done, total = 0, file.metadata.num_rows
            batches = file.iter_batches(n_rows, columns=names, use_threads=False)
            while True:
                with reading_parquet(path):
                    batch = next(batches, None)
                    if batch is None:
                        break
                    batch.validate(full=True)
                done += batch.num_rows
                yield batch.select(names), done / max(total, 1)
            check_rows(path, total, done)

    def _csv(self, path: str, n_rows: int) -> Iterator[tuple[pa.RecordBatch, float]]:
        with open_text(path) as file:
            header = header_of(file, path, self.chosen, _separators(path), [*self._folders(path)])
            if not file.peek(1):
                has_quotes(path, header.delimiter)  # one that is left open may have taken all for the header
                return
        delimiter = header.delimiter
        scan = QuoteScan(delimiter)
        names = [name for name in self.chosen.to_read() if name in header.names]
        convert = conversion(dict.fromkeys(names, pa.string()))
        parse = arrow_csv.ParseOptions(delimiter=delimiter, newlines_in_values=True)
        block = min(BLOCK, max(self.memory, LEAST) // BLOCKS)
        options = arrow_csv.ReadOptions(use_threads=False, block_size=block, skip_rows=header.skipped)
        total = max(1, size_of(path))
        try:
            with (
                open_file(path) as file,
                as_text(file, path) as text,
                arrow_csv.open_csv(
                    Watched(text, scan), read_options=options, parse_options=parse, convert_options=convert
                ) as reader,
            ):
                for batch in reader:
                    yield batch, min(1.0, file.tell() / total)
            if not scan.finish():
                refuse_open_quotes(path, delimiter)
        except pa.ArrowException as error:
            raise DataError(reason(path, header, str(error), block)) from error

    def _aligned(self, batch: pa.RecordBatch, path: str) -> pa.Table:
        """Columns of the types of the first file, with those that folders tell."""
        columns, folders = {}, self._folders(path)
        for name in self.chosen.names():
            kind = _plain(self.schema.field(name).type)
            if name in batch.schema.names:
                column = batch.column(name)
            else:
                column = pa.repeat(pa.scalar(folders[name], pa.string()), batch.num_rows)
            if _plain(column.type) != kind:
                try:
                    if _zoned(column.type) != _zoned(kind):
                        raise pa.ArrowInvalid("what a time without a zone means is not known")
                    column = column.cast(kind)
                except pa.ArrowException as error:
                    raise DataError(
                        f"column {name!r} holds {kind} in {self.paths[0]} and {_plain(column.type)} in "
                        f"{path}, which does not fit; write all files with the same types"
                    ) from error
            columns[name] = column
        other = self.chosen.other_lifecycle
        if other is not None and other in batch.schema.names and is_text(_plain(batch.column(other).type)):
            columns[other] = batch.column(other)
        return pa.table(columns)


def _csv_schema(path: str, asked: Columns, folders: Iterable[str]) -> pa.Schema:
    with open_text(path) as file:
        header = header_of(file, path, asked, _separators(path), [*folders])
    return pa.schema([(name, pa.string()) for name in header.names])


def _separators(path: str) -> tuple[str, ...]:
    tabs = path.lower().endswith(endings_of("tsv"))
    return SEPARATORS["tsv" if tabs else "csv"]


def _plain(kind: pa.DataType) -> pa.DataType:
    """The type of the values; all types of text are one, and so are all types of lists."""
    if is_list(kind):
        return pa.list_(_plain(kind.value_type))
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    return pa.string() if is_text(kind) else kind


def _zoned(kind: pa.DataType) -> bool:
    """Whether times of this type know their zone."""
    return getattr(kind, "tz", None) is not None
