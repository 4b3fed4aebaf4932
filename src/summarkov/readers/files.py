"""Opening files, guessing their format, and saying what is wrong with them."""

from __future__ import annotations

import codecs
import os
from collections.abc import Iterator
from io import BufferedReader

from summarkov.errors import DataError, SettingError, TooLargeError, nearest
from summarkov.readers.packed import ENDINGS, as_text

#: The formats, and the endings of file names by which they are guessed.
FORMATS = {
    "csv": (".csv",),
    "tsv": (".tsv", ".tab"),
    "parquet": (".parquet", ".pq"),
    "jsonl": (".jsonl", ".ndjson"),
    "text": (".txt",),
    "spmf": (".spmf",),
    "xes": (".xes",),
}


def format_of(path: str, asked: str | None) -> str:
    """Return the format asked for, or the one that the end of the file's name tells.

    >>> format_of("log.CSV", None), format_of("log.xes.gz", None), format_of("log.dat", "text")
    ('csv', 'xes', 'text')
    """
    choices = ", ".join(repr(name) for name in FORMATS)
    if asked is not None:
        if asked not in FORMATS:
            raise SettingError(
                f"unknown format {asked!r}; use one of {choices}{nearest(str(asked), FORMATS)}"
            )
        return asked
    name = path.lower()
    for ending in ENDINGS:
        name = name.removesuffix(ending)
    suffix = os.path.splitext(name)[1]
    for format, suffixes in FORMATS.items():
        if suffix in suffixes:
            return format
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
    try:
        anything = file.peek(1)
    except OSError as error:
        file.close()
        raise DataError(f"{path} cannot be read: {error.strerror}") from error
    if not anything:
        file.close()
        raise DataError(f"{path} is empty; expected {expected} in it")
    return file


def open_text(path: str, expected: str = "events") -> BufferedReader:
    """Open a file as UTF-8, whether or not it is packed or UTF-16; a byte order mark of UTF-8 stays."""
    file = open_file(path, expected)
    try:
        text = as_text(file, path)
        if not text.peek(1):
            raise DataError(f"{path} holds nothing; expected {expected} in it")
        return text
    except BaseException:
        file.close()
        raise


def text_lines(
    path: str, *, expected: str = "events", longest: int | None = None
) -> Iterator[tuple[int, str]]:
    """Yield number and text of every line, without its line break; packed files and UTF-16 are fine.

    A line of more than ``longest`` bytes is refused before all of it is read.
    """
    most = -1 if longest is None else longest + 1
    with open_text(path, expected) as file:
        for number, line in enumerate(iter(lambda: file.readline(most), b""), start=1):
            if len(line) == most:
                raise TooLargeError(
                    f"{path}, line {number}: a line of more than {longest:,} bytes does not fit into memory; "
                    "set memory= higher, to at least 32 times the length of the longest line"
                )
            yield number, decode(line, path, number).rstrip("\r\n")


def decode(line: bytes, path: str, number: int) -> str:
    """Decode a line; a byte order mark before the first one is dropped."""
    if number == 1:
        line = line.removeprefix(codecs.BOM_UTF8)
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError:
        raise DataError(f"{path}, line {number}: the text is not UTF-8; save the file as UTF-8") from None
