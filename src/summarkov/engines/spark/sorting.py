"""On the workers: the rows of a partition put in order, in memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from summarkov.errors import TooLargeError
from summarkov.io.encoding import encode, numpy_of
from summarkov.io.ordering import sort_keys

if TYPE_CHECKING:
    import pyarrow as pa

#: What a row takes while it is sorted, about.
ROW_BYTES = 96
#: Rows to hand on at a time.
_AT_ONCE = 1 << 17


@dataclass(frozen=True)
class Sorting:
    """Sorts rows by case, then by the columns of the order, then as they came.

    ``orders`` are the columns of the order, by names of ours, with what the user calls each. The result does
    not depend on the order in which rows come, so that a partition that was lost comes out the same again.
    """

    case: str
    orders: tuple[tuple[str, str], ...]
    source: str
    memory: int

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The same rows in order; an error if they do not fit into memory."""
        import pyarrow as pa

        held: list[pa.RecordBatch] = []
        n = 0
        for batch in batches:
            n += batch.num_rows
            if n * ROW_BYTES > self.memory:
                raise TooLargeError(
                    f"a partition of more than {self.memory // ROW_BYTES:,} rows does not fit into memory; "
                    "give memory= a larger number, or partitions="
                )
            held.append(batch)
        if not n:
            return
        table = pa.Table.from_batches(held).combine_chunks()
        rows = np.lexsort(self._keys(table)[::-1])
        yield from table.drop_columns("row").take(rows).to_batches(max_chunksize=_AT_ONCE)

    def _keys(self, table: pa.Table) -> list[npt.NDArray[Any]]:
        """What to sort by, the most important first."""
        keys = [self._ranks(table, "case")]
        keys += [sort_keys(table.column(role), name, self.source) for role, name in self.orders]
        if "file" in table.column_names:
            keys += [self._ranks(table, "file"), numpy_of(table.column("start"))]
        return [*keys, numpy_of(table.column("row"))]

    def _ranks(self, table: pa.Table, column: str) -> npt.NDArray[Any]:
        """The places of texts among all different texts in their order."""
        found = encode(table.column(column), self.case if column == "case" else column, self.source)
        ranks = np.empty(len(found.texts), np.int32)
        ranks[sorted(range(len(ranks)), key=found.texts.__getitem__)] = np.arange(len(ranks))
        return np.asarray(ranks[found.codes])
