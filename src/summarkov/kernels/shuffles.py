"""Shuffled sequences, and counts of them by presence of influencers and strata of positions."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from summarkov.kernels.index import ABSENT, Index
from summarkov.typing import CodeArray, IntArray

Seeds = npt.NDArray[np.uint64]

#: The step of SplitMix64.
_STEP = np.uint64(0x9E3779B97F4A7C15)
#: Of the random numbers only the bits above these decide; events that they do not tell apart stay in order.
_UNUSED_BITS = np.uint64(24)


def sequence_seeds(seed: int, replicate: int, numbers: npt.ArrayLike) -> Seeds:
    """A seed for each sequence, from its number, that of the replicate, and the seed of all.

    >>> sequence_seeds(0, 1, [0, 7])
    array([ 3391245575278488096, 10982949063525286192], dtype=uint64)
    """
    mixed = np.zeros(1, np.uint64)
    for number in (np.uint64(seed % 2**64), np.uint64(replicate), np.asarray(numbers).astype(np.uint64)):
        mixed = _random_numbers(mixed, number + np.uint64(1))
    return mixed


def shuffled(
    codes: CodeArray, offsets: IntArray, seeds: Seeds, begun: int, kept: int, within: int
) -> CodeArray:
    """Sort the events of each block of ``within`` positions of a sequence by their random numbers.

    The first ``kept`` events of each sequence stay where they are, and blocks begin after them. The number of
    the event at position i of a sequence is the i-th of SplitMix64 from the sequence's seed. The
    first sequence continues one of which ``begun`` events came before; where a sequence was cut so that no
    block was, the result is the same.
    """
    lengths = np.diff(offsets)
    place = np.arange(len(codes)) - np.repeat(offsets[:-1], lengths)
    if len(lengths):
        place[: lengths[0]] += begun
    sequence = np.repeat(np.arange(len(lengths)), lengths)
    keys = _random_numbers(np.repeat(seeds, lengths), (place + 1).astype(np.uint64))
    block = np.where(place < kept, place - kept, (place - kept) // within)
    return np.asarray(codes[np.lexsort((keys >> _UNUSED_BITS, block, sequence))])


def _random_numbers(seeds: Seeds, steps: Seeds | np.uint64) -> Seeds:
    """SplitMix64: the numbers that come some steps after their seeds."""
    with np.errstate(over="ignore"):
        x = seeds + steps * _STEP
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return np.asarray(x ^ (x >> np.uint64(31)))


#: More influencers of one target than this are refused with a MemoryError.
MOST_INFLUENCERS = 50


class PresenceAsked(NamedTuple):
    """Targets with their influencers; those of target t are ``starts[t]`` to before ``starts[t + 1]``.

    Its outcomes are the labels ``labels_starts[t]`` to before ``labels_starts[t + 1]`` of ``labels``, and
    last the residual one, which is that of all other events.
    ``ends`` has the last position, from 1 on, of each stratum of positions but the last.
    """

    influencers: CodeArray
    lookbacks: IntArray
    starts: IntArray
    labels: CodeArray
    labels_starts: IntArray
    ends: IntArray
    delay: int


def count_presence(
    index: Index, begun: int, weights: IntArray | None, asked: PresenceAsked
) -> list[tuple[CodeArray, IntArray]]:
    """For each target keys[S, U + 1], presence of each influencer and the stratum, and counts[S, X].

    The first sequence has ``begun`` events before the shard. Rows are in the order of stratum and presence.
    """
    lengths = np.diff(index.offsets)
    start = np.repeat(index.offsets[:-1], lengths)
    place = np.arange(len(index.codes)) - start + 1
    if len(lengths):
        place[: lengths[0]] += begun
        start[: lengths[0]] = ABSENT  # so far the past reaches
    stratum = np.searchsorted(asked.ends, place, side="left")
    by_position = np.ones(len(place), np.int64) if weights is None else np.repeat(weights, lengths)
    present: dict[tuple[int, int], IntArray] = {}
    found = []
    for t in range(len(asked.starts) - 1):
        labels = asked.labels[asked.labels_starts[t] : asked.labels_starts[t + 1]]
        outcome_of = np.full(index.n_labels + 1, len(labels))
        outcome_of[labels] = np.arange(len(labels))
        mine = slice(asked.starts[t], asked.starts[t + 1])
        row = stratum
        for pair in zip(asked.influencers[mine].tolist(), asked.lookbacks[mine].tolist(), strict=True):
            if pair not in present:
                present[pair] = _is_present(index, start, *pair, asked.delay)
            row = row * 2 + present[pair]
        width = asked.starts[t + 1] - asked.starts[t]
        rows, at = np.unique(row, return_inverse=True)
        counts = np.zeros((len(rows), len(labels) + 1), np.int64)
        np.add.at(counts, (at, outcome_of[index.codes]), by_position)
        some = counts.any(axis=1)
        levels = rows[some, None] >> np.arange(width - 1, -1, -1) & 1
        keys = np.column_stack([levels, rows[some] >> width]).astype(np.int32)
        found.append((keys, counts[some]))
    return found


def _is_present(index: Index, start: IntArray, z: int, lookback: int, delay: int) -> IntArray:
    """For each position, 1 if a label is in its window, else 0; ``start`` is the first that may be."""
    of_z = np.flatnonzero(index.codes == z)
    events = np.concatenate([index.past_positions[index.past_codes == z], of_z])
    if not len(events):
        return np.zeros(len(start), np.int64)
    at = np.searchsorted(events, np.arange(len(start)) - delay, side="left") - 1
    last = np.where(at >= 0, events[np.maximum(at, 0)], ABSENT)
    inside = (at >= 0) & (last >= start) & (np.arange(len(start)) - last <= lookback)
    return inside.astype(np.int64)
