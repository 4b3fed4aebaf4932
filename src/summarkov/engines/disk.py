"""Events as codes on disk, counted block by block in bounded memory: those of files, and parts of a store.

Whoever can write to a store can change what is learned from it, and no more: what leads nowhere is refused
before anything is counted.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Unpack

import numpy as np

from summarkov.engines.source import EventSource
from summarkov.engines.views import Heads
from summarkov.engines.weights import fixed_point
from summarkov.engines.work import Answer, Part, Work, threads
from summarkov.errors import DataError, SettingError, StoreError, place
from summarkov.events.draws import distinct_keys, sequence_keys
from summarkov.events.ends import AskedEnds
from summarkov.events.moments import TimeUnit
from summarkov.events.rows import Block, with_keys
from summarkov.io.addresses import plain_name
from summarkov.io.buckets import FILES
from summarkov.io.case_attributes import CaseTable
from summarkov.io.files import Format
from summarkov.io.finding import find_files, stream_format
from summarkov.io.jsonl_files import with_told_ends
from summarkov.io.scan import Content, Progress, Task, spill
from summarkov.io.spill import Spill, SpillWriter
from summarkov.io.table_files import Files
from summarkov.io.temporary import Scratch
from summarkov.io.ticks import Ties, warn_of_ties
from summarkov.io.wanted import Reading, Wanted
from summarkov.settings import is_whole, reporter
from summarkov.store import check_seal, checked, read_document, write_sealed
from summarkov.typing import HashArray, IntArray

#: Bytes to get along with unless told otherwise.
MEMORY = 1 << 30
#: What of a part is written beside its codes.
_KNOWN = ("n_events", "n_sequences", "labels", "label_counts", "n_held", "has_ticks", "n_ticks", "time_unit")


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

    @property
    def one_length(self) -> int | None:
        """The number of rows of every sequence, if all have the same."""
        lengths = self.content.lengths()
        return int(lengths[0]) if len(lengths) and (lengths == lengths[0]).all() else None

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
) -> EventSource:
    """Stream Parquet, comma- or tab-separated files or JSON lines of any size.

    The files are read at once, some rows at a time, and their events written as codes (4 bytes per event, 8
    more for its time with ``times=True``, 16 per sequence) to a temporary folder;
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
    if kind == "jsonl":
        wanted = with_told_ends(found.paths[0], wanted)
    cases = None if wanted.cases is None else CaseTable.of(wanted.cases, wanted.columns.case)
    task = Task(Files(found.paths, kind, wanted, memory), reporter(progress), cases)
    with Scratch(scratch).removed_on_error() as folder:
        content = spill(task, folder, names=names)
        ties, n = content.spill.ties.n, content.spill.n_events
        source = plain_name(found.paths[0]) if len(found.paths) == 1 else FILES
        warn_of_ties(ties, n, content.origin, wanted, source)
        stream = StreamSource(content, memory=memory, n_jobs=n_threads, scratch=folder)
        return stream.with_ends(wanted.ends or AskedEnds.default())


def _are_paths(given: Any) -> bool:
    return (
        isinstance(given, list | tuple)
        and bool(given)
        and all(isinstance(p, str | os.PathLike) for p in given)
    )


# ---------------------------------------------------------------------- parts of a store


class StoredCodes(Spill):
    """Codes in a folder that somebody may have changed: refused where they run backwards in time."""

    def blocks(self, n_events: int, weights: IntArray | None = None) -> Iterator[Block]:
        """Read all sequences, at most ``n_events`` events at a time."""
        for block in super().blocks(n_events, weights):
            if block.moments is not None:
                try:
                    block.moments.check(block.offsets)
                except DataError as problem:
                    raise StoreError(f"{self.folder} is damaged ({problem}); make the store anew") from None
            yield block


def write_part(folder: Path, source: EventSource) -> None:
    """Write the codes of a source, which must be in one part, and what is known of them."""
    part, ids, first = source.part(), source.ids, 0
    folder.mkdir()
    (folder / "answers").mkdir()
    writer = SpillWriter(folder)
    try:
        begun = False
        for block in part.read(1 << 20):
            n = len(block.offsets) - 1
            names = list(ids[first : first + n]) if block.names is None else block.names.to_pylist()
            if len(names) < n:
                raise SettingError("the names of sequences are needed; give scan_events(path, names=True)")
            ended = n - block.goes_on
            writer.copy(block, len(part.labels), sequence_keys(names[begun:]))
            begun, first = block.goes_on, first + ended
        content = writer.finish_copy(part.labels)
    finally:
        writer.close()
    known = {name: value for name, value in asdict(content).items() if name in _KNOWN}
    known["label_counts"], known["tied_order"] = content.label_counts.tolist(), source.tied_order
    if source.weights is not None:
        (source.weights / source.scale).tofile(folder / "weights")  # exact: a scale is a power of 2
        known["weighted_counts"] = source.label_counts.tolist()
    write_sealed(folder / "part.json", known)


@dataclass(frozen=True)
class _KnownPart:
    """What a part says of itself."""

    n_events: int
    n_sequences: int
    n_held: int
    labels: tuple[str, ...]
    label_counts: tuple[int, ...]
    tied_order: int
    has_ticks: bool = False
    n_ticks: int = 0
    time_unit: tuple[int, bool] | None = None
    weighted_counts: tuple[int, ...] | None = None


def read_part(folder: Path, memory: int, n_jobs: int) -> StreamSource:
    """A part as it was written; refused if its files do not fit together."""
    name, document = read_document(folder / "part.json")
    with place(name):
        known = checked(document, _KnownPart)
        check_seal(document)
    n_events, n_sequences, n_held, labels = known.n_events, known.n_sequences, known.n_held, known.labels
    counts, has_ticks, weighted = known.label_counts, known.has_ticks, known.weighted_counts
    unit = None if known.time_unit is None else TimeUnit(*known.time_unit)
    whole = (n_events, n_sequences, n_held, known.tied_order, known.n_ticks, *counts, *(weighted or ()))
    if min(whole) < 0 or len(counts) != len(labels) or any(a >= b for a, b in pairwise(labels)):
        raise StoreError(f"{name}: expected numbers from 0 on, and sorted labels with a count of each")
    sizes = {"codes": 4 * n_events, "ends": 8 * n_sequences, "keys": 8 * n_sequences}
    sizes |= {} if unit is None else {"times": 8 * n_events}
    sizes |= {} if weighted is None else {"weights": 8 * n_sequences}
    for name, size in sizes.items():
        if not (folder / name).is_file() or (folder / name).stat().st_size != size:
            raise StoreError(f"{folder.name}/{name} has not its {size} bytes")
    ends = np.fromfile(folder / "ends", np.int64)
    lengths = np.diff(ends, prepend=np.int64(0))
    found = (int(lengths.min(initial=0)), int(ends[-1]) if n_sequences else 0, int(np.count_nonzero(lengths)))
    empty = n_events - sum(counts)  # ticks
    if found != (0, n_events, n_held) or empty < 0 or (empty and not has_ticks):
        raise StoreError(f"{folder.name}: the sequences are not those of its {n_events} events")
    codes = StoredCodes(
        folder,
        n_events,
        n_sequences,
        labels,
        np.array(counts, np.int64),
        translate=np.append(np.arange(len(labels), dtype=np.int32), np.int32(-1))[: len(labels) + has_ticks],
        ties=Ties(known.tied_order),
        has_names=False,
        n_held=n_held,
        n_values=0,
        has_ticks=has_ticks,
        n_ticks=known.n_ticks if has_ticks else n_events,
        time_unit=unit,
    )
    weights = None if weighted is None else np.fromfile(folder / "weights", np.float64)
    try:
        source = StreamSource(
            Content(codes, weights, None, codes.values(), None), memory=memory, n_jobs=n_jobs
        )
    except SettingError as problem:
        raise StoreError(f"{folder.name}/weights: {problem}") from None
    if weighted is not None:
        source.label_counts = np.array(weighted, np.int64)
    return source
