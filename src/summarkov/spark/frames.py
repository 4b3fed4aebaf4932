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
from summarkov.errors import SettingError, SummarkovError
from summarkov.events import EventSequences
from summarkov.events.describe import Origin
from summarkov.events.ends import AskedEnds
from summarkov.read import read_events
from summarkov.read.case_attributes import CaseTable
from summarkov.read.columns import TABLE, Columns, choose_columns, refuse_unused_times
from summarkov.read.date_formats import family_of, is_text
from summarkov.read.encoding import Encoded, caseless_rows, encode_some
from summarkov.read.rows import changes, text_of
from summarkov.read.ticks import refuse_no_order
from summarkov.read.wanted import Wanted
from summarkov.spark.session import FRAME, check_frame, exceptions
from summarkov.spark.session import functions as f

#: Names of the columns that say in which order rows came: the file, the part of it, and the row.
CAME = ("summarkov_file", "summarkov_start", "summarkov_row")
#: How Spark calls types of text; such columns are put in order by the workers.
_TEXT = ("string", "varchar", "char")
#: What workers are not asked for, as it is known from all partitions alone.
_OF_ALL = ("labels", "attributes", "cuts", "missing_attributes", "closed_by")
#: Bytes of a shard in one cell.
_PIECE = 1 << 20


@dataclass(frozen=True)
class Frame:
    """The rows of a dataframe, with the columns that are needed, and how to read them.

    ``names`` are those of the columns of ``rows``, which have plain names there: Spark maps over no others.
    ``values`` are the columns of attributes, and ``table`` has attributes that are in memory.
    """

    rows: Any
    names: tuple[str, ...]
    chosen: Columns
    wanted: Wanted
    reading: Mapping[str, Any]
    values: tuple[str, ...] = ()
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
        names, came = tuple(dict.fromkeys([*chosen.names(), *keep])), _came(frame)
        columns = [column_of(name).alias(f"column{at}") for at, name in enumerate(names)]
        rows = frame.select(*columns, *(column.alias(name) for name, column in came.items()))
        asked = wanted.ends or AskedEnds.default()
        if hasattr(wanted.cases, "sparkSession"):
            raise SettingError(
                "attributes= takes columns of the dataframe, or a table in memory; join the dataframe of "
                "attributes to that of events, frame.join(attributes, case, 'left'), and name its columns"
            )
        table = None if wanted.cases is None else CaseTable.of(wanted.cases, wanted.columns.case)
        values = tuple(name for name in chosen.attributes if name != asked.column)
        settings = {name: value for name, value in reading.items() if name not in _OF_ALL}
        settings |= {"case": chosen.case, "event": [*chosen.event], "order": [*(chosen.order or ())] or False}
        settings["ends"] = "cut off" if asked.cut_off else "complete"
        if wanted.ties == "error":  # which only all partitions together can tell
            settings["ties"] = "in row order"
        return cls(rows, (*names, *came), chosen, wanted, settings, values, table)

    def by_case(self, n_partitions: int) -> Any:
        """All rows of a case in one partition, in order, those with one place as they came."""
        kinds = dict(zip(self.names, (kind for _, kind in self.rows.dtypes), strict=True))
        order = [name for name in self.chosen.order or () if not kinds[name].startswith(_TEXT)]
        by = [self.column(name) for name in (str(self.chosen.case), *order, *CAME) if name in self.names]
        return self.rows.repartition(n_partitions, by[0]).sortWithinPartitions(*by)

    def column(self, name: str) -> Any:
        """A column of the rows, by the user's name."""
        return f.col(self.rows.columns[self.names.index(name)])

    def shards(self) -> ReadShard:
        """What reads a partition."""
        closed_by = () if self.wanted.ends is None else self.wanted.ends.closed_by
        case, lifecycle = str(self.chosen.case), self.chosen.lifecycle
        return ReadShard(self.names, dict(self.reading), case, lifecycle, self.values, self.table, closed_by)


def column_of(name: str | None) -> Any:
    return f.col(f"`{str(name).replace('`', '``')}`")


def _came(frame: Any) -> dict[str, Any]:
    """What says in which order rows came: for rows of files the file and the part of it; always a number.

    Spark reads large files first, and the parts of one in any order.
    """
    row = {CAME[2]: f.monotonically_increasing_id()}
    places = {CAME[0]: f.col("_metadata.file_path"), CAME[1]: f.col("_metadata.file_block_start")}
    logger = logging.getLogger("DataFrameQueryContextLogger")  # of pyspark, which prints what is expected
    before, logger.disabled = logger.disabled, True
    try:
        _ = frame.select(*places.values()).columns
    except exceptions.AnalysisException:
        return row
    finally:
        logger.disabled = before
    return places | row


# ---------------------------------------------------------------------- on a worker


@dataclass(frozen=True)
class Shard:
    """The cases of a partition: events in their own vocabulary, and raw values of attributes by column."""

    events: EventSequences
    values: dict[str, Encoded]
    families: tuple[str, ...] = ()  # what text in order columns is: "number", "date", ...
    lifecycles: tuple[str, ...] = ()  # some that there are, where none is as asked


@dataclass(frozen=True)
class ReadShard:
    """Reads the rows of a partition as memory would; see :class:`Frame`."""

    names: tuple[str, ...]
    reading: dict[str, Any]
    case: str
    lifecycle: str | None
    values: tuple[str, ...]
    table: CaseTable | None
    closed_by: tuple[str, ...]

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[bytes]:
        """The shard, pickled and in pieces; nothing of a partition without rows."""
        table = self.table_of(batches)
        if table is not None:
            with retold():
                packed = memoryview(pickle.dumps(self.read(table), protocol=5))
            for start in range(0, len(packed), _PIECE):
                yield bytes(packed[start : start + _PIECE])

    def table_of(self, batches: Iterable[pa.RecordBatch]) -> pa.Table | None:
        """The rows of a partition, under the user's names; None if there are none."""
        held = [batch for batch in batches if batch.num_rows]
        return pa.Table.from_batches(held).rename_columns(list(self.names)) if held else None

    def read(self, table: pa.Table) -> Shard:
        """The shard of some rows."""
        if lifecycles := self._others(table):
            caseless = len(caseless_rows(table.column(self.case)))
            origin = Origin(caseless=caseless, other_lifecycle=table.num_rows - caseless)
            return Shard(EventSequences([], [0], [], origin=origin), {}, (), lifecycles)
        events = self.events(table)
        if self.closed_by:
            known = [label for label in self.closed_by if label in events.labels]
            closed = read_events(events, closed_by=known).complete if known else np.zeros(len(events), bool)
            events = events.with_ends(events.complete & closed)
        cases: Sequence[str] = events.ids
        if self.reading.get("session_gap") is not None:  # called as their case, with a number after it
            cases = [name.rpartition("/")[0] for name in cases]
        values = self._per_case(table, cases) if self.table is None else self.table.values(cases)
        order = [table.column(name).drop_null() for name in self.reading["order"] or ()]
        texts = [column[0].as_py() for column in order if is_text(column.type) and len(column)]
        return Shard(events, values, tuple(family_of(text.strip()) for text in texts))

    def events(self, table: pa.Table) -> EventSequences:
        """The events of some rows."""
        others = {*CAME, *self.values}
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
        for name in self.values:
            value = encode_some(table.column(name), name, FRAME)
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
        text = re.sub(r"in \d+ rows?, the first is row \d+ \([^)]*\)", "in some rows", str(error.args[0]))
        text = re.sub(r" in row \d+ of the data", "", text)
        text = re.sub(r"\brow \d+( of the data)?", "a row", text)
        error.args = (text.replace(TABLE, FRAME), *error.args[1:])
        raise


def counted(values: Encoded) -> Counter[str | None]:
    """How many sequences have each value; None is a missing one."""
    numbers = np.bincount(values.codes + 1, minlength=len(values.texts) + 1).tolist()
    return Counter(dict(zip((None, *values.texts), numbers, strict=True)))
