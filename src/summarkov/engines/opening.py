"""Events of a file, a folder or a pattern: taken into memory or streamed, whichever fits."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from summarkov.engines.disk import scan_events
from summarkov.engines.source import EventSource
from summarkov.errors import SettingError
from summarkov.events import EventSequences
from summarkov.io import read_events
from summarkov.io.files import ENDINGS, STREAMED, format_of
from summarkov.io.scan import Progress

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
    format: str | None = None,
    case: str | None = None,
    event: str | None = None,
    order: str | bool | None = None,
    session_gap: Any = None,
    n_jobs: int | None = None,
    names: bool = False,
    progress: Progress | None = None,
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
    format, case, event, order, session_gap
        As in :func:`summarkov.read_events`; ``session_gap`` needs the events in memory.
    n_jobs : int, optional
        Threads of a stream; -1 for one per core.
    names : bool
        Whether a stream keeps the names of sequences, for tables of predictions.
    progress : function, optional
        Called with what is being done, how much of it is done, and how much there is.

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
    columns: dict[str, Any] = {"case": case, "event": event, "order": order}
    if not is_streamed(path, engine=engine, memory=memory, format=format):
        yield read_events(path, **columns, format=format, session_gap=session_gap)
        return
    if session_gap:
        raise SettingError(
            'session_gap needs the events in memory: read them with engine="memory", or cut the files into '
            "sessions first (read_events and write_events; summarkov convert)"
        )
    with scan_events(
        path,
        **columns,
        format=format,
        memory=bytes_of(memory),
        n_jobs=n_jobs,
        names=names,
        progress=progress,
    ) as source:
        yield source


def is_streamed(
    path: Path, *, engine: str = "auto", memory: int | str = "1G", format: str | None = None
) -> bool:
    """Whether :func:`open_events` streams a file, a folder or a pattern."""
    if engine not in ("auto", "memory", "stream"):
        raise SettingError(f"engine= must be auto, memory or stream, not {engine!r}")
    most = bytes_of(memory)
    several = os.path.isdir(path) or (not os.path.exists(path) and glob.has_magic(os.fspath(path)))
    if engine == "auto":
        return several or _needed(path, format) > most
    if engine == "memory" and several:
        raise SettingError(f'{os.fspath(path)} is not one file; engine="stream" reads folders and patterns')
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
        kind = format_of(os.fspath(path), format)
        if kind == "parquet":
            from pyarrow import parquet

            from summarkov.io.parquet_files import bytes_in_memory

            with open(path, "rb") as file:
                metadata = parquet.read_metadata(file)
            return bytes_in_memory(metadata, metadata.schema.to_arrow_schema().names)
        if kind not in (*STREAMED, "tsv"):
            return 0  # it cannot be streamed
        packed = os.fspath(path).lower().endswith(ENDINGS)
        return os.path.getsize(path) * _TEXT_BYTE * (_PACKED if packed else 1)
    except Exception:
        return 0
