"""Quotes in CSV that do not match: Arrow takes all that follows an open quote as one cell."""

from __future__ import annotations

import codecs
import csv
import io
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedReader
from typing import Any

import numpy as np

from summarkov.errors import DataError
from summarkov.io.files import open_text

_QUOTE = ord('"')
#: Held while the limit of cells is another one.
_LIMIT = threading.RLock()
#: What is looked at at a time.
_PIECE = 1 << 18


class QuoteScan:
    """Whether all quotes of a file open or close cells, or are written twice inside of one.

    Bytes are fed as they come. Every other quote opens; it must stand after a separator, a line break or a
    quote that it is the twin of, and one that closes before such.

    >>> scan = QuoteScan(",")
    >>> scan.feed(b'x,"a ""b""\\nc"\\n')
    >>> scan.seen, scan.finish()
    (True, True)
    """

    def __init__(self, delimiter: str) -> None:
        self.seen = False
        self._good = True
        self._edge = np.zeros(256, dtype=bool)
        self._edge[[ord(delimiter), 10, 13, _QUOTE]] = True
        self._rest = b"\n"  # the last byte, which the next one is needed to judge, and the one before it
        self._n = 0

    def feed(self, block: bytes | bytearray | memoryview) -> None:
        """Look at some more bytes."""
        for start in range(0, len(block), _PIECE):
            self._feed(block[start : start + _PIECE])

    def _feed(self, block: bytes | bytearray | memoryview) -> None:
        content = self._rest + bytes(block)
        self._rest = content[-2:]
        if b'"' not in content:  # the usual case, and far faster
            return
        data = np.frombuffer(content, dtype=np.uint8)
        at = np.flatnonzero(data[1:-1] == _QUOTE)  # each one less than its place: that of the byte before
        if not len(at):
            return
        self.seen = True
        opens = self._n % 2  # the first of these that does
        self._n += len(at)
        before, after = data.take(at[opens::2]), data[2:].take(at[1 - opens :: 2])
        self._good = self._good and bool(self._edge.take(before).all() and self._edge.take(after).all())

    def finish(self) -> bool:
        """Whether all is as it should be, at the end of the file."""
        self.feed(b"\n")
        return self._good and self._n % 2 == 0


def has_quotes(path: str, delimiter: str) -> bool:
    """Look for quotes, at the speed of the disk, and refuse those that do not match.

    Without them no cell can hold a line break, and Arrow may cut the file at any of them, which is faster.
    """
    scan, block = QuoteScan(delimiter), bytearray(_PIECE)
    with open_text(path) as file:
        while size := file.readinto(block):
            scan.feed(memoryview(block)[:size])
    if not scan.finish():
        refuse_open_quotes(path, delimiter)
    return scan.seen


class Watched(io.RawIOBase):
    """A file that is scanned as it is read."""

    def __init__(self, file: BufferedReader, scan: QuoteScan) -> None:
        self._file, self._scan = file, scan

    def readable(self) -> bool:
        return True

    def readinto(self, into: Any) -> int:
        n = self._file.readinto(into)
        self._scan.feed(into[:n])
        return n


@contextmanager
def long_cells() -> Iterator[None]:
    """Let Python's own reader of CSV read cells of any length, as Arrow does up to the length of a block.

    The limit is one for the whole process, so it is put back.
    """
    with _LIMIT:
        before = csv.field_size_limit(2**31 - 1)
        try:
            yield
        finally:
            csv.field_size_limit(before)


def refuse_open_quotes(path: str, delimiter: str) -> None:
    """Read a file with care, and slowly; say where a quote is left open, or what follows a closed one."""
    with open_text(path) as file:
        if file.peek(3).startswith(codecs.BOM_UTF8):
            file.read(3)
        lines = (line.decode(errors="replace") for line in file)  # whether it is text is asked elsewhere
        reader = csv.reader(lines, delimiter=delimiter, strict=True)
        before = 0
        try:
            with long_cells():
                for _ in reader:
                    before = reader.line_num
        except csv.Error as error:
            where = f"{path}, line {before + 1}"
            if "expected after" in str(error):
                raise DataError(
                    f"{where}: something stands between the end of a quoted cell and {delimiter!r}; write "
                    "quotes inside of a cell twice, or close the quote before"
                ) from None
            raise DataError(f"{where}: a quote opens here and is never closed; close it") from None
