"""Attributes of sequences, from columns: values as they are, numbers cut into ranges."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from summarkov.errors import DataError, SettingError
from summarkov.events import EventSequences
from summarkov.events.attributes import MISSING, Attributes, refuse_column
from summarkov.events.vocabulary import translation
from summarkov.read.columns import Cuts, Wanted
from summarkov.read.values import Encoded
from summarkov.typing import IntArray

#: Values that are not numbers may be as many, and numbers up to as many different ones stay as they are.
MOST_VALUES, FEW_NUMBERS = 100, 5
#: Numbers are cut at these shares of the sequences.
_SHARES = (0.25, 0.5, 0.75)


def attributes_of(
    events: EventSequences, columns: dict[str, Encoded], wanted: Wanted, source: str
) -> EventSequences:
    """Events with columns, which have a value per sequence, as attributes, or as what tells their ends."""
    if wanted.ends is not None and wanted.ends.column in columns:
        told = wanted.ends.told(*columns.pop(wanted.ends.column))
        events = events.with_ends(events.complete & told)
    return events.with_attributes(_attributes(columns, wanted, source, len(events))) if columns else events


def _attributes(columns: Mapping[str, Encoded], wanted: Wanted, source: str, n_sequences: int) -> Attributes:
    """Name the values, or ranges of values, of columns, each of which has one code per sequence."""
    unused = sorted(set(wanted.cuts) - set(columns))
    if unused:
        raise SettingError(f"cuts are given for {unused[0]!r}, which is no attribute; add it to attributes=")
    occurring, each = set[str](), list[list[str]]()
    for column, values in columns.items():
        refuse_column(column, source)
        absent = values.missing
        if len(absent) and len(absent) == len(values.codes) and column not in wanted.cuts:
            raise DataError(
                f"attribute {column!r} of {source} has no value for any sequence; check its name, or leave "
                "it out"
            )
        names, missing = _names(column, values, wanted.cuts, source), f"{column}={MISSING}"
        found = {name for name, n in zip(names, values.counts.tolist(), strict=True) if n}
        if len(absent) and missing in found:
            raise DataError(
                f"attribute {column!r} of {source} holds {MISSING!r} as a value, and lacks others, which are "
                "called so; rename the value, or leave it empty"
            )
        occurring |= found | ({missing} if len(absent) else set())
        each.append([*names, missing])
    ordered = sorted(occurring)
    present = np.zeros((n_sequences, len(ordered)), bool)
    for values, some in zip(columns.values(), each, strict=True):
        codes = translation(some, ordered)[:-1]
        present[np.arange(len(present)), codes[values.codes]] = True
    return Attributes(ordered, present)


def _names(column: str, values: Encoded, cuts: Cuts, source: str) -> list[str]:
    """What each of the different values of a column is called."""
    given, counts = cuts.get(column), values.counts
    ranges = [] if given is None else _ranges(column, given)
    whole = {name.removeprefix(f"{column}=") for name in ranges}  # of numbers that were cut before
    texts = [text for text, n in zip(values.texts, counts.tolist(), strict=True) if n and text not in whole]
    known = {text: number_of(text) for text in texts}
    odd = next((text for text, number in known.items() if number is None), None)
    if given is not None and odd is not None:
        raise DataError(
            f"attribute {column!r} of {source} holds {odd[:40]!r}, which is no number, and cannot be cut; "
            "correct it, or leave out its cuts"
        )
    few = len(set(known.values())) <= FEW_NUMBERS
    if given is None and (odd is not None or few or column in cuts):
        if len(texts) > MOST_VALUES:
            why = "" if odd is None else f", and they are not all numbers, such as {odd[:40]!r}"
            raise DataError(
                f"attribute {column!r} of {source} has {len(texts):,} different values, more than "
                f"{MOST_VALUES}{why}; leave it out, or make groups of its values first"
            )
        return [f"{column}={text}" for text in values.texts]
    found = np.array([known.get(text) for text in values.texts], float)
    where = quartiles(found, counts) if given is None else list(given)
    ranges = ranges or _ranges(column, where)
    each = zip(values.texts, np.searchsorted(where, found, side="right").tolist(), strict=True)
    return [f"{column}={text}" if text in whole else ranges[at] for text, at in each]


def number_of(text: str) -> float | None:
    """The finite number that a text stands for, if it does. (Python reads "10_2" as 102.)"""
    try:
        found = math.nan if "_" in text else float(text)
    except ValueError:
        return None
    return found if math.isfinite(found) else None


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


# ---------------------------------------------------------------------- from names back to values

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
        start = -math.inf if below else number_of(more or low or text)
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
