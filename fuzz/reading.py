"""What the harnesses of the readers share."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from summarkov.errors import SummarkovError
from summarkov.events import EventSequences
from summarkov.read import read_events

_FILE = Path(tempfile.gettempdir(), f"summarkov-fuzz-{os.getpid()}")


def read(data: bytes, format: str) -> EventSequences | None:
    """Read bytes as a file of some format; None if they are refused, as they should be."""
    try:
        _FILE.write_bytes(data)
        return read_events(_FILE, format=format)
    except SummarkovError as refused:
        if "\n" in str(refused).replace("\\n", ""):
            raise AssertionError("an error must be one line") from refused
        return None
    finally:
        _FILE.unlink(missing_ok=True)
