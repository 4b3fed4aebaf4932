"""Events of a Spark dataframe, counted where they are: a shard of whole cases on every partition.

Workers read their cases as memory would, and Spark caches the shards. A pass is a function of every shard;
workers keep those they have counted.
"""

from __future__ import annotations

import contextlib
import gc
import logging
import os
import re
import sys
import uuid
import warnings
import weakref
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from operator import methodcaller
from typing import Any, Unpack

import numpy as np

from summarkov import __version__, kernels
from summarkov.arrow import Later, pa
from summarkov.engines import MemorySource
from summarkov.engines.counts import FIXED_POINT, in_units, n_fractions, refuse_overflow
from summarkov.engines.source import Answer, EventSource, added
from summarkov.errors import DataError, SettingError, SummarkovError, optional_library, warn_caller
from summarkov.events import EventSequences, vocabulary
from summarkov.events.attributes import Attributes
from summarkov.events.describe import Origin
from summarkov.events.rows import recoded
from summarkov.events.vocabulary import END, Unknown, check_unknown, refuse_unknown_labels
from summarkov.read import read_events
from summarkov.read.case_attributes import cuts_of
from summarkov.read.columns import TABLE, Columns, Reading, Wanted, choose_columns
from summarkov.read.ordering import Ties, refuse_no_order, refuse_ties, warn_of_ties
from summarkov.settings import check_whole
from summarkov.typing import IntArray

#: What is used of pyspark, which is loaded when it is needed.
f: Any = Later("pyspark.sql.functions")
types: Any = Later("pyspark.sql.types")
exceptions: Any = Later("pyspark.errors")
_pyspark: Any = Later("pyspark")
_serializers: Any = Later("pyspark.serializers")
#: How messages call a dataframe.
FRAME = "the dataframe"
#: Bytes of what a worker returns in one cell, where a partition may have several.
PIECE = 1 << 20
#: The version of Python that workers must have.
_PYTHON = ".".join(map(str, sys.version_info[:2]))
#: Bytes that the tables of counts of a task may take.
WORKER_MEMORY = 1 << 27
#: Where there are more partitions than this, answers are added up on the workers first, this many at a time.
FAN_IN = 16
#: Events of shards that a worker keeps from pass to pass, in some 100 MB.
KEPT_EVENTS = 1 << 22
#: The name of a column that numbers rows.
_ROW = "summarkov row"
#: Events to a partition, unless there are fewer than there are tasks at a time.
PARTITION_EVENTS = 1 << 20
#: Settings of reading that take all labels, or the attributes of all cases.
_NAMING = ("labels", "closed_by", "lifecycle", "attributes")
#: Settings of reading that say what labels are.
_OF_LABELS = ("event", "labels", "lifecycle", "missing")
#: Settings that say what attributes are.
_OF_CASES = ("case", "attributes", "cuts", "missing", "ends_column")
#: Of these parts of :class:`Origin` there is a number for each shard.
_NUMBERS = ("unlabelled", "caseless", "duplicates", "dropped")

#: Something to do with the events of each shard before they are counted.
Step = Callable[[EventSequences], EventSequences]


def scan_spark(
    dataframe: Any,
    *,
    partitions: int | None = None,
    **reading: Unpack[Reading],
) -> SparkSource:
    """Count the events of a Spark dataframe on its cluster; a row is an event.

    Spark brings the rows of each case together. Workers turn every partition into codes once, and Spark
    caches these. Every pass of a search then counts each partition where it is, and brings back counts, never
    events. ``close()``, or the end of a ``with`` block, makes the cluster forget the codes.

    Parameters
    ----------
    dataframe : pyspark.sql.DataFrame
    partitions
        In how many parts to cut the data, each of which is a task; by default of a million events each. A
        case is in one part. A task holds the events of its part, and tables of counts of up to 128 MiB.
    **reading
        ``case``, ``event``, ``order_by``, ``labels`` and all other settings of :func:`read_events`. Rows with
        the same place in the order stay as they come, by file and row, and with ``order_by=False`` all do;
        Spark keeps the order of rows only where files are read as they are, so name a column if you can.

    The workers need this package too, in the same version; see the guide to Spark.
    """
    if partitions is not None:
        check_whole("partitions", partitions, 1)
    frame = Frame.of(dataframe, reading)
    with explained():
        frame, reader, n_other = frame.settle()
        n = partitions or frame.n_partitions()
        # Spark's cache goes by what a dataframe does: without a name of its own, two sources would share it.
        apart = f.lit(uuid.uuid4().hex) != f.lit("")
        rows = map_partitions(frame.by_case(n), partial(pack, reader, PIECE)).where(apart)
        shards = Shards(rows.persist(), n, reader.nothing)
        try:
            found: Counter[Any] = sum(shards.ask(Prepared(), survey), Counter({"other_lifecycle": n_other}))
            about, scale = checked(found, frame)
            names, labels = reader.nothing.attributes, {*reader.nothing.labels}
            if frame.wanted.labels is None:  # those that occur, not only in rows of no case
                labels = {key[1] for key in found if key[0] == "label"}
                labels -= {END} if found["complete"] else set()
            labels |= {*(() if names is None else names.names)}
            steps = (partial(recoded, labels=sorted(labels), unknown="error"),)
            source = SparkSource(shards, Prepared(found["complete"] > 0, scale, steps), **about)
            if scale is None:  # this is what counting them would give
                source.label_counts = np.array([found["label", x] for x in source.labels], np.int64)
            return source
        except BaseException:
            shards.close()
            raise


# ---------------------------------------------------------------------- reading


@dataclass(frozen=True)
class Frame:
    """The rows of a dataframe, with the columns that are needed, and how to read them.

    Columns of ``rows`` have plain names, for Spark maps over no others; ``names`` are the user's.
    """

    rows: Any
    names: tuple[str, ...]
    chosen: Columns
    wanted: Wanted
    reading: Mapping[str, Any]

    @classmethod
    def of(cls, frame: Any, reading: Mapping[str, Any]) -> Frame:
        """Choose the columns."""
        check_frame(frame)
        wanted = Wanted.of(**reading)
        lists = [name for name, kind in frame.dtypes if kind.startswith("array")]
        times = [name for name, kind in frame.dtypes if kind.startswith(("timestamp", "date"))]
        chosen = choose_columns(frame.columns, wanted.columns, FRAME, list_columns=lists, time_columns=times)
        chosen = replace(chosen, other_lifecycle=None)  # nobody asked for it
        if not chosen.order:
            refuse_no_order(wanted, FRAME)
        if not chosen.order and wanted.columns.order is None:
            raise SettingError(
                f"no column of {FRAME} is recognised as the order, and Spark keeps no order of rows; name "
                "one with order_by=, or say order_by=False to take rows of files in the order of the files, "
                "and all others as Spark happens to read them"
            )
        names = chosen.names()
        columns = [
            f.col(f"`{name.replace('`', '``')}`").alias(f"column{at}") for at, name in enumerate(names)
        ]
        rows = frame.select(*columns, *(column.alias(f"came{at}") for at, column in enumerate(_came(frame))))
        named = {"case": chosen.case, "event": chosen.event, "order_by": [*(chosen.order or ())] or False}
        return cls(rows, tuple(names), chosen, wanted.for_columns(chosen), {**reading, **named})

    def column(self, name: str | None) -> Any:
        """A column of the rows, by the user's name."""
        return f.col(self.rows.columns[self.names.index(str(name))])

    def different(self, *names: str | None) -> tuple[pa.Table, IntArray]:
        """The different rows of some columns, and how many there are of each."""
        found = self.rows.groupBy(*map(self.column, names)).count().toArrow()
        return found.drop_columns(["count"]).rename_columns([*map(str, names)]), np.asarray(found["count"])

    def by_case(self, n_partitions: int) -> Any:
        """All rows of a case in one partition, as they came."""
        came = self.rows.columns[len(self.names) :]
        together = self.rows.repartition(n_partitions, self.column(self.chosen.case))
        return together.sortWithinPartitions(*came).drop(*came)

    def n_partitions(self) -> int:
        """So many that none is large, and that there is work for all if there is much."""
        context, n = getattr(self.rows.sparkSession, "_sc", None), int(self.rows.count())
        at_once = 8 if context is None else max(1, int(context.defaultParallelism))  # Spark Connect has none
        return max(min(at_once, 1 + n // (1 << 14)), -(-n // PARTITION_EVENTS))

    def settle(self, *, has_labels: bool = False) -> tuple[Frame, Reader, int]:
        """What only all rows can tell: rows to read, what reads them, and the number of others.

        All labels are asked for first if settings name some, or if the reader ``has_labels``.
        """
        chosen, settings, frame = self.chosen, dict(self.reading), self
        if self.wanted.ends is None:
            settings["ends"] = vocabulary.ENDS
        if self.wanted.ties == "error":  # which only all partitions together can tell
            settings["ties"] = "in row order"
        if not has_labels and all(settings.get(name) is None for name in _NAMING):
            return self, Reader(self.names, settings, EventSequences([], [0], [])), 0
        lifecycle = () if chosen.lifecycle is None else (chosen.lifecycle,)
        table, n_each = self.different(*dict.fromkeys((chosen.event, *lifecycle)))
        asked = {name: settings[name] for name in _OF_LABELS if name in settings}
        numbered = table.append_column(_ROW, pa.array(range(len(table))))
        found = read_rows(numbered, {**asked, "case": _ROW, "order_by": False})
        n_other = 0
        if lifecycle:
            wanted, given = str(settings.pop("lifecycle")).casefold(), table.column(lifecycle[0]).to_pylist()
            keep = np.array([str(value).casefold() == wanted for value in given], bool)
            n_other = int(n_each[~keep].sum())
            values = sorted({value for value, kept in zip(given, keep, strict=True) if kept})
            frame = replace(self, rows=self.rows.where(self.column(lifecycle[0]).isin(values)))
        attributes = None
        if settings.get("attributes") is not None:
            cases, _ = frame.different(chosen.case, *(name for name in chosen.attributes))
            event = pa.array(["event"] * len(cases))
            asked = {name: settings[name] for name in _OF_CASES if name in settings}
            about = {**asked, "event": _ROW, "order_by": False}
            attributes = read_rows(cases.append_column(_ROW, event), about).attributes
            named = () if attributes is None else attributes.names
            settings["cuts"] = {**cuts_of(named), **(settings.get("cuts") or {})}
        settings["labels"] = found.labels
        nothing = EventSequences([], [0], found.labels)
        if attributes is not None:
            nothing = nothing.with_attributes(attributes[np.arange(0)])
        return frame, Reader(self.names, settings, nothing), n_other


def _came(frame: Any) -> list[Any]:
    """What says in which order rows came: for rows of files the file and the part of it; always a number.

    Spark reads large files first, and the parts of one in any order.
    """
    places = [f.col("_metadata.file_path"), f.col("_metadata.file_block_start")]
    logger = logging.getLogger("DataFrameQueryContextLogger")  # of pyspark, which prints what is expected
    before, logger.disabled = logger.disabled, True
    try:
        _ = frame.select(*places).columns
    except exceptions.AnalysisException:
        places = []
    finally:
        logger.disabled = before
    return [*places, f.monotonically_increasing_id()]


def read_rows(table: pa.Table, settings: Mapping[str, Any]) -> EventSequences:
    """The events of some rows; errors are about the dataframe, whose rows have no numbers."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of ties, which the driver counts
            return read_events(table, **settings)
    except SummarkovError as error:
        text = re.sub(r"in \d+ rows?, the first is row \d+ \([^)]*\)", "in some rows", str(error.args[0]))
        text = re.sub(r" in row \d+ of the data", "", text)
        text = re.sub(r"\brow \d+( of the data)?", "a row", text)
        error.args = (text.replace(TABLE, FRAME), *error.args[1:])
        raise


@dataclass(frozen=True)
class Reader:
    """Reads the rows of a partition as memory would, on a worker; ``nothing`` has all names and no events."""

    names: tuple[str, ...]
    settings: dict[str, Any]
    nothing: EventSequences

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> EventSequences | None:
        """The cases of a partition; None if it has no rows."""
        filled = [batch for batch in batches if batch.num_rows]
        if not filled:
            return None
        table = pa.Table.from_batches(filled).rename_columns(list(self.names))
        events, known = read_rows(table, self.settings), self.nothing.attributes
        if known is not None:
            nothing = Attributes((), np.zeros((len(events), 0), bool))
            present = (events.attributes or nothing).among(known.names)
            events = events.with_attributes(Attributes(known.names, present))
        return events


# ---------------------------------------------------------------------- what all shards have together


def survey(source: MemorySource) -> Counter[Any]:
    """What is known of a shard before anything is counted, in numbers that add up."""
    events, origin = source.given, source.origin or Origin()
    weights = np.ones(len(events)) if events.weights is None else events.weights
    in_units(weights, FIXED_POINT if n_fractions(weights) else 1)  # refuses what cannot be counted
    found: dict[Any, Any] = {name: getattr(origin, name) for name in _NUMBERS}
    counts = source.label_counts.tolist()
    found |= {("label", label): n for label, n in zip(source.labels, counts, strict=True)}
    found |= {
        "shards": 1,
        "sequences": len(events),
        "complete": int(events.complete.sum()),
        "events": events.n_events,
        "tied": events.tied_order,
        "ticks": int(events.has_ticks),
        "fractions": n_fractions(weights),
        "weight": float(weights @ (events.lengths + 1)),
        "in NumPy": int(kernels.backend() != "native"),
        ("unit", events.time_unit): int(events.n_events > 0),
        ("tied case", origin.tied_case): int(origin.tied_case is not None),
    }
    return Counter(found)


def checked(n: Counter[Any], frame: Frame) -> tuple[dict[str, Any], int | None]:
    """What a source knows of all shards, from the sum of their surveys, and the unit of weights."""
    chosen, wanted, order = frame.chosen, frame.wanted, frame.chosen.order or ()
    units = [key[1] for key in n if key[0] == "unit" and n[key]]
    if len(units) > 1:
        raise DataError(
            f"the order columns of {FRAME} cannot be put in order: the times of some cases are numbers and "
            "those of others dates; write all alike, or cast them to numbers or timestamps"
        )
    tied = min((key[1] for key in n if key[0] == "tied case"), default=None)
    numbers: dict[str, Any] = {name: n[name] for name in (*_NUMBERS, "other_lifecycle")}
    per_case = (chosen.weight, chosen.lifecycle, chosen.attributes)
    origin = replace(Origin(chosen.case, chosen.event, order, *per_case), tied_case=tied, **numbers)
    if order:
        refuse_ties(Ties(n["tied"], tied), wanted, order[0], FRAME)
    warn_of_ties(n["tied"], n["events"], origin, wanted, FRAME)
    if n["in NumPy"] and kernels.backend() == "native":
        warn_caller(
            f"{n['in NumPy']} of {n['shards']} tasks count in NumPy, which takes tens of times as long: "
            "summarkov is there without its compiled part; install a wheel of it on the workers",
            UserWarning,
        )
    scale = None if chosen.weight is None else FIXED_POINT if n["fractions"] else 1
    refuse_overflow(n["weight"] * (scale or 1), scale or 1)
    about: dict[str, Any] = {"origin": origin, "time_unit": units[0] if units else None}
    about |= {"n_sequences": n["sequences"], "n_events": n["events"]}
    about |= {"has_ticks": n["ticks"] > 0, "tied_order": n["tied"]}
    return about, scale


# ---------------------------------------------------------------------- passes


@dataclass(frozen=True)
class Prepared:
    """What a worker does with the events of its shard before it counts; ``scale`` is that of weights."""

    has_ends: bool = False
    scale: int | None = None
    steps: tuple[Step, ...] = ()
    name: str = field(init=False, default_factory=lambda: uuid.uuid4().hex)

    def source(self, events: EventSequences) -> MemorySource:
        """The events after all steps, as functions are asked of them."""
        for step in self.steps:
            events = step(events)
        if self.has_ends and END not in events.labels:  # which another shard may have
            events = events.recode(sorted((*events.labels, END)))
        given = None if self.scale is None else events.weights
        weights = None if given is None else in_units(given, self.scale or 1)
        return MemorySource(events, sample_weight=weights)

    def ask(self, function: Callable[[MemorySource], Any], batches: Iterable[pa.RecordBatch]) -> Any:
        """What a function returns for a partition, on a worker, which may have it from another pass."""
        data = list(batches)
        key = self.name, _pyspark.TaskContext.get().partitionId(), sum(batch.nbytes for batch in data)
        if not data or key in _kept:
            return function(_kept[key]) if data else None
        source = self.source(unpacked(b"".join(cells(data))))
        for other in [name for name in _kept if name[0] != self.name]:
            vars(_kept.pop(other)).clear()  # it refers to itself, and may be frozen
        if source.n_events + sum(kept.n_events for kept in _kept.values()) <= KEPT_EVENTS:
            _kept[key] = source
        return function(source)


#: On a worker: the shards of the last source that was asked, by its name, their numbers and sizes.
_kept: dict[tuple[str, int, int], MemorySource] = {}


def _added(batches: Iterable[pa.RecordBatch]) -> Any:
    answers = [unpacked(cell) for cell in cells(batches)]
    return added(answers) if answers else None


class Shards:
    """The shards of a dataframe, cached on its cluster; ``nothing`` has their names, and no events."""

    def __init__(self, rows: Any, n_partitions: int, nothing: EventSequences) -> None:
        self.rows, self.n_partitions, self.nothing = rows, n_partitions, nothing
        self.close = weakref.finalize(self, _forget, rows)
        self.close.atexit = False  # with Python the session ends too

    def ask(self, prepared: Prepared, function: Callable[[MemorySource], Any]) -> list[Any]:
        """What a function returns for every shard; many answers are added up on the workers."""
        if not self.close.alive:
            raise DataError("this source is closed and its cached events are gone; make a new one")
        with explained():
            n = self.n_partitions
            found = map_partitions(self.rows, partial(pack, partial(prepared.ask, function), None))
            while n > FAN_IN:
                n = -(-n // FAN_IN)
                found = map_partitions(found.repartition(n), partial(pack, _added, None))
            return [unpacked(cell) for cell in cells(found.toArrow().to_batches())]


def _forget(rows: Any) -> None:
    with contextlib.suppress(Exception):  # the session may have been stopped
        rows.unpersist()


class SparkSource(EventSource):
    """An :class:`EventSource` over events that are cached on a Spark cluster."""

    memory = WORKER_MEMORY

    def __init__(self, shards: Shards, prepared: Prepared, **about: Any) -> None:
        self._shards, self._prepared, self._about = shards, prepared, about
        vars(self).update(about)
        self._nothing = prepared.source(shards.nothing)
        self.labels, self.attributes = self._nothing.labels, self._nothing.attributes
        self.scale = prepared.scale or 1

    def close(self) -> None:
        """Let the cluster forget the events; sources that were made from this one, too."""
        self._shards.close()

    def map(
        self,
        function: Callable[..., Answer],
        questions: Sequence[Any] | None = None,
        most_rows: int | None = None,
    ) -> Answer:
        """What a function returns for every shard; only the answers come back to the driver."""
        ask = methodcaller("map", function, questions, most_rows)
        answers = self._shards.ask(self._prepared, ask)
        found: Answer = added(answers or [ask(self._nothing)])
        return found

    @property
    def is_weighted(self) -> bool:
        """Whether sequences have weights of their own."""
        return self._prepared.scale is not None

    # ------------------------------------------------------------------ prepare

    def _then(self, step: Step, *, has_ends: bool) -> SparkSource:
        """The same after one more step."""
        prepared = Prepared(has_ends, self._prepared.scale, (*self._prepared.steps, step))
        return SparkSource(self._shards, prepared, **self._about)

    def without_ends(self) -> SparkSource:
        """The same sequences, all of them taken for cut off."""
        if not self._prepared.has_ends:
            return self
        return self._then(methodcaller("with_ends", "cut off"), has_ends=False)

    def recode(self, labels: Sequence[str], *, unknown: Unknown = "error") -> SparkSource:
        """The same events in the codes of another vocabulary, see :meth:`EventSequences.recode`."""
        check_unknown(unknown)
        if tuple(labels) == self.labels:
            return self
        if END not in labels and self._prepared.has_ends:
            return self.without_ends().recode(labels, unknown=unknown)
        if unknown == "error":
            refuse_unknown_labels(self.labels, self.label_counts, labels)
        step = partial(recoded, labels=tuple(labels), unknown=unknown)
        return self._then(step, has_ends=self._prepared.has_ends)


# ---------------------------------------------------------------------- a session of Spark


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
    gc.freeze()  # Spark searches for garbage after every task: let that pass over modules, some 15 ms
    if driver != __version__:
        raise RuntimeError(f"SummarkovVersion: {__version__} on workers, {driver} on the driver")
    return function(batches)


# ---------------------------------------------------------------------- objects as cells


def pack(
    function: Callable[[Any], Any], piece: int | None, batches: Iterable[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """What a function returns for a partition, or an error of ours, in cells of ``piece`` bytes, or one."""
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


@contextlib.contextmanager
def explained() -> Iterator[None]:
    """Let errors of Spark become sentences that say what to do."""
    try:
        yield
    except Exception as error:
        if not type(error).__module__.startswith(("pyspark.", "py4j.")):
            raise
        raise _explain(str(error)) from error


#: What Spark says, and what to do about it; numbers stand for what was found.
_SAID = (
    (
        r"PYTHON_VERSION_MISMATCH.*?in worker[^:]*:? *\(?'?(\d+)(?:\.|, )(\d+)",
        rf"the workers run another Python (\1.\2) than the driver ({_PYTHON}); set PYSPARK_PYTHON to a "
        f"Python {_PYTHON} with summarkov, before the session is started",
    ),
    (
        r"SummarkovVersion: (\S+) on workers, (\S+) on",
        r"the workers have summarkov \1 and the driver \2; install one",
    ),
    (
        r'Cannot run program "([^"]*)"',
        r"the workers cannot start their Python, '\1'; set PYSPARK_PYTHON to one that is there on every "
        "worker, before the session is started",
    ),
    (
        r"No module named '?((?:numpy|pyarrow|summarkov)\b[\w.]*)",
        r"the workers' Python has no module '\1'; install summarkov there (a cluster library, the image "
        "of the executors, or a packed environment in spark.archives), or set PYSPARK_PYTHON to a Python "
        "that has it, before the session is started (the driver's is {executable})",
    ),
    (
        r"No module named '?([\w.]+)",
        r"the workers have no module '\1', which your own code needs; send it with spark.addArtifact or "
        "sc.addPyFile",
    ),
)


def _explain(text: str) -> SummarkovError:
    """An error of Spark as one that says what to do."""
    if "cancelled as part of cancellation of all jobs" in text:  # what Ctrl-C does to Spark's jobs
        raise KeyboardInterrupt
    for pattern, message in _SAID:
        if found := re.search(pattern, text, re.DOTALL):
            return SettingError(found.expand(message).replace("{executable}", sys.executable))
    lines = [line.strip() for line in text.split("JVM stacktrace")[0].splitlines() if line.strip()]
    named = [line for line in lines if re.match(r"[\w.]*(Error|Exception)\b", line)]
    line = (named or lines or [text])[-1 if named else 0]  # of a traceback the last, of others the first
    return DataError(f"Spark could not do its part: {line[:500]}")
