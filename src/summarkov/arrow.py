"""Apache Arrow, which is loaded when something of it is first used: lists and JSON lines need none of it."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__all__ = ["csv", "fs", "pa", "parquet", "pc"]


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
    from pyarrow import csv, fs, parquet
else:
    pa, pc = Later("pyarrow"), Later("pyarrow.compute")
    csv, fs, parquet = Later("pyarrow.csv"), Later("pyarrow.fs"), Later("pyarrow.parquet")
