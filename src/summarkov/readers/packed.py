"""Packed files, and files in UTF-16, as the plain bytes of a UTF-8 file; bounded against bombs."""

from __future__ import annotations

import codecs
import io
import os
from io import BufferedReader
from typing import Any

from summarkov.errors import DataError

#: How packed files begin, whatever they are called.
_CODECS = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}
#: The ends of names that only say that a file is packed.
ENDINGS = (".gz", ".zst", ".zstd")
#: What a packed file may hold: so many bytes, or so many times its own size. Event logs pack to 1/10 or 1/30.
MOST_BYTES, MOST_TIMES = 1 << 28, 200
#: The same for what becomes an object of its own when it is read: lines, words, cells and elements.
MOST_PARTS, PARTS_TIMES = 1 << 22, 20
_BETWEEN = b" \t\r\n,;|<[{"
#: How UTF-16 begins, if it can be told from anything else. (UTF-32 is not used for files.)
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def unpacked(file: BufferedReader, path: str) -> BufferedReader:
    """What a file holds: itself, or the content of a gzip or zstd file, unpacked as it is read."""
    start = file.peek(4)[:4]
    for magic, codec in _CODECS.items():
        if start.startswith(magic):
            return BufferedReader(_Unpacked(file, path, codec), 1 << 16)
    return file


def as_text(file: BufferedReader, path: str) -> BufferedReader:
    """What a file holds, as UTF-8: itself if it is not packed and not UTF-16."""
    file = unpacked(file, path)
    start = file.peek(2)[:2]
    if start in _UTF16:
        return BufferedReader(_Recoded(file, path), 1 << 16)
    if b"\0" in start:
        raise DataError(f"{path} begins like UTF-16 without a byte order mark; save it as UTF-8")
    return file


class _Unpacked(io.RawIOBase):
    def __init__(self, file: BufferedReader, path: str, codec: str) -> None:
        import pyarrow as pa

        self._file, self._path, self._codec = file, path, codec
        self._stream = pa.CompressedInputStream(pa.PythonFile(file, mode="r"), codec)
        size = os.fstat(file.fileno()).st_size
        self._left, self._parts = max(MOST_BYTES, MOST_TIMES * size), max(MOST_PARTS, PARTS_TIMES * size)

    def readable(self) -> bool:
        return True

    def readinto(self, into: Any) -> int:
        try:
            n = int(self._stream.readinto(into[: self._left + 1]))  # Arrow's read() leaks where it fails
        except OSError as error:
            raise DataError(
                f"{self._path} is damaged: it begins as a {self._codec} file and cannot be unpacked "
                f"({' '.join(str(error).split())}); get it anew"
            ) from error
        self._left -= n
        got = bytes(into[:n])
        self._parts -= n - len(got.translate(None, _BETWEEN))
        if self._left < 0 or self._parts < 0:
            what = (
                f"{MOST_TIMES} times its own size" if self._left < 0 else "lines or words than its size tells"
            )
            raise DataError(
                f"{self._path} holds more than {what}, as files made to do harm do; if it is meant so, "
                "unpack it first"
            )
        return n

    def close(self) -> None:
        if not self.closed:
            self._file.close()
        super().close()


class _Recoded(io.RawIOBase):
    """UTF-16 with a byte order mark, as UTF-8."""

    def __init__(self, file: BufferedReader, path: str) -> None:
        self._file, self._path, self._rest = file, path, b""
        self._decoder = codecs.getincrementaldecoder("utf-16")()

    def readable(self) -> bool:
        return True

    def readinto(self, into: Any) -> int:
        while not self._rest:
            some = self._file.read1(1 << 16)
            try:
                self._rest = self._decoder.decode(some, final=not some).encode()
            except UnicodeError:
                raise DataError(
                    f"{self._path} begins as UTF-16 and is not UTF-16 all through; save it as UTF-8"
                ) from None
            if not some:
                break
        n = min(len(into), len(self._rest))
        into[:n], self._rest = self._rest[:n], self._rest[n:]
        return n

    def close(self) -> None:
        if not self.closed:
            self._file.close()
        super().close()
