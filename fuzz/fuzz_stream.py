"""Bytes as a CSV, JSON lines or Parquet file that is streamed; what comes out is what comes out in memory."""

import os
import tempfile
from pathlib import Path

from fuzz.reading import read
from summarkov.errors import SummarkovError
from summarkov.read import scan_events

_FILE = Path(tempfile.gettempdir(), f"summarkov-fuzz-stream-{os.getpid()}")


def check(data: bytes) -> None:
    """The same counts, or errors of ours from both."""
    start = data.lstrip()[:4]
    format = "parquet" if start == b"PAR1" else "jsonl" if start[:1] in (b"[", b"{") else "csv"
    whole = read(data, format)
    try:
        _FILE.write_bytes(data)
        with scan_events(_FILE, format=format, names=True) as events:
            assert events == whole
            assert whole is not None
            assert events.tied_order == whole.tied_order
    except SummarkovError:
        assert whole is None
    finally:
        _FILE.unlink(missing_ok=True)
