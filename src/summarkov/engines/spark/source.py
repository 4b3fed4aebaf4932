"""Events of a Spark dataframe, counted where they are."""

from __future__ import annotations

import contextlib
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from summarkov.engines.messages import unpack_error
from summarkov.engines.source import EventSource
from summarkov.engines.spark.frames import Frame, check_frame, explained, map_partitions, parallelism
from summarkov.engines.spark.sorted_rows import MapSorted
from summarkov.engines.spark.workers import ANSWERS, CODES, Adding, OnPartition, ToCodes, added, numbers
from summarkov.engines.weights import Places
from summarkov.engines.work import Answer, Part, Work
from summarkov.errors import DataError
from summarkov.events.vocabulary import vocabulary_of
from summarkov.io.columns import Columns
from summarkov.settings import check_whole
from summarkov.typing import HashArray, IntArray

#: Bytes that a task on a worker may use unless told otherwise.
WORKER_MEMORY = 1 << 27
#: Events to a partition, unless there are fewer than there are tasks at a time.
PARTITION_EVENTS = 1 << 22
#: Where there are more partitions than this, answers are added up on the workers first, this many at a time.
FAN_IN = 16


class SparkSource(EventSource):
    """An :class:`EventSource` over codes that are cached on the cluster."""

    def __init__(
        self, frame: Frame, labels: tuple[str, ...], label_counts: IntArray, n_partitions: int, memory: int
    ) -> None:
        self.labels, self.label_counts = labels, label_counts
        self.memory, self.n_partitions = memory, n_partitions
        self._session = frame.frame.sparkSession
        self.rows, self.reading = frame.sorted(labels, n_partitions)
        self._codes = map_partitions(self.rows, ToCodes(self.reading), CODES).persist()
        self._finalizer = weakref.finalize(self, _forget, self._codes)
        self._finalizer.atexit = False  # with Python the session ends too
        try:
            self.n_sequences, self.tied_order = self._look_through()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Let the cluster forget the codes."""
        self._finalizer()

    def run(self, work: Work[Answer]) -> Answer:
        """Do some work on every partition; only the answers come back to the driver."""
        if not self._finalizer.alive:
            raise DataError("this source is closed and its cached events are gone; make a new one")
        with explained(self._session):
            answers = map_partitions(self._codes, OnPartition(work, self.labels, self.memory), ANSWERS)
            n = self.n_partitions
            while n > FAN_IN:
                n = -(-n // FAN_IN)
                answers = map_partitions(answers.repartition(n), Adding(work), ANSWERS)
            n_events, answer = added(work, answers.toArrow().to_pylist())
        self._check(n_events)
        return answer

    def places(self) -> Places:
        """The place of each sequence by its first row; 8 bytes a sequence come to the driver, once."""
        return self._places

    def keys(self) -> Sequence[HashArray]:
        """Numbers for the names of sequences; 8 bytes per sequence come to the driver, once."""
        return self._keys

    @cached_property
    def _keys(self) -> list[HashArray]:
        return self._of_sequences("keys", np.uint64)

    def _of_sequences(self, column: str, kind: npt.DTypeLike) -> list[npt.NDArray[Any]]:
        """What the cached table has for each sequence, part by part."""
        from pyspark.sql import functions as f

        with explained(self._session):
            found = self._codes.select(f.spark_partition_id().alias("part"), column).toArrow()
        each: list[list[npt.NDArray[Any]]] = [[np.empty(0, kind)] for _ in range(self.n_partitions)]
        for batch in found.to_batches():
            values = batch.column(column)
            for at, part in enumerate(batch.column("part").to_pylist()):
                each[part].append(numbers(values[at : at + 1], kind))
        return [np.concatenate(some) for some in each]

    @cached_property
    def _places(self) -> Places:
        parts = self._of_sequences("firsts", np.int64)
        order = np.argsort(np.concatenate(parts), kind="stable")
        places = np.empty_like(order)
        places[order] = np.arange(len(order))
        return np.split(places, np.cumsum([len(part) for part in parts])[:-1])

    def _look_through(self) -> tuple[int, int]:
        """Fill the cache; how many sequences there are, and ties in their order."""
        from pyspark.sql import functions as f

        sums = [f.sum(f.length("codes")), f.sum(f.length("firsts")), f.sum("ties"), f.max("error")]
        with explained(self._session):
            (row,) = self._codes.select(*sums).collect()
        codes, firsts, ties, error = row
        if error is not None:
            raise unpack_error(bytes(error))
        self._check((codes or 0) // 4)
        return (firsts or 0) // 8, ties or 0

    def _check(self, n_events: int) -> None:
        """What Spark works out anew may come out differently, and then the counts would be of nothing."""
        if n_events != self.n_events:
            raise DataError(
                f"the dataframe had {self.n_events} rows at first and now has {n_events}: it does not always "
                "give the same; write it to a table, or call its checkpoint(), and give that"
            )


def _forget(codes: Any) -> None:
    with contextlib.suppress(Exception):  # the session may have been stopped
        codes.unpersist()


def scan_spark(
    dataframe: Any,
    *,
    case: str | None = None,
    event: str | None = None,
    order: str | Literal[False] | None = None,
    labels: Iterable[object] | None = None,
    memory: int = WORKER_MEMORY,
    partitions: int | None = None,
) -> SparkSource:
    """Count the events of a Spark dataframe on its cluster; a row is an event.

    The rows are brought together by case and sorted once, and cached as codes (4 bytes per event, 8 per
    sequence); every pass of a search then runs the kernels on each partition and brings back counts,
    never events. The session is that of the dataframe, and ``close()``, or the end of a ``with`` block,
    makes it forget the codes.

    Parameters
    ----------
    dataframe : pyspark.sql.DataFrame
    case, event, order, labels
        As for :func:`read_events`. Rows of one order stay as they come, and with ``order=False`` all do;
        Spark keeps the order of rows only where files are read as they are, so name a column if you can.
    memory
        Bytes that a task may use on a worker, beside Python itself and the counts; 128 MiB by default.
    partitions
        In how many parts to cut the data, each of which is a task; by default of 4 million events each.

    The workers need this package too, in the same version; see the guide on scale.
    """
    for name, value in (("memory", memory), ("partitions", partitions)):
        if value is not None:
            check_whole(name, value, 1)
    check_frame(dataframe)
    declared = None if labels is None else vocabulary_of(labels)
    frame = Frame.of(dataframe, Columns(case, event, order))
    with explained(dataframe.sparkSession):
        found, counts = frame.vocabulary(declared)
        n = partitions or _partitions(dataframe.sparkSession, int(counts.sum()))
        return SparkSource(frame, found, counts, n, memory)


def map_sorted(
    dataframe: Any,
    columns: dict[str, Any],
    function: Callable[[Part], Iterator[dict[str, Any]]],
    schema: dict[str, str],
    check: Callable[[Sequence[str]], None],
) -> Any:
    """A dataframe of what a function makes of another's sequences; ``check`` is told their labels first."""
    check_frame(dataframe)
    frame = Frame.of(dataframe, Columns(**columns))
    with explained(dataframe.sparkSession):
        labels, counts = frame.vocabulary(None)
        check(labels)
        rows, reading = frame.sorted(labels, _partitions(dataframe.sparkSession, int(counts.sum())))
    quoted = ", ".join(f"`{name.replace('`', '``')}` {kind}" for name, kind in schema.items())
    return map_partitions(rows, MapSorted(reading, function, WORKER_MEMORY), quoted)


def _partitions(session: Any, n_events: int) -> int:
    """So many that none is large, and that there is work for all if there is much."""
    few = min(2 * parallelism(session), 1 + n_events // (1 << 14))
    return max(few, -(-n_events // PARTITION_EVENTS))
