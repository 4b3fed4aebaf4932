"""Group rows by case on disk: cut by a hash of the case until a bucket fits into memory, then sort that."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from summarkov.events.draws import sequence_keys, stable_hashes
from summarkov.io.buckets import (
    FILES,
    Bucket,
    CaseBlock,
    Order,
    Stream,
    again,
    cases_of,
    periods_of,
    sort_outside,
    values_of,
)
from summarkov.io.copying import copy_in_order
from summarkov.io.encoding import Encoded, numpy_of
from summarkov.io.grouping import group
from summarkov.io.rows import CaseValues
from summarkov.io.spill import SpillWriter
from summarkov.io.ticks import Ties

if TYPE_CHECKING:
    import pyarrow as pa

#: Buckets are cut into 2^6 smaller ones by the next bits of the hash, of which there are 64.
_BITS = 6
_DEEPEST = 64 // _BITS

Tell = Callable[[int, int, str], None]


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
                todo += [(smaller, depth + 1) for smaller in _cut(again(bucket), inside, depth)]
                bucket.path.unlink()
                continue
            else:
                sort_outside(bucket, memory, by_bucket, order, values)
            bucket.path.unlink()
            done += bucket.n_rows
            tell(done, max(1, n_rows), "grouping")
    finally:
        by_bucket.close()
    inside.rmdir()
    copy_in_order(by_bucket, n_rows, memory, writer)
    writer.add_ties(by_bucket.ties)
    shutil.rmtree(grouped)


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
                    bucket = buckets[number] = Bucket(path, Stream(path, here.schema))
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
    case = cases_of(table)
    keys, times = order.keys(table)
    grouping = group(case.codes, keys)
    codes, rows, of_rows = (
        numpy_of(table.column("code")),
        numpy_of(table.column("row")),
        values_of(table, values),
    )
    periods = periods_of(table)
    if grouping.rows is not None:
        codes, rows, of_rows = codes[grouping.rows], rows[grouping.rows], of_rows[grouping.rows]
        times = None if times is None else times._replace(values=times.values[grouping.rows])
        periods = None if periods is None else periods[grouping.rows]
    starts = grouping.offsets[:-1]
    firsts = np.minimum.reduceat(rows, starts)
    names = [case.texts[code] for code in grouping.cases.tolist()]
    sequence = np.repeat(np.arange(len(names)), np.diff(grouping.offsets))
    values.refuse_change(of_rows, starts, lambda row: names[sequence[row]], FILES)
    together = order.together_of(grouping.tied)
    ends, begun = grouping.offsets[1:], sequence_keys(names)
    writer.add(codes, ends, begun, names, firsts, of_rows[starts], together, times, periods)
    if grouping.tied_order:
        of_ties = sequence[grouping.tied]
        first = of_ties[firsts[of_ties].argmin()]
        writer.add_ties(Ties(grouping.tied_order, names[first]), int(firsts[first]))
