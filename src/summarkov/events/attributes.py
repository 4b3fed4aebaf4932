"""Attributes of sequences, such as a region or an age: what holds of a sequence from its start to its end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from summarkov.errors import DataError, nearest
from summarkov.typing import BoolArray

#: What a missing value of an attribute is called.
MISSING = "(missing)"


@dataclass(frozen=True, eq=False)
class Attributes:
    """Which attributes every sequence has.

    Each is a candidate for influence that is present at every position of its sequence, takes no position,
    and is never a target. Its name is what people see: the column, and the value or the range of values.

    Parameters
    ----------
    names : sequence of str
        Such as ``"region=north"`` or ``"age=30 to 50"``; sorted and without repeats.
    of : sequence of str
        The column that each name comes from, such as ``"region"``.
    present : bool[K, A]
        One row per sequence and one column per name.

    Examples
    --------
    >>> regions = ["region=north", "region=south"]
    >>> found = Attributes(regions, ["region", "region"], [[True, False], [False, True]])
    >>> found.values("region")
    ['region=north', 'region=south']
    >>> found[[1]].present.tolist()
    [[False, True]]
    """

    names: tuple[str, ...]
    of: tuple[str, ...]
    present: BoolArray

    def __init__(self, names: Sequence[str], of: Sequence[str], present: npt.ArrayLike) -> None:
        names, of = tuple(names), tuple(of)
        if any(not isinstance(name, str) for name in (*names, *of)):
            raise DataError("names of attributes, and of their columns, must be text")
        if any(a >= b for a, b in pairwise(names)):
            raise DataError("names of attributes must be sorted and without repeats")
        if len(of) != len(names):
            raise DataError(f"there are {len(names)} names of attributes but {len(of)} columns of them")
        for column in of:
            refuse_column(column, "attributes")
        odd = next(
            (pair for pair in zip(names, of, strict=True) if not pair[0].startswith(f"{pair[1]}=")), None
        )
        if odd is not None:
            raise DataError(
                f"the name of an attribute is its column, '=' and its value, such as 'region=north', and "
                f"{odd[0]!r} of {odd[1]!r} is not; rename it"
            )
        given = np.asarray(present)
        if given.ndim != 2 or given.shape[1] != len(names) or given.dtype.kind != "b":
            raise DataError(
                f"present must be truth values, one row per sequence and {len(names)} columns, one per name"
            )
        held = np.array(given, bool, order="C")
        held.flags.writeable = False
        object.__setattr__(self, "names", names)
        object.__setattr__(self, "of", of)
        object.__setattr__(self, "present", held.view())

    def __len__(self) -> int:
        """K, the number of sequences."""
        return len(self.present)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Attributes):
            return NotImplemented
        return (self.names, self.of) == (other.names, other.of) and np.array_equal(
            self.present, other.present
        )

    __hash__ = None  # type: ignore[assignment]  # compared by value, and large

    def __getitem__(self, which: Any) -> Attributes:
        """Those of some sequences, by slice, integer array or boolean array; all names stay."""
        return Attributes(self.names, self.of, self.present[which])

    def without(self, column: str) -> Attributes | None:
        """All but those of one column; None if none is left."""
        rest = [at for at, of in enumerate(self.of) if of != column]
        return self.only(rest) if rest else None

    def only(self, which: Sequence[int]) -> Attributes:
        """Those of some names, by their places."""
        names, of = [self.names[at] for at in which], [self.of[at] for at in which]
        return Attributes(names, of, self.present[:, which])

    def __repr__(self) -> str:
        return f"Attributes({len(self)} sequences, {len(self.names)} names: {', '.join(self.names[:5])})"

    @property
    def counts(self) -> dict[str, int]:
        """How many sequences have each."""
        return dict(zip(self.names, self.present.sum(axis=0).tolist(), strict=True))

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that the names come from, sorted, each once."""
        return tuple(sorted(set(self.of)))

    def values(self, column: str) -> list[str]:
        """The name that every sequence has of one column."""
        chosen = np.flatnonzero(np.array([of == column for of in self.of], bool))
        if not len(chosen):
            raise DataError(f"there is no attribute {column!r}{nearest(column, self.columns)}")
        here = self.present[:, chosen]
        if (here.sum(axis=1) != 1).any():
            raise DataError(f"a sequence has several values of {column!r}, or none; give each exactly one")
        return [self.names[code] for code in chosen[here.argmax(axis=1)].tolist()]


def refuse_column(column: str, source: str) -> None:
    """Refuse a column that the name of a value, such as "region=north", would not tell."""
    if "=" in column:
        raise DataError(
            f"attribute {column!r} of {source} holds '=', which stands between the column and the value in "
            "the names of attributes; rename the column"
        )


def join_attributes(parts: Sequence[Attributes | None]) -> Attributes | None:
    """The attributes of the sequences of several data sets, one data set after the other.

    >>> north = Attributes(["region=north"], ["region"], [[True]])
    >>> south = Attributes(["region=south"], ["region"], [[True]])
    >>> join_attributes([north, south]).present.tolist()
    [[True, False], [False, True]]
    """
    known = [part for part in parts if part is not None]
    if not known:
        return None
    if len(known) < len(parts) or len({part.columns for part in known}) > 1:
        raise DataError("some of the data sets have attributes that others lack; read all with the same ones")
    of = {name: column for part in known for name, column in zip(part.names, part.of, strict=True)}
    names = sorted(of)
    place = {name: at for at, name in enumerate(names)}
    present = np.zeros((sum(map(len, known)), len(names)), bool)
    start = 0
    for part in known:
        present[start : start + len(part), [place[name] for name in part.names]] = part.present
        start += len(part)
    return Attributes(names, [of[name] for name in names], present)


def attribute_values(given: Attributes | None, taken: tuple[str, ...]) -> dict[str, list[str | None]]:
    """The value that every sequence has of each attribute, None if it is missing.

    ``taken`` are names that attributes must not have.
    """
    found = {}
    for column in () if given is None else given.columns:
        if column in taken:
            raise DataError(
                f"there is an attribute {column!r}, and {', '.join(map(repr, taken))} are the names of other "
                "columns; read it under another name"
            )
        assert given is not None
        values = (name.removeprefix(column) for name in given.values(column))
        texts = [value.removeprefix("=") for value in values]
        found[column] = [None if text == MISSING else text for text in texts]
    return found
