"""``Tabular``: a result that can be had as a data frame, printed, and shown in a notebook."""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal, Self, TypeVar

from summarkov.errors import MissingLibraryError, SettingError, nearest, optional_library
from summarkov.frames.columns import Column, columns_of
from summarkov.frames.sheet import MOST, Sheet
from summarkov.wording import number

if TYPE_CHECKING:
    import pyarrow as pa

FrameLibrary = Literal["pandas", "polars", "pyarrow"]

T = TypeVar("T", covariant=True)


class Tabular:
    """A result that is a table. Its columns have the same names and types whatever it holds."""

    def _columns(self) -> Mapping[str, Column]:
        """The columns of its frame."""
        raise NotImplementedError

    def summary(self) -> Sheet:
        """What is most worth knowing, as a table that prints well and that notebooks show in HTML."""
        return sheet_of(type(self).__name__, self._columns())

    def to_frame(self, library: FrameLibrary | None = None) -> Any:
        """Return all of it as a data frame.

        ``library`` is "pandas", "polars" or "pyarrow"; by default pandas if that is installed, else polars.
        """
        return to_frame(self._columns(), library)

    def __repr__(self) -> str:
        return str(self.summary())

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        return self.summary()._repr_html_()


class Records(Tabular, tuple[T, ...]):
    """A tuple of records of one dataclass that is also a table, with one row per record."""

    record: type

    def __new__(cls, records: Iterable[T] = (), record: type = object) -> Self:
        """Keep the records, and of which class they are, which an empty tuple could not tell."""
        found = super().__new__(cls, records)
        found.record = record
        return found

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (tuple(self), self.record)

    def _columns(self) -> Mapping[str, Column]:
        return columns_of(self.record, self)

    def summary(self) -> Sheet:
        """The first of the records, as a table that prints well and that notebooks show in HTML.

        Of a record with many columns those are shown that its class lists in ``shown_columns``.
        """
        return self.sheet(f"{number(len(self))} × {self.record.__name__}")

    def sheet(self, title: str, notes: Iterable[str] = ()) -> Sheet:
        """The summary under a title."""
        columns = self._columns()
        shown = getattr(self.record, "shown_columns", tuple(columns))
        return sheet_of(title, {name: columns[name] for name in shown}, notes)


def keep_records(owner: object, **records: type) -> None:
    """Turn fields of a frozen dataclass that hold tuples of records into :class:`Records`."""
    for name, record in records.items():
        object.__setattr__(owner, name, Records(getattr(owner, name), record))


def to_frame(columns: Mapping[str, Column], library: FrameLibrary | None = None) -> Any:
    """Columns as a data frame, see :meth:`Tabular.to_frame`."""
    if library is None:
        there = [name for name in ("pandas", "polars") if importlib.util.find_spec(name) is not None]
        if not there:
            raise MissingLibraryError("a data frame (other than to_frame('pyarrow'))", "pandas", "frames")
        library = "pandas" if "pandas" in there else "polars"
    if library not in ("pandas", "polars", "pyarrow"):
        known = ("pandas", "polars", "pyarrow")
        hint = nearest(str(library), known)
        raise SettingError(f"library must be 'pandas', 'polars' or 'pyarrow', not {library!r}{hint}")
    if library == "pandas":
        with optional_library("a data frame of pandas", "pandas", extra="frames"):
            import pandas  # noqa: F401  # pyarrow makes the frame, and says less well that it is missing

        return _to_arrow(columns).to_pandas()
    if library == "polars":
        with optional_library("a data frame of polars", "polars", extra="frames"):
            import polars

        return polars.from_arrow(_to_arrow(columns))
    return _to_arrow(columns)


def _to_arrow(columns: Mapping[str, Column]) -> pa.Table:
    import pyarrow as pa

    kinds = {str: pa.string(), bool: pa.bool_(), int: pa.int64(), float: pa.float64()}
    return pa.table({name: pa.array(each.values, kinds[each.kind]) for name, each in columns.items()})


def sheet_of(title: str, columns: Mapping[str, Column], notes: Iterable[str] = ()) -> Sheet:
    """The first rows of some columns as texts."""
    total = len(next(iter(columns.values())).values) if columns else 0
    rows = [
        [_cell(each.values[at], each.kind) for each in columns.values()] for at in range(min(total, MOST))
    ]
    return Sheet(title, tuple(columns), rows, total, tuple(notes))


def _cell(value: Any, kind: type) -> str:
    if value is None or (kind is float and math.isnan(value)):
        return ""
    if kind is bool:
        return "yes" if value else "no"
    if kind is float:
        return number(value) if value == round(value, 0) and abs(value) < 1e15 else f"{value:.4g}"
    return str(value)
