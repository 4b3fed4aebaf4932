"""Events and predictions as files: CSV, JSON lines and Parquet, all or nothing."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from summarkov.cli.chunks import pieces
from summarkov.errors import SettingError

if TYPE_CHECKING:
    from summarkov.events import EventSequences

_SUFFIXES = {".csv": "csv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".parquet": "parquet", ".pq": "parquet"}

#: Some rows of a table, by column: texts, whole numbers or probabilities.
Rows = Mapping[str, Any]


def event_format(path: Path) -> str:
    """The format that the end of a file's name tells."""
    if path.suffix.lower() not in _SUFFIXES:
        raise SettingError(f"cannot tell the format of {path}; let its name end in .csv, .jsonl or .parquet")
    return _SUFFIXES[path.suffix.lower()]


def write_events(events: EventSequences, path: Path) -> None:
    """Write events: in JSON lines a sequence a line, else an event a row, as ``read_events`` reads them."""
    from summarkov.store.files import replacing

    if event_format(path) != "jsonl":
        write_rows(map(event_columns, pieces(events, 3)), path)
        return
    with replacing(path) as temporary, open(temporary, "x", encoding="utf-8", newline="\n") as file:
        file.writelines(f"{line}\n" for line in json_lines(events))


def json_lines(events: EventSequences) -> Iterator[str]:
    """A line a sequence."""
    for name, labels in zip(events.ids, events.to_lists(), strict=True):
        yield json.dumps({"id": name, "events": labels})


def event_columns(events: EventSequences) -> dict[str, Any]:
    """Sequence, position (from 1 on) and label of every event; columns that ``read_events`` recognises."""
    import numpy as np

    lengths = events.lengths
    starts = np.repeat(events.offsets[:-1], lengths)
    of_sequence = np.repeat(np.arange(len(events)), lengths)
    ids, labels = events.ids, events.labels
    return {
        "sequence": [ids[s] for s in of_sequence.tolist()],
        "position": np.arange(events.n_events) - starts + 1,
        "event": [labels[code] for code in events.codes.tolist()],
    }


def write_rows(parts: Iterable[Rows], path: Path) -> None:
    """Write a table part by part; every part has the same columns."""
    from summarkov.store.files import replacing

    with replacing(path) as temporary:
        if event_format(path) == "jsonl":
            with open(temporary, "x", encoding="utf-8", newline="\n") as file:
                for part in parts:
                    _write_json_rows(part, file)
        else:
            _write_arrow(parts, temporary, event_format(path))


def plain_rows(part: Rows) -> Iterator[dict[str, Any]]:
    """A dict a row."""
    columns = [values if isinstance(values, list) else values.tolist() for values in part.values()]
    for values in zip(*columns, strict=True):
        yield dict(zip(part, values, strict=True))


def _write_json_rows(part: Rows, file: IO[str]) -> None:
    file.writelines(f"{json.dumps(row)}\n" for row in plain_rows(part))


def _write_arrow(parts: Iterable[Rows], to: Any, format: str) -> None:
    import pyarrow as pa
    from pyarrow import csv, parquet

    each = iter(parts)
    first = pa.table(_typed(next(each)))
    make = csv.CSVWriter if format == "csv" else parquet.ParquetWriter
    with make(to, first.schema) as writer:
        for table in chain([first], (pa.table(_typed(part)) for part in each)):
            writer.write_table(table)


def _typed(part: Rows) -> dict[str, Any]:
    """Lists are texts, whatever they hold, even nothing."""
    import pyarrow as pa

    return {name: pa.array(v, pa.string()) if isinstance(v, list) else v for name, v in part.items()}
