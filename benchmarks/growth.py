"""Ten times the size in ten times the time: readers, and CSV against pyarrow, which merely parses."""

from __future__ import annotations

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
        path = _csv(Path(folder, "events"), 3_000_000)
        reading, parsing = best_of(
            3, partial(sm.read_events, path), partial(csv.read_csv, path), clock=time.process_time
        )
        ratio = f"{reading / parsing:.1f}x ({seconds(reading)})"
        yield Row(
            "rows of CSV in any order, 3,000,000: to events / pyarrow merely parsing", ratio, "reported"
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


def _stream(path: Path, **reading: Any) -> None:
    sm.scan_events(path, **reading).close()


#: How a file is made, how it is read, and its size.
READERS: dict[str, tuple[Callable[[Path, int], Path], Callable[[Path], object], int]] = {
    "rows of CSV in any order": (_csv, sm.read_events, 1_000_000),
    "rows of CSV in any order, streamed": (_csv, _stream, 1_000_000),
    "rows of Parquet in any order": (_parquet, sm.read_events, 1_000_000),
    "rows of Parquet in any order, streamed": (_parquet, _stream, 1_000_000),
    "rows of CSV by dates in a format": (_dates, partial(sm.read_events, date_format=_DATES), 1_000_000),
    "cases of a table of attributes": (_cases, _with_attributes, 400_000),
    "events of JSON lines": (_written(".jsonl"), sm.read_events, 1_000_000),
    "events of packed CSV": (_written(".csv.gz"), sm.read_events, 1_000_000),
}
