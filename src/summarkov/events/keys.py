"""Numbers that stand for the names of sequences, the same wherever they are worked out."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b

import numpy as np

from summarkov.typing import HashArray, IntArray

#: Names that are whole numbers of at most this many digits stand for themselves.
_MOST_DIGITS = 18
#: Keys that are sorted at once.
_AT_ONCE = 1 << 24


def sequence_keys(names: Iterable[str]) -> HashArray:
    """A number of 64 bits for every name of a sequence, the same wherever it is worked out.

    A whole number stands for itself, so that sequences without names go by their places; all else is hashed.

    >>> sequence_keys(["17", "visit 17"])
    array([                 17, 8974595205207257451], dtype=uint64)
    """
    names = list(names)
    keys = stable_hashes(names)
    for at, name in enumerate(names):
        if name.isdecimal() and name.isascii() and len(name) <= _MOST_DIGITS and str(int(name)) == name:
            keys[at] = int(name)
    return keys


def stable_hashes(texts: Iterable[str]) -> HashArray:
    """A hash of 64 bits for every text.

    Python's own ``hash`` depends on PYTHONHASHSEED, and weaker hashes let a file be made whose cases all
    have the same one.

    >>> [hex(number) for number in stable_hashes(["a", "b"])]
    ['0x2f42665b399ef840', '0x754f854de3c27284']
    """
    each = b"".join(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest() for text in texts)
    return np.frombuffer(each, "<u8").astype(np.uint64)


def period_numbers(names: Iterable[str]) -> IntArray:
    """A number of 64 bits for every name of a period: equal names have equal numbers.

    >>> period_numbers(["May", "June", "May"]) == period_numbers(["May"])
    array([ True, False,  True])
    """
    return stable_hashes(names).view(np.int64)


def distinct_keys(keys: HashArray) -> HashArray:
    """The keys of all sequences if they differ, else the numbers of the sequences.

    Sequences of one name would be drawn, or shuffled, as if they were one.

    >>> distinct_keys(sequence_keys(["7", "3"])), distinct_keys(sequence_keys(["7", "7"]))
    (array([7, 3], dtype=uint64), array([0, 1], dtype=uint64))
    """
    return np.arange(len(keys), dtype=np.uint64) if any_twice(keys) else keys


def any_twice(keys: HashArray, at_once: int = _AT_ONCE) -> bool:
    """Whether a number comes twice; about ``at_once`` are looked at at a time, by remainders."""
    runs = -(-len(keys) // at_once)
    for run in range(runs):
        some = [
            part if runs == 1 else part[part % np.uint64(runs) == run]
            for part in (keys[start : start + at_once] for start in range(0, len(keys), at_once))
        ]
        together = np.sort(np.concatenate(some))
        if (together[1:] == together[:-1]).any():
            return True
    return False
