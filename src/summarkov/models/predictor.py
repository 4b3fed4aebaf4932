"""``Predictor``: what models, graphs and bags have in common, the probabilities of what comes next."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from summarkov.engines import Layout
from summarkov.errors import DataError, SettingError
from summarkov.events import EventSequences
from summarkov.events.rows import Rows, recoded
from summarkov.events.vocabulary import Unknown
from summarkov.io import read_events
from summarkov.io.case_attributes import cuts_of
from summarkov.kernels import Index
from summarkov.models.measures import Measured, measure
from summarkov.models.parameters import Parameters
from summarkov.models.predictions import Predictions, Residual
from summarkov.models.saving import Saved
from summarkov.simulate.draw import after_histories
from summarkov.summaries import Memory, Summary
from summarkov.typing import FloatArray, IntArray


class Predictor(Saved, Parameters):
    """Something fitted that tells the probabilities of what comes next, at any place of a sequence."""

    @property
    @abstractmethod
    def labels_(self) -> tuple[str, ...]:
        """The vocabulary."""

    @property
    @abstractmethod
    def outcomes_(self) -> tuple[str | Residual, ...]:
        """What the columns of probabilities stand for."""

    @property
    def classes_(self) -> npt.NDArray[np.object_]:
        """``outcomes_`` as an array, as scikit-learn has it."""
        found = np.empty(len(self.outcomes_), object)
        found[:] = self.outcomes_
        return found

    @abstractmethod
    def _memory(self) -> Memory:
        """How far back a sequence must be remembered, see ``Summary.memory``."""

    @abstractmethod
    def _at(self, index: Index, positions: IntArray | slice = slice(None)) -> FloatArray:
        """Probability of each outcome at some positions, one row per position."""

    @abstractmethod
    def _outcomes_at(self, index: Index) -> npt.NDArray[np.integer]:
        """The column of the probabilities that came true at every event; -1 for none."""

    @property
    def layout_(self) -> Layout:
        """What the data it was learned from had beside events in a row: ticks, times, attributes."""
        return Layout()

    def _check_predicts(self) -> None:
        """Refuse to predict where that is not possible."""

    # ------------------------------------------------------------------ how well it predicts

    def _measured(self, events: Any, unknown: Unknown, sample_weight: Any) -> Measured:
        self._check_predicts()
        return measure(self, events, unknown, sample_weight)

    def log_likelihood(self, events: Any, *, unknown: Unknown = "error", sample_weight: Any = None) -> float:
        """Log-likelihood of new events, summed over all positions.

        Of a graph it is that of the next event, one of all labels; with ``unknown="ignore"`` events of a
        label that it does not know are left out.
        """
        return self._measured(events, unknown, sample_weight).log_likelihood

    def score(
        self, events: Any, y: None = None, *, unknown: Unknown = "error", sample_weight: Any = None
    ) -> float:
        """Mean log-likelihood per event; larger is better, as scikit-learn expects."""
        return self._measured(events, unknown, sample_weight).score

    def brier_score(self, events: Any, *, unknown: Unknown = "error", sample_weight: Any = None) -> float:
        """Mean squared error of the probabilities; smaller is better.

        For one label it is the mean of (p - [it occurred])^2, for several labels, and for the next event of a
        graph, the sum over the outcomes of that.
        """
        return self._measured(events, unknown, sample_weight).brier / self._error_counted

    @property
    def _error_counted(self) -> int:
        """How often the squared errors of all outcomes count that of one label: twice for it and the rest."""
        return 2 if len(self.outcomes_) == 2 else 1

    # ------------------------------------------------------------------ predict

    def predict_proba(self, events: Any, *, unknown: Unknown = "error") -> FloatArray:
        """Probability of each outcome at every position, from what came before it: one row per position.

        Columns are as in ``outcomes_``. For rows with the name of their sequence and their position, see
        :meth:`predictions`; for what comes after the last event, :meth:`predict_next`. With
        ``unknown="ignore"`` a label that the model does not know keeps its place and says nothing.
        """
        self._check_predicts()
        return self._everywhere(read_events(events), unknown)

    def predict(self, events: Any, *, unknown: Unknown = "error") -> npt.NDArray[np.object_]:
        """The most likely outcome at every position. For a rare target that is mostly ``OTHER``."""
        return np.asarray(self.classes_[self.predict_proba(events, unknown=unknown).argmax(axis=1)])

    def predictions(self, events: Any, *, unknown: Unknown = "error") -> Predictions:
        """``predict_proba`` with the sequence, position and event of every row, for ``to_frame()``."""
        self._check_predicts()
        data = read_events(events)
        begins = slice(None) if data.moments is None else data.moments.starts
        happened = (event for sequence in data for event in sequence)
        return Predictions(
            outcomes=self.outcomes_,
            probabilities=self._everywhere(data, unknown),
            ids=data.ids,
            sequences=np.repeat(np.arange(len(data)), data.lengths)[begins],
            positions=data.positions[begins],
            events=tuple(each if isinstance(each, str) else " + ".join(each) for each in happened),
        )

    def predict_next(self, histories: Any, *, unknown: Unknown = "error") -> Predictions:
        """What comes next after each history? One row per history, in their order.

        ``histories`` are sequences of labels, oldest first: lists, or whatever ``read_events`` takes. The
        numbers are those of ``follow``, all at once.

        >>> import numpy as np
        >>> from summarkov import BSuMM, InfluenceGraph
        >>> graph = InfluenceGraph(BSuMM(lookback=1)).fit([["A", "B", "C"] * 4, ["C", "A", "B"] * 4] * 5)
        >>> after = graph.predict_next([["A"], ["C", "A", "B"], []])
        >>> after.most_likely
        ('B', 'C', 'A')
        >>> after.probabilities.shape
        (3, 3)
        """
        self._check_predicts()
        data = self._read(histories, unknown)
        rows = Rows.of(data)
        if rows.moments is not None:
            rows = rows.with_next()
            index, ends = rows.index(), rows.offsets[1:] - 1
        else:
            recent, first, _ = self._memory()
            codes, offsets, ends = after_histories(
                data.codes, data.offsets, recent if first is None else None
            )
            index = Index(codes, offsets, len(self.labels_))
        last = np.append(0, data.positions)[data.offsets[1:]]
        return Predictions(
            outcomes=self.outcomes_,
            probabilities=self._at(index, ends),
            ids=data.ids,
            sequences=np.arange(len(data)),
            positions=np.where(data.lengths > 0, last, 0) + 1,
        )

    def _everywhere(self, events: EventSequences, unknown: Unknown = "error") -> FloatArray:
        """``predict_proba`` also for a graph of some labels only, whose models stand each for itself."""
        index = Rows.of(self._read(events, unknown)).index()
        return self._at(index)[index.begins]

    def _read(self, events: Any, unknown: Unknown = "error") -> EventSequences:
        """New events in the vocabulary of the model."""
        data = read_events(events)
        check_new_events(self.layout_, data)
        return recoded(data, self.labels_, unknown)


def check_new_events(layout: Layout, events: EventSequences) -> None:
    """Refuse events that lack what a model was learned from."""
    timed = events.moments is not None and events.moments.times is not None
    time = None if not timed or events.moments is None else events.moments.unit.kind
    check_new_data(layout, events.attributes is not None, time)


def check_drawable(layout: Layout, summaries: Iterable[Summary]) -> None:
    """Refuse to simulate from a model that asks for what simulated sequences do not have."""
    told = "is drawn with simulated sequences; learn a graph from the events alone"
    if layout.attributes:
        raise SettingError(f"the graph asks for attributes of sequences, and none {told}, without attributes")
    if any(summary.durations for summary in summaries):
        raise SettingError(
            f"the graph looks back in time, and no time {told}, with look-backs that are numbers"
        )


def check_new_data(layout: Layout, has_attributes: bool, time: str | None) -> None:
    """Refuse data that lack what a model was learned from; ``time`` is as in :class:`Layout`."""
    if layout.attributes and not has_attributes:
        cuts = cuts_of(layout.attributes)
        where = {column: numbers for column, numbers in cuts.items() if numbers is not None}
        raise DataError(
            f"the model was learned with attributes of sequences, and these events have none; read them with "
            f"attributes={list(cuts)}{f', cuts={where}' if where else ''}"
        )
    if layout.time is not None and time is None:
        raise DataError(
            "the model looks back in time, and these events have no times; read them with order= and "
            "times=True"
        )
    if layout.time is not None and layout.time != time:
        learned, given = ("dates and times" if each == "clock" else "numbers" for each in (layout.time, time))
        raise DataError(
            f"the model was learned from times that are {learned}, and these are {given}; read the same kind"
        )
