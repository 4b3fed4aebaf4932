"""Results as data frames of pandas, polars and pyarrow, and as small tables to look at."""

from __future__ import annotations

import importlib.util
import math
import typing
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from datetime import datetime
from functools import cache
from html import escape
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, Self, TypeVar

from summarkov.errors import MissingLibraryError, SettingError, nearest, optional_library
from summarkov.wording import cut, number, width

if TYPE_CHECKING:
    import numpy.typing as npt

#: Show at most this many rows.
MOST = 30
#: Longer texts are cut: in cells, and in titles and notes.
_LONGEST, _LONGEST_LINE = 80, 400


@dataclass(frozen=True, repr=False)
class Sheet:
    """A title, a table of texts and notes below it.

    Whatever comes from data is escaped, and long texts are cut.

    >>> from summarkov.frames import Sheet
    >>> Sheet("Fruit", ("name", "n"), [("apple", "3"), ("fig", "12")], total=5, notes=("Fresh ones.",))
    Fruit
    name    n
    apple   3
    fig    12
    ... and 3 more
    Fresh ones.

    Attributes
    ----------
    title, notes : str, sequence of str
        What stands above the table, and below.
    head, rows, total : sequences of str, int
        The names of the columns, the rows to show, and how many rows there are in all.
    colours : sequence
        The colour of every cell in HTML, or None.
    """

    title: str
    head: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = ()
    total: int = 0
    notes: Sequence[str] = ()
    colours: Sequence[Sequence[str | None]] = ()

    def __str__(self) -> str:
        lines = [cut(line, _LONGEST_LINE) for line in self.title.split("\n") if line]
        if self.rows:
            table = [[cut(cell, _LONGEST) for cell in row] for row in (self.head, *self.rows)]
            widths = [max(map(width, column)) for column in zip(*table, strict=True)]
            lines += [
                "  ".join(
                    " " * (w - width(cell)) + cell if to_right else cell + " " * (w - width(cell))
                    for cell, w, to_right in zip(row, widths, self._to_the_right, strict=True)
                ).rstrip()
                for row in table
            ]
        return "\n".join([*lines, *(cut(note, _LONGEST_LINE) for note in self._below)])

    __repr__ = __str__

    @property
    def _below(self) -> list[str]:
        left = self.total - len(self.rows)
        return [f"... and {left:,} more", *self.notes] if left > 0 else list(self.notes)

    @property
    def _to_the_right(self) -> list[bool]:
        """Columns of numbers only."""
        return [all(map(_is_number, column)) for column in zip(*self.rows, strict=True)]

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        title = "<br>".join(_html(line, _LONGEST_LINE) for line in self.title.split("\n") if line)
        notes = "".join(f"<p>{_html(text, _LONGEST_LINE)}</p>" for text in self._below if text)
        if not self.rows:
            return f"<p>{title}</p>{notes}"
        # each cell in one line, with room between columns, as in the text
        sides = ["right" if to_right else "left" for to_right in self._to_the_right]
        styles = [f' style="text-align:{side};white-space:nowrap;padding:0.1em 0.6em"' for side in sides]

        def row(tag: str, cells: Iterable[str]) -> str:
            each = (f"<{tag}{style}>{cell}</{tag}>" for cell, style in zip(cells, styles, strict=True))
            return f"<tr>{''.join(each)}</tr>"

        head = row("th", map(_html, self.head))
        body = "".join(
            row("td", [self._cell(i, j) for j in range(len(styles))]) for i in range(len(self.rows))
        )
        return f"<table><caption>{title}</caption><thead>{head}</thead><tbody>{body}</tbody></table>{notes}"

    def _cell(self, row: int, column: int) -> str:
        text = _html(self.rows[row][column])
        colour = self.colours[row][column] if self.colours else None
        return f'<span style="color:{colour}">{text}</span>' if colour else text


def _html(text: str, longest: int = _LONGEST) -> str:
    """Text from data as text, in its own direction of writing."""
    return f"<bdi>{escape(cut(text, longest))}</bdi>"


def _is_number(text: str) -> bool:
    return not text or text.strip("×%<>~+-").replace(",", "").replace(".", "").isdecimal()


#: The types that a column may have.
KINDS = (str, bool, int, float, datetime)


class Column(NamedTuple):
    """A column: its type, one of ``KINDS``, and one value per row; None is missing."""

    kind: type
    values: Sequence[Any] | npt.NDArray[Any]


def columns_of(record: type, records: Sequence[Any]) -> dict[str, Column]:
    """Columns of records of one dataclass.

    A field is a column. A field that is itself a record becomes its columns, with the field's name before
    theirs; a pair of numbers becomes a column for the lower and one for the upper. The class may list
    properties that are columns too, in ``derived_columns``.

    >>> @dataclass
    ... class Size:
    ...     name: str
    ...     share: float | None
    ...     interval: tuple[float, float]
    >>> found = columns_of(Size, [Size("A", None, (0.1, 0.2))])
    >>> {name: (column.kind.__name__, column.values) for name, column in found.items()}
    {'name': ('str', ['A']), 'share': ('float', [None]), 'interval_low': ('float', [0.1]),
    'interval_high': ('float', [0.2])}
    """
    found: dict[str, Column] = {}
    for name, hint in _types(record).items():
        values = [None if one is None else getattr(one, name) for one in records]
        if is_dataclass(hint):
            inner = columns_of(typing.cast(type, hint), values)
            found |= {f"{name}_{each}": column for each, column in inner.items()}
        elif typing.get_args(hint) == (float, float):
            for place, end in enumerate(("low", "high")):
                found[f"{name}_{end}"] = Column(float, [pair and pair[place] for pair in values])
        else:
            kind = hint if hint in KINDS else str
            found[name] = Column(kind, [*map(_plain, values)] if kind is str else values)
    return found


@cache
def _types(record: type) -> Mapping[str, Any]:
    """The types of a record's fields, and of the properties that are columns too."""
    hints = typing.get_type_hints(record)
    found = {field.name: hints[field.name] for field in fields(record)}
    for name in getattr(record, "derived_columns", ()):
        found[name] = typing.get_type_hints(getattr(record, name).fget)["return"]
    return {name: _without_none(hint) for name, hint in found.items()}


def _without_none(hint: Any) -> Any:
    """The type of a value where there is one."""
    parts = typing.get_args(hint)
    some = [each for each in parts if each is not type(None)]
    return some[0] if len(some) == 1 < len(parts) else hint


def _plain(value: Any) -> str | None:
    """A value of a column of text: lists and mappings in words."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        return ", ".join(f"{name}={one}" for name, one in value.items())
    return ", ".join(map(str, value)) if isinstance(value, tuple | list) else str(value)


FrameLibrary = Literal["pandas", "polars", "pyarrow"]
T = TypeVar("T", covariant=True)


class Tabular:
    """A result that is a table. Its columns have the same names and types whatever it holds."""

    def _columns(self) -> Mapping[str, Column]:
        """The columns of its frame."""
        raise NotImplementedError  # each class that takes this in has its own

    def summary(self) -> Sheet:
        """What is most worth knowing, as a table that prints well and that notebooks show in HTML."""
        raise NotImplementedError  # each class that takes this in has its own

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


class Record(Tabular):
    """One row of a result: a dataclass that shows what is known of it, one line each.

    Two records are equal where the same numbers are not known in both. NaN is equal to nothing, itself
    included, but tuples take one and the same object for equal: so every NaN becomes the same object.
    """

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if isinstance(value, float) and math.isnan(value):
                object.__setattr__(self, name, math.nan)

    def _columns(self) -> Mapping[str, Column]:
        return columns_of(type(self), [self])

    def summary(self) -> Sheet:
        """What is known, or what of it the class lists in ``shown_columns``."""
        row = Records([self], type(self)).sheet(type(self).__name__)
        known = [(name, cell) for name, cell in zip(row.head, row.rows[0], strict=True) if cell]
        return Sheet(row.title, ("field", "value"), known, len(known))


class Records(Tabular, tuple[T, ...]):
    """A tuple of records of one dataclass, ``record``, that is also a table, with one row per record."""

    record: type
    shown: Sequence[str] = ()  # columns, where these are not those of the class

    def __new__(cls, records: Iterable[T] = (), record: type = object) -> Self:
        """Keep the records, and of which class they are, which an empty tuple could not tell."""
        found = super().__new__(cls, records)
        found.record = record
        return found

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (tuple(self), self.record), vars(self)

    def _columns(self) -> Mapping[str, Column]:
        return columns_of(self.record, self)

    def summary(self) -> Sheet:
        """The first of the records; of many columns those that their class lists in ``shown_columns``."""
        return self.sheet(f"{number(len(self))} × {self.record.__name__}")

    def sheet(self, title: str, notes: Iterable[str] = ()) -> Sheet:
        """The summary under a title."""
        columns = columns_of(self.record, self[:MOST])
        shown = self.shown or getattr(self.record, "shown_columns", tuple(columns))
        cells = [[_cell(value, columns[name].kind) for value in columns[name].values] for name in shown]
        return Sheet(title, shown, list(zip(*cells, strict=True)), len(self), tuple(notes))


class Listed(Tabular):
    """A result whose frame has one row per record of a field.

    ``listed`` names the fields that hold records, that of the frame first. Their types say which records
    these are, and a dataclass makes :class:`Records` of the tuples that it is given.
    """

    listed: ClassVar[tuple[str, ...]]

    def __post_init__(self) -> None:
        hints = typing.get_type_hints(type(self))
        for name in self.listed:
            record, *_ = typing.get_args(hints[name])
            object.__setattr__(self, name, Records(getattr(self, name), record))

    def _columns(self) -> Mapping[str, Column]:
        columns: Mapping[str, Column] = getattr(self, self.listed[0])._columns()
        return columns

    def _title(self) -> str:
        """What stands above the table."""
        raise NotImplementedError  # each class that takes this in has its own

    def _notes(self) -> Iterable[str]:
        """What stands below it."""
        return ()

    def summary(self) -> Sheet:
        """The first rows, as a table that prints well and that notebooks show in HTML."""
        sheet: Sheet = getattr(self, self.listed[0]).sheet(self._title(), self._notes())
        return sheet


def to_frame(columns: Mapping[str, Column], library: FrameLibrary | None = None) -> Any:
    """Columns as a data frame, see :meth:`Tabular.to_frame`."""
    from summarkov.arrow import pa

    if library is None:
        there: list[FrameLibrary] = ["pandas", "polars"]
        library = next((name for name in there if importlib.util.find_spec(name) is not None), None)
        if library is None:
            raise MissingLibraryError("a data frame (other than to_frame('pyarrow'))", "pandas", "frames")
    if library not in (known := typing.get_args(FrameLibrary)):
        hint = nearest(str(library), known)
        raise SettingError(f"library must be 'pandas', 'polars' or 'pyarrow', not {library!r}{hint}")
    kinds = {str: pa.string(), bool: pa.bool_(), int: pa.int64(), float: pa.float64(), datetime: None}
    table = pa.table({name: pa.array(each.values, kinds[each.kind]) for name, each in columns.items()})
    if library == "pandas":
        with optional_library("a data frame of pandas", "pandas", extra="frames"):
            import pandas  # noqa: F401  # pyarrow makes the frame, and says less well that it is missing

        return table.to_pandas()
    if library == "polars":
        with optional_library("a data frame of polars", "polars", extra="frames"):
            import polars

        return polars.from_arrow(table)
    return table


def _cell(value: Any, kind: type) -> str:
    if value is None or (kind is float and math.isnan(value)):
        return ""
    if kind is bool:
        return "yes" if value else "no"
    if kind is float:
        return number(value) if value == round(value, 0) and abs(value) < 1e15 else f"{value:.4g}"
    return str(value)
