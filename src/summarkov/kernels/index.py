"""One shard as the kernels see it, with what they look up again and again."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from summarkov.typing import CodeArray, IntArray

#: A look-back over the whole past.
UNLIMITED = 2**62
#: Tables with more cells than this are refused with a MemoryError before they are made.
MOST_CELLS = 2**28
#: A position so far back that no look-back, unlimited included, reaches it.
ABSENT = -(2**62 + 2**61)


@dataclass(frozen=True)
class Index:
    """Sequences, and the past of the first of them where it was cut.

    ``codes`` are flat (-1 for an event of no known label), ``offsets`` cut them into sequences. The past is
    looked back at and never counted: positions before the cut (-1 is the event just before it) and codes of
    the earlier events that can still matter, in order.
    """

    codes: CodeArray
    offsets: IntArray
    n_labels: int
    past_positions: IntArray = field(default_factory=lambda: np.empty(0, np.int64))
    past_codes: CodeArray = field(default_factory=lambda: np.empty(0, np.int32))

    @cached_property
    def kept(self) -> dict[Hashable, Any]:
        """Whatever else a kernel wants to keep for the next call on the same shard."""
        return {}

    @cached_property
    def occurrences(self) -> Occurrences:
        """Every event that can be looked back at, each with its neighbours of the same label."""
        return Occurrences.of(self)


@dataclass(frozen=True)
class Occurrences:
    """The past, then the shard, in order of position."""

    position: IntArray  # negative for the past
    code: CodeArray
    previous: IntArray  # position of the label's previous occurrence in the sequence, or ABSENT
    following: IntArray  # position of its next one, or UNLIMITED
    stop: IntArray  # one past the last position of the event's sequence

    @classmethod
    def of(cls, index: Index) -> Occurrences:
        position = np.concatenate([index.past_positions, np.arange(len(index.codes))])
        code = np.concatenate([index.past_codes, index.codes])
        lengths = np.diff(index.offsets)
        sequence = np.concatenate(
            [np.zeros(len(index.past_codes), np.int64), np.repeat(np.arange(len(lengths)), lengths)]
        )
        previous = np.full(len(code), ABSENT)
        following = np.full(len(code), UNLIMITED)
        order = np.argsort(code, kind="stable")
        before, after = order[:-1], order[1:]
        same = (code[before] == code[after]) & (sequence[before] == sequence[after])
        previous[after[same]] = position[before[same]]
        following[before[same]] = position[after[same]]
        return cls(
            position, code, previous, following, index.offsets[1:][sequence] if len(code) else position
        )
