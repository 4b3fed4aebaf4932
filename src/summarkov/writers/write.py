"""``write_events``: one door for every format of files."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from summarkov.errors import DataError, SettingError, StoreError
from summarkov.events import EventSequences
from summarkov.readers import read_events
from summarkov.readers.files import FORMATS, format_of
from summarkov.store.files import replacing
from summarkov.writers import lines, rows, xes

#: How each format is written, to an open file of bytes.
_WRITERS: dict[str, Callable[[EventSequences, Any], None]] = {
    "csv": rows.write_csv,
    "tsv": rows.write_tsv,
    "parquet": rows.write_parquet,
    "jsonl": lines.write_json_lines,
    "spmf": lines.write_spmf,
    "xes": xes.write_xes,
}
_PACKED = {".gz": "gzip", ".zst": "zstd", ".zstd": "zstd"}


def write_events(events: Any, path: str | os.PathLike[str], *, safe_csv: bool = False) -> None:
    """Write events as the end of the file's name says, so that ``read_events`` reads them back.

    - ``.csv``, ``.tsv``, ``.parquet``: one event per row, with columns sequence, position and event;
    - ``.jsonl``: one sequence per line, ``{"id": ..., "events": [...]}``;
    - ``.xes``: a log with one trace per sequence (without times, which the events do not have);
    - ``.spmf``: an itemset an event, names of items in the header unless all labels are numbers, and names of
      sequences, unless they are 0, 1, ..., as comments that other programs skip.

    Add ``.gz`` or ``.zst`` to pack it (not Parquet). Sequences, their names and their labels come back the
    same; labels of the vocabulary that never occur are not written. What a format cannot hold is a
    ``DataError`` that says what to do, and then nothing is written; JSON lines hold everything. The file
    appears as a whole, or what stood there before stays.

    Parameters
    ----------
    events
        ``EventSequences``, or anything that :func:`read_events` takes.
    path
        The file.
    safe_csv
        For a ``.csv`` or ``.tsv`` file that a spreadsheet will open: put ' before labels and names that it
        would take for formulas (``=HYPERLINK(...)``). These then do not come back the same.

    Examples
    --------
    >>> import summarkov as sm, tempfile, pathlib
    >>> events = sm.read_events({"ann": ["a", "b"], "bob": []})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "events.xes.gz"
    ...     sm.write_events(events, path)
    ...     sm.read_events(path) == events
    True
    """
    name = os.fsdecode(path)
    format = writable_format(name)
    if safe_csv and format not in ("csv", "tsv"):
        raise SettingError(f"safe_csv is for files that are written as .csv or .tsv, and {name} is not")
    how = {"safe_csv": True} if safe_csv else {}
    events = read_events(events)
    events.refuse_unknown()
    try:
        with replacing(path) as temporary, _open(temporary, name) as file:
            _WRITERS[format](events, file, **how)
    except UnicodeEncodeError as problem:
        half = problem.object[problem.start : problem.end]
        raise DataError(
            f"a label or the name of a sequence holds {half!r}, half of a character, which {name} cannot "
            "hold; mend the data, or write .jsonl"
        ) from problem
    except OSError as problem:
        raise StoreError(f"{name}: cannot be written ({problem.strerror or problem})") from problem


def writable_format(path: str) -> str:
    """The format in which events are written to a file of this name.

    >>> writable_format("log.csv.gz")
    'csv'
    """
    known = ", ".join(FORMATS[format][0] for format in _WRITERS)
    try:
        format = format_of(path, None)
    except DataError:
        raise SettingError(f"cannot tell the format of {path}; let its name end in one of {known}") from None
    if format not in _WRITERS:
        raise SettingError(
            f"events are not written as plain text, which cannot hold them all; use one of {known}"
        )
    if format == "parquet" and path.lower().endswith(tuple(_PACKED)):
        raise SettingError(f"{path}: Parquet packs its columns itself; let the name end in .parquet")
    return format


def _open(temporary: os.PathLike[str], name: str) -> Any:
    """A new file of bytes, packed if its name says so."""
    import pyarrow as pa

    file = pa.PythonFile(open(temporary, "wb"), mode="w")  # noqa: SIM115  # closed by what it is given to
    for ending, codec in _PACKED.items():
        if name.lower().endswith(ending):
            return pa.CompressedOutputStream(file, codec)
    return file
