"""From the columns of a table to arrays: labels and cases as codes; numbers, dates and times as sort keys."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from summarkov.arrow import arrow_of, is_text, numpy_of, pa, pc
from summarkov.errors import DataError, SettingError, UnknownLabelError
from summarkov.events.vocabulary import EMPTY_TICK, UNKNOWN
from summarkov.typing import Array, CodeArray, IntArray

# ---------------------------------------------------------------------- codes


class Encoded(NamedTuple):
    """A column as codes into its different texts (in any order, some unused); -1 is a missing value."""

    codes: Array
    texts: Any  # a sequence of them

    @property
    def missing(self) -> IntArray:
        """The rows that have no value."""
        return np.flatnonzero(self.codes < 0)

    @property
    def counts(self) -> IntArray:
        """How often each of the texts occurs."""
        return np.bincount(self.codes[self.codes >= 0], minlength=len(self.texts))


def encode(column: pa.ChunkedArray, name: str, source: str, *, blanks: bool = True) -> Encoded:
    """Encode a column of labels or case names; numbers become their text.

    Null and nan are missing values, and where ``blanks`` are no value, text of nothing but blanks.

    >>> import pyarrow as pa
    >>> encode(pa.chunked_array([[30, 7], [None, 7]]), "event", "the table")
    Encoded(codes=array([ 0,  1, -1,  1], dtype=int32), texts=['30', '7'])
    """
    try:
        if not _is_plain_dictionary(column):
            # chunk by chunk: encoding them together repeats the growing dictionary for each
            chunks = [chunk.dictionary_encode() for chunk in without_codes(column).chunks]
            column = pa.chunked_array(chunks, chunks[0].type if chunks else column.type)
        chunks = column.unify_dictionaries().chunks
        texts = _texts(chunks[0].dictionary) if chunks else []
    except pa.ArrowException as error:
        raise no_labels(name, source, column.type) from error
    except UnicodeDecodeError as error:
        raise DataError(
            f"column {name!r} of {source} holds text that is not UTF-8; write it as UTF-8"
        ) from error
    none = arrow_of(np.array([-1]))[0]
    indices = [pc.fill_null(each.indices.cast(pa.int64()), none) for each in chunks]
    codes = numpy_of(pa.chunked_array(indices, pa.int64()))
    first: dict[str, int] = {}  # the dictionary of a data frame may repeat a value
    known = [text if blanks or (text and text.strip()) else None for text in texts]
    each = [-1 if text is None else first.setdefault(text, len(first)) for text in known]
    return Encoded(np.array([*each, -1], np.int32)[codes], [*first])


def no_labels(name: str, source: str, kind: pa.DataType) -> DataError:
    """The error for a column of another type than labels have."""
    return DataError(
        f"column {name!r} of {source} holds {kind}, which cannot be read as labels; turn it into text first"
    )


def _is_plain_dictionary(column: pa.ChunkedArray) -> bool:
    """Whether a column has codes already, of a kind that Arrow can make one of."""
    if not pa.types.is_dictionary(column.type) or pa.types.is_string_view(column.type.value_type):
        return False
    return not any(chunk.dictionary.null_count for chunk in column.chunks)


def _texts(values: pa.Array) -> list[str | None]:
    """The text of every value, None of nan: floats and truth values as Python has them, others as Arrow."""
    if pa.types.is_floating(values.type):  # as short as their precision allows
        return [None if value != value else str(value) for value in np.from_dlpack(values)]
    if pa.types.is_boolean(values.type):
        return [str(value) for value in values.to_pylist()]
    texts: list[str | None] = values.cast(pa.string()).to_pylist()
    return texts


def without_codes(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a column of categories as a column of their values; text as Arrow works with it best.

    >>> import pyarrow as pa
    >>> without_codes(pa.chunked_array([pa.array([7, 7]).dictionary_encode()])).to_pylist()
    [7, 7]
    """
    chunks, kind = column.chunks, column.type
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
        chunks = [_without_views(chunk.dictionary).take(chunk.indices) for chunk in chunks]
    kind = pa.large_string() if pa.types.is_string_view(kind) else kind
    return pa.chunked_array([_without_views(chunk) for chunk in chunks], kind)


def _without_views(values: pa.Array) -> pa.Array:
    """The same without views of text, of which Arrow cannot take some rows."""
    return values.cast(pa.large_string()) if pa.types.is_string_view(values.type) else values


def refuse_missing(
    rows: IntArray,
    name: str,
    source: str,
    first_row: int = 0,
    what: str = "no value",
    remedy: str = "fill or drop them",
) -> None:
    """Say how many values of a column, which begins at ``first_row``, are missing and where the first is."""
    if len(rows):
        raise DataError(
            f"column {name!r} of {source} has {what} in {len(rows)} row{'s' if len(rows) > 1 else ''}, the "
            f"first is row {first_row + int(rows[0]) + 1} (the first row of data is 1); {remedy}"
        )


class Vocabulary(dict[str, int]):
    """A code for every text: those declared, or in the order in which they come.

    >>> vocabulary = Vocabulary(None)
    >>> [vocabulary[label] for label in "bab"]
    [0, 1, 0]
    """

    def __init__(self, declared: Sequence[str] | None = None) -> None:
        super().__init__((label, code) for code, label in enumerate(declared or ()))
        self._declared = declared

    def __missing__(self, label: str) -> int:
        """The code of one more text; one that was not declared is an error."""
        if self._declared is not None:
            raise UnknownLabelError(label, self._declared)
        self[label] = len(self)
        return len(self) - 1

    def recode(self, column: Encoded) -> CodeArray:
        """The codes of the texts of a column, of those that occur; codes below 0 stay as they are."""
        each = zip(column.texts, column.counts.tolist(), strict=True)
        codes = [self[text] if n else UNKNOWN for text, n in each]
        return np.asarray(np.array([*codes, EMPTY_TICK, UNKNOWN], np.int32)[column.codes])

    def settled(self) -> tuple[list[str], CodeArray]:
        """The texts in sorted order, and the final code for every one given out; more are for none."""
        labels = sorted(self)
        place = {label: at for at, label in enumerate(labels)}
        return labels, np.array([*(place[label] for label in self), UNKNOWN, UNKNOWN], np.int32)


# ---------------------------------------------------------------------- dates as people write them

#: What each directive stands for: the name of the part, and the text that it may be.
_PARTS = {
    "Y": ("year", r"\d{4}"),
    "y": ("year", r"\d{2}"),
    "m": ("month", r"\d{1,2}"),
    "b": ("month", r"[A-Za-z]{3}"),
    "B": ("month", r"[A-Za-z]{3,9}"),
    "d": ("day", r"\d{1,2}"),
    "H": ("hour", r"\d{1,2}"),
    "I": ("hour", r"\d{1,2}"),
    "p": ("noon", r"[AaPp][Mm]"),
    "M": ("minute", r"\d{1,2}"),
    "S": ("second", r"\d{1,2}"),
    "f": ("fraction", r"\d{1,6}"),
    "z": ("zone", r"Z|[+-](?:[01]\d|2[0-3]):?[0-5]\d"),
}
#: Longer formats are no formats: what else would stand in them?
_LONGEST_FORMAT = 200


@dataclass(frozen=True)
class DateFormat:
    """A format of dates and times; names of months are the English ones. DuckDB reads what fits its pattern.

    >>> import pyarrow as pa
    >>> DateFormat("%d/%m/%y %I:%M %p").read(pa.chunked_array([["31/12/24 1:05 PM"]])).to_pylist()
    [datetime.datetime(2024, 12, 31, 13, 5)]
    """

    text: str

    def __post_init__(self) -> None:
        if not isinstance(self.text, str):
            raise SettingError(f"date_format must be a text such as '%d/%m/%Y %H:%M', not {self.text!r}")
        if len(self.text) > _LONGEST_FORMAT:
            raise SettingError(
                f"date_format has {len(self.text)} characters; give one of at most {_LONGEST_FORMAT}, such "
                "as '%d/%m/%Y %H:%M'"
            )
        if half := re.search("[\ud800-\udfff]", self.text):
            raise SettingError(
                f"date_format={self.text!r} holds {half[0]!r}, half of a character; leave it out"
            )
        _ = self.pattern

    @property
    def form(self) -> str:
        """The same without what is short for several parts."""
        short = {"%F": "%Y-%m-%d", "%T": "%H:%M:%S"}
        return re.sub("%.", lambda found: short.get(found[0], found[0]), self.text)

    @cached_property
    def pattern(self) -> str:
        """The same as a regular expression with one named group for each part."""
        found, names, letters = "", list[str](), list[str]()
        for literal, directive in re.findall(r"([^%]+)|%(.?)", self.form, re.DOTALL):
            if literal or directive == "%":
                found += re.sub(r"([!-/:-@[-^`{-~])", r"\\\1", literal or "%")  # RE2 escapes only these
                continue
            if directive not in _PARTS:
                known = ", ".join(f"%{letter}" for letter in (*_PARTS, "F", "T", "%"))
                raise SettingError(
                    f"date_format={self.text!r} has %{directive}, which is not known; use {known}"
                )
            name, form = _PARTS[directive]
            names, letters = [*names, name], [*letters, directive]
            found += f"(?P<{name}>{form})"
        if not names or len(set(names)) < len(names):
            raise SettingError(
                f"date_format={self.text!r} must have each part of a date or time at most once, and at least "
                "one of them, as in '%d/%m/%Y %H:%M'"
            )
        if ("I" in letters) != ("p" in letters):
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
        import duckdb

        if not pc.all(pc.match_substring_regex(text, self.pattern)).as_py():
            return None
        form = self.form
        if "(?P<zone>" in self.pattern:
            form, text = form.replace("Z", "+00:00"), pc.replace_substring(text, "Z", "+00:00")
        if "(?P<year>" not in self.pattern:
            form, text = f"%Y {form}", pc.binary_join_element_wise("1970", text, " ")
        with duckdb.connect(config={"autoinstall_known_extensions": False}) as db:
            db.register("texts", pa.table({"t": text}))
            forms = ", ".join("'" + f.replace("'", "''") + "'" for f in (form, form.replace("%B", "%b")))
            found = db.sql(f"SELECT epoch_us(try_strptime(t, [{forms}])) AS t FROM texts").to_arrow_table()
        return None if found.column(0).null_count else found.column(0).cast(self.type)


# ---------------------------------------------------------------------- keys


class TextKind(NamedTuple):
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
        if values is not None and pa.types.is_floating(self.type) and pc.any(pc.is_nan(values)).as_py():
            return None
        return values


def _cast(text: pa.ChunkedArray, kind: pa.DataType) -> pa.ChunkedArray | None:
    try:
        return text.cast(kind)
    except pa.ArrowInvalid:
        return None


def _as_iso(text: pa.ChunkedArray) -> pa.ChunkedArray:
    """Write dates as ISO does where they can mean only one: 2024/01/31, as Disco and ProM, and 31.01.2024."""
    text = pc.replace_substring_regex(text, r"^(\d{4})/(\d{2})/(\d{2})\b", r"\1-\2-\3")
    return pc.replace_substring_regex(text, r"^(\d{2})\.(\d{2})\.(\d{4})\b", r"\3-\2-\1")


def text_kinds(date_format: DateFormat | None = None) -> list[TextKind]:
    """What text in an order column can be: numbers, or as stated. The first kind that all fits is taken."""
    numbers = [TextKind("number", pa.int64()), TextKind("number", pa.float64())]
    if date_format is not None:
        return [TextKind("stated", date_format.type, date_format), *numbers]
    families = {"date": None, "date with zone": "UTC", "time of day": None}
    times = [
        TextKind(name, pa.timestamp(unit, zone)) for name, zone in families.items() for unit in ("us", "ns")
    ]
    return numbers + times


def _fitting(kinds: Sequence[TextKind], text: pa.ChunkedArray) -> tuple[TextKind, pa.ChunkedArray] | None:
    """The first of some kinds that all of some text fits, and its values."""
    each = ((kind, kind.read(text)) for kind in kinds)
    return next(((kind, values) for kind, values in each if values is not None), None)


def family_of(value: str) -> str:
    """What a text is taken for, alone."""
    found = _fitting(text_kinds(), pa.chunked_array([[value]]))
    return found[0].family if found else "other"


class OrderColumn:
    """An order column that comes in blocks, whose text is numbers, dates or times of day in all of them.

    ``kind`` is the type that all blocks so far have in common; see :meth:`settled`.
    """

    def __init__(self, name: str, date_format: DateFormat | None = None, thing: str = "row") -> None:
        self.name, self.date_format, self.thing = name, date_format, thing
        self.kind: pa.DataType | None = None
        self._family: str | None = None
        self._first = ("", 0, "")  # where the first text stands, and what it is

    def keys(self, column: pa.ChunkedArray, source: str, first_row: int = 0) -> tuple[Array, pa.DataType]:
        """Numbers in the order of a block of numbers, dates or times, and their type.

        Text is read as numbers, else as ISO dates and times, else as times of day; text that is none of these
        is refused, since sorted as text "10" would come before "9". Decimals are read as their text.

        >>> import pyarrow as pa
        >>> OrderColumn("step").keys(pa.chunked_array([["10", "9"]]), "the table")[0].tolist()
        [10, 9]
        """
        column = without_codes(column)
        missing = pc.indices_nonzero(pc.is_null(column, nan_is_null=True))
        refuse_missing(numpy_of(pa.chunked_array([missing])), self.name, source, first_row)
        if pa.types.is_decimal(column.type):
            column = column.cast(pa.string())
        if is_text(column.type):
            if not len(column):
                return np.zeros(0, np.int64), self.kind or pa.int64()
            column = self._read(column, source, first_row)
        kind = column.type
        if self.kind is None or self.kind in (pa.int64(), pa.timestamp("us", getattr(kind, "tz", None))):
            self.kind = kind
        return self._numbers(column, source), kind

    def settled(self, keys: Array, kind: pa.DataType) -> Array:
        """The keys of a block of some type as those of the type of all blocks."""
        if self.kind in (None, kind):
            return keys
        if pa.types.is_floating(self.kind):
            return keys.astype(np.float64)
        if not keys.any():  # zeros for what has no time
            return keys
        if kind.unit == "us" and max(-int(keys.min()), int(keys.max())) >= 2**63 // 1000:
            raise DataError(
                f"order column {self.name!r} cannot be put in order: it has nanoseconds, and dates too far "
                "from 1970 for them; write all of it in microseconds"
            )
        return keys * 1000

    def _read(self, column: pa.ChunkedArray, source: str, first_row: int) -> pa.ChunkedArray:
        """A block of text as values."""
        text = pc.utf8_trim_whitespace(column.cast(pa.string()))
        if self._family is None:
            self._first = source, first_row, text[0].as_py()
        known = text_kinds(self.date_format)
        kinds = [kind for kind in known if self._family in (None, kind.family)]
        found = _fitting(kinds, text)
        if found is not None:
            self._family = found[0].family
            return found[1]
        if self.date_format is not None:  # what is not as stated is named
            known = known[:1]
            kinds = kinds if _fitting(known, text) else known
        fit, unfit = 0, len(text)  # how many rows fit, and how many do not
        while unfit - fit > 1:
            half = (fit + unfit) // 2
            fit, unfit = (half, unfit) if _fitting(kinds, text[:half]) else (fit, half)
        value, row = text[fit].as_py(), first_row + fit
        if _fitting(known, text[fit : fit + 1]):
            raise self._mixed(value, row, source)
        where = f"{self.thing} {row + 1} of the data holds {column[fit].as_py()[:40]!r}"
        if self.date_format is None:
            raise self._unordered(source, where)
        raise DataError(
            f"order column {self.name!r} of {source} cannot be read: {where}, which is not written as "
            f"date_format={self.date_format.text!r} says; mend it, or give the format that all of it has"
        )

    def _numbers(self, column: pa.ChunkedArray, source: str) -> Array:
        """Values as numbers of 64 bits."""
        kind = column.type
        if not len(column):
            return np.zeros(0, np.int64)
        if pa.types.is_integer(kind) or pa.types.is_floating(kind):
            found = numpy_of(column)
            wide = {"f": np.float64, "i": np.int64, "u": np.uint64}
            return found.astype(wide[found.dtype.kind], copy=False)
        if pa.types.is_temporal(kind) and not pa.types.is_interval(kind):
            whole = column.cast(pa.int32() if kind.bit_width == 32 else pa.int64())
            return numpy_of(whole).astype(np.int64)
        raise DataError(
            f"order column {self.name!r} of {source} holds {kind}; it must hold numbers, dates or times "
            "(or use order_by=False if the rows are in order)"
        )

    def _mixed(self, other: str, row: int, source: str) -> DataError:
        """The error for texts each of which could be read, but not all in the same way."""
        where, first, value = self._first
        told = f"{self.thing} {first + 1} of the data holds {value[:40]!r} and {self.thing} {row + 1}"
        told += f"{'' if source == where else f' of {source}'} {other[:40]!r}"
        if {family_of(value), family_of(other)} == {"date", "date with zone"}:
            return DataError(
                f"order column {self.name!r} of {where} cannot be put in order: {told}, one with a time zone "
                "and one without, so which came first is not known; write all with a zone, or all without"
            )
        return self._unordered(where, told)

    def _unordered(self, source: str, where: str) -> DataError:
        """The error for text that cannot be put in order."""
        return DataError(
            f"order column {self.name!r} of {source} cannot be put in order: {where}; write all "
            "of it as numbers, or all as dates like 2024-01-31 18:30:00, or say how dates are written, as in "
            "date_format='%d/%m/%Y %H:%M' (or use order_by=False if the rows are in order)"
        )
