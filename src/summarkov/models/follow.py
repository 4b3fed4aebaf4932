"""Follow a sequence one event at a time."""

from __future__ import annotations

import numpy as np

from summarkov.engines import Past
from summarkov.errors import UnknownLabelError
from summarkov.events.arrays import UNKNOWN
from summarkov.events.vocabulary import check_unknown, label_text
from summarkov.kernels import Index
from summarkov.models.fitted import Fitted
from summarkov.typing import FloatArray


class History:
    """The past of one sequence, as much of it as a summary needs."""

    def __init__(self, labels: tuple[str, ...], memory: tuple[int, int | None], unknown: str) -> None:
        check_unknown(unknown)
        self._labels, self._memory, self._unknown = labels, memory, unknown
        self._codes = {label: code for code, label in enumerate(labels)}
        self.past = Past()

    def code(self, event: object) -> int:
        """The code of an event's label."""
        label = label_text(event)
        code = self._codes.get(label, UNKNOWN)
        if code == UNKNOWN and self._unknown != "ignore":
            raise UnknownLabelError(label, self._labels)
        return code

    def observe(self, event: object) -> None:
        """Add one event."""
        self.past = self.past.extend(np.array([self.code(event)], np.int32), self._memory)

    def next_place(self) -> Index:
        """The place where the next event will stand, with the past before it."""
        empty, one = np.array([UNKNOWN], np.int32), np.array([0, 1], np.int64)
        return self.past.index(empty, one, len(self._labels))


class Follower:
    """The probabilities of the next event, kept up to date.

    >>> from summarkov import BSuMM
    >>> model = BSuMM("B", lookback=1).fit([["A", "B", "A", "B", "C"]] * 9)
    >>> follower = model.follow()
    >>> follower.observe("A")
    >>> round(float(follower.probabilities()[0]), 2)
    0.99
    """

    def __init__(self, fitted: Fitted, unknown: str) -> None:
        self._fitted = fitted
        self._history = History(fitted.labels, fitted.summary.memory(), unknown)

    def observe(self, event: object) -> None:
        """Tell it the event that happened next."""
        self._history.observe(event)

    def probabilities(self) -> FloatArray:
        """Probability of each outcome (as in ``outcomes_``) for the event to come."""
        return np.asarray(self._fitted.theta[self.row])

    @property
    def row(self) -> int:
        """The row of the model's probabilities that holds now."""
        return int(self._fitted.predict(self._history.next_place())[0])
