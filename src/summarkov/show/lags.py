"""How often a target stands so many steps after its influencer, against the same sequences shuffled."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from summarkov.events import EventSequences
from summarkov.settings import Duration
from summarkov.typing import BoolArray, FloatArray, IntArray
from summarkov.wording import rounded

#: A profile has this many steps, of one event or of some time, and at most this many edges have one.
LAGS, MOST_EDGES = 10, 2000
#: Lengths of time that people like to count in, in seconds.
_ROUND = {unit * n for unit in (1, 60, 3600, 86400) for n in (1, 2, 3, 4, 5, 6, 7, 10, 12, 14, 15, 30)}


def spread(places: IntArray, most: int) -> IntArray:
    """At most ``most`` of some places, spread evenly."""
    some = np.linspace(0, len(places) - 1, min(most, len(places)))
    return np.asarray(places[np.unique(some.round().astype(int))])


def lag_profiles(
    events: EventSequences, edges: Sequence[tuple[int, int]], lookbacks: Sequence[int | None] | None = None
) -> dict[str, Any]:
    r"""For every edge Z → x and step k: how often x stood k steps after a Z, and its share if shuffled.

    A step is a position: an event, or several that happened together. Where the look-back of the edge is a
    time and the events have times, it is a stretch of time, and all positions in it count. If the positions
    of each sequence are put in random order, a pair of places holds Z and x with probability
    (c_Z c_x - c) / (L (L - 1)), where c_Z and c_x are the positions with each, c those with both, in a
    sequence of L positions. If it has m pairs of places that are k steps apart (L - k, or by the times), the
    shuffled share is the ratio of two expectations:

    .. math:: \frac{\sum m (c_Z c_x - c) / (L (L - 1))}{\sum m c_Z / L}

    The page works out shares and intervals from ``hits`` and, for each influencer, ``n``; edges in time have
    an ``n`` of their own, and the ``width`` of a step in millionths.
    """
    places, chosen = _Places(events), list(edges[:MOST_EDGES])
    asked = [None] * len(chosen) if lookbacks is None else lookbacks[: len(chosen)]
    widths = [step_of(k) if isinstance(k, Duration) and places.times is not None else None for k in asked]
    pairs = {width: places.pairs(width) for width in set(widths)}
    n = {z: places.after(z, None).tolist() for (z, _), width in zip(chosen, widths, strict=True) if not width}
    found = []
    for (z, x), width in zip(chosen, widths, strict=True):
        there = places.there(x)
        hits, shuffled = places.after(z, width, there), _shuffled(places, z, x, there, pairs[width])
        profile = {"hits": hits.tolist(), "shuffled": [rounded(p, 3) for p in shuffled]}
        if width is not None:
            profile |= {"n": places.after(z, width).tolist(), "width": width // 1000}
        found.append(profile)
    return {"n": n, "edges": found}


def step_of(lookback: Duration) -> int:
    """How long the steps of a profile are, in billionths: round, and some of them make the look-back.

    >>> [step_of(Duration.of(each, "lookback")) // 10**9 for each in ("6h", "1d", "7 days", "90 s", "8")]
    [3600, 14400, 86400, 15, 1]
    """
    span = int(lookback)
    if not lookback.is_clock:
        return max(1, span // next((n for n in (6, 8) if span % n == 0), 5))
    parts = [span // n for n in (6, 7, 5, 8, 4, 3, 2, 1) if span % n == 0]
    return max(1, next((part for part in parts if part % 10**9 == 0 and part // 10**9 in _ROUND), span // 5))


class _Places:
    """The positions of events, numbered over all sequences: ``sequence[p]`` is that of position p."""

    def __init__(self, events: EventSequences) -> None:
        starts = events.moments.starts
        self.sequence = np.repeat(np.arange(len(events)), events.lengths)[starts]
        self.lengths = np.bincount(self.sequence, minlength=len(events))
        self.times = None if events.times is None else events.times[starts]
        self.unit = events.moments.unit.size
        order = np.argsort(events.codes, kind="stable")
        self._places = (np.cumsum(starts) - 1)[order]
        self._first = np.searchsorted(events.codes[order], np.arange(len(events.labels) + 1))

    def of(self, label: int) -> IntArray:
        """The positions with a label."""
        return np.asarray(self._places[self._first[label] : self._first[label + 1]])

    def there(self, label: int) -> BoolArray:
        """Whether each position has a label."""
        found = np.zeros(len(self.sequence), bool)
        found[self.of(label)] = True
        return found

    def after(self, z: int, width: int | None, there: BoolArray | None = None) -> IntArray:
        """How many positions, or how many that are ``there``, lie in each step after a label."""
        return np.asarray(self._steps(self.of(z), width, there).sum(axis=0))

    def _steps(self, at: IntArray, width: int | None, there: BoolArray | None = None) -> IntArray:
        """The same after each of some positions, ``[at, step]``.

        What has the same time stands at the start of the first step, which counts none of it.
        """
        last = np.searchsorted(self.sequence, self.sequence[at], side="right")
        steps = [self._until(at, last, k, width) for k in range(LAGS + 1)]
        counts = np.append(0, np.cumsum(np.ones(len(self.sequence), int) if there is None else there))
        return np.diff(counts[np.stack(steps, axis=1)])

    def _until(self, at: IntArray, last: IntArray, k: int, width: int | None) -> IntArray:
        """Where k steps after each position end, in its sequence."""
        if width is None or self.times is None:
            return np.minimum(at + k + 1, last)
        low, high = at.copy(), last.copy()  # all binary searches at once
        while (searching := low < high).any():
            middle = np.where(searching, (low + high) // 2, 0)
            near = searching & (self.times[middle] - self.times[at] <= k * width // self.unit)
            low, high = np.where(near, middle + 1, low), np.where(searching & ~near, middle, high)
        return low

    def pairs(self, width: int | None) -> FloatArray:
        """How many pairs of positions of each sequence are k steps apart, ``[sequence, k]``."""
        apart = self._steps(np.arange(len(self.sequence)), width)
        return np.stack([np.bincount(self.sequence, each, len(self.lengths)) for each in apart.T], axis=1)


def _shuffled(places: _Places, z: int, x: int, there: BoolArray, pairs: FloatArray) -> list[float]:
    """The share of x, which is ``there``, k steps after a Z, were each sequence in random order."""
    of_z = places.of(z)
    rows, which, n_z = np.unique(places.sequence[of_z], return_inverse=True, return_counts=True)
    n_x = np.bincount(places.sequence[places.of(x)], minlength=len(places.lengths))[rows]
    both = np.bincount(which, weights=there[of_z], minlength=len(rows))
    length = places.lengths[rows].astype(float)
    expected = (n_z / length) @ pairs[rows]
    hits = ((n_z * n_x - both) / np.maximum(length * (length - 1), 1)) @ pairs[rows]
    shares: list[float] = np.divide(hits, expected, out=np.zeros(LAGS), where=expected > 0).tolist()
    return shares
