"""From columns of labels to codes and a sorted vocabulary."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from summarkov.arrow import pa, pc
from summarkov.errors import DataError, UnknownLabelError
from summarkov.events.vocabulary import refuse_unknown_labels, translation
from summarkov.typing import BoolArray, CodeArray


@dataclass(frozen=True)
class Encoded:
    """A column as codes into its different texts (in any order; some may not occur)."""

    codes: npt.NDArray[np.integer]
    texts: list[str]


def encode(column: pa.ChunkedArray, name: str, source: str, first_row: int = 0) -> Encoded:
    """Encode a column of labels or case names; numbers become their text, missing values an error.

    ``first_row`` is the row at which the column begins, where it is a part of a longer one.

    >>> import pyarrow as pa
    >>> encode(pa.chunked_array([[30, 7], [7]]), "event", "the table").texts
    ['30', '7']
    """
    refuse_missing(column, name, source, first_row)
    if not len(column):
        return Encoded(np.zeros(0, dtype=np.int32), [])
    try:
        chunks = as_dictionaries(column)
        texts = _texts(chunks[0].dictionary)
    except pa.ArrowException as error:
        raise no_labels(name, source, column.type) from error
    except UnicodeDecodeError as error:
        raise DataError(
            f"column {name!r} of {source} holds text that is not UTF-8; write it as UTF-8"
        ) from error
    codes = numpy_of(pa.chunked_array([chunk.indices for chunk in chunks]))
    return _without_repeats(codes, texts)


def no_labels(name: str, source: str, kind: pa.DataType) -> DataError:
    """The error for a column of another type than labels have."""
    return DataError(
        f"column {name!r} of {source} holds {kind}, which cannot be read as labels; turn it into text first"
    )


def encode_some(column: pa.ChunkedArray, name: str, source: str, first_row: int = 0) -> Encoded:
    """Encode a column in which values may be missing; these have the code -1.

    >>> import pyarrow as pa
    >>> encode_some(pa.chunked_array([["b", None, "a"]]), "event", "the table").codes.tolist()
    [0, -1, 1]
    """
    absent = missing_rows(column)
    if not len(absent):
        return encode(column, name, source, first_row)
    if pa.types.is_string_view(column.type):
        column = column.cast(pa.string())  # of views Arrow cannot take some
    here = np.ones(len(column), bool)
    here[absent] = False
    found = encode(column.filter(pa.array(here)), name, source, first_row)
    codes = np.full(len(column), -1, np.int64)
    codes[here] = found.codes
    return Encoded(codes, found.texts)


def is_list(kind: pa.DataType) -> bool:
    """Whether a column of this type holds lists."""
    kinds = ("list", "large_list", "fixed_size_list", "list_view", "large_list_view")
    return any(getattr(pa.types, f"is_{name}", lambda _: False)(kind) for name in kinds)


def as_dictionaries(column: pa.ChunkedArray) -> list[pa.DictionaryArray]:
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


def _without_repeats(codes: npt.NDArray[np.integer], texts: list[str]) -> Encoded:
    """Give equal texts one code: a data frame's dictionary may repeat a value."""
    if len(set(texts)) == len(texts):
        return Encoded(codes, texts)
    first: dict[str, int] = {}
    for code, text in enumerate(texts):
        first.setdefault(text, code)
    return Encoded(np.array([first[text] for text in texts])[codes], texts)


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


def without_codes(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a column of categories as a column of their values; any other as it is.

    >>> import pyarrow as pa
    >>> without_codes(pa.chunked_array([pa.array([7, 7]).dictionary_encode()])).to_pylist()
    [7, 7]
    """
    if not pa.types.is_dictionary(column.type):
        return column
    kind = column.type.value_type
    kind = pa.string() if pa.types.is_string_view(kind) else kind  # of views Arrow cannot take some
    return pa.chunked_array(
        [chunk.dictionary.cast(kind).take(chunk.indices) for chunk in column.chunks], kind
    )


def missing_rows(column: pa.ChunkedArray) -> npt.NDArray[np.integer]:
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
    return numpy_of(pa.chunked_array([missing]))


def refuse_missing(column: pa.ChunkedArray, name: str, source: str, first_row: int = 0) -> None:
    """Say how many values of a column, which begins at ``first_row``, are missing and where the first is."""
    rows = missing_rows(column)
    if len(rows):
        raise missing(len(rows), first_row + int(rows[0]), name, source)


def caseless_rows(column: pa.ChunkedArray) -> npt.NDArray[np.integer]:
    """Return the rows that name no case: null, nan, or text of nothing but blanks.

    >>> import pyarrow as pa
    >>> caseless_rows(pa.chunked_array([["a", " ", None, ""]])).tolist()
    [1, 2, 3]
    """
    absent = missing_rows(column)
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    if not (pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)):
        return absent
    try:
        if pa.types.is_dictionary(column.type):
            if not pc.any(
                _blank(pa.chunked_array([chunk.dictionary for chunk in column.chunks], kind))
            ).as_py():
                return absent
            column = without_codes(column)
        return numpy_of(pa.chunked_array([pc.indices_nonzero(pc.fill_null(_blank(column), True))]))
    except pa.ArrowException:  # no text; encode says so
        return absent


def _blank(text: pa.ChunkedArray) -> pa.ChunkedArray:
    trimmed = pc.utf8_trim_whitespace(text.cast(pa.large_string()))
    return pc.invert(pc.cast(pc.binary_length(trimmed), pa.bool_()))  # pc.equal with a number imports pandas


class NoCaseError(DataError):
    """The error for rows that name no case: taken for a case, they would make one of what is not related."""

    def __init__(self, n: int, first: int, name: str, source: str) -> None:
        self._where = first, name, source
        super().__init__(
            f"column {name!r} of {source} has no value, or only blanks, in {count(n, 'row')}, the first is "
            f"row {first + 1} (the first row of data is 1); fill them, or leave these rows out with "
            "missing='skip'"
        )

    def of_all(self, n: int) -> NoCaseError:
        """The same where there are ``n`` such rows in all."""
        return NoCaseError(n, *self._where)


def missing(n: int, first: int, name: str, source: str) -> DataError:
    """The error for a column without a value in ``n`` rows, the first of which has the number ``first``."""
    return DataError(
        f"column {name!r} of {source} has no value in {count(n, 'row')}, "
        f"the first is row {first + 1} (the first row of data is 1); fill or drop them"
    )


def count(number: int, thing: str) -> str:
    """Write a number of things.

    >>> count(1, "row"), count(2, "row")
    ('1 row', '2 rows')
    """
    return f"{number} {thing}{'' if number == 1 else 's'}"


def settle(
    codes: npt.NDArray[np.integer], found: Sequence[str], declared: Sequence[str] | None
) -> tuple[CodeArray, Sequence[str]]:
    """Recode to the declared vocabulary, or to the sorted labels that occur.

    ``codes`` are indices into ``found``, whose order is free and which may hold labels that never
    occur (the categories of a data frame); those do not enter the vocabulary.

    >>> settle(np.array([0, 2, 0]), ["b", "never", "a"], None)
    (array([1, 0, 1], dtype=int32), ['a', 'b'])
    """
    occurs = which_occur(codes, len(found)).tolist()
    occurring = sorted({label for label, here in zip(found, occurs, strict=True) if here})
    vocabulary = occurring if declared is None else declared
    refuse_unknown_labels(occurring, np.ones(len(occurring), np.int64), vocabulary)
    settled = translation(found, vocabulary)[codes]
    settled.flags.writeable = False  # so that EventSequences need not copy it
    return settled, vocabulary


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


class Vocabulary(dict[str | None, int]):
    """A code for every label: those declared, or in the order in which they come. None is an empty tick.

    >>> vocabulary = Vocabulary(None)
    >>> [vocabulary[label] for label in "bab"]
    [0, 1, 0]
    """

    def __init__(self, declared: Sequence[str] | None = None) -> None:
        super().__init__((label, code) for code, label in enumerate(declared or ()))
        self._declared = declared

    def __missing__(self, label: str | None) -> int:
        """The code of one more label; one that was not declared is an error."""
        if self._declared is not None and label is not None:
            raise UnknownLabelError(label, self._declared)
        self[label] = len(self)
        return len(self) - 1

    def recode(self, column: Encoded) -> CodeArray:
        """The codes of the labels of a column."""
        occurs = which_occur(column.codes, len(column.texts)).tolist()
        each = [self[text] if here else -1 for text, here in zip(column.texts, occurs, strict=True)]
        return np.asarray(np.array([*each, -1], np.int32)[column.codes])  # a missing value stays one

    @property
    def texts(self) -> list[str]:
        """The labels in the order of their codes; nothing for an empty tick."""
        return [label or "" for label in self]

    def settled(self) -> tuple[list[str], CodeArray]:
        """The labels in sorted order, and the final code for every one given out; -1 for an empty tick."""
        labels = sorted(label for label in self if label is not None)
        place: dict[str | None, int] = {label: at for at, label in enumerate(labels)}
        return labels, np.array([*(place.get(label, -1) for label in self), -1], np.int32)
