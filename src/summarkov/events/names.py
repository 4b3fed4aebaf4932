"""The names of very many sequences, in two files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from summarkov.events.draws import sequence_keys
from summarkov.typing import HashArray, IntArray

#: Names to look at at a time.
_AT_ONCE = 1 << 16


class Names(Sequence[str]):
    """Texts one after the other, and where each ends.

    >>> names = Names(np.frombuffer(b"annbob", np.uint8), np.array([3, 6]))
    >>> list(names), names[1]
    (['ann', 'bob'], 'bob')
    """

    def __init__(self, text: npt.NDArray[np.uint8], ends: IntArray) -> None:
        self._text, self._ends = text, ends

    def __len__(self) -> int:
        return len(self._ends)

    @overload
    def __getitem__(self, which: int) -> str: ...
    @overload
    def __getitem__(self, which: slice) -> list[str]: ...
    def __getitem__(self, which: Any) -> Any:
        if isinstance(which, slice):
            return [self[at] for at in range(*which.indices(len(self)))]
        at = range(len(self))[which]
        start = int(self._ends[at - 1]) if at else 0
        return self._text[start : int(self._ends[at])].tobytes().decode("utf-8", "surrogatepass")

    def keys(self) -> HashArray:
        """A number for every name, see :func:`sequence_keys`."""
        starts = range(0, len(self), _AT_ONCE)
        return np.concatenate(
            [np.empty(0, np.uint64), *(sequence_keys(self[at : at + _AT_ONCE]) for at in starts)]
        )
