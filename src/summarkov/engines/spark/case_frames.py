"""Attributes of cases from a second table: one in memory, or a dataframe. Spark joins it to the rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from summarkov.arrow import pa
from summarkov.engines.spark.session import check_frame
from summarkov.errors import DataError, SettingError
from summarkov.io.case_attributes import CASES, CaseTable, case_of, two_rows
from summarkov.io.encoding import Encoded, count, encode

#: Types of columns that name a case and are written as text by Spark as in memory.
_NAMES = ("string", "bigint", "int", "smallint", "tinyint")


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
        from pyspark.sql import functions as f

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
        from pyspark.sql import functions as f

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
