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


def read_parquet(
    path: str, asked: Columns, labels: Sequence[str] | None, gap: Gap | None = None
) -> EventSequences:
    """Read the needed columns of a Parquet file, texts straight into dictionaries."""
    from pyarrow import parquet

    with open_file(path) as file:
        schema = parquet_schema(file, path)
        chosen = choose_columns(schema.names, asked, path, list_columns=list_columns(schema))
        texts = [name for name in chosen.names() if _is_text(schema, name)]
        file.seek(0)
        with reading_parquet(path):
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


def _is_text(schema: pa.Schema, name: str) -> bool:
    import pyarrow as pa

    kind = schema.field(name).type
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))
