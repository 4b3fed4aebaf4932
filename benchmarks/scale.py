"""Graphs from Parquet files larger than memory: peak memory, throughput, growth.

``python -m benchmarks.scale 1e6 1e7 1e8`` generates that many events of 200 labels in a temporary folder, and
learns a whole graph from each in a process of its own.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import parquet
from rich.console import Console
from rich.table import Table

import summarkov as sm
from benchmarks.data import planted
from benchmarks.timing import machine, seconds
from summarkov import kernels

#: Events to a file.
PART = 10**6
LABELS = 200


def generate(folder: Path, n_events: int) -> None:
    """Write files of a million events each, a row an event, cases together and in order."""
    n_cases = 0
    for part in range(max(1, n_events // PART)):
        events = planted(min(PART, n_events), LABELS, part=part)
        event = pa.DictionaryArray.from_arrays(events.codes, pa.array(events.labels)).cast(pa.string())
        case = np.repeat(np.arange(len(events)), events.lengths) + n_cases
        when = part * PART + np.arange(events.n_events)
        table = pa.table({"case": pa.array(case).cast(pa.string()), "event": event, "time": when})
        parquet.write_table(table, folder / f"part-{part:05}.parquet")
        n_cases += len(events)


def measure(folder: Path, n_jobs: int) -> dict[str, Any]:
    """Read the files merely, then stream them, then learn."""
    start, start_cpu = time.perf_counter(), time.process_time()
    for path in sorted(folder.iterdir()):
        for _ in parquet.ParquetFile(path).iter_batches(1 << 17):
            pass
    read, read_cpu = time.perf_counter(), time.process_time()
    with sm.scan_events(folder, n_jobs=n_jobs, scratch=folder.parent) as source:
        made = time.perf_counter()
        passes, count = [0.0], source.count

        def timed(requests: Any) -> Any:
            begun = time.perf_counter()
            answers = count(requests)
            passes.append(time.perf_counter() - begun)
            return answers

        source.count = timed
        graph = sm.InfluenceGraph(sm.BSuMM(lookback=5)).fit(source)
        n_events = source.n_events
    end, end_cpu = time.perf_counter(), time.process_time()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    return {
        "events": n_events,
        "bytes": sum(path.stat().st_size for path in folder.iterdir()),
        "reading": read - start,
        "reading_cpu": read_cpu - start_cpu,
        "cpu": end_cpu - read_cpu,
        "streaming": made - read,
        "learning": end - made,
        "edges": len(graph.edges_),
        "passes": len(passes) - 1,
        "first": passes[1],
        "peak": peak,
    }


def main() -> None:
    """Measure every size in its own process, so that each has its own peak."""
    sizes = [int(float(size)) for size in sys.argv[1:]] or [10**6, 10**7]
    head = "Events,Parquet,Merely reading,To codes,Learning,Passes,First,Edges,CPU,Events/s,Ratio,Peak memory"
    table = Table(*head.split(","))
    for n_events in sizes:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name) / "events"
            folder.mkdir()
            generate(folder, n_events)
            code = f"from benchmarks.scale import *; print(json.dumps(measure(Path({str(folder)!r}), 1)))"
            done = subprocess.run(
                [sys.executable, "-c", code], env=os.environ, capture_output=True, text=True, check=True
            )
        found = json.loads(done.stdout)
        table.add_row(
            f"{found['events']:,}",
            f"{found['bytes'] / 1e6:,.0f} MB",
            seconds(found["reading"]),
            seconds(found["streaming"]),
            seconds(found["learning"]),
            f"{found['passes']}",
            seconds(found["first"]),
            f"{found['edges']}",
            seconds(found["cpu"]),
            f"{found['events'] / found['cpu']:,.0f}",
            f"{found['cpu'] / found['reading_cpu']:.1f}x",
            f"{found['peak'] / 2**20:,.0f} MiB",
        )
    console = Console(width=140)
    console.print(table)
    console.print(
        f"A graph over {LABELS} labels, look-back 5, memory 1 GiB, one thread. Events/s and ratio to merely "
        "reading are by CPU time, which a busy machine does not change."
    )
    console.print(f"{machine()}, {kernels.backend()} kernels")


if __name__ == "__main__":
    main()
