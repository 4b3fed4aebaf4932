"""The columns of records: their names and types come from the record's class, whatever the records hold."""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy.typing as npt

#: The types that a column may have.
KINDS = (str, bool, int, float)


class Column(NamedTuple):
    """A column: its type, one of ``KINDS``, and one value per row; None is missing."""

    kind: type
    values: Sequence[Any] | npt.NDArray[Any]


class _Path(NamedTuple):
    """How a column is reached from a record: attributes one after the other, and a place in a pair."""

    kind: type
    attributes: tuple[str, ...]
    place: int | None = None

    def value(self, record: Any) -> Any:
        for name in self.attributes:
            record = None if record is None else getattr(record, name)
        if record is None or self.place is None:
            return _plain(record) if self.kind is str else record
        return record[self.place]


def columns_of(record: type, records: Sequence[Any]) -> dict[str, Column]:
    """Columns of records of one dataclass.

    A field is a column. A field that is itself a record becomes its columns, with the field's name before
    theirs; a pair of numbers becomes a column for the lower and one for the upper. The class may list
    properties that are columns too, in ``derived_columns``.

    >>> @dataclasses.dataclass
    ... class Size:
    ...     name: str
    ...     share: float | None
    ...     interval: tuple[float, float]
    >>> found = columns_of(Size, [Size("A", None, (0.1, 0.2))])
    >>> {name: (column.kind.__name__, column.values) for name, column in found.items()}
    {'name': ('str', ['A']), 'share': ('float', [None]), 'interval_low': ('float', [0.1]),
    'interval_high': ('float', [0.2])}
    """
    return {
        name: Column(path.kind, [path.value(one) for one in records]) for name, path in _paths(record).items()
    }


@cache
def _paths(record: type) -> Mapping[str, _Path]:
    hints = typing.get_type_hints(record)
    found: dict[str, _Path] = {}
    for field in dataclasses.fields(record):
        hint = _without_none(hints[field.name])
        if dataclasses.is_dataclass(hint):
            for inner, path in _paths(typing.cast(type, hint)).items():
                found[f"{field.name}_{inner}"] = path._replace(attributes=(field.name, *path.attributes))
        elif typing.get_args(hint) == (float, float):
            for place, end in enumerate(("low", "high")):
                found[f"{field.name}_{end}"] = _Path(float, (field.name,), place)
        else:
            found[field.name] = _Path(hint if hint in KINDS else str, (field.name,))
    for name in getattr(record, "derived_columns", ()):
        kind = typing.get_type_hints(getattr(record, name).fget)["return"]
        found[name] = _Path(_without_none(kind), (name,))
    return found


def _without_none(hint: Any) -> Any:
    """The type of a value where there is one."""
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        some = [each for each in typing.get_args(hint) if each is not type(None)]
        return some[0] if len(some) == 1 else hint
    return hint


def _plain(value: Any) -> str | None:
    """A value of a column of text: lists and mappings in words."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        return ", ".join(f"{name}={one}" for name, one in value.items())
    return ", ".join(map(str, value)) if isinstance(value, tuple | list) else str(value)
