"""The same graph in memory and on Spark, on this machine: the times of every part.

``python -m benchmarks.spark 1e7`` generates that many events of 200 labels as Parquet files, once with the
rows of each case together and once in any order, learns a graph from each in memory and on ``local[2]``, and
checks that both are the same. Beside that stands a query by hand in Spark SQL: the counts that the first
round of a search needs, for one target alone. The session is warm: it has done both with fewer events before.
"""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
import time
from collections.abc import Callable
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
from summarkov import kernels
from summarkov.engines import CandidatesRequest, MemorySource, Target

#: By the clock, and of processors; on Spark also jobs, and bytes shuffled.
Duration = npt.NDArray[np.float64]


#: The target of the query by hand.
TARGET = "label00000"
#: The ticks of processors that processes have used, by their number and start; also of those that have ended.
_used: dict[tuple[int, str], int] = {}


def clocks() -> Duration:
    """The time by the clock, and the seconds of processors of this process and all that it has started.

    Java and the workers of Spark are such. Other work on the machine shows in the first, hardly in the other.
    """
    found, parents = {}, {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):  # it may have ended by now
            pid, rest = int(path.parent.name), path.read_text().rpartition(")")[2].split()
            parents[pid], found[pid] = int(rest[1]), ((pid, rest[19]), sum(map(int, rest[11:13])))
    mine = {os.getpid()}
    while more := {pid for pid, parent in parents.items() if parent in mine} - mine:
        mine |= more
    _used.update(found[pid] for pid in mine if pid in found)
    return np.array([time.perf_counter(), sum(_used.values()) / os.sysconf("SC_CLK_TCK")])


class Times:
    """What took how long: by the clock, of processors, and what ``more`` counts beside that."""

    def __init__(self, more: Callable[[], tuple[int, int]] = lambda: (0, 0)) -> None:
        self.parts: dict[str, Duration] = {}
        self._more = more

    def now(self) -> Duration:
        """The clocks."""
        return np.append(clocks(), self._more())

    def of(self, name: str, work: Any) -> Any:
        """Do something and note how long it took."""
        begun = self.now()
        result = work()
        self.parts[name] = self.parts.get(name, 0.0) + self.now() - begun
        return result

    def learn(self, source: Any) -> sm.InfluenceGraph:
        """Learn a graph, and tell its passes over the data from the work between them."""
        count, n = source.count, 0

        def timed(requests: Any) -> Any:
            nonlocal n
            n += 1
            return self.of(f"pass {n}", lambda: count(requests))

        source.count = timed
        begun = self.now()
        graph = sm.InfluenceGraph(sm.BSuMM(lookback=5)).fit(source)
        passes: Any = sum(self.parts[f"pass {i + 1}"] for i in range(n))
        self.parts["scores and search"] = self.now() - begun - passes
        return graph


def in_memory(folder: Path) -> tuple[Times, sm.InfluenceGraph]:
    """Read all files and learn."""
    import pyarrow.dataset

    times = Times()
    events = times.of("read", lambda: sm.read_events(pyarrow.dataset.dataset(folder).to_table()))
    return times, times.learn(MemorySource(events, n_jobs=2))


def on_spark(spark: SparkSession, folder: Path) -> tuple[Times, sm.InfluenceGraph]:
    """Sort and cache them, and learn."""
    times = Times(lambda: work_of(spark))
    frame = spark.read.parquet(str(folder))
    source = times.of("sort and cache", lambda: sm.scan_spark(frame))
    with source:
        return times, times.learn(source)


def by_hand(spark: SparkSession, folder: Path, target: str) -> tuple[Times, dict[str, tuple[int, int]]]:
    """How often each label was among the last five events, and the target then followed, in Spark SQL."""
    from pyspark.sql import Window
    from pyspark.sql import functions as f

    times = Times(lambda: work_of(spark))
    last = Window.partitionBy("case").orderBy("time").rowsBetween(-5, -1)
    hit, past = (f.col("event") == target).cast("int"), f.collect_set("event").over(last)
    frame = spark.read.parquet(str(folder)).select(hit.alias("hit"), past.alias("past"))
    rows = frame.select("hit", f.explode("past").alias("past"))
    counted = rows.groupBy("past").agg(f.count("*").alias("n"), f.sum("hit").alias("hits"))
    found = times.of("counts of one target", counted.collect)
    return times, {row["past"]: (row["n"], row["hits"]) for row in found}


def check_by_hand(found: dict[str, tuple[int, int]], folder: Path, target: str) -> None:
    """The counts of the query are those that the search is told."""
    import pyarrow.dataset

    events = sm.read_events(pyarrow.dataset.dataset(folder).to_table(), ends="cut off")
    labels = range(len(events.labels))
    asked = Target((events.labels.index(target),), len(events.labels))
    request = CandidatesRequest(sm.BSuMM(lookback=5).make_summary(), (), asked, tuple(labels))
    (counts,) = MemorySource(events).count([request])
    present = counts.tables[1].reshape(len(events.labels), 2)  # of the target, and of the rest
    for label, (hits, others) in zip(events.labels, present.tolist(), strict=True):
        assert found.get(label, (0, 0)) == (hits + others, hits)


def work_of(spark: SparkSession) -> tuple[int, int]:
    """How many jobs a session has run, and the bytes that these have shuffled."""
    store: Any = spark.sparkContext._jsc.sc().statusStore()
    executors = store.executorList(True)
    shuffled = sum(executors.apply(at).totalShuffleWrite() for at in range(executors.size()))
    return store.jobsList(None).size(), shuffled


def shuffle(folder: Path, mixed: Path) -> None:
    """Write the rows of some files in any order, as many files."""
    import pyarrow.dataset

    whole = pyarrow.dataset.dataset(folder).to_table()
    order = np.random.default_rng(0).permutation(whole.num_rows)
    paths = sorted(folder.iterdir())
    for path, rows in zip(paths, np.array_split(order, len(paths)), strict=True):
        pyarrow.parquet.write_table(whole.take(rows), mixed / path.name)


def session() -> SparkSession:
    """One on two cores of this machine."""
    builder = SparkSession.builder.master("local[2]").config("spark.driver.memory", "4g")
    for name in ("spark.ui.enabled", "spark.ui.showConsoleProgress"):
        builder = builder.config(name, "false")
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    return spark


def compare(spark: SparkSession, folder: Path, what: str) -> Table:
    """The parts of one way to learn, in memory and on Spark."""
    memory, one = in_memory(folder)
    there, other = on_spark(spark, folder)
    assert one.influencers_ == other.influencers_
    assert one.edges_ == other.edges_
    assert [m.score_ for m in one.models_.values()] == [m.score_ for m in other.models_.values()]
    head = ("In memory, 2 threads", "CPU", "Spark, local[2]", "CPU", "Jobs", "MB shuffled")
    table = Table(what, *head)
    for part in [*there.parts, *(part for part in memory.parts if part not in there.parts)]:
        table.add_row(part, *_cells(memory.parts.get(part)), *_cells(there.parts.get(part), 4))
    whole = [np.sum([*times.parts.values()], axis=0) for times in (memory, there)]
    table.add_row("together", *_cells(whole[0]), *_cells(whole[1], 4))
    table.add_row("to memory", "", "", f"{whole[1][0] / whole[0][0]:.1f}", f"{whole[1][1] / whole[0][1]:.1f}")
    query, found = by_hand(spark, folder, TARGET)
    check_by_hand(found, folder, TARGET)
    table.add_row("by hand in SQL, one target", "", "", *_cells(query.parts["counts of one target"], 4))
    return table


def _cells(part: Duration | None, n: int = 2) -> list[str]:
    if part is None:
        return [""] * n
    return [*map(seconds, part[:2]), f"{part[2]:.0f}", f"{part[3] / 1e6:.1f}"][:n]


def main() -> None:
    """Measure, compare and print."""
    n_events = int(float(sys.argv[1])) if len(sys.argv) > 1 else 10**6
    console, spark = Console(width=130), session()
    with tempfile.TemporaryDirectory() as name:
        folders = {}
        for n, kind in ((min(n_events, 10**6), "warm"), (n_events, "together"), (n_events, "in any order")):
            folders[kind] = Path(name, kind)
            folders[kind].mkdir()
            if kind != "in any order":
                generate(folders[kind], n)
        shuffle(folders["together"], folders["in any order"])
        on_spark(spark, folders["warm"])
        by_hand(spark, folders["warm"], TARGET)
        for kind in ("together", "in any order"):
            console.print(compare(spark, folders[kind], f"Rows {kind}"))
        size = sum(path.stat().st_size for path in folders["together"].iterdir())
    spark.stop()
    console.print(
        f"{n_events:,} events of {LABELS} labels, {size / 1e6:,.0f} MB of Parquet; graphs at look-back 5, "
        f"the same to the last bit. {machine()}, {kernels.backend()} kernels"
    )


if __name__ == "__main__":
    main()
