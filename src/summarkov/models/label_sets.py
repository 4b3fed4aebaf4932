"""``LabelSets``: sets of labels that hold the next event as often as promised."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from summarkov.errors import DataError, SettingError
from summarkov.events.vocabulary import END, Unknown
from summarkov.frames import Records, Sheet
from summarkov.models.parameters import Parameters
from summarkov.models.predictor import Predictor, Residual, likeliest
from summarkov.settings import check_level
from summarkov.typing import BoolArray, CodeArray, FloatArray
from summarkov.wording import percent

#: What sums of weights may lack of a coverage by rounding.
_ROUNDING = 1e-12


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

    reaches ``coverage``, over K sequences of :math:`N_k` events; one of weight w counts as w
    sequences. Then an event that is drawn at random from a new sequence is in its set with at least that
    probability, however wrong the model is, if new sequences come about as these did. It holds on average,
    not after every history.

    Parameters
    ----------
    model : Predictor
        Something fitted: a :class:`JointSuMM`, an :class:`InfluenceGraph` of all labels, a chain.
    coverage : float
        What is promised, above 0 and below 1.

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

    def fit(self, events: Any, y: None = None, *, unknown: Unknown = "error") -> Self:
        """Find the threshold, from events that the model has not seen.

        With ``unknown="ignore"`` events of labels that the model does not know are left out, and the promise
        is about the others.
        """
        check_level("coverage", self.coverage)
        if not isinstance(self.model, Predictor):
            raise SettingError(f"model must be a fitted model, such as JointSuMM, not {self.model!r}")
        if self.model.layout_.together or self.model.layout_.attributes:
            raise SettingError(
                "sets of labels are for models of events in a row, without attributes; learn one"
            )
        p, outcome, weight, total = self._events(events, unknown)
        p = p[np.arange(len(p)), outcome]
        order = np.argsort(-p, kind="stable")
        reached = np.cumsum(weight[order]) / (total + 1) >= self.coverage - _ROUNDING
        # Too few sequences to promise that much: all labels.
        self._threshold = float(p[order][reached.argmax()]) if reached.any() else 0.0
        self._n_sequences = total
        return self

    @property
    def threshold_(self) -> float:
        """The probability that a label of a set must have at least; 0: every set is all labels."""
        self._check_fitted()
        return self._threshold

    @property
    def n_sequences_(self) -> float:
        """How many sequences the threshold comes from, by their weights; empty ones do not count."""
        self._check_fitted()
        return self._n_sequences

    @property
    def n_needed(self) -> int:
        """How many sequences it takes to promise that much; with fewer, every set is all labels."""
        return math.ceil((self.coverage - _ROUNDING) / (1 - self.coverage + _ROUNDING))

    def predict_next(self, histories: Any, *, unknown: Unknown = "error") -> Records[LabelSet]:
        """The set after each history: a tuple that is also a table."""
        self._check_fitted()
        after = self.model.predict_next(histories, unknown=unknown)
        inside = self._inside(after.probabilities)
        sums = np.where(inside, after.probabilities, 0.0).sum(axis=1).tolist()
        each = zip(
            after.ids, after.positions.tolist(), self.labels_of(after.probabilities), sums, strict=True
        )
        return Records((LabelSet(*one) for one in each), LabelSet)

    def labels_of(self, probabilities: FloatArray) -> list[tuple[str | Residual, ...]]:
        """The set of each row of what ``predict_proba`` of the model gives, the most likely label first."""
        outcomes, inside = self.model.outcomes_, self._inside(probabilities)
        return [
            tuple(outcomes[x] for x in each.tolist() if inside[row, x])
            for row, each in enumerate(likeliest(probabilities))
        ]

    def held(self, events: Any, *, unknown: Unknown = "error") -> float:
        """The share of events that were in their sets, each sequence counting once, or as its weight says."""
        p, outcome, weight, total = self._events(events, unknown)
        return float((self._inside(p)[np.arange(len(p)), outcome] * weight).sum() / total)

    def mean_size(self, events: Any, *, unknown: Unknown = "error") -> float:
        """The mean number of labels in the sets of events, which count as in :meth:`held`."""
        p, _, weight, total = self._events(events, unknown)
        return float((self._inside(p).sum(axis=1) * weight).sum() / total)

    def _sheet(self) -> Sheet:
        return Sheet(
            f"The next event is in its set with a probability of at least {percent(self.coverage)}: "
            f"labels of at least {percent(self.threshold_)}"
        )

    def _events(self, events: Any, unknown: Unknown) -> tuple[FloatArray, CodeArray, FloatArray, float]:
        """Events of labels that the model knows, in sequences of weights above 0; refuse none.

        The probabilities there, the column of what came, how much each event counts (those of a sequence
        share its weight), and the weight of all sequences.
        """
        data = self.model.fitted.read(events, unknown)
        if END in data.labels:
            data = data.with_end_rows()
        if data.moments is not None and data.moments.has_ticks:
            raise DataError(
                "sets of labels are for events in a row, and some of these happened together; give them one "
                "after the other"
            )
        outcome = self.model.fitted.outcome_of[data.codes]
        sequence = np.repeat(np.arange(len(data)), data.lengths)
        given = np.ones(len(data)) if data.weights is None else data.weights
        counted = (outcome >= 0) & (given[sequence] > 0)
        if not counted.any():
            raise DataError(
                "there are no events to look at; give sequences that are not empty, of labels that the model "
                "knows and with weights above 0"
            )
        n = np.bincount(sequence[counted], minlength=len(data))
        p = self.model.predict_proba(data, unknown=unknown)[counted]
        weight = (given / np.maximum(n, 1))[sequence[counted]]
        return p, outcome[counted], weight, float(given[n > 0].sum())

    def _inside(self, p: FloatArray) -> BoolArray:
        """Whether each outcome is in the set of its row."""
        inside = p >= self.threshold_
        inside[np.arange(len(p)), p.argmax(axis=1)] = True
        return inside
