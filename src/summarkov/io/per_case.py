"""Columns that must not change during a case: one value for every sequence."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from summarkov.errors import DataError
from summarkov.io.encoding import Encoded, Vocabulary
from summarkov.typing import CodeArray, FloatArray, IntArray


def one_per_case(column: Encoded, offsets: IntArray, name: str, ids: Sequence[str], source: str) -> Encoded:
    """The value of every sequence; ``column`` has one for each of its events, in order.

    >>> column = Encoded(np.array([0, 0, 1]), ["north", "south"])
    >>> one_per_case(column, np.array([0, 2, 3]), "region", ["x", "y"], "log.csv").codes.tolist()
    [0, 1]
    """
    values = column.codes[offsets[:-1]]
    other = np.flatnonzero(column.codes != np.repeat(values, np.diff(offsets)))
    if len(other):
        sequence = int(np.searchsorted(offsets, other[0], side="right")) - 1
        raise changes(
            name,
            ids[sequence],
            source,
            text_of(column, values[sequence]),
            text_of(column, column.codes[other[0]]),
        )
    return Encoded(values, column.texts)


def text_of(column: Encoded, code: int) -> str | None:
    """A value as text; None if it is missing."""
    return column.texts[code] if code >= 0 else None


def changes(name: str, case: str, source: str, first: str | None, second: str | None) -> DataError:
    """The error for a column that changes during a case."""
    values = [repr(value[:40]) if value is not None else "no value" for value in (first, second)]
    return DataError(
        f"column {name!r} of {source} changes during case {case[:40]!r}: {values[0]} in one row and "
        f"{values[1]} in another; it must have one value per case: correct it, or leave it out"
    )


class CaseValues:
    """Columns that must not change during a case, read some rows at a time: a code for every value."""

    def __init__(self, names: Sequence[str], memory: int) -> None:
        self.names = names
        self._known = [Vocabulary(None, memory) for _ in names]

    def recode(self, columns: Sequence[Encoded]) -> CodeArray:
        """The codes of some rows: one row each, one column each; -1 where a value is missing."""
        each = [known.recode(column) for known, column in zip(self._known, columns, strict=True)]
        return np.stack(each, axis=1) if each else np.empty((0, 0), np.int32)

    def codes(self, values: Sequence[str | None]) -> list[int]:
        """The codes of the values of one case."""
        return [
            -1 if value is None else known.code(value)
            for known, value in zip(self._known, values, strict=True)
        ]

    def refuse_change(
        self, values: CodeArray, runs: IntArray, case_of: Callable[[int], str], source: str
    ) -> None:
        """Refuse values that change within a run of rows; ``case_of`` names the case of a row."""
        if not self.names or not len(values):
            return
        same = values[1:] == values[:-1]
        same[runs[1:] - 1] = True
        rows, columns = np.nonzero(~same)
        if len(rows):
            row, column = int(rows[0]), int(columns[0])
            first, second = (self.text(column, int(values[at, column])) for at in (row, row + 1))
            raise changes(self.names[column], case_of(row), source, first, second)

    def text(self, column: int, code: int) -> str | None:
        """A value as text; None if it is missing."""
        return self._known[column].found[code] if code >= 0 else None

    def column(self, name: str, codes: CodeArray) -> Encoded:
        """A column of one value per sequence; ``codes`` have one row per sequence."""
        at = self.names.index(name)
        return Encoded(codes[:, at], self._known[at].found)


def refuse_no_weight(column: Encoded, name: str, source: str, first_row: int = 0) -> None:
    """Refuse what is no weight; ``column`` has one value per row, and begins at ``first_row``."""
    numbers = _numbers(column)[column.codes]
    wrong = np.flatnonzero(~(np.isfinite(numbers) & (numbers >= 0)))
    if len(wrong):
        value = text_of(column, int(column.codes[wrong[0]]))
        told = "no value" if value is None else repr(value[:40])
        raise DataError(
            f"weight column {name!r} of {source} holds {told} in row {first_row + int(wrong[0]) + 1} of the "
            "data; a weight is a number from 0 on: correct it"
        )


def weights_of(column: Encoded) -> FloatArray:
    """The numbers that texts stand for, one per sequence.

    >>> weights_of(Encoded(np.array([0, 1, 0]), ["1", "2.5"])).tolist()
    [1.0, 2.5, 1.0]
    """
    found: FloatArray = _numbers(column)[column.codes]
    return found


def _numbers(column: Encoded) -> FloatArray:
    """The number of each text, nan if it is none; and one more nan, for values that are missing."""
    return np.array([*(_number(text) for text in column.texts), np.nan])


def is_weight(text: str | None) -> bool:
    """Whether a text is a number from 0 on.

    >>> is_weight("2.5"), is_weight("-1"), is_weight(None)
    (True, False, False)
    """
    return text is not None and 0 <= _number(text) < float("inf")


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return float("nan")
