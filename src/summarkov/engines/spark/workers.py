"""On the workers: sorted rows to codes, which are cached; and codes to answers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise
from operator import itemgetter
from typing import Any, Generic, NamedTuple
from zlib import crc32

import numpy as np
import numpy.typing as npt

from summarkov import __version__, kernels
from summarkov.arrow import pa
from summarkov.engines.messages import pack_error, unpack_error
from summarkov.engines.spark.session import Returned, Tally, row_of_error
from summarkov.engines.spark.sorted_rows import Sorted, SortedBlock
from summarkov.engines.weights import MOST, in_units, n_fractions
from summarkov.engines.work import Answer, Part, Work
from summarkov.errors import DataError, SettingError, SummarkovError
from summarkov.events.draws import sequence_keys
from summarkov.events.moments import NANOSECONDS, Moments, TimeUnit
from summarkov.events.rows import Block
from summarkov.io.ordering import run_starts
from summarkov.typing import BoolArray, CodeArray, IntArray

#: Events to a row of the cached table. Rows are handed over thousands at a time, so they must not be long.
ROW_EVENTS = 1 << 11
#: This bit of a code says that the sequence ends with it, and this one that no tick begins with it.
_END, _WITHIN = np.int32(-(2**31)), np.int32(1 << 30)

#: The cached table: the number of the partition, codes (int32), their times (int64) if they have
#: some, the keys (uint64) and weights (float64) of the sequences that begin among them or in the rows that
#: follow, ties in the order column, a case with some, and errors.
CODES = {
    "part": "integer",
    "codes": "binary",
    "times": "binary",
    "keys": "binary",
    "weights": "binary",
    "ties": "long",
    "tied_case": "string",
    "error": "binary",
}


@dataclass(frozen=True)
class Contents:
    """What is in the cached table: labels, which of them are attributes, and what times are measured in.

    Sequences count by their weights, in units of ``1 / scale``, once that is known.
    """

    labels: tuple[str, ...]
    attributes: BoolArray | None = None
    time_unit: TimeUnit | None = None
    has_moments: bool = False  # whether not every row is a position of its own, or rows have times
    scale: int | None = None


class Coded(NamedTuple):
    """Some rows: codes with bits, and times; these are empty where rows have none."""

    codes: CodeArray
    times: IntArray

    @classmethod
    def joined(cls, several: Sequence[Coded]) -> Coded:
        """Rows one after the other."""
        codes, times = zip(*several, strict=True)
        return cls(np.concatenate(codes), np.concatenate(times))

    def between(self, start: int, stop: int | None = None) -> Coded:
        """Some of them."""
        return Coded(self.codes[start:stop], self.times[start:stop])


@dataclass(frozen=True)
class ToCodes:
    """Makes the cached table."""

    rows: Sorted
    version: str = __version__

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Turn sorted rows into rows of codes."""
        from pyspark import TaskContext

        context = TaskContext.get()
        number = context.partitionId() if context else 0
        try:
            if self.version != __version__:
                raise SettingError(
                    f"the workers have summarkov {__version__} and the driver {self.version}; install one"
                )
            for block, ends in self.rows.blocks(batches):
                codes, times = _with_heads(block, ends)
                keys = sequence_keys(block.names[block.continues :])
                weights = block.weights[int(block.continues) :]
                cuts = np.append(np.arange(0, len(codes), ROW_EVENTS), len(codes))
                n = len(cuts) - 1
                timed = _binary(times, cuts if len(times) else np.zeros(n + 1, np.int64))
                yield pa.record_batch(
                    {
                        "part": pa.array(np.full(n, number, np.int32)),
                        "codes": _binary(codes, cuts),
                        "times": timed,
                        "keys": _binary(keys, np.append(0, np.full(n, len(keys)))),
                        "weights": _binary(weights, np.append(0, np.full(n, len(weights)))),
                        "ties": pa.array([block.ties.n] + [0] * (n - 1), pa.int64()),
                        "tied_case": pa.array([block.ties.case] + [None] * (n - 1), pa.string()),
                        "error": pa.nulls(n, pa.binary()),
                    }
                )
        except SummarkovError as error:
            columns = [[number], *([b""] for _ in range(4)), [0], [None], [pack_error(error)]]
            binary = [pa.binary()] * 4
            kinds = [pa.int32(), *binary, pa.int64(), pa.string(), pa.binary()]
            arrays = [pa.array(*column) for column in zip(columns, kinds, strict=True)]
            yield pa.record_batch(arrays, [*CODES])


def _with_heads(block: SortedBlock, ends: IntArray) -> Coded:
    """A block, with the codes of attributes before the events of each sequence."""
    moments, nothing = block.moments, np.empty(0, np.int64)
    codes = np.where(moments.starts, block.codes, block.codes | _WITHIN)
    codes[ends - 1] |= _END
    found = Coded(codes, nothing if moments.times is None else moments.times)
    heads = block.heads[int(block.continues) :]
    at = np.repeat(block.starts[int(block.continues) :], heads.shape[1])
    if not len(at):
        return found
    others = (np.insert(each, at, each[at]) if len(each) else each for each in found[1:])
    return Coded(np.insert(codes, at, heads.ravel() | _WITHIN), *others)


def _binary(values: npt.NDArray[Any], cuts: IntArray) -> pa.Array:
    """Numbers as binary values, cut at some places."""
    values = np.ascontiguousarray(values)
    offsets = (cuts * values.itemsize).astype(np.int32)
    return pa.Array.from_buffers(
        pa.binary(), len(cuts) - 1, [None, pa.py_buffer(offsets), pa.py_buffer(values)]
    )


def numbers(column: pa.Array, kind: npt.DTypeLike) -> npt.NDArray[Any]:
    """All numbers in some binary values, one after the other."""
    if not len(column):
        return np.empty(0, kind)
    offsets = np.frombuffer(column.buffers()[1], np.int32, len(column) + 1, 4 * column.offset)
    data = column.buffers()[2]
    if data is None or offsets[0] == offsets[-1]:
        return np.empty(0, kind)
    n = (int(offsets[-1]) - int(offsets[0])) // np.dtype(kind).itemsize
    return np.frombuffer(data, kind, n, int(offsets[0]))


class CachedCodes:
    """The cached codes of one partition as blocks; they can be read once."""

    def __init__(self, batches: Iterable[pa.RecordBatch], partition: int, content: Contents) -> None:
        self._batches, self._content = batches, content
        self._checksums = [partition] * 4  # of the codes, keys, weights and times
        self._tally, self._weight = Tally(), 0.0
        self._keys, self._weights = np.empty(0, np.uint64), np.empty(0)  # of sequences that have not ended
        self._ends, self._is_whole = 0, True  # sequences that ended, and whether the last one has

    def blocks(self, most: int) -> Iterator[Block]:
        """Blocks of about ``most`` events, which cut no tick; one empty block if there are none."""
        content = self._content
        for codes, times in cut_evenly(self._codes(), most, content.attributes):
            block = Block.of(codes & ~_END & ~_WITHIN, np.flatnonzero(codes < 0) + 1)
            n = len(block.offsets) - 1
            moments = None
            if content.has_moments:
                moments = Moments(
                    codes & _WITHIN == 0,
                    None if content.time_unit is None else times,
                    content.time_unit or NANOSECONDS,
                )
            floats = self._weights[:n]
            if content.scale is not None and len(floats) < n:
                raise DataError("the weights do not fit to the sequences")
            self._weight += float(floats @ np.diff(block.offsets)[: len(floats)])
            weights = None if content.scale is None else in_units(floats, content.scale)
            yield replace(block, keys=self._keys[:n], weights=weights, moments=moments)
            self._keys, self._weights = self._keys[n - block.goes_on :], self._weights[n - block.goes_on :]

    def tally(self) -> Tally:
        """What was read; refused if it is a piece of a partition."""
        if not self._is_whole or self._ends != self._tally.sequences:
            raise DataError(
                "a partition of the codes was read in pieces; make them anew, with more partitions="
            )
        return replace(self._tally, weight=int(min(self._weight, MOST)) >> 20, checksum=sum(self._checksums))

    def _codes(self) -> Iterator[Coded]:
        for batch in self._batches:
            error = batch.column("error")
            if error.null_count < len(error):
                raise unpack_error(error.drop_null()[0].as_py())
            kinds = {"codes": np.int32, "keys": np.uint64, "weights": np.float64, "times": np.int64}
            found = [numbers(batch.column(name), kind) for name, kind in kinds.items()]
            codes, keys, weights, times = found
            self._refuse_unfit(Coded(codes, times))
            each = zip(found, self._checksums, strict=True)
            self._checksums = [crc32(some.data, before) for some, before in each]
            within = codes & _WITHIN != 0
            if self._content.attributes is not None:
                within &= ~self._content.attributes[codes & ~_END & ~_WITHIN]
            ties, together = sum(batch.column("ties").to_pylist()), int(np.count_nonzero(within))
            self._tally += Tally(len(codes), len(keys), ties, together, n_fractions(weights))
            self._keys = np.concatenate([self._keys, keys])
            self._weights = np.concatenate([self._weights, weights])
            self._ends += int(np.count_nonzero(codes < 0))
            self._is_whole = bool(codes[-1] < 0) if len(codes) else self._is_whole
            yield Coded(codes, times)

    def _refuse_unfit(self, rows: Coded) -> None:
        """Refuse codes of no label, and times of no event: folders may hold anything."""
        content, n = self._content, len(rows.codes)
        last = (rows.codes & ~_END & ~_WITHIN).max(initial=-1)
        if last >= len(content.labels) or len(rows.times) != n * (content.time_unit is not None):
            raise DataError("the codes of events do not fit to labels and times")


def cut_evenly(arrays: Iterable[Coded], most: int, attributes: BoolArray | None = None) -> Iterator[Coded]:
    """The same rows, about ``most`` at a time; at least once.

    They are cut where a tick begins, but not between attributes and the events of their sequence.
    """
    nowhere = np.empty(0, np.int64)
    waiting = [Coded(np.empty(0, np.int32), nowhere, nowhere)]
    n, nothing = 0, True
    for some in arrays:
        waiting.append(some)
        n += len(some.codes)
        if n <= most:
            continue
        together = Coded.joined(waiting)
        held = together.codes
        may = held & _WITHIN == 0
        if attributes is not None:
            may[1:] &= ~attributes[held[:-1] & ~_END & ~_WITHIN]
        may[1:] |= held[:-1] < 0  # where a sequence begins
        places, start = np.flatnonzero(may), 0
        while len(held) - start > most:
            at = int(np.searchsorted(places, start + most))
            if at == len(places):
                break
            stop = int(places[at])
            yield together.between(start, stop)
            start, nothing = stop, False
        waiting, n = [together.between(start)], len(held) - start
    if n or nothing:
        yield Coded.joined(waiting)


@dataclass(frozen=True)
class OnPartition(Generic[Answer]):
    """Does some work on every partition of the cached table that a task is given, mostly one."""

    work: Work[Answer]
    content: Contents
    memory: int

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """One row per partition: the answer."""
        for number, some in groupby(_by_partition(batches), key=itemgetter(0)):
            yield self.answer(number, (batch for _, batch in some))

    def answer(self, number: int, batches: Iterable[pa.RecordBatch]) -> pa.RecordBatch:
        """The answer of one partition, as a row."""
        codes, content = CachedCodes(batches, number, self.content), self.content
        part = Part(codes.blocks, content.labels, self.memory, number=number, attributes=content.attributes)
        try:
            answer = self.work.run(part)
            return Returned(codes.tally(), int(kernels.backend() != "native"), answer).row()
        except SummarkovError as error:
            return row_of_error(error)


def _by_partition(batches: Iterable[pa.RecordBatch]) -> Iterator[tuple[int, pa.RecordBatch]]:
    """The same rows with the number of their partition; those of one come in a row."""
    for batch in batches:
        numbers: IntArray = np.asarray(np.from_dlpack(batch.column("part")), np.int64)
        starts = [*run_starts(numbers).tolist(), len(numbers)]
        for start, stop in pairwise(starts):
            yield int(numbers[start]), batch.slice(start, stop - start)
