"""``LabelSets``: sets of labels that hold the next event as often as promised."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from summarkov.errors import DataError, SettingError
from summarkov.events.vocabulary import Unknown
from summarkov.frames import Records, Sheet
from summarkov.io import read_events
from summarkov.kernels import Index
from summarkov.models.parameters import Parameters
from summarkov.models.predictor import Predictor, Residual
from summarkov.settings import check_level
from summarkov.typing import BoolArray, FloatArray
from summarkov.wording import percent


@dataclass(frozen=True)
class LabelSet:
    """The labels one of which comes next, as often as promised.

    Attributes
    ----------
    sequence : str
        The name of the history.
    position : int
        The place that the set is about, counted from 1 on.
    labels : tuple
        The labels of the set, the most likely first.
    probability : float
        What the model gives to all of them together.
    """

    sequence: str
    position: int
    labels: tuple[str | Residual, ...]
    probability: float


@dataclass(eq=False, repr=False)
class LabelSets(Parameters):
    r"""The next event is one of these labels, with a promised probability (conformal prediction).

    A set holds every label that is at least as likely as a threshold says, and the most likely one in any
    case. The threshold comes from events that the model was not fitted to: with p the probability of the
    label that came, it is the largest number with which

    .. math:: \frac{1}{K + 1} \sum_k \frac{1}{N_k} \#\{ i : p_{ki} \ge \text{threshold} \}

    reaches ``coverage``, over K sequences of :math:`N_k` events. Then an event that is drawn at random
    from a new sequence is in its set with at least that probability, however wrong the model is, if new
    sequences come about as these did. It holds on average, not after every history.

    Parameters
    ----------
    model : Predictor
        Something fitted: a :class:`JointSuMM`, an :class:`InfluenceGraph` of all labels, a chain.
    coverage : float
        What is promised, between 0 and 1.

    Examples
    --------
    >>> from summarkov import BSuMM, InfluenceGraph
    >>> events = [["A", "B", "C", "D"], ["A", "B", "D", "C"], ["A", "B", "C", "C"]] * 20
    >>> graph = InfluenceGraph(BSuMM(lookback=2)).fit(events[:30])
    >>> sets = LabelSets(graph, coverage=0.9).fit(events[30:])
    >>> [each.labels for each in sets.predict_next([["A"], ["A", "B"]])]
    [('B',), ('C', 'D')]

    References: Lee, Barber, Willett, "Distribution-free inference with hierarchical data" (2023), for
    sequences instead of single events; Sadinle, Lei, Wasserman, "Least ambiguous set-valued classifiers with
    bounded error levels" (2019), for sets of this form, which are the smallest on average.
    """

    _learned: ClassVar[str] = "_threshold"

    model: Predictor
    coverage: float = 0.9

    def fit(self, events: Any, y: None = None) -> Self:
        """Find the threshold, from events that the model has not seen."""
        check_level("coverage", self.coverage)
        if not isinstance(self.model, Predictor):
            raise SettingError(f"model must be a fitted model, such as JointSuMM, not {self.model!r}")
        if self.model.layout_.together or self.model.layout_.attributes:
            raise SettingError("sets of labels are for models of events in a row, without attributes")
        data = read_events(events).recode(self.model.labels_)
        held = np.flatnonzero(data.lengths)
        if not len(held):
            raise DataError("there are no events to find the threshold from; the sequences are all empty")
        index = Index(data.codes, data.offsets, len(data.labels))
        outcome = self.model._outcomes_at(index)
        p = self.model.predict_proba(data)[np.arange(data.n_events), outcome]
        weight = np.repeat(1 / np.maximum(data.lengths, 1), data.lengths) / (len(held) + 1)
        order = np.argsort(-p, kind="stable")
        reached = np.cumsum(weight[order]) >= self.coverage - 1e-12
        # Too few sequences to promise that much: all labels.
        self._threshold = float(p[order][reached.argmax()]) if reached.any() else 0.0
        return self

    @property
    def threshold_(self) -> float:
        """The probability that a label of a set must have at least; 0: every set is all labels."""
        self._check_fitted()
        return self._threshold

    def predict_next(self, histories: Any, *, unknown: Unknown = "error") -> Records[LabelSet]:
        """The set after each history: a tuple that is also a table."""
        after = self.model.predict_next(histories, unknown=unknown)
        inside = self._inside(after.probabilities)
        order = np.argsort(-after.probabilities, axis=1, kind="stable")
        return Records(
            (
                LabelSet(
                    after.ids[after.sequences[row]],
                    int(after.positions[row]),
                    tuple(after.outcomes[x] for x in each.tolist() if inside[row, x]),
                    float(after.probabilities[row, inside[row]].sum()),
                )
                for row, each in enumerate(order)
            ),
            LabelSet,
        )

    def held(self, events: Any) -> float:
        """The share of events that were in their sets, each sequence counting once."""
        data = read_events(events).recode(self.model.labels_)
        index = Index(data.codes, data.offsets, len(data.labels))
        p = self.model.predict_proba(data)
        inside = self._inside(p)[np.arange(len(p)), self.model._outcomes_at(index)]
        weight = np.repeat(1 / np.maximum(data.lengths, 1), data.lengths)
        return float((inside * weight).sum() / weight.sum())

    def _sheet(self) -> Sheet:
        return Sheet(
            f"The next event is in its set with a probability of at least {percent(self.coverage)}: "
            f"labels of at least {percent(self.threshold_)}"
        )

    def _inside(self, p: FloatArray) -> BoolArray:
        """Whether each outcome is in the set of its row."""
        inside = p >= self.threshold_
        inside[np.arange(len(p)), p.argmax(axis=1)] = True
        return inside
