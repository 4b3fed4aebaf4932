"""The names of sequences in files, read as sequences come."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from summarkov.arrow import pa


class SequenceNames:
    """The names of sequences, in order."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def __enter__(self) -> SequenceNames:
        self._texts, self._ends = open(self._folder / "names", "rb"), open(self._folder / "name_ends", "rb")
        self._left: Any = pa.array([], pa.string())
        self._read = 0  # bytes of names
        return self

    def __exit__(self, *error: object) -> None:
        self._texts.close()
        self._ends.close()

    def take(self, ended: int, goes_on: bool) -> pa.Array:
        """The next names: ``ended`` that are used up, and one more that the next block may go on with."""
        wanted = max(0, ended + goes_on - len(self._left))
        ends = np.concatenate([[self._read], np.fromfile(self._ends, np.int64, wanted)])
        texts = self._texts.read(int(ends[-1]) - self._read)
        buffers = [None, pa.py_buffer(ends - self._read), pa.py_buffer(texts)]
        more = pa.Array.from_buffers(pa.large_string(), wanted, buffers).cast(pa.string())
        self._read = int(ends[-1])
        names = pa.concat_arrays([self._left, more])
        self._left = names[ended:]
        return names[: ended + goes_on]
