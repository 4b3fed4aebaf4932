"""Probabilities with the places that they are for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from summarkov.frames import MOST, Column, Sheet, Tabular
from summarkov.models.residual import Residual
from summarkov.typing import FloatArray, IntArray
from summarkov.wording import percent, plural

#: A printed row names at most this many outcomes.
_LIKELIEST = 3


def column_names(outcomes: Sequence[str | Residual]) -> list[str]:
    """The names of columns of probabilities; no label can be taken for that of all the others.

    Of one label and all the others the first says it all.

    >>> column_names(["A", "B"]), column_names(["A", Residual()]), column_names(["A", "B", Residual()])
    (['p(A)', 'p(B)'], ['p(A)'], ['p(A)', 'p(B)', 'p_other'])
    """
    names = ["p_other" if isinstance(x, Residual) else f"p({x})" for x in outcomes]
    return names[:1] if len(names) == 2 and names[1] == "p_other" else names


@dataclass(frozen=True, eq=False, repr=False)
class Predictions(Tabular):
    """Probabilities, one row per place in a sequence.

    ``probabilities[row, x]`` is that of ``outcomes[x]``, and ``numpy.asarray`` gives it too. Row ``i`` is
    about position ``positions[i]``, counted from 1 on, of the sequence ``ids[sequences[i]]``. ``events`` are
    what happened there, None where that is still to come.

    The frame has the columns ``sequence``, ``position``, ``event`` where it is known, and one ``p(label)``
    for each outcome.
    """

    outcomes: tuple[str | Residual, ...]
    probabilities: FloatArray
    ids: tuple[str, ...]
    sequences: IntArray
    positions: IntArray
    events: tuple[str, ...] | None = None

    def __len__(self) -> int:
        return len(self.probabilities)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]:
        return np.array(self.probabilities, dtype=dtype, copy=copy)

    @property
    def most_likely(self) -> tuple[str | Residual, ...]:
        """The most likely outcome of every row."""
        return tuple(self.outcomes[x] for x in self.probabilities.argmax(axis=1).tolist())

    def _columns(self) -> Mapping[str, Column]:
        known = {} if self.events is None else {"event": Column(str, self.events)}
        return {
            "sequence": Column(str, [self.ids[s] for s in self.sequences.tolist()]),
            "position": Column(int, self.positions),
            **known,
            **{
                name: Column(float, np.ascontiguousarray(self.probabilities[:, x]))
                for x, name in enumerate(column_names(self.outcomes))
            },
        }

    def summary(self) -> Sheet:
        """The first rows, with the outcomes that are most likely."""
        head = ["sequence", "position", *([] if self.events is None else ["event"]), "most likely"]
        rows = []
        for row, p in enumerate(self.probabilities[:MOST]):
            likely = np.argsort(-p, kind="stable")[:_LIKELIEST].tolist()
            rows.append(
                [
                    self.ids[self.sequences[row]],
                    str(self.positions[row]),
                    *([] if self.events is None else [self.events[row]]),
                    ", ".join(f"{self.outcomes[x]} {percent(p[x])}" for x in likely),
                ]
            )
        title = f"Probabilities of {plural(len(self.outcomes), 'outcome')} at {plural(len(self), 'place')}"
        return Sheet(title, head, rows, len(self))
