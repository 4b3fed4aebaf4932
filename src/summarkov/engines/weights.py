"""Weights of sequences as users give them, and the units that replicates draw."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from summarkov.errors import SettingError
from summarkov.events import EventSequences
from summarkov.events.draws import distinct_keys, sequence_keys
from summarkov.settings import is_whole
from summarkov.typing import HashArray, IntArray

#: Weights that are not whole become multiples of 2^-20.
FIXED_POINT = 1 << 20
#: The most that all events may weigh together, in units of 1 / scale: a count holds no more.
MOST = 1 << 62


def fixed_point(weights: Any, n_sequences: int) -> tuple[IntArray | None, int]:
    """Integer weights and their scale: whole weights as they are, others in units of 2^-20.

    >>> fixed_point([1, 2], 2), fixed_point([0.5, 1.0], 2)
    ((array([1, 2]), 1), (array([ 524288, 1048576]), 1048576))
    """
    if weights is None:
        return None, 1
    given = np.asarray(weights)
    if given.shape != (n_sequences,):
        raise SettingError(
            f"sample_weight must have one number per sequence ({n_sequences}), not shape {given.shape}"
        )
    if given.dtype.kind not in "buif" or not np.isfinite(given.astype(float)).all() or (given < 0).any():
        raise SettingError("sample_weight must be finite numbers from 0 on")
    scale = 1 if not n_fractions(given) else FIXED_POINT
    return in_units(given, scale), scale


def n_fractions(given: npt.NDArray[Any]) -> int:
    """How many weights are not whole."""
    return int(np.count_nonzero(given != np.rint(given.astype(float))))


def in_units(given: npt.NDArray[Any], scale: int) -> IntArray:
    """Weights in units of ``1 / scale``; refused where these are too coarse, or weights too large."""
    if given.size and float(given.max()) * scale > 2**42:
        raise SettingError(f"sample_weight {float(given.max()):g} is too large; scale the weights down")
    units: IntArray = np.rint(given.astype(float) * scale).astype(np.int64)
    lost = given[(units == 0) & (given > 0)]
    if len(lost):
        raise SettingError(
            f"sample_weight {float(lost[0]):g} is too small: weights are rounded to multiples of 2^-20, and "
            "this would be 0; scale the weights up, or leave out such sequences by a weight of 0"
        )
    return units


def refuse_overflow(total: float, scale: int) -> None:
    """Refuse weights whose sum over all events, in units of ``1 / scale``, is more than a count can hold."""
    if total > MOST:
        raise SettingError(
            f"the events weigh {total / scale:g} together, more than can be counted exactly; scale the "
            "weights down"
        )


@dataclass(frozen=True)
class Units:
    """What is drawn: the number of the unit that every event belongs to, and a key for each unit."""

    of: IntArray
    keys: HashArray
    kind: str  # "sequences" or "blocks"

    @property
    def n(self) -> int:
        """How many there are."""
        return len(self.keys)


def units_of(events: EventSequences, blocks: Any = None) -> Units:
    """Cut events into units to draw from.

    ``blocks`` is None, for sequences, or for blocks of N^(1/3) events if there is but one that is not empty;
    a number, for blocks of that many events in a row; or names: one per sequence, for groups of sequences, or
    one per event, such as the document that it is from. Keys do not depend on the order of the sequences,
    unless two have the same name.

    >>> units_of(EventSequences.from_lists([["A", "B", "A"], ["B"]]), 2).of
    array([0, 0, 1, 2])
    """
    lengths = events.lengths
    sequence = np.repeat(np.arange(len(events)), lengths)
    if blocks is None:
        if (lengths > 0).sum() != 1:
            return Units(sequence, events.sequence_keys(), "sequences")
        blocks = math.ceil(events.n_events ** (1 / 3))
    if is_whole(blocks):
        if blocks < 1:
            raise SettingError(f"blocks must have at least one event each, not {blocks}")
        within = events.positions - 1
        of_sequence = np.zeros(len(events), np.int64)
        np.maximum.at(of_sequence, sequence, within // blocks + 1)
        before = np.cumsum(of_sequence) - of_sequence
        by_key = np.argsort(events.sequence_keys())
        place = np.empty_like(before)  # of a sequence's first block, if sequences are sorted by their keys
        place[by_key] = np.cumsum(of_sequence[by_key]) - of_sequence[by_key]
        keys = np.arange(of_sequence.sum()) + np.repeat(place - before, of_sequence)
        return Units(np.repeat(before, lengths) + within // blocks, keys.astype(np.uint64), "blocks")
    if isinstance(blocks, str) or not hasattr(blocks, "__len__"):
        raise SettingError(f"blocks must be a number of events, or a list of names, not {blocks!r}")
    names = [str(name) for name in blocks]
    index = {name: number for number, name in enumerate(dict.fromkeys(names))}
    numbers = np.array([index[name] for name in names], dtype=np.int64)
    keys = distinct_keys(sequence_keys(index))
    if len(names) == len(events):
        return Units(np.repeat(numbers, lengths), keys, "blocks")
    if len(names) == events.n_rows:
        return Units(numbers, keys, "blocks")
    raise SettingError(
        f"blocks must name one block per sequence ({len(events)}) or one per event ({events.n_rows}), "
        f"not {len(names)}"
    )
