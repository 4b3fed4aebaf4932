"""Apache Arrow, loaded when something of it is first used: lists need none of it; and its arrays as NumPy's.

``to_numpy``, ``pyarrow.array`` and scalars import pandas wherever that is installed; nothing here does.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from summarkov.typing import Array

__all__ = ["arrow_of", "csv", "is_list", "is_text", "numpy_of", "pa", "parquet", "pc", "text_array"]


class Later:
    """A module that takes long to load, and is not loaded before something of it is used."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # what Python itself asks of any object
            raise AttributeError(name)
        return getattr(importlib.import_module(self._name), name)


if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.compute as pc
    from pyarrow import csv, parquet
else:
    pa, pc = Later("pyarrow"), Later("pyarrow.compute")
    csv, parquet = Later("pyarrow.csv"), Later("pyarrow.parquet")


def is_list(kind: pa.DataType) -> bool:
    """Whether a column of this type holds lists."""
    kinds = ("list", "large_list", "fixed_size_list", "list_view", "large_list_view")
    return any(getattr(pa.types, f"is_{name}", lambda _: False)(kind) for name in kinds)


def is_text(kind: pa.DataType) -> bool:
    """Whether a column of this type holds text."""
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def numpy_of(column: pa.ChunkedArray) -> Array:
    """Return a column of numbers without missing values as one array.

    >>> import pyarrow as pa
    >>> numpy_of(pa.chunked_array([[1, 2], [3]]))
    array([1, 2, 3])
    """
    if not column.num_chunks:
        return np.zeros(0, dtype=np.int64)
    return np.concatenate([np.from_dlpack(chunk) for chunk in column.chunks])


def arrow_of(values: Array) -> pa.Array:
    """Numbers as a column.

    >>> arrow_of(np.array([1, 2])).to_pylist()
    [1, 2]
    """
    kind = pa.from_numpy_dtype(values.dtype)
    return pa.Array.from_buffers(kind, len(values), [None, pa.py_buffer(np.ascontiguousarray(values))])


def text_array(texts: Iterable[str | None]) -> pa.Array:
    """Texts as a column.

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
