"""Attributes of sequences, from columns or a second table: values as they are, numbers cut into ranges."""

from __future__ import annotations

import math
import os
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from summarkov.arrow import pa
from summarkov.errors import DataError, SettingError
from summarkov.events import EventSequences
from summarkov.events.attributes import MISSING, Attributes, refuse_column
from summarkov.events.vocabulary import translation
from summarkov.read.addresses import name_of
from summarkov.read.columns import case_column
from summarkov.read.encoding import Encoded, count, encode, no_labels, refuse_missing
from summarkov.settings import is_finite
from summarkov.typing import IntArray

if TYPE_CHECKING:
    from summarkov.read.wanted import Wanted

#: Values that are not numbers may be as many, and numbers up to as many different ones stay as they are.
MOST_VALUES, FEW_NUMBERS = 100, 5
#: Numbers are cut at these shares of the sequences.
_SHARES = (0.25, 0.5, 0.75)
#: Where numbers of a column are cut; None to leave them as they are.
Cuts = Mapping[str, Sequence[float] | None]


def check_cuts(cuts: object) -> Cuts:
    """Refuse what does not say where to cut numbers.

    >>> check_cuts({"age": [30, 50], "postcode": None})
    {'age': [30.0, 50.0], 'postcode': None}
    """
    if not isinstance(cuts, Mapping):
        raise SettingError(f"cuts must be a dict such as {{'age': [30, 50]}}, not {cuts!r}")
    found: dict[str, Sequence[float] | None] = {}
    for name, given in cuts.items():
        listed = isinstance(given, list | tuple | np.ndarray) and len(given) > 0
        if given is not None and not (listed and all(map(is_finite, given))):
            raise SettingError(
                f"cuts of {name!r} must be numbers such as [30, 50], or None to leave it as it is, not "
                f"{given!r}"
            )
        numbers = None if given is None else [float(cut) for cut in given]
        if numbers is not None and any(a >= b for a, b in pairwise(numbers)):
            raise SettingError(f"cuts of {name!r} must increase, and {given!r} do not; sort them")
        found[str(name)] = numbers
    return found


def attributes_of(
    events: EventSequences, columns: dict[str, Encoded], wanted: Wanted, source: str, ids: Sequence[str]
) -> EventSequences:
    """Events with columns, which have a value per sequence, as attributes, or as what tells their ends."""
    if wanted.ends is not None and wanted.ends.column in columns:
        told = wanted.ends.told(*columns.pop(wanted.ends.column))
        events = events.with_ends(events.complete & told)
    return events.with_attributes(_attributes(columns, wanted, source, ids)) if columns else events


def _attributes(
    columns: Mapping[str, Encoded], wanted: Wanted, source: str, ids: Sequence[str]
) -> Attributes:
    """Name the values, or ranges of values, of columns, each of which has one code per sequence."""
    unused = sorted(set(wanted.cuts) - set(columns))
    if unused:
        raise SettingError(f"cuts are given for {unused[0]!r}, which is no attribute; add it to attributes=")
    each: list[list[str | None]] = []
    for column, values in columns.items():
        refuse_column(column, source)
        absent = np.flatnonzero(values.codes < 0)
        if len(absent) and wanted.missing_attributes == "error":
            raise DataError(
                f"attribute {column!r} of {source} has no value for {count(len(absent), 'sequence')}, the "
                f"first is {ids[absent[0]][:40]!r}; fill it, or let it be a value of its own with "
                "missing_attributes='value'"
            )
        if len(absent) and len(absent) == len(values.codes) and column not in wanted.cuts:
            raise DataError(
                f"attribute {column!r} of {source} has no value for any sequence; check its name, or leave "
                "it out"
            )
        names = [*_names(column, values, wanted.cuts, source), f"{column}={MISSING}"]
        occurs = [*values.occurring.tolist(), len(absent) > 0]
        each.append([name if here else None for name, here in zip(names, occurs, strict=True)])
        if occurs[-1] and names[-1] in each[-1][:-1]:
            raise DataError(
                f"attribute {column!r} of {source} holds {MISSING!r} as a value, and lacks others, which are "
                "called so; rename the value, or leave it empty"
            )
    ordered = sorted({name for names in each for name in names if name is not None})
    present = np.zeros((len(ids), len(ordered)), bool)
    for values, some in zip(columns.values(), each, strict=True):
        codes = translation((name or "" for name in some), ordered)[:-1]
        present[np.arange(len(present)), codes[values.codes]] = True
    return Attributes(ordered, present)


def _names(column: str, values: Encoded, cuts: Cuts, source: str) -> list[str]:
    """What each of the different values of a column is called."""
    counts = np.bincount(values.codes[values.codes >= 0], minlength=len(values.texts))
    given = cuts.get(column)
    ranges = [] if given is None else _ranges(column, given)
    whole = {name.removeprefix(f"{column}=") for name in ranges}  # of numbers that were cut before
    texts = [text for text, n in zip(values.texts, counts.tolist(), strict=True) if n and text not in whole]
    numbers = [_number(text) for text in texts]
    odd = next((text for text, number in zip(texts, numbers, strict=True) if number is None), None)
    if given is not None and odd is not None:
        raise DataError(
            f"attribute {column!r} of {source} holds {odd[:40]!r}, which is no number, and cannot be cut; "
            "correct it, or leave out its cuts"
        )
    few = len(set(numbers)) <= FEW_NUMBERS
    if given is None and (odd is not None or few or column in cuts):
        if len(texts) > MOST_VALUES:
            why = "" if odd is None else f", and they are not all numbers, such as {odd[:40]!r}"
            raise DataError(
                f"attribute {column!r} of {source} has {len(texts):,} different values, more than "
                f"{MOST_VALUES}{why}; leave it out, or make groups of its values first"
            )
        return [f"{column}={text}" for text in values.texts]
    known = dict(zip(texts, numbers, strict=True))
    found = np.array([known.get(text) for text in values.texts], float)
    where = quartiles(found, counts) if given is None else list(given)
    ranges = ranges or _ranges(column, where)
    places = np.searchsorted(where, found, side="right").tolist()
    each = zip(values.texts, places, strict=True)
    return [f"{column}={text}" if text in whole else ranges[at] for text, at in each]


def quartiles(given: npt.ArrayLike, counts: IntArray) -> list[float]:
    """The least numbers below which at least a quarter, half and three quarters of the sequences lie.

    >>> quartiles([1.0, 2.0, 3.0, 4.0], np.array([1, 1, 1, 1]))
    [2.0, 3.0, 4.0]
    >>> quartiles([0.0, 1.0, 2.0], np.array([8, 1, 1]))
    [1.0]
    """
    held = counts > 0
    numbers = np.asarray(given, float)[held]
    order = np.argsort(numbers, kind="stable")
    values, n = numbers[order], counts[held][order]
    below = np.cumsum(n) - n
    found = [values[below >= share * n.sum()][:1].tolist() for share in _SHARES]
    return sorted({number for some in found for number in some})


def _ranges(column: str, cuts: Sequence[float]) -> list[str]:
    """What the ranges between cuts are called; each begins with its cut, and ends before the next.

    >>> _ranges("age", [30.0, 50.5])
    ['age=below 30', 'age=30 to <50.5', 'age=50.5 or more']
    """
    shown = [repr(float(cut)).removesuffix(".0") for cut in cuts]
    if not shown:
        return [f"{column}=any"]
    between = [f"{column}={low} to <{high}" for low, high in pairwise(shown)]
    return [f"{column}=below {shown[0]}", *between, f"{column}={shown[-1]} or more"]


#: Ranges as they are called.
_NUMBER = r"(-?\d+(?:\.\d+)?(?:e[-+]?\d+)?)"
_RANGE = re.compile(rf"below {_NUMBER}|{_NUMBER} or more|{_NUMBER} to <{_NUMBER}")


def ranked(values: Iterable[str]) -> list[str]:
    """The values of an attribute in their order: numbers and ranges by size, all else after them by name.

    >>> ranked(["50 or more", "below 7", "(missing)", "7 to <50"])
    ['below 7', '7 to <50', '50 or more', '(missing)']
    """

    def place(text: str) -> tuple[float, str]:
        found = _RANGE.fullmatch(text)
        below, more, low, _ = found.groups() if found else (None, None, None, None)
        start = -math.inf if below else _number(more or low or text)
        return (math.inf if start is None else start), text

    return sorted(values, key=place)


def cuts_of(names: Iterable[str]) -> dict[str, list[float] | None]:
    """The columns that attributes are of, and where their numbers were cut; None: they were left as they are.

    >>> cuts_of(["age=below 30", "age=30 to <50.5", "age=50.5 or more", "region=north"])
    {'age': [30.0, 50.5], 'region': None}
    """
    found: dict[str, list[str]] = {}
    for name in names:
        column, _, value = name.partition("=")
        found.setdefault(column, []).extend([] if value == MISSING else [value])
    return {column: _cuts_between(ranges) for column, ranges in found.items()}


def _cuts_between(ranges: Sequence[str]) -> list[float] | None:
    """Where numbers were cut into ranges; None if there is anything else among them."""
    matches = [_RANGE.fullmatch(text) for text in ranges]
    cuts = {float(cut) for match in matches if match is not None for cut in match.groups() if cut is not None}
    return sorted(cuts) if cuts and None not in matches and all(map(math.isfinite, cuts)) else None


def _number(text: str) -> float | None:
    try:
        found = math.nan if "_" in text else float(text)  # Python reads "10_2" as 102
    except ValueError:
        return None
    return found if math.isfinite(found) else None


# ---------------------------------------------------------------------- from a second table

#: How messages call it.
CASES = "the table of attributes"


def case_table(table: Any, case: str | None, cases: Sequence[str]) -> tuple[str, dict[str, Encoded]]:
    """What a table, or its file, is called, and its columns but the one that names the case.

    These have one value per case that is asked for, which is missing where the table has no row of it.
    """
    source = name_of(table) if isinstance(table, str | os.PathLike) else CASES
    content = _table_of(table, source)
    _refuse_repeated(content.column_names, source)
    named = case_column(content.column_names, case, source)
    names = encode(content.column(named), named, source)
    refuse_missing(names.missing, named, source)
    several = np.flatnonzero(np.bincount(names.codes) > 1)
    if len(several):
        raise DataError(
            f"case {names.texts[several[0]][:40]!r} has two rows in {source}; attributes have one row per "
            "case: keep one"
        )
    row = {names.texts[code]: at for at, code in enumerate(names.codes.tolist())}
    rows = np.array([row.get(name, -1) for name in cases], np.int64)
    found = {}
    for name in content.column_names:
        if name != named:
            column = encode(content.column(name), name, source)
            found[name] = Encoded(np.append(column.codes, np.int32(-1))[rows], column.texts)
    return source, found


def _refuse_repeated(names: Sequence[str], source: str) -> None:
    several = [name for name, n in Counter(names).items() if n > 1]
    if several:
        raise DataError(f"{source} has several columns {several[0]!r}; leave one of them in it")


def _table_of(table: Any, source: str) -> pa.Table:
    from summarkov.read.csv_files import read_whole
    from summarkov.read.files import format_of
    from summarkov.read.tables import is_table, of_objects, parquet_batches, parquet_schema

    if isinstance(table, str | os.PathLike):
        kind = format_of(source, None)
        if kind in ("csv", "tsv"):
            return read_whole(source, kind)
        if kind == "parquet":
            schema = parquet_schema(source)
            _refuse_repeated(schema.names, source)
            for field in filter(lambda field: pa.types.is_nested(field.type), schema):
                raise no_labels(field.name, source, field.type)  # before it is read, which may be much
            batches = [*parquet_batches(source, schema.names)]
            return pa.Table.from_batches(batches) if batches else schema.empty_table()
        raise SettingError(f"attributes are read from .csv, .tsv or .parquet, and {source} is none of these")
    if not isinstance(table, Mapping) and not is_table(table):
        raise SettingError(
            "attributes must be a list of columns, a table with one row per case, or the path of one, not "
            f"{type(table).__name__}"
        )
    return pa.table(of_objects(table, source))
