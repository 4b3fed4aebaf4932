"""From rows of a table to codes: of cases, of labels, and of what must not change during a case."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any

import numpy as np

from summarkov.arrow import pa
from summarkov.errors import DataError
from summarkov.events.describe import Lifecycles, Origin
from summarkov.events.vocabulary import is_missing
from summarkov.read.columns import Columns
from summarkov.read.encoding import Encoded, NoCaseError, caseless_rows, encode, encode_some, which_occur
from summarkov.read.wanted import Wanted
from summarkov.typing import BoolArray, FloatArray, IntArray


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


def refuse_no_weight(column: Encoded, name: str, source: str, first_row: int | None = 0) -> None:
    """Refuse what is no weight; ``column`` has one value per row, and begins at ``first_row``, if known."""
    numbers = _numbers(column)[column.codes]
    wrong = np.flatnonzero(~(np.isfinite(numbers) & (numbers >= 0)))
    if len(wrong):
        value = text_of(column, int(column.codes[wrong[0]]))
        told = "no value" if value is None else repr(value[:40])
        where = "" if first_row is None else f" in row {first_row + int(wrong[0]) + 1} of the data"
        raise DataError(
            f"weight column {name!r} of {source} holds {told}{where}; a weight is a number from 0 on: "
            "correct it"
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


#: What lifecycles are called of which an activity has one row each, when it begins and when it is over.
_STARTS = {"start", "started", "begin", "begun"}
_ENDS = {"complete", "completed", "end", "ended", "finish", "finished"}


@dataclass
class LeftOut:
    """How many events were left out, and why; and what there is that may better be left out.

    ``caseless`` are rows without a case. ``duplicates`` are events of the case, label and place of an earlier
    one, of which some were ``dropped``.
    """

    unlabelled: int = 0
    lifecycle: int = 0
    lifecycles: set[str] = field(default_factory=set)  # some of those that there are
    caseless: int = 0
    duplicates: int = 0
    dropped: int = 0
    looked_at: Counter[str] = field(default_factory=Counter)  # lifecycles that nobody asked for

    def look_at(self, lifecycle: Encoded) -> None:
        """Count the lifecycles of some rows; all that mean neither a start nor an end are one."""
        counts = np.bincount(lifecycle.codes + 1, minlength=len(lifecycle.texts) + 1).tolist()
        for text, n in zip(("", *lifecycle.texts), counts, strict=True):
            self.look_at_one(text, n)

    def look_at_one(self, text: str, n: int = 1) -> None:
        """Count a lifecycle."""
        self.looked_at[text if text.strip().casefold() in _STARTS | _ENDS else ""] += n

    def mixed(self, column: str | None) -> Lifecycles | None:
        """Starts and ends of activities that stand side by side, if most rows are of these."""
        if column is None:
            return None
        kinds = [
            Counter({text: n for text, n in self.looked_at.items() if n and text.strip().casefold() in known})
            for known in (_STARTS, _ENDS)
        ]
        if not all(kinds) or 2 * sum(map(Counter.total, kinds)) <= self.looked_at.total():
            return None
        (start, _), (end, _) = (kind.most_common(1)[0] for kind in kinds)
        return Lifecycles(column, start, kinds[0].total(), end, kinds[1].total())

    def refuse_all(self, wanted: Wanted, n_events: int, source: str) -> None:
        """Refuse a lifecycle that no event has, where there are events."""
        if self.lifecycle and not n_events and not self.unlabelled:
            known = ", ".join(repr(text[:40]) for text in sorted(self.lifecycles))
            raise DataError(f"no event of {source} has lifecycle={wanted.lifecycle!r}; there are {known}")


@dataclass(frozen=True)
class Rows:
    """Some rows as codes. ``kept`` tells which of all rows these are; None if none was left out.

    ``per_case`` are the columns that must not change during a case, with -1 where a value is missing.
    ``table`` has all rows as they were read, but for those without a case, which hold what another row holds.
    """

    case: Encoded
    event: Encoded
    per_case: list[Encoded]
    kept: BoolArray | None
    table: pa.Table


def read_rows(
    table: pa.Table, chosen: Columns, wanted: Wanted, source: str, left_out: LeftOut, first_row: int = 0
) -> Rows:
    """Read the cases and labels of rows, which begin at ``first_row``, and count those that are left out."""
    assert chosen.case is not None
    absent = caseless_rows(table.column(chosen.case))
    if len(absent) and wanted.missing != "skip":
        raise NoCaseError(len(absent), first_row + int(absent[0]), chosen.case, source)
    left_out.caseless += len(absent)
    kept = np.ones(table.num_rows, bool)
    kept[absent] = False
    if len(absent):
        table = _instead(table, kept)
        kept = kept[: table.num_rows]
    case = encode(table.column(chosen.case), chosen.case, source, first_row)
    event = _labels(table, chosen.event, wanted, source, first_row)
    per_case = read_per_case(table, chosen, source, first_row)
    if chosen.lifecycle is not None:
        lifecycle = encode(table.column(chosen.lifecycle), chosen.lifecycle, source, first_row)
        kept &= _of_lifecycle(lifecycle, kept, wanted, left_out)
    elif chosen.other_lifecycle in table.column_names:
        with suppress(DataError):  # nobody asked for it
            left_out.look_at(encode_some(table.column(chosen.other_lifecycle), "", source))
    labelled = event.codes >= 0
    left_out.unlabelled += int(np.count_nonzero(kept & ~labelled))
    kept &= labelled
    if kept.all():
        return Rows(case, event, per_case, None, table)
    some = [replace(each, codes=each.codes[kept]) for each in (case, event, *per_case)]
    return Rows(some[0], some[1], some[2:], kept, table)


def _instead(table: pa.Table, with_case: BoolArray) -> pa.Table:
    """The same rows, the first that has a case in place of each that has none; no rows if all have none."""
    rows = np.where(with_case, np.arange(len(with_case)), with_case.argmax() if len(with_case) else 0)
    views = [at for at, each in enumerate(table.schema) if pa.types.is_string_view(each.type)]
    for at in views:  # of which Arrow cannot take some
        table = table.set_column(at, table.column_names[at], table.column(at).cast(pa.string()))
    return table.take(pa.array(rows if with_case.any() else rows[:0]))


def read_per_case(table: pa.Table, chosen: Columns, source: str, first_row: int = 0) -> list[Encoded]:
    """The columns that must not change during a case."""
    found = [encode_some(table.column(name), name, source, first_row) for name in chosen.per_case]
    if chosen.weight is not None:
        refuse_no_weight(found[0], chosen.weight, source, first_row)
    return found


def origin_of(chosen: Columns, left_out: LeftOut, tied_case: str | None = None, backwards: int = 0) -> Origin:
    """How events were read."""
    return Origin(
        chosen.case,
        chosen.event,
        chosen.order or (),
        chosen.weight,
        chosen.lifecycle,
        chosen.attributes,
        left_out.unlabelled,
        left_out.lifecycle,
        backwards,
        tied_case,
        left_out.caseless,
        left_out.duplicates - left_out.dropped,
        left_out.dropped,
        left_out.mixed(chosen.other_lifecycle),
    )


def _of_lifecycle(lifecycle: Encoded, with_case: BoolArray, wanted: Wanted, left_out: LeftOut) -> BoolArray:
    """Which rows have the lifecycle that is wanted, in capitals or not; those of the others are counted."""
    assert wanted.lifecycle is not None
    fits = np.array([text.casefold() == wanted.lifecycle.casefold() for text in lifecycle.texts], bool)
    kept: BoolArray = fits[lifecycle.codes] if len(fits) else np.zeros(0, bool)
    left_out.lifecycle += int(np.count_nonzero(with_case & ~kept))
    if len(left_out.lifecycles) < 8:
        left_out.lifecycles.update(lifecycle.texts[:8])
    return kept


def _labels(table: pa.Table, names: Sequence[str], wanted: Wanted, source: str, first_row: int) -> Encoded:
    """The labels of rows; -1 where a row has none and is to be left out."""
    parts = [labels_of(table.column(name), name, wanted, source, first_row) for name in names]
    for part, name in zip(parts[:-1], names, strict=False):
        occurs = which_occur(part.codes, len(part.texts)).tolist()
        for text, here in zip(part.texts, occurs, strict=True):
            if here:
                refuse_separator(text, wanted.separator, f"column {name!r} of {source}")
    return reduce(lambda first, second: _joined(first, second, wanted.separator), parts)


def labels_of(column: pa.ChunkedArray, name: str, wanted: Wanted, source: str, first_row: int) -> Encoded:
    """The labels of a column; those that are missing are an error, have the code -1, or another label."""
    if wanted.missing == "error":
        return encode(column, name, source, first_row)
    found = encode_some(column, name, source, first_row)
    return found if wanted.missing == "skip" else filled(found, wanted.missing)


def labelled(given: Sequence[object], wanted: Wanted, left_out: LeftOut) -> list[Any]:
    """Labels in a list: those that are missing are left out and counted, or have another label, as asked."""
    if wanted.missing != "skip":
        return [wanted.missing if is_missing(label) else label for label in given]
    kept = [label for label in given if not is_missing(label)]
    left_out.unlabelled += len(given) - len(kept)
    return kept


def filled(column: Encoded, label: str) -> Encoded:
    """The same labels, and another where one is missing.

    >>> filled(Encoded(np.array([0, -1]), ["a"]), "none").codes.tolist()
    [0, 1]
    """
    if not (column.codes < 0).any():
        return column
    code = column.texts.index(label) if label in column.texts else len(column.texts)
    texts = column.texts if code < len(column.texts) else [*column.texts, label]
    return Encoded(np.where(column.codes < 0, code, column.codes), texts)


def _joined(first: Encoded, second: Encoded, separator: str) -> Encoded:
    """The labels of two columns as one.

    >>> found = _joined(Encoded(np.array([0, 1]), ["a", "b"]), Encoded(np.array([0, 0]), ["x"]), "+")
    >>> [found.texts[code] for code in found.codes]
    ['a+x', 'b+x']
    """
    n = max(1, len(second.texts))
    pairs = first.codes.astype(np.int64) * n + second.codes
    pairs[(first.codes < 0) | (second.codes < 0)] = -1
    used, codes = np.unique(pairs, return_inverse=True)
    absent = int(len(used) > 0 and used[0] < 0)
    texts = [f"{first.texts[p // n]}{separator}{second.texts[p % n]}" for p in used[absent:].tolist()]
    return Encoded(codes - absent, texts)


def refuse_separator(text: str, separator: str, where: str) -> None:
    """Refuse a label that holds the separator: two different pairs must not become the same text."""
    if separator in text:
        raise DataError(
            f"{where} holds {text[:40]!r}, with {separator!r} in it, which joins the labels of several "
            "columns; choose another one with separator="
        )
