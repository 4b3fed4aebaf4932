"""Ten times the size in ten times the time: every reader, and what reads names."""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv, parquet

import summarkov as sm
from benchmarks.timing import Row, best_of, seconds
from summarkov.cli.reading import read_map
from summarkov.errors import SummarkovError
from summarkov.store import read_document

#: How dates are written.
_DATES = "%d/%m/%Y %H:%M:%S"


def rows() -> Iterator[Row]:
    """The processor time of a size against that of a tenth of it."""
    with tempfile.TemporaryDirectory() as folder:
        for name, (make, read, n) in READERS.items():
            small, large = (make(Path(folder, f"{size}"), size) for size in (n // 10, n))
            times = best_of(3, partial(read, small), partial(read, large), clock=time.process_time)
            yield Row(
                f"{name}, {n:,} / {n // 10:,}",
                f"{times[1] / times[0]:.1f}x ({seconds(times[1])})",
                "about 10x",
            )


def _table(n: int) -> pa.Table:
    order = np.random.default_rng(0).permutation(n)
    events = pa.array([f"label {i}" for i in range(50)]).take(pa.array(order % 50))
    return pa.table(
        {"case": pa.array(order // 20).cast(pa.string()), "event": events, "time": pa.array(order)}
    )


def _csv(path: Path, n: int) -> Path:
    csv.write_csv(_table(n), path.with_suffix(".csv"))
    return path.with_suffix(".csv")


def _parquet(path: Path, n: int) -> Path:
    parquet.write_table(_table(n), path.with_suffix(".parquet"))
    return path.with_suffix(".parquet")


def _written(ending: str) -> Callable[[Path, int], Path]:
    def make(path: Path, n: int) -> Path:
        events = sm.EventSequences(np.arange(n) % 50, np.arange(0, n + 1, 20), sorted(map(str, range(50))))
        path = path.with_suffix(ending)
        sm.write_events(events, path)
        return path

    return make


def _dates(path: Path, n: int) -> Path:
    path = path.with_suffix(".csv")
    table = _table(n)
    moments = pc.strftime(table["time"].cast(pa.timestamp("s")), _DATES)
    csv.write_csv(table.set_column(2, "time", moments), path)
    return path


def _timed(path: Path, n: int) -> Path:
    path = path.with_suffix(".jsonl")
    line = {"events": ["a", "b"] * 10, "times": list(range(20))}
    path.write_text(f"{json.dumps(line)}\n" * (n // 20))
    return path


def _cases(path: Path, n: int) -> Path:
    path = path.with_suffix(".parquet")
    numbers = np.arange(n)
    table = {
        "case": pa.array(numbers).cast(pa.string()),
        "kind": pa.array(numbers % 7),
        "age": pa.array(numbers % 90),
    }
    parquet.write_table(pa.table(table), path)
    return path


def _with_attributes(path: Path) -> object:
    cases = parquet.read_table(path, columns=["case"])
    events = cases.append_column("event", pa.repeat("a", cases.num_rows))
    return sm.read_events(events, case="case", event="event", attributes=path)


def _words(path: Path, n: int) -> Path:
    path = path.with_suffix(".txt")
    path.write_text("a b c d e f g h i j\n" * (n // 10))
    return path


def _items(path: Path, n: int) -> Path:
    path = path.with_suffix(".spmf")
    path.write_text("".join(f"@ITEM={i}=name {i}\n" for i in range(n)) + "1 -1 2 -1 -2\n")
    return path


def _names(path: Path, n: int) -> Path:
    path = path.with_suffix(".json")
    path.write_text("{" + ", ".join(f'"name {i}": "1"' for i in range(n)) + ', "twice": "1", "twice": "1"}')
    return path


def _choices(path: Path, n: int) -> Path:
    path = path.with_suffix(".choices")
    path.write_text(json.dumps(list(range(1, n + 1))))
    return path


def _refused(read: Callable[[Path], object]) -> Callable[[Path], None]:
    def refused(path: Path) -> None:
        try:
            read(path)
        except SummarkovError:
            return
        raise AssertionError("it is not refused")

    return refused


def _choose(path: Path) -> object:
    return sm.BSuMM("a", lookback=tuple(json.loads(path.read_text()))).choices()


def _stream(path: Path, **reading: Any) -> None:
    sm.scan_events(path, **reading).close()


#: How a file is made, how it is read, and its size.
READERS: dict[str, tuple[Callable[[Path, int], Path], Callable[[Path], object], int]] = {
    "rows of CSV in any order": (_csv, sm.read_events, 1_000_000),
    "rows of CSV in any order, streamed": (_csv, _stream, 1_000_000),
    "rows of Parquet in any order": (_parquet, sm.read_events, 1_000_000),
    "rows of Parquet in any order, streamed": (_parquet, _stream, 1_000_000),
    "rows of CSV by dates in a format": (_dates, partial(sm.read_events, date_format=_DATES), 1_000_000),
    "rows of CSV by dates in a format, streamed": (_dates, partial(_stream, date_format=_DATES), 1_000_000),
    "cases of a table of attributes": (_cases, _with_attributes, 400_000),
    "events of JSON lines with times, streamed": (_timed, partial(_stream, times=True), 1_000_000),
    "events of JSON lines": (_written(".jsonl"), sm.read_events, 1_000_000),
    "events of JSON lines, streamed": (_written(".jsonl"), _stream, 1_000_000),
    "events of plain text": (_words, sm.read_events, 1_000_000),
    "events of packed CSV": (_written(".csv.gz"), sm.read_events, 1_000_000),
    "names of SPMF items": (_items, sm.read_events, 400_000),
    # so many because Python's own parser takes three times as long per name for 400,000 as for 40,000
    "names in a model, one twice": (_names, _refused(read_document), 4_000_000),
    "names in a map of labels, one twice": (_names, _refused(read_map), 4_000_000),
    "the same names, by Python's json alone": (_names, lambda path: json.loads(path.read_text()), 4_000_000),
    "look-backs to choose from": (_choices, _choose, 200_000),
}
