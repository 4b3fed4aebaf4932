"""A session of Spark: functions on its workers, what they return, and its errors in sentences."""

from __future__ import annotations

import gc
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cache, partial
from typing import Any

from summarkov import __version__
from summarkov.arrow import Later, pa
from summarkov.errors import DataError, SettingError, SummarkovError, optional_library

#: What is used of pyspark, which is loaded when it is needed.
functions: Any = Later("pyspark.sql.functions")
types: Any = Later("pyspark.sql.types")
exceptions: Any = Later("pyspark.errors")
_serializers: Any = Later("pyspark.serializers")
#: How messages call a dataframe.
FRAME = "the dataframe"
#: Bytes of what a worker returns in one cell, where a partition may have several.
PIECE = 1 << 20
#: The version of Python that workers must have.
_PYTHON = ".".join(map(str, sys.version_info[:2]))


def check_frame(frame: Any) -> None:
    """Refuse what is no Spark dataframe that can be read several times."""
    is_frame = False
    if hasattr(frame, "sparkSession"):  # whatever else this is, pyspark would not help
        with optional_library("a Spark source", "pyspark (and Java)", extra="spark"):
            from pyspark.sql import DataFrame
        is_frame = isinstance(frame, DataFrame)
    if not is_frame:
        raise SettingError(
            f"this takes a Spark DataFrame, not {type(frame).__name__}; give other tables to read_events, "
            "and files to scan_events"
        )
    if frame.isStreaming:
        raise SettingError(
            "a streaming DataFrame has no end: to learn, write it to a table and give that; to predict, give "
            "the batches of its writeStream.foreachBatch, as the guide to Spark shows"
        )


def map_partitions(frame: Any, function: Callable[[Any], Any], schema: Any = "value binary") -> Any:
    """Apply a function to the Arrow batches of every partition, on workers of the same version.

    Where the workers are processes of this machine and nobody has said which Python they are to be
    (``PYSPARK_PYTHON``), they are this one, and not the ``python3`` that happens to be found first.
    """
    on_worker = partial(_on_worker, function, __version__)
    context: Any = getattr(frame.sparkSession, "_sc", None)  # Spark Connect has none
    if context is None or not str(context.master).startswith("local") or os.environ.get("PYSPARK_PYTHON"):
        return frame.mapInArrow(on_worker, schema)
    before, context.pythonExec = context.pythonExec, sys.executable
    try:
        return frame.mapInArrow(on_worker, schema)
    finally:
        context.pythonExec = before


def _on_worker(function: Callable[[Any], Any], driver: str, batches: Any) -> Any:
    _keep_modules()
    if driver != __version__:
        raise RuntimeError(f"SummarkovVersion: {__version__} on workers, {driver} on the driver")
    return function(batches)


@cache
def _keep_modules() -> None:
    """Let the search for garbage after every task pass over modules, which saves some 30 ms of each."""
    gc.collect()
    gc.freeze()


# ---------------------------------------------------------------------- objects as cells


def packed(function: Callable[[Any], Any], piece: int | None = None) -> Callable[[Any], Any]:
    """A function of the batches of a partition that returns one object, or None for nothing.

    The object, which may be an error of ours, is in one cell, or in several of ``piece`` bytes each.
    """
    return partial(_pack, function, piece)


def _pack(
    function: Callable[[Any], Any], piece: int | None, batches: Iterable[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    try:
        found = function(batches)
    except SummarkovError as error:
        found = error
    if found is not None:
        data = memoryview(_serializers.CPickleSerializer().dumps(found))
        size = piece or len(data)
        for start in range(0, len(data), size):
            cell = pa.array([bytes(data[start : start + size])], pa.binary())
            yield pa.record_batch([cell], ["value"])


def cells(batches: Iterable[pa.RecordBatch]) -> list[bytes]:
    """What is in the cells of some batches."""
    return [cell for batch in batches for cell in batch.column(0).to_pylist()]


def unpacked(data: bytes) -> Any:
    """The object that a worker has packed; an error is raised."""
    found = _serializers.CPickleSerializer().loads(data)
    if isinstance(found, SummarkovError):
        raise found
    return found


# ---------------------------------------------------------------------- errors


@contextmanager
def explained() -> Iterator[None]:
    """Let errors of Spark become sentences that say what to do."""
    try:
        yield
    except Exception as error:
        if not type(error).__module__.startswith(("pyspark.", "py4j.")):
            raise
        raise _explain(str(error)) from error


#: What Spark says, and what to do about it.
_SAID: tuple[tuple[str, Callable[[re.Match[str]], str]], ...] = (
    (
        r"PYTHON_VERSION_MISMATCH.*?in worker[^:]*:? *\(?'?(\d+)(?:\.|, )(\d+)",
        lambda found: (
            f"the workers run another Python ({found[1]}.{found[2]}) than the driver ({_PYTHON}); set "
            f"PYSPARK_PYTHON to a Python {_PYTHON} with summarkov, before the session is started"
        ),
    ),
    (
        r"SummarkovVersion: (\S+) on workers, (\S+) on",
        lambda found: f"the workers have summarkov {found[1]} and the driver {found[2]}; install one",
    ),
    (
        r'Cannot run program "([^"]*)"',
        lambda found: (
            f"the workers cannot start their Python, {found[1]!r}; set PYSPARK_PYTHON to one that is there "
            "on every worker, before the session is started"
        ),
    ),
    (
        r"No module named '?((?:numpy|pyarrow|summarkov)\b[\w.]*)",
        lambda found: (
            f"the workers' Python has no module {found[1]!r}; install summarkov there (a cluster library, "
            "the image of the executors, or a packed environment in spark.archives), or set PYSPARK_PYTHON "
            f"to a Python that has it, before the session is started (the driver's is {sys.executable})"
        ),
    ),
    (
        r"No module named '?([\w.]+)",
        lambda found: (
            f"the workers have no module {found[1]!r}, which your own code needs; send it with "
            "spark.addArtifact or sc.addPyFile"
        ),
    ),
)


def _explain(text: str) -> SummarkovError:
    """An error of Spark as one that says what to do."""
    if "cancelled as part of cancellation of all jobs" in text:  # what Ctrl-C does to Spark's jobs
        raise KeyboardInterrupt
    for pattern, told in _SAID:
        if found := re.search(pattern, text, re.DOTALL):
            return SettingError(told(found))
    lines = [line.strip() for line in text.split("JVM stacktrace")[0].splitlines() if line.strip()]
    named = [line for line in lines if re.match(r"[\w.]*(Error|Exception)\b", line)]
    line = (named or lines or [text])[-1 if named else 0]  # of a traceback the last, of others the first
    return DataError(f"Spark could not do its part: {line[:500]}")
