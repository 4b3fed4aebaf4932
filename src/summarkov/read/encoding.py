"""From columns of labels to codes and their texts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date, datetime, time, timedelta
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from summarkov.arrow import pa, pc
from summarkov.errors import DataError, UnknownLabelError
from summarkov.typing import BoolArray, CodeArray, IntArray


class Encoded(NamedTuple):
    """A column as codes into its different texts (in any order, some unused); -1 is a missing value."""

    codes: npt.NDArray[np.integer]
    texts: Any  # a sequence of them

    def text(self, row: int) -> str | None:
        """The value of a row; None if it is missing."""
        code = int(self.codes[row])
        return self.texts[code] if code >= 0 else None

    @property
    def missing(self) -> IntArray:
        """The rows that have no value."""
        return np.flatnonzero(self.codes < 0)

    @property
    def occurring(self) -> BoolArray:
        """Which of the texts occur."""
        found = np.zeros(len(self.texts) + 1, bool)
        found[self.codes] = True  # a missing value counts as the last
        return found[:-1]


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
    none = arrow_of(np.array([-1]))[0]  # Arrow imports pandas to make a scalar
    indices = [pc.fill_null(each.indices.cast(pa.int64()), none) for each in chunks]
    codes = numpy_of(pa.chunked_array(indices, pa.int64()))
    first: dict[str, int] = {}  # the dictionary of a data frame may repeat a value
    known = [text if blanks or (text and text.strip()) else None for text in texts]
    each = [-1 if text is None else first.setdefault(text, len(first)) for text in known]
    return Encoded(np.array([*each, -1], np.int32)[codes], [*first])


def no_labels(name: str, source: str, kind: pa.DataType) -> DataError:
    """The error for a column of another type than labels have."""
    what = f"{kind}, which cannot be read as labels; turn it into text first"
    return DataError(f"column {name!r} of {source} holds {what}")


def is_list(kind: pa.DataType) -> bool:
    """Whether a column of this type holds lists."""
    kinds = ("list", "large_list", "fixed_size_list", "list_view", "large_list_view")
    return any(getattr(pa.types, f"is_{name}", lambda _: False)(kind) for name in kinds)


def is_text(kind: pa.DataType) -> bool:
    """Whether a column of this type holds text."""
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


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


def numpy_of(column: pa.ChunkedArray) -> npt.NDArray[Any]:
    """Return a column of numbers without missing values as one array.

    By way of DLPack, since Arrow's own ``to_numpy`` imports pandas wherever that is installed.

    >>> import pyarrow as pa
    >>> numpy_of(pa.chunked_array([[1, 2], [3]]))
    array([1, 2, 3])
    """
    if not column.num_chunks:
        return np.zeros(0, dtype=np.int64)
    return np.concatenate([np.from_dlpack(chunk) for chunk in column.chunks])


def arrow_of(values: npt.NDArray[Any]) -> pa.Array:
    """Numbers as a column. (``pyarrow.array`` imports pandas wherever that is installed.)

    >>> arrow_of(np.array([1, 2])).to_pylist()
    [1, 2]
    """
    kind = pa.from_numpy_dtype(values.dtype)
    return pa.Array.from_buffers(kind, len(values), [None, pa.py_buffer(np.ascontiguousarray(values))])


def text_array(texts: Iterable[str | None]) -> pa.Array:
    """Texts as a column, without pandas.

    >>> text_array(["a", None, "bc"]).to_pylist()
    ['a', None, 'bc']
    """
    each = list(texts)
    data = [b"" if text is None else text.encode() for text in each]
    offsets = np.zeros(len(data) + 1, np.int64)
    np.cumsum([*map(len, data)], out=offsets[1:])
    here = np.packbits(np.array([text is not None for text in each], bool), bitorder="little")
    buffers = [pa.py_buffer(here), pa.py_buffer(offsets), pa.py_buffer(b"".join(data))]
    return pa.Array.from_buffers(pa.large_string(), len(each), buffers)


def texts_of(objects: Sequence[Any], name: str, source: str) -> list[str | None] | None:
    """Python objects that Arrow would not take for what they are, as the text that Python writes of them.

    These are whole numbers of which some do not fit into 64 bits, and dates and times with others of another
    kind: Arrow would take a time without a zone for one in UTC, and a time for the date that it has; also
    zones of times of day and nanoseconds, which it drops. As text they are read, or refused, as in a file.
    None if Arrow can be left to it.

    >>> from datetime import date, datetime
    >>> texts_of([date(2024, 1, 31), datetime(2024, 1, 31, 18)], "time", "the table")
    ['2024-01-31', '2024-01-31 18:00:00']
    >>> texts_of([1, 2], "time", "the table")
    """
    types = {*map(type, objects)}
    fit = types == {int} and -(2**63) <= min(objects) <= max(objects) < 2**63
    if fit or not any(issubclass(kind, _NOT_LEFT_TO_ARROW) for kind in types):
        return None
    each = [(value, "missing" if _is_missing(value) else _kind(value)) for value in objects]
    kinds = {kind for _, kind in each} - {"missing"}
    if any(kind == "number" and not -(2**63) <= value < 2**63 for value, kind in each):
        if kinds != {"number"}:
            raise DataError(
                f"column {name!r} of {source} holds a whole number of more than 64 bits, and not only whole "
                "numbers; write all of it as text"
            )
    elif "text" in kinds or ((kinds <= _ALIKE or len(kinds) < 2) and not any(_loses(*one) for one in each)):
        return None
    try:
        return [None if kind == "missing" else str(value) for value, kind in each]
    except ValueError as error:  # of thousands of digits
        raise DataError(f"column {name!r} of {source} cannot be written as text: {error}") from error


#: What Arrow may take for something else, or cannot take; kinds of values that it takes together as they are.
_NOT_LEFT_TO_ARROW = (int, np.integer, date, time, timedelta, np.datetime64)
_ALIKE = {"number", "other"}


def _loses(value: Any, kind: str) -> bool:
    """Whether Arrow drops a part of a date or time, whatever stands beside it."""
    return kind == "time of day with zone" or (
        kind.startswith("time") and getattr(value, "nanosecond", 0) > 0
    )


def _is_missing(value: Any) -> bool:
    """Whether a value is none in Python, NumPy or pandas."""
    if value is None or type(value).__name__ in ("NaTType", "NAType"):
        return True
    return isinstance(value, float | np.generic) and bool(value != value)


def _kind(value: Any) -> str:
    """What a Python object is, as far as it tells whether a column can be taken in one way."""
    if isinstance(value, datetime | time | np.datetime64):
        what = "time of day" if isinstance(value, time) else "time"
        return what if getattr(value, "tzinfo", None) is None else f"{what} with zone"
    for what, kinds in (("date", date), ("span", (timedelta, np.timedelta64)), ("text", (str, bytes))):
        if isinstance(value, kinds):
            return what
    return "number" if isinstance(value, int | np.integer) and not isinstance(value, bool) else "other"


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
            f"column {name!r} of {source} has {what} in {count(len(rows), 'row')}, the first is row "
            f"{first_row + int(rows[0]) + 1} (the first row of data is 1); {remedy}"
        )


def count(number: int, thing: str) -> str:
    """Write a number of things.

    >>> count(1, "row"), count(2, "row")
    ('1 row', '2 rows')
    """
    return f"{number} {thing}{'' if number == 1 else 's'}"


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
        """The codes of the texts of a column, of those that occur; a missing value stays one."""
        occurring = column.occurring.tolist()
        each = [self[text] if here else -1 for text, here in zip(column.texts, occurring, strict=True)]
        return np.asarray(np.array([*each, -1], np.int32)[column.codes])

    def settled(self) -> tuple[list[str], CodeArray]:
        """The texts in sorted order, and the final code for every one given out; one more is for none."""
        labels = sorted(self)
        place = {label: at for at, label in enumerate(labels)}
        return labels, np.array([*(place[label] for label in self), -1], np.int32)
