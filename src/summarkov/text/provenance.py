"""Events that remember the sentences they are, in memory and in a file."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from summarkov.errors import DataError
from summarkov.events import EventSequences
from summarkov.models import InfluenceGraph, SummaryModel
from summarkov.readers import read_events
from summarkov.readers.files import text_lines
from summarkov.store.files import replacing
from summarkov.text.passages import Passages, find_passages
from summarkov.text.quoted import Sentence


@dataclass(frozen=True, eq=False)
class TextEvents:
    """Events from text, with the sentence that each of them is.

    ``events`` is what every model learns from; ``sentences`` has one entry an event, in the same order.

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
        if len(self.sentences) != self.events.n_events:
            raise DataError(f"there are {self.events.n_events} events but {len(self.sentences)} sentences")

    @property
    def documents(self) -> list[str]:
        """The document that each event is from: ``blocks`` for the ``confidence`` of a single sequence."""
        return [sentence.document for sentence in self.sentences]

    def joined(self) -> TextEvents:
        """All sequences as one, in their order; documents read one after the other.

        >>> from summarkov.text import text_events
        >>> found = text_events(["It rained. It rained.", "It rained."], lambda s: ["rain"] * len(s))
        >>> found.joined().events.to_lists()
        [['rain', 'rain']]
        """
        events = EventSequences(self.events.codes, [0, self.events.n_events], self.events.labels, ["all"])
        return TextEvents(events, self.sentences)

    def passages(
        self, fitted: InfluenceGraph | SummaryModel, influencer: str, target: str, most: int = 12
    ) -> Passages:
        """The passages behind an edge: where the target occurred with the influencer in its window.

        Of more than ``most`` such places some are shown, spread evenly over the data. Where an influencer
        inhibits, these are the exceptions.
        """
        return find_passages(self.events, self.sentences, fitted, influencer, target, most)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write JSON lines, events to ``read_events``, and with sentences to :func:`read_text_events`."""
        with replacing(path) as temporary, open(temporary, "x", encoding="utf-8", newline="\n") as file:
            file.writelines(f"{line}\n" for line in self._lines())

    def _lines(self) -> Iterator[str]:
        bounds = self.events.offsets.tolist()
        for at, (name, labels) in enumerate(zip(self.events.ids, self.events, strict=True)):
            quoted = [dict(vars(sentence)) for sentence in self.sentences[bounds[at] : bounds[at + 1]]]
            yield json.dumps({"id": name, "events": labels, "sentences": quoted})


def read_text_events(path: str | os.PathLike[str]) -> TextEvents:
    """Read what :meth:`TextEvents.save` wrote."""
    events = read_events(path, format="jsonl")
    sentences: list[Sentence] = []
    lengths = iter(np.diff(events.offsets).tolist())
    for number, line in text_lines(os.fspath(path)):
        if not line.strip():
            continue
        record = json.loads(line)
        quoted = record.get("sentences") if isinstance(record, dict) else None
        if not isinstance(quoted, list) or len(quoted) != next(lengths):
            raise DataError(
                f"{os.fspath(path)}, line {number}: expected 'sentences', one an event; make the file with "
                "'summarkov text'"
            )
        sentences.extend(_sentence(each, f"{os.fspath(path)}, line {number}") for each in quoted)
    return TextEvents(events, tuple(sentences))


def _sentence(given: Any, where: str) -> Sentence:
    kinds = {"document": str, "number": int, "text": str}
    if not isinstance(given, Mapping) or any(
        type(given.get(name)) is not kind for name, kind in kinds.items()
    ):
        raise DataError(f"{where}: each of 'sentences' must have 'document', 'number' and 'text'")
    return Sentence(*(given[name] for name in kinds))


def beside(path: Path) -> Path:
    """Where the topic model of a file of events is kept: beside it.

    >>> beside(Path("reports.jsonl")).name
    'reports.topics.json'
    """
    return path.with_name(f"{path.stem}.topics.json")
