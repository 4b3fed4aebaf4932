"""Sources whose events are prepared as they are read, with the result of preparing them in memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from summarkov.engines.event_source import EventSource
from summarkov.engines.resampled import Places
from summarkov.engines.views import SurveyWork, View
from summarkov.engines.work import Part
from summarkov.events.block import Block
from summarkov.events.prepare import renamed, without_repeats
from summarkov.typing import CodeArray, IntArray


class PreparedSource(View):
    """A source seen through a :class:`Rename`, :class:`Collapse` or :class:`End`."""

    def __init__(self, source: EventSource, view: Rename | Collapse | End) -> None:
        super().__init__(source, view)
        self._places = source.places
        if isinstance(view, Rename):
            self._labels = view.labels
            self._label_counts = np.zeros(len(self._labels), np.int64)
            np.add.at(self._label_counts, view.translate, source.label_counts)
        elif isinstance(view, Collapse):
            self._label_counts = self.run(SurveyWork())[0]
            self.tied_order = 0  # events at the same place may be gone
        else:
            self._labels, self._places = view.labels, source.numbers  # no sequence is empty
            self._label_counts = np.insert(source.label_counts, view.code, source.n_sequences)

    def places(self) -> Places:
        """Those of the source, or of all its sequences."""
        return self._places()


@dataclass(frozen=True)
class Rename:
    """Shows a part with other labels."""

    labels: tuple[str, ...]
    translate: CodeArray

    @classmethod
    def of(cls, labels: Sequence[str], becomes: Sequence[str]) -> Rename:
        """What each of the labels becomes."""
        translate, others = renamed(np.arange(len(becomes), dtype=np.int32), labels, becomes)
        return cls(others, translate)

    def __call__(self, part: Part) -> Part:
        """As many events."""

        def read(most: int) -> Iterator[Block]:
            return (replace(block, codes=self.translate[block.codes]) for block in part.read(most))

        return replace(part, read=read, labels=self.labels)


@dataclass(frozen=True)
class Collapse:
    """Shows only the first of equal labels in a row.

    The last event of a sequence that goes on is held back for the next block, which can so be judged by
    itself, and of which no sequence is left without events.
    """

    def __call__(self, part: Part) -> Part:
        """The same vocabulary."""

        def read(most: int) -> Iterator[Block]:
            held = np.empty(0, np.int32)
            any_yet = False
            for block in part.read(most):
                codes = np.concatenate([held, block.codes])
                offsets = block.offsets + len(held)
                offsets[0] = 0
                codes, offsets = without_repeats(codes, offsets)
                ends, held = offsets[1:], np.empty(0, np.int32)
                if block.goes_on:
                    ends, codes, held = ends[:-1], codes[:-1], codes[-1:]
                if len(codes) or len(ends):
                    yield _block(codes, ends, block)
                    any_yet = True
            if not any_yet:
                yield block

        return replace(part, read=read)


@dataclass(frozen=True)
class End:
    """Shows one more event at the end of every sequence."""

    labels: tuple[str, ...]  # with that of the end
    code: int

    @classmethod
    def of(cls, labels: Sequence[str], label: str) -> End:
        """The label of the end."""
        more = tuple(sorted([*labels, label]))
        return cls(more, more.index(label))

    def __call__(self, part: Part) -> Part:
        """One label more."""
        translate = np.delete(np.arange(len(self.labels), dtype=np.int32), self.code)

        def read(most: int) -> Iterator[Block]:
            for block in part.read(max(1, most // 2)):  # sequences may have an event each
                ends = block.offsets[1 : len(block.offsets) - block.goes_on]
                codes = np.insert(translate[block.codes], ends, np.int32(self.code))
                yield _block(codes, ends + np.arange(1, len(ends) + 1), block)

        return replace(part, read=read, labels=self.labels)


def _block(codes: CodeArray, ends: IntArray, before: Block) -> Block:
    """A block of the sequences of another one, or of all but the last."""
    block = Block.of(codes, ends)
    return block if before.names is None else replace(block, names=before.names[: len(block.offsets) - 1])
