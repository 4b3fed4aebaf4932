"""A dataframe of what a function makes of the sequences of another, beside the columns of that one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from summarkov.arrow import pa
from summarkov.engines.spark.frames import Frame
from summarkov.engines.spark.session import check_frame, explained, map_partitions, named, types
from summarkov.engines.spark.sorted_rows import Sorted, SortedBlock
from summarkov.engines.spark.sorting import sorted_by_case
from summarkov.engines.spark.source import WORKER_MEMORY, n_partitions
from summarkov.engines.work import Part
from summarkov.errors import SettingError
from summarkov.events.moments import Moments, TimeUnit
from summarkov.events.rows import Block
from summarkov.read.wanted import Wanted
from summarkov.typing import IntArray


@dataclass(frozen=True)
class Made:
    """What was made of the next ``n_events`` events: columns, and the event that each row is about.

    Where a column of floats has nan, there is no value.
    """

    n_events: int
    about: IntArray
    columns: Mapping[str, Any]


@dataclass(frozen=True)
class NewColumn:
    """A column to make: name, type ("long", "integer", "double" or "string"), and what to know about it."""

    name: str
    kind: str
    about: Mapping[str, str]


def map_sorted(
    dataframe: Any,
    reading: Mapping[str, Any],
    function: Callable[[Part], Iterator[Made]],
    new: Sequence[NewColumn],
    check: Callable[[Sequence[str]], None],
    *,
    only_case: bool = False,
) -> Any:
    """A dataframe of what a function makes of another's sequences; ``check`` is told their labels first.

    Each row has the columns of the event that it is about, or ``only_case``, and the new ones.
    """
    check_frame(dataframe)

    wanted = Wanted.of(**reading)
    if (
        wanted.columns.per_case
        or wanted.cases is not None
        or wanted.gap is not None
        or wanted.drop_duplicates
    ):
        raise SettingError(
            "predictions are made of events as they are; leave out weight=, attributes=, session_gap= and "
            "drop_duplicates="
        )
    frame = Frame.of(dataframe, wanted)
    assert frame.chosen.case is not None
    fields = [field for field in dataframe.schema.fields if not only_case or field.name == frame.chosen.case]
    _refuse_taken([field.name for field in fields], new)
    frame = replace(frame, kept=tuple(field.name for field in fields))
    with explained(dataframe.sparkSession), named(dataframe.sparkSession, "labels and order"):
        labels, counts = frame.vocabulary(None)
        check(labels)
        rows, sorted_ = sorted_by_case(frame, labels, n_partitions(dataframe.sparkSession, int(counts.sum())))
    schema = types.StructType(list(fields))
    for each in new:
        schema.add(each.name, each.kind, metadata=dict(each.about))
    return map_partitions(rows, MapSorted(sorted_, function, frame.kept, WORKER_MEMORY), schema)


def _refuse_taken(names: Sequence[str], new: Sequence[NewColumn]) -> None:
    """Refuse a dataframe with a column that is to be made; Spark takes "A" and "a" for the same."""
    taken = {name.casefold(): name for name in names}
    for each in new:
        if each.name.casefold() in taken:
            raise SettingError(
                f"the dataframe has a column {taken[each.name.casefold()]!r}, and predictions are to have "
                "one of that name; rename it with withColumnRenamed, or leave it out with drop"
            )


@dataclass(frozen=True)
class MapSorted:
    """Turns sorted rows into others, sequence by sequence; ``kept`` are the columns to keep."""

    rows: Sorted
    function: Callable[[Part], Iterator[Made]]
    kept: tuple[str, ...]
    memory: int

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The rows that the function makes of one partition."""
        kept = _Waiting(len(self.kept))

        def read(most: int) -> Iterator[Block]:
            for block, ends in self.rows.blocks(kept.seen(batches)):
                yield from _cut(block, ends, most, self.rows.time_unit)

        for made in self.function(Part(read, self.rows.labels, self.memory)):
            columns = kept.next(made.n_events).take(made.about).combine_chunks().columns
            chunks = [column.chunk(0) if column.num_chunks else column.combine_chunks() for column in columns]
            new = [pa.array(values, from_pandas=True) for values in made.columns.values()]
            yield pa.record_batch([*chunks, *new], [*self.kept, *made.columns])


class _Waiting:
    """Columns to keep of rows that were read, until something has been made of these rows."""

    def __init__(self, n_columns: int) -> None:
        self._names = [f"kept{at}" for at in range(n_columns)]
        self._tables: list[pa.Table] = []

    def seen(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The same batches, of which some columns are held."""
        for batch in batches:
            self._tables.append(pa.Table.from_batches([batch.select(self._names)]))
            yield batch

    def next(self, n: int) -> pa.Table:
        """The next ``n`` rows, which are held no longer."""
        held = pa.concat_tables(self._tables)
        self._tables = [held.slice(n)]
        return held.slice(0, n)


def _cut(rows: SortedBlock, ends: IntArray, most: int, unit: TimeUnit | None) -> Iterator[Block]:
    """Sorted rows as blocks of at most ``most`` events."""
    for start in range(0, len(rows.codes), most):
        codes = rows.codes[start : start + most]
        first, last = np.searchsorted(ends, [start, start + len(codes)], side="right").tolist()
        block = Block.of(codes, ends[first:last] - start)
        if rows.moments.times is not None and unit is not None:
            times = rows.moments.times[start : start + most]
            block = replace(block, moments=Moments(np.ones(len(codes), bool), times, unit))
        yield block
