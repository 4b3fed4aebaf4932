"""Group rows by case on disk: cut into buckets, each sorted in memory; copied in the order of first rows."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import repeat
from pathlib import Path
from typing import IO

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
    periods_of,
    sort_outside,
    values_of,
)
from summarkov.io.encoding import Encoded, numpy_of
from summarkov.io.ordering import group
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
    shutil.rmtree(grouped)


def _cut(rows: Iterable[CaseBlock], folder: Path, depth: int) -> list[Bucket]:
    """Write rows to files by some bits of the hash of their case."""
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
    used, codes = np.unique(case.codes[rows], return_inverse=True)
    texts = pa.array([case.texts[code] for code in used.tolist()], pa.large_string())
    return pa.DictionaryArray.from_arrays(pa.array(codes.astype(np.int32)), texts)


def _sort(bucket: Bucket, writer: SpillWriter, order: Order, values: CaseValues) -> None:
    """Group a bucket in memory."""
    table = pa.concat_tables(bucket.read())
    case = cases_of(table)
    keys, kinds = order.read(order_of(table), FILES)
    grouping = group(case.codes, keys)
    placed, periods = grouping.placed, periods_of(table)
    codes, rows = (placed(numpy_of(table.column(name))) for name in ("code", "row"))
    of_rows = placed(values_of(table, values))
    periods = None if periods is None else placed(periods)
    moments = order.moments([placed(each) for each in keys], kinds, grouping.tied, periods, FILES)
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
    with _Events(written.folder, written.time_unit, written.has_periods) as events:
        for low in range(0, n_rows, step):
            some = _Waiting.between(
                written.folder, low, low + step, names=writer.keeps_names, n_values=writer.n_values
            )
            _copy(some, events, written.folder, memory, writer)


class _Events:
    """Events in files, to be read from any place on: codes, and times and periods where they have some."""

    def __init__(self, folder: Path, unit: TimeUnit | None, has_periods: bool) -> None:
        self._unit = unit
        self._names = ["codes", *["times"] * (unit is not None), *["periods"] * has_periods]
        self._folder, self._opened = folder, ExitStack()
        self._held: dict[str, list[bytes]] = {name: [] for name in self._names}

    def __enter__(self) -> _Events:
        self._files = {name: self._open(name) for name in self._names}
        return self

    def __exit__(self, *error: object) -> None:
        self._opened.close()

    def _open(self, name: str) -> IO[bytes]:
        return self._opened.enter_context(open(self._folder / name, "rb"))

    def read(self, start: int, n: int) -> None:
        """Hold some more events."""
        for name, file in self._files.items():
            width = CODE_BYTES if name == "codes" else TIME_BYTES
            self._held[name].append(_read(file, start, n, width))

    def take(self) -> tuple[CodeArray, Moments]:
        """All that are held."""
        bytes_of = {name: b"".join(some) for name, some in self._held.items()}
        for some in self._held.values():
            some.clear()
        codes, starts = split_codes(np.frombuffer(bytes_of.pop("codes"), np.int32))
        more = {name: np.frombuffer(some, np.int64) for name, some in bytes_of.items()}
        return codes, Moments(starts, more.get("times"), self._unit or NANOSECONDS, more.get("periods"))


@dataclass(frozen=True)
class _Waiting:
    """Where some sequences, and their names, begin and end, in the order in which they are to be copied."""

    starts: IntArray
    stops: IntArray
    keys: HashArray
    values: CodeArray
    name_starts: IntArray
    name_stops: IntArray

    @classmethod
    def between(cls, folder: Path, low: int, high: int, *, names: bool, n_values: int) -> _Waiting:
        """Those whose first rows are from ``low`` on and below ``high``."""
        files = ["ends", "name_ends"] if names else ["ends"]
        rows, found, keyed, valued = [], [], [], []
        for firsts, keys, values, *spans in zip(
            *(_numbers(folder / file) for file in ("firsts", "keys")),
            _values(folder, n_values),
            *(_spans(folder / file) for file in files),
            strict=n_values > 0,
        ):
            here = (firsts >= low) & (firsts < high)
            rows.append(firsts[here])
            keyed.append(keys[here])
            valued.append(values[here] if n_values else np.empty((int(here.sum()), 0), np.int32))
            found.append(np.concatenate([span[:, here] for span in spans]))
        order = np.argsort(np.concatenate(rows), kind="stable")
        every = np.concatenate(found, axis=1)[:, order]
        of_names = every[2:] if names else np.zeros((2, len(order)), np.int64)
        keys = np.concatenate(keyed)[order].view(np.uint64)
        return cls(every[0], every[1], keys, np.concatenate(valued)[order], *of_names)


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


def _read(file: IO[bytes], start: int, n: int, width: int) -> bytes:
    file.seek(start * width)
    return file.read(n * width)


def _names(folder: Path, some: _Waiting) -> Iterator[str]:
    with open(folder / "names", "rb") as file:
        for start, stop in zip(some.name_starts.tolist(), some.name_stops.tolist(), strict=True):
            file.seek(start)
            yield file.read(stop - start).decode()


def _numbers(path: Path) -> Iterator[IntArray]:
    with open(path, "rb") as file:
        while len(some := np.fromfile(file, np.int64, AT_ONCE)):
            yield some


def _values(folder: Path, n_values: int) -> Iterator[CodeArray]:
    """The values of sequences, as many at a time as there are numbers; nothing, again and again, if none."""
    if not n_values:
        yield from repeat(np.empty((0, 0), np.int32))
    with open(folder / "values", "rb") as file:
        while len(some := np.fromfile(file, np.int32, AT_ONCE * n_values)):
            yield some.reshape(-1, n_values)


def _spans(path: Path) -> Iterator[IntArray]:
    """Where each of some stretches begins and ends, from the ends of all."""
    last = 0
    for ends in _numbers(path):
        yield np.stack([np.concatenate([[last], ends[:-1]]), ends])
        last = int(ends[-1])
