"""``write_events``: one door for every format of files; and tables of any rows."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Any

import numpy as np

from summarkov.arrow import csv, pa, parquet, pc
from summarkov.errors import DataError, SettingError, StoreError
from summarkov.events import EventSequences
from summarkov.events.rows import cut_between_sequences, event_table
from summarkov.read.files import FORMATS, format_of, name_of, replacing
from summarkov.read.lines import json_lines
from summarkov.read.read import read_events

_PACKED = {".gz": "gzip", ".zst": "zstd", ".zstd": "zstd"}
#: How texts begin that spreadsheets take for formulas.
_FORMULA = r"^[=+\-@\t\r\n\x{FF1D}\x{FF0B}\x{FF0D}\x{FF20}]"
#: The formats that events are written in.
_WRITTEN = ("csv", "tsv", "parquet", "jsonl")
#: Some rows of a table, by column: texts, whole numbers or probabilities.
Rows = Mapping[str, Any]


def write_events(events: Any, path: str | os.PathLike[str], *, safe_csv: bool = False) -> None:
    """Write events as the end of the file's name says, so that ``read_events`` reads them back.

    - ``.csv``, ``.tsv``, ``.parquet``: one event per row, with columns sequence, position and event. Where
      events happened together, a column tick stands in the place of the position. Times, attributes and
      weights are further columns: time, those of the attributes, and weight; and complete, where some
      sequences are cut off;
    - ``.jsonl``: one sequence per line, ``{"id": ..., "events": [...]}``, with lists for ticks, and further
      keys: times, those of the attributes, weight, and complete.

    Add ``.gz`` or ``.zst`` to pack it (not Parquet). Sequences, their names, ticks and labels come back the
    same; times do with ``times=True``, attributes and weights if they are named (``attributes=["region"]``,
    ``weight="weight"``), and attributes that are numbers with ``cuts={"age": None}``; which sequences are cut
    off comes back from JSON lines, and from the others with ``ends_column="complete"``. Labels of the
    vocabulary that never occur are not written. What a format cannot hold is a ``DataError`` that says what
    to do, and then nothing is written. The file appears as a whole, or what stood there before stays.

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
    ...     path = pathlib.Path(folder) / "events.jsonl.gz"
    ...     sm.write_events(events, path)
    ...     sm.read_events(path) == events
    True
    """
    name = name_of(path)
    format = writable_format(name)
    if safe_csv and format not in ("csv", "tsv"):
        raise SettingError(f"safe_csv is for files that are written as .csv or .tsv, and {name} is not")
    events = read_events(events)
    events.refuse_unknown()
    half = next(
        filter(None, map(re.compile("[\ud800-\udfff]").search, chain(events.labels, events.ids))), None
    )
    if half is not None:
        raise DataError(
            f"a label or the name of a sequence holds {half[0]!r}, half of a character, which no file of "
            "events can hold; mend the data"
        )
    try:
        with replacing(path) as temporary, _open(temporary, name) as file:
            if format == "jsonl":  # one without sequences is not empty, as one is that was cut short
                file.writelines(f"{line}\n".encode() for line in json_lines(events))
                file.write(b"" if len(events) else b"\n")
            else:
                write_table(event_rows(events), file, format, safe_csv=safe_csv)
    except OSError as problem:
        raise StoreError(f"{name}: cannot be written ({problem.strerror or problem})") from problem


def writable_format(path: str) -> str:
    """The format in which events are written to a file of this name.

    >>> writable_format("log.csv.gz")
    'csv'
    """
    known = ", ".join(FORMATS[format][0] for format in _WRITTEN)
    try:
        format = format_of(path, None)
    except DataError:
        raise SettingError(f"cannot tell the format of {path}; let its name end in one of {known}") from None
    if format not in _WRITTEN:
        raise SettingError(
            f"events are not written as text, SPMF or XES, which cannot hold all of them; use one of {known}"
        )
    if format == "parquet" and path.lower().endswith(tuple(_PACKED)):
        raise SettingError(f"{path}: Parquet packs its columns itself; let the name end in .parquet")
    return format


def _open(temporary: os.PathLike[str], name: str) -> Any:
    """A new file of bytes, packed if its name says so."""
    file = pa.PythonFile(open(temporary, "wb"), mode="w")  # noqa: SIM115  # closed by what it is given to
    for ending, codec in _PACKED.items():
        if name.lower().endswith(ending):
            return pa.CompressedOutputStream(file, codec)
    return file


# ---------------------------------------------------------------------- tables


def event_rows(events: EventSequences) -> Iterator[Rows]:
    """All events, one row per event, some sequences at a time; refuse what rows cannot hold."""
    empty = np.flatnonzero(events.lengths == 0)
    if len(empty):
        raise DataError(
            f"sequence {events.ids[empty[0]]!r} is empty, which a table with one event per row cannot hold; "
            "write .jsonl, or leave such sequences out: events[events.lengths > 0]"
        )
    blank = next((name for name in events.ids if not name.strip()), None)
    if blank is not None:
        raise DataError(
            f"a sequence is named {blank!r}, which a table with one event per row would take for no name; "
            "write .jsonl, or give it another id"
        )
    name, most = next(iter(Counter(events.ids).most_common(1)), ("", 1))
    if most > 1:
        raise DataError(
            f"{most} sequences are named {name!r}, which a table with one event per row would make one; "
            "write .jsonl, or give them different ids"
        )
    if events.n_rows > events.n_events:
        raise DataError("a tick is empty, which a table with one event per row cannot hold; write .jsonl")
    for part in cut_between_sequences(events, 3):
        columns = event_table(part)
        yield {name: list(each.values) if each.kind is str else each.values for name, each in columns.items()}


def write_table(parts: Iterable[Rows], to: Any, format: str, *, safe_csv: bool = False) -> None:
    """Write a table part by part; every part has the same columns. ``safe_csv``: for spreadsheets."""
    tables = (pa.table(_typed(part)) for part in parts)
    each = map(for_spreadsheets, tables) if safe_csv else tables
    first = next(each)
    if format == "parquet":
        writer = parquet.ParquetWriter(to, first.schema)
    else:
        options = csv.WriteOptions(delimiter="\t" if format == "tsv" else ",")
        writer = csv.CSVWriter(to, first.schema, write_options=options)
    with writer:
        for table in chain([first], each):
            writer.write_table(table)


def for_spreadsheets(table: pa.Table) -> pa.Table:
    """Put ' before texts that spreadsheets take for formulas, which may send data away or start programs.

    >>> import pyarrow
    >>> for_spreadsheets(pyarrow.table({"@event": ["=1+1", "a=b"]})).to_pydict()
    {"'@event": ["'=1+1", 'a=b']}
    """

    def quoted(texts: Any) -> Any:
        formulas = pc.match_substring_regex(texts, _FORMULA)
        return pc.if_else(formulas, pc.binary_join_element_wise("'", texts, ""), texts)

    names = quoted(pa.array(table.column_names, pa.string())).to_pylist()
    columns = [quoted(column) if pa.types.is_string(column.type) else column for column in table.columns]
    return pa.table(columns, names=names)


def _typed(part: Rows) -> dict[str, Any]:
    """Lists are texts, whatever they hold, even nothing."""
    return {name: pa.array(v, pa.string()) if isinstance(v, list) else v for name, v in part.items()}
