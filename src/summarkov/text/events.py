"""Events from text, which remember the sentences that they are; and the passages behind what was learned."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from summarkov.errors import DataError, SettingError, StoreError, UnknownLabelError
from summarkov.events import EventSequences
from summarkov.events.rows import Rows
from summarkov.evidence import Influence, Shown, model_of, models_of
from summarkov.read import read_events
from summarkov.read.files import replacing, text_lines
from summarkov.settings import check_whole
from summarkov.show.lags import spread
from summarkov.store import checked
from summarkov.text.documents import Sentence
from summarkov.typing import IntArray

#: On a page: the most passages per edge and sentences per label, fewer where these would be more than
#: ``IN_ALL``; longer sentences are cut.
MOST, IN_ALL, LONGEST = 12, 6000, 400


@dataclass(frozen=True)
class Passage:
    """The sentence of a ``target``, and that of the ``influencer``, if asked for, ``lag`` events before."""

    target: Sentence
    influencer: Sentence | None = None
    lag: int = 0


@dataclass(frozen=True)
class Passages:
    """Places where ``target`` occurred: their ``total``, and some ``shown``, spread evenly over the data."""

    target: str
    total: int
    shown: tuple[Passage, ...]

    def __iter__(self) -> Iterator[Passage]:
        return iter(self.shown)

    def __len__(self) -> int:
        return len(self.shown)


@dataclass(frozen=True, eq=False)
class TextEvents:
    """Events from text, with the sentence that each of them is.

    Attributes
    ----------
    events : EventSequences
        What every model learns from.
    sentences : tuple of Sentence
        One per event, in the same order.

    Examples
    --------
    >>> from summarkov.text import text_events
    >>> def label(sentences):
    ...     return ["fire" if "fire" in sentence else None for sentence in sentences]
    >>> found = text_events({"monday": "All was well. A fire broke out."}, label)
    >>> found.events.to_lists(), found.sentences[0]
    ([['fire']], Sentence(document='monday', number=2, text='A fire broke out.'))
    """

    events: EventSequences
    sentences: tuple[Sentence, ...]

    def __post_init__(self) -> None:
        events = self.events
        if len(self.sentences) != events.n_events:
            raise DataError(f"there are {events.n_events} events but {len(self.sentences)} sentences")
        if events.has_ticks:
            raise DataError("events of sentences follow each other; some of these happened together")

    def passages(
        self, fitted: Shown, target: str, influencer: str | None = None, *, most: int = 12
    ) -> Passages:
        """Places where a label occurred, or with ``influencer`` those that have it in its window.

        In a tree: where it is asked for, and there. At most ``most`` are shown, spread evenly over the data.
        """
        check_whole("most", most, 1)
        events = in_codes_of(fitted, self.events)
        places = np.flatnonzero(events.codes == events.code(target))
        model = None if influencer is None else model_of(fitted, target)
        if model is not None and influencer is not None:
            if influencer not in model.influencers_:
                known = ", ".join(map(repr, model.influencers_)) or "none"
                raise SettingError(
                    f"{influencer!r} does not influence {target!r}; its influencers are {known}"
                )
            places = _with(events, places, model, influencer)
        chosen = spread(places, most)
        there = [self.sentences[place] for place in chosen.tolist()]
        shown = map(Passage, there)
        if model is not None and influencer is not None:
            lags, before = last_before(events, chosen, model, influencer)
            shown = map(Passage, there, (self.sentences[place] for place in before.tolist()), lags.tolist())
        return Passages(target, len(places), tuple(shown))

    def page_content(self, model: Shown, edges: Sequence[Influence], labels: Sequence[str]) -> dict[str, Any]:
        """What a page holds: some passages of every edge and some sentences of every label, with totals.

        A passage is the lag, and the places of the influencer's and the target's sentence in ``sentences``.
        ``same`` says whether the events have as many of each label as those that the model was learned from.
        """
        most = max(1, min(MOST, IN_ALL // max(1, len(edges) + len(labels))))
        places: dict[Sentence, int] = {}

        def place(sentence: Sentence) -> int:
            return places.setdefault(sentence, len(places))

        of_edges = []
        for edge in edges:
            some = self.passages(model, edge.target, edge.influencer, most=most)
            shown = [[p.lag, *map(place, filter(None, (p.influencer, p.target)))] for p in some]
            of_edges.append([some.total, shown])
        of_labels = []
        for label in labels:
            some = self.passages(model, label, most=most)
            of_labels.append([some.total, [place(p.target) for p in some]])
        fitted, counts = models_of(model)[0].fitted, in_codes_of(model, self.events).label_counts
        return {
            "edges": of_edges,
            "labels": of_labels,
            "sentences": [
                [s.document, s.number, s.text[:LONGEST], max(0, len(s.text) - LONGEST)] for s in places
            ],
            "same": bool((counts == fitted.label_counts / fitted.scale).all()),
        }

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write JSON lines, events to ``read_events``, and with sentences to :func:`read_text_events`."""
        bounds = pairwise(self.events.offsets.tolist())
        with replacing(path) as temporary, open(temporary, "w", encoding="utf-8", newline="\n") as file:
            for name, labels, (start, end) in zip(self.events.ids, self.events, bounds, strict=True):
                quoted = [vars(sentence) for sentence in self.sentences[start:end]]
                file.write(json.dumps({"id": name, "events": labels, "sentences": quoted}) + "\n")


def read_text_events(path: str | os.PathLike[str]) -> TextEvents:
    """Read what :meth:`TextEvents.save` wrote."""
    events = read_events(path, format="jsonl")
    sentences: list[Sentence] = []
    lengths = iter(events.lengths.tolist())
    for number, line in text_lines(os.fspath(path)):
        if not line.strip():
            continue
        try:
            quoted = checked(json.loads(line), _Line).sentences
        except StoreError:
            quoted = None
        if quoted is None or len(quoted) != next(lengths):
            raise DataError(
                f"{os.fspath(path)}, line {number}: expected 'sentences', one per event, each with "
                "'document', 'number' and 'text'; make the file with 'summarkov text'"
            )
        sentences.extend(quoted)
    return TextEvents(events, tuple(sentences))


@dataclass(frozen=True)
class _Line:
    """What a line holds beside its events."""

    sentences: tuple[Sentence, ...]


def in_codes_of(fitted: Shown, events: EventSequences) -> EventSequences:
    """Events in the codes of a model; refused if it does not know one of their labels."""
    try:
        return events.recode(fitted.labels_)
    except UnknownLabelError as problem:
        raise DataError(
            f"the events hold the label {problem.label!r}, which the model does not know; give the events "
            "that it was learned from, or others with the same labels"
        ) from None


def last_before(
    events: EventSequences, places: IntArray, model: Shown, influencer: str
) -> tuple[IntArray, IntArray]:
    """How many positions before each place an influencer (the last in its window) stands, or 0; and where."""
    delay, lookback = model.fitted.reach(influencer)
    starts = np.repeat(events.offsets[:-1], events.lengths)[places]
    occurs = np.flatnonzero(events.codes == events.code(influencer))
    # one before all others, so that every place has an occurrence to look at
    before = np.concatenate([[-(2**62)], occurs])
    last = before[np.searchsorted(before, places - delay) - 1]  # more than ``delay`` back
    inside = last >= starts
    if lookback is not None:
        inside &= places - last <= lookback
    return np.where(inside, places - last, 0), last


def _with(events: EventSequences, places: IntArray, model: Shown, influencer: str) -> IntArray:
    """The places that have an influencer in its window; in a tree, those where it was asked for and there."""
    places = places[last_before(events, places, model, influencer)[0] > 0]
    fitted, met = model.fitted, model.fitted.met(influencer)
    if met is None:
        return places
    states, _ = fitted.summary.encode(Rows.of(events).index(), fitted.influencers, fitted.labels)
    return np.asarray(places[met[states[places]]])
