"""Events in another order inside their sequences, the same wherever it is worked out."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

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
