"""Sequences as they come, a code a label by first appearance."""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Iterable, Sequence

import numpy as np

from summarkov.events import EventSequences
from summarkov.readers.vocabulary import settle


class Collected:
    """What a reader that goes line by line has read so far.

    >>> collected = Collected()
    >>> collected.add(["b", "a"], "x")
    >>> collected.finish(None).to_lists()
    [['b', 'a']]
    """

    def __init__(self) -> None:
        self.index: defaultdict[str, int] = defaultdict()
        self.index.default_factory = self.index.__len__  # the next free code
        self.codes = array("i")
        self.offsets = array("q", [0])
        self.ids: list[str] | None = None  # once a sequence has a name
        self.tied_order = 0

    def add(self, labels: Iterable[str], name: str | None = None) -> None:
        """Add a sequence; one without a name has its number."""
        number = len(self.offsets) - 1
        if name is not None and self.ids is None:
            self.ids = [str(before) for before in range(number)]
        if self.ids is not None:
            self.ids.append(str(number) if name is None else name)
        self.codes.extend(map(self.index.__getitem__, labels))
        self.offsets.append(len(self.codes))

    def finish(self, labels: Sequence[str] | None) -> EventSequences:
        """All sequences, with the vocabulary declared or that of the labels that occur."""
        codes, vocabulary = settle(np.asarray(self.codes), list(self.index), labels)
        return EventSequences(
            codes, np.asarray(self.offsets), vocabulary, self.ids, tied_order=self.tied_order
        )
