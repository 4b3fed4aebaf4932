"""Bytes as the number of a random table, which is read in every way; what comes out is the same."""

import tempfile
from pathlib import Path

from fuzz.differential import check as compare


def check(data: bytes) -> None:
    """Equal, or equally refused."""
    with tempfile.TemporaryDirectory() as folder:
        compare(int.from_bytes(data[:8], "little"), Path(folder))
