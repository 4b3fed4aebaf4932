"""Sequences drawn at random by the numbers of their names: the same in memory, in files and on a cluster.

What is drawn depends on the seed and on the names of all sequences, not on the order in which these come or
on where they are. It is told in a few numbers, from which every part of the data finds out about its own
sequences.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import compress
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from summarkov.errors import DataError
from summarkov.kernels import sequence_seeds
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
    keys = np.empty(len(names), np.uint64)
    whole = [
        name.isdecimal() and name.isascii() and len(name) <= _MOST_DIGITS and (name[0] != "0" or name == "0")
        for name in names
    ]
    is_whole = np.array(whole, bool)
    keys[is_whole] = np.fromiter(map(int, compress(names, whole)), np.uint64)
    keys[~is_whole] = stable_hashes(compress(names, ~is_whole))
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


#: Of at most this many units it is written down which are drawn; of more it follows from hashes of keys.
FEW = 1 << 14
#: Draws of many units that are written down after all, so that there are as many draws as units. (At least
#: 16: what is left, less four times its standard deviation, must be above 0.)
_LAST = 1 << 8
#: Where the numbers that hashes are made with begin; shuffles have those below.
_BOOTSTRAP, _DEAL = 1 << 32, 1 << 33


@dataclass(frozen=True)
class Lot:
    """``values[i]`` for a unit whose hash is from ``cuts[i - 1]`` on and below ``cuts[i]``."""

    seed: int
    number: int
    cuts: HashArray
    values: IntArray

    def of(self, keys: HashArray) -> IntArray:
        """One value per key."""
        hashes = sequence_seeds(self.seed, self.number, keys)
        return np.asarray(self.values[np.searchsorted(self.cuts, hashes, side="right")])


@dataclass(frozen=True)
class Drawn:
    """How often every unit was drawn: by lots, and as often again as is written down for its key."""

    lots: tuple[Lot, ...] = ()
    keys: HashArray = field(default_factory=lambda: np.empty(0, np.uint64))  # sorted
    times: npt.NDArray[np.integer] = field(default_factory=lambda: np.empty(0, np.int64))

    def weights(self, keys: HashArray) -> IntArray:
        """A whole weight for each of some units."""
        total = np.zeros(len(keys), np.int64)
        for lot in self.lots:
            total += lot.of(keys)
        if len(self.keys):
            at = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
            total += np.where(self.keys[at] == keys, self.times[at], 0)
        return total

    def __reduce__(self) -> tuple[Any, ...]:
        """To travel in few bytes: numbers of draws are mostly 0, 1 and 2."""
        packed = zlib.compress(np.ascontiguousarray(self.times).tobytes())
        return _unpacked, (self.lots, self.keys, packed, self.times.dtype.str)


def _unpacked(lots: tuple[Lot, ...], keys: HashArray, packed: bytes, kind: str) -> Drawn:
    return Drawn(lots, keys, np.frombuffer(zlib.decompress(packed), kind))


#: Every unit once.
EVERYTHING = Drawn((Lot(0, 0, np.empty(0, np.uint64), np.ones(1, np.int64)),))


class Draws(Protocol):
    """Weights of units, replicate by replicate."""

    @property
    def n(self) -> int:
        """The number of replicates."""

    def drawn(self, replicate: int, keys: HashArray) -> Drawn:
        """Which of some units were drawn; ``keys`` are those of all of them, sorted."""


@dataclass(frozen=True)
class Bootstrap:
    """As many units as there are, drawn with replacement; other ones for each replicate.

    Of many units, most draws come as independent Poisson numbers from hashes of their keys, with a mean a
    little below what is left to be drawn. Given their sum they are draws with replacement, so with the last
    ones, which are drawn one by one, they are as many draws with replacement as there are units.

    >>> keys = np.arange(5, dtype=np.uint64)
    >>> Bootstrap(n=2, seed=0).drawn(1, keys).weights(keys)
    array([0, 1, 2, 0, 2])
    """

    n: int = 100
    seed: int = 0

    def drawn(self, replicate: int, keys: HashArray) -> Drawn:
        """How often each unit was drawn."""
        n = left = len(keys)
        lots: list[Lot] = []
        tries = 0
        while n > FEW and left > _LAST:
            lot = _poisson((left - 4 * math.sqrt(left)) / n, self.seed, _BOOTSTRAP + (replicate << 8) + tries)
            found, tries = int(lot.of(keys).sum()), tries + 1
            if found <= left:
                lots.append(lot)
                left -= found
        one_by_one = np.random.default_rng([self.seed, replicate]).integers(n, size=left)
        if n <= FEW:
            return Drawn((), keys, _small(np.bincount(one_by_one, minlength=n)))
        places, times = np.unique(one_by_one, return_counts=True)
        return Drawn(tuple(lots), keys[places], _small(times))


def _poisson(mean: float, seed: int, number: int) -> Lot:
    """Independent Poisson numbers."""
    cuts: list[int] = []
    term = below = math.exp(-mean)
    while (cut := int(below * 2**64)) < 2**64 and cut not in cuts[-1:]:
        cuts.append(cut)
        term *= mean / len(cuts)
        below += term
    return Lot(seed, number, np.array(cuts, np.uint64), np.arange(len(cuts) + 1))


def deal(keys: HashArray, cuts: Sequence[int], seed: int) -> list[Drawn]:
    """Deal units out at random: those up to the first cut, those up to the second, ..., and the rest.

    ``keys`` are those of all units, sorted.

    >>> keys = np.arange(6, dtype=np.uint64)
    >>> [drawn.weights(keys).tolist() for drawn in deal(keys, [4], seed=0)]
    [[0, 0, 1, 1, 1, 1], [1, 1, 0, 0, 0, 0]]
    """
    n = len(keys)
    if n <= FEW:
        parts = np.split(np.random.default_rng(seed).permutation(n), cuts)
        return [Drawn((), keys, _small(np.bincount(part, minlength=n))) for part in parts]
    hashes = np.sort(sequence_seeds(seed, _DEAL, keys))
    ends = np.append(hashes, ~np.uint64(0))[cuts]
    each = np.eye(len(cuts) + 1, dtype=np.int64)
    return [Drawn((Lot(seed, _DEAL, ends, values),)) for values in each]


def split_by_key(keys: HashArray, fractions: Sequence[float], seed: int) -> list[Drawn]:
    """Units dealt out at random in parts of some fractions; ``keys`` are those of all units, sorted."""
    shares = np.asarray(fractions, dtype=float)
    if shares.ndim != 1 or not len(shares) or not (shares > 0).all() or abs(shares.sum() - 1) > 1e-9:
        raise DataError(f"fractions must be positive and sum to 1, such as (0.8, 0.2), not {fractions!r}")
    return deal(keys, np.rint(np.cumsum(shares)[:-1] * len(keys)).astype(int).tolist(), seed)


def _small(times: IntArray) -> npt.NDArray[np.integer]:
    """The same numbers in as few bytes as they need."""
    return times.astype(np.min_scalar_type(int(times.max(initial=0))))
