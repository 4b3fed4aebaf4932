"""From Arrow columns to NumPy arrays, and where values are missing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from summarkov.errors import DataError

if TYPE_CHECKING:
    import pyarrow as pa


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


def without_codes(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a column of categories as a column of their values; any other as it is.

    >>> import pyarrow as pa
    >>> without_codes(pa.chunked_array([pa.array([7, 7]).dictionary_encode()])).to_pylist()
    [7, 7]
    """
    import pyarrow as pa

    if not pa.types.is_dictionary(column.type):
        return column
    kind = column.type.value_type
    kind = pa.string() if pa.types.is_string_view(kind) else kind  # of which Arrow cannot take some
    return pa.chunked_array(
        [chunk.dictionary.cast(kind).take(chunk.indices) for chunk in column.chunks], kind
    )


def missing_rows(column: pa.ChunkedArray) -> npt.NDArray[np.integer]:
    """Return the rows that hold null or nan.

    >>> import pyarrow as pa
    >>> missing_rows(pa.chunked_array([["A", None]])).tolist()
    [1]
    """
    import pyarrow as pa
    import pyarrow.compute as pc

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
