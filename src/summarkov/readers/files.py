"""Opening files, guessing their format, and saying what is wrong with them."""

from __future__ import annotations

import codecs
import os
from collections.abc import Iterator
from io import BufferedReader

from summarkov.errors import DataError, SettingError, nearest

#: The formats, and the endings of file names by which they are guessed.
FORMATS = {
    "csv": (".csv",),
    "tsv": (".tsv", ".tab"),
    "parquet": (".parquet", ".pq"),
    "jsonl": (".jsonl", ".ndjson"),
    "text": (".txt",),
}


def format_of(path: str, asked: str | None) -> str:
    """Return the format asked for, or the one that the end of the file's name tells.

    >>> format_of("log.CSV", None), format_of("log.dat", "text")
    ('csv', 'text')
    """
    choices = ", ".join(repr(name) for name in FORMATS)
    if asked is not None:
        if asked not in FORMATS:
            raise SettingError(
                f"unknown format {asked!r}; use one of {choices}{nearest(str(asked), FORMATS)}"
            )
        return asked
    suffix = os.path.splitext(path)[1].lower()
    for name, suffixes in FORMATS.items():
        if suffix in suffixes:
            return name
    raise DataError(f"the format of {path} cannot be told from its name; pass format= as one of {choices}")


def open_file(path: str, expected: str = "events") -> BufferedReader:
    """Open a file for reading, or say in one sentence why that is not possible."""
    try:
        file = open(path, "rb")  # noqa: SIM115  # the caller closes it
    except FileNotFoundError:
        raise DataError(f"there is no file {path}; check the path") from None
    except IsADirectoryError:
        raise DataError(f"{path} is a folder; name a file in it") from None
    except OSError as error:
        raise DataError(f"{path} cannot be opened: {error.strerror}") from error
    if not file.peek(1):
        file.close()
        raise DataError(f"{path} is empty; expected {expected} in it")
    return file


def text_lines(path: str, *, expected: str = "events") -> Iterator[tuple[int, str]]:
    """Yield number and text of every line, without its line break."""
    with open_file(path, expected) as file:
        for number, line in enumerate(file, start=1):
            yield number, decode(line, path, number).rstrip("\r\n")


def decode(line: bytes, path: str, number: int) -> str:
    """Decode a line; a byte order mark before the first one is dropped."""
    if number == 1:
        line = line.removeprefix(codecs.BOM_UTF8)
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError:
        raise DataError(f"{path}, line {number}: the text is not UTF-8; save the file as UTF-8") from None
