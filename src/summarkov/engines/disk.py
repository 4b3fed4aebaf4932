"""Events in files: streamed, that is counted block by block in bounded memory, or read, whichever fits."""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Unpack

from summarkov.arrow import parquet
from summarkov.engines.source import EventSource
from summarkov.engines.views import Heads
from summarkov.engines.weights import fixed_point
from summarkov.engines.work import Answer, Part, Work, threads
from summarkov.errors import DataError, SettingError
from summarkov.events import EventSequences
from summarkov.events.block import Block, with_keys
from summarkov.events.draws import distinct_keys
from summarkov.io import read_events
from summarkov.io.addresses import name_of, plain_name, size_of
from summarkov.io.buckets import FILES
from summarkov.io.case_tables import CaseTable
from summarkov.io.files import ENDINGS, STREAMED, Format, format_of, open_file
from summarkov.io.finding import are_several, find_files, stream_format
from summarkov.io.scan import Content, Progress, Task, spill
from summarkov.io.table_files import Files
from summarkov.io.temporary import Scratch
from summarkov.io.ticks import warn_of_ties
from summarkov.io.wanted import Reading, Wanted
from summarkov.settings import is_whole, reporter
from summarkov.typing import HashArray

#: Bytes to get along with unless told otherwise.
MEMORY = 1 << 30


class StreamSource(EventSource):
    """An :class:`EventSource` over codes on disk; it owns the folder ``scratch`` that they are in, if any."""

    def __init__(
        self, content: Content, *, memory: int, n_jobs: int | None = None, scratch: Scratch | None = None
    ) -> None:
        self.n_jobs = threads(n_jobs)
        self.memory, self.origin = memory, content.origin
        self._scratch, self.content = scratch, content.spill
        self._keys: HashArray | None = None
        self._open = True
        self.tied_order = self.content.ties.n
        self.labels, self.n_sequences = self.content.labels, self.content.n_sequences
        self._heads = None
        if content.attributes is not None:
            self._heads = Heads.of(self.labels, content.attributes, content.values)
            self.labels, self.attributes = self._heads.labels, content.attributes.names
        self.has_ticks, self.time_unit = self.content.has_ticks, self.content.time_unit
        self.n_ticks = self.content.n_ticks
        self.weights, self.scale = fixed_point(content.weights, self.n_sequences)
        if self.weights is None:
            counts = self.content.label_counts
            self.label_counts = counts if self._heads is None else self._heads.label_counts(counts)

    @property
    def n_events(self) -> int:
        """N, without weights."""
        return int(self.content.label_counts.sum())

    def close(self) -> None:
        """Remove the temporary files."""
        if self._scratch is not None:
            self._scratch.remove()
            self._open = False

    def run(self, work: Work[Answer]) -> Answer:
        """Do some work on the codes on disk, which are one part."""
        return work.run(self.part())

    def sequence_keys(self) -> Sequence[HashArray]:
        """Numbers for the names of the sequences, on disk unless two have the same name."""
        if self._keys is None:
            self._keys = distinct_keys(self.content.keys())
        return [self._keys]

    def filled_keys(self) -> HashArray:
        """The keys of all sequences with something to count: not empty, and of a weight above 0."""
        keys = super().filled_keys()
        if self.n_filled == self.n_sequences:
            return keys
        filled = self.content.lengths() > 0
        return keys[filled if self.weights is None else filled[self.weights > 0]]

    @property
    def n_filled(self) -> int:
        """How many sequences are not empty."""
        return self.content.n_held

    def part(self) -> Part:
        """All of the data."""
        if not self._open:
            raise DataError("this source is closed and its temporary files are gone; make a new one")

        heads = self._heads

        def read(most: int) -> Iterator[Block]:
            if heads is None:
                return with_keys(self.content.blocks(most, self.weights), self._keys)
            few = max(1, most // (1 + heads.n_columns))  # sequences may have an event each
            return heads.put(with_keys(self.content.blocks(few, self.weights), self._keys))

        attributes = None if heads is None else heads.attributes
        return Part(
            read, self.labels, self.memory, self.n_jobs, room=self.content.folder, attributes=attributes
        )


def scan_events(
    path: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    *,
    format: Format | None = None,
    memory: int = MEMORY,
    n_jobs: int | None = None,
    scratch: str | os.PathLike[str] | None = None,
    names: bool = False,
    progress: Progress = None,
    **reading: Unpack[Reading],
) -> StreamSource:
    """Stream Parquet, comma- or tab-separated files or JSON lines of any size.

    The files are read at once, some rows at a time, and their events written as codes (4 bytes per event, 8
    more for its time with ``times=True``, 8 more for its ``period``, 16 per sequence) to a temporary folder;
    every later pass reads only that. Rows that are together case by case, and in order, are streamed as they
    are; if they turn out not to be, the files are read once more and grouped on disk.

    Parameters
    ----------
    path
        A file, a folder (with all its subfolders), or a pattern such as ``"log/2024-*.parquet"``; or a list
        of these, in the order in which they are to be read. A file that is there by several names, by
        links, is read once. Folders of Delta and Iceberg tables are refused, as they also hold files that
        are no longer part of the table.
    format
        "parquet", "csv", "tsv" or "jsonl", where the ends of the files' names do not tell it, or a folder
        holds files of several formats.
    memory
        Bytes to get along with, beside Python itself and the counts; 1 GiB by default. From about 64
        MiB on it is kept; what cannot be read in it is refused with a size that would do.
    n_jobs
        Threads to count in: None is one, -1 one per core. The result does not depend on it.
    scratch
        Where to make the temporary folder; by default where Python does (``TMPDIR``). It is removed by
        ``close()``, at the end of a ``with`` block, on an error, and when Python ends; what a killed run
        of the same user left there, the next one removes.
    names
        Keep the names of the sequences too, for predictions of every event.
    progress
        Called as ``progress(done, total, what)``, with "reading" (bytes) and "grouping" (rows); True writes
        that to the standard error.
    **reading
        ``case``, ``event``, ``order``, ``labels`` and all other settings of :func:`read_events` but
        ``session_gap``. A list column of Parquet holds one sequence per row, and so does a line of JSON.

    Examples
    --------
    >>> import pathlib, tempfile, pyarrow, pyarrow.parquet, summarkov as sm
    >>> events = {"case": [1, 1, 1, 2, 2, 2] * 2, "event": ["A", "B", "C", "C", "A", "B"] * 2}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     pyarrow.parquet.write_table(pyarrow.table(events), pathlib.Path(folder, "events.parquet"))
    ...     with sm.scan_events(folder) as source:
    ...         sm.BSuMM("B", lookback=1).fit(source).influencers_
    ('A',)
    """
    wanted = Wanted.of(**reading)
    if wanted.gap is not None:
        raise SettingError(
            'session_gap needs the events in memory: read them with engine="memory", or cut the files into '
            "sessions first (read_events and write_events; summarkov convert)"
        )
    if not isinstance(path, str | os.PathLike) and not _are_paths(path):
        raise SettingError(
            "path must be that of a file or a folder, a pattern such as 'log/*.parquet', or a list of these, "
            f"not {type(path).__name__}; events in memory are learned from as they are"
        )
    if not is_whole(memory) or memory < 1:
        raise SettingError(f"memory must be a number of bytes, such as 2**30, not {memory!r}")
    n_threads = threads(n_jobs)
    kind = stream_format(path, format)
    found = find_files(path, kind)
    if found.repeated:
        warnings.warn(str(found), stacklevel=2)
    cases = None if wanted.cases is None else CaseTable.of(wanted.cases, wanted.columns.case)
    task = Task(Files(found.paths, kind, wanted, memory), reporter(progress), cases)
    with Scratch(scratch).removed_on_error() as folder:
        content = spill(task, folder, names=names)
        ties, n = content.spill.ties.n, content.spill.n_events
        source = plain_name(found.paths[0]) if len(found.paths) == 1 else FILES
        warn_of_ties(ties, n, content.origin, wanted, source)
        return StreamSource(content, memory=memory, n_jobs=n_threads, scratch=folder)


def _are_paths(given: Any) -> bool:
    return (
        isinstance(given, list | tuple)
        and bool(given)
        and all(isinstance(p, str | os.PathLike) for p in given)
    )


Path = str | os.PathLike[str]

#: What a byte of a text file takes in memory while it is read, about.
_TEXT_BYTE = 3
#: How many bytes of an event log a packed one holds, about.
_PACKED = 10


@contextmanager
def open_events(
    path: Path,
    *,
    engine: str = "auto",
    memory: int | str = "1G",
    format: Format | None = None,
    n_jobs: int | None = None,
    names: bool = False,
    progress: Progress = None,
    **reading: Unpack[Reading],
) -> Iterator[EventSequences | EventSource]:
    """Open the events of a file, a folder or a pattern, in memory or streamed.

    Both can be learned from, and give the same model to the last bit. To be used in a ``with`` statement: a
    stream has temporary files, which are removed at its end.

    Parameters
    ----------
    path : path
        A file; or a folder or a pattern such as ``"log/*.csv"``, which are always streamed.
    engine : {"auto", "memory", "stream"}
        "auto" streams folders, patterns, and files that need more than ``memory``.
    memory : int or str
        What streaming may use: a number of bytes, or a size such as ``"500M"`` or ``"4G"``.
    format : str, optional
        As in :func:`summarkov.read_events`.
    n_jobs : int, optional
        Threads of a stream; -1 for one per core.
    names : bool
        Whether a stream keeps the names of sequences, for tables of predictions.
    progress : function or True, optional
        Called with how much is done, how much there is, and what is being done; True writes that.
    **reading
        ``case``, ``event``, ``order`` and all other settings of :func:`summarkov.read_events`;
        ``session_gap`` needs the events in memory.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "log.jsonl").write_text('["A", "B"]\\n["B"]\\n')
    ...     for engine in ("memory", "stream"):
    ...         with open_events(Path(folder, "log.jsonl"), engine=engine) as events:
    ...             print(type(events).__name__, events.n_events)
    EventSequences 3
    StreamSource 3
    """
    if not is_streamed(path, engine=engine, memory=memory, format=format):
        yield read_events(path, format=format, **reading)
        return
    how: dict[str, Any] = {"format": format, "n_jobs": n_jobs, "names": names, "progress": progress}
    with scan_events(path, memory=bytes_of(memory), **how, **reading) as source:
        yield source


def is_streamed(
    path: Path, *, engine: str = "auto", memory: int | str = "1G", format: str | None = None
) -> bool:
    """Whether :func:`open_events` streams a file, a folder or a pattern."""
    if engine not in ("auto", "memory", "stream"):
        raise SettingError(f"engine= must be auto, memory or stream, not {engine!r}")
    most = bytes_of(memory)
    several = are_several(path)
    if engine == "auto":
        return several or _needed(path, format) > most
    if engine == "memory" and several:
        raise SettingError(f'{name_of(path)} is not one file; engine="stream" reads folders and patterns')
    return engine == "stream"


def bytes_of(size: int | str) -> int:
    """A number of bytes, also as people write it.

    >>> bytes_of("500M"), bytes_of("1GiB"), bytes_of(2048)
    (524288000, 1073741824, 2048)
    """
    form = r"\s*([0-9]{1,19}(?:\.[0-9]{1,9})?)\s*([KMGT]?)(?:i?B)?\s*"
    found = re.fullmatch(form, str(size), re.IGNORECASE)
    n = int(float(found[1]) * 1024 ** " KMGT".index(found[2].upper() or " ")) if found else 0
    if not 1024 <= n < 2**62:
        raise SettingError(f"memory= must be a size such as 500M or 4G, 1K at least, not {str(size)[:40]!r}")
    return n


def _needed(path: Path, format: str | None) -> int:
    """Bytes to read a file into memory, about; 0 if that cannot be told, as reading will say why."""
    try:
        kind = format_of(name_of(path), format)
        if kind == "parquet":
            from summarkov.io.parquet_files import bytes_in_memory

            with open_file(name_of(path)) as file:
                metadata = parquet.read_metadata(file)
            return bytes_in_memory(metadata, metadata.schema.to_arrow_schema().names)
        if kind not in (*STREAMED, "tsv"):
            return 0  # it cannot be streamed
        packed = plain_name(path).lower().endswith(ENDINGS)
        return size_of(path) * _TEXT_BYTE * (_PACKED if packed else 1)
    except Exception:
        return 0
