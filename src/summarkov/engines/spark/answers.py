"""Answers of partitions on their way to the driver, and how they are added up."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import astuple, dataclass, field
from typing import Any, Generic

from summarkov.arrow import pa
from summarkov.engines.messages import pack, pack_error, unpack, unpack_error
from summarkov.engines.work import Answer, Work
from summarkov.errors import SummarkovError

#: What comes back of a pass: a tally, how many partitions were counted in NumPy, the answer, and what went
#: wrong.
ANSWERS = (
    "events bigint, sequences bigint, ties bigint, together bigint, fractions bigint, weight bigint, "
    "checksum bigint, plain bigint, answer binary, error binary"
)


@dataclass(frozen=True)
class Tally:
    """What was looked at in a pass: the same in every pass, unless the dataframe is not always the same."""

    events: int = 0
    sequences: int = 0
    ties: int = 0
    together: int = 0  # events that happened together with the one before
    fractions: int = 0  # sequences whose weight is not a whole number
    #: Of all events, in units of 2^20, as the sum over partitions must fit; blocks decide how it is rounded.
    weight: int = field(default=0, compare=False)
    checksum: int = 0  # a sum over the partitions

    def __add__(self, other: Tally) -> Tally:
        return Tally(*(a + b for a, b in zip(astuple(self), astuple(other), strict=True)))


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
            yield row_of(added(self.work, rows))
        except SummarkovError as error:
            yield row_of_error(error)


@dataclass(frozen=True)
class Returned(Generic[Answer]):
    """What came back of some partitions, of which ``plain`` were counted in NumPy."""

    tally: Tally
    plain: int
    answer: Answer


def added(work: Work[Answer], rows: Iterable[dict[str, Any]]) -> Returned[Answer]:
    """What is in several rows of answers; or the first error."""
    tally, plain, answers = Tally(), 0, []
    for row in rows:
        if row["error"] is not None:
            raise unpack_error(row["error"])
        tally += Tally(*(row[name] for name in vars(tally)))
        plain += row["plain"]
        answers.append(unpack(row["answer"]))
    return Returned(tally, plain, work.total(answers))


def row_of(returned: Returned[Answer]) -> pa.RecordBatch:
    whole = {**vars(returned.tally), "plain": returned.plain}
    columns = {name: pa.array([value], pa.int64()) for name, value in whole.items()}
    answer = pa.array([pack(returned.answer)], pa.binary())
    return pa.record_batch({**columns, "answer": answer, "error": pa.nulls(1, pa.binary())})


def row_of_error(error: SummarkovError) -> pa.RecordBatch:
    columns = {name: pa.nulls(1, pa.int64()) for name in (*vars(Tally()), "plain")}
    told = pa.array([pack_error(error)], pa.binary())
    return pa.record_batch({**columns, "answer": pa.nulls(1, pa.binary()), "error": told})
