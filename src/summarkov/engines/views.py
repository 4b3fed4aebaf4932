"""A source seen in another way: under another vocabulary, or only some of its sequences."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic

import numpy as np
import numpy.typing as npt

from summarkov.engines.event_source import EventSource
from summarkov.engines.resampled import Places
from summarkov.engines.work import Answer, Part, Work
from summarkov.errors import UnknownLabelError
from summarkov.events.arrays import UNKNOWN
from summarkov.events.block import Block
from summarkov.events.vocabulary import check_unknown
from summarkov.typing import BoolArray, CodeArray, IntArray


@dataclass(frozen=True)
class Seen(Generic[Answer]):
    """Some work on the parts of a source as a view shows them."""

    work: Work[Answer]
    view: Callable[[Part], Part]

    def run(self, part: Part) -> Answer:
        """The answer for one part alone."""
        return self.work.run(self.view(part))

    def total(self, answers: Sequence[Answer]) -> Answer:
        """Add up several parts."""
        return self.work.total(answers)


class View(EventSource):
    """A source through which another one is seen; that one must stay open, and closing this does nothing.

    Labels, their counts and sequences are those of the other, but for what a kind of view changes.
    """

    _labels: tuple[str, ...]
    _label_counts: IntArray

    def __init__(self, source: EventSource, view: Callable[[Part], Part]) -> None:
        self._source, self._view = source, view
        self.memory, self.tied_order = source.memory, source.tied_order
        self._labels = source.labels

    @property
    def labels(self) -> tuple[str, ...]:
        return self._labels

    @property
    def label_counts(self) -> IntArray:
        return self._label_counts

    @property
    def n_sequences(self) -> int:
        return self._source.n_sequences

    def places(self) -> Places:
        """Those of the source."""
        return self._source.places()

    def numbers(self) -> Places:
        """Those of the source."""
        return self._source.numbers()

    def run(self, work: Work[Answer]) -> Answer:
        """Do some work on every part as it is seen."""
        return self._source.run(Seen(work, self._view))

    def part(self) -> Part:
        """All of the data as it is seen, if it is in one part."""
        return self._view(self._source.part())


# ---------------------------------------------------------------------- another vocabulary


def recoded(source: EventSource, labels: Sequence[str], unknown: str = "error") -> EventSource:
    """A source in the codes of another vocabulary, as :meth:`EventSequences.recode` writes events.

    An event whose label is not in ``labels`` is an error, or with ``unknown="ignore"`` one of no label.
    """
    check_unknown(unknown)
    if tuple(labels) == source.labels:
        return source
    known = set(labels)
    if unknown == "error":
        for label, n in zip(source.labels, source.label_counts.tolist(), strict=True):
            if n and label not in known:
                raise UnknownLabelError(label, labels)
    return RecodedSource(source, labels)


@dataclass(frozen=True)
class Recode:
    """Shows a part in the codes of another vocabulary."""

    labels: tuple[str, ...]
    translate: CodeArray  # the last is for events that have no label already

    def __call__(self, part: Part) -> Part:
        """The same events."""

        def read(most: int) -> Iterator[Block]:
            return (replace(block, codes=self.translate[block.codes]) for block in part.read(most))

        return replace(part, read=read, labels=self.labels)


class RecodedSource(View):
    """A source under another vocabulary; what is not in it has no label."""

    def __init__(self, source: EventSource, labels: Sequence[str]) -> None:
        vocabulary = tuple(labels)
        index = {label: code for code, label in enumerate(vocabulary)}
        translate = np.array([*(index.get(label, UNKNOWN) for label in source.labels), UNKNOWN], np.int32)
        super().__init__(source, Recode(vocabulary, translate))
        self._labels = vocabulary
        counts = np.zeros(len(self._labels) + 1, np.int64)
        np.add.at(counts, translate[:-1], source.label_counts)
        self._label_counts = counts[:-1]


# ---------------------------------------------------------------------- some of the sequences


@dataclass(frozen=True)
class Only:
    """Shows some of the sequences of a part: those for which ``keep[part][sequence]`` holds."""

    keep: Sequence[BoolArray]

    def __call__(self, part: Part) -> Part:
        """The same vocabulary, and fewer events."""
        keep = self.keep[part.number]

        def read(most: int) -> Iterator[Block]:
            done = 0  # sequences that ended in the blocks before
            for block in part.read(most):
                lengths = np.diff(block.offsets)
                kept = keep[done : done + len(lengths)]
                ended = len(lengths) - block.goes_on
                ends = np.cumsum(lengths[:ended][kept[:ended]])
                yield Block.of(block.codes[np.repeat(kept, lengths)], ends)
                done += ended

        return replace(part, read=read)


@dataclass(frozen=True)
class SurveyWork:
    """Counts the labels of every part, and finds out which of its sequences have events."""

    def run(self, part: Part) -> tuple[IntArray, tuple[tuple[int, BoolArray], ...]]:
        """Block by block."""
        counts = np.zeros(len(part.labels), np.int64)
        held = []
        for block in part.blocks(1 << 4):
            counts += np.bincount(block.codes[block.codes != UNKNOWN], minlength=len(counts))
            lengths = np.diff(block.offsets)
            held.append(lengths[: len(lengths) - block.goes_on] > 0)
        return counts, ((part.number, np.concatenate(held)),)

    def total(self, answers: Sequence[tuple[IntArray, Any]]) -> tuple[IntArray, Any]:
        """Add up several parts."""
        counts, each = zip(*answers, strict=True)
        return np.sum(counts, axis=0), sum(each, ())


class SelectedSource(View):
    """Some of the sequences of a source, given by their numbers; they stay in order."""

    def __init__(self, source: EventSource, chosen: npt.ArrayLike) -> None:
        wanted = np.zeros(source.n_sequences, bool)
        wanted[np.asarray(chosen, np.int64)] = True
        numbers = [np.asarray(some, np.int64) for some in source.numbers()]
        keep = [wanted[some] for some in numbers]
        super().__init__(source, Only(keep))
        self._n_sequences = int(wanted.sum())
        rank = np.cumsum(wanted) - 1
        self._numbers = [rank[some][kept] for some, kept in zip(numbers, keep, strict=True)]
        self._label_counts, held = self.run(SurveyWork())
        self._held = dict(held)

    @property
    def n_sequences(self) -> int:
        return self._n_sequences

    def numbers(self) -> Places:
        """The number of every sequence among those chosen."""
        return self._numbers

    def places(self) -> Places:
        """The place of every sequence that is not empty among those chosen."""
        held = in_order(self._held, self._numbers, bool)
        place = np.cumsum(held) - 1
        return [place[some][held[some]] for some in self._numbers]


def in_order(
    by_part: Mapping[int, npt.NDArray[Any]], numbers: Places, kind: npt.DTypeLike
) -> npt.NDArray[Any]:
    """One value a sequence, as each part of a source has them, in the order of the sequences' numbers."""
    values = np.zeros(sum(map(len, numbers)), kind)
    for number, some in enumerate(numbers):
        if len(some):  # a part without sequences may not have been looked at
            values[some] = by_part[number]
    return values
