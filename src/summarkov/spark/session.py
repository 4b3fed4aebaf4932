"""A session of Spark: functions on its workers, what they return, and its errors in sentences."""

from __future__ import annotations

import gc
import os
import pickle
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any

from summarkov import __version__
from summarkov.arrow import Later, pa
from summarkov.errors import DataError, SettingError, SummarkovError, optional_library

#: What is used of pyspark, which is loaded when it is needed.
functions: Any = Later("pyspark.sql.functions")
types: Any = Later("pyspark.sql.types")
exceptions: Any = Later("pyspark.errors")
#: What workers return: pickled values, or what went wrong.
ANSWERS = "value binary, error binary"
#: How messages call a dataframe.
FRAME = "the dataframe"
#: What the workers must be able to import.
_NEEDED = ("numpy", "pyarrow", "summarkov")
#: Where Spark keeps what a job is for.
_DESCRIPTION = "spark.job.description"


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


def parallelism(session: Any) -> int:
    """How many tasks the session runs at a time, about."""
    try:
        return max(1, int(session.sparkContext.defaultParallelism))
    except Exception:  # Spark Connect does not report it
        return 8


# ---------------------------------------------------------------------- functions on workers


def map_partitions(frame: Any, function: Callable[[Any], Any], schema: Any) -> Any:
    """Apply a function to every partition, in Arrow batches.

    Where the workers are processes of this machine and nobody has said which Python they are to be
    (``PYSPARK_PYTHON``), they are this one, and not the ``python3`` that happens to be found first.
    """
    with _this_python(frame.sparkSession):
        return frame.mapInArrow(_OnWorker(function), schema)


@dataclass(frozen=True)
class _OnWorker:
    """A function on a worker, of the version of the driver.

    After every task a worker looks through all that Python holds for garbage. To pass over what is there
    before the first task, mostly modules, saves some 30 ms of every further task.
    """

    function: Callable[[Any], Any]
    version: str = __version__

    def __call__(self, batches: Any) -> Any:
        _keep_modules()
        if self.version != __version__:
            raise RuntimeError(f"SummarkovVersion: {__version__} on workers, {self.version} on the driver")
        return self.function(batches)


@cache
def _keep_modules() -> None:
    gc.collect()
    gc.freeze()


@contextmanager
def _this_python(session: Any) -> Iterator[None]:
    context: Any = getattr(session, "_sc", None)
    local = context is not None and str(context.master).startswith("local")
    if not local or os.environ.get("PYSPARK_PYTHON"):
        yield
        return
    before, context.pythonExec = context.pythonExec, sys.executable
    try:
        yield
    finally:
        context.pythonExec = before


@dataclass(frozen=True)
class Answering:
    """A function of the batches of a partition that returns bytes, as rows of :data:`ANSWERS`."""

    function: Callable[[Iterable[pa.RecordBatch]], Iterable[bytes]]

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """One row for each; the last one says what went wrong, if anything did."""
        try:
            for value in self.function(batches):
                yield _row(value, None)
        except SummarkovError as error:
            yield _row(None, pickle.dumps((type(error), error.args, vars(error))))


def _row(value: bytes | None, error: bytes | None) -> pa.RecordBatch:
    columns = [pa.array([each], pa.binary()) for each in (value, error)]
    return pa.record_batch(columns, ["value", "error"])


def answers(batches: Iterable[pa.RecordBatch]) -> Iterator[bytes]:
    """What :class:`Answering` returned on workers, or the first error."""
    for batch in batches:
        for value, error in zip(*(column.to_pylist() for column in batch.columns), strict=True):
            if error is not None:
                kind, args, about = pickle.loads(error)
                found = kind.__new__(kind, *args)  # not all are made from what they say
                vars(found).update(about)
                raise found
            yield value


# ---------------------------------------------------------------------- names and errors


@contextmanager
def job(session: Any, what: str) -> Iterator[None]:
    """Jobs of Spark: its pages show what they are for, and its errors become sentences."""
    try:
        context = session.sparkContext
        before = context.getLocalProperty(_DESCRIPTION)
        context.setLocalProperty(_DESCRIPTION, f"summarkov: {what}")
    except Exception:  # Spark Connect has no such names
        context = before = None
    try:
        yield
    except Exception as error:
        if not type(error).__module__.startswith(("pyspark.", "py4j.")):
            raise
        raise _explain(error) from error
    finally:
        if context is not None:
            context.setLocalProperty(_DESCRIPTION, before)


def _explain(error: Exception) -> SummarkovError:
    """An error of Spark as one that says what to do."""
    text, driver = str(error), ".".join(map(str, sys.version_info[:2]))
    if "cancelled as part of cancellation of all jobs" in text:  # what Ctrl-C does to Spark's jobs
        raise KeyboardInterrupt from error
    if "PYTHON_VERSION_MISMATCH" in text or "different minor versions" in text:
        version = re.search(r"in worker[^:]*:? *\(?'?(\d+)(?:\.|, )(\d+)", text)
        worker = f" ({version[1]}.{version[2]})" if version else ""
        return SettingError(
            f"the workers run another Python{worker} than the driver ({driver}); set PYSPARK_PYTHON to a "
            f"Python {driver} with summarkov, before the session is started"
        )
    if found := re.search(r"SummarkovVersion: (\S+) on workers, (\S+) on", text):
        return SettingError(f"the workers have summarkov {found[1]} and the driver {found[2]}; install one")
    if found := re.search(r'Cannot run program "([^"]*)"', text):
        return SettingError(
            f"the workers cannot start their Python, {found[1]!r}; set PYSPARK_PYTHON to one that is there "
            "on every worker, before the session is started"
        )
    if found := re.search(r"No module named '?([\w.]+)", text):
        if found[1].split(".")[0] not in _NEEDED:
            return SettingError(
                f"the workers have no module {found[1]!r}, which your own code needs; send it with "
                "spark.addArtifact or sc.addPyFile"
            )
        return SettingError(
            f"the workers' Python has no module {found[1]!r}; install summarkov there (a cluster library, "
            "the image of the executors, or a packed environment in spark.archives), or set PYSPARK_PYTHON "
            f"to a Python that has it, before the session is started (the driver's is {sys.executable})"
        )
    return DataError(f"Spark could not do its part: {_last_line(text)}")


def _last_line(text: str) -> str:
    """The line of a traceback that says what is wrong, or the first line of another error."""
    lines = [line.strip() for line in text.split("JVM stacktrace")[0].splitlines() if line.strip()]
    named = [line for line in lines if re.match(r"[\w.]*(Error|Exception)\b", line)]
    return (named or lines or [text])[-1 if named else 0][:500]
