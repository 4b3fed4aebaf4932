"""Bytes as a CSV, JSON lines or Parquet file that is streamed; what comes out is what comes out in memory."""

import os
import tempfile
from pathlib import Path

from fuzz.reading import read
from summarkov.engines import MemorySource, scan_events
from summarkov.errors import SummarkovError

_FILE = Path(tempfile.gettempdir(), f"summarkov-fuzz-stream-{os.getpid()}")


def check(data: bytes) -> None:
    """The same counts, or errors of ours from both."""
    start = data.lstrip()[:4]
    format = "parquet" if start == b"PAR1" else "jsonl" if start[:1] in (b"[", b"{") else "csv"
    whole = read(data, format)
    try:
        _FILE.write_bytes(data)
        with scan_events(_FILE, format=format) as source:
            assert whole is not None
            memory = MemorySource(whole)
            assert source.labels == memory.labels
            assert source.label_counts.tolist() == memory.label_counts.tolist()
            assert source.n_sequences == len(whole)
            assert source.tied_order == whole.tied_order
    except SummarkovError:
        assert whole is None
    finally:
        _FILE.unlink(missing_ok=True)
