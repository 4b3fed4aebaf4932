"""Events as codes on disk, memory-mapped: those of files of any size."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from itertools import pairwise
from typing import Any, Unpack

import numpy as np

from summarkov.errors import SettingError
from summarkov.events import EventSequences
from summarkov.events.attributes import Attributes
from summarkov.events.ends import AskedEnds
from summarkov.events.mapped import map_events
from summarkov.events.rows import cuts
from summarkov.io.addresses import plain_name
from summarkov.io.buckets import FILES
from summarkov.io.case_attributes import CaseTable
from summarkov.io.files import Format
from summarkov.io.finding import find_files, stream_format
from summarkov.io.jsonl_files import with_told_ends
from summarkov.io.read import with_ends
from summarkov.io.scan import Content, Progress, Task, spill
from summarkov.io.spill import Spill
from summarkov.io.table_files import Files
from summarkov.io.temporary import Scratch
from summarkov.io.ticks import warn_of_ties
from summarkov.io.wanted import Reading, Wanted
from summarkov.settings import is_whole, reporter

#: Bytes to get along with unless told otherwise.
MEMORY = 1 << 30


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
) -> EventSequences:
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
        chunks = _chunks(content, wanted.ends or AskedEnds.default())
        ids = _names(content.spill) if names else None
        about = {"ids": ids, "keys": content.spill.keys(), "tied_order": ties, "origin": content.origin}
        return map_events(chunks, folder, lambda: about)


def _chunks(content: Content, ends: AskedEnds) -> Iterator[EventSequences]:
    """What was written, some whole sequences at a time."""
    codes, named, first = content.spill, content.attributes, 0
    offsets = np.append(0, np.cumsum(codes.lengths()))
    with ExitStack() as opened:
        files = {name: opened.enter_context(open(codes.folder / name, "rb")) for name in codes.files}
        for first, last in cuts(offsets, 1 << 20):
            found = codes.events(files, int(offsets[last] - offsets[first]))
            attributes = None
            if named is not None:
                present = np.zeros((last - first, len(named.names)), bool)
                for at, of in enumerate(named.codes):
                    present[np.arange(last - first), of[content.values[first:last, at]]] = True
                attributes = Attributes(named.names, named.of, present)
            events = EventSequences(
                found[0],
                offsets[first : last + 1] - offsets[first],
                codes.labels,
                moments=found[1],
                attributes=attributes,
                weights=None if content.weights is None else content.weights[first:last],
            )
            yield with_ends(events, ends)


def _names(spill: Spill) -> list[str]:
    """The names of all sequences."""
    text, ends = (spill.folder / "names").read_bytes(), np.fromfile(spill.folder / "name_ends", np.int64)
    return [text[a:b].decode() for a, b in pairwise([0, *ends.tolist()])]


def _are_paths(given: Any) -> bool:
    return (
        isinstance(given, list | tuple)
        and bool(given)
        and all(isinstance(p, str | os.PathLike) for p in given)
    )
