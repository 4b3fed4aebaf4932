"""Tables of predictions as files: CSV, JSON lines and Parquet, all or nothing."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from summarkov.errors import SettingError

if TYPE_CHECKING:
    from summarkov.io.write import Rows

_SUFFIXES = {".csv": "csv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".parquet": "parquet", ".pq": "parquet"}


def table_format(path: Path) -> str:
    """The format that the end of a file's name tells."""
    if path.suffix.lower() not in _SUFFIXES:
        raise SettingError(f"cannot tell the format of {path}; let its name end in .csv, .jsonl or .parquet")
    return _SUFFIXES[path.suffix.lower()]


def write_rows(parts: Iterable[Rows], path: Path, *, safe_csv: bool = False) -> None:
    """Write a table part by part; every part has the same columns. ``safe_csv``: for spreadsheets."""
    from summarkov.io.temporary import replacing
    from summarkov.io.write import write_table

    with replacing(path) as temporary:
        if table_format(path) == "jsonl":
            with open(temporary, "w", encoding="utf-8", newline="\n") as file:
                for part in parts:
                    file.writelines(f"{json.dumps(row)}\n" for row in plain_rows(part))
        else:
            with open(temporary, "wb") as file:
                write_table(parts, file, table_format(path), safe_csv=safe_csv)


def plain_rows(part: Rows) -> Iterator[dict[str, Any]]:
    """A dict a row."""
    columns = [values if isinstance(values, list) else values.tolist() for values in part.values()]
    for values in zip(*columns, strict=True):
        yield dict(zip(part, values, strict=True))
