"""A session of Spark: its jobs, the answers that come back from them, and its errors in sentences."""

from __future__ import annotations

import gc
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import astuple, dataclass, field
from functools import cache
from typing import Any, Generic

from summarkov.arrow import Later, pa
from summarkov.engines.messages import pack, pack_error, travels, unpack, unpack_error
from summarkov.engines.work import Answer, Work
from summarkov.errors import DataError, SettingError, SummarkovError, optional_library

#: What is used of pyspark, which is loaded when it is needed.
functions: Any = Later("pyspark.sql.functions")
types: Any = Later("pyspark.sql.types")
windows: Any = Later("pyspark.sql.window")
exceptions: Any = Later("pyspark.errors")
#: Where Spark keeps what a job is for.
_DESCRIPTION = "spark.job.description"
#: What comes back of a pass: an answer, see :class:`Returned`, or what went wrong.
ANSWERS = "answer binary, error binary"
#: How messages call a dataframe.
FRAME = "the dataframe"
#: What the workers must be able to import.
_NEEDED = ("numpy", "pyarrow", "summarkov")


def check_frame(frame: Any) -> None:
    """Refuse what is no Spark dataframe that could be gone through several times."""
    if not _is_frame(frame):
        raise SettingError(
            f"this takes a Spark DataFrame, not {type(frame).__name__}; give other tables to read_events, "
            "and files to scan_events"
        )
    if frame.isStreaming:
        raise SettingError(
            "a streaming DataFrame has no end: to learn, write it to a table and give that; to predict, give "
            "the batches of its writeStream.foreachBatch, as the guide to Spark shows"
        )


def _is_frame(frame: Any) -> bool:
    if not hasattr(frame, "sparkSession"):  # whatever this is, pyspark would not help
        return False
    with optional_library("a Spark source", "pyspark (and Java)", extra="spark"):
        from pyspark.sql import DataFrame
    return isinstance(frame, DataFrame)


def parallelism(session: Any) -> int:
    """How many tasks the session runs at a time, about."""
    try:
        return max(1, int(session.sparkContext.defaultParallelism))
    except Exception:  # Spark Connect does not tell
        return 8


def map_partitions(frame: Any, function: Callable[[Any], Any], schema: Any) -> Any:
    """Apply a function to every partition, in Arrow batches.

    Where the workers are processes of this machine and nobody has said which Python they are to be
    (``PYSPARK_PYTHON``), they are this one, and not the ``python3`` that happens to be found first.
    """
    with _this_python(frame.sparkSession):
        return frame.mapInArrow(_OnWorker(function), schema)


@dataclass(frozen=True)
class _OnWorker:
    """A function on a worker, which after every task looks through all that Python holds for garbage.

    What is there before the first task, mostly modules, stays for good. To pass over it saves some 30 ms of
    every further task.
    """

    function: Callable[[Any], Any]

    def __call__(self, batches: Any) -> Any:
        _keep_for_good()
        return self.function(batches)


@cache
def _keep_for_good() -> None:
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


# ---------------------------------------------------------------------- answers


@travels
@dataclass(frozen=True)
class Tally:
    """What was looked at in a pass: the same in every pass, unless the dataframe is not always the same."""

    events: int = 0
    sequences: int = 0
    ties: int = 0
    together: int = 0  # events that happened together with the one before
    fractions: int = 0  # sequences whose weight is not a whole number
    #: Of all events, in units of 2^20, as the sum over partitions must fit; blocks decide how it is rounded.
    weight: int = field(default=0, compare=False)
    checksum: int = 0  # a sum over the partitions

    def __add__(self, other: Tally) -> Tally:
        return Tally(*(a + b for a, b in zip(astuple(self), astuple(other), strict=True)))


@travels
@dataclass(frozen=True)
class Returned(Generic[Answer]):
    """What came back of some partitions, of which ``plain`` were counted in NumPy."""

    tally: Tally
    plain: int
    answer: Answer

    def row(self) -> pa.RecordBatch:
        """As one row of :data:`ANSWERS`."""
        return pa.record_batch([pa.array([pack(self)]), pa.nulls(1, pa.binary())], ["answer", "error"])


def row_of_error(error: SummarkovError) -> pa.RecordBatch:
    """What went wrong as one row of :data:`ANSWERS`."""
    return pa.record_batch([pa.nulls(1, pa.binary()), pa.array([pack_error(error)])], ["answer", "error"])


@dataclass(frozen=True)
class Adding(Generic[Answer]):
    """Adds up the answers that came to one partition."""

    work: Work[Answer]

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """One row, or none if none came."""
        rows = [row for batch in batches for row in batch.to_pylist()]
        if not rows:
            return
        try:
            yield added(self.work, rows).row()
        except SummarkovError as error:
            yield row_of_error(error)


def added(work: Work[Answer], rows: Iterable[dict[str, Any]]) -> Returned[Answer]:
    """What is in several rows of answers; or the first error."""
    found: list[Returned[Answer]] = []
    for row in rows:
        if row["error"] is not None:
            raise unpack_error(row["error"])
        found.append(unpack(row["answer"]))
    tally = sum((one.tally for one in found), Tally())
    return Returned(tally, sum(one.plain for one in found), work.total([one.answer for one in found]))


# ---------------------------------------------------------------------- names and errors


@contextmanager
def named(session: Any, what: str) -> Iterator[None]:
    """Say in Spark's pages what the jobs are for; afterwards they are called as before."""
    try:
        context = session.sparkContext
    except Exception:  # Spark Connect has no such names
        yield
        return
    before = context.getLocalProperty(_DESCRIPTION)
    context.setLocalProperty(_DESCRIPTION, f"summarkov: {what}")
    try:
        yield
    finally:
        context.setLocalProperty(_DESCRIPTION, before)


@contextmanager
def explained(session: Any) -> Iterator[None]:
    """Turn errors of Spark into sentences; those of ours that came back from workers stay as they are."""
    try:
        yield
    except Exception as error:
        if not type(error).__module__.startswith(("pyspark.", "py4j.")):
            raise
        text = str(error)
        if "cancelled as part of cancellation of all jobs" in text:  # what Ctrl-C does to Spark's jobs
            raise KeyboardInterrupt from error
        if "PYTHON_VERSION_MISMATCH" in text or "different minor versions" in text:
            raise SettingError(_other_python(text)) from error
        program = re.search(r'Cannot run program "([^"]*)"', text)
        if program:
            raise SettingError(
                f"the workers cannot start their Python, {program[1]!r}; set PYSPARK_PYTHON to one that is "
                "there on every worker, before the session is started"
            ) from error
        missing = re.search(r"No module named '?([\w.]+)", text)
        if missing:
            raise SettingError(_lacks(session, missing[1])) from error
        raise DataError(f"Spark could not do its part: {_last_line(text)}") from error


def unstable(found: str) -> DataError:
    """The error for a dataframe from which counts would be those of nothing that ever was."""
    return DataError(
        f"{FRAME} does not give the same rows each time that Spark works it out: {found}. Perhaps it depends "
        "on the order of rows (dropDuplicates, limit, first, rand); write it to a table, or call its "
        "checkpoint(), and give that"
    )


def _other_python(text: str) -> str:
    version = re.search(r"in worker[^:]*:? *\(?'?(\d+\.\d+|\d+, \d+)", text)
    worker = f" ({version[1].replace(', ', '.')})" if version else ""
    driver = ".".join(map(str, sys.version_info[:2]))
    return (
        f"the workers run another Python{worker} than the driver ({driver}); set PYSPARK_PYTHON to a Python "
        f"{driver} with summarkov, before the session is started"
    )


def _lacks(session: Any, module: str) -> str:
    """What to do about a module that workers cannot import."""
    where = f"the workers' Python{_workers_python(session)} has no module {module!r}"
    if module.split(".")[0] not in _NEEDED:
        return f"{where}, which your own code needs; send it with spark.addArtifact or sc.addPyFile"
    return (
        f"{where}; install summarkov there (a cluster library, the image of the executors, or a packed "
        f"environment in spark.archives), or set PYSPARK_PYTHON to a Python that has it, before the session "
        f"is started (the driver's is {sys.executable})"
    )


def _workers_python(session: Any) -> str:
    """The path of the workers' Python, as far as a worker can tell; this is only asked after a failure."""
    try:

        def which(_: int) -> str:
            import sys

            return sys.executable

        ask = functions.udf(which, "string", useArrow=False)
        with _this_python(session):
            (row,) = session.range(1).select(ask("id")).collect()
        return f" ({row[0]})"
    except Exception:
        return ""


def _last_line(text: str) -> str:
    """The line of a traceback that says what is wrong, or the first line of another error."""
    lines = [line.strip() for line in text.split("JVM stacktrace")[0].splitlines() if line.strip()]
    named = [line for line in lines if re.match(r"[\w.]*(Error|Exception)\b", line)]
    return (named or lines or [text])[-1 if named else 0][:500]
