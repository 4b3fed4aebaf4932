"""``OutcomeModel``: what makes a case end one way and not the other; open cases beside it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from operator import attrgetter
from os import PathLike
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from summarkov.engines import EventSource, Layout, MemorySource, StateCounts, make_source
from summarkov.engines.counts import FIXED_POINT, merge_keys
from summarkov.engines.outcomes import NOT_KNOWN, NOT_TOLD, EndedSource, Outcome, count_open
from summarkov.errors import DataError, SettingError, nearest
from summarkov.events import EventSequences
from summarkov.events.vocabulary import Unknown
from summarkov.evidence import Confidence, Explanation, Influence, OrderTest
from summarkov.evidence.words import effect_word, limits, outcome_change, times
from summarkov.frames import MOST, Column, Sheet
from summarkov.models.bootstrap import bootstrap, order_of
from summarkov.models.fitted import Edges, Fitted, History, StateTable, explain
from summarkov.models.learning import check_time, learn
from summarkov.models.model import BSuMM, SearchedModel, SummaryModel
from summarkov.models.parameters import Parameters, codes_of, label_list
from summarkov.models.prediction import Predictions, next_places
from summarkov.models.trees import TreeSuMM
from summarkov.read import read_events
from summarkov.settings import Duration, Progress, check_seed, check_whole, span_of
from summarkov.summaries.window import place_words
from summarkov.typing import BoolArray, FloatArray, IntArray, KeyArray
from summarkov.wording import number, plural

#: A state that fewer cases were in at a moment is also looked up at the moments around it.
ENOUGH = 20
#: An influencer that has both of these shares is the outcome under another name, or its opposite.
_NEARLY_ALL = 0.95


class FittedOutcome(NamedTuple):
    """What was learned: the model of whole cases, or at one moment; and open cases at all moments."""

    model: SummaryModel
    open_cases: OpenCases
    name: str
    left_out: Mapping[str, int]
    overall_rate: float
    classes: tuple[Any, Any]


@dataclass(eq=False, repr=False)
class OutcomeModel(Parameters):
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

    _learned, _is_classifier = "_fitted", True

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
        outcome, classes = self._outcome(source, y, self.value)
        ended = EndedSource(source, outcome)
        reasons = zip(outcome.reasons[1:], ended.survey[1:, 0].tolist(), strict=True)
        left_out = {reason: n for reason, n in reasons if n}
        _refuse_one_sided(outcome, ended, left_out)
        itself = self.contains if self.ends_with is None else self.ends_with
        model = _without_itself(template, itself).copy(target=outcome.names)
        learn([model], ended)
        open_cases = OpenCases.of(model.fitted, count_open(source, outcome, model.fitted.request))
        known = ended.survey[[0, *range(3, len(ended.survey))]].sum(axis=0)
        rate = float(known[2] / known[1])
        self._fitted = FittedOutcome(model, open_cases, outcome.name, left_out, rate, classes)
        return self

    def _outcome(
        self, source: EventSource, y: Iterable[object] | None, value: str | None
    ) -> tuple[Outcome, tuple[Any, Any]]:
        """How the outcome is told, and its classes: two values, sorted; or False and True."""
        contains, ends_with, values = self.contains, self.ends_with, list[Any]()
        if sum(each is not None for each in (self.outcome, contains, ends_with, y)) != 1:
            raise SettingError("say what the outcome is: one of outcome=, contains=, ends_with=, or y in fit")
        if contains is not None:
            found = Outcome(f"contains {contains}", contained=_code(source, contains))
        elif ends_with is not None:
            found = Outcome(f"ends with {ends_with}", last=_code(source, ends_with))
        elif y is not None:
            found, values = _given(source, list(y), value)
        else:
            found, values = _of_column(source, str(self.outcome), value)
        moment, layout = moment_of(self.after), Layout.of(source)
        if isinstance(moment, Duration):
            check_time("after", moment, layout)
        first, second = sorted(values) if len(values) == 2 else (False, True)
        return replace(found, after=moment, thing="tick" if layout.together else "event"), (first, second)

    # ------------------------------------------------------------------ what was learned

    @property
    def fitted(self) -> FittedOutcome:
        self._check_fitted()
        return self._fitted

    @property
    def model_(self) -> SummaryModel:
        """The model of the outcome: one with the outcome and its opposite as target."""
        return self.fitted.model

    @property
    def classes_(self) -> npt.NDArray[Any]:
        """The columns of ``predict_proba``: the two values of the outcome, sorted; or False and True."""
        return np.array(self.fitted.classes)

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
        return Edges(_in_cases(self.model_.influences_, self.model_.fitted, self.name_))

    @property
    def table_(self) -> StateTable:
        """How many cases were in each state, and how many of them had the outcome; one row per state."""
        return self.model_.table_

    @property
    def left_out_(self) -> dict[str, int]:
        """How many cases were left out of ``table_``, by reason."""
        return dict(self.fitted.left_out)

    @property
    def overall_rate_(self) -> float:
        """The share with the outcome of all cases of which it is known, also of those left out."""
        return self.fitted.overall_rate

    @property
    def notices_(self) -> tuple[str, ...]:
        """What to know before reading on: which influencers nearly are the outcome, or its opposite."""
        return tuple(map(_notice, filter(_is_the_outcome, self.influences_)))

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
        return self.fitted.name

    @property
    def yes(self) -> int:
        """Which of the two outcomes of ``model_`` it is."""
        return self.model_.target_.index(self.name_)

    @property
    def open_cases(self) -> OpenCases:
        """What became of the cases that were open at every moment."""
        return self.fitted.open_cases

    @property
    def decided_by(self) -> int | None:
        """The code of the label that is to be contained: once it occurs, the outcome is certain."""
        return None if self.contains is None else codes_of([self.contains], self.labels_)[0]

    # ------------------------------------------------------------------ use

    def predict_ended(self, events: Any, *, unknown: Unknown = "error") -> FloatArray:
        """The probability of the outcome for each whole case, as ``table_`` has it.

        With ``after``, from what had happened in the case by then.
        """
        fitted, data = self.model_.fitted, self._read(events, unknown)
        index, ends = next_places(_up_to(data, moment_of(self.after)))
        return np.asarray(fitted.theta[fitted.predict(index)[ends], self.yes])

    def predict_proba(self, events: Any, *, unknown: Unknown = "error") -> FloatArray:
        """``predict_ended`` in the form of scikit-learn: one column for each of ``classes_``."""
        p = self.predict_ended(events, unknown=unknown)
        return np.column_stack([p, 1 - p] if str(self.classes_[0]) == self._value else [1 - p, p])

    def predict(self, events: Any, *, unknown: Unknown = "error") -> npt.NDArray[Any]:
        """The likelier of ``classes_`` for each whole case."""
        return np.asarray(self.classes_[self.predict_proba(events, unknown=unknown).argmax(axis=1)])

    def open_table(self, after: int | None = None) -> StateTable:
        """The same as ``table_`` of cases that were open after some events; None: averaged over all moments.

        A moment that was not counted is answered by the nearest one that was.
        """
        opened = self.open_cases
        place = None if after is None else int(opened.nearest(np.array(check_whole("after", after, 0))))
        return StateTable.of(opened.at(place))

    def predict_open(self, events: Any, *, unknown: Unknown = "error") -> FloatArray:
        """The probability of the outcome for each sequence, from what has happened in it so far.

        It rests on the cases that were open after as many events: ``open_table``. One that has already
        reached the outcome has the probability 1; ``predictions`` marks it.
        """
        return self.predictions(events, unknown=unknown).probabilities[:, 0]

    def predictions(self, events: Any, *, unknown: Unknown = "error") -> OpenPredictions:
        """``predict_open`` with the names of the sequences, and which have already reached the outcome."""
        data = self._read(events, unknown)
        p, after, is_nearby = self.open_cases.predict(data)
        already = np.zeros(len(data), bool)
        already[np.repeat(np.arange(len(data)), data.lengths)[data.codes == self.decided_by]] = True
        return OpenPredictions(
            outcomes=(str(self.model_.outcomes_[self.yes]),),
            probabilities=np.where(already, 1.0, p[:, self.yes])[:, None],
            ids=data.ids,
            sequences=np.arange(len(data)),
            positions=_n_positions(data),
            after=after,
            already_reached=already,
            is_nearby=is_nearby & ~already,
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
        so_far = History.read(history, opened.fitted, unknown)
        place = int(opened.nearest(np.array(so_far.n_positions)))
        fitted, usual = opened.at(place), float(opened.rates[place, self.yes])
        why = explain(fitted, so_far, self.yes, fitted.influencer_labels, usual)
        few = opened.few_states(place)
        others = tuple(replace(each, is_nearby=each.state in few) for each in why.counterfactuals)
        moment, is_nearby = int(opened.moments[place]), why.state in few
        why = replace(why, moment=moment, is_nearby=is_nearby, counterfactuals=others)
        return why.certain() if self.decided_by in so_far.rows.codes.tolist() else why

    def score(
        self, events: Any, y: Any = None, *, unknown: Unknown = "error", sample_weight: Any = None
    ) -> float:
        """Mean log-likelihood of how new sequences ended, weighted by sequences; ``y`` as in ``fit``."""
        return self.model_.score(self._again(read_events(events), y, sample_weight).events(), unknown=unknown)

    def confidence(
        self,
        events: Any,
        y: Any = None,
        *,
        n: int = 100,
        random_state: int = 0,
        level: float = 0.95,
        sample_weight: Any = None,
        progress: Progress = None,
    ) -> Confidence:
        """How sure each influence is, from resampled sequences; see ``InfluenceGraph.confidence``."""
        source, seed = self._again(events, y, sample_weight), check_seed(random_state)
        found = bootstrap([self.model_], source, n=n, seed=seed, level=level, progress=progress)
        edges = tuple(edge for edge in found.edges if edge.target == self.name_)
        return replace(found, edges=edges, others=tuple(one for one in found.others if one[1] == self.name_))

    def order_test(
        self,
        events: Any,
        y: Any = None,
        *,
        n: int = 99,
        within: Any = None,
        random_state: int = 0,
        sample_weight: Any = None,
        progress: Progress = None,
    ) -> OrderTest:
        """Which influences are about the order of events; see ``InfluenceGraph.order_test``."""
        source, seed = self._again(events, y, sample_weight), check_seed(random_state)
        return order_of([self.model_], source, n, seed, within=within, progress=progress)

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
        from summarkov.show.page import to_html

        ended = None if events is None else self._again(read_events(events), y, None).events()
        return to_html(self, path, events=ended, title=title, sequences=sequences)

    def _read(self, events: Any, unknown: Unknown) -> EventSequences:
        return self.model_.fitted.read(self._without_outcome(read_events(events)), unknown)

    def _without_outcome(self, data: EventSequences) -> EventSequences:
        given = data.attributes
        if given is None or self.outcome is None or self.outcome not in given.columns:
            return data
        return data.with_attributes(given.without(self.outcome))

    @property
    def _value(self) -> str:
        """The value of the column, or of y, that means the outcome."""
        return self.name_.removeprefix(f"{self.outcome or 'outcome'}=")

    def _again(self, events: Any, y: Any, sample_weight: Any) -> EndedSource:
        """Sequences that end in what was learned, or not."""
        value, source = self._value, make_source(events, sample_weight=sample_weight)
        return EndedSource(source, self._outcome(source, y, value)[0])

    def _sheet(self) -> Sheet:
        title, edges = f"Outcome {self.name_}: {self.base_rate_:.1%} of the cases", self.influences_
        cells: dict[str, Callable[[Influence], str]] = {
            "influencer": attrgetter("influencer"),
            "effect": effect_word,
            "cases with it": lambda edge: f"{number(edge.hits_with)} of {number(edge.n_with)}",
            "without → with": outcome_change,
            "rate ratio": lambda edge: times(edge).split(" (")[0] or "unclear",
            "95% interval": limits,
        }
        rows = [[cell(edge) for cell in cells.values()] for edge in edges[:MOST]]
        gone = (f"Left out: {plural(n, 'case')}, {why}." for why, n in self.left_out_.items())
        return Sheet(title, list(cells), rows, len(edges), (*gone, *self.notices_))


# ---------------------------------------------------------------------- what the outcome is


def moment_of(after: object) -> int | Duration | None:
    """A moment in the life of a case: after a number of events, or at an age."""
    if after is None or isinstance(span_of(after, "after"), Duration):
        return None if after is None else Duration.of(after, "after")
    return check_whole("after", after, 1)


def _code(source: EventSource, label: Any) -> int:
    held = set(source.attributes)
    if str(label) in held:
        raise SettingError(f"{label!r} is an attribute of sequences, and not a label of events")
    events = [each for each in source.labels if each not in held]
    (at,) = codes_of([label], events)
    return source.labels.index(events[at])


def _given(source: EventSource, y: list[Any], value: str | None) -> tuple[Outcome, list[Any]]:
    """From values that were given, one for each sequence; and the values that there are."""
    if not isinstance(source, MemorySource):  # whose shards come in an order of their own
        raise SettingError(
            "outcomes in a list need events in the order of the list, and a "
            f"{type(source).__name__} has none; name the column of the outcome with outcome="
        )
    if len(y) != source.n_sequences:
        raise DataError(f"there are {source.n_sequences} sequences but {len(y)} outcomes")
    texts = [None if each is None or each != each else str(each) for each in y]
    chosen = _chosen("outcome", value, Counter(each for each in texts if each is not None))
    hits = [NOT_KNOWN if each is None else int(each == chosen) for each in texts]
    values = dict(zip(texts, y, strict=True))
    values.pop(None, None)
    return Outcome(f"outcome={chosen}", hits=np.array(hits, np.int64)), list(values.values())


def _of_column(source: EventSource, column: str, value: str | None) -> tuple[Outcome, list[Any]]:
    """From the values of an attribute; and those that there are."""
    named = {name.partition("=")[2]: name for name in source.attributes if name.startswith(f"{column}=")}
    if not named:
        columns = sorted({name.partition("=")[0] for name in source.attributes})
        raise DataError(
            f"the events have no attribute {column!r}{nearest(column, columns)}; read them with "
            f"attributes=[{column!r}]"
        )
    codes = {text: int(np.searchsorted(source.labels, name)) for text, name in named.items()}
    counts = {text: n for text, code in codes.items() if (n := int(source.label_counts[code]))}
    counts.pop("(missing)", None)
    chosen = _chosen(column, value, counts)
    values = np.full(len(source.labels) + 1, NOT_TOLD)
    for text, code in codes.items():
        values[code] = NOT_KNOWN if text == "(missing)" else int(text == chosen)
    return Outcome(f"{column}={chosen}", values=values), list(counts)


def _chosen(column: str, value: str | None, counts: Mapping[str, int]) -> str:
    """The value that is asked about; of two the rarer one, if none is named."""
    if not counts:
        raise DataError(f"{column!r} is known of no sequence; give the outcome of some")
    if value is None:
        if len(counts) != 2:
            there = ", ".join(f"{name} ({n})" for name, n in sorted(counts.items()))
            raise SettingError(f"say which value of {column!r} is asked about: value= one of {there}")
        return min(sorted(counts), key=lambda name: counts[name])
    if str(value) not in counts:
        raise SettingError(
            f"no sequence has {column}={value}{nearest(str(value), list(counts))}; there are "
            f"{', '.join(sorted(counts))}"
        )
    return str(value)


def _without_itself(template: SearchedModel | TreeSuMM, itself: object) -> SummaryModel:
    """A template with the label that is the outcome among the forbidden ones: it explains nothing."""
    if itself is None:
        return template
    if str(itself) in map(str, getattr(template, "required", ())):
        raise SettingError(f"{itself!r} is the outcome, so it cannot be required to influence it")
    forbidden = [str(each) for each in label_list("forbidden", template.forbidden)]
    return template.copy(forbidden=tuple(dict.fromkeys((*forbidden, str(itself)))))


def _refuse_one_sided(outcome: Outcome, ended: EndedSource, left_out: Mapping[str, int]) -> None:
    """Refuse sequences that all have the outcome, all have not, or of which none is left to tell."""
    hits, others = (int(ended.label_counts[ended.labels.index(each)]) for each in outcome.names)
    if hits and others:
        return
    if hits or others:
        every = "every" if hits else "no"
        among = "case" if outcome.after is None else f"case that is open after {outcome.moment}"
        raise DataError(f"{every} {among} has the outcome {outcome.name!r}; there is nothing to tell apart")
    gone = " and ".join(f"{plural(n, 'case')} {why}" for why, n in left_out.items())
    if outcome.after is None:
        raise DataError(f"the outcome of no case is known ({gone or 'there are none'}); give that of some")
    raise DataError(f"no case is left to learn from: {gone}; choose a smaller 'after'")


# ---------------------------------------------------------------------- influences, in cases


def _in_cases(edges: Iterable[Influence], fitted: Fitted, name: str) -> list[Influence]:
    """The edges to an outcome, with all counts in cases: those with the influencer in its window, and others.

    What follows what is the same question here, so its fields have the same numbers.
    """
    pairs: dict[str, dict[str, Influence]] = {}
    for edge in edges:
        pairs.setdefault(edge.influencer, {})[edge.target] = edge
    cases, hit_cases = fitted.counts.sum(), fitted.counts[:, fitted.outcomes.index(name)].sum()
    found = []
    for pair in pairs.values():
        edge = pair[name]
        hits, n, followed = edge.hits_with, edge.n_with, [each.cases_followed for each in pair.values()]
        if edge.cases_followed is not None and None not in followed:  # a tree asks only in some cases
            hits, n = edge.cases_followed, sum(k for k in followed if k is not None)
        others, n_others = float(hit_cases) - hits, float(cases) - n
        same: dict[str, Any] = dict.fromkeys(("hits_with", "cases_followed", "followed"), hits)
        same |= dict.fromkeys(("n_with", "cases_with", "occurrences"), n)
        same |= dict.fromkeys(("hits_without", "followed_other"), others)
        same |= dict.fromkeys(("n_without", "occurrences_other"), n_others)
        same |= {"follow_rate": hits / n if n else None}
        same |= {"follow_rate_other": others / n_others if n_others else None}
        found.append(replace(edge, **same, left_out=0.0, follow_rule="counted"))
    return found


def window_words(fitted: Fitted, influencer: str) -> str:
    """Where in a case an influencer is looked for, to be put behind it; nothing where anywhere."""
    reach, thing = fitted.reach(influencer), "tick" if fitted.layout.together else "event"
    if influencer in fitted.layout.attributes:
        return ""
    before = f" more than {place_words(reach.delay, thing)} before the end" if reach.delay else ""
    return before + (f" within {place_words(reach.lookback, thing)} of the end" if reach.lookback else "")


def _is_the_outcome(edge: Influence) -> bool:
    """Whether nearly all cases with an influencer have the outcome, and nearly all with the outcome have it.

    Or the reverse: nearly none with it, and nearly all without it.
    """
    hits, n, other_hits, other_n = edge.hits_with, edge.n_with, edge.hits_without, edge.n_without
    misses, other_misses = n - hits, other_n - other_hits
    if not (hits + other_hits and misses + other_misses and n and other_n):
        return False
    same = min(hits / n, hits / (hits + other_hits))
    return max(same, min(misses / n, misses / (misses + other_misses))) >= _NEARLY_ALL


def _notice(edge: Influence) -> str:
    """That an influencer is the outcome, and what leaves it out."""
    with_it = f"{number(edge.hits_with)} of {number(edge.n_with)} cases with it"
    without = f"{number(edge.hits_without)} of {number(edge.n_without)} without"
    return (
        f"{edge.influencer!r} nearly determines the outcome {edge.target!r}: {with_it} and {without} have "
        "it; add it to what is forbidden to leave it out"
    )


# ---------------------------------------------------------------------- open cases


@dataclass(frozen=True, eq=False)
class OpenCases:
    """Cases that were open after each number of positions, by their state then and how they ended.

    At each moment every case counts once, so shares are those of cases, and right at every moment. Where
    fewer than ``ENOUGH`` cases were in a state, its share is that over the nearest moments, as many as it
    takes until at one of them there were enough; it counts as the most cases there were at one of these.
    """

    fitted: Fitted  # of the model: how states are told
    moments: IntArray  # the numbers of positions after which cases were counted
    keys: KeyArray  # of all states
    counts: IntArray  # [moment, state, outcome], in units of 1 / scale

    @classmethod
    def of(cls, fitted: Fitted, table: StateCounts) -> OpenCases:
        """From what :func:`count_open` found; states of the model in which no case was open are there too."""
        moments, place = np.unique(table.keys[:, 0].astype(np.int64), return_inverse=True)
        keys, (rows, _) = merge_keys([table.keys[:, 1:], fitted.table.keys])
        counts = np.zeros((len(moments), len(keys), table.counts.shape[1]), np.int64)
        counts[place, rows] = table.counts
        return cls(fitted, moments, keys, counts)

    @cached_property
    def rates(self) -> FloatArray:
        """For each moment the share of each outcome, of all cases that were open then."""
        counts = self.counts.sum(axis=1)
        return np.asarray(counts / np.maximum(counts.sum(axis=1, keepdims=True), 1))

    def nearest(self, positions: IntArray) -> IntArray:
        """The places of the moments nearest to some numbers of positions; of two the earlier."""
        return np.searchsorted((self.moments[1:] + self.moments[:-1]) / 2, positions)

    @cached_property
    def _kept(self) -> dict[int | None, Fitted]:
        return {}

    def at(self, place: int | None) -> Fitted:
        """The model with the shares of one moment; None: averaged over all moments."""
        if place not in self._kept:
            counts, width = self.counts / self.fitted.scale, 1
            shares = _over(counts) if place is None else counts[place].copy()
            while place is not None and width < 2 * len(counts):
                few = shares.sum(axis=1) < ENOUGH
                shares[few] = _over(counts[max(0, place - width) : place + width + 1, few])
                width *= 2
            table = StateCounts(self.keys, np.rint(shares * FIXED_POINT).astype(np.int64))
            self._kept[place] = replace(self.fitted, table=table, scale=FIXED_POINT)
        return self._kept[place]

    def few(self, place: int) -> IntArray:
        """The rows of states in which fewer than ``ENOUGH`` cases were at a moment."""
        return np.flatnonzero(self.counts[place].sum(axis=1) < ENOUGH * self.fitted.scale)

    def few_states(self, place: int) -> set[Hashable]:
        keys = self.keys[self.few(place)].tolist()
        return {self.fitted.summary.state(key, self.fitted.names) for key in keys}

    def predict(self, data: EventSequences) -> tuple[FloatArray, IntArray, BoolArray]:
        """The probability of each outcome after each sequence, the moments, and where few were there."""
        index, ends = next_places(data)
        places = self.nearest(_n_positions(data))
        found, is_nearby = np.zeros((len(data), self.counts.shape[2])), np.zeros(len(data), bool)
        ids, keys = self.fitted.summary.encode(index, self.fitted.influencers, self.fitted.labels)
        for place in np.unique(places).tolist():
            fitted, mine = self.at(place), places == place
            rows = fitted.rows(keys)[ids[ends[mine]]]
            found[mine], is_nearby[mine] = fitted.theta[rows], np.isin(rows, self.few(place))
        return found, self.moments[places], is_nearby


def _over(counts: FloatArray) -> FloatArray:
    """The shares over some moments, of as many cases as there were at most at one of them."""
    total, most = counts.sum(axis=0), counts.sum(axis=2).max(axis=0)
    n = total.sum(axis=1, keepdims=True)
    return np.asarray(total / np.where(n > 0, n, 1) * most[:, None])


def _n_positions(data: EventSequences) -> IntArray:
    return np.where(data.lengths > 0, np.append(0, data.positions)[data.offsets[1:]], 0)


def _up_to(data: EventSequences, after: int | Duration | None) -> EventSequences:
    """What had happened in each sequence by a moment: after some positions, or at an age; None: all."""
    if after is None:
        return data
    keep = data.positions <= after
    if isinstance(after, Duration):
        times, unit = data.times, data.time_unit
        check_time("after", after, Layout(time=None if unit is None else unit.kind))
        assert times is not None
        assert unit is not None
        first = np.repeat(np.append(times, 0)[data.offsets[:-1]], data.lengths)
        keep = times - first <= int(after) // unit.size
    offsets = np.append(0, np.cumsum(keep))[data.offsets]
    return data._with(data.codes[keep], offsets, data.labels, data.moments[keep])


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class OpenPredictions(Predictions):
    """The probability of an outcome for each open case, from what has happened in it so far.

    The frame has the columns ``sequence``, ``position``, ``p(outcome)``, ``after`` and ``already_reached``.

    Attributes
    ----------
    after : array of int
        The number of events after which cases were counted: that of the case, or the nearest one.
    already_reached : array of bool
        Whether the case has reached the outcome already; its probability is 1 then.
    is_nearby : array of bool
        Whether so few cases were in its state then that those of the moments around it were counted too.
    """

    after: npt.NDArray[np.int64]
    already_reached: npt.NDArray[np.bool_]
    is_nearby: npt.NDArray[np.bool_]

    def _columns(self) -> Mapping[str, Column]:
        return {
            **super()._columns(),
            "after": Column(int, self.after),
            "already_reached": Column(bool, self.already_reached),
        }

    def summary(self) -> Sheet:
        """The first rows; a case that has reached the outcome already has no percentage."""
        sheet = super().summary()
        already = zip(sheet.rows, self.already_reached, strict=False)
        rows = [[*row[:-1], "already reached" if is_there else row[-1]] for row, is_there in already]
        n, n_few = int(self.already_reached.sum()), int(self.is_nearby.sum())
        of_few = f"fewer than {ENOUGH} were in that state then, so moments around it count"
        few = f"{plural(n_few, 'case')}: {of_few}."
        reached = f"{plural(n, 'case')} already reached it: there is nothing left to predict."
        title = f"Probability for {plural(len(self), 'open case')}, from cases that had got as far"
        notes = (reached,) * bool(n) + (few,) * bool(n_few)
        return replace(sheet, title=title, rows=rows, notes=notes)
