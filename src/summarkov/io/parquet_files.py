"""Parquet files: long tables, or a list column with one sequence per row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from summarkov.arrow import pa, parquet, pc
from summarkov.errors import DataError, SummarkovError
from summarkov.events import EventSequences
from summarkov.io.addresses import arrow_file
from summarkov.io.files import LEAST, LISTED_BYTES, open_file, refuse_beyond
from summarkov.io.list_columns import flat_values
from summarkov.io.tables import columns_of, one_line, sequences_of
from summarkov.io.wanted import Wanted

#: What a value takes while it is read.
_VALUE_BYTES = 24
#: A page holds at least as many values, whatever their size, and takes memory several times while it is read.
_PAGE_ROWS, _PAGES = 1024, 6
#: Up to here a dictionary is small.
_SMALL = 1 << 20
#: What Arrow reads ahead of a column, so that a large row group does not come into memory as a whole.
PAGE = 1 << 20


def read_parquet(path: str, wanted: Wanted) -> EventSequences:
    """Read the needed columns of a Parquet file."""
    chosen = columns_of(parquet_schema(path), wanted.columns, path)
    table = parquet_columns(path, chosen.to_read())
    return sequences_of(table.select(chosen.to_read()), chosen, wanted, path)


def parquet_columns(path: str, names: list[str]) -> pa.Table:
    """Some columns of a file, texts straight into dictionaries."""
    with open_file(path) as file, reading_parquet(path):
        texts = text_leaves(parquet.read_metadata(file), names)
        file.seek(0)
        content = parquet.ParquetFile(file, read_dictionary=texts)
        table = content.read(columns=names)
        table.validate(full=True)  # Arrow itself trusts the codes of texts that it finds in a file
    check_rows(path, content.metadata.num_rows, table.num_rows)
    return table


def parquet_schema(path: str) -> pa.Schema:
    """The columns of a file."""
    with open_file(path) as file, reading_parquet(path):
        schema = parquet.read_schema(file)
        _ = schema.names  # which may not be text
        return schema


@contextmanager
def reading_parquet(path: str) -> Iterator[None]:
    """Say in one sentence that a file is damaged, by which Arrow may be led to raise almost anything."""
    try:
        yield
    except SummarkovError:
        raise
    except Exception as error:
        raise DataError(f"{path} cannot be read as Parquet: {one_line(error)[:300]}") from error


def check_rows(path: str, expected: int, found: int) -> None:
    """Refuse a damaged file whose rows end too soon, which Arrow may pass over without a word."""
    if found != expected:
        raise DataError(
            f"{path} cannot be read as Parquet: by its own account it has {expected} rows, and {found} can "
            "be read; it is damaged, write it again"
        )


def text_leaves(metadata: parquet.FileMetaData, names: Sequence[str]) -> list[str]:
    """The paths of the texts in some columns, also in lists, which can be read as dictionaries."""
    leaves = (metadata.schema.column(number) for number in range(len(metadata.schema)))
    return [leaf.path for leaf in leaves if leaf.logical_type.type == "STRING" and _belongs(leaf.path, names)]


def is_small_text(path: str, name: str) -> bool:
    """Whether a column has few texts, that are not long."""
    with open_file(path) as file:
        metadata = parquet.read_metadata(file)
    return name in text_leaves(metadata, [name]) and _is_small(metadata, name)


@dataclass(frozen=True)
class Plan:
    """How to read a file some rows at a time: texts that are read as dictionaries, and bytes of a row."""

    dictionaries: list[str]
    row_bytes: int


def plan(path: str, names: Sequence[str], memory: int) -> Plan:
    """Look at what a file tells of itself, so that few rows are read at a time where they are large.

    Arrow lets a dictionary grow as it reads, so texts are read as one only where it is small. Elsewhere every
    row gets a copy of its text, and one text that is very long may be that of many rows.
    """
    with open_file(path) as file:
        metadata = parquet.read_metadata(file)
    texts = text_leaves(metadata, names)
    small = [text for text in texts if _is_small(metadata, text)]
    row_bytes = 1
    for number, (leaves, n_rows) in enumerate(_groups(metadata, names)):
        needed = 0
        for leaf in leaves:
            text = leaf.path_in_schema
            if text in texts:
                average = leaf.total_uncompressed_size // max(1, leaf.num_values)
                pages = _PAGES * min(leaf.total_uncompressed_size, _PAGE_ROWS * average)
                refuse_beyond(memory, pages, f"texts of {average:,} bytes, as in column {text!r} of {path},")
            longest = _longest(path, number, text) if text in texts and text not in small else 0
            each = max(_VALUE_BYTES, longest) * leaf.num_values
            needed += max(each, 2 * leaf.total_uncompressed_size)
            if leaf.num_values > n_rows:  # a row is a list: there must be one of as many as on average
                most = LISTED_BYTES * (leaf.num_values - n_rows + 1)
                if most > n_rows * max(memory, LEAST):
                    refuse_beyond(memory, most, f"lists of {path} that are very long")
        row_bytes = max(row_bytes, -(-needed // max(1, n_rows)))
    return Plan(small, row_bytes)


def _groups(metadata: parquet.FileMetaData, names: Sequence[str]) -> Iterator[tuple[list[Any], int]]:
    """The parts of some columns in each row group, and its number of rows."""
    for number in range(metadata.num_row_groups):
        group = metadata.row_group(number)
        leaves = [group.column(leaf) for leaf in range(group.num_columns)]
        yield [leaf for leaf in leaves if _belongs(leaf.path_in_schema, names)], group.num_rows


def _is_small(metadata: parquet.FileMetaData, text: str) -> bool:
    """Whether a text is stored as codes and a small dictionary everywhere."""
    leaves = [leaf for leaves, _ in _groups(metadata, [text]) for leaf in leaves]
    return all(leaf.total_uncompressed_size <= 4 * leaf.num_values + _SMALL for leaf in leaves)


def _longest(path: str, group: int, text: str) -> int:
    """The length of the longest text in the dictionary that a row group begins with."""
    with parquet.ParquetFile(
        arrow_file(path), read_dictionary=[text], buffer_size=PAGE, pre_buffer=False
    ) as file:
        batch = next(file.iter_batches(1, row_groups=[group], columns=[text], use_threads=False), None)
    if batch is None:
        return 0
    column = batch.column(0)
    column = flat_values(column)
    return int(pc.max(pc.binary_length(column.dictionary.cast(pa.large_string()))).as_py() or 0)


def _belongs(path: str, names: Sequence[str]) -> bool:
    return any(path == name or path.startswith(f"{name}.") for name in names)
