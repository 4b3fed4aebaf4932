"""A dataframe as the user has it, and how a worker reads the cases of one partition."""

from __future__ import annotations

import logging
import pickle
import re
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from summarkov.arrow import pa
from summarkov.errors import DataError, SettingError, SummarkovError
from summarkov.events import EventSequences
from summarkov.events.describe import Origin
from summarkov.events.ends import AskedEnds
from summarkov.read import read_events
from summarkov.read.case_attributes import CASES, CaseTable, case_of, two_rows
from summarkov.read.columns import TABLE, Columns, choose_columns, refuse_unused_times
from summarkov.read.encoding import Encoded, caseless_rows, count, encode_some
from summarkov.read.rows import changes, text_of
from summarkov.read.ticks import refuse_no_order
from summarkov.read.wanted import Wanted
from summarkov.spark.session import FRAME, check_frame, exceptions
from summarkov.spark.session import functions as f

#: Names of the columns that say in which order rows came: the file, the part of it, and the row.
CAME = ("summarkov file", "summarkov start", "summarkov row")
#: Nothing but blanks, of whatever script, as Java writes it.
_BLANK = r"(?U)^[\s\x1c-\x1f]*$"
#: Types of columns that name a case and are written as text by Spark as in memory.
_NAMES = ("string", "bigint", "int", "smallint", "tinyint")
#: What workers are not asked for, as it is known from all partitions alone.
_OF_ALL = ("labels", "attributes", "cuts", "missing_attributes", "closed_by")
#: Bytes of a shard in one cell.
_PIECE = 1 << 20


@dataclass(frozen=True)
class Frame:
    """The rows of a dataframe, with the columns that are needed under their own names, and how to read them.

    ``values`` are the attributes: what the user calls each, and the column of ``rows`` that has it.
    ``table`` has attributes that are in memory.
    """

    rows: Any
    chosen: Columns
    wanted: Wanted
    reading: Mapping[str, Any]
    values: tuple[tuple[str, str], ...] = ()
    table: CaseTable | None = None

    @classmethod
    def of(cls, frame: Any, reading: Mapping[str, Any], keep: Sequence[str] = ()) -> Frame:
        """Choose the columns; ``keep`` are others to keep beside them."""
        check_frame(frame)
        wanted = Wanted.of(**reading)
        lists = [name for name, kind in frame.dtypes if kind.startswith("array")]
        chosen = choose_columns(frame.columns, wanted.columns, FRAME, list_columns=lists)
        chosen = replace(chosen, other_lifecycle=None)  # nobody asked for it
        if chosen.event[0] in lists:
            raise SettingError(
                f"column {chosen.event[0]!r} of {FRAME} holds lists; make a row of every event with "
                "pyspark.sql.functions.posexplode, and give the position as order="
            )
        if not chosen.order:
            refuse_no_order(wanted, FRAME)
        times = [name for name, kind in frame.dtypes if kind.startswith(("timestamp", "date"))]
        refuse_unused_times(chosen, frame.columns, wanted.columns, FRAME, time_columns=times)
        if not chosen.order and wanted.columns.order is None:
            raise SettingError(
                f"no column of {FRAME} is recognised as the order, and Spark keeps no order of rows; name "
                "one with order=, or say order=False to take rows of files in the order of the files, and "
                "all others as Spark happens to read them"
            )
        wanted = wanted.for_columns(chosen)
        names = dict.fromkeys([*chosen.names(), *keep])
        rows = frame.select(*(_column(name).alias(name) for name in names), *_came(frame))
        asked = wanted.ends or AskedEnds.default()
        values = tuple((name, name) for name in chosen.attributes if name != asked.column)
        table = None
        if hasattr(wanted.cases, "sparkSession"):
            rows, values = _joined(rows, wanted.cases, str(chosen.case), wanted.columns.case)
        elif wanted.cases is not None:
            table = CaseTable.of(wanted.cases, wanted.columns.case)
        settings = {name: value for name, value in reading.items() if name not in _OF_ALL}
        settings |= {"case": chosen.case, "event": [*chosen.event], "order": [*(chosen.order or ())] or False}
        settings["ends"] = "cut off" if asked.cut_off else "complete"
        if wanted.ties == "error":  # which only all partitions together can tell
            settings["ties"] = "in row order"
        return cls(rows, chosen, wanted, settings, values, table)

    def by_case(self, n_partitions: int) -> Any:
        """All rows of a case in one partition, in order, those with one place as they came."""
        order = [name for name in self.chosen.order or () if not self._is_text(name)]
        by = [_column(name) for name in (self.chosen.case, *order)]
        by += [_column(name) for name in CAME if name in self.rows.columns]
        return self.rows.repartition(n_partitions, _column(self.chosen.case)).sortWithinPartitions(*by)

    def shards(self) -> ReadShard:
        """What reads a partition."""
        closed_by = () if self.wanted.ends is None else self.wanted.ends.closed_by
        case, lifecycle = str(self.chosen.case), self.chosen.lifecycle
        return ReadShard(dict(self.reading), case, lifecycle, self.values, self.table, closed_by)

    def check(self) -> int:
        """The number of rows; refuse columns without values, and text that cannot be put in order."""
        needed = [self.chosen.case, self.chosen.lifecycle, *(self.chosen.order or ())]
        needed += self.chosen.event if self.wanted.missing == "error" else ()
        names = [name for name in dict.fromkeys(needed) if name is not None]
        absent = [f.sum(self._absent(name).cast("long")).alias(f"n{at}") for at, name in enumerate(names)]
        (row,) = self.rows.agg(f.count("*"), *absent).collect()
        for name, n in zip(names, row[1:], strict=True):
            if n and name == self.chosen.case:
                raise DataError(
                    f"column {name!r} of {FRAME} has no value, or only blanks, in {count(n, 'row')}; fill "
                    "them, or leave these rows out with missing='skip'"
                )
            if n:
                raise DataError(
                    f"column {name!r} of {FRAME} has no value in {count(n, 'row')}; fill or drop them"
                )
        for name in self.chosen.order or ():
            if self._is_text(name):
                self._check_text(name)
        return int(row[0])

    def _absent(self, name: str) -> Any:
        """Whether a column has no value in a row that is not left out."""
        case, skips = str(self.chosen.case), self.wanted.missing == "skip"
        no_case = self._null(case)
        if self._is_text(case):
            no_case = no_case | _column(case).rlike(_BLANK)
        if name == case:
            return f.lit(False) if skips else no_case
        return self._null(name) & ~no_case if skips else self._null(name)

    def _null(self, name: str) -> Any:
        null = _column(name).isNull()
        return null | f.isnan(_column(name)) if self._type(name) in ("float", "double") else null

    def _check_text(self, name: str) -> None:
        """Refuse text that is neither all numbers nor all dates nor all times, from one of each shape."""
        shape = f.regexp_replace(_column(name), "[0-9]", "0").alias("shape")
        rows = self.rows.where(_column(name).isNotNull())
        found = rows.groupBy(shape).agg(f.min(_column(name)).alias("text"))
        texts = found.orderBy("shape").limit(10_000).toArrow().column("text")
        same = pa.array(["-"] * len(texts), pa.string())
        table = pa.table([same, same, texts], names=["case", "event", name])
        with retold(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            read_events(
                table,
                case="case",
                event="event",
                order=name,
                date_format=self.reading.get("date_format"),
                ties="in row order",
            )

    def _type(self, name: str) -> str:
        return str(dict(self.rows.dtypes)[name])

    def _is_text(self, name: str) -> bool:
        return self._type(name).startswith(("string", "varchar", "char"))


def _column(name: str | None) -> Any:
    return f.col(f"`{str(name).replace('`', '``')}`")


def _came(frame: Any) -> list[Any]:
    """What says in which order rows came: for rows of files the file and the part of it; always a number.

    Spark reads large files first, and the parts of one in any order.
    """
    row = f.monotonically_increasing_id().alias(CAME[2])
    places = [f.col("_metadata.file_path").alias(CAME[0]), f.col("_metadata.file_block_start").alias(CAME[1])]
    logger = logging.getLogger("DataFrameQueryContextLogger")  # of pyspark, which prints what is expected
    before, logger.disabled = logger.disabled, True
    try:
        _ = frame.select(*places).columns
    except exceptions.AnalysisException:
        return [row]
    finally:
        logger.disabled = before
    return [*places, row]


def _joined(rows: Any, table: Any, case: str, asked: str | None) -> tuple[Any, tuple[tuple[str, str], ...]]:
    """The rows with the values that another dataframe has for their case; missing where it has no row."""
    check_frame(table)
    named = case_of(table.columns, asked, CASES)
    found = table.groupBy(_column(named).alias("case")).count().where("count > 1 or case is null")
    for row in found.limit(1).collect():
        if row["case"] is None:
            n = count(row["count"], "row")
            raise DataError(f"column {named!r} of {CASES} has no value in {n}; fill or drop them")
        raise two_rows(str(row["case"]), CASES)
    kinds = dict(rows.dtypes)[case], dict(table.dtypes)[named]
    if kinds[0] != kinds[1] and not {*kinds} <= {*_NAMES}:
        raise SettingError(
            f"the column that names the case is {kinds[0]} in the dataframe and {kinds[1]} in {CASES}; turn "
            "both into text, so that they can be compared"
        )
    others = [name for name in table.columns if name != named]
    values = tuple((name, f"summarkov value {at}") for at, name in enumerate(others))
    key = "summarkov case"
    more = table.select(_column(named).cast("string").alias(key), *(_column(a).alias(b) for a, b in values))
    return rows.join(more, _column(case).cast("string") == _column(key), "left").drop(key), values


# ---------------------------------------------------------------------- on a worker


@dataclass(frozen=True)
class Shard:
    """The cases of a partition: events in their own vocabulary, and raw values of attributes by column."""

    events: EventSequences
    values: dict[str, Encoded]
    lifecycles: tuple[str, ...] = ()  # some that there are, where none is as asked


@dataclass(frozen=True)
class ReadShard:
    """Reads the rows of a partition as memory would; see :class:`Frame`."""

    reading: dict[str, Any]
    case: str
    lifecycle: str | None
    values: tuple[tuple[str, str], ...]
    table: CaseTable | None
    closed_by: tuple[str, ...]

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[bytes]:
        """The shard, pickled and in pieces; nothing of a partition without rows."""
        held = [batch for batch in batches if batch.num_rows]
        if held:
            with retold():
                packed = memoryview(pickle.dumps(self.read(pa.Table.from_batches(held)), protocol=5))
            for start in range(0, len(packed), _PIECE):
                yield bytes(packed[start : start + _PIECE])

    def read(self, table: pa.Table) -> Shard:
        """The shard of some rows."""
        if lifecycles := self._others(table):
            caseless = len(caseless_rows(table.column(self.case)))
            origin = Origin(caseless=caseless, other_lifecycle=table.num_rows - caseless)
            return Shard(EventSequences([], [0], [], origin=origin), {}, lifecycles)
        events = self.events(table)
        if self.closed_by:
            known = [label for label in self.closed_by if label in events.labels]
            closed = read_events(events, closed_by=known).complete if known else np.zeros(len(events), bool)
            events = events.with_ends(events.complete & closed)
        cases: Sequence[str] = events.ids
        if self.reading.get("session_gap") is not None:  # called as their case, with a number after it
            cases = [name.rpartition("/")[0] for name in cases]
        if self.table is not None:
            return Shard(events, self.table.values(cases))
        return Shard(events, self._per_case(table, cases))

    def events(self, table: pa.Table) -> EventSequences:
        """The events of some rows."""
        others = {*CAME, *(column for _, column in self.values)} - {self.case}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of ties, which the driver counts
            return read_events(
                table.select([name for name in table.column_names if name not in others]), **self.reading
            )

    def _others(self, table: pa.Table) -> tuple[str, ...]:
        """Some of the lifecycles of these rows, if none of them is the one that is asked for."""
        if self.lifecycle is None:
            return ()
        found = encode_some(table.column(self.lifecycle), self.lifecycle, FRAME).texts
        asked = str(self.reading["lifecycle"]).casefold()
        return () if any(text.casefold() == asked for text in found) else tuple(sorted(found)[:8])

    def _per_case(self, table: pa.Table, cases: Sequence[str]) -> dict[str, Encoded]:
        """The value of every case in each column; refused if it changes."""
        if not self.values:
            return {}
        named = encode_some(table.column(self.case), self.case, FRAME)
        first = np.full(len(named.texts) + 1, -1)
        first[named.codes[::-1]] = np.arange(len(named.codes))[::-1]
        place = dict(zip(named.texts, first.tolist(), strict=False))
        rows, found = np.array([place[name] for name in cases], np.int64), {}
        for name, column in self.values:
            value = encode_some(table.column(column), name, FRAME)
            other = np.flatnonzero((value.codes != value.codes[first[named.codes]]) & (named.codes >= 0))
            if len(other):
                code, row = named.codes[other[0]], other[0]
                texts = (text_of(value, value.codes[at]) for at in (first[code], row))
                raise changes(name, named.texts[code], FRAME, *texts)
            found[name] = Encoded(value.codes[rows], value.texts)
        return found


@contextmanager
def retold() -> Iterator[None]:
    """Let errors about the table of a worker be about the dataframe, whose rows have no numbers."""
    try:
        yield
    except SummarkovError as error:
        text = re.sub(r" in row \d+ of the data", "", str(error.args[0]))
        text = re.sub(r"\brow \d+( of the data)?", "a row", text)
        error.args = (text.replace(TABLE, FRAME), *error.args[1:])
        raise


def counted(values: Encoded) -> Counter[str | None]:
    """How many sequences have each value; None is a missing one."""
    numbers = np.bincount(values.codes + 1, minlength=len(values.texts) + 1).tolist()
    return Counter(dict(zip((None, *values.texts), numbers, strict=True)))
