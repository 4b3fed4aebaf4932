"""A dataframe as the user has it: its columns, what is in it, and attributes of cases from a second one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from summarkov.arrow import pa
from summarkov.engines.spark.session import FRAME, check_frame, exceptions, map_partitions
from summarkov.engines.spark.session import functions as f
from summarkov.errors import DataError, SettingError, UnknownLabelError
from summarkov.events.describe import Origin
from summarkov.io.case_attributes import (
    CASES,
    AttributeNames,
    CaseTable,
    attribute_names,
    case_of,
    cuts_of,
    two_rows,
)
from summarkov.io.columns import Columns, choose_columns, refuse_unused_times
from summarkov.io.encoding import Encoded, NoCaseError, count, encode, encode_some, missing, missing_rows
from summarkov.io.ordering import sort_keys
from summarkov.io.rows import LeftOut, origin_of, read_rows
from summarkov.io.ticks import refuse_no_order
from summarkov.io.wanted import Wanted
from summarkov.typing import IntArray

#: How many rows of a partition the numbers of rows leave room for, as in monotonically_increasing_id.
ROW_BITS = 33
#: Nothing but blanks, of whatever script, as Java writes it.
_BLANK = r"(?U)^[\s\x1c-\x1f]*$"
#: Columns with one value per case.
_PER_CASE = ("value", "weight")
#: Types of columns that name a case and are written as text by Spark as in memory.
_NAMES = ("string", "bigint", "int", "smallint", "tinyint")


@dataclass(frozen=True)
class Frame:
    """A dataframe and its columns.

    ``rows`` has those as "case", "event", "order0", "order1", ... (if any) and "row", which increases from
    row to row of the dataframe, and so tells in which order they came. Where rows have no other order and
    come from files, "file" and "start" come before it: Spark reads large files first, and the parts of one in
    any order. ``table`` has attributes of cases, if they are in a second table. ``kept`` are columns of the
    user's to keep beside these, as "kept0", "kept1", ...
    """

    frame: Any
    chosen: Columns
    wanted: Wanted
    table: CaseFrame | None = None
    kept: tuple[str, ...] = ()

    @classmethod
    def of(cls, frame: Any, wanted: Wanted) -> Frame:
        """Choose the columns."""
        lists = [name for name, kind in frame.dtypes if kind.startswith("array")]
        chosen = choose_columns(frame.columns, wanted.columns, FRAME, list_columns=lists)
        chosen = replace(chosen, other_lifecycle=None)  # to look at it would take a pass
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
        wanted, table = wanted.for_columns(chosen), None
        if wanted.cases is not None:
            table = CaseFrame.of(wanted.cases, wanted.columns.case, frame.sparkSession)
            wanted = replace(wanted, cases=table.names)
            if table.moves_rows and not chosen.order:
                raise SettingError(
                    f"the rows of {FRAME} have no order column, and joining {table.source} to them may move "
                    "them; name the order with order=, or give the attributes as a table in memory"
                )
        return cls(frame, chosen, wanted, table)

    @cached_property
    def roles(self) -> dict[str, str]:
        """The columns that are needed, by names of ours: what the user calls each."""
        assert self.chosen.case is not None
        found = {"case": self.chosen.case}
        found |= {f"event{at}": name for at, name in enumerate(self.chosen.event)}
        found |= {f"order{at}": name for at, name in enumerate(self.chosen.order or ())}
        attributes = self.chosen.attributes if self.table is None else self.table.names
        found |= {f"value{at}": name for at, name in enumerate(attributes)}
        others = {role: getattr(self.chosen, role) for role in ("weight", "lifecycle")}
        return found | {role: name for role, name in others.items() if name is not None}

    @property
    def order(self) -> list[str]:
        """The columns to sort by, by names of ours."""
        return [role for role in self.roles if role.startswith("order")]

    @cached_property
    def given(self) -> Any:
        """The columns that are needed or kept as they are, under names of ours, and "row"."""

        def column(role: str, name: str) -> Any:
            quoted = name.replace("`", "``")
            return f.col(f"`{quoted}`").alias(role)

        of_rows = [role for role in self.roles if self.table is None or not role.startswith("value")]
        each = [column(role, self.roles[role]) for role in of_rows]
        each += [column(f"kept{at}", name) for at, name in enumerate(self.kept)]
        where = [] if self.order else self._places_in_files()
        found = self.frame.select(*each, *where, f.monotonically_increasing_id().alias("row"))
        return found if self.table is None else self.table.joined_to(found)

    def _places_in_files(self) -> list[Any]:
        """Columns for the file of a row and the start of its part of the file, if Spark can tell these."""
        places = [
            f.col("_metadata.file_path").alias("file"),
            f.col("_metadata.file_block_start").alias("start"),
        ]
        try:
            _ = self.frame.select(*places).columns
        except exceptions.AnalysisException:
            return []
        return places

    @property
    def _all_rows(self) -> bool:
        """Whether every row is an event, with its label in one column."""
        return (
            len(self.chosen.event) == 1 and self.chosen.lifecycle is None and self.wanted.missing == "error"
        )

    @cached_property
    def rows(self) -> Any:
        """The rows that are not left out, with one label each."""
        if self._all_rows:
            return self.given.withColumnRenamed("event0", "event")
        names = [name for name in self.given.columns if not name.startswith(("event", "lifecycle"))]
        schema = self.given.select(names).schema.add("event", "string")
        return map_partitions(self.given, OneLabel(self.chosen, self.wanted, self.roles), schema)

    # ------------------------------------------------------------------ what is in it

    def vocabulary(
        self, declared: Sequence[str] | None, *, whole: bool = True
    ) -> tuple[tuple[str, ...], IntArray]:
        """The labels and N(x) of each; and errors for what has no value, or cannot be read.

        Without ``whole`` only the columns are read that this needs: rows that lack a case or a number to
        order them by are found when these are.
        """
        sample = self.given.dropna(subset=["case", *self.order]).limit(1).toArrow()  # cannot be read at all?
        encode(sample.column("case"), self.roles["case"], FRAME)
        for role in self.order:
            if not self.is_text(role):
                sort_keys(sample.column(role), self.roles[role], FRAME)
        roles = [role for role in ("case", *self.order) if whole or (role != "case" and self.is_text(role))]
        holes = [f.sum(self._missing(role)).alias(role) for role in roles if self._all_rows]
        if not self._all_rows:  # else missing values are looked for in the same pass
            self.refuse_missing()
        found = self.rows.groupBy("event").agg(f.count("*").alias("n"), *holes).toArrow()
        absent = [sum(column.to_pylist()) for column in found.columns[2:]]
        if len(missing_rows(found.column("event"))) or any(absent):
            self.refuse_missing()
        encoded = encode(found.column("event"), self.roles["event0"], FRAME)
        counts: dict[str, int] = {}
        for code, n in zip(encoded.codes.tolist(), found.column("n").to_pylist(), strict=True):
            counts[encoded.texts[code]] = counts.get(encoded.texts[code], 0) + n
        labels = tuple(sorted(counts)) if declared is None else tuple(declared)
        known = set(labels)
        for label in sorted(counts):
            if label not in known:
                raise UnknownLabelError(label, labels)
        return labels, np.array([counts.get(label, 0) for label in labels], np.int64)

    def origin(self, n_events: int) -> Origin:
        """How the events are read; ``n_events`` are not left out."""
        left_out = LeftOut()
        if self.wanted.lifecycle is not None or self.wanted.missing == "skip":
            n = self.given.count()
            if self.wanted.missing == "skip":
                left_out.caseless = self.given.where(self._no_case()).count()
            if self.wanted.lifecycle is not None:
                other = (f.lower("lifecycle") != self.wanted.lifecycle.lower()) & ~self._no_case()
                left_out.lifecycle = self.given.where(other).count()
                left_out.lifecycles = {row[0] for row in self.given.select("lifecycle").distinct().take(8)}
            left_out.unlabelled = n - left_out.lifecycle - left_out.caseless - n_events
            left_out.refuse_all(self.wanted, n_events, FRAME)
        return origin_of(self.chosen, left_out)

    def refuse_missing(self) -> None:
        """Refuse columns without a value in some rows, unless that is allowed."""
        needed = [
            role
            for role in self.roles
            if not role.startswith(("event", "value", "weight"))
            or (role.startswith("event") and self.wanted.missing == "error")
        ]
        (holes,) = self.given.agg(*(f.sum(self._missing(role)).alias(role) for role in needed)).collect()
        for role in needed:
            if holes[role]:
                told = NoCaseError if role == "case" else missing
                raise told(int(holes[role]), self._first_missing(role), self.roles[role], FRAME)

    def _no_case(self) -> Any:
        """Whether a row names no case, as :func:`caseless_rows` has it."""
        absent = self._absent("case")
        return absent | f.col("case").rlike(_BLANK) if self.is_text("case") else absent

    def _absent(self, role: str) -> Any:
        """Whether a column has no value."""
        absent = f.col(role).isNull()
        return absent | f.isnan(role) if dict(self.given.dtypes)[role] in ("float", "double") else absent

    def _missing(self, role: str) -> Any:
        """1 where a column has no value in a row that is not left out, else 0."""
        if self.wanted.missing == "skip":
            absent = f.lit(False) if role == "case" else self._absent(role) & ~self._no_case()
        else:
            absent = self._no_case() if role == "case" else self._absent(role)
        return f.when(absent, 1).otherwise(0)

    def _first_missing(self, role: str) -> int:
        """The number of the first row without a value, from 0 on."""
        part = f.shiftright("row", ROW_BITS).alias("part")
        first = f.min(f.when(self._missing(role) == 1, f.col("row"))).alias("first")
        parts = self.given.groupBy(part).agg(f.count("*").alias("n"), first).orderBy("part").collect()
        before = 0
        for row in parts:
            if row["first"] is not None:
                return before + int(row["first"]) % (1 << ROW_BITS)
            before += int(row["n"])
        raise AssertionError("there is one")

    def is_text(self, role: str) -> bool:
        """Whether a column holds text."""
        kind = str(dict(self.given.dtypes)[role])
        return kind.startswith(("string", "varchar", "char"))

    def attributes(self) -> AttributeNames | None:
        """The names of attributes, and which of them values have; the values of each come to the driver."""
        columns, source = {}, FRAME if self.table is None else self.table.source
        for role in (role for role in self.roles if role.startswith("value")):
            one = self.rows.groupBy("case").agg(f.min(role).alias(role))  # workers see whether it changes
            found = one.groupBy(role).agg(f.count("*").alias("n")).toArrow()
            values = encode_some(found.column(role), self.roles[role], source)
            times = np.array(found.column("n").to_pylist(), np.int64)
            columns[self.roles[role]] = Encoded(np.repeat(values.codes, times), values.texts)
        if not columns:
            return None
        named = attribute_names(columns, self.wanted, source)
        for name, cuts in cuts_of(named.names).items() if self.wanted.gap is not None else ():
            if cuts is not None and name not in self.wanted.cuts:
                raise SettingError(
                    f"numbers of {name!r} would be cut at quartiles of the sessions, which are not known "
                    f"yet; say where to cut them with cuts={{{name!r}: [...]}}"
                )
        return named


@dataclass(frozen=True)
class OneLabel:
    """Leaves out rows, and joins labels, as every reader does."""

    chosen: Columns
    wanted: Wanted
    roles: dict[str, str]

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The rows that are kept: columns "case", those of the order, "row" and "event"."""
        for batch in batches:
            chosen = replace(self.chosen, weight=None, attributes=())
            needed = {role: name for role, name in self.roles.items() if not role.startswith(_PER_CASE)}
            table = pa.table({name: batch.column(role) for role, name in needed.items()})
            rows = read_rows(table, chosen, self.wanted, FRAME, LeftOut())
            names = [name for name in batch.schema.names if not name.startswith(("event", "lifecycle"))]
            kept = batch.select(names)
            kept = kept if rows.kept is None else kept.filter(pa.array(rows.kept))
            labels = pa.array([rows.event.texts[code] for code in rows.event.codes.tolist()], pa.string())
            yield pa.record_batch([*kept.columns, labels], [*names, "event"])


# ---------------------------------------------------------------------- attributes from a second table


@dataclass(frozen=True)
class CaseFrame:
    """A dataframe with the columns "case", which are all different, and "value0", "value1", ...

    ``moves_rows`` says that rows may come in another order once it is joined to them.
    """

    frame: Any
    names: tuple[str, ...]  # what the user calls the values
    source: str
    moves_rows: bool

    @classmethod
    def of(cls, table: Any, case: str | None, session: Any) -> CaseFrame:
        """Take a dataframe as it is, and give the session a table that is in memory."""
        if not hasattr(table, "sparkSession"):
            return cls._of_table(CaseTable.of(table, case), session)

        check_frame(table)
        named = case_of(table.columns, case, CASES)
        names = tuple(name for name in table.columns if name != named)
        columns = [f.col(f"`{name.replace('`', '``')}`") for name in (named, *names)]
        values = [column.alias(f"value{at}") for at, column in enumerate(columns[1:])]
        frame = table.select(columns[0].alias("case"), *values)
        found = frame.groupBy("case").count().where("count > 1 or case is null").limit(1).toArrow()
        if found.num_rows:
            if found.column("case").null_count:
                n = count(found.column("count")[0].as_py(), "row")
                raise DataError(f"column {named!r} of {CASES} has no value in {n}; fill or drop them")
            raise two_rows(encode(found.column("case"), named, CASES).texts[0], CASES)
        return cls(frame, names, CASES, moves_rows=True)

    @classmethod
    def _of_table(cls, table: CaseTable, session: Any) -> CaseFrame:
        """Values and names as texts, as they are compared in memory; every executor gets all of them."""
        columns = {"case": pa.array([*table.rows], pa.string())}
        for at, column in enumerate(table.columns.values()):
            columns[f"value{at}"] = _texts(column)
        frame = f.broadcast(session.createDataFrame(pa.table(columns)))
        return cls(frame, (*table.columns,), table.source, moves_rows=False)

    def joined_to(self, rows: Any) -> Any:
        """Rows of events with the values of their case; missing where the table has no row of it."""
        kinds = [dict(frame.dtypes)["case"] for frame in (self.frame, rows)]
        if kinds[0] == kinds[1]:
            return rows.join(self.frame, "case", "left")
        for kind in kinds:
            if kind not in _NAMES:
                raise SettingError(
                    f"the column that names the case is {kinds[1]} in the dataframe and {kinds[0]} in "
                    f"{self.source}; turn both into text, so that they can be compared"
                )
        other = self.frame.withColumnRenamed("case", "other")
        return rows.join(other, rows["case"].cast("string") == other["other"].cast("string"), "left").drop(
            "other"
        )


def _texts(column: Encoded) -> Any:
    return pa.array(column.texts, pa.string()).take(pa.array(column.codes, mask=column.codes < 0))
