"""On the workers: chunks to answers, and answers added up."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic

from summarkov.engines.messages import pack, pack_error, unpack, unpack_error
from summarkov.engines.spark.chunks import Chunks
from summarkov.engines.work import Answer, Part, Work
from summarkov.errors import SummarkovError

if TYPE_CHECKING:
    import pyarrow as pa

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
