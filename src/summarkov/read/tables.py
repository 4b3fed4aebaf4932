"""Tables: Arrow objects, Parquet files and comma-separated files as blocks of rows, and rows as sequences."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from summarkov.arrow import pa, parquet
from summarkov.errors import DataError, SummarkovError
from summarkov.events import EventSequences
from summarkov.read.addresses import arrow_file, size_of
from summarkov.read.columns import TABLE, Columns, choose_columns, refuse_unused_times
from summarkov.read.csv_files import DATE, Header, csv_batches, separators_of
from summarkov.read.date_formats import is_text
from summarkov.read.encoding import is_list
from summarkov.read.files import open_file
from summarkov.read.finding import folder_columns
from summarkov.read.parts import lists_in, rows_in
from summarkov.read.wanted import Wanted

#: Rows to read at a time.
_ROWS = 1 << 17
#: Up to here a dictionary of a Parquet file is small; what Arrow reads ahead of a column.
_SMALL, _PAGE = 1 << 20, 1 << 20


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


def read_table(source: Any, wanted: Wanted) -> EventSequences:
    """Read a table through the Arrow interface, keeping only the columns that are needed.

    >>> import pyarrow as pa
    >>> table = pa.table({"case": ["x", "y", "x"], "event": ["A", "A", "B"]})
    >>> read_table(table, Wanted()).to_lists()
    [['A', 'B'], ['A']]
    """
    source, left_out, times = _without_other_columns(source, wanted.columns)
    try:
        reader = (
            pa.RecordBatchReader.from_stream(source)
            if hasattr(source, "__arrow_c_stream__")
            else pa.table(pa.record_batch(source)).to_reader()
        )
        with reader:  # closed also on error: a DuckDB connection serves one at a time
            chosen = columns_of(reader.schema, wanted.columns, TABLE, left_out, times)
            names = [name for name in chosen.to_read() if name in reader.schema.names]
            schema = pa.schema([reader.schema.field(name) for name in names])
            table = pa.Table.from_batches([batch.select(names) for batch in reader], schema)
    except SummarkovError:
        raise
    except (pa.ArrowException, OSError, ValueError, TypeError) as error:
        raise DataError(f"{TABLE} cannot be read by Arrow: {one_line(error)}") from error
    return sequences_of(table, chosen, wanted, TABLE)


def read_table_file(path: str, wanted: Wanted, format: str) -> EventSequences:
    """Read the needed columns of a file into memory; see :class:`TableFiles`."""
    with open_file(path) as file:  # which says what is wrong with it
        if not file.seekable():  # it is opened once more
            raise DataError(f"{path} is not a regular file; save it as one first")
    files = TableFiles([path], format, wanted)
    blocks = [block.table for block in files.blocks()]
    table = pa.concat_tables(blocks) if blocks else files.nothing
    return sequences_of(table, files.chosen, wanted, path)


def sequences_of(table: pa.Table, chosen: Columns, wanted: Wanted, source: str) -> EventSequences:
    """Turn the chosen columns of a table into sequences: one row per event, or one row per sequence."""
    read = lists_in if is_list(table.column(chosen.event[0]).type) else rows_in
    return read(table, chosen, wanted.for_columns(chosen), source)


# ---------------------------------------------------------------------- which columns


def list_columns(schema: pa.Schema) -> set[str]:
    """Return the names of the columns that hold lists."""
    return {field.name for field in schema if is_list(field.type)}


def columns_of(
    schema: pa.Schema, asked: Columns, source: str, others: Sequence[str] = (), times: Sequence[str] = ()
) -> Columns:
    """Choose the columns of a table by name; ``others`` are more of its names, some of them ``times``.

    A column of dates or times that is not used must have been left out on purpose.
    """
    lists, names = list_columns(schema), [*schema.names, *others]
    chosen = choose_columns(names, asked, source, list_columns=lists)
    if chosen.event[0] not in lists:
        kinds = (pa.types.is_timestamp, pa.types.is_date, pa.types.is_time)
        times = [*times, *(field.name for field in schema if any(is_kind(field.type) for is_kind in kinds))]
        refuse_unused_times(chosen, names, asked, source, time_columns=times)
    return chosen


def _without_other_columns(source: Any, asked: Columns) -> tuple[Any, list[str], list[str]]:
    """Drop the columns of a pandas frame that cannot be meant; return their names, and which hold times.

    pandas hands all its columns to Arrow, and one of mixed types, which nobody asked for, would stop it.
    """
    if type(source).__module__.partition(".")[0] != "pandas" or getattr(source, "ndim", 0) != 2:
        return source, [], []
    meant = [
        asked.may_mean(str(name)) and not (asked.only_looks_at(str(name)) and _is_mixed(source.iloc[:, at]))
        for at, name in enumerate(source.columns)
    ]
    left_out = [
        (str(name), kind)
        for name, kind, keep in zip(source.columns, source.dtypes, meant, strict=True)
        if not keep
    ]
    times = [name for name, kind in left_out if getattr(kind, "kind", "") == "M"]
    return source.loc[:, meant], [name for name, _ in left_out], times


def _is_mixed(column: Any) -> bool:
    """Whether Arrow cannot take a column of pandas, as it has values of different types."""
    try:
        pa.array(column, from_pandas=True)
    except (pa.ArrowException, ValueError, TypeError):
        return True
    return False


def one_line(error: Exception) -> str:
    """Return an error's own words as one line: pandas hands over several texts, Arrow adds tracebacks."""
    text = " ".join(" ".join(str(part) for part in error.args).split())
    return text.partition(". Detail: Python exception")[0]


# ---------------------------------------------------------------------- files


@dataclass(frozen=True)
class Block:
    """Some rows: the chosen columns, of which file, where they begin, and bytes of all files read, about."""

    table: pa.Table
    path: str
    first_row: int
    done: int


@dataclass(frozen=True)
class TableFiles:
    """Files with the same columns, as one long table; ``format`` is "parquet", "csv" or "tsv".

    Columns that are asked for and that are in no file may be told by the names of folders, such as
    ``day=2024-05-01``.
    """

    paths: list[str]
    format: str
    wanted: Wanted

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
            header = Header.of(path, self.wanted.columns, separators_of(path, self.format), [*folders])
            schema = pa.schema([(name, pa.string()) for name in header.names])
        return pa.schema([*schema, *((name, pa.string()) for name in folders if name not in schema.names)])

    @property
    def nothing(self) -> pa.Table:
        """A table of no rows."""
        return pa.table(
            {name: pa.array([], _plain(self.schema.field(name).type)) for name in self.chosen.names()}
        )

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

    def blocks(self) -> Iterator[Block]:
        """Read all files, some rows at a time."""
        before = 0
        for path in self.paths:
            size, row = size_of(path), 0
            batches = self._parquet(path) if self.format == "parquet" else self._csv(path)
            for batch in batches:
                yield Block(self._aligned(batch, path), path, row, before + size)
                row += batch.num_rows
            before += size

    def _parquet(self, path: str) -> Iterator[pa.RecordBatch]:
        schema = parquet_schema(path)
        there = [*schema.names, *(name for name in self._folders(path) if name not in schema.names)]
        choose_columns(there, self.chosen, path, list_columns=list_columns(schema))
        names = [name for name in self.chosen.to_read() if name in schema.names]
        return parquet_batches(path, names)

    def _csv(self, path: str) -> Iterator[pa.RecordBatch]:
        separators = separators_of(path, self.format)
        header = Header.of(path, self.chosen, separators, [*self._folders(path)])
        names = [name for name in self.chosen.to_read() if name in header.names]
        for batch in csv_batches(path, header, names):
            order = self.chosen.order or ()
            yield pa.record_batch(
                {
                    name: batch.column(name) if name in order else batch.column(name).dictionary_encode()
                    for name in names
                }
            )

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


def _plain(kind: pa.DataType) -> pa.DataType:
    """The type of the values; all types of text are one, and so are all types of lists."""
    if is_list(kind):
        return pa.list_(_plain(kind.value_type))
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    return pa.string() if is_text(kind) else kind


def _zoned(kind: pa.DataType) -> bool:
    """Whether times of this type know their zone."""
    return getattr(kind, "tz", None) is not None


# ---------------------------------------------------------------------- Parquet


def parquet_schema(path: str) -> pa.Schema:
    """The columns of a file."""
    with open_file(path) as file, _reading_parquet(path):
        schema = parquet.read_schema(file)
        _ = schema.names  # which may not be text
        return schema


def parquet_batches(path: str, names: Sequence[str]) -> Iterator[pa.RecordBatch]:
    """Some columns of a file, some rows at a time, texts that repeat straight into dictionaries."""
    open_file(path).close()  # says what is wrong with it
    with _reading_parquet(path):
        metadata = parquet.read_metadata(arrow_file(path))
        texts = [text for text in _text_leaves(metadata, names) if _is_small(metadata, text)]
        n_rows = _rows_at_once(metadata, names)
        file = parquet.ParquetFile(
            arrow_file(path), read_dictionary=texts, buffer_size=_PAGE, pre_buffer=False
        )
    with file:
        done, total = 0, file.metadata.num_rows
        batches = file.iter_batches(n_rows, columns=list(names))
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


@contextmanager
def _reading_parquet(path: str) -> Iterator[None]:
    """Say in one sentence that a file is damaged, by which Arrow may be led to raise almost anything."""
    try:
        yield
    except SummarkovError:
        raise
    except Exception as error:
        raise DataError(f"{path} cannot be read as Parquet: {one_line(error)[:300]}") from error


def _text_leaves(metadata: parquet.FileMetaData, names: Sequence[str]) -> list[str]:
    """The paths of the texts in some columns, also in lists, which can be read as dictionaries."""
    leaves = (metadata.schema.column(number) for number in range(len(metadata.schema)))
    return [leaf.path for leaf in leaves if leaf.logical_type.type == "STRING" and _belongs(leaf.path, names)]


def _leaves(metadata: parquet.FileMetaData, names: Sequence[str]) -> Iterable[Any]:
    """The parts of some columns, in each row group."""
    groups = (metadata.row_group(number) for number in range(metadata.num_row_groups))
    every = (group.column(leaf) for group in groups for leaf in range(group.num_columns))
    return (leaf for leaf in every if _belongs(leaf.path_in_schema, names))


def _rows_at_once(metadata: parquet.FileMetaData, names: Sequence[str]) -> int:
    """How many rows to read at a time: fewer where they hold lists."""
    values = Counter[str]()
    for leaf in _leaves(metadata, names):
        values[leaf.path_in_schema] += leaf.num_values
    most = max(values.values(), default=0)
    return max(1, min(_ROWS, _ROWS * int(metadata.num_rows) // max(1, most)))


def _is_small(metadata: parquet.FileMetaData, text: str) -> bool:
    """Whether a text is stored as codes and a small dictionary everywhere."""
    leaves = _leaves(metadata, [text])
    return all(leaf.total_uncompressed_size <= 4 * leaf.num_values + _SMALL for leaf in leaves)


def _belongs(path: str, names: Sequence[str]) -> bool:
    return any(path == name or path.startswith(f"{name}.") for name in names)
