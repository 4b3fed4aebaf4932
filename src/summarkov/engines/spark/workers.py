"""What runs on the workers: sorted rows to chunks of codes, chunks to blocks, blocks to answers."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Generic

import numpy as np
import numpy.typing as npt

from summarkov import __version__
from summarkov.engines.work import Answer, Part, Work
from summarkov.errors import SettingError, SummarkovError
from summarkov.readers.arrays import numpy_of
from summarkov.readers.encoding import encode
from summarkov.readers.grouping import run_starts
from summarkov.readers.spill import Block
from summarkov.readers.stream import Vocabulary

if TYPE_CHECKING:
    import pyarrow as pa

IntArray = npt.NDArray[np.int64]
CodeArray = npt.NDArray[np.int32]

#: Events to a row of the cached table. Rows are handed over thousands at a time, so they must not be long.
CHUNK = 1 << 11
#: This bit of a code says that the sequence ends with it.
_END = np.int32(-(2**31))

#: The cached table: codes (int32), the first row of each sequence that ends among these (int64), ties in the
#: order column, and what went wrong.
CHUNKS = "codes binary, firsts binary, ties bigint, error binary"
#: What comes back of a pass: how many events were looked at, the answer, and what went wrong.
ANSWERS = "events bigint, answer binary, error binary"


@dataclass(frozen=True)
class Stretch:
    """Rows one after the other, as codes, with the runs of rows of one case.

    ``continues`` says that the first run goes on with the last one of the stretch before.
    """

    codes: CodeArray
    starts: IntArray
    names: list[str]  # one a run
    rows: IntArray  # where each event stood in the dataframe
    ties: int
    continues: bool


@dataclass(frozen=True)
class Sorted:
    """Reads sorted rows: columns "case", "event", "row", and "order" if rows have one."""

    case: str  # what the columns are called by the user
    event: str
    source: str
    labels: tuple[str, ...]

    def stretches(self, batches: Iterable[pa.RecordBatch]) -> Iterator[tuple[Stretch, IntArray]]:
        """Stretches of rows, each with the places in it where sequences end."""
        before: Stretch | None = None
        for stretch in self._read(batches):
            if before is not None:
                yield before, _ends(before, closed=not stretch.continues)
            before = stretch
        if before is not None:
            yield before, _ends(before, closed=True)

    def _read(self, batches: Iterable[pa.RecordBatch]) -> Iterator[Stretch]:
        import pyarrow as pa

        vocabulary = Vocabulary(self.labels)
        last_case, last_order = None, None
        for batch in batches:
            if not batch.num_rows:
                continue
            table = pa.table(batch)
            case = encode(table.column("case"), self.case, self.source)
            event = encode(table.column("event"), self.event, self.source)
            starts = run_starts(case.codes)
            names = [case.texts[code] for code in case.codes[starts].tolist()]
            continues, ties = names[0] == last_case, 0
            if "order" in table.column_names:
                order = table.column("order").combine_chunks()
                ties = _ties(order, starts) + (continues and order[0] == last_order)
                last_order = order[-1]
            rows = numpy_of(table.column("row"))
            yield Stretch(vocabulary.recode(event), starts, names, rows, ties, continues)
            last_case = names[-1]


def _ties(order: pa.Array, starts: IntArray) -> int:
    """How many rows have the order of the row before, in the same run."""
    import pyarrow as pa
    import pyarrow.compute as pc

    same = numpy_of(pa.chunked_array([pc.equal(order[1:], order[:-1]).cast(pa.uint8())]))
    same[starts[1:] - 1] = 0
    return int(same.sum())


def _ends(stretch: Stretch, *, closed: bool) -> IntArray:
    return np.append(stretch.starts[1:], len(stretch.codes)) if closed else stretch.starts[1:]


# ---------------------------------------------------------------------- sorted rows to chunks


@dataclass(frozen=True)
class ToChunks:
    """Makes the cached table."""

    rows: Sorted
    version: str = __version__

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Turn sorted rows into chunks."""
        import pyarrow as pa

        try:
            if self.version != __version__:
                raise SettingError(
                    f"the workers have summarkov {__version__} and the driver {self.version}; install one"
                )
            first = 2**63 - 1  # row of the sequence that goes on
            for stretch, ends in self.rows.stretches(batches):
                codes = stretch.codes.copy()
                codes[ends - 1] |= _END
                firsts = np.minimum.reduceat(stretch.rows, stretch.starts)
                if stretch.continues:
                    firsts[0] = min(firsts[0], first)
                first, firsts = int(firsts[-1]), firsts[: len(ends)]
                cuts = np.append(np.arange(0, len(codes), CHUNK), len(codes))
                n = len(cuts) - 1
                yield pa.record_batch(
                    {
                        "codes": _binary(codes, cuts),
                        "firsts": _binary(firsts, np.append(0, np.full(n, len(firsts)))),
                        "ties": pa.array([stretch.ties] + [0] * (n - 1), pa.int64()),
                        "error": pa.nulls(n, pa.binary()),
                    }
                )
        except SummarkovError as error:
            failed = {"codes": [b""], "firsts": [b""], "error": [pickle.dumps(error)]}
            columns = {name: pa.array(value, pa.binary()) for name, value in failed.items()}
            order = ["codes", "firsts", "ties", "error"]
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


# ---------------------------------------------------------------------- chunks to answers


class Chunks:
    """The chunks of one partition as blocks; they can be read once."""

    def __init__(self, batches: Iterable[pa.RecordBatch]) -> None:
        self._batches = batches
        self.n_events = 0

    def blocks(self, most: int) -> Iterator[Block]:
        """Blocks of at most so many events; one empty block if there are none."""
        for codes in in_pieces((numbers(batch.column("codes"), np.int32) for batch in self._batches), most):
            self.n_events += len(codes)
            yield Block.of(codes & ~_END, np.flatnonzero(codes < 0) + 1)


def in_pieces(arrays: Iterable[CodeArray], most: int) -> Iterator[CodeArray]:
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
        chunks = Chunks(batches)
        part = Part(chunks.blocks, self.labels, self.memory, number=context.partitionId() if context else 0)
        try:
            answer = self.work.run(part)
        except SummarkovError as error:
            yield _answer(0, None, error)
        else:
            yield _answer(chunks.n_events, answer, None)


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
            raise pickle.loads(row["error"])
        n_events += row["events"]
        answers.append(pickle.loads(row["answer"]))
    return n_events, work.total(answers)


def _answer(n_events: int, answer: object, error: Exception | None) -> pa.RecordBatch:
    import pyarrow as pa

    told = None if error is None else pickle.dumps(error)
    result = None if error is not None else pickle.dumps(answer, protocol=5)
    return pa.record_batch(
        {
            "events": pa.array([n_events], pa.int64()),
            "answer": pa.array([result], pa.binary()),
            "error": pa.array([told], pa.binary()),
        }
    )


# ---------------------------------------------------------------------- sorted rows to other rows


@dataclass(frozen=True)
class MapSorted:
    """Turns sorted rows into others, sequence by sequence."""

    rows: Sorted
    function: Callable[[Part], Iterator[dict[str, Any]]]
    memory: int

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Whatever columns the function makes of one partition."""
        import pyarrow as pa

        def read(most: int) -> Iterator[Block]:
            for stretch, ends in self.rows.stretches(batches):
                yield from _named_blocks(stretch, ends, most)

        for columns in self.function(Part(read, self.rows.labels, self.memory)):
            yield pa.record_batch(columns)


def _named_blocks(stretch: Stretch, ends: IntArray, most: int) -> Iterator[Block]:
    """A stretch as blocks of at most so many events."""
    import pyarrow as pa

    names = pa.array(stretch.names, pa.string())
    for start in range(0, len(stretch.codes), most):
        codes = stretch.codes[start : start + most]
        first, last = np.searchsorted(ends, [start, start + len(codes)], side="right").tolist()
        block = Block.of(codes, ends[first:last] - start)
        yield replace(block, names=names[first : last + block.goes_on])


# ---------------------------------------------------------------------- text in the order column


@dataclass(frozen=True)
class TextKinds:
    """Finds out what the text of an order column can be read as, batch by batch."""

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """A row a batch: whether it fits each kind, as bits, and a value that fits none, or the first."""
        import pyarrow as pa

        from summarkov.readers.ordering import read_text, text_kinds, unreadable_row

        for batch in batches:
            if not batch.num_rows:
                continue
            text = pa.chunked_array([batch.column("order")]).cast(pa.string())
            kinds = enumerate(text_kinds())
            bits = sum(1 << bit for bit, kind in kinds if read_text(text, kind) is not None)
            example = text[unreadable_row(text)].as_py()
            yield pa.record_batch({"bits": pa.array([bits], pa.int32()), "value": pa.array([example])})


@dataclass(frozen=True)
class FromText:
    """Turns the text of an order column into numbers to sort by."""

    kind: int  # number in text_kinds()
    order: str
    source: str

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The same rows with numbers."""
        import pyarrow as pa

        from summarkov.readers.ordering import read_text, sort_keys, text_kinds

        for batch in batches:
            text = pa.chunked_array([batch.column("order")]).cast(pa.string())
            column = read_text(text, text_kinds()[self.kind])
            keys = pa.array(sort_keys(column, self.order, self.source))
            at = batch.schema.get_field_index("order")
            yield pa.record_batch([*batch.columns[:at], keys, *batch.columns[at + 1 :]], batch.schema.names)
