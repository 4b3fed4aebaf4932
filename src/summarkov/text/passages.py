"""The passages behind an edge of a graph: why it is there, in the words of the documents."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from summarkov.errors import SettingError
from summarkov.events import EventSequences
from summarkov.models import InfluenceGraph, SummaryModel
from summarkov.text.quoted import Sentence


@dataclass(frozen=True)
class Passage:
    """A place where the target occurred with the influencer in its window.

    ``lag`` is how many events before the target the influencer (its last occurrence) stands.
    """

    sequence: str
    lag: int
    influencer: Sentence
    target: Sentence


@dataclass(frozen=True)
class Passages:
    """Some of the ``total`` places behind an edge."""

    influencer: str
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
    fitted: InfluenceGraph | SummaryModel,
    influencer: str,
    target: str,
    most: int,
) -> Passages:
    """The passages behind an edge of a fitted graph or model, see :meth:`TextEvents.passages`."""
    if most < 1:
        raise SettingError(f"most must be 1 or more, not {most}")
    delay, lookback = _model_of(fitted, influencer, target).fitted.summary.reach(influencer)
    places, lags = _places(events, events.code(influencer), events.code(target), delay, lookback)
    some = np.unique(np.linspace(0, len(places) - 1, min(most, len(places))).round().astype(int))
    of_sequence = np.searchsorted(events.offsets, places, side="right") - 1
    shown = (
        Passage(
            events.ids[of_sequence[at]],
            int(lags[at]),
            sentences[places[at] - lags[at]],
            sentences[places[at]],
        )
        for at in some.tolist()
    )
    return Passages(influencer, target, len(places), tuple(shown))


def _model_of(fitted: InfluenceGraph | SummaryModel, influencer: str, target: str) -> SummaryModel:
    """The model of the target, if the influencer is one of its own."""
    models = fitted.models_ if isinstance(fitted, InfluenceGraph) else dict.fromkeys(fitted.target_, fitted)
    if target not in models:
        raise SettingError(f"there is no model of {target!r}; learned were {', '.join(map(repr, models))}")
    if influencer not in models[target].influencers_:
        known = ", ".join(map(repr, models[target].influencers_)) or "none"
        raise SettingError(f"{influencer!r} does not influence {target!r}; its influencers are {known}")
    return models[target]


def _places(
    events: EventSequences, influencer: int, target: int, delay: int, lookback: int | None
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Where the target occurred with the influencer in its window, and how far back (the last one)."""
    starts = np.repeat(events.offsets[:-1], events.lengths)
    places = np.flatnonzero(events.codes == target)
    before = np.flatnonzero(events.codes == influencer)
    at = np.searchsorted(before, places - delay) - 1  # the last occurrence more than ``delay`` back
    there = at >= 0
    places, last = places[there], before[at[there]]
    inside = last >= starts[places]
    if lookback is not None:
        inside &= places - last <= lookback
    return places[inside], (places - last)[inside]
