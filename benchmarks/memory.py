"""Shapes of data that are hard to stream in little memory: the peak against what was allowed."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import csv, parquet

from benchmarks.timing import Row

#: What DuckDB may use.
MEMORY = 1 << 28

#: Run in a process of its own: the peak of anonymous memory (mapped pages excluded) while a file is streamed
#: and learned from, above what Python takes.
_MEASURE = """
import json, pathlib, sys, threading, time
import numpy, pyarrow, pyarrow.compute, pyarrow.csv, pyarrow.parquet
import summarkov as sm, summarkov.engines, summarkov.models
from summarkov.errors import SummarkovError
path, memory, reading = sys.argv[1], int(sys.argv[2]), json.loads(sys.argv[3])
def use(path, **reading):
    with sm.scan_events(path, memory=memory, **reading) as source:
        sm.BSuMM(source.labels[0], lookback=2, candidates=source.labels[:20], max_influencers=1).fit(source)
for warm_up in sys.argv[4:]:  # what is loaded when it is used first
    use(warm_up)
def held():
    status = pathlib.Path("/proc/self/status").read_text()
    return int(status.partition("RssAnon:")[2].split()[0]) << 10
before, most, said = held(), [0], ""
def watch():
    while True:
        most[0] = max(most[0], held())
        time.sleep(0.01)
threading.Thread(target=watch, daemon=True).start()
try:
    use(path, **reading)
except SummarkovError as refused:
    said = str(refused)
print(json.dumps({"peak": most[0] - before, "said": said}))
"""


def rows() -> Iterator[Row]:
    """Every shape in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        few = [make(Path(folder, "few")) for make in FEW]
        for name, make in SHAPES.items():
            path = make(Path(folder, "shape"))
            found = measure(path, MEMORY, few)
            told = f"; refused: {found['said'].replace(str(path), path.name)}" if found["said"] else ""
            size = f"{path.stat().st_size / 1e6:.3g} MB"
            yield Row(
                f"peak memory to stream {name} ({size}) / memory=256 MiB",
                f"{found['peak'] / MEMORY:.2f}x ({found['peak'] >> 20} MiB){told}",
                "at most 2x",
            )
            path.unlink()


def measure(path: Path, memory: int, few: Sequence[Path], **reading: object) -> dict[str, str | int]:
    """The peak, and what was said if the file was refused; ``few`` are small files to be streamed before."""
    command = [sys.executable, "-c", _MEASURE, path, str(memory), json.dumps(reading), *few]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found: dict[str, str | int] = json.loads(done.stdout)
    return found


def _write(path: Path, columns: dict[str, object], format: str = "parquet") -> Path:
    path = path.with_suffix(f".{format}")
    table = pa.table(columns)
    if format == "csv":
        csv.write_csv(table, path)
    else:
        parquet.write_table(table, path)
    return path


def _labels(n: int, n_labels: int = 20) -> pa.Array:
    return pa.array([f"label {i}" for i in range(n_labels)]).take(pa.array(np.arange(n) * 7 % n_labels))


def _texts(numbers: np.ndarray, length: int = 0) -> pa.Array:
    return pa.array([f"{number:0{length}}" for number in numbers.tolist()])


def _rows(path: Path, n: int = 3_000_000, format: str = "parquet", *, shuffled: bool = False) -> Path:
    order = np.random.default_rng(0).permutation(n) if shuffled else np.arange(n)
    columns = {"case": pa.array(order // 30), "event": _labels(n), "time": pa.array(order)}
    return _write(path, columns, format)


def _dates(path: Path, n: int = 1_000_000) -> Path:
    order = np.random.default_rng(0).permutation(n)
    moments = pa.array(order * 10**6).cast(pa.timestamp("us")).cast(pa.string())
    return _write(path, {"case": pa.array(order // 30), "event": _labels(n), "time": moments}, "csv")


def _long_names(path: Path, *, shuffled: bool) -> Path:
    case = np.arange(6_000) // 3
    order = np.random.default_rng(0).permutation(6_000) if shuffled else np.arange(6_000)
    return _write(path, {"case": _texts(case[order], 50_000), "event": _labels(6_000)})


def _many_labels(path: Path) -> Path:
    n = 776_536
    return _write(path, {"case": pa.array(np.arange(n) // 30), "event": _texts(np.arange(n))})


def _one_case(path: Path) -> Path:
    n = 3_000_000
    order = np.random.default_rng(0).permutation(n)
    return _write(path, {"case": pa.array(["one"] * n), "event": _labels(n), "time": pa.array(order)})


def _many_cases(path: Path) -> Path:
    n = 2_000_000
    case = np.random.default_rng(0).permutation(n) // 2
    return _write(path, {"case": _texts(case), "event": _labels(n)})


def _lines(path: Path, length: int, n: int) -> Path:
    line = json.dumps(["a", "b"] * (length // 2)) + "\n"
    path = path.with_suffix(".jsonl")
    with open(path, "w") as file:
        for _ in range(n):
            file.write(line)
    return path


#: Small files that use most of what the large ones do.
FEW: list[Callable[[Path], Path]] = [
    lambda path: _rows(path, 1000, "csv", shuffled=True),
    lambda path: _rows(path, 1000, "parquet", shuffled=True),
    lambda path: _lines(path, 10, 10),
]
#: What is written, and how.
SHAPES: dict[str, Callable[[Path], Path]] = {
    "3e6 rows in order": _rows,
    "3e6 rows in any order": lambda path: _rows(path, shuffled=True),
    "2e6 rows in any order, CSV": lambda path: _rows(path, 2_000_000, "csv", shuffled=True),
    "1e6 rows by dates as text, CSV": _dates,
    "cases of 50 kB names": lambda path: _long_names(path, shuffled=False),
    "cases of 50 kB names in any order": lambda path: _long_names(path, shuffled=True),
    "776,536 labels": _many_labels,
    "one case of 3e6 rows in any order": _one_case,
    "1e6 cases of 2 rows in any order": _many_cases,
    "2e5 lines of 10 events": lambda path: _lines(path, 10, 200_000),
    "one line of 1e7 events": lambda path: _lines(path, 10_000_000, 1),
}
