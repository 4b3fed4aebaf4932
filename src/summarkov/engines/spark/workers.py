"""On the workers: sorted rows to codes, which are cached; codes to answers; and answers added up."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic

import numpy as np
import numpy.typing as npt

from summarkov import __version__
from summarkov.engines.messages import pack, pack_error, unpack, unpack_error
from summarkov.engines.spark.sorted_rows import Sorted
from summarkov.engines.work import Answer, Part, Work
from summarkov.errors import SettingError, SummarkovError
from summarkov.events.block import Block
from summarkov.io.regroup import sequence_keys
from summarkov.typing import CodeArray, IntArray

if TYPE_CHECKING:
    import pyarrow as pa

#: Events to a row of the cached table. Rows are handed over thousands at a time, so they must not be long.
ROW_EVENTS = 1 << 11
#: This bit of a code says that the sequence ends with it.
_END = np.int32(-(2**31))

#: The cached table: codes (int32), the first row of each sequence that ends among these (int64), the key of
#: its name (uint64), ties in the order column, and what went wrong.
CODES = "codes binary, firsts binary, keys binary, ties bigint, error binary"


@dataclass(frozen=True)
class ToCodes:
    """Makes the cached table."""

    rows: Sorted
    version: str = __version__

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Turn sorted rows into rows of codes."""
        import pyarrow as pa

        try:
            if self.version != __version__:
                raise SettingError(
                    f"the workers have summarkov {__version__} and the driver {self.version}; install one"
                )
            first = 2**63 - 1  # row of the sequence that goes on
            for block, ends in self.rows.blocks(batches):
                codes = block.codes.copy()
                codes[ends - 1] |= _END
                firsts = np.minimum.reduceat(block.rows, block.starts)
                if block.continues:
                    firsts[0] = min(firsts[0], first)
                first, firsts = int(firsts[-1]), firsts[: len(ends)]
                keys = sequence_keys(block.names[: len(ends)])
                cuts = np.append(np.arange(0, len(codes), ROW_EVENTS), len(codes))
                n = len(cuts) - 1
                yield pa.record_batch(
                    {
                        "codes": _binary(codes, cuts),
                        "firsts": _binary(firsts, np.append(0, np.full(n, len(firsts)))),
                        "keys": _binary(keys, np.append(0, np.full(n, len(keys)))),
                        "ties": pa.array([block.ties] + [0] * (n - 1), pa.int64()),
                        "error": pa.nulls(n, pa.binary()),
                    }
                )
        except SummarkovError as error:
            failed = {"codes": [b""], "firsts": [b""], "keys": [b""], "error": [pack_error(error)]}
            columns = {name: pa.array(value, pa.binary()) for name, value in failed.items()}
            order = ["codes", "firsts", "keys", "ties", "error"]
            yield pa.record_batch({**columns, "ties": pa.array([0], pa.int64())}).select(order)


def _binary(values: npt.NDArray[Any], cuts: IntArray) -> pa.Array:
    """Numbers as binary values, cut at some places."""
    import pyarrow as pa

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

    def __init__(self, batches: Iterable[pa.RecordBatch]) -> None:
        self._batches = batches
        self.n_events = 0

    def blocks(self, most: int) -> Iterator[Block]:
        """Blocks of at most ``most`` events; one empty block if there are none."""
        for codes in cut_evenly((numbers(batch.column("codes"), np.int32) for batch in self._batches), most):
            self.n_events += len(codes)
            yield Block.of(codes & ~_END, np.flatnonzero(codes < 0) + 1)


def cut_evenly(arrays: Iterable[CodeArray], most: int) -> Iterator[CodeArray]:
    """The same numbers in arrays of ``most`` each, but the last; at least one array."""
    held: list[CodeArray] = []
    n, nothing = 0, True
    for array in arrays:
        held.append(array)
        n += len(array)
        if n >= most:
            joined, whole = np.concatenate(held), n - n % most
            yield from (joined[start : start + most] for start in range(0, whole, most))
            held, n, nothing = [joined[whole:]], n - whole, False
    if n or nothing:
        yield np.concatenate([np.empty(0, np.int32), *held])


#: What comes back of a pass: how many events were looked at, the answer, and what went wrong.
ANSWERS = "events bigint, answer binary, error binary"


@dataclass(frozen=True)
class OnPartition(Generic[Answer]):
    """Does some work on one partition of the cached table."""

    work: Work[Answer]
    labels: tuple[str, ...]
    memory: int

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """One row: the answer."""
        from pyspark import TaskContext

        context = TaskContext.get()
        codes = CachedCodes(batches)
        part = Part(codes.blocks, self.labels, self.memory, number=context.partitionId() if context else 0)
        try:
            answer = self.work.run(part)
        except SummarkovError as error:
            yield _answer(0, None, error)
        else:
            yield _answer(codes.n_events, answer, None)


@dataclass(frozen=True)
class Adding(Generic[Answer]):
    """Adds up the answers that came to one partition."""

    work: Work[Answer]

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """One row, or none if none came."""
        rows = [row for batch in batches for row in batch.to_pylist()]
        if not rows:
            return
        try:
            yield _answer(*added(self.work, rows), None)
        except SummarkovError as error:
            yield _answer(0, None, error)


def added(work: Work[Answer], rows: Iterable[dict[str, Any]]) -> tuple[int, Answer]:
    """How many events were looked at, and the answer, in several rows of answers; or the first error."""
    n_events, answers = 0, []
    for row in rows:
        if row["error"] is not None:
            raise unpack_error(row["error"])
        n_events += row["events"]
        answers.append(unpack(row["answer"]))
    return n_events, work.total(answers)


def _answer(n_events: int, answer: object, error: SummarkovError | None) -> pa.RecordBatch:
    import pyarrow as pa

    told = None if error is None else pack_error(error)
    result = None if error is not None else pack(answer)
    return pa.record_batch(
        {
            "events": pa.array([n_events], pa.int64()),
            "answer": pa.array([result], pa.binary()),
            "error": pa.array([told], pa.binary()),
        }
    )
