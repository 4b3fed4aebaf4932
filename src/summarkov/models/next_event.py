"""The distribution of the next event: models of single labels, divided by their sum."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from summarkov.engines import joint_memory
from summarkov.errors import SettingError
from summarkov.kernels import Index
from summarkov.models.follow import History
from summarkov.models.model import SummaryModel
from summarkov.simulate.draw import after_histories, flat
from summarkov.typing import CodeArray, FloatArray, IntArray


@dataclass(frozen=True)
class NextEvent:
    """Fitted models of one vocabulary, one per label."""

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
        if not self.is_complete:
            raise SettingError(
                "the next-event distribution needs a model for every label; fit the graph without targets="
            )

    @property
    def is_complete(self) -> bool:
        """Whether there is a model for every label."""
        return len(self.models) == len(self.labels)

    def at(self, index: Index, positions: IntArray | slice = slice(None)) -> FloatArray:
        """Probability of every target at some positions, one row per position.

        Models of some labels only are not normalised: each of them stands for itself.
        """
        p = np.column_stack([model._at(index, positions)[:, 0] for model in self.models.values()])
        return np.asarray(p / p.sum(axis=1, keepdims=True)) if self.is_complete else p

    def after(self, histories: CodeArray) -> FloatArray:
        """Probability of every label after each of some histories of equal length, ``codes[k, t]``."""
        self.check_complete()
        recent, first = self.memory
        codes, offsets, ends = after_histories(*flat(histories), recent if first is None else None)
        return self.at(Index(codes, offsets, len(self.labels)), ends)


class GraphFollower:
    """The next-event distribution of a graph, kept up to date."""

    def __init__(self, next_event: NextEvent, unknown: str) -> None:
        next_event.check_complete()
        self._next = next_event
        self._history = History(next_event.labels, next_event.memory, unknown)

    def observe(self, event: object) -> None:
        """Tell it the event that happened next."""
        self._history.observe(event)

    def probabilities(self) -> FloatArray:
        """Probability of every label (as in ``labels_``) for the event to come."""
        return np.asarray(self._next.at(self._history.next_place(), np.array([0]))[0])
