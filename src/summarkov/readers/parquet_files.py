"""Parquet files: long tables, or a list column with a sequence a row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import BufferedReader
from typing import TYPE_CHECKING

from summarkov.errors import DataError
from summarkov.events import EventSequences
from summarkov.readers.columns import Columns, choose_columns
from summarkov.readers.files import open_file
from summarkov.readers.sessions import Gap
from summarkov.readers.tables import list_columns, one_line, sequences_of

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

#: What a value takes while it is read.
_VALUE_BYTES = 24


def read_parquet(
    path: str, asked: Columns, labels: Sequence[str] | None, gap: Gap | None = None
) -> EventSequences:
    """Read the needed columns of a Parquet file, texts straight into dictionaries."""
    from pyarrow import parquet

    with open_file(path) as file:
        schema = parquet_schema(file, path)
        chosen = choose_columns(schema.names, asked, path, list_columns=list_columns(schema))
        file.seek(0)
        with reading_parquet(path):
            texts = text_leaves(parquet.read_metadata(file), chosen.names())
            file.seek(0)
            content = parquet.ParquetFile(file, read_dictionary=texts)
            table = content.read(columns=chosen.names()).select(chosen.names())
            table.validate(full=True)  # Arrow itself trusts the codes of texts that it finds in a file
        check_rows(path, content.metadata.num_rows, table.num_rows)
    return sequences_of(table, chosen, labels, path, gap)


def parquet_schema(file: BufferedReader, path: str) -> pa.Schema:
    """The columns of a file."""
    from pyarrow import parquet

    with reading_parquet(path):
        schema = parquet.read_schema(file)
        _ = schema.names  # which may not be text
        return schema


@contextmanager
def reading_parquet(path: str) -> Iterator[None]:
    """Say in one sentence that a file is damaged, by which Arrow may be led to raise almost anything."""
    try:
        yield
    except Exception as error:
        raise DataError(f"{path} cannot be read as Parquet: {one_line(error)[:300]}") from error


def check_rows(path: str, expected: int, found: int) -> None:
    """Refuse a damaged file whose rows end too soon, which Arrow may pass over without a word."""
    if found != expected:
        raise DataError(
            f"{path} cannot be read as Parquet: by its own account it has {expected} rows, and {found} can "
            "be read; it is damaged, write it again"
        )


def text_leaves(metadata: pq.FileMetaData, names: Sequence[str]) -> list[str]:
    """The paths of the texts in some columns, also in lists, which are to be read as dictionaries."""
    leaves = (metadata.schema.column(number) for number in range(len(metadata.schema)))
    return [leaf.path for leaf in leaves if leaf.logical_type.type == "STRING" and _belongs(leaf.path, names)]


def bytes_in_memory(metadata: pq.FileMetaData, names: Sequence[str]) -> tuple[int, int]:
    """What some columns take in memory while they are read, about: all rows, and a row on average.

    The average is that of the row group whose rows are the largest.
    """
    total, largest = 0, 1
    for number in range(metadata.num_row_groups):
        group = metadata.row_group(number)
        leaves = (group.column(leaf) for leaf in range(group.num_columns))
        needed = sum(
            max(_VALUE_BYTES * leaf.num_values, 2 * leaf.total_uncompressed_size)
            for leaf in leaves
            if _belongs(leaf.path_in_schema, names)
        )
        total += needed
        largest = max(largest, -(-needed // max(1, group.num_rows)))
    return total, largest


def _belongs(path: str, names: Sequence[str]) -> bool:
    return any(path == name or path.startswith(f"{name}.") for name in names)
