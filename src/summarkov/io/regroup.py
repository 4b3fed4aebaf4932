"""Group rows by case on disk: cut by a hash of the case until a bucket fits into memory, then sort that."""

from __future__ import annotations

import heapq
import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from summarkov.errors import DataError
from summarkov.events.keys import sequence_keys, stable_hashes
from summarkov.io.encoding import Encoded, as_dictionaries, numpy_of
from summarkov.io.grouping import count_ties, group
from summarkov.io.ordering import OrderColumn, is_ranked, sort_keys
from summarkov.io.per_case import CaseValues
from summarkov.io.spill import SpillWriter, copy_in_order
from summarkov.typing import CodeArray

if TYPE_CHECKING:
    import pyarrow as pa

#: Buckets are cut into 2^6 smaller ones by the next bits of the hash, of which there are 64.
_BITS = 6
_DEEPEST = 64 // _BITS
#: How messages call them, where a row may be of any.
_FILES = "the files"
#: What a row takes while a bucket is sorted, beside its file twice over.
_ROW_BYTES = 100

Tell = Callable[[str, int, int], None]
#: The columns to sort by, the first of them first.
Order = Sequence[OrderColumn]


@dataclass(frozen=True)
class CaseBlock:
    """Some rows: their cases, and a table.

    Its columns are "code" and "row"; "order0", "order1", ..., to sort by; and "value0", "value1", ..., the
    codes of what must not change during a case.
    """

    case: Encoded
    table: pa.Table


class _Stream:
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
    writer: _Stream
    n_rows: int = 0
    lowest: int = 2**64
    highest: int = -1

    def fits(self, memory: int) -> bool:
        """Whether it can be sorted in memory."""
        return 2 * self.path.stat().st_size + _ROW_BYTES * self.n_rows <= memory

    def read(self) -> Iterator[pa.Table]:
        """The rows, as written."""
        import pyarrow as pa

        with pa.OSFile(os.fsencode(self.path)) as file, pa.ipc.open_stream(file) as reader:
            for batch in reader:
                yield pa.table(batch)


def regroup(
    rows: Iterable[CaseBlock],
    folder: Path,
    memory: int,
    writer: SpillWriter,
    order: Order,
    values: CaseValues,
    tell: Tell,
) -> None:
    """Write the sequences of rows in any order; ``order`` has looked at all rows once these have been read.

    Parts are grouped one by one, and the sequences of all then copied in the order of their first rows.
    """
    inside, grouped = folder / "buckets", folder / "grouped"
    inside.mkdir()
    grouped.mkdir()
    todo = [(bucket, 1) for bucket in _cut(rows, inside, 0)]
    n_rows = sum(bucket.n_rows for bucket, _ in todo)
    done = 0
    by_bucket = SpillWriter(grouped, names=writer.keeps_names, firsts=True, n_values=len(values.names))
    try:
        while todo:
            bucket, depth = todo.pop()
            if bucket.fits(memory):
                _sort(bucket, by_bucket, order, values)
            elif depth < _DEEPEST and bucket.lowest < bucket.highest:
                todo += [(smaller, depth + 1) for smaller in _cut(_again(bucket), inside, depth)]
                bucket.path.unlink()
                continue
            else:
                _sort_outside(bucket, memory, by_bucket, order, values)
            bucket.path.unlink()
            done += bucket.n_rows
            tell("grouping", done, max(1, n_rows))
    finally:
        by_bucket.close()
    inside.rmdir()
    copy_in_order(grouped, n_rows, memory, writer)
    writer.tied_order = by_bucket.tied_order
    shutil.rmtree(grouped)


def _again(bucket: Bucket) -> Iterator[CaseBlock]:
    for table in bucket.read():
        yield CaseBlock(_cases(table), table.drop_columns("case"))


def _cases(table: pa.Table) -> Encoded:
    import pyarrow as pa

    chunks = as_dictionaries(table.column("case"))
    codes = numpy_of(pa.chunked_array([chunk.indices for chunk in chunks]))
    return Encoded(codes, chunks[0].dictionary.to_pylist())


def _cut(rows: Iterable[CaseBlock], folder: Path, depth: int) -> list[Bucket]:
    """Write rows to files by some bits of the hash of their case."""
    import pyarrow as pa

    buckets: dict[int, Bucket] = {}
    try:
        for some in rows:
            of_row = stable_hashes(some.case.texts)[some.case.codes]
            which = ((of_row >> np.uint64(_BITS * depth)) & np.uint64(2**_BITS - 1)).astype(np.uint8)
            order = np.argsort(which, kind="stable")
            table = some.table.take(pa.array(order))
            numbers, starts = np.unique(which[order], return_index=True)
            for number, start, stop in zip(
                numbers.tolist(), starts.tolist(), [*starts[1:].tolist(), len(order)], strict=True
            ):
                here = table.slice(start, stop - start)
                here = here.append_column("case", _dictionary(some.case, order[start:stop]))
                bucket = buckets.get(number)
                if bucket is None:
                    path = folder / f"{depth}-{number}-{len(list(folder.iterdir()))}"
                    bucket = buckets[number] = Bucket(path, _Stream(path, here.schema))
                bucket.writer.write_table(here)
                mine = of_row[order[start:stop]]
                bucket.n_rows += stop - start
                bucket.lowest, bucket.highest = (
                    min(bucket.lowest, int(mine.min())),
                    max(bucket.highest, int(mine.max())),
                )
    finally:
        for bucket in buckets.values():
            bucket.writer.close()
    return list(buckets.values())


def _dictionary(case: Encoded, rows: npt.NDArray[np.integer]) -> pa.DictionaryArray:
    """The cases of some rows; each name is there once, however long it is."""
    import pyarrow as pa

    used, codes = np.unique(case.codes[rows], return_inverse=True)
    texts = pa.array([case.texts[code] for code in used.tolist()], pa.large_string())
    return pa.DictionaryArray.from_arrays(pa.array(codes.astype(np.int32)), texts)


def _sort(bucket: Bucket, writer: SpillWriter, order: Order, values: CaseValues) -> None:
    """Group a bucket in memory."""
    import pyarrow as pa

    table = pa.concat_tables(bucket.read())
    case = _cases(table)
    grouping = group(case.codes, _keys(table, order))
    codes, rows, of_rows = (
        numpy_of(table.column("code")),
        numpy_of(table.column("row")),
        _values(table, values),
    )
    if grouping.rows is not None:
        codes, rows, of_rows = codes[grouping.rows], rows[grouping.rows], of_rows[grouping.rows]
    starts = grouping.offsets[:-1]
    firsts = np.minimum.reduceat(rows, starts)
    names = [case.texts[code] for code in grouping.cases.tolist()]
    sequence = np.repeat(np.arange(len(names)), np.diff(grouping.offsets))
    values.refuse_change(of_rows, starts, lambda row: names[sequence[row]], _FILES)
    writer.add(codes, grouping.offsets[1:], sequence_keys(names), names, firsts, of_rows[starts])
    writer.tied_order += grouping.tied_order


def _keys(table: pa.Table, order: Order) -> list[npt.NDArray[Any]]:
    each = enumerate(order)
    return [sort_keys(one.values(table.column(f"order{at}")), one.name, _FILES) for at, one in each]


def _values(table: pa.Table, values: CaseValues) -> CodeArray:
    """The codes of columns that must not change, one row per row."""
    found = np.empty((table.num_rows, len(values.names)), np.int32)
    for at in range(len(values.names)):
        found[:, at] = numpy_of(table.column(f"value{at}"))
    return found


# ---------------------------------------------------------------------- cases that do not fit into memory


def _sort_outside(bucket: Bucket, memory: int, writer: SpillWriter, order: Order, values: CaseValues) -> None:
    """Write cases each of which may be larger than memory: sort runs of one, then merge these."""
    firsts: dict[str, tuple[int, CodeArray]] = {}  # the first row of each, and its values
    for some in _again(bucket):
        used, at = np.unique(some.case.codes, return_index=True)
        rows, of_rows = numpy_of(some.table.column("row")), _values(some.table, values)
        for code, row, one in zip(used.tolist(), rows[at].tolist(), of_rows[at], strict=True):
            text = some.case.texts[code]
            mine = np.concatenate(
                [firsts.setdefault(text, (row, one))[1][None], of_rows[some.case.codes == code]]
            )
            values.refuse_change(mine, np.zeros(1, np.int64), partial(_same, text), _FILES)
    for text, (first, of_case) in firsts.items():
        tables = (some.table.filter(_rows_of(some.case, text)) for some in _again(bucket))
        names, once = [text], of_case[None]
        for codes in _in_order(tables, bucket.path, memory, writer, order):
            writer.add(codes, np.empty(0, np.int64), sequence_keys(names), names, values=once)
            names, once = [], once[:0]
        nothing = np.empty(0, np.int32), np.zeros(1, np.int64), np.empty(0, np.uint64)
        writer.add(*nothing, firsts=np.array([first]))


def _same(text: str, _: int) -> str:
    return text


def _rows_of(case: Encoded, text: str) -> pa.Array:
    import pyarrow as pa

    code = case.texts.index(text) if text in case.texts else -1
    return pa.array(case.codes == code)


def _in_order(
    tables: Iterator[pa.Table], path: Path, memory: int, writer: SpillWriter, order: Order
) -> Iterator[CodeArray]:
    """The codes of one case, in order."""
    if not order:
        for table in tables:
            yield numpy_of(table.column("code"))
        return
    most = max(1, memory // (2 * _ROW_BYTES))
    runs: list[tuple[Path, list[npt.DTypeLike]]] = []
    try:
        for table in _together(tables, most):
            for at, one in enumerate(order):
                if is_ranked(table.column(f"order{at}").type):
                    raise DataError(
                        f"order column {one.name!r} holds decimals of many digits, and a case is too long to "
                        "be sorted by them; write the column as whole numbers, or raise memory="
                    )
            keys = _keys(table, order)
            rows = np.lexsort(keys[::-1])
            run = path.with_name(f"{path.name}-{len(runs)}")
            runs.append((run, [each.dtype for each in keys]))
            with open(run, "wb") as file:
                for each in (*keys, numpy_of(table.column("code"))):
                    file.write(each[rows].data)
        few = max(1, min(1 << 14, most // (len(runs) + 1)))
        merged = heapq.merge(*(_pairs(*run, few) for run in runs), key=itemgetter(0))
        last: list[Any] = []
        while some := list(islice(merged, few)):
            keys = [np.array(each) for each in zip(*last, *(key for key, _ in some), strict=True)]
            writer.tied_order += count_ties(keys, np.zeros(1, np.int64))
            last = [some[-1][0]]
            yield np.array([code for _, code in some], np.int32)
    finally:
        for run, _ in runs:
            run.unlink(missing_ok=True)


def _together(tables: Iterator[pa.Table], most: int) -> Iterator[pa.Table]:
    """Join tables up to ``most`` rows."""
    import pyarrow as pa

    held: list[pa.Table] = []
    for table in tables:
        if held and sum(each.num_rows for each in held) + table.num_rows > most:
            yield pa.concat_tables(held)
            held = []
        held.append(table)
    if held:
        yield pa.concat_tables(held)


def _pairs(path: Path, dtypes: Sequence[npt.DTypeLike], few: int) -> Iterator[tuple[tuple[Any, ...], int]]:
    """Keys and codes of a sorted run, some at a time."""
    widths = [np.dtype(dtype).itemsize for dtype in (*dtypes, np.int32)]
    n = path.stat().st_size // sum(widths)
    begins = [n * sum(widths[:at]) for at in range(len(widths))]
    for start in range(0, n, few):
        *keys, codes = (
            np.fromfile(path, dtype, min(few, n - start), offset=begin + start * width).tolist()
            for dtype, begin, width in zip((*dtypes, np.int32), begins, widths, strict=True)
        )
        yield from zip(zip(*keys, strict=True), codes, strict=True)
