"""Rows in files, by some bits of a hash of their cases."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from summarkov.io.encoding import Encoded, as_dictionaries, numpy_of
from summarkov.io.ordering import OrderColumn, sort_keys
from summarkov.io.per_case import CaseValues
from summarkov.io.ticks import Times, times_of
from summarkov.typing import BoolArray, CodeArray, IntArray

if TYPE_CHECKING:
    import pyarrow as pa

#: How messages call files, where a row may be of any.
FILES = "the files"
#: What a row takes while a bucket is sorted, beside its file twice over.
ROW_BYTES = 100


@dataclass(frozen=True)
class Order:
    """The columns to sort by, the first of them first, and what is to be known of rows beside their order.

    ``together`` says that those of one place happened together, ``times`` that times are to be kept.
    """

    columns: Sequence[OrderColumn]
    together: bool
    times: bool

    def keys(self, table: pa.Table) -> tuple[list[npt.NDArray[Any]], Times | None]:
        """What to sort the rows of a table by, and their times."""
        found = [one.values(table.column(f"order{at}")) for at, one in enumerate(self.columns)]
        keys = [sort_keys(each, one.name, FILES) for each, one in zip(found, self.columns, strict=True)]
        return keys, self.times_of(keys[0], found[0].type) if keys else None

    def times_of(self, keys: npt.NDArray[Any], kind: pa.DataType) -> Times | None:
        """The times of rows that are sorted by these keys first, if they are to be kept."""
        return times_of(keys, kind, (self.columns[0].name, FILES)) if self.times else None

    def kind(self, table: pa.Table) -> pa.DataType:
        """The type of the first of them, which rows of any table have."""
        return self.columns[0].values(table.column("order0")).type

    def together_of(self, tied: BoolArray | None) -> BoolArray | None:
        """Which events happened together with the one before, from which have its place."""
        return tied if self.together else None


@dataclass(frozen=True)
class CaseBlock:
    """Some rows: their cases, and a table.

    Its columns are "code" and "row"; "order0", "order1", ..., to sort by; "value0", "value1", ..., the codes
    of what must not change during a case; and "period", if events have periods.
    """

    case: Encoded
    table: pa.Table


class Stream:
    """A file to which Arrow writes tables; Arrow takes no path that is not UTF-8."""

    def __init__(self, path: Path, schema: pa.Schema) -> None:
        import pyarrow as pa

        self._file = pa.OSFile(os.fsencode(path), "wb")
        self._writer = pa.ipc.new_stream(self._file, schema)

    def write_table(self, table: pa.Table) -> None:
        self._writer.write_table(table)

    def close(self) -> None:
        self._writer.close()
        self._file.close()


@dataclass
class Bucket:
    """Rows whose cases have the same bits of the hash, in a file, in the order in which they came."""

    path: Path
    writer: Stream
    n_rows: int = 0
    lowest: int = 2**64
    highest: int = -1

    def fits(self, memory: int) -> bool:
        """Whether it can be sorted in memory."""
        return 2 * self.path.stat().st_size + ROW_BYTES * self.n_rows <= memory

    def read(self) -> Iterator[pa.Table]:
        """The rows, as written."""
        import pyarrow as pa

        with pa.OSFile(os.fsencode(self.path)) as file, pa.ipc.open_stream(file) as reader:
            for batch in reader:
                yield pa.table(batch)


def again(bucket: Bucket) -> Iterator[CaseBlock]:
    """The rows, as they came."""
    for table in bucket.read():
        yield CaseBlock(cases_of(table), table.drop_columns("case"))


def cases_of(table: pa.Table) -> Encoded:
    """The cases of rows."""
    import pyarrow as pa

    chunks = as_dictionaries(table.column("case"))
    codes = numpy_of(pa.chunked_array([chunk.indices for chunk in chunks]))
    return Encoded(codes, chunks[0].dictionary.to_pylist())


def values_of(table: pa.Table, values: CaseValues) -> CodeArray:
    """The codes of columns that must not change, one row per row."""
    found = np.empty((table.num_rows, len(values.names)), np.int32)
    for at in range(len(values.names)):
        found[:, at] = numpy_of(table.column(f"value{at}"))
    return found


def periods_of(table: pa.Table) -> IntArray | None:
    """The periods of rows, if they have some."""
    return numpy_of(table.column("period")) if "period" in table.column_names else None
