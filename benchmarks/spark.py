"""The same graph in memory and on Spark, on this machine: the times of every part.

``python -m benchmarks.spark 1e7`` generates that many events of 200 labels as Parquet files, learns a graph
from them in memory and on ``local[2]``, and checks that both are the same.
"""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from pyspark.sql import SparkSession
from rich.console import Console
from rich.table import Table

import summarkov as sm
from benchmarks.scale import LABELS, generate
from benchmarks.timing import machine, seconds
from summarkov.engines import MemorySource
from summarkov.engines.spark.frames import Frame

#: By the clock, and of processors.
Duration = npt.NDArray[np.float64]


def clocks() -> Duration:
    """The time by the clock, and the seconds of processors of this process and all that it has started.

    Java and the workers of Spark are such. Other work on the machine shows in the first, hardly in the other.
    """
    used, parents = {}, {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):  # it may have ended by now
            pid, rest = int(path.parent.name), path.read_text().rpartition(")")[2].split()
            parents[pid], used[pid] = int(rest[1]), sum(map(int, rest[11:15]))
    mine = {os.getpid()}
    while more := {pid for pid, parent in parents.items() if parent in mine} - mine:
        mine |= more
    ticks = sum(used.get(pid, 0) for pid in mine)
    return np.array([time.perf_counter(), ticks / os.sysconf("SC_CLK_TCK")])


class Times:
    """What took how long."""

    def __init__(self) -> None:
        self.parts: dict[str, Duration] = {}

    def of(self, name: str, work: Any) -> Any:
        """Do something and note how long it took."""
        begun = clocks()
        result = work()
        self.parts[name] = self.parts.get(name, 0.0) + clocks() - begun
        return result

    def learn(self, source: Any) -> sm.InfluenceGraph:
        """Learn a graph, and tell its passes over the data from the work between them."""
        count, n = source.count, 0

        def timed(requests: Any) -> Any:
            nonlocal n
            n += 1
            return self.of(f"pass {n}", lambda: count(requests))

        source.count = timed
        begun = clocks()
        graph = sm.InfluenceGraph(sm.BSuMM(lookback=5)).fit(source)
        passes: Any = sum(self.parts[f"pass {i + 1}"] for i in range(n))
        self.parts["scores and search"] = clocks() - begun - passes
        return graph


def in_memory(folder: Path) -> tuple[Times, sm.InfluenceGraph]:
    """Read all files and learn."""
    import pyarrow.dataset

    times = Times()
    events = times.of("read", lambda: sm.read_events(pyarrow.dataset.dataset(folder).to_table()))
    return times, times.learn(MemorySource(events, n_jobs=2))


def on_spark(folder: Path) -> tuple[Times, sm.InfluenceGraph]:
    """Sort and cache them, and learn."""
    times = Times()
    builder = SparkSession.builder.master("local[2]").config("spark.driver.memory", "4g")
    for name in ("spark.ui.enabled", "spark.ui.showConsoleProgress"):
        builder = builder.config(name, "false")
    spark = times.of("start the session", builder.getOrCreate)
    spark.sparkContext.setLogLevel("ERROR")
    frame = times.of("open the files", lambda: spark.read.parquet(str(folder)))
    vocabulary = Frame.vocabulary

    def timed(self: Frame, declared: Any) -> Any:
        return times.of("labels, missing values", lambda: vocabulary(self, declared))

    Frame.vocabulary = timed  # type: ignore[method-assign]
    begun = clocks()
    source = sm.scan_spark(frame)
    times.parts["sort and cache"] = clocks() - begun - times.parts["labels, missing values"]
    try:
        return times, times.learn(source)
    finally:
        source.close()
        spark.stop()


def main() -> None:
    """Measure, compare and print."""
    n_events = int(float(sys.argv[1])) if len(sys.argv) > 1 else 10**6
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "events"
        folder.mkdir()
        generate(folder, n_events)
        size = sum(path.stat().st_size for path in folder.iterdir())
        memory, one = in_memory(folder)
        spark, other = on_spark(folder)
    assert one.influencers_ == other.influencers_
    assert one.edges_ == other.edges_
    assert [m.score_ for m in one.models_.values()] == [m.score_ for m in other.models_.values()]
    table = Table("Part", "In memory, 2 threads", "CPU", "Spark, local[2]", "CPU")
    for part in [*spark.parts, *(part for part in memory.parts if part not in spark.parts)]:
        cells = [[*map(seconds, t.parts[part])] if part in t.parts else ["", ""] for t in (memory, spark)]
        table.add_row(part, *cells[0], *cells[1])
    whole = np.concatenate([np.sum([*t.parts.values()], axis=0) for t in (memory, spark)])
    table.add_row("together", *map(seconds, whole))
    console = Console(width=110)
    console.print(table)
    console.print(
        f"{n_events:,} events of {LABELS} labels, {size / 1e6:,.0f} MB of Parquet; a graph at look-back 5 "
        f"with {len(one.edges_)} edges, the same to the last bit. {machine()}, {sm.backend()} kernels"
    )


if __name__ == "__main__":
    main()
