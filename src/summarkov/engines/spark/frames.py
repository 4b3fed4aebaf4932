"""A dataframe as the user has it: its columns, what is in it, and its rows case by case and in order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from summarkov.engines.spark.session import map_partitions
from summarkov.engines.spark.sorted_rows import FRAME, FromText, Sorted, TextKinds
from summarkov.errors import SettingError, UnknownLabelError
from summarkov.io.columns import Columns, choose_columns, refuse_unused_times
from summarkov.io.encoding import encode, missing
from summarkov.io.ordering import sort_keys, text_kinds, unordered
from summarkov.typing import IntArray

#: How many rows of a partition its ids leave room for, in monotonically_increasing_id.
_ROW_BITS = 33


@dataclass(frozen=True)
class Frame:
    """A dataframe and its columns; ``rows`` has those as "case", "event", "order" (if any) and "row".

    "row" increases from row to row of the dataframe, and so tells in which order they came. Where rows have
    no other order and come from files, "file" and "start" come before it: Spark reads large files first, and
    the parts of one in any order.
    """

    frame: Any
    chosen: Columns

    @classmethod
    def of(cls, frame: Any, asked: Columns) -> Frame:
        """Choose the columns."""
        asked.check()
        lists = [name for name, kind in frame.dtypes if kind.startswith("array")]
        chosen = choose_columns(frame.columns, asked, FRAME, list_columns=lists)
        if chosen.event in lists:
            raise SettingError(
                f"column {chosen.event!r} of {FRAME} holds lists; make a row of every event with "
                "pyspark.sql.functions.posexplode, and give the position as order="
            )
        times = [name for name, kind in frame.dtypes if kind.startswith(("timestamp", "date"))]
        refuse_unused_times(chosen, frame.columns, asked, FRAME, time_columns=times)
        if chosen.order is None and asked.order is None:
            raise SettingError(
                f"no column of {FRAME} is recognised as the order, and Spark keeps no order of rows; name "
                "one with order=, or say order=False to take rows of files in the order of the files, and "
                "all others as Spark happens to read them"
            )
        return cls(frame, chosen)

    @cached_property
    def rows(self) -> Any:
        """The columns that are needed, under names of ours."""
        from pyspark.sql import functions as f

        def column(role: str) -> Any:
            name = str(getattr(self.chosen, role)).replace("`", "``")
            return f.col(f"`{name}`").alias(role)

        roles = ["case", "event", *(["order"] if self.has_order else [])]
        where = [] if self.has_order else self._places_in_files()
        return self.frame.select(*map(column, roles), *where, f.monotonically_increasing_id().alias("row"))

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
    def has_order(self) -> bool:
        """Whether there is a column to sort by."""
        return isinstance(self.chosen.order, str)

    def name(self, role: str) -> str:
        """What the user calls a column."""
        return str(getattr(self.chosen, role))

    # ------------------------------------------------------------------ what is in it

    def vocabulary(self, declared: Sequence[str] | None) -> tuple[tuple[str, ...], IntArray]:
        """The labels and N(x) of each; and errors for what has no value, or cannot be read."""
        from pyspark.sql import functions as f

        sample = self.rows.dropna().limit(1).toArrow()  # columns that cannot be read at all
        encode(sample.column("case"), self.name("case"), FRAME)
        if self.has_order and not self._order_is_text:
            sort_keys(sample.column("order"), self.name("order"), FRAME)
        holes = {
            role: f.sum(self._missing(role)).alias(role)
            for role in ("case", "order")
            if role in self.rows.columns
        }
        found = self.rows.groupBy("event").agg(f.count("*").alias("n"), *holes.values()).toArrow()
        for role in ("case", "event", "order"):
            if role == "event":
                column = found.column("event")
                absent = [
                    n
                    for v, n in zip(column.to_pylist(), found.column("n").to_pylist(), strict=True)
                    if v is None or v != v
                ]
            elif role in holes:
                absent = [n for n in found.column(role).to_pylist() if n]
            else:
                continue
            if absent:
                raise missing(sum(absent), self._first_missing(role), self.name(role), FRAME)
        encoded = encode(found.column("event"), self.name("event"), FRAME)
        counts: dict[str, int] = {}
        for code, n in zip(encoded.codes.tolist(), found.column("n").to_pylist(), strict=True):
            counts[encoded.texts[code]] = counts.get(encoded.texts[code], 0) + n
        labels = tuple(sorted(counts)) if declared is None else tuple(declared)
        known = set(labels)
        for label in sorted(counts):
            if label not in known:
                raise UnknownLabelError(label, labels)
        return labels, np.array([counts.get(label, 0) for label in labels], np.int64)

    def _missing(self, role: str) -> Any:
        """1 where a column has no value, else 0."""
        from pyspark.sql import functions as f

        absent = f.col(role).isNull()
        if dict(self.rows.dtypes)[role] in ("float", "double"):
            absent = absent | f.isnan(role)
        return f.when(absent, 1).otherwise(0)

    def _first_missing(self, role: str) -> int:
        """The number of the first row without a value, from 0 on."""
        from pyspark.sql import functions as f

        part = f.shiftright("row", _ROW_BITS).alias("part")
        first = f.min(f.when(self._missing(role) == 1, f.col("row"))).alias("first")
        parts = self.rows.groupBy(part).agg(f.count("*").alias("n"), first).orderBy("part").collect()
        before = 0
        for row in parts:
            if row["first"] is not None:
                return before + int(row["first"]) % (1 << _ROW_BITS)
            before += int(row["n"])
        raise AssertionError("there is one")

    # ------------------------------------------------------------------ in order

    @property
    def _order_is_text(self) -> bool:
        kind = str(dict(self.rows.dtypes)["order"])
        return kind.startswith(("string", "varchar", "char"))

    def sorted(self, labels: tuple[str, ...], n_partitions: int) -> tuple[Any, Sorted]:
        """All rows of a case in one partition, in order, ties as they come; and how to read such rows."""
        from pyspark.sql import functions as f

        rows = self._with_keys() if self.has_order and self._order_is_text else self.rows
        by = [f.col("case")]
        if (
            dict(rows.dtypes)["case"] != "string"
        ):  # what Spark takes for equal may differ as text, such as 0.0 and -0.0
            by.append(f.col("case").cast("string"))
        by += [f.col(name) for name in ("order", "file", "start", "row") if name in rows.columns]
        together = rows.repartition(n_partitions, "case").sortWithinPartitions(*by)
        return together, Sorted(self.name("case"), self.name("event"), FRAME, labels)

    def _with_keys(self) -> Any:
        """The rows with numbers for the text of the order column: of the first kind that all of it fits."""
        found = (
            map_partitions(self.rows.select("order"), TextKinds(), "bits int, value string")
            .toArrow()
            .to_pylist()
        )
        kinds = text_kinds()
        fit = [bit for bit in range(len(kinds)) if all(row["bits"] >> bit & 1 for row in found)]
        if not fit:
            worst = min(found, key=lambda row: row["bits"])
            raise unordered(self.name("order"), FRAME, f"a row holds {worst['value'][:40]!r}")
        number = "double" if str(kinds[fit[0]].type) == "double" else "bigint"
        schema = ", ".join(f"{name} {number if name == 'order' else kind}" for name, kind in self.rows.dtypes)
        return map_partitions(self.rows, FromText(fit[0], self.name("order"), FRAME), schema)
