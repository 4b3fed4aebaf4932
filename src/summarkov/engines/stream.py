"""Events on disk, counted block by block in bounded memory."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable
from typing import Any

from summarkov.engines.event_source import EventSource
from summarkov.engines.pools import threads
from summarkov.engines.resampled import Places
from summarkov.engines.work import Answer, Part, Work
from summarkov.errors import DataError, SettingError
from summarkov.events.vocabulary import vocabulary_of
from summarkov.io.columns import Columns
from summarkov.io.files import find_files
from summarkov.io.scan import Progress, Task, spill
from summarkov.io.spill import Spill
from summarkov.io.table_files import Files
from summarkov.io.temporary import Scratch
from summarkov.settings import is_whole
from summarkov.typing import IntArray


class StreamSource(EventSource):
    """An :class:`EventSource` over codes on disk, which it owns."""

    def __init__(self, scratch: Scratch, content: Spill, *, memory: int, n_jobs: int | None = None) -> None:
        self.n_jobs = threads(n_jobs)
        self.tied_order = content.tied_order
        self.memory = memory
        self._scratch, self._content = scratch, content
        self._open = True

    @property
    def labels(self) -> tuple[str, ...]:
        return self._content.labels

    @property
    def label_counts(self) -> IntArray:
        return self._content.label_counts

    @property
    def n_sequences(self) -> int:
        return self._content.n_sequences

    def close(self) -> None:
        """Remove the temporary files."""
        self._scratch.remove()
        self._open = False

    def run(self, work: Work[Answer]) -> Answer:
        """Do some work on the codes on disk, which are one part."""
        return work.run(self.part())

    def places(self) -> Places:
        """The place of each sequence that is not empty, in the order of first rows."""
        return [range(self._content.n_held)]

    def numbers(self) -> Places:
        """The number of each sequence, in the order of first rows."""
        return [range(self._content.n_sequences)]

    def part(self) -> Part:
        """All of the data."""
        if not self._open:
            raise DataError("this source is closed and its temporary files are gone; make a new one")
        read = self._content.blocks
        return Part(read, self.labels, self.memory, self.n_jobs, room=self._scratch.path)


def open_stream(
    format: str,
    path: str | os.PathLike[str],
    columns: dict[str, Any],
    labels: Iterable[object] | None,
    memory: int,
    n_jobs: int | None,
    scratch: str | os.PathLike[str] | None,
    progress: Progress | None,
    *,
    names: bool = False,
) -> StreamSource:
    """Read files into a source. With ``names`` it keeps those of the sequences, for predictions."""
    asked = Columns(**columns)
    asked.check()
    if not isinstance(path, str | os.PathLike):
        raise SettingError(
            f"path must be that of a file or a folder, or a pattern such as 'log/*.{format}', not "
            f"{type(path).__name__}; events in memory are learned from as they are"
        )
    if not is_whole(memory) or memory < 1:
        raise SettingError(f"memory must be a number of bytes, such as 2**30, not {memory!r}")
    n_threads = threads(n_jobs)
    vocabulary = None if labels is None else vocabulary_of(labels)
    found = find_files(path, format)
    if found.repeated:
        warnings.warn(str(found), stacklevel=3)
    task = Task(Files(found.paths, format, asked, memory), progress)
    with Scratch(scratch).removed_on_error() as folder:
        content = spill(task, folder, vocabulary, names=names)
        return StreamSource(folder, content, memory=memory, n_jobs=n_threads)
