"""The distribution of the next event: models of single labels, divided by their sum."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from summarkov.engines import joint_memory
from summarkov.errors import SettingError
from summarkov.kernels import Index
from summarkov.models.follow import History
from summarkov.models.model import SummaryModel
from summarkov.readers import read_events
from summarkov.simulate.draw import after_histories

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
CodeArray = npt.NDArray[np.int32]


@dataclass(frozen=True)
class NextEvent:
    """Fitted models of one vocabulary, one a label."""

    models: Mapping[str, SummaryModel]

    @property
    def labels(self) -> tuple[str, ...]:
        """The vocabulary."""
        return next(iter(self.models.values())).labels_

    @property
    def memory(self) -> tuple[int, int | None]:
        """How far back a sequence must be remembered for all models, see ``Summary.memory``."""
        return joint_memory(model.fitted.summary for model in self.models.values())

    def check_complete(self) -> None:
        """Refuse models of some labels only."""
        if set(self.models) != set(self.labels):
            raise SettingError(
                "the next-event distribution needs a model for every label; fit the graph without targets="
            )

    def at(self, index: Index, positions: IntArray) -> FloatArray:
        """Probability of every label at some positions, a row each."""
        self.check_complete()
        p = np.empty((len(positions), len(self.labels)))
        for column, model in enumerate(self.models.values()):
            fitted = model.fitted
            rows = fitted.predict(index)[positions]
            p[:, column] = fitted.theta[rows, 0]
        return np.asarray(p / p.sum(axis=1, keepdims=True))

    def everywhere(self, events: Any, unknown: str) -> FloatArray:
        """Probability of every label at every position of new events."""
        data = read_events(events).recode(self.labels, unknown=unknown)
        return self.at(Index(data.codes, data.offsets, len(data.labels)), np.arange(data.n_events))

    def after(self, histories: CodeArray) -> FloatArray:
        """Probability of every label after each of some histories of equal length, ``codes[k, t]``."""
        recent, first = self.memory
        codes, offsets, ends = after_histories(histories, recent if first is None else histories.shape[1])
        return self.at(Index(codes, offsets, len(self.labels)), ends)


class GraphFollower:
    """The next-event distribution of a graph, kept up to date."""

    def __init__(self, next_event: NextEvent, unknown: str) -> None:
        self._next = next_event
        self._history = History(next_event.labels, next_event.memory, unknown)

    def observe(self, event: object) -> None:
        """Tell it the event that happened next."""
        self._history.observe(event)

    def probabilities(self) -> FloatArray:
        """Probability of every label (as in ``labels_``) for the event to come."""
        return np.asarray(self._next.at(self._history.next_place(), np.array([0]))[0])
