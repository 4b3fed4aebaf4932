"""Hashes of texts that are the same in every process."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b

import numpy as np
import numpy.typing as npt


def stable_hashes(texts: Iterable[str]) -> npt.NDArray[np.uint64]:
    """A hash of 64 bits for every text.

    Python's own ``hash`` depends on PYTHONHASHSEED, and weaker hashes let a file be made whose cases all
    have the same one.

    >>> [hex(number) for number in stable_hashes(["a", "b"])]
    ['0x2f42665b399ef840', '0x754f854de3c27284']
    """
    each = b"".join(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest() for text in texts)
    return np.frombuffer(each, "<u8").astype(np.uint64)
