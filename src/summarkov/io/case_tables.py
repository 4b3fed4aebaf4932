"""A second table: attributes of sequences, with one row per case."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from summarkov.arrow import pa
from summarkov.errors import DataError, SettingError
from summarkov.events.attributes import Attributes
from summarkov.io.addresses import name_of
from summarkov.io.case_attributes import attributes_of
from summarkov.io.columns import case_column
from summarkov.io.encoding import Encoded, encode, encode_some, no_labels

if TYPE_CHECKING:
    from summarkov.io.wanted import Wanted

#: How messages call it.
CASES = "the table of attributes"


@dataclass(frozen=True)
class CaseTable:
    """Attributes by the names of cases: all columns of a table but the one that names the case."""

    source: str
    rows: dict[str, int]
    columns: dict[str, Encoded]

    @classmethod
    def of(cls, table: Any, case: str | None) -> CaseTable:
        """Read a table or its file; ``case`` names the case in the events, and perhaps here."""
        source = name_of(table) if isinstance(table, str | os.PathLike) else CASES
        content = _table_of(table, source)
        named = case_of(content.column_names, case, source)
        names = encode(content.column(named), named, source)
        rows: dict[str, int] = {}
        for at, code in enumerate(names.codes.tolist()):
            if rows.setdefault(names.texts[code], at) != at:
                raise two_rows(names.texts[code], source)
        others = [name for name in content.column_names if name != named]
        return cls(source, rows, {name: encode_some(content.column(name), name, source) for name in others})

    def values(self, cases: Sequence[str]) -> dict[str, Encoded]:
        """The columns, with one value per case; missing where the table has no row of it."""
        rows = np.array([self.rows.get(name, -1) for name in cases], np.int64)
        return {
            name: Encoded(np.append(each.codes, -1)[rows], each.texts) for name, each in self.columns.items()
        }


def case_of(names: Sequence[str], asked: str | None, source: str) -> str:
    """The column that names the case; refused if two columns have one name."""
    several = [name for name, n in Counter(names).items() if n > 1]
    if several:
        raise DataError(f"{source} has several columns {several[0]!r}; leave one of them in it")
    return case_column(names, asked, source)


def two_rows(case: str, source: str) -> DataError:
    """The error for a case that is there twice."""
    return DataError(
        f"case {case[:40]!r} has two rows in {source}; attributes have one row per case: keep one"
    )


def attributes_from(table: Any, wanted: Wanted, ids: Sequence[str]) -> Attributes | None:
    """The attributes of sequences from a second table, or its file, with one row per case."""
    found = CaseTable.of(table, wanted.columns.case)
    # Sessions are called as their case, with a number after it.
    cases = ids if wanted.gap is None else [name.rpartition("/")[0] for name in ids]
    return attributes_of(found.values(cases), wanted, found.source, ids)


def _table_of(table: Any, source: str) -> pa.Table:
    from summarkov.io.csv_files import read_whole
    from summarkov.io.files import format_of, open_file
    from summarkov.io.tables import is_table

    if isinstance(table, str | os.PathLike):
        kind = format_of(source, None)
        if kind in ("csv", "tsv"):
            return read_whole(source, kind)
        if kind == "parquet":
            from summarkov.io.parquet_files import parquet_columns, parquet_schema

            with open_file(source) as file:
                schema = parquet_schema(file, source)
                for field in filter(lambda field: pa.types.is_nested(field.type), schema):
                    raise no_labels(field.name, source, field.type)  # before it is read, which may be much
                return parquet_columns(file, source, schema.names)
        raise SettingError(f"attributes are read from .csv, .tsv or .parquet, and {source} is none of these")
    if isinstance(table, Mapping):
        return pa.table(dict(table))
    if not is_table(table):
        raise SettingError(
            "attributes must be a list of columns, a table with one row per case, or the path of one, not "
            f"{type(table).__name__}"
        )
    return pa.table(table)
