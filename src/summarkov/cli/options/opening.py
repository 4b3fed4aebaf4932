"""Events in memory or streamed: which of the two, and how much memory."""

from __future__ import annotations

import glob
import os
import re
import warnings
from collections.abc import Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from summarkov.cli.errors import report
from summarkov.cli.options.reading import READING, Reading
from summarkov.cli.printing.console import stages
from summarkov.errors import DataError, SettingError

if TYPE_CHECKING:
    from summarkov.engines import EventSource
    from summarkov.events import EventSequences

Engine = Annotated[
    str,
    typer.Option(
        "--engine",
        metavar="auto|memory|stream",
        help="Take the events into memory, or stream them through a temporary folder on disk. auto streams "
        "folders, patterns, and files that need more than --memory.",
        rich_help_panel=READING,
    ),
]
Memory = Annotated[
    str,
    typer.Option(
        "--memory",
        metavar="SIZE",
        help="What streaming may use, such as 500M or 4G.",
        rich_help_panel=READING,
    ),
]

#: What a byte of a text file takes in memory while it is read, about.
_TEXT_BYTE = 3
#: How many bytes of an event log a packed one holds, about.
_PACKED = 10
_METHODS = {"parquet": "parquet", "csv": "csv", "tsv": "csv", "jsonl": "jsonl"}


def bytes_of(size: str) -> int:
    """A number of bytes as people write it.

    >>> bytes_of("500M"), bytes_of("1GiB")
    (524288000, 1073741824)
    """
    found = re.fullmatch(r"\s*([0-9]{1,15}(?:\.[0-9]{1,9})?)\s*([KMGT]?)(?:i?B)?\s*", size, re.IGNORECASE)
    n = int(float(found[1]) * 1024 ** " KMGT".index(found[2].upper() or " ")) if found else 0
    if not 1024 <= n < 2**62:
        raise SettingError(f"--memory must be a size such as 500M or 4G, 1K at least, not {size[:40]!r}")
    return n


@dataclass(frozen=True)
class Opening:
    """How to come by the events of a file, a folder or a pattern."""

    reading: Reading
    engine: str = "auto"
    memory: str = "1G"
    n_jobs: int | None = None

    def __post_init__(self) -> None:
        if self.engine not in ("auto", "memory", "stream"):
            raise SettingError(f"--engine must be auto, memory or stream, not {self.engine!r}")
        bytes_of(self.memory)

    def streams(self, path: Path) -> bool:
        """Whether the events are streamed."""
        streams = self._streams(path)
        if streams and self.reading.session_gap:
            raise SettingError(
                "--session-gap needs the events in memory: read them with --engine memory, or cut the files "
                "into sessions first with summarkov convert"
            )
        return streams

    def _streams(self, path: Path) -> bool:
        several = path.is_dir() or (not path.exists() and glob.has_magic(str(path)))
        if self.engine == "auto":
            return several or _needed(path, self.reading.format) > bytes_of(self.memory)
        if self.engine == "memory" and several:
            raise SettingError(f"{path} is not one file; --engine stream reads folders and patterns")
        return self.engine == "stream"

    @contextmanager
    def open(
        self, path: Path, known: Collection[str] | None = None
    ) -> Iterator[EventSequences | EventSource]:
        """The events, in memory or streamed; for a model, the labels that it knows tell which are rare."""
        with self._as_read(path) as events:
            yield self.reading.prepare(events, known)

    @contextmanager
    def open_several(self, paths: Sequence[Path]) -> Iterator[Sequence[EventSequences | EventSource]]:
        """The events of several files; labels are rare, if that is asked, in the first of them."""
        with ExitStack() as opened:
            parts = [opened.enter_context(self._as_read(path)) for path in paths]
            yield self.reading.prepare_several(parts, first=True)

    @contextmanager
    def _as_read(self, path: Path) -> Iterator[Any]:
        """The events, in memory or streamed, not yet prepared."""
        if not self.streams(path):
            yield self.reading.events(path)
            return
        with self.stream(path) as source:
            yield source

    @contextmanager
    def stream(self, path: Path, *, names: bool = False) -> Iterator[EventSource]:
        """The events, streamed and not yet prepared; ``names``: with those of their sequences."""
        from summarkov.engines.stream import open_stream

        reading = self.reading
        format = _METHODS[_format(path, reading.format)]
        columns = {"case": reading.case, "event": reading.event, "order": reading.order}
        with warnings.catch_warnings(record=True) as notes, stages() as tell:
            warnings.simplefilter("always")
            source = open_stream(
                format, path, columns, None, bytes_of(self.memory), self.n_jobs, None, tell, names=names
            )
        for note in notes:
            report(str(note.message), name="Note")
        with source:
            yield source


def _needed(path: Path, format: str | None) -> int:
    """Bytes to read a file into memory, about; 0 if that cannot be told, as reading will say why."""
    from summarkov.io.files import ENDINGS, format_of

    try:
        kind = format_of(str(path), format)
        if kind == "parquet":
            from pyarrow import parquet

            from summarkov.io.parquet_files import bytes_in_memory

            with open(path, "rb") as file:
                metadata = parquet.read_metadata(file)
            return bytes_in_memory(metadata, metadata.schema.to_arrow_schema().names)
        if kind not in _METHODS:
            return 0  # it cannot be streamed
        packed = str(path).lower().endswith(ENDINGS)
        return os.path.getsize(path) * _TEXT_BYTE * (_PACKED if packed else 1)
    except Exception:
        return 0


def _format(path: Path, asked: str | None) -> str:
    """The format of a file, or of those in a folder or of a pattern."""
    from summarkov.io.files import find_files, format_of

    if asked is None and path.is_dir():
        found = []
        for format in ("parquet", "csv", "jsonl"):
            try:
                find_files(path, format)
                found.append(format)
            except DataError:
                continue
        if len(found) != 1:
            what = " and ".join(found) or "no parquet, csv or jsonl"
            raise DataError(f"the folder {path} holds {what} files; say which to read with format=")
        return found[0]
    kind = format_of(str(path), asked)
    if kind not in _METHODS:
        raise SettingError(f"{path} is of a format ({kind}) that is read into memory only; save it as .jsonl")
    return kind
