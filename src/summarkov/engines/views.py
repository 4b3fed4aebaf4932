"""Parts seen in another way: under another vocabulary, prepared, with attributes, or only some sequences.

Each view is called with a part and returns it as it is seen, with the result of doing the same in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Generic

import numpy as np

from summarkov.engines.work import Answer, Part, Work
from summarkov.errors import DataError
from summarkov.events.draws import Drawn
from summarkov.events.ends import EndRule
from summarkov.events.moments import Moments, join_moments
from summarkov.events.prepare import not_repeated
from summarkov.events.rows import Block, uncut
from summarkov.events.vocabulary import END, UNKNOWN, translation
from summarkov.read.case_attributes import AttributeNames
from summarkov.typing import BoolArray, CodeArray, IntArray

View = Callable[[Part], Part]


@dataclass(frozen=True)
class Seen(Generic[Answer]):
    """Some work on the parts of a source as a view shows them."""

    work: Work[Answer]
    view: View

    def run(self, part: Part) -> Answer:
        """The answer for one part alone."""
        return self.work.run(self.view(part))

    def total(self, answers: Sequence[Answer]) -> Answer:
        """Add up several parts."""
        return self.work.total(answers)


@dataclass(frozen=True)
class Translate:
    """Shows a part in the codes of another vocabulary, or with other labels."""

    labels: tuple[str, ...]
    translate: CodeArray  # the new code of every old one; one more, if there is, is for events of no label

    def __call__(self, part: Part) -> Part:
        """As many events."""

        def read(most: int) -> Iterator[Block]:
            return (_translated(block, self.translate, part, seen) for block in part.read(most))

        seen = part.seen(read, self.labels)
        return seen

    def label_counts(self, before: IntArray) -> IntArray:
        """How often the labels occur, from how often those before did."""
        counts = np.zeros(len(self.labels) + 1, np.int64)
        np.add.at(counts, self.translate[: len(before)], before)
        return counts[:-1]


def _translated(block: Block, translate: CodeArray, part: Part, seen: Part) -> Block:
    """A block with other codes; of a tick, each is there once, and they are sorted."""
    codes, offsets, moments = translate[block.codes], block.offsets, block.moments
    if moments is None or not moments.has_ticks:
        return replace(block, codes=codes)
    if part.attributes is not None:  # those that are not known are not seen
        keep = (codes != UNKNOWN) | ~part.attributes[block.codes]
        codes, offsets, moments = codes[keep], np.append(0, np.cumsum(keep))[offsets], moments[keep]
    codes, offsets, made = moments.of_rows(codes, offsets)
    moments = made or Moments(np.ones(len(codes), bool))
    if seen.attributes is not None:  # which begin no tick
        moments = replace(moments, starts=moments.starts & ~seen.attributes[codes])
    return block.with_events(codes, offsets[1 : len(offsets) - block.goes_on], moments=moments)


@dataclass(frozen=True)
class Collapse:
    """Shows only the first of equal labels in a row.

    The last event of a sequence that goes on is held back for the next block, which can so be judged by
    itself, and of which no sequence is left without events.
    """

    def __call__(self, part: Part) -> Part:
        """The same vocabulary."""

        def read(most: int) -> Iterator[Block]:
            held, held_moments = np.empty(0, np.int32), None
            any_yet = False
            for block in part.read(most):
                moments = join_moments([(len(held), held_moments), (len(block.codes), block.moments)])
                codes = np.concatenate([held, block.codes])
                offsets = block.offsets + len(held)
                offsets[0] = 0
                keep = not_repeated(codes, offsets)
                codes, moments = codes[keep], None if moments is None else moments[keep]
                ends = np.append(0, np.cumsum(keep))[offsets[1:]]
                stop = len(codes) - block.goes_on
                held, held_moments = codes[stop:], None if moments is None else moments[stop:]
                ends = ends[:-1] if block.goes_on else ends
                if stop or len(ends):
                    shown = None if moments is None else moments[:stop]
                    yield block.with_events(codes[:stop], ends, moments=shown)
                    any_yet = True
            if not any_yet:
                yield block

        return part.seen(read)


@dataclass(frozen=True)
class WithStarts:
    """Shows one more event at the start of every sequence."""

    labels: tuple[str, ...]  # with that of the event
    code: int

    @classmethod
    def of(cls, labels: Sequence[str], label: str) -> WithStarts:
        """The label of the event."""
        more = tuple(sorted([*labels, label]))
        return cls(more, more.index(label))

    def __call__(self, part: Part) -> Part:
        """One label more."""
        translate = np.delete(np.arange(len(self.labels), dtype=np.int32), self.code)

        def read(most: int) -> Iterator[Block]:
            begun = False  # whether the first sequence of a block began earlier
            for block in part.read(max(1, most // 2)):  # sequences may have an event each
                ends = block.offsets[1 : len(block.offsets) - block.goes_on]
                places = self._begins(block, part.attributes)[int(begun) :]
                codes = np.insert(translate[block.codes], places, np.int32(self.code))
                moments = block.moments
                if moments is not None:
                    moments = moments.with_starts(places, block.offsets[1 + int(begun) :])
                added = np.arange(1, len(ends) + 1) - begun
                yield block.with_events(codes, ends + added, moments=moments)
                begun = block.goes_on

        return part.seen(read, self.labels)

    def _begins(self, block: Block, attributes: BoolArray | None) -> IntArray:
        """Where the events of every sequence begin: after the rows of its attributes."""
        starts = block.offsets[:-1]
        if attributes is None:
            return starts
        before = np.append(0, np.cumsum(attributes[block.codes]))
        return np.asarray(starts + np.diff(before[block.offsets]))


@dataclass(frozen=True)
class WithEnds:
    """Shows one more event, ``END``, in every sequence that is complete: in all, or as a rule says."""

    labels: tuple[str, ...]  # with END
    translate: CodeArray  # the new code of every old one
    rule: EndRule | None = None

    @classmethod
    def of(cls, labels: Sequence[str], rule: EndRule | None) -> WithEnds:
        """The labels of what is seen; what tells whether a sequence is complete is not among them."""
        values = np.full(len(labels) + 1, -1) if rule is None or rule.values is None else rule.values
        kept = [label for label, value in zip(labels, values[:-1].tolist(), strict=True) if value < 0]
        if END in kept:
            raise DataError(
                f"the label {END!r} means the end of a case; rename it in the data, or read them with "
                "ends='cut off'"
            )
        more = tuple(sorted([*kept, END]))
        return cls(more, translation(labels, more), rule)

    def __call__(self, part: Part) -> Part:
        """One label more."""

        def read(most: int) -> Iterator[Block]:
            blocks = part.read(max(1, most // 2))  # sequences may have an event each
            return map(self._shown, blocks if self.rule is None else uncut(blocks))

        return part.seen(read, self.labels)

    def _shown(self, block: Block) -> Block:
        rule, codes, offsets, moments = self.rule, block.codes, block.offsets, block.moments
        which = np.ones(len(offsets) - 1 - block.goes_on, bool)
        if rule is not None:
            which = rule.complete(codes, offsets, moments)
            if rule.values is not None:
                keep = rule.values[codes] < 0
                codes, offsets = codes[keep], np.append(0, np.cumsum(keep))[offsets]
                moments = None if moments is None else moments[keep]
        ends = offsets[1 : len(which) + 1]
        shown = np.insert(self.translate[codes], ends[which], np.int32(self.labels.index(END)))
        if moments is not None:
            moments = moments.with_ends(offsets, which)
        return block.with_events(shown, ends + np.cumsum(which), moments=moments)


@dataclass(frozen=True)
class WithoutEnds:
    """Shows sequences without the ``END`` of those that are complete."""

    labels: tuple[str, ...]  # without END

    def __call__(self, part: Part) -> Part:
        """One label less."""
        code, translate = part.labels.index(END), translation(part.labels, self.labels)

        def read(most: int) -> Iterator[Block]:
            for block in part.read(most):
                keep = block.codes != code
                before = np.append(0, np.cumsum(keep))
                ends = before[block.offsets[1 : len(block.offsets) - block.goes_on]]
                moments = None if block.moments is None else block.moments[keep]
                yield block.with_events(translate[block.codes[keep]], ends, moments=moments)

        return part.seen(read, self.labels)


@dataclass(frozen=True)
class Only:
    """Shows those sequences of a part that were drawn."""

    drawn: Drawn

    def __call__(self, part: Part) -> Part:
        """The same vocabulary, and fewer events."""

        def read(most: int) -> Iterator[Block]:
            for block in part.read(most):
                assert block.keys is not None
                lengths = np.diff(block.offsets)
                kept = self.drawn.weights(block.keys) > 0
                ended = len(lengths) - block.goes_on
                ends = np.cumsum(lengths[:ended][kept[:ended]])
                rows = np.repeat(kept, lengths)
                moments = None if block.moments is None else block.moments[rows]
                yield block.with_events(block.codes[rows], ends, kept, moments)

        return part.seen(read)


@dataclass(frozen=True)
class SurveyWork:
    """Counts the labels of every part, weighted."""

    def run(self, part: Part) -> IntArray:
        """Block by block."""
        counts = np.zeros(len(part.labels) + 1, np.int64)
        for block in part.blocks(1 << 4):
            if block.weights is None:
                counts[:-1] += np.bincount(block.codes[block.codes != UNKNOWN], minlength=len(counts) - 1)
            else:
                np.add.at(counts, block.codes, np.repeat(block.weights, np.diff(block.offsets)))
        return counts[:-1]

    def total(self, answers: Sequence[IntArray]) -> IntArray:
        """Add up several parts."""
        return np.asarray(np.sum(answers, axis=0))


#: Sequences to look at at a time.
_AT_ONCE = 1 << 16


@dataclass(frozen=True)
class Heads:
    """What to put before the events of sequences, as :class:`summarkov.events.rows.Rows` does in memory.

    ``labels`` are those of events and the names of attributes, sorted; ``attributes`` tells which are which,
    and ``translate`` has the codes of those of events. ``rows(start, stop)`` has the codes of the attributes
    of some sequences by number: one row per sequence, one column per attribute, sorted.
    """

    labels: tuple[str, ...]
    attributes: BoolArray
    translate: CodeArray
    rows: Callable[[int, int], CodeArray]
    n_sequences: int
    n_columns: int

    @classmethod
    def of(cls, labels: Sequence[str], named: AttributeNames, values: CodeArray) -> Heads:
        """Those of sequences with these values: codes, one row per sequence, one column per column."""
        together = joined(labels, named.names)
        of_names = translation(named.names, together)
        codes = [of_names[some] for some in named.codes]

        def rows(start: int, stop: int) -> CodeArray:
            some = values[start:stop]
            return np.sort(np.stack([code[some[:, at]] for at, code in enumerate(codes)], axis=1), axis=1)

        attributes = np.append(translation(together, named.names)[:-1] >= 0, False)
        return cls(together, attributes, translation(labels, together), rows, len(values), len(codes))

    def label_counts(self, of_events: IntArray) -> IntArray:
        """N(x) of every label, from that of the labels of events."""
        counts = np.zeros(len(self.labels), np.int64)
        counts[self.translate[:-1]] = of_events
        for start in range(0, self.n_sequences, _AT_ONCE):
            counts += np.bincount(self.rows(start, start + _AT_ONCE).ravel(), minlength=len(counts))
        return counts

    def put(self, blocks: Iterable[Block]) -> Iterator[Block]:
        """All blocks of all sequences, with the attributes of these."""
        done, begun = 0, False  # sequences that ended in the blocks before; whether the first began there
        for block in blocks:
            n = len(block.offsets) - 1
            yield self._put(block, self.rows(done + begun, done + n), int(begun))
            done, begun = done + n - block.goes_on, block.goes_on

    def _put(self, block: Block, heads: CodeArray, first: int) -> Block:
        """A block with the attributes of its sequences, from number ``first`` on."""
        n, width = heads.shape
        at = np.repeat(block.offsets[first:-1], width)
        codes = np.insert(self.translate[block.codes], at, heads.ravel())
        more = np.append(np.zeros(first + 1, np.int64), np.full(n, width)).cumsum()
        moments = block.moments or Moments(np.ones(len(block.codes), bool))
        ends = (block.offsets + more)[1 : len(block.offsets) - block.goes_on]
        return block.with_events(codes, ends, moments=moments.with_attributes(at))


def joined(labels: Sequence[str], attributes: Sequence[str]) -> tuple[str, ...]:
    """The labels of events and the names of attributes, sorted; none may be both."""
    clash = set(labels) & set(attributes)
    if clash:
        raise DataError(f"{min(clash)!r} is both a label and the name of an attribute; rename the label")
    return tuple(sorted((*labels, *attributes)))
