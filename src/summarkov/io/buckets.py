"""Rows in files, by some bits of a hash of their cases; and how one larger than memory is sorted."""

from __future__ import annotations

import heapq
import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import islice
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from summarkov.arrow import pa
from summarkov.errors import DataError
from summarkov.events.draws import sequence_keys
from summarkov.events.moments import Moments
from summarkov.io.encoding import Encoded, as_dictionaries, numpy_of
from summarkov.io.ordering import Repeated, is_ranked, tied
from summarkov.io.rows import CaseValues
from summarkov.io.spill import SpillWriter
from summarkov.io.ticks import Order, Ties
from summarkov.typing import CodeArray

#: How messages call files, where a row may be of any.
FILES = "the files"
#: What a row takes while a bucket is sorted, beside its file twice over.
ROW_BYTES = 100


@dataclass(frozen=True)
class CaseBlock:
    """Some rows: their cases, and a table.

    Its columns are "code" and "row"; "order0", "order1", ..., to sort by; "value0", "value1", ..., the codes
    of what must not change during a case.
    """

    case: Encoded
    table: pa.Table


class Stream:
    """A file to which Arrow writes tables; Arrow takes no path that is not UTF-8."""

    def __init__(self, path: Path, schema: pa.Schema) -> None:
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
        with pa.OSFile(os.fsencode(self.path)) as file, pa.ipc.open_stream(file) as reader:
            for batch in reader:
                yield pa.table(batch)


def again(bucket: Bucket) -> Iterator[CaseBlock]:
    """The rows, as they came."""
    for table in bucket.read():
        yield CaseBlock(cases_of(table), table.drop_columns("case"))


def cases_of(table: pa.Table) -> Encoded:
    """The cases of rows."""
    chunks = as_dictionaries(table.column("case"))
    codes = numpy_of(pa.chunked_array([chunk.indices for chunk in chunks]))
    return Encoded(codes, chunks[0].dictionary.to_pylist())


def values_of(table: pa.Table, values: CaseValues) -> CodeArray:
    """The codes of columns that must not change, one row per row."""
    found = np.empty((table.num_rows, len(values.names)), np.int32)
    for at in range(len(values.names)):
        found[:, at] = numpy_of(table.column(f"value{at}"))
    return found


def order_of(table: pa.Table) -> list[pa.ChunkedArray]:
    """The columns to sort by."""
    return [table.column(name) for name in table.column_names if name.startswith("order")]


def sort_outside(bucket: Bucket, memory: int, writer: SpillWriter, order: Order, values: CaseValues) -> None:
    """Write cases each of which may be larger than memory: sort runs of one, then merge these."""
    firsts: dict[str, tuple[int, CodeArray]] = {}  # the first row of each, and its values
    for some in again(bucket):
        used, at = np.unique(some.case.codes, return_index=True)
        rows, of_rows = numpy_of(some.table.column("row")), values_of(some.table, values)
        for code, row, one in zip(used.tolist(), rows[at].tolist(), of_rows[at], strict=True):
            text = some.case.texts[code]
            mine = np.concatenate(
                [firsts.setdefault(text, (row, one))[1][None], of_rows[some.case.codes == code]]
            )
            values.refuse_change(mine, np.zeros(1, np.int64), partial(_same, text), FILES)
    for text, (first, of_case) in firsts.items():
        tables = (some.table.filter(_rows_of(some.case, text)) for some in again(bucket))
        names, once = [text], of_case[None]
        for codes, moments, n_tied, n_repeated in _in_order(tables, bucket.path, memory, order):
            writer.add_ties(Ties(n_tied, text), first)
            writer.n_duplicates += n_repeated
            no_end = np.empty(0, np.int64)
            writer.add(codes, no_end, sequence_keys(names), names, values=once, moments=moments)
            names, once = [], once[:0]
        nothing = np.empty(0, np.int32), np.zeros(1, np.int64), np.empty(0, np.uint64)
        writer.add(*nothing, firsts=np.array([first]))


def _same(text: str, _: int) -> str:
    return text


def _rows_of(case: Encoded, text: str) -> pa.Array:
    code = case.texts.index(text) if text in case.texts else -1
    return pa.array(case.codes == code)


def _in_order(
    tables: Iterator[pa.Table], path: Path, memory: int, order: Order
) -> Iterator[tuple[CodeArray, Moments | None, int, int]]:
    """The events of one case, in order: some codes, their moments, how many are tied, and duplicates."""
    if not order.columns:
        for table in tables:
            yield numpy_of(table.column("code")), order.moments([], [], None, FILES), 0, 0
        return
    most = max(1, memory // (2 * ROW_BYTES))
    runs: list[tuple[Path, npt.DTypeLike]] = []
    n_keys = len(order.columns)
    try:
        for table in _together(tables, most):
            columns = order_of(table)
            for one, column in zip(order.columns, columns, strict=True):
                if is_ranked(column.type):
                    raise DataError(
                        f"order column {one.name!r} holds decimals of many digits, and a case is too long to "
                        "be sorted by them; write the column as whole numbers, or raise memory="
                    )
            keys, kinds = order.read(columns, FILES)
            rows = np.rec.fromarrays([*keys, numpy_of(table.column("code"))])[np.lexsort(keys[::-1])]
            runs.append((path.with_name(f"{path.name}-{len(runs)}"), rows.dtype))
            rows.tofile(runs[-1][0])
        few = max(1, min(1 << 14, most // (len(runs) + 1)))
        merged = heapq.merge(*(_rows_in(*run, few) for run in runs), key=itemgetter(slice(n_keys)))
        last: list[tuple[Any, ...]] = []
        repeated = Repeated()
        while some := list(islice(merged, few)):
            arrays = [np.array(each) for each in zip(*last, *some, strict=True)]
            same = tied(arrays[:n_keys], np.zeros(1, np.int64))[len(last) :]
            new = [each[len(last) :] for each in arrays]
            repeats = np.zeros(len(same), bool) if order.together else repeated.of(new[n_keys], same)
            if order.drops_duplicates:
                new, same = [each[~repeats] for each in new], same[~repeats]
            moments = order.moments(new[:n_keys], kinds, same, FILES)
            last = some[-1:]
            n_tied, n_repeated = (int(np.count_nonzero(each)) for each in (same, repeats))
            yield new[n_keys].astype(np.int32), moments, n_tied, n_repeated
    finally:
        for run, _ in runs:
            run.unlink(missing_ok=True)


def _together(tables: Iterator[pa.Table], most: int) -> Iterator[pa.Table]:
    """Join tables up to ``most`` rows."""
    held: list[pa.Table] = []
    for table in tables:
        if held and sum(each.num_rows for each in held) + table.num_rows > most:
            yield pa.concat_tables(held)
            held = []
        held.append(table)
    if held:
        yield pa.concat_tables(held)


def _rows_in(path: Path, dtype: npt.DTypeLike, few: int) -> Iterator[tuple[Any, ...]]:
    """The rows of a sorted run: keys and a code; some are read at a time."""
    with open(path, "rb") as file:
        while len(some := np.fromfile(file, dtype, few)):
            yield from some.tolist()
