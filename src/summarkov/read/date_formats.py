"""Numbers, dates and times as people write them, also by a format such as ``%d/%m/%Y %H:%M``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, time
from functools import cached_property

import numpy as np
import numpy.typing as npt

from summarkov.arrow import pa, pc
from summarkov.errors import DataError, SettingError
from summarkov.read.encoding import missing_rows
from summarkov.typing import BoolArray, IntArray

_MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
#: What each directive stands for: the name of the part, and the text that it may be.
_PARTS = {
    "Y": ("year", r"\d{4}"),
    "y": ("short", r"\d{2}"),
    "m": ("month", r"\d{1,2}"),
    "b": ("named", r"[A-Za-z]{3}"),
    "B": ("named", r"[A-Za-z]{3,9}"),
    "d": ("day", r"\d{1,2}"),
    "H": ("hour", r"\d{1,2}"),
    "I": ("half", r"\d{1,2}"),
    "p": ("noon", r"[AaPp][Mm]"),
    "M": ("minute", r"\d{1,2}"),
    "S": ("second", r"\d{1,2}"),
    "f": ("fraction", r"\d{1,6}"),
    "z": ("zone", r"Z|[+-](?:[01]\d|2[0-3]):?[0-5]\d"),
}
#: Short for several.
_SHORT = {"F": "%Y-%m-%d", "T": "%H:%M:%S"}
_MICROSECONDS = 10**6
#: Longer formats are no formats: what else would stand in them?
_LONGEST = 200


@dataclass(frozen=True)
class DateFormat:
    """A format of dates and times; names of months are the English ones.

    >>> import pyarrow as pa
    >>> DateFormat("%d/%m/%y %I:%M %p").read(pa.chunked_array([["31/12/24 1:05 PM"]])).to_pylist()
    [datetime.datetime(2024, 12, 31, 13, 5)]
    """

    text: str

    def __post_init__(self) -> None:
        if not isinstance(self.text, str):
            raise SettingError(f"date_format must be a text such as '%d/%m/%Y %H:%M', not {self.text!r}")
        if len(self.text) > _LONGEST:
            raise SettingError(
                f"date_format has {len(self.text)} characters; give one of at most {_LONGEST}, such as "
                "'%d/%m/%Y %H:%M'"
            )
        if half := re.search("[\ud800-\udfff]", self.text):
            raise SettingError(
                f"date_format={self.text!r} holds {half[0]!r}, half of a character; leave it out"
            )
        _ = self.pattern

    @cached_property
    def pattern(self) -> str:
        """The same as a regular expression with one named group for each part."""
        text = re.sub("%([FT])", lambda found: _SHORT[found[1]], self.text)
        found, names = "", list[str]()
        for literal, directive in re.findall(r"([^%]+)|%(.?)", text, re.DOTALL):
            if literal or directive == "%":
                found += re.sub(r"([!-/:-@[-^`{-~])", r"\\\1", literal or "%")  # RE2 escapes only these
            elif directive in _PARTS:
                name, form = _PARTS[directive]
                names.append(name)
                found += f"(?P<{name}>{form})"
            else:
                known = ", ".join(f"%{letter}" for letter in (*_PARTS, *_SHORT, "%"))
                raise SettingError(
                    f"date_format={self.text!r} has %{directive}, which is not known; use {known}"
                )
        together = {"year", "short"}, {"month", "named"}, {"hour", "half"}
        if not names or len(set(names)) < len(names) or any(pair <= set(names) for pair in together):
            raise SettingError(
                f"date_format={self.text!r} must have each part of a date or time at most once, and at least "
                "one of them, as in '%d/%m/%Y %H:%M'"
            )
        if ("half" in names) != ("noon" in names):
            raise SettingError(
                f"date_format={self.text!r}: hours up to 12 (%I) need AM or PM (%p); others are %H"
            )
        return f"^{found}$"

    @property
    def type(self) -> pa.DataType:
        """What is read: times in microseconds, in UTC if they have a zone."""
        return pa.timestamp("us", "UTC" if "(?P<zone>" in self.pattern else None)

    def read(self, text: pa.ChunkedArray) -> pa.ChunkedArray | None:
        """All of some text as times, or None if some of it does not fit."""
        values, fits = self._parse(text)
        return pa.chunked_array([pa.array(values).cast(self.type)]) if fits.all() else None

    def first_unfit(self, text: pa.ChunkedArray) -> int | None:
        """The first row that does not fit."""
        unfit = np.flatnonzero(~self._parse(text)[1])
        return int(unfit[0]) if len(unfit) else None

    def _parse(self, text: pa.ChunkedArray) -> tuple[IntArray, BoolArray]:
        """Microseconds since 1970, and whether each text is a time at all."""
        parts = pc.extract_regex(text.combine_chunks(), self.pattern)
        fits = _bools(pc.is_valid(parts))

        def number(name: str, default: int) -> IntArray:
            if f"(?P<{name}>" not in self.pattern:
                return np.full(len(fits), default, np.int64)
            digits = pc.fill_null(pc.struct_field(parts, name), "0")
            return np.from_dlpack(digits.cast("int64")).astype(np.int64, copy=False)

        def words(name: str) -> list[str]:
            if f"(?P<{name}>" not in self.pattern:
                return []
            return [(word or "").lower() for word in pc.struct_field(parts, name).to_pylist()]

        year = number("year", 1970)
        if "(?P<short>" in self.pattern:
            short = number("short", 0)
            year = short + np.where(short < 69, 2000, 1900)  # as POSIX has it
        month = number("month", 1)
        if named := words("named"):
            month = np.array([_month(word) for word in named], np.int64)
        day, hour = number("day", 1), number("hour", 0)
        if noon := words("noon"):
            half = number("half", 12)
            fits &= (half >= 1) & (half <= 12)
            hour = half % 12 + 12 * np.array([word == "pm" for word in noon])
        minute, second = number("minute", 0), number("second", 0)
        fits &= (month >= 1) & (month <= 12) & (hour < 24) & (minute < 60) & (second < 60)
        months = ((year - 1970) * 12 + np.clip(month, 1, 12) - 1).astype("M8[M]")
        date = months.astype("M8[D]") + (day - 1)
        fits &= (day >= 1) & (date.astype("M8[M]") == months)
        seconds = (date.astype(np.int64) * 24 + hour) * 3600 + minute * 60 + second
        if zones := words("zone"):
            seconds -= np.array([_offset(zone) for zone in zones], np.int64)
        fraction = [int(digits.ljust(6, "0")) for digits in words("fraction")]
        found: IntArray = seconds * _MICROSECONDS + np.array(fraction or 0, np.int64)
        return found, fits


def _bools(column: pa.Array) -> npt.NDArray[np.bool_]:
    return np.from_dlpack(column.cast("uint8")).astype(bool)


def _month(name: str) -> int:
    """The number of a month, by its name or the first three letters of it; 0 if there is none."""
    return next((at for at, month in enumerate(_MONTHS, start=1) if name in (month, month[:3])), 0)


def _offset(zone: str) -> int:
    """Seconds by which a zone is ahead of UTC."""
    if len(zone) < 3:  # Z, or nothing
        return 0
    seconds = 3600 * int(zone[1:3]) + 60 * int(zone[-2:])
    return -seconds if zone[0] == "-" else seconds


# ---------------------------------------------------------------------- whatever text may stand for


def is_text(kind: pa.DataType) -> bool:
    """Whether a column of this type holds text."""
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


@dataclass(frozen=True)
class TextKind:
    """One way to read the text of an order column. No text fits kinds of two families."""

    family: str  # "number", "date", "date with zone", "time of day" or "stated"
    type: pa.DataType
    format: DateFormat | None = None

    def read(self, text: pa.ChunkedArray) -> pa.ChunkedArray | None:
        """All of some text as values, or None if it does not fit; "nan" is no number."""
        if self.format is not None:
            return self.format.read(text)
        if self.family == "time of day":
            text = pc.binary_join_element_wise("1970-01-01", text, " ")
        values = _cast(text, self.type)
        if values is None and self.family.startswith("date"):
            values = _cast(_as_iso(text), self.type)
        if values is not None and pa.types.is_floating(self.type) and len(missing_rows(values)):
            return None
        return values


def text_kinds(date_format: DateFormat | None = None) -> list[TextKind]:
    """What text in an order column can be: numbers, or as stated. The first kind that all fits is taken."""
    if date_format is not None:
        numbers = [kind for kind in text_kinds() if kind.family == "number"]
        return [TextKind("stated", date_format.type, date_format), *numbers]
    return [
        TextKind("number", pa.int64()),
        TextKind("number", pa.float64()),
        TextKind("date", pa.timestamp("us")),
        TextKind("date", pa.timestamp("ns")),
        TextKind("date with zone", pa.timestamp("us", "UTC")),
        TextKind("date with zone", pa.timestamp("ns", "UTC")),
        TextKind("time of day", pa.timestamp("us")),
        TextKind("time of day", pa.timestamp("ns")),
    ]


def fitting(kinds: Sequence[TextKind], text: pa.ChunkedArray) -> list[TextKind]:
    """Those of some kinds that all of some text fits."""
    first = next((at for at, kind in enumerate(kinds) if kind.read(text) is not None), len(kinds))
    rest = [kind for kind in kinds[first + 1 :] if kind.family == kinds[first].family]
    return [*kinds[first : first + 1], *(kind for kind in rest if kind.read(text) is not None)]


def order_text(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """The text of an order column, without blanks around it."""
    return pc.utf8_trim_whitespace(column.cast(pa.string()))


def misfit(kinds: Sequence[TextKind], text: pa.ChunkedArray) -> int:
    """The first row with which no kind fits all rows so far any more; there is one."""
    fit, unfit = 0, len(text)  # how many rows fit, and how many do not
    while unfit - fit > 1:
        half = (fit + unfit) // 2
        fit, unfit = (half, unfit) if fitting(kinds, text[:half]) else (fit, half)
    return fit


def family_of(value: str) -> str:
    return next((kind.family for kind in fitting(text_kinds(), pa.chunked_array([[value]]))), "other")


def unreadable_row(text: pa.ChunkedArray, date_format: DateFormat | None = None) -> int | None:
    """The first row that is neither a number nor a date nor a time, or not as stated, if there is one."""
    if date_format is not None:
        return date_format.first_unfit(text)
    return next((row for row, value in enumerate(_as_iso(text).to_pylist()) if not _readable(value)), None)


def unordered(name: str, source: str, where: str, date_format: DateFormat | None = None) -> DataError:
    """The error for text that cannot be put in order."""
    if date_format is not None:
        return DataError(
            f"order column {name!r} of {source} cannot be read: {where}, which is not written as "
            f"date_format={date_format.text!r} says; mend it, or give the format that all of it has"
        )
    return DataError(
        f"order column {name!r} of {source} cannot be put in order: {where}; write all "
        "of it as numbers, or all as dates like 2024-01-31 18:30:00, or say how dates are written, as in "
        "date_format='%d/%m/%Y %H:%M' (or use order=False if the rows are in order)"
    )


def shown(value: str) -> str:
    return repr(value[:40])


def _cast(text: pa.ChunkedArray, kind: pa.DataType) -> pa.ChunkedArray | None:
    try:
        return text.cast(kind)
    except pa.ArrowInvalid:
        return None


def _as_iso(text: pa.ChunkedArray) -> pa.ChunkedArray:
    """Write dates as ISO does where they can mean only one: 2024/01/31, as Disco and ProM, and 31.01.2024."""
    text = pc.replace_substring_regex(text, r"^(\d{4})/(\d{2})/(\d{2})\b", r"\1-\2-\3")
    return pc.replace_substring_regex(text, r"^(\d{2})\.(\d{2})\.(\d{4})\b", r"\3-\2-\1")


def _readable(value: str) -> bool:
    for read in (float, datetime.fromisoformat, time.fromisoformat):
        try:
            found = read(value)
        except ValueError:
            continue
        return found == found  # which nan is not
    return False
