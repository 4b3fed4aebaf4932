"""With which labels sequences begin."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from summarkov.engines.event_source import EventSource
from summarkov.engines.work import Part, in_memory
from summarkov.events import EventSequences
from summarkov.typing import IntArray


def count_starts(events: EventSequences | EventSource) -> IntArray:
    """How many sequences begin with each label, in one pass.

    >>> count_starts(EventSequences.from_lists([["A", "B"], ["B"], [], ["A"]])).tolist()
    [2, 1]
    """
    work = StartsWork()
    return events.run(work) if isinstance(events, EventSource) else work.run(in_memory(events))


@dataclass(frozen=True)
class StartsWork:
    """Counts the first events of sequences."""

    def run(self, part: Part) -> IntArray:
        """Block by block; the continuation of a sequence has no first event."""
        counts = np.zeros(len(part.labels) + 1, np.int64)
        continues = False
        for block in part.blocks(1 << 4):
            begins = block.offsets[:-1][np.diff(block.offsets) > 0]
            if continues and len(begins):
                begins = begins[begins > 0]
            np.add.at(counts, block.codes[begins], 1)
            continues = block.goes_on
        return counts[:-1]

    def total(self, answers: Sequence[IntArray]) -> IntArray:
        """Add up several parts."""
        return np.asarray(np.sum(answers, axis=0))
