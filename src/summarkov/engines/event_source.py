"""``EventSource``: data that need not fit into memory, wherever it is."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from summarkov.engines.counts import Counts
from summarkov.engines.local import TABLE_BYTES, most_targets
from summarkov.engines.requests import Request, join
from summarkov.engines.resampled import Places, ResampledSource
from summarkov.engines.weights import Draws
from summarkov.engines.work import Answer, CountWork, Part, Work
from summarkov.errors import DataError, SettingError
from summarkov.events.prepare import END, RARE, mapped, pooled, refuse_known
from summarkov.typing import IntArray

if TYPE_CHECKING:
    from summarkov.engines.spark import SparkSource
    from summarkov.engines.stream import StreamSource
    from summarkov.io.scan import Progress

#: Bytes to get along with unless told otherwise.
MEMORY = 1 << 30
#: The same for a task on a worker of a cluster.
WORKER_MEMORY = 1 << 27


class EventSource(ABC):
    """Events that stay where they are and are counted there: a ``CountSource``.

    Models, graphs and bags (``fit``, ``partial_fit``, ``confidence``, ``log_likelihood``, ``score``) and
    ``compare`` take one wherever they take events, and find to the last bit what they would find in memory.

    >>> import pathlib, tempfile, pyarrow, pyarrow.parquet, summarkov as sm
    >>> events = {"case": [1, 1, 1, 2, 2, 2] * 2, "event": ["A", "B", "C", "C", "A", "B"] * 2}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     pyarrow.parquet.write_table(pyarrow.table(events), pathlib.Path(folder, "events.parquet"))
    ...     with sm.EventSource.parquet(folder) as source:
    ...         sm.BSuMM("B", lookback=1).fit(source).influencers_
    ('A',)
    """

    tied_order: int
    memory: int  # bytes that counting may take at a time, wherever it is done

    @property
    @abstractmethod
    def labels(self) -> tuple[str, ...]:
        """The vocabulary in sorted order."""

    @property
    @abstractmethod
    def label_counts(self) -> IntArray:
        """N(x) of every label."""

    @property
    @abstractmethod
    def n_sequences(self) -> int:
        """K."""

    @property
    def n_events(self) -> int:
        """N."""
        return int(self.label_counts.sum())

    @property
    def scale(self) -> int:
        """What counts must be divided by."""
        return 1

    @abstractmethod
    def run(self, work: Work[Answer]) -> Answer:
        """Do some work on every part of the data, where it is, and add up the answers."""

    def count(self, requests: Sequence[Request]) -> list[Counts]:
        """Answer all requests in one pass over the data."""
        if not requests:
            return []
        joint, answered_by = join(requests, most_targets(requests, min(TABLE_BYTES, self.memory)))
        totals = self.run(CountWork(tuple(joint)))
        return [
            totals[at].narrow(joint[at].target, request.target)
            for request, at in zip(requests, answered_by, strict=True)
        ]

    @abstractmethod
    def places(self) -> Places:
        """For each part, the places of its sequences that are not empty, in the order of first rows."""

    def numbers(self) -> Places:
        """For each part, the numbers of its sequences, empty ones included, as ``read_events`` has them."""
        return self.places()  # most formats have no row for a sequence without events

    def replicated(self, draws: Draws, blocks: Any = None) -> ResampledSource:
        """The same sequences under each of many weights."""
        places = self.places()
        if blocks is not None or sum(map(len, places)) == 1:
            raise SettingError(
                "whole sequences of a source are drawn, and more than one is needed; for blocks of events "
                "give the events themselves, read with read_events"
            )
        return ResampledSource(self, draws, places)

    def part(self) -> Part:
        """All of the data, if it is in one part."""
        raise DataError("the events of this source are in several parts; stream them from files instead")

    def close(self) -> None:  # noqa: B027  # not every source holds something
        """Let go of what the source holds, such as temporary files."""

    def __enter__(self) -> EventSource:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    # ------------------------------------------------------------------ prepare

    def map_labels(self, mapping: Mapping[Any, object] | Callable[[str], object]) -> EventSource:
        """Replace labels, as :meth:`EventSequences.map_labels` does; this source must stay open."""
        return self._relabelled(mapped(self.labels, mapping))

    def pool_rare(self, min_count: int, *, into: str = RARE) -> EventSource:
        """Make one label of all that occur fewer than ``min_count`` times; see :meth:`map_labels`."""
        return self._relabelled(pooled(self.labels, self.label_counts, min_count, into))

    def collapse_repeats(self) -> EventSource:
        """Keep only the first of equal labels in a row; see :meth:`map_labels`. This takes a pass."""
        from summarkov.engines.prepared import Collapse, PreparedSource

        return PreparedSource(self, Collapse())

    def add_end(self, label: str = END) -> EventSource:
        """End every sequence with one more event; see :meth:`map_labels`."""
        from summarkov.engines.prepared import End, PreparedSource

        refuse_known(label, self.labels, "label")
        return PreparedSource(self, End.of(self.labels, label))

    def _relabelled(self, becomes: Sequence[str]) -> EventSource:
        from summarkov.engines.prepared import PreparedSource, Rename

        return PreparedSource(self, Rename.of(self.labels, becomes))

    # ------------------------------------------------------------------ where events are

    @staticmethod
    def parquet(
        path: str | os.PathLike[str],
        *,
        case: str | None = None,
        event: str | None = None,
        order: str | Literal[False] | None = None,
        labels: Iterable[object] | None = None,
        memory: int = MEMORY,
        n_jobs: int | None = None,
        scratch: str | os.PathLike[str] | None = None,
        progress: Progress | None = None,
    ) -> StreamSource:
        """Stream Parquet files of any size.

        The files are read at once, in batches, and their events written as codes (4 bytes an event, 8 a
        sequence) to a temporary folder; every later pass reads only that. Rows that are together case by
        case, and in order, are streamed as they are; if they turn out not to be, the files are read once
        more and grouped on disk.

        Parameters
        ----------
        path
            A file, a folder (with all its subfolders), or a pattern such as ``"log/2024-*.parquet"``. A file
            that is there by several names, by links, is read once.
        case, event, order, labels
            As for :func:`read_events`. A list column holds one sequence per row.
        memory
            Bytes to get along with, beside Python itself and the counts; 1 GiB by default. From about 64
            MiB on it is kept; what cannot be read in it is refused with a size that would do.
        n_jobs
            Threads to count in: None is one, -1 one a core. The result does not depend on it.
        scratch
            Where to make the temporary folder; by default where Python does (``TMPDIR``). It is removed by
            ``close()``, at the end of a ``with`` block, on an error, and when Python ends; what a killed run
            of the same user left there, the next one removes.
        progress
            Called as ``progress(what, done, total)``, with "reading" (bytes) and "grouping" (rows).
        """
        from summarkov.engines.stream import open_stream

        columns = {"case": case, "event": event, "order": order}
        return open_stream("parquet", path, columns, labels, memory, n_jobs, scratch, progress)

    @staticmethod
    def csv(
        path: str | os.PathLike[str],
        *,
        case: str | None = None,
        event: str | None = None,
        order: str | Literal[False] | None = None,
        labels: Iterable[object] | None = None,
        memory: int = MEMORY,
        n_jobs: int | None = None,
        scratch: str | os.PathLike[str] | None = None,
        progress: Progress | None = None,
    ) -> StreamSource:
        """Stream comma- or tab-separated files of any size, with a header line each; see :meth:`parquet`."""
        from summarkov.engines.stream import open_stream

        columns = {"case": case, "event": event, "order": order}
        return open_stream("csv", path, columns, labels, memory, n_jobs, scratch, progress)

    @staticmethod
    def json_lines(
        path: str | os.PathLike[str],
        *,
        case: str | None = None,
        event: str | None = None,
        labels: Iterable[object] | None = None,
        memory: int = MEMORY,
        n_jobs: int | None = None,
        scratch: str | os.PathLike[str] | None = None,
        progress: Progress | None = None,
    ) -> StreamSource:
        """Stream files with one sequence per line, as :func:`read_events` reads them; see :meth:`parquet`."""
        from summarkov.engines.stream import open_stream

        columns = {"case": case, "event": event}
        return open_stream("jsonl", path, columns, labels, memory, n_jobs, scratch, progress)

    @staticmethod
    def spark(
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

        The rows are brought together by case and sorted once, and cached as codes (4 bytes an event, 8 a
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
        from summarkov.engines.spark import open_spark

        columns = {"case": case, "event": event, "order": order}
        return open_spark(dataframe, columns, labels, memory, partitions)
