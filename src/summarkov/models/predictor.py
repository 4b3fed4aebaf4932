"""``Predictor``: how models, graphs and joint models are asked what comes next, and how well they tell it."""

from __future__ import annotations

from abc import abstractmethod
from os import PathLike
from typing import Any

import numpy as np
import numpy.typing as npt

from summarkov.engines import Layout
from summarkov.events.vocabulary import Unknown
from summarkov.models.distribution import (
    OTHER,
    Distribution,
    Predictions,
    Residual,
    column_names,
    likeliest,
    predict_each,
    predict_next,
    predict_rows,
)
from summarkov.models.measures import Evaluation, evaluate, measure
from summarkov.models.parameters import Parameters, Saved
from summarkov.read import read_events
from summarkov.settings import Progress
from summarkov.typing import FloatArray

__all__ = ["OTHER", "Predictions", "Predictor", "Residual", "column_names", "likeliest"]


class Predictor(Saved, Parameters):
    """Something fitted that tells the probabilities of what comes next, at any place of a sequence."""

    n_jobs: int | None

    @property
    @abstractmethod
    def fitted(self) -> Distribution:
        """What was learned."""

    @property
    def labels_(self) -> tuple[str, ...]:
        """The vocabulary."""
        return self.fitted.labels

    @property
    def outcomes_(self) -> tuple[str | Residual, ...]:
        """What the columns of probabilities stand for: labels, and ``OTHER`` for all that are no target."""
        return self.fitted.outcomes

    @property
    def classes_(self) -> npt.NDArray[np.object_]:
        """``outcomes_`` as an array, as scikit-learn has it."""
        found = np.empty(len(self.outcomes_), object)
        found[:] = self.outcomes_
        return found

    @property
    def layout_(self) -> Layout:
        """What the data it was learned from had beside events in a row: ticks, times, attributes."""
        return self.fitted.layout

    def _check_predicts(self) -> None:
        """Refuse to predict where that is not possible."""
        self.fitted.check_complete()

    # ------------------------------------------------------------------ how well it predicts

    def log_likelihood(self, events: Any, *, unknown: Unknown = "error", sample_weight: Any = None) -> float:
        """Log-likelihood of new events, summed over all positions.

        Of a graph it is that of the next event, one of all labels; with ``unknown="ignore"`` events of a
        label that it does not know are left out.
        """
        return measure(self.fitted, events, unknown, sample_weight, self.n_jobs).logs

    def score(
        self, events: Any, y: None = None, *, unknown: Unknown = "error", sample_weight: Any = None
    ) -> float:
        """Mean log-likelihood per event; larger is better, as scikit-learn expects."""
        return measure(self.fitted, events, unknown, sample_weight, self.n_jobs).score

    def brier_score(self, events: Any, *, unknown: Unknown = "error", sample_weight: Any = None) -> float:
        """Mean squared error of the probabilities; smaller is better.

        For one label it is the mean of (p - [it occurred])^2, for several labels, and for the next event of a
        graph, the sum over the outcomes of that.
        """
        found = measure(self.fitted, events, unknown, sample_weight, self.n_jobs).brier
        return found / 2 if self.fitted.is_apart and len(self.fitted.parts[0].outcomes) == 2 else found

    def evaluate(self, events: Any, *, unknown: Unknown = "error", progress: Progress = None) -> Evaluation:
        """Measure how well every target, and the next event, is predicted; see :class:`Evaluation`.

        The base rate of each target stands beside that.
        """
        return evaluate(self.fitted, events, unknown, self.n_jobs, progress)

    # ------------------------------------------------------------------ predict

    def predict_proba(self, events: Any, *, unknown: Unknown = "error") -> FloatArray:
        """Probability of each outcome at every position, from what came before it: one row per position.

        Columns are as in ``outcomes_``. For rows with the name of their sequence and their position, see
        :meth:`predictions`; for what comes after the last event, :meth:`predict_next`. With
        ``unknown="ignore"`` a label that the model does not know keeps its place and says nothing.
        """
        self._check_predicts()
        return predict_each(self.fitted, read_events(events), unknown)

    def predict(self, events: Any, *, unknown: Unknown = "error") -> npt.NDArray[np.object_]:
        """The most likely outcome at every position. For a rare target that is mostly ``OTHER``."""
        return np.asarray(self.classes_[self.predict_proba(events, unknown=unknown).argmax(axis=1)])

    def predictions(self, events: Any, *, unknown: Unknown = "error") -> Predictions:
        """``predict_proba`` with the sequence, position and event of every row, for ``to_frame()``."""
        self._check_predicts()
        return predict_rows(self.fitted, read_events(events), unknown)

    def predict_next(self, histories: Any, *, unknown: Unknown = "error") -> Predictions:
        """What comes next after each history? One row per history, in their order.

        ``histories`` are sequences of labels, oldest first: lists, or whatever ``read_events`` takes.

        >>> import numpy as np
        >>> from summarkov import BSuMM, InfluenceGraph
        >>> graph = InfluenceGraph(BSuMM(lookback=1)).fit([["A", "B", "C"] * 4, ["C", "A", "B"] * 4] * 5)
        >>> after = graph.predict_next([["A"], ["C", "A", "B"], []])
        >>> after.most_likely
        ('B', 'C', '(end of case)')
        >>> after.probabilities.shape
        (3, 4)
        """
        self._check_predicts()
        return predict_next(self.fitted, histories, unknown)

    # ------------------------------------------------------------------ show

    def to_html(
        self,
        path: str | PathLike[str] | None = None,
        *,
        events: Any = None,
        passages: Any = None,
        title: str | None = None,
        sequences: int | None = None,
        groups: Any = None,
    ) -> str | None:
        """Write it as one HTML page that needs nothing else, all or nothing; or return its text.

        A notebook shows the text as the page itself, to explore in the cell.

        The page shows the graph, every label's table and the data, and computes what a history of one's own
        makes of the probabilities. With ``events`` it also shows what a graph does not know: how long their
        sequences are, and how the share of a target changes from event to event after an influencer. With
        ``passages``, the :class:`summarkov.text.TextEvents` that it was learned from,
        it shows the sentences behind every edge; they are then part of the page. ``title`` says what
        the events are. ``sequences`` is the number of sequences of the events that become part of the page,
        to be looked at one event after the other: none unless asked for. ``groups``, what
        :func:`compare_groups` returned, or several of these, are shown side by
        side.
        """
        from summarkov.show.page import to_html

        return to_html(
            self,
            path,
            events=events,
            passages=passages,
            title=title,
            sequences=sequences,
            groups=groups,
        )
