"""Files: their format, and their text, whether or not they are packed."""

from __future__ import annotations

import codecs
import io
import math
import os
from collections.abc import Iterator
from io import BufferedReader
from typing import Any, Literal

from summarkov.arrow import pa
from summarkov.errors import DataError, SettingError, nearest
from summarkov.read.addresses import is_address, local_name, open_address, plain_name, size_of

#: The formats that files can be read in.
Format = Literal["csv", "tsv", "parquet", "jsonl", "text", "spmf", "xes"]
#: The endings of file names by which they are guessed.
FORMATS = {
    "csv": (".csv",),
    "tsv": (".tsv", ".tab"),
    "parquet": (".parquet", ".pq"),
    "jsonl": (".jsonl", ".ndjson"),
    "text": (".txt",),
    "spmf": (".spmf",),
    "xes": (".xes",),
}
#: Those that can be read without taking all of a file into memory; tabs are a kind of commas.
STREAMED = ("parquet", "csv", "jsonl")
#: How packed files begin, whatever they are called.
_CODECS = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}
#: The ends of names that only say that a file is packed.
ENDINGS = (".gz", ".zst", ".zstd")
#: What a packed file may hold: this number of bytes, or its own size times that. Logs pack to 1/10 or 1/30.
MOST_BYTES, MOST_TIMES = 1 << 28, 200
#: The same for what becomes an object of its own when it is read: lines, words, cells and elements.
MOST_PARTS, PARTS_TIMES = 1 << 22, 20
_BETWEEN = b" \t\r\n,;|<[{"


def format_of(path: str, asked: str | None) -> str:
    """Return the format asked for, or the one that the end of the file's name tells.

    >>> format_of("log.CSV", None), format_of("log.xes.gz", None), format_of("log.dat", "text")
    ('csv', 'xes', 'text')
    """
    choices = ", ".join(repr(name) for name in FORMATS)
    if asked is not None:
        if asked not in FORMATS:
            hint = nearest(str(asked), FORMATS)
            raise SettingError(f"unknown format {asked!r}; use one of {choices}{hint}")
        return asked
    name = plain_name(path).lower()
    for ending in ENDINGS:
        name = name.removesuffix(ending)
    suffix = os.path.splitext(name)[1]
    for format, suffixes in FORMATS.items():
        if suffix in suffixes:
            return format
    raise DataError(f"the format of {path} cannot be told from its name; pass format= as one of {choices}")


def endings_of(*formats: str) -> tuple[str, ...]:
    """How the names of files of some formats end. (Parquet packs its columns itself.)"""
    plain = [ending for format in formats for ending in FORMATS[format]]
    packed = () if "parquet" in formats else ENDINGS
    return tuple(ending + more for ending in plain for more in ("", *packed))


def open_file(path: str, expected: str = "events") -> BufferedReader:
    """Open a file for reading, or say in one sentence why that is not possible."""
    try:
        name = local_name(path)
        file = open_address(name) if is_address(name) else open(name, "rb")  # noqa: SIM115  # the caller closes it
    except FileNotFoundError:
        raise DataError(f"there is no file {path}; check the path") from None
    except IsADirectoryError:
        raise DataError(f"{path} is a folder; name a file in it") from None
    except OSError as error:
        raise DataError(f"{path} cannot be opened: {error.strerror or error}") from error
    try:
        if not file.peek(1):
            raise DataError(f"{path} is empty; expected {expected} in it")
    except OSError as error:
        file.close()
        raise DataError(f"{path} cannot be read: {error.strerror}") from error
    except DataError:
        file.close()
        raise
    return file


def open_text(path: str, expected: str = "events") -> BufferedReader:
    """Open a file as UTF-8, whether or not it is packed or UTF-16; a byte order mark of UTF-8 stays."""
    file = open_file(path, expected)
    try:
        text = unpacked(file, path)
        start = text.peek(2)[:2]
        if start in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
            stream = pa.transcoding_input_stream(pa.PythonFile(text, mode="r"), "utf-16", "utf-8")
            why = "begins as UTF-16 and is not UTF-16 all through; save it as UTF-8"
            text = BufferedReader(_Made(text, path, stream, why), 1 << 16)
        elif b"\0" in start:
            raise DataError(f"{path} begins like UTF-16 without a byte order mark; save it as UTF-8")
        if not text.peek(1):
            raise DataError(f"{path} holds nothing; expected {expected} in it")
        return text
    except BaseException:
        file.close()
        raise


def text_lines(path: str, *, expected: str = "events") -> Iterator[tuple[int, str]]:
    """Yield number and text of every line, without its line break; packed files and UTF-16 are fine."""
    with open_text(path, expected) as file:
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


def unpacked(file: BufferedReader, path: str) -> BufferedReader:
    """What a file holds: itself, or the content of a gzip or zstd file, unpacked as it is read."""
    start = file.peek(4)[:4]
    for magic, codec in _CODECS.items():
        if start.startswith(magic):
            stream = pa.CompressedInputStream(pa.PythonFile(file, mode="r"), codec)
            why = f"is damaged: it begins as a {codec} file and cannot be unpacked ({{}}); get it anew"
            return BufferedReader(_Made(file, path, stream, why, size_of(path)), 1 << 16)
    return file


class _Made(io.RawIOBase):
    """What a file holds, unpacked or as UTF-8, up to what is believable."""

    def __init__(self, file: Any, path: str, made: Any, why: str, size: float = math.inf) -> None:
        self._file, self._path, self._stream, self._why = file, path, made, why
        self._left, self._parts = max(MOST_BYTES, MOST_TIMES * size), max(MOST_PARTS, PARTS_TIMES * size)

    def readable(self) -> bool:
        return True

    def close(self) -> None:
        if not self.closed:
            self._file.close()
        super().close()

    def readinto(self, into: Any) -> int:
        try:
            n = int(self._stream.readinto(into))  # Arrow's read() leaks where it fails
        except (OSError, UnicodeError) as error:
            told = " ".join(str(error).split())
            raise DataError(f"{self._path} {self._why.replace('{}', told)}") from error
        self._left -= n
        self._parts -= n - len(bytes(into[:n]).translate(None, _BETWEEN))
        if self._left < 0 or self._parts < 0:
            size = f"more than {MOST_TIMES} times its own size"
            what = size if self._left < 0 else "more lines or words than files of its size have"
            raise DataError(
                f"{self._path} holds {what}, as files made to do harm do; if it is meant so, unpack it first"
            )
        return n
