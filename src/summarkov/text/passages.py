"""The passages behind an edge, a state or a prediction: why it is there, in the words of the documents."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from summarkov.errors import DataError, SettingError, UnknownLabelError
from summarkov.events import EventSequences
from summarkov.events.arrays import UNKNOWN
from summarkov.explain import Explanation, FittedGraph, FittedModel, models_of
from summarkov.io import read_events
from summarkov.kernels import Index
from summarkov.text.documents import Sentence
from summarkov.typing import BoolArray, IntArray

_NOWHERE = -(2**62)


@dataclass(frozen=True)
class Before:
    """An influencer that stood in its window: the sentence, and how many events back (its last one there)."""

    label: str
    lag: int
    sentence: Sentence


@dataclass(frozen=True)
class Passage:
    """A place where the target occurred, with the influencers that were asked about, the oldest first."""

    sequence: str
    before: tuple[Before, ...]
    target: Sentence


@dataclass(frozen=True)
class Passages:
    """Some of the ``total`` places where a label occurred as asked, spread evenly over the documents."""

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
    lags = {z: last_lags(events, chosen, model, z).tolist() for z in influencers} if model else {}
    of_sequence = np.searchsorted(events.offsets, chosen, side="right") - 1
    shown = []
    for number, (place, sequence) in enumerate(zip(chosen.tolist(), of_sequence.tolist(), strict=True)):
        there = sorted(((lag[number], z) for z, lag in lags.items() if lag[number]), reverse=True)
        before = tuple(Before(z, lag, sentences[place - lag]) for lag, z in there)
        shown.append(Passage(events.ids[sequence], before, sentences[place]))
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


def last_lags(events: EventSequences, places: IntArray, model: FittedModel, influencer: str) -> IntArray:
    """How many events before each place an influencer (the last in its window) stands; 0: nowhere."""
    delay, lookback = model.fitted.reach(influencer)
    starts = np.repeat(events.offsets[:-1], events.lengths)[places]
    # a sentinel before all others, so that every place has an occurrence to look at
    before = np.concatenate([[_NOWHERE], np.flatnonzero(events.codes == events.code(influencer))])
    last = before[np.searchsorted(before, places - delay) - 1]  # the last occurrence more than ``delay`` back
    inside = last >= starts
    if lookback is not None:
        inside &= places - last <= lookback
    return np.where(inside, places - last, 0)


def _with(events: EventSequences, places: IntArray, model: FittedModel, influencer: str) -> IntArray:
    """The places that have an influencer in its window; in a tree, those where it was asked for and there."""
    places = places[last_lags(events, places, model, influencer) > 0]
    fitted = model.fitted
    met = fitted.met(influencer)
    if met is None:
        return places
    index = Index(events.codes, events.offsets, len(events.labels))
    states, _ = fitted.summary.encode(index, fitted.influencers, fitted.labels)
    return np.asarray(places[met[states[places]]])


def _same_state(events: EventSequences, model: FittedModel, after: Iterable[object]) -> BoolArray:
    """At which positions the past is in the state that it is in after a history."""
    fitted, n_labels = model.fitted, len(events.labels)
    history = read_events([list(after)]).recode(events.labels).codes
    ends = np.array([0, len(history) + 1], np.int64)
    row = fitted.predict(Index(np.append(history, UNKNOWN).astype(np.int32), ends, n_labels))[-1]
    if row == len(fitted.table.keys):  # never seen: the one row of all such states
        return np.zeros(events.n_events, bool)
    return np.asarray(fitted.predict(Index(events.codes, events.offsets, n_labels)) == row)


@dataclass(frozen=True)
class Grounds:
    """Why a label has its probability at a place of a document, with the sentences that speak for it.

    ``why`` is the model's explanation; ``before`` are the sentences of the active influencers in the document
    itself, the oldest first; ``passages`` are places where the label followed in the same state.
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
