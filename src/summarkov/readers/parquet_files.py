"""Parquet files: long tables, or a list column with a sequence a row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from summarkov.errors import DataError
from summarkov.events import EventSequences
from summarkov.readers.columns import Columns, choose_columns
from summarkov.readers.files import open_file
from summarkov.readers.tables import list_columns, sequences_of

if TYPE_CHECKING:
    import pyarrow as pa


def read_parquet(path: str, asked: Columns, labels: Sequence[str] | None) -> EventSequences:
    """Read the needed columns of a Parquet file, texts straight into dictionaries."""
    import pyarrow as pa
    from pyarrow import parquet

    with open_file(path) as file:
        try:
            schema = parquet.read_schema(file)
            chosen = choose_columns(schema.names, asked, path, list_columns=list_columns(schema))
            texts = [name for name in chosen.names() if _is_text(schema, name)]
            file.seek(0)
            table = parquet.ParquetFile(file, read_dictionary=texts).read(columns=chosen.names())
        except (pa.ArrowException, OSError) as error:
            raise DataError(f"{path} cannot be read as Parquet: {error}") from error
    return sequences_of(table, chosen, labels, path)


def _is_text(schema: pa.Schema, name: str) -> bool:
    import pyarrow as pa

    kind = schema.field(name).type
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))
