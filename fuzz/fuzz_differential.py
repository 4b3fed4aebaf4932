"""Bytes as a table, every choice of its cells a byte or more of them, which is read in every way."""

import tempfile
from pathlib import Path

from fuzz.differential import check as compare
from fuzz.tables import FromBytes


def check(data: bytes) -> None:
    """Equal, or equally refused."""
    with tempfile.TemporaryDirectory() as folder:
        compare(FromBytes(data), Path(folder))
