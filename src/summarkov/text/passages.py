"""The passages behind an edge, a state or a prediction: why it is there, in the words of the documents."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from summarkov.errors import DataError, SettingError, UnknownLabelError
from summarkov.events import EventSequences
from summarkov.events.moments import Moments
from summarkov.events.rows import Rows
from summarkov.explain import Explanation, FittedGraph, FittedModel, models_of
from summarkov.io import read_events
from summarkov.text.documents import Sentence
from summarkov.typing import BoolArray, IntArray

_NOWHERE = -(2**62)


@dataclass(frozen=True)
class Before:
    """An influencer that stood in its window.

    Attributes
    ----------
    label, lag : str, int
        The influencer, and how many positions back it last was.
    sentence : Sentence
        The sentence.
    """

    label: str
    lag: int
    sentence: Sentence


@dataclass(frozen=True)
class Passage:
    """A place where the target occurred.

    Attributes
    ----------
    sequence : str
        The name of the document.
    before : tuple of Before
        The influencers that were asked about, the oldest first.
    target : Sentence
        The sentence of the target.
    """

    sequence: str
    before: tuple[Before, ...]
    target: Sentence


@dataclass(frozen=True)
class Passages:
    """Places where a label occurred as asked.

    Attributes
    ----------
    target : str
        The label.
    total : int
        How many such places there are.
    shown : tuple of Passage
        Some of them, spread evenly over the documents.
    """

    target: str
    total: int
    shown: tuple[Passage, ...]

    def __iter__(self) -> Iterator[Passage]:
        return iter(self.shown)

    def __len__(self) -> int:
        return len(self.shown)


def find_passages(
    events: EventSequences,
    sentences: Sequence[Sentence],
    fitted: FittedGraph | FittedModel,
    target: str,
    *,
    influencer: str | None = None,
    after: Iterable[object] | None = None,
    most: int,
) -> Passages:
    """The passages behind an edge, a state or a label, see :meth:`TextEvents.passages`."""
    if most < 1:
        raise SettingError(f"most must be 1 or more, not {most}")
    if influencer is not None and after is not None:
        raise SettingError("influencer and after exclude each other; give one of them")
    events = in_codes_of(fitted, events)
    places = np.flatnonzero(events.codes == events.code(target))
    if influencer is not None:
        model = model_of(fitted, target)
        if influencer not in model.influencers_:
            known = ", ".join(map(repr, model.influencers_)) or "none"
            raise SettingError(f"{influencer!r} does not influence {target!r}; its influencers are {known}")
        places = _with(events, places, model, influencer)
        return cite(events, sentences, places, target, model, (influencer,), most)
    if after is not None:
        model = model_of(fitted, target)
        places = places[_same_state(events, model, after)[places]]
        return cite(events, sentences, places, target, model, model.influencers_, most)
    return cite(events, sentences, places, target, None, (), most)


def cite(
    events: EventSequences,
    sentences: Sequence[Sentence],
    places: IntArray,
    target: str,
    model: FittedModel | None,
    influencers: Sequence[str],
    most: int,
) -> Passages:
    """At most ``most`` of some places in words, spread evenly, with the influencers in their windows."""
    some = np.unique(np.linspace(0, len(places) - 1, min(most, len(places))).round().astype(int))
    chosen = places[some]
    number = np.cumsum(events.codes >= 0) - 1  # of the event at each place, which an empty tick is not
    found = {z: last_before(events, chosen, model, z) for z in influencers} if model else {}
    of_sequence = np.searchsorted(events.offsets, chosen, side="right") - 1
    shown = []
    for at, (place, sequence) in enumerate(zip(chosen.tolist(), of_sequence.tolist(), strict=True)):
        there = sorted(((lags[at], z) for z, (lags, _) in found.items() if lags[at]), reverse=True)
        before = tuple(Before(z, int(lag), sentences[number[found[z][1][at]]]) for lag, z in there)
        shown.append(Passage(events.ids[sequence], before, sentences[number[place]]))
    return Passages(target, len(places), tuple(shown))


def in_codes_of(fitted: FittedGraph | FittedModel, events: EventSequences) -> EventSequences:
    """Events in the codes of a model, or a word that they are none of its own."""
    try:
        return events.recode(fitted.labels_)
    except UnknownLabelError as problem:
        raise DataError(
            f"the events hold the label {problem.label!r}, which the model does not know; give the events "
            "that it was learned from, or others with the same labels"
        ) from None


def model_of(fitted: FittedGraph | FittedModel, target: str) -> FittedModel:
    """The model of a label."""
    models = {label: model for model in models_of(fitted) for label in model.target_}
    if target not in models:
        raise SettingError(f"there is no model of {target!r}; learned were {', '.join(map(repr, models))}")
    return models[target]


def last_before(
    events: EventSequences, places: IntArray, model: FittedModel, influencer: str
) -> tuple[IntArray, IntArray]:
    """How many positions before each place an influencer (the last in its window) stands, and where.

    The first is 0 if it stands nowhere.
    """
    delay, lookback = model.fitted.reach(influencer)
    position = np.arange(events.n_rows) if events.moments is None else np.cumsum(events.moments.starts)
    starts = np.repeat(events.offsets[:-1], events.lengths)[places]
    occurs = np.flatnonzero(events.codes == events.code(influencer))
    # a sentinel before all others, so that every place has an occurrence to look at
    before = np.concatenate([[_NOWHERE], position[occurs]])
    which = np.searchsorted(before, position[places] - delay) - 1  # the last more than ``delay`` back
    last, at = before[which], np.append(-1, occurs)[which]
    inside = at >= starts
    if lookback is not None:
        inside &= position[places] - last <= lookback
    return np.where(inside, position[places] - last, 0), at


def _with(events: EventSequences, places: IntArray, model: FittedModel, influencer: str) -> IntArray:
    """The places that have an influencer in its window; in a tree, those where it was asked for and there."""
    places = places[last_before(events, places, model, influencer)[0] > 0]
    fitted = model.fitted
    met = fitted.met(influencer)
    if met is None:
        return places
    states, _ = fitted.summary.encode(Rows.of(events).index(), fitted.influencers, fitted.labels)
    return np.asarray(places[met[states[places]]])


def _same_state(events: EventSequences, model: FittedModel, after: Iterable[object]) -> BoolArray:
    """At which positions the past is in the state that it is in after a history."""
    fitted, history = model.fitted, read_events([list(after)]).recode(events.labels)
    rows = Rows.of(history)
    rows = replace(rows, moments=rows.moments or Moments(np.ones(history.n_rows, bool)))
    row = fitted.predict(rows.with_next().index())[-1]
    if row == len(fitted.table.keys):  # never seen: the one row of all such states
        return np.zeros(events.n_rows, bool)
    return np.asarray(fitted.predict(Rows.of(events).index()) == row)


@dataclass(frozen=True)
class Grounds:
    """Why a label has its probability at a place of a document, with the sentences that speak for it.

    Attributes
    ----------
    why : Explanation
        The model's explanation.
    before : tuple of Before
        The sentences of the active influencers in the document itself, the oldest first.
    passages : Passages
        Places where the label followed in the same state.
    """

    why: Explanation
    before: tuple[Before, ...]
    passages: Passages

    def __str__(self) -> str:
        lines = [str(self.why)]
        for each in self.before:
            place = f"{each.sentence.document}, sentence {each.sentence.number}"
            lines.append(f"  {each.label}, {each.lag} back ({place}): {each.sentence.text}")
        return "\n".join(lines)
