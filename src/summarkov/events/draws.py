"""Sequences drawn at random by the numbers of their names, wherever and in which order they come."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import compress

import numpy as np
import numpy.typing as npt

from summarkov.errors import DataError
from summarkov.kernels import sequence_seeds
from summarkov.typing import HashArray, IntArray

#: Names that are whole numbers of at most this many digits stand for themselves.
_MOST_DIGITS = 18


def sequence_keys(names: Iterable[str]) -> HashArray:
    """A number of 64 bits for every name of a sequence: a whole number stands for itself, all else is hashed.

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
    """A hash of 64 bits for every text, the same in every process, and safe from files made to collide."""
    each = b"".join(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest() for text in texts)
    return np.frombuffer(each, "<u8").astype(np.uint64)


def distinct_keys(keys: HashArray) -> HashArray:
    """The keys of all sequences if they differ, else the numbers of the sequences."""
    return keys if len(np.unique(keys)) == len(keys) else np.arange(len(keys), dtype=np.uint64)


#: Of at most this many units it is written down which are drawn; of more it follows from hashes of keys.
FEW = 1 << 14
#: Where the numbers that hashes are made with begin; shuffles have those below.
_BOOTSTRAP = 1 << 32
#: The probabilities that a Poisson number of mean 1 is at most 0, 1, ..., in units of 2^-64.
_POISSON = [
    min(int(sum(1 / math.factorial(j) for j in range(k + 1)) / math.e * 2**64), 2**64 - 1) for k in range(18)
]


@dataclass(frozen=True)
class Drawn:
    """How often every unit was drawn: as written down for its key, else never.

    Or, with a seed and a number in ``lot``, a Poisson number of times that follows from the hash of its key.
    """

    keys: HashArray | None = None  # sorted
    times: npt.NDArray[np.integer] | None = None
    lot: tuple[int, int] | None = None

    def weights(self, keys: HashArray) -> IntArray:
        """A whole weight for each of some units."""
        if self.lot is not None:
            hashes = sequence_seeds(*self.lot, keys)
            return np.searchsorted(np.array(_POISSON, np.uint64), hashes, side="right").astype(np.int64)
        assert self.keys is not None
        assert self.times is not None
        at = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        return np.where(self.keys[at] == keys, self.times[at], 0).astype(np.int64)


@dataclass(frozen=True)
class Bootstrap:
    """As many units as there are, drawn with replacement; other ones for each of ``n`` replicates.

    ``start`` is the number of the first, so that many can be drawn in parts. Of more units than ``FEW`` each
    is drawn a Poisson number of times, 1 on average: nearly as many in all.
    """

    n: int = 100
    seed: int = 0
    start: int = 0

    def drawn(self, replicate: int, keys: HashArray) -> Drawn:
        """How often each unit was drawn."""
        n, number = len(keys), self.start + replicate
        if n > FEW:
            return Drawn(lot=(self.seed, _BOOTSTRAP + number))
        each = np.random.default_rng([self.seed, number]).integers(n, size=n)
        times = np.bincount(each, minlength=n)
        return Drawn(keys, times.astype(np.min_scalar_type(int(times.max(initial=0)))))


def split_by_key(keys: HashArray, fractions: Sequence[float], seed: int) -> list[HashArray]:
    """Keys dealt out at random in parts of some fractions, whatever their order."""
    shares = np.asarray(fractions, dtype=float)
    if shares.ndim != 1 or not len(shares) or not (shares > 0).all() or abs(shares.sum() - 1) > 1e-9:
        raise DataError(f"fractions must be positive and sum to 1, such as (0.8, 0.2), not {fractions!r}")
    cuts = np.rint(np.cumsum(shares)[:-1] * len(keys)).astype(int)
    return np.split(np.random.default_rng(seed).permutation(np.sort(keys)), cuts)
