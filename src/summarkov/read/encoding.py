"""From columns of labels to codes and their texts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from summarkov.arrow import pa, pc
from summarkov.errors import DataError, UnknownLabelError
from summarkov.typing import BoolArray, CodeArray, IntArray


class Encoded(NamedTuple):
    """A column as codes into its different texts (in any order, some unused); -1 is a missing value."""

    codes: npt.NDArray[np.integer]
    texts: list[str]

    def text(self, row: int) -> str | None:
        """The value of a row; None if it is missing."""
        code = int(self.codes[row])
        return self.texts[code] if code >= 0 else None


def encode(column: pa.ChunkedArray, name: str, source: str, first_row: int = 0) -> Encoded:
    """Encode a column of labels or case names; numbers become their text, missing values an error.

    ``first_row`` is the row at which the column begins, where it is a part of a longer one.

    >>> import pyarrow as pa
    >>> encode(pa.chunked_array([[30, 7], [7]]), "event", "the table").texts
    ['30', '7']
    """
    refuse_missing(column, name, source, first_row)
    return encode_some(column, name, source)


def encode_some(column: pa.ChunkedArray, name: str, source: str) -> Encoded:
    """Encode a column in which values may be missing; these have the code -1.

    >>> import pyarrow as pa
    >>> encode_some(pa.chunked_array([["b", None, "a"]]), "event", "the table").codes.tolist()
    [0, -1, 1]
    """
    absent = missing_rows(column)
    here = np.ones(len(column), bool)
    here[absent] = False
    column = plain_text(column)
    column = column.take(arrow_of(np.flatnonzero(here))) if len(absent) else column
    if not len(column):
        return Encoded(np.full(len(here), -1, np.int32), [])
    try:
        chunks = _as_dictionaries(column)
        texts = _texts(chunks[0].dictionary)
    except pa.ArrowException as error:
        raise no_labels(name, source, column.type) from error
    except UnicodeDecodeError as error:
        raise DataError(
            f"column {name!r} of {source} holds text that is not UTF-8; write it as UTF-8"
        ) from error
    codes = numpy_of(pa.chunked_array([chunk.indices for chunk in chunks]))
    if len(set(texts)) < len(texts):  # the dictionary of a data frame may repeat a value
        first = {text: code for code, text in reversed([*enumerate(texts)])}
        codes = np.array([first[text] for text in texts])[codes]
    if len(absent):
        codes = np.insert(codes.astype(np.int64), absent - np.arange(len(absent)), -1)
    return Encoded(codes, texts)


def no_labels(name: str, source: str, kind: pa.DataType) -> DataError:
    """The error for a column of another type than labels have."""
    return DataError(
        f"column {name!r} of {source} holds {kind}, which cannot be read as labels; turn it into text first"
    )


#: What helps where events have no label.
FILL_LABELS = "fill them, or leave these events out with missing='skip'"


def is_list(kind: pa.DataType) -> bool:
    """Whether a column of this type holds lists."""
    kinds = ("list", "large_list", "fixed_size_list", "list_view", "large_list_view")
    return any(getattr(pa.types, f"is_{name}", lambda _: False)(kind) for name in kinds)


def is_text(kind: pa.DataType) -> bool:
    """Whether a column of this type holds text."""
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def plain_text(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """The same without views of text, of which Arrow cannot take some rows."""
    if pa.types.is_string_view(column.type):
        return column.cast(pa.large_string())
    if pa.types.is_dictionary(column.type) and pa.types.is_string_view(column.type.value_type):
        return column.cast(pa.dictionary(column.type.index_type, pa.large_string()))
    return column


def _as_dictionaries(column: pa.ChunkedArray) -> list[pa.DictionaryArray]:
    """Return chunks of codes that share one dictionary of values."""
    chunks = column.chunks
    if not pa.types.is_dictionary(column.type):
        # chunk by chunk: encoding them together repeats the growing dictionary for each
        chunks = [chunk.dictionary_encode() for chunk in chunks]
    unified: list[pa.DictionaryArray] = pa.chunked_array(chunks).unify_dictionaries().chunks
    return unified


def _texts(values: pa.Array) -> list[str]:
    """Return the text of every value: floats and truth values as Python writes them, the rest as Arrow."""
    if pa.types.is_floating(values.type):
        return [str(value) for value in np.from_dlpack(values)]  # as short as their precision allows
    if pa.types.is_boolean(values.type):
        return [str(value) for value in values.to_pylist()]
    texts: list[str] = values.cast(pa.string()).to_pylist()
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


def without_codes(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a column of categories as a column of their values; any other as it is.

    >>> import pyarrow as pa
    >>> without_codes(pa.chunked_array([pa.array([7, 7]).dictionary_encode()])).to_pylist()
    [7, 7]
    """
    if not pa.types.is_dictionary(column.type):
        return column
    column = plain_text(column)
    values = [chunk.dictionary.take(chunk.indices) for chunk in column.chunks]
    return pa.chunked_array(values, column.type.value_type)


def missing_rows(column: pa.ChunkedArray) -> IntArray:
    """Return the rows that hold null or nan.

    >>> import pyarrow as pa
    >>> missing_rows(pa.chunked_array([["A", None]])).tolist()
    [1]
    """
    holes = column.null_count > 0
    if pa.types.is_dictionary(column.type):
        # the rows may all have a code, and yet the value of a code be missing
        holes = holes or any(chunk.dictionary.null_count for chunk in column.chunks)
        if holes or pa.types.is_floating(column.type.value_type):
            column = without_codes(column)
    if not holes and not pa.types.is_floating(column.type):
        return np.zeros(0, dtype=np.int64)
    missing = pc.indices_nonzero(pc.is_null(column, nan_is_null=True))
    return numpy_of(pa.chunked_array([missing])).astype(np.int64)


def refuse_missing(
    column: pa.ChunkedArray, name: str, source: str, first_row: int = 0, remedy: str = "fill or drop them"
) -> None:
    """Say how many values of a column, which begins at ``first_row``, are missing and where the first is."""
    rows = missing_rows(column)
    if len(rows):
        raise DataError(f"column {name!r} of {source} has no value in {_where(rows, first_row)}; {remedy}")


def refuse_caseless(rows: IntArray, name: str, source: str, first_row: int = 0) -> None:
    """Refuse rows that name no case: taken for one, they would make a case of what is not related."""
    if len(rows):
        raise DataError(
            f"column {name!r} of {source} has no value, or only blanks, in {_where(rows, first_row)}; fill "
            "them, or leave these rows out with missing='skip'"
        )


def _where(rows: IntArray, first_row: int) -> str:
    return (
        f"{count(len(rows), 'row')}, the first is row {first_row + int(rows[0]) + 1} "
        "(the first row of data is 1)"
    )


def caseless_rows(column: pa.ChunkedArray) -> IntArray:
    """Return the rows that name no case: null, nan, or text of nothing but blanks.

    >>> import pyarrow as pa
    >>> caseless_rows(pa.chunked_array([["a", " ", None, ""]])).tolist()
    [1, 2, 3]
    """
    absent = missing_rows(column)
    if not is_text(column.type.value_type if pa.types.is_dictionary(column.type) else column.type):
        return absent
    try:
        if pa.types.is_dictionary(column.type):
            texts = pa.chunked_array([chunk.dictionary for chunk in column.chunks], column.type.value_type)
            if not pc.any(_blank(texts)).as_py():
                return absent
        blank = pc.fill_null(_blank(without_codes(column)), True)
        return numpy_of(pa.chunked_array([pc.indices_nonzero(blank)])).astype(np.int64)
    except pa.ArrowException:  # no text; encode says so
        return absent


def _blank(text: pa.ChunkedArray) -> pa.ChunkedArray:
    trimmed = pc.utf8_trim_whitespace(text.cast(pa.large_string()))
    return pc.invert(pc.cast(pc.binary_length(trimmed), pa.bool_()))  # pc.equal with a number imports pandas


def count(number: int, thing: str) -> str:
    """Write a number of things.

    >>> count(1, "row"), count(2, "row")
    ('1 row', '2 rows')
    """
    return f"{number} {thing}{'' if number == 1 else 's'}"


def which_occur(codes: npt.NDArray[np.integer], size: int) -> BoolArray:
    """Return which of the codes 0, 1, ..., size - 1 occur, looking only as far as it takes to see all."""
    occurs = np.zeros(size, dtype=bool)
    block = 1 << 16
    for start in range(0, len(codes), block):
        some = codes[start : start + block]
        occurs[some[some >= 0]] = True
        if occurs.all():
            break
    return occurs


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
        """The codes of the texts of a column; a missing value stays one."""
        occurs = which_occur(column.codes, len(column.texts)).tolist()
        each = [self[text] if here else -1 for text, here in zip(column.texts, occurs, strict=True)]
        return np.asarray(np.array([*each, -1], np.int32)[column.codes])

    def settled(self) -> tuple[list[str], CodeArray]:
        """The texts in sorted order, and the final code for every one given out; one more is for none."""
        labels = sorted(self)
        place = {label: at for at, label in enumerate(labels)}
        return labels, np.array([*(place[label] for label in self), -1], np.int32)
