"""Shuffled sequences, and counts of them by presence of influencers and strata of positions."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from summarkov.kernels.index import Index, Span
from summarkov.kernels.numpy_kernels import tabulate
from summarkov.kernels.window import first_rows, last_rows
from summarkov.typing import BoolArray, CodeArray, IntArray

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


def block_seeds(seeds: Seeds, numbers: IntArray) -> Seeds:
    """A seed for each block of a sequence, from that of the sequence and the number of the block."""
    return _random_numbers(seeds, numbers.astype(np.uint64) + np.uint64(1))


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
    ``ends`` has the last position, from 1 on, of each stratum of positions but the last. ``in_time`` says
    which look-backs are times, ``delay_in_time`` whether the delay is one.
    """

    influencers: CodeArray
    lookbacks: IntArray
    starts: IntArray
    labels: CodeArray
    labels_starts: IntArray
    ends: IntArray
    delay: int
    in_time: BoolArray
    delay_in_time: bool = False


def count_presence(
    index: Index, begun: int, weights: IntArray | None, asked: PresenceAsked
) -> list[tuple[CodeArray, IntArray]]:
    """For each target keys[S, U + 1], presence of each influencer and the stratum, and counts[S, X].

    The first sequence has ``begun`` positions before the shard. Rows are in the order of stratum and
    presence.
    """
    lengths = np.diff(index.offsets)
    if index.places is None:
        place = np.arange(len(index.codes)) - np.repeat(index.offsets[:-1], lengths) + 1
    else:
        place = index.ticks.of - index.ticks.bounds[:-1][index.ticks.sequence] + 1
    if len(lengths):
        place[: lengths[0]] += begun
    stratum = np.searchsorted(asked.ends, place, side="left")
    present: dict[tuple[int, int, bool], IntArray] = {}
    found = []
    for t in range(len(asked.starts) - 1):
        labels = asked.labels[asked.labels_starts[t] : asked.labels_starts[t + 1]]
        outcome_of = np.full(index.n_labels + 1, len(labels), np.int32)
        outcome_of[labels] = np.arange(len(labels))
        mine = slice(asked.starts[t], asked.starts[t + 1])
        row = stratum
        for each in zip(
            *(some[mine].tolist() for some in (asked.influencers, asked.lookbacks, asked.in_time)),
            strict=True,
        ):
            if each not in present:
                present[each] = _is_present(index, asked, *each)
            row = row * 2 + present[each]
        width = asked.starts[t + 1] - asked.starts[t]
        rows, at = np.unique(row, return_inverse=True)
        counts = tabulate(index, weights, at, len(rows), outcome_of, len(labels) + 1)
        some = counts.any(axis=1)
        levels = rows[some, None] >> np.arange(width - 1, -1, -1) & 1
        keys = np.column_stack([levels, rows[some] >> width]).astype(np.int32)
        found.append((keys, counts[some]))
    return found


def _is_present(index: Index, asked: PresenceAsked, z: int, lookback: int, in_time: bool) -> IntArray:
    """For each row, 1 if a label is in its window, else 0."""
    of_z = np.flatnonzero(index.occurrences.code == z)
    first = np.maximum(first_rows(index, Span(asked.delay, asked.delay_in_time))[of_z], 0)
    last = last_rows(index, Span(lookback, in_time))[of_z]
    there = last >= first
    changes = np.zeros(len(index.codes) + 1, np.int64)
    np.add.at(changes, first[there], 1)
    np.add.at(changes, last[there] + 1, -1)
    return (np.cumsum(changes[:-1]) > 0).astype(np.int64)
