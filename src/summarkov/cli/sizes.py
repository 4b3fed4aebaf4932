"""Whether a command takes events into memory or streams them: by the size of the file."""

from __future__ import annotations

import re
from pathlib import Path

from summarkov.errors import SettingError

#: What a byte of a text file takes in memory while it is read, about.
_TEXT_BYTE = 3
#: How many bytes of an event log a packed one holds, about.
_PACKED = 10
#: What a value of a Parquet file takes in memory while it is read, at least.
_VALUE_BYTES = 24


def is_streamed(path: Path, engine: str, memory: str, format: str | None) -> bool:
    """Whether events are streamed: where that is asked for, and folders, patterns and large files."""
    if engine not in ("auto", "memory", "stream"):
        raise SettingError(f"--engine must be auto, memory or stream, not {engine!r}")
    from summarkov.read.addresses import name_of
    from summarkov.read.finding import are_several

    most = bytes_of(memory)
    several = are_several(path)
    if engine == "auto":
        return several or _needed(path, format) > most
    if engine == "memory" and several:
        raise SettingError(f"{name_of(path)} is not one file; --engine stream reads folders and patterns")
    return engine == "stream"


def bytes_of(size: str) -> int:
    """A number of bytes as people write it.

    >>> bytes_of("500M"), bytes_of("1GiB"), bytes_of("2048")
    (524288000, 1073741824, 2048)
    """
    form = r"\s*([0-9]{1,19}(?:\.[0-9]{1,9})?)\s*([KMGT]?)(?:i?B)?\s*"
    found = re.fullmatch(form, size, re.IGNORECASE)
    n = int(float(found[1]) * 1024 ** " KMGT".index(found[2].upper() or " ")) if found else 0
    if not 1024 <= n < 2**62:
        raise SettingError(f"--memory must be a size such as 500M or 4G, 1K at least, not {size[:40]!r}")
    return n


def _needed(path: Path, format: str | None) -> int:
    """Bytes to read a file into memory, about; 0 if that cannot be told, as reading will say why."""
    from summarkov.arrow import parquet
    from summarkov.read.addresses import name_of, plain_name, size_of
    from summarkov.read.files import ENDINGS, STREAMED, format_of, open_file

    try:
        kind = format_of(name_of(path), format)
        if kind == "parquet":
            with open_file(name_of(path)) as file:
                metadata = parquet.read_metadata(file)
            groups = [metadata.row_group(i) for i in range(metadata.num_row_groups)]
            values = sum(group.column(i).num_values for group in groups for i in range(group.num_columns))
            return int(max(_VALUE_BYTES * values, 2 * sum(group.total_byte_size for group in groups)))
        if kind not in (*STREAMED, "tsv"):
            return 0  # it cannot be streamed
        packed = plain_name(path).lower().endswith(ENDINGS)
        return size_of(path) * _TEXT_BYTE * (_PACKED if packed else 1)
    except Exception:
        return 0
