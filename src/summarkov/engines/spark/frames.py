"""A dataframe as the user has it: its columns, what is in it, and its rows case by case and in order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from summarkov.engines.spark.case_frames import CaseFrame
from summarkov.engines.spark.session import FRAME, map_partitions
from summarkov.engines.spark.sorted_rows import FromText, OneLabel, Sorted, TextKinds
from summarkov.engines.spark.sorting import PLACE, ROW_BITS, Packing, Sorting
from summarkov.errors import SettingError, UnknownLabelError
from summarkov.events.describe import Origin
from summarkov.io.case_attributes import AttributeNames, attribute_names, cuts_of
from summarkov.io.columns import Columns, choose_columns, refuse_unused_times
from summarkov.io.date_formats import text_kinds, unordered
from summarkov.io.encoding import Encoded, encode, encode_some, missing, missing_rows
from summarkov.io.ordering import sort_keys
from summarkov.io.rows import LeftOut, origin_of
from summarkov.io.ticks import refuse_no_order
from summarkov.io.wanted import Wanted
from summarkov.typing import IntArray


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
        others = {role: getattr(self.chosen, role) for role in ("period", "weight", "lifecycle")}
        return found | {role: name for role, name in others.items() if name is not None}

    @property
    def order(self) -> list[str]:
        """The columns to sort by, by names of ours."""
        return [role for role in self.roles if role.startswith("order")]

    @cached_property
    def given(self) -> Any:
        """The columns that are needed or kept as they are, under names of ours, and "row"."""
        from pyspark.sql import functions as f

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
        from pyspark.errors import AnalysisException
        from pyspark.sql import functions as f

        places = [
            f.col("_metadata.file_path").alias("file"),
            f.col("_metadata.file_block_start").alias("start"),
        ]
        try:
            _ = self.frame.select(*places).columns
        except AnalysisException:
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
        return map_partitions(self.given, OneLabel(self.chosen, self.wanted, self.roles, FRAME), schema)

    # ------------------------------------------------------------------ what is in it

    def vocabulary(
        self, declared: Sequence[str] | None, *, whole: bool = True
    ) -> tuple[tuple[str, ...], IntArray]:
        """The labels and N(x) of each; and errors for what has no value, or cannot be read.

        Without ``whole`` only the columns are read that this needs: rows that lack a case or a number to
        order them by are found when these are.
        """
        from pyspark.sql import functions as f

        sample = self.given.dropna(subset=["case", *self.order]).limit(1).toArrow()  # cannot be read at all?
        encode(sample.column("case"), self.roles["case"], FRAME)
        for role in self.order:
            if not self._is_text(role):
                sort_keys(sample.column(role), self.roles[role], FRAME)
        roles = [role for role in ("case", *self.order) if whole or (role != "case" and self._is_text(role))]
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
        from pyspark.sql import functions as f

        left_out = LeftOut()
        if self.wanted.lifecycle is not None or self.wanted.missing == "skip":
            n = self.given.count()
            if self.wanted.lifecycle is not None:
                other = f.lower("lifecycle") != self.wanted.lifecycle.lower()
                left_out.lifecycle = self.given.where(other).count()
                left_out.lifecycles = {row[0] for row in self.given.select("lifecycle").distinct().take(8)}
            left_out.unlabelled = n - left_out.lifecycle - n_events
            left_out.refuse_all(self.wanted, n_events, FRAME)
        return origin_of(self.chosen, left_out)

    def refuse_missing(self) -> None:
        """Refuse columns without a value in some rows, unless that is allowed."""
        from pyspark.sql import functions as f

        needed = [
            role
            for role in self.roles
            if not role.startswith(("event", "value", "weight"))
            or (role.startswith("event") and self.wanted.missing == "error")
        ]
        (holes,) = self.given.agg(*(f.sum(self._missing(role)).alias(role) for role in needed)).collect()
        for role in needed:
            if holes[role]:
                raise missing(int(holes[role]), self._first_missing(role), self.roles[role], FRAME)

    def _missing(self, role: str) -> Any:
        """1 where a column has no value, else 0."""
        from pyspark.sql import functions as f

        absent = f.col(role).isNull()
        if dict(self.given.dtypes)[role] in ("float", "double"):
            absent = absent | f.isnan(role)
        return f.when(absent, 1).otherwise(0)

    def _first_missing(self, role: str) -> int:
        """The number of the first row without a value, from 0 on."""
        from pyspark.sql import functions as f

        part = f.shiftright("row", ROW_BITS).alias("part")
        first = f.min(f.when(self._missing(role) == 1, f.col("row"))).alias("first")
        parts = self.given.groupBy(part).agg(f.count("*").alias("n"), first).orderBy("part").collect()
        before = 0
        for row in parts:
            if row["first"] is not None:
                return before + int(row["first"]) % (1 << ROW_BITS)
            before += int(row["n"])
        raise AssertionError("there is one")

    # ------------------------------------------------------------------ in order

    def _is_text(self, role: str) -> bool:
        kind = str(dict(self.given.dtypes)[role])
        return kind.startswith(("string", "varchar", "char"))

    def attributes(self) -> AttributeNames | None:
        """The names of attributes, and which of them values have; the values of each come to the driver."""
        from pyspark.sql import functions as f

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

    def sorted(
        self,
        labels: tuple[str, ...],
        n_partitions: int,
        heads: Sequence[dict[str | None, int]] = (),
        memory: int | None = None,
    ) -> tuple[Any, Sorted]:
        """All rows of a case in one partition, in order, ties as they come; and how to read such rows.

        ``heads`` are the codes of attributes, by column and by the text of a value. Spark sorts, and spills
        to disk where it must; or the workers do, in that much ``memory``, in less time: then rows are packed.
        """
        from pyspark.sql import functions as f

        rows, kind, gap = self.rows, None, None
        for role in self.order:
            if self._is_text(role):
                rows, found = self._with_keys(rows, role)
            else:
                found = self.given.select(role).limit(0).toArrow().schema.field(role).type
            kind = found if role == "order0" else kind
        sorting = None
        if memory is None:
            together = self._sorted_by_spark(rows, n_partitions)
        else:
            part = f.pmod(f.hash("case"), f.lit(n_partitions)).alias("part")
            orders = tuple((role, self.roles[role]) for role in self.order)
            packing = Packing((("case", self.roles["case"]), *orders), FRAME, labels, n_partitions, memory)
            if self.table is not None and self.table.moves_rows:
                rows, orders = rows.withColumnRenamed("row", "came"), (*orders, ("came", "row"))
            schema = rows.select([name for name in ("case", *PLACE) if name in rows.columns]).schema
            schema = schema.add("row", "long").add("rows", "binary").add("error", "binary")
            packed = map_partitions(rows.drop("row").select("*", part), packing, schema)
            together = packed.repartition(n_partitions, "case")
            sorting = Sorting(orders, FRAME, labels, memory)
        names = tuple(self.roles[role] for role in self.roles if role.startswith("value"))
        if self.wanted.gap is not None:
            gap = self.wanted.gap.in_keys(kind, self.roles["order0"], FRAME)
        return together, Sorted(
            self.roles["case"],
            self.roles["event0"],
            FRAME,
            labels,
            self.wanted.ties == "together",
            (kind, self.roles["order0"]) if self.wanted.times and kind is not None else None,
            tuple(zip(names, heads, strict=False)),
            sorting,
            self.chosen.period,
            self.chosen.weight,
            gap,
        )

    def _sorted_by_spark(self, rows: Any, n_partitions: int) -> Any:
        """All rows of a case in one partition, in order."""
        from pyspark.sql import functions as f

        by = [f.col("case")]
        if dict(rows.dtypes)["case"] != "string":
            by.append(f.col("case").cast("string"))  # what is equal may differ as text, such as 0.0 and -0.0
        by += [f.col(name) for name in (*self.order, *PLACE, "row") if name in rows.columns]
        return rows.repartition(n_partitions, "case").sortWithinPartitions(*by)

    def _with_keys(self, rows: Any, role: str) -> tuple[Any, Any]:
        """The rows with numbers for the text of an order column: of the first kind that all of it fits.

        Also the type of that kind.
        """
        from pyspark.sql.types import StructType

        stated = self.wanted.date_format
        found = (
            map_partitions(self.given.select(role), TextKinds(stated), "bits int, value string")
            .toArrow()
            .to_pylist()
        )
        kinds = text_kinds(stated)
        fit = [bit for bit in range(len(kinds)) if all(row["bits"] >> bit & 1 for row in found)]
        if not fit:
            worst = min(found, key=lambda row: row["bits"])
            raise unordered(self.roles[role], FRAME, f"a row holds {worst['value'][:40]!r}", stated)
        number = "double" if str(kinds[fit[0]].type) == "double" else "long"
        schema = StructType()
        for field in rows.schema.fields:
            schema.add(field.name, number if field.name == role else field.dataType)
        keyed = map_partitions(rows, FromText(fit[0], stated, role, self.roles[role], FRAME), schema)
        return keyed, kinds[fit[0]].type
