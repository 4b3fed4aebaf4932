"""``OutcomeModel``: what makes a sequence end one way and not the other."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from os import PathLike
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from summarkov.engines import EventSource, Layout, StateCounts, make_source
from summarkov.engines.endings import EndedSource, Outcome
from summarkov.engines.surveys import count_beginnings
from summarkov.engines.weights import FIXED_POINT
from summarkov.errors import SettingError
from summarkov.events import EventSequences
from summarkov.events.moments import Moments
from summarkov.events.rows import Rows
from summarkov.events.vocabulary import Unknown
from summarkov.explain import Explanation
from summarkov.frames import Sheet
from summarkov.io import read_events
from summarkov.models.edges import Edges
from summarkov.models.explaining import OneHistory, explain
from summarkov.models.families import BSuMM, SearchedModel
from summarkov.models.fitted import Fitted, StateTable
from summarkov.models.learning import learn
from summarkov.models.model import SummaryModel
from summarkov.models.outcome_data import (
    OutcomeEvidence,
    classes_of,
    outcome_of,
    refuse_beyond,
    refuse_one_sided,
    refuse_telling_label,
)
from summarkov.models.parameters import Parameters, codes_of
from summarkov.models.predictor import Predictions, read_new_events
from summarkov.models.saving import Saved, models_document, states_document
from summarkov.models.tree import TreeSuMM
from summarkov.typing import FloatArray


@dataclass(eq=False, repr=False)
class OutcomeModel(OutcomeEvidence, Saved, Parameters):
    """Which events, in which order and how often, and which attributes, change the odds of an outcome.

    The outcome is a property of the whole sequence, and each sequence counts once: what is looked at is its
    state once all of its events have happened. For cases that are still open, ``predict_open`` tells the
    probability from what has happened so far; it rests on all beginnings of all sequences.

    Parameters
    ----------
    model : SummaryModel
        A model without a target; it looks back over the whole past unless told otherwise.
    outcome : str, optional
        The column that tells the outcome: an attribute of the events (``read_events(attributes=[...])``). It
        is no influencer then.
    value : str, optional
        The value of that column that is asked about; it may be left out where there are just two: then it is
        the rarer one.
    reaches : label, optional
        Instead of a column: does this label ever occur after the first ``after`` events? Sequences that have
        reached it, or ended, by then are left out. An open case that has reached it has the probability 1.
    ends_with : label, optional
        Instead of a column: is this label the last? Only what came before the last one is looked at.
    after : int, optional
        Look at the first ``after`` positions only, of sequences that have as many. So all sequences have had
        equal time; without, in long ones more has happened, and whatever goes with length seems to matter.
        Of open cases that are past these positions it says nothing: their probability is NaN.

    Examples
    --------
    >>> import summarkov as sm
    >>> good, bad = ["ask", "check", "pay"], ["ask", "ask", "leave"]
    >>> events = sm.read_events([good, good, bad, ["ask", "check", "check", "pay"]] * 10)
    >>> model = sm.OutcomeModel(ends_with="pay").fit(events)
    >>> model.influencers_
    ('check',)
    >>> model.predict_open([["ask"], ["ask", "check"]]).round(2)
    array([0.67, 1.  ])
    """

    model: SummaryModel | None = None
    outcome: str | None = None
    value: str | None = None
    reaches: str | None = None
    ends_with: str | None = None
    after: int | None = None

    _learned, _is_classifier = "_model", True

    def fit(self, events: Any, y: Iterable[object] | None = None, *, sample_weight: Any = None) -> Self:
        """Learn what the outcome depends on; ``y`` may name that of every sequence, None where not known."""
        template = BSuMM(lookback=None) if self.model is None else self.model
        if not isinstance(template, SummaryModel) or template.target is not None:
            raise SettingError("model must be a model without a target, such as BSuMM(lookback=None)")
        if not isinstance(template, SearchedModel | TreeSuMM):
            kind = type(template).__name__
            raise SettingError(
                f"a {kind} has no influencers to choose; use a BSuMM, OSuMM, CSuMM or TreeSuMM"
            )
        source = make_source(events, sample_weight=sample_weight, n_jobs=template.n_jobs).without_ends()
        y = None if y is None else list(y)
        outcome, ended = self._ended(source, y, self.value)
        name = outcome.name
        refuse_telling_label(outcome, source, template.forbidden, template.candidates)
        refuse_one_sided(outcome, source, ended)
        model = template.copy(target=outcome.names)
        learn([model], ended, [model.make_summary()])
        table = count_beginnings(EndedSource(source, outcome, everywhere=True), model.fitted.request)
        classes = classes_of(source, y, self.outcome)
        self._keep(model, table, name, source.n_sequences - ended.n_sequences, classes)
        return self

    @property
    def _asked(self) -> tuple[str | None, str | None, str | None, str | None]:
        return self.outcome, self.value, self.reaches, self.ends_with

    def _ended(
        self, source: EventSource, y: Iterable[object] | None, value: str | None
    ) -> tuple[Outcome, EndedSource]:
        """How the outcome is told, and the sequences that end in it."""
        outcome = outcome_of(source, y, self.outcome, value, self.reaches, self.ends_with, self.after)
        return outcome, EndedSource(source, outcome)

    def _keep(
        self, model: SummaryModel, table: StateCounts, name: str, n_left_out: int, classes: tuple[Any, Any]
    ) -> None:
        """What was learned: the model at the ends of sequences, and the counts at all of their beginnings."""
        self._model, self._open = model, replace(model.fitted, table=table, scale=FIXED_POINT)
        self._name, self._n_left_out, self._classes = name, n_left_out, classes

    # ------------------------------------------------------------------ what was learned

    @property
    def model_(self) -> SummaryModel:
        """The model of the outcome: one with the outcome and its opposite as target."""
        self._check_fitted()
        return self._model

    @property
    def classes_(self) -> npt.NDArray[Any]:
        """The columns of ``predict_proba``: the two values of the outcome, sorted; or False and True."""
        self._check_fitted()
        return np.array(self._classes)

    @property
    def labels_(self) -> tuple[str, ...]:
        """The vocabulary, with the names of attributes and of the outcome."""
        return self.model_.labels_

    @property
    def influencers_(self) -> tuple[str, ...]:
        """The labels and attributes that the outcome depends on, sorted."""
        return self.model_.influencers_

    @property
    def influences_(self) -> Edges:
        """How each influencer changes the probability of the outcome, the surest first."""
        return Edges(edge for edge in self.model_.influences_ if edge.target == self._name)

    @property
    def table_(self) -> StateTable:
        """How often the outcome came about in each state at the end of a sequence; one row per state."""
        return self.model_.table_

    @property
    def open_table_(self) -> StateTable:
        """The same after beginnings of all sequences; ``n`` is how many sequences they are worth."""
        return StateTable(self.open_fitted, self.model_.outcomes_)

    @property
    def n_left_out_(self) -> int:
        """How many sequences were left out: no known outcome, too short, or decided too early."""
        self._check_fitted()
        return self._n_left_out

    @property
    def layout_(self) -> Layout:
        """What the data it was learned from had beside events in a row, without how sequences ended."""
        layout = self.model_.layout_
        events = tuple(name for name in layout.attributes if name not in layout.outcomes)
        return layout._replace(attributes=events, outcomes=())

    @property
    def base_rate_(self) -> float:
        """The share of sequences with the outcome."""
        return self.model_.base_rates_[self.yes]

    @property
    def name_(self) -> str:
        """The outcome, such as "result=declined"."""
        self._check_fitted()
        return self._name

    @property
    def yes(self) -> int:
        """Which of the two outcomes of ``model_`` it is."""
        return self.model_.target_.index(self._name)

    def states_sheet(self) -> Sheet:
        """How often it came about in each state, the most frequent states first."""
        table = self.table_
        return table.sheet("How often it came about, by state", sorted(table, key=lambda row: -row.n))

    def to_document(self) -> dict[str, Any]:
        asked = zip(("column", "value", "reaches", "ends_with"), self._asked, strict=True)
        told = {name: None if text is None else str(text) for name, text in asked}
        after = None if self.after is None else int(self.after)
        return {
            **models_document("OutcomeModel", [self.model_]),
            "outcome": {"name": self._name, **told, "after": after, "classes": [*map(str, self._classes)]},
            "left_out": self._n_left_out,
            "open": states_document(self._open),
        }

    # ------------------------------------------------------------------ use

    def predict_open(self, events: Any, *, unknown: Unknown = "error") -> FloatArray:
        """The probability of the outcome for each sequence, from what has happened in it so far."""
        return self.predictions(events, unknown=unknown).probabilities[:, 0]

    def predict_ended(self, events: Any, *, unknown: Unknown = "error") -> FloatArray:
        """The probability of the outcome for each sequence, all events of which have happened."""
        return _after_all(self.model_.fitted, self._read(events, unknown))[:, self.yes].copy()

    def predict_proba(self, events: Any, *, unknown: Unknown = "error") -> FloatArray:
        """``predict_ended`` in the form of scikit-learn: one column for each of ``classes_``."""
        p = self.predict_ended(events, unknown=unknown)
        return np.column_stack([p, 1 - p] if str(self._classes[0]) == self._value else [1 - p, p])

    def predictions(self, events: Any, *, unknown: Unknown = "error") -> Predictions:
        """``predict_open`` with the names of the sequences, for ``to_frame()``."""
        data = self._read(events, unknown)
        p = _after_all(self.open_fitted, data)[:, self.yes]
        last = np.where(data.lengths > 0, np.append(0, data.positions)[data.offsets[1:]], 0)
        p[last > (self.after or np.inf)] = np.nan
        p[np.repeat(np.arange(len(data)), data.lengths)[data.codes == self.decided_by]] = 1.0
        return Predictions(
            outcomes=(self._name,),
            probabilities=p[:, None],
            ids=data.ids,
            sequences=np.arange(len(data)),
            positions=last,
        )

    def _read(self, events: Any, unknown: Unknown) -> EventSequences:
        """New events in the vocabulary of the model, without the column of the outcome."""
        data, fitted = read_events(events), self.model_.fitted
        return read_new_events(self._without_outcome(data), fitted.labels, fitted.layout, unknown)

    def _without_outcome(self, data: EventSequences) -> EventSequences:
        """The same without the column of the outcome."""
        given = data.attributes
        if given is None or self.outcome is None or self.outcome not in given.columns:
            return data
        return data.with_attributes(given.without(self.outcome))

    @property
    def open_fitted(self) -> Fitted:
        """The same states after beginnings of all sequences: for cases that have not ended."""
        self._check_fitted()
        return self._open

    def explain(
        self, history: Iterable[object] | EventSequences, *, unknown: Unknown = "error"
    ) -> Explanation:
        """Say why a case that has got so far has its probability of the outcome.

        ``history`` is a list of labels or ticks, or the events of one sequence: :meth:`BSuMM.explain`.
        """
        fitted = self.open_fitted
        if isinstance(history, EventSequences):
            history = self._without_outcome(history)
        so_far = OneHistory.read(history, fitted.labels, fitted.layout, unknown)
        why = explain(fitted, so_far, self.yes, fitted.influencer_labels, self.base_rate_)
        if self.decided_by in so_far.codes.tolist():
            return why.certain()
        refuse_beyond(self.after, int(so_far.lags.max(initial=0)))
        return why

    @property
    def decided_by(self) -> int | None:
        """The code of the label that is to be reached: once it occurs, the outcome is certain."""
        return None if self.reaches is None else codes_of([self.reaches], self.labels_)[0]

    @property
    def _value(self) -> str:
        """The value of the column, or of y, that means the outcome."""
        return self._name.removeprefix(f"{self.outcome or 'outcome'}=")

    def _again(self, events: Any, y: Any, sample_weight: Any) -> EndedSource:
        """Sequences that end in what was learned, or not."""
        self._check_fitted()
        source = make_source(events, sample_weight=sample_weight).without_ends()
        return self._ended(source, y, self._value)[1]

    def to_html(
        self,
        path: str | PathLike[str] | None = None,
        *,
        events: Any = None,
        y: Any = None,
        title: str | None = None,
        sequences: int | None = None,
    ) -> str | None:
        """Write it as one HTML page, as :meth:`InfluenceGraph.to_html` does; or return its text.

        ``events`` and ``y`` are those of ``fit``, to tell how long sequences are; ``sequences`` of them
        become part of the page if asked for, to see the probability of the outcome change along them.
        """
        from summarkov.report import to_html

        ended = None if events is None else self._again(read_events(events), y, None).events()
        return to_html(self, path, events=ended, title=title, sequences=sequences)

    def _sheet(self) -> Sheet:
        return self.influences_.sheet(f"Outcome {self._name}: {self.base_rate_:.1%} of the sequences")


def _after_all(fitted: Fitted, data: EventSequences) -> FloatArray:
    """The probability of each outcome after the last event of each sequence."""
    rows = Rows.of(data)
    if rows.moments is None:
        rows = replace(rows, moments=Moments(np.ones(data.n_events, bool)))
    rows = rows.with_next()
    return np.asarray(fitted.theta[fitted.predict(rows.index())[rows.offsets[1:] - 1]])
