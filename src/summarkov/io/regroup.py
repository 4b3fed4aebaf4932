"""Group rows by case on disk: cut into buckets, each sorted in memory; copied in the order of first rows."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from summarkov.arrow import pa
from summarkov.events.draws import sequence_keys, stable_hashes
from summarkov.events.moments import NANOSECONDS, Moments, TimeUnit
from summarkov.io.buckets import (
    FILES,
    Bucket,
    CaseBlock,
    Stream,
    again,
    cases_of,
    order_of,
    sort_outside,
    values_of,
)
from summarkov.io.encoding import Encoded, numpy_of
from summarkov.io.ordering import Repeated, group
from summarkov.io.rows import CaseValues
from summarkov.io.spill import AT_ONCE, CODE_BYTES, TIME_BYTES, SpillWriter, split_codes
from summarkov.io.ticks import Order, Ties
from summarkov.typing import CodeArray, HashArray, IntArray

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
    writer.n_duplicates = by_bucket.n_duplicates
    shutil.rmtree(grouped)


def _cut(rows: Iterable[CaseBlock], folder: Path, depth: int) -> list[Bucket]:
    """Write rows to files by some bits of the hash of their case."""
    buckets: dict[int, Bucket] = {}
    try:
        for some in rows:
            if not len(some.case.codes):  # all were left out
                continue
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
    used, codes = np.unique(case.codes[rows], return_inverse=True)
    texts = pa.array([case.texts[code] for code in used.tolist()], pa.large_string())
    return pa.DictionaryArray.from_arrays(pa.array(codes.astype(np.int32)), texts)


def _sort(bucket: Bucket, writer: SpillWriter, order: Order, values: CaseValues) -> None:
    """Group a bucket in memory."""
    table = pa.concat_tables(bucket.read())
    case = cases_of(table)
    keys, kinds = order.read(order_of(table), FILES)
    grouping = group(case.codes, keys)
    if grouping.tied is not None and not order.together:
        repeated = Repeated().of(grouping.placed(numpy_of(table.column("code"))), grouping.tied)
        writer.n_duplicates += int(np.count_nonzero(repeated))
        grouping = grouping.only(~repeated) if order.drops_duplicates else grouping
    placed = grouping.placed
    codes, rows = (placed(numpy_of(table.column(name))) for name in ("code", "row"))
    of_rows = placed(values_of(table, values))
    moments = order.moments([placed(each) for each in keys], kinds, grouping.tied, FILES)
    starts = grouping.offsets[:-1]
    firsts = np.minimum.reduceat(rows, starts)
    names = [case.texts[code] for code in grouping.cases.tolist()]
    sequence = np.repeat(np.arange(len(names)), np.diff(grouping.offsets))
    values.refuse_change(of_rows, starts, lambda row: names[sequence[row]], FILES)
    ends, begun = grouping.offsets[1:], sequence_keys(names)
    writer.add(codes, ends, begun, names, firsts, of_rows[starts], moments)
    if grouping.tied_order:
        of_ties = sequence[grouping.tied]
        first = of_ties[firsts[of_ties].argmin()]
        writer.add_ties(Ties(grouping.tied_order, names[first]), int(firsts[first]))


#: What a sequence takes while it waits for its turn, and an event.
_SEQUENCE_BYTES, _EVENT_BYTES = 1024, 128


def copy_in_order(written: SpillWriter, n_rows: int, memory: int, writer: SpillWriter) -> None:
    """Copy what another writer has written, with the first rows of all sequences, to ``writer``.

    The sequences of some rows are looked up at a time, so that only these are held in memory.
    """
    step = max(1, memory // _SEQUENCE_BYTES)
    names = ["codes", *["times"] * (written.time_unit is not None)]
    with ExitStack() as opened:
        files = {name: opened.enter_context(open(written.folder / name, "rb")) for name in names}
        events = _Events(files, written.time_unit)
        for low in range(0, n_rows, step):
            some = _Waiting.between(written, low, low + step)
            _copy(some, events, written.folder, memory, writer)


class _Events:
    """Events in files, by name, to be read from any place on: codes, and times if there are any.

    ``unit`` is what times are measured in.
    """

    def __init__(self, files: Mapping[str, IO[bytes]], unit: TimeUnit | None) -> None:
        self._files, self._unit = files, unit or NANOSECONDS
        self._held: dict[str, list[bytes]] = {name: [] for name in files}

    def read(self, start: int, n: int) -> None:
        """Hold some more events."""
        for name, file in self._files.items():
            width = CODE_BYTES if name == "codes" else TIME_BYTES
            file.seek(start * width)
            self._held[name].append(file.read(n * width))

    def take(self) -> tuple[CodeArray, Moments]:
        """All that are held."""
        bytes_of = {name: b"".join(some) for name, some in self._held.items()}
        for some in self._held.values():
            some.clear()
        codes, starts = split_codes(np.frombuffer(bytes_of.pop("codes"), np.int32))
        more = {name: np.frombuffer(some, np.int64) for name, some in bytes_of.items()}
        return codes, Moments(starts, more.get("times"), self._unit)


@dataclass(frozen=True)
class _Waiting:
    """Where some sequences, and their names, begin and end, in the order in which they are to be copied."""

    keys: HashArray
    values: CodeArray
    starts: IntArray
    stops: IntArray
    name_starts: IntArray
    name_stops: IntArray

    @classmethod
    def between(cls, written: SpillWriter, low: int, high: int) -> _Waiting:
        """Those whose first rows are from ``low`` on and below ``high``."""
        folder, width, parts = written.folder, written.n_values, []
        for start in range(0, written.n_sequences, AT_ONCE):
            n = min(AT_ONCE, written.n_sequences - start)
            firsts = _numbers(folder / "firsts", start, n)
            here = (firsts >= low) & (firsts < high)
            values = np.empty((n, 0), np.int32)
            if width:
                values = _numbers(folder / "values", start * width, n * width, np.int32).reshape(n, width)
            spans = [_spans(folder / "ends", start, n), np.zeros((2, n), np.int64)]
            if written.keeps_names:
                spans[1] = _spans(folder / "name_ends", start, n)
            keys = _numbers(folder / "keys", start, n, np.uint64)
            parts.append([each[here] for each in (firsts, keys, values, *spans[0], *spans[1])])
        firsts, *found = (np.concatenate(each) for each in zip(*parts, strict=True))
        order = np.argsort(firsts, kind="stable")
        return cls(*(each[order] for each in found))


def _copy(some: _Waiting, events: _Events, folder: Path, memory: int, writer: SpillWriter) -> None:
    most = max(1, memory // _EVENT_BYTES)
    names = _names(folder, some) if writer.keeps_names else None
    ends: list[int] = []
    begun: list[str] = []
    keys: list[int] = []
    n = at = 0  # events held, and sequences whose values are written

    def flush() -> None:
        nonlocal n, at
        codes, moments = events.take()
        values = some.values[at : at + len(keys)]
        at += len(keys)
        of_keys = np.array(keys, np.uint64)
        writer.add(codes, np.array(ends, np.int64), of_keys, begun, values=values, moments=moments)
        for each in (ends, begun, keys):
            each.clear()
        n = 0

    each = zip(some.starts.tolist(), some.stops.tolist(), some.keys.tolist(), strict=True)
    for start, stop, key in each:
        keys.append(key)
        if names is not None:
            begun.append(next(names))
        while n + stop - start > most:
            events.read(start, most - n)
            start += most - n
            flush()
        events.read(start, stop - start)
        n += stop - start
        ends.append(n)
    flush()


def _names(folder: Path, some: _Waiting) -> Iterator[str]:
    with open(folder / "names", "rb") as file:
        for start, stop in zip(some.name_starts.tolist(), some.name_stops.tolist(), strict=True):
            file.seek(start)
            yield file.read(stop - start).decode()


def _numbers(path: Path, start: int, n: int, dtype: npt.DTypeLike = np.int64) -> npt.NDArray[Any]:
    """Some of the numbers in a file."""
    return np.fromfile(path, dtype, n, offset=start * np.dtype(dtype).itemsize)


def _spans(path: Path, start: int, n: int) -> IntArray:
    """Where each of some stretches begins and ends, from the ends of all."""
    ends = _numbers(path, start - 1, n + 1) if start else np.append(0, _numbers(path, 0, n))
    return np.stack([ends[:-1], ends[1:]])
