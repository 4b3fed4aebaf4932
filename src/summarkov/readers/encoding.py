"""From an Arrow column of any type to codes and their texts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from summarkov.errors import DataError
from summarkov.readers.arrays import numpy_of, refuse_missing

if TYPE_CHECKING:
    import pyarrow as pa


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
    import pyarrow as pa

    refuse_missing(column, name, source, first_row)
    if not len(column):
        return Encoded(np.zeros(0, dtype=np.int32), [])
    try:
        chunks = as_dictionaries(column)
        texts = _texts(chunks[0].dictionary)
    except pa.ArrowException as error:
        message = f"column {name!r} of {source} holds {column.type}, which cannot be read as labels; "
        raise DataError(message + "turn it into text first") from error
    except UnicodeDecodeError as error:
        raise DataError(
            f"column {name!r} of {source} holds text that is not UTF-8; write it as UTF-8"
        ) from error
    codes = numpy_of(pa.chunked_array([chunk.indices for chunk in chunks]))
    return _without_repeats(codes, texts)


def as_dictionaries(column: pa.ChunkedArray) -> list[pa.DictionaryArray]:
    """Return chunks of codes that share one dictionary of values."""
    import pyarrow as pa

    chunks = column.chunks
    if not pa.types.is_dictionary(column.type):
        # chunk by chunk: encoding them together repeats the growing dictionary for each
        chunks = [chunk.dictionary_encode() for chunk in chunks]
    unified: list[pa.DictionaryArray] = pa.chunked_array(chunks).unify_dictionaries().chunks
    return unified


def _texts(values: pa.Array) -> list[str]:
    """Return the text of every value: floats and truth values as Python writes them, the rest as Arrow."""
    import pyarrow as pa

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
