"""``OutcomeModel``: what makes a sequence end one way and not the other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from os import PathLike
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from summarkov.confidence import Confidence, OrderTest
from summarkov.engines import EventSource, Layout, make_source
from summarkov.engines.endings import EndedSource
from summarkov.engines.outcomes import Outcome
from summarkov.engines.surveys import count_open
from summarkov.errors import SettingError
from summarkov.events import EventSequences
from summarkov.events.vocabulary import Unknown
from summarkov.explain import Explanation
from summarkov.frames import MOST, Sheet
from summarkov.models.bootstrap import bootstrap
from summarkov.models.distribution import next_places, read_new_events
from summarkov.models.edges import Edges
from summarkov.models.explaining import OneHistory, explain
from summarkov.models.families import BSuMM, SearchedModel
from summarkov.models.files import Saved, models_document
from summarkov.models.fitted import StateTable
from summarkov.models.learning import learn
from summarkov.models.model import SummaryModel
from summarkov.models.open_cases import OpenCases, OpenPredictions, n_positions, up_to
from summarkov.models.order import order_test
from summarkov.models.outcome_data import (
    classes_of,
    left_out,
    moment_of,
    outcome_of,
    overall_rate,
    refuse_one_sided,
    refuse_telling_label,
    without_itself,
)
from summarkov.models.outcome_edges import case_columns, in_cases, is_the_outcome, notice
from summarkov.models.parameters import Parameters, codes_of
from summarkov.models.tree import TreeSuMM
from summarkov.read import read_events
from summarkov.settings import Duration, Progress, check_whole, seed_of
from summarkov.typing import FloatArray
from summarkov.wording import number, percent, plural


@dataclass(eq=False, repr=False)
class OutcomeModel(Saved, Parameters):
    """Which events, in which order and how often, and which attributes, change the odds of an outcome.

    The outcome is a property of the whole case, and each case counts once: what is looked at are all of its
    events, the last one included. What was known before the end is another question, asked at a stated
    moment: ``after``. For cases that are still open, ``predict_open`` gives the probability from what has
    happened so far, from the cases that had got as far.

    Parameters
    ----------
    model : SummaryModel
        A model without a target; it looks at the whole case unless its look-back says otherwise: the last so
        many events.
    outcome : str, optional
        The column that tells the outcome: an attribute of the events (``read_events(attributes=[...])``). It
        is no influencer then.
    value : str, optional
        The value of that column that is asked about; it may be left out where there are just two: then it is
        the rarer one.
    contains : label, optional
        Instead of a column: does the case contain this label? It is no influencer then. An open case that
        contains it has already reached the outcome.
    ends_with : label, optional
        Instead of a column: is this label the last? It is no influencer then.
    after : int or str, optional
        Ask what was known before the end, at this moment: after so many events, or at this age of the case
        ("3d", counted from its first event). Only what had happened by then is looked at, of cases that went
        on until then; those that ended before, or had reached the outcome, are counted in ``left_out_``.

    Examples
    --------
    >>> import summarkov as sm
    >>> good, bad = ["ask", "check", "pay"], ["ask", "ask", "leave"]
    >>> events = sm.read_events([good, good, bad, ["ask", "check", "check", "pay"]] * 10)
    >>> model = sm.OutcomeModel(ends_with="pay").fit(events)
    >>> model.influencers_
    ('check',)
    >>> model.predict_open([["ask"], ["ask", "check"]]).round(2)
    array([0.75, 1.  ])
    """

    model: SummaryModel | None = None
    outcome: str | None = None
    value: str | None = None
    contains: str | None = None
    ends_with: str | None = None
    after: int | str | None = None

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
        source = make_source(events, sample_weight=sample_weight, n_jobs=template.n_jobs)
        y = None if y is None else list(y)
        outcome, ended = self._ended(source, y, self.value)
        name = outcome.name
        refuse_telling_label(outcome, source, template.forbidden, template.candidates)
        refuse_one_sided(outcome, ended)
        itself = self.contains if self.ends_with is None else self.ends_with
        model = without_itself(template, itself).copy(target=outcome.names)
        learn([model], ended, [model.make_summary()])
        every_moment = EndedSource(source, replace(outcome, after=None), everywhere=True)
        open_cases = OpenCases.of(model.fitted, count_open(every_moment, model.fitted.request))
        classes = classes_of(source, y, self.outcome)
        self._keep(model, open_cases, name, left_out(outcome, ended), overall_rate(ended), classes)
        return self

    def _ended(
        self, source: EventSource, y: Iterable[object] | None, value: str | None
    ) -> tuple[Outcome, EndedSource]:
        """How the outcome is told, and the sequences that end in it."""
        outcome = outcome_of(source, y, self.outcome, value, self.contains, self.ends_with, self.after)
        return outcome, EndedSource(source, outcome)

    def _keep(
        self,
        model: SummaryModel,
        open_cases: OpenCases,
        name: str,
        left_out: Mapping[str, int],
        overall_rate: float,
        classes: tuple[Any, Any],
    ) -> None:
        """What was learned: the model of whole cases, or at one moment; and open cases at all moments."""
        self._model, self._open, self._name, self._classes = model, open_cases, name, classes
        self._left_out, self._overall_rate = dict(left_out), overall_rate

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
        """How each influencer changes the probability of the outcome, the surest first; counts are cases."""
        return Edges(in_cases(self.model_.influences_, self.model_.fitted, self._name))

    @property
    def table_(self) -> StateTable:
        """How many cases were in each state, and how many of them had the outcome; one row per state."""
        return self.model_.table_

    @property
    def left_out_(self) -> dict[str, int]:
        """How many cases were left out of ``table_``, by reason."""
        self._check_fitted()
        return dict(self._left_out)

    @property
    def n_left_out_(self) -> int:
        """How many cases were left out of ``table_``."""
        return sum(self.left_out_.values())

    @property
    def overall_rate_(self) -> float:
        """The share with the outcome of all cases of which it is known, also of those left out."""
        self._check_fitted()
        return self._overall_rate

    @property
    def determining_(self) -> Edges:
        """Influencers that nearly are the outcome, or its opposite, under another name."""
        return Edges(edge for edge in self.influences_ if is_the_outcome(edge))

    @property
    def notices_(self) -> tuple[str, ...]:
        """What to know before reading on: one sentence for each influencer of ``determining_``."""
        return tuple(map(notice, self.determining_))

    @property
    def layout_(self) -> Layout:
        """What the data it was learned from had beside events in a row, without how sequences ended."""
        layout = self.model_.layout_
        events = tuple(name for name in layout.attributes if name not in layout.outcomes)
        return layout._replace(attributes=events, outcomes=())

    @property
    def base_rate_(self) -> float:
        """The share with the outcome of the cases in ``table_``."""
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
        """In how many cases of each state it came about, the most frequent states first."""
        rows = sorted(self.table_, key=lambda row: -row.n)
        cells = [
            [
                row.words or "any history",
                f"{number(row.counts[self.yes])} of {number(row.n)}",
                percent(row.counts[self.yes] / row.n) if row.n else "",
                " to ".join(map(percent, row.intervals[self.yes])) if row.n else "",
                "" if row.seen == "often" else f"{row.seen} seen",
            ]
            for row in rows[:MOST]
        ]
        head = ["state", "cases", "share", "95% interval", ""]
        return Sheet(f"{self._name}, by what the case contains", head, cells, len(rows))

    def to_document(self) -> dict[str, Any]:
        texts = (self.outcome, self.value, self.contains, self.ends_with)
        asked = zip(("column", "value", "contains", "ends_with"), texts, strict=True)
        told = {name: None if text is None else str(text) for name, text in asked}
        after = moment_of(self.after)
        moment = after.text if isinstance(after, Duration) else after
        return {
            **models_document("OutcomeModel", [self.model_]),
            "outcome": {"name": self._name, **told, "after": moment, "classes": [*map(str, self._classes)]},
            "left_out": self.left_out_,
            "overall_rate": self._overall_rate,
            "open_cases": self._open.document(),
        }

    # ------------------------------------------------------------------ use

    def predict_ended(self, events: Any, *, unknown: Unknown = "error") -> FloatArray:
        """The probability of the outcome for each whole case, as ``table_`` has it.

        With ``after``, from what had happened in the case by then.
        """
        fitted, data = self.model_.fitted, self._read(events, unknown)
        index, ends = next_places(up_to(data, moment_of(self.after)))
        return np.asarray(fitted.theta[fitted.predict(index)[ends], self.yes])

    def predict_proba(self, events: Any, *, unknown: Unknown = "error") -> FloatArray:
        """``predict_ended`` in the form of scikit-learn: one column for each of ``classes_``."""
        p = self.predict_ended(events, unknown=unknown)
        return np.column_stack([p, 1 - p] if str(self._classes[0]) == self._value else [1 - p, p])

    @property
    def open_cases(self) -> OpenCases:
        """What became of the cases that were open at every moment."""
        self._check_fitted()
        return self._open

    def open_table(self, after: int | None = None) -> StateTable:
        """The same of cases that were open after some events; None: averaged over all moments.

        A moment that was not counted is answered by the nearest one that was.
        """
        opened = self.open_cases
        place = None if after is None else int(opened.nearest(np.array(check_whole("after", after, 0))))
        return StateTable(opened.at(place), self.model_.outcomes_)

    def predict_open(self, events: Any, *, unknown: Unknown = "error") -> FloatArray:
        """The probability of the outcome for each sequence, from what has happened in it so far.

        It rests on the cases that were open after as many events: ``open_table``. One that has already
        reached the outcome has the probability 1; ``predictions`` marks it.
        """
        return self.predictions(events, unknown=unknown).probabilities[:, 0]

    def predictions(self, events: Any, *, unknown: Unknown = "error") -> OpenPredictions:
        """``predict_open`` with the names of the sequences, and which have already reached the outcome."""
        data = self._read(events, unknown)
        p, after = self.open_cases.predict(data)
        already = np.zeros(len(data), bool)
        already[np.repeat(np.arange(len(data)), data.lengths)[data.codes == self.decided_by]] = True
        return OpenPredictions(
            outcomes=(str(self.model_.outcomes_[self.yes]),),
            probabilities=np.where(already, 1.0, p[:, self.yes])[:, None],
            ids=data.ids,
            sequences=np.arange(len(data)),
            positions=n_positions(data),
            after=after,
            already_reached=already,
        )

    def explain(
        self, history: Iterable[object] | EventSequences, *, unknown: Unknown = "error"
    ) -> Explanation:
        """Say why a case that has got so far has its probability of the outcome.

        ``history`` is a list of labels or ticks, or the events of one sequence: :meth:`BSuMM.explain`.
        """
        opened = self.open_cases
        if isinstance(history, EventSequences):
            history = self._without_outcome(history)
        so_far = OneHistory.read(history, opened.fitted.labels, opened.fitted.layout, unknown)
        place = int(opened.nearest(np.array(so_far.n_positions)))
        fitted, usual = opened.at(place), float(opened.rates[place, self.yes])
        why = explain(fitted, so_far, self.yes, fitted.influencer_labels, usual)
        why = replace(why, moment=int(opened.moments[place]))
        return why.certain() if self.decided_by in so_far.codes.tolist() else why

    @property
    def decided_by(self) -> int | None:
        """The code of the label that is to be contained: once it occurs, the outcome is certain."""
        return None if self.contains is None else codes_of([self.contains], self.model_.labels_)[0]

    def score(
        self, events: Any, y: Any = None, *, unknown: Unknown = "error", sample_weight: Any = None
    ) -> float:
        """Mean log-likelihood, per sequence, of how new sequences ended; ``y`` as in ``fit``."""
        return self.model_.score(self._again(read_events(events), y, sample_weight).events(), unknown=unknown)

    def confidence(
        self,
        events: Any,
        y: Any = None,
        *,
        n: int = 100,
        seed: int = 0,
        random_state: int | None = None,
        level: float = 0.95,
        sample_weight: Any = None,
        progress: Progress = None,
    ) -> Confidence:
        """How sure each influence is, from resampled sequences; see ``InfluenceGraph.confidence``."""
        source, seed = self._again(events, y, sample_weight), seed_of(seed, random_state)
        found = bootstrap([self.model_], source, n=n, seed=seed, level=level, progress=progress)
        mine = tuple(edge for edge in found.edges if edge.target == self.name_)
        return replace(found, edges=mine, seldom=tuple(one for one in found.seldom if one[1] == self.name_))

    def order_test(
        self,
        events: Any,
        y: Any = None,
        *,
        n: int = 99,
        within: Any = None,
        seed: int = 0,
        random_state: int | None = None,
        sample_weight: Any = None,
        progress: Progress = None,
    ) -> OrderTest:
        """Which influences are about the order of events; see ``InfluenceGraph.order_test``."""
        source, seed = self._again(events, y, sample_weight), seed_of(seed, random_state)
        return order_test([self.model_], source, n=n, within=within, seed=seed, progress=progress)

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
    def _value(self) -> str:
        """The value of the column, or of y, that means the outcome."""
        return self._name.removeprefix(f"{self.outcome or 'outcome'}=")

    def _again(self, events: Any, y: Any, sample_weight: Any) -> EndedSource:
        """Sequences that end in what was learned, or not."""
        self._check_fitted()
        source = make_source(events, sample_weight=sample_weight)
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
        title, edges = f"Outcome {self._name}: {self.base_rate_:.1%} of the cases", self.influences_[:MOST]
        columns = {"influencer": [edge.influencer for edge in edges], **case_columns(edges)}
        gone = (f"Left out: {plural(n, 'case')}, {why}." for why, n in self.left_out_.items())
        rows, notes = [*zip(*columns.values(), strict=True)], (*gone, *self.notices_)
        return Sheet(title, list(columns), rows, len(self.influences_), notes)
