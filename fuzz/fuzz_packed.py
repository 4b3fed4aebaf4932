"""Bytes as a packed file: as they are, and whole gzip and zstd files that hold them."""

import gzip

import pyarrow as pa

from fuzz.reading import read

_FORMATS = ("csv", "jsonl", "text", "spmf", "xes")


def check(data: bytes) -> None:
    """Events, or an error of ours; and packing changes nothing."""
    format = _FORMATS[len(data) % len(_FORMATS)]
    plain = read(data, format)
    if data[:2] == b"\x1f\x8b" or data[:4] == b"\x28\xb5\x2f\xfd":
        return
    for packed in (gzip.compress(data, 1), pa.compress(data, "zstd", asbytes=True)):
        assert read(packed, format) == plain
