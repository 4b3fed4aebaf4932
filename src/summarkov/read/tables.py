"""Tables: Arrow objects, Parquet files and comma-separated files as blocks of rows."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from summarkov.arrow import pa, parquet
from summarkov.errors import DataError, SummarkovError
from summarkov.read.addresses import arrow_file
from summarkov.read.columns import TABLE, Columns, choose_columns, refuse_unused_times
from summarkov.read.csv_files import Header, csv_batches, separators_of
from summarkov.read.encoding import is_list, is_text, texts_of
from summarkov.read.files import open_file
from summarkov.read.rows import Block, Source
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


def table_source(table: Any, wanted: Wanted) -> Source:
    """A table by the Arrow interface, as one block of the columns that are needed."""
    table, left_out, times = _without_other_columns(table, wanted.columns)
    try:
        reader = (
            pa.RecordBatchReader.from_stream(table)
            if hasattr(table, "__arrow_c_stream__")
            else pa.table(pa.record_batch(table)).to_reader()
        )
        with reader:  # closed also on error: a DuckDB connection serves one at a time
            chosen = columns_of(reader.schema, wanted.columns, TABLE, left_out, times)
            names = [name for name in chosen.to_read() if name in reader.schema.names]
            schema = pa.schema([reader.schema.field(name) for name in names])
            found = pa.Table.from_batches([batch.select(names) for batch in reader], schema)
    except SummarkovError:
        raise
    except (pa.ArrowException, OSError, ValueError, TypeError, OverflowError) as error:
        raise DataError(f"{TABLE} cannot be read by Arrow: {one_line(error)}") from error
    return Source(TABLE, chosen, [Block(found, TABLE)])


# ---------------------------------------------------------------------- which columns


def list_columns(schema: pa.Schema) -> set[str]:
    """Return the names of the columns that hold lists."""
    return {field.name for field in schema if is_list(field.type)}


def columns_of(
    schema: pa.Schema, asked: Columns, source: str, others: Sequence[str] = (), times: Collection[str] = ()
) -> Columns:
    """Choose the columns of a table by name; ``others`` are more of its names, some of them ``times``.

    A column of dates or times that is not used must have been left out on purpose.
    """
    lists, names = list_columns(schema), [*schema.names, *others]
    chosen = choose_columns(names, asked, source, list_columns=lists)
    kinds = (pa.types.is_timestamp, pa.types.is_date, pa.types.is_time)
    times = [*times, *(field.name for field in schema if any(is_kind(field.type) for is_kind in kinds))]
    refuse_unused_times(chosen, names, asked, source, time_columns=times)
    return chosen


def _without_other_columns(table: Any, asked: Columns) -> tuple[Any, list[str], list[str]]:
    """Drop the columns of a pandas frame that cannot be meant; return their names, and which hold times.

    pandas hands all its columns to Arrow, and one of mixed types, which nobody asked for, would stop it.
    """
    if not _is_frame(table):
        return table, [], []
    meant = [
        asked.may_mean(str(name)) and not (asked.only_looks_at(str(name)) and is_mixed(table.iloc[:, at]))
        for at, name in enumerate(table.columns)
    ]
    each = zip(map(str, table.columns), table.dtypes, meant, strict=True)
    left_out = {name: getattr(kind, "kind", "") for name, kind, keep in each if not keep}
    times = [name for name, kind in left_out.items() if kind == "M"]
    return of_objects(table.loc[:, meant], TABLE), [*left_out], times


def _is_frame(table: Any) -> bool:
    """Whether a table is a data frame of pandas."""
    return type(table).__module__.partition(".")[0] == "pandas" and getattr(table, "ndim", 0) == 2


def of_objects(table: Any, source: str) -> Any:
    """A table, in which text stands for Python objects of pandas or a dict that Arrow would mistake."""
    if isinstance(table, Mapping):
        return {name: _texts(column, str(name), source) or column for name, column in table.items()}
    for at, name in enumerate(table.columns if _is_frame(table) else ()):
        texts = _texts(table.iloc[:, at], str(name), source)
        if texts is not None:
            table = table.copy(deep=False)
            table.isetitem(at, texts)
    return table


def _texts(column: Any, name: str, source: str) -> list[str | None] | None:
    """Text for a column of Python objects, also as categories of pandas, that Arrow would mistake."""
    kind = getattr(column, "dtype", None)
    categories = getattr(kind, "categories", None) if str(kind) == "category" else None
    if categories is not None and _texts(categories, name, source) is not None:
        return texts_of([*column], name, source)
    is_object = isinstance(column, list | tuple) or str(kind) == "object"
    return texts_of(column, name, source) if is_object else None


def is_mixed(column: Any) -> bool:
    """Whether Arrow cannot take a column of pandas, as it has values of different types."""
    try:
        pa.array(column, from_pandas=True)
    except (pa.ArrowException, ValueError, TypeError, OverflowError):
        return True
    return False


def one_line(error: Exception) -> str:
    """Return an error's own words as one line: pandas hands over several texts, Arrow adds tracebacks."""
    text = " ".join(" ".join(str(part) for part in error.args).split())
    return text.partition(". Detail: Python exception")[0]


# ---------------------------------------------------------------------- files


def file_source(paths: Sequence[str], name: str, format: str, wanted: Wanted) -> Source:
    """Files with the same columns ("parquet", "csv" or "tsv") as one table, block by block."""
    if format == "parquet":
        schema = parquet_schema(paths[0])
    else:
        header = Header.of(paths[0], wanted.columns, separators_of(paths[0], format))
        schema = pa.schema([(name, pa.string()) for name in header.names])
    chosen = columns_of(schema, wanted.columns, paths[0])
    kinds = {name: _plain(schema.field(name).type) for name in chosen.names()}
    blocks = _blocks(paths, format, chosen, kinds)
    return Source(name, chosen, blocks)


def _blocks(
    paths: Sequence[str], format: str, chosen: Columns, kinds: Mapping[str, pa.DataType]
) -> Iterator[Block]:
    """Read all files, some rows at a time, as columns of the types of the first file."""
    for path in paths:
        row = 0
        for batch in (_parquet if format == "parquet" else _csv)(path, format, chosen):
            columns = {name: _aligned(batch, name, kind, (paths[0], path)) for name, kind in kinds.items()}
            other = chosen.other_lifecycle
            there = other is not None and other in batch.schema.names
            if other is not None and there and is_text(_plain(batch.column(other).type)):
                columns[other] = batch.column(other)
            yield Block(pa.table(columns), path, row)
            row += batch.num_rows


def _parquet(path: str, _: str, chosen: Columns) -> Iterator[pa.RecordBatch]:
    schema = parquet_schema(path)
    choose_columns(schema.names, chosen, path, list_columns=list_columns(schema))
    return parquet_batches(path, [name for name in chosen.to_read() if name in schema.names])


def _csv(path: str, format: str, chosen: Columns) -> Iterator[pa.RecordBatch]:
    header = Header.of(path, chosen, separators_of(path, format))
    names = [name for name in chosen.to_read() if name in header.names]
    for batch in csv_batches(path, header, names):
        columns = zip(names, map(batch.column, names), strict=True)
        texts = {name: x if name in (chosen.order or ()) else x.dictionary_encode() for name, x in columns}
        yield pa.record_batch(texts)


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
        texts, n_rows = _small_texts(metadata, names)
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


def _small_texts(metadata: parquet.FileMetaData, names: Sequence[str]) -> tuple[list[str], int]:
    """The texts that are stored as codes and a small dictionary everywhere; and how many rows to read.

    These are fewer where rows hold lists.
    """
    leaves = [metadata.schema.column(number) for number in range(len(metadata.schema))]
    texts = {leaf.path for leaf in leaves if leaf.logical_type.type == "STRING"}
    values, large = Counter[str](), set[str]()
    for group in map(metadata.row_group, range(metadata.num_row_groups)):
        for leaf in map(group.column, range(group.num_columns)):
            values[leaf.path_in_schema] += leaf.num_values
            if leaf.total_uncompressed_size > 4 * leaf.num_values + _SMALL:
                large.add(leaf.path_in_schema)
    ours = [leaf.path for leaf in leaves if leaf.path.partition(".")[0] in names or leaf.path in names]
    most = max((values[path] for path in ours), default=0)
    n_rows = max(1, min(_ROWS, _ROWS * int(metadata.num_rows) // max(1, most)))
    return [path for path in ours if path in texts - large], n_rows
