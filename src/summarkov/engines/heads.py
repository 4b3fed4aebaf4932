"""Attributes of sequences that are read block by block: rows before the events of each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from summarkov.errors import DataError
from summarkov.events.block import Block
from summarkov.events.moments import Moments
from summarkov.events.vocabulary import translation
from summarkov.io.case_attributes import AttributeNames
from summarkov.typing import BoolArray, CodeArray, IntArray

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
