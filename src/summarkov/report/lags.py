"""What the page shows of the events themselves: the share of a target by how long ago its influencer was."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from summarkov.events import EventSequences
from summarkov.settings import Duration
from summarkov.typing import BoolArray, FloatArray, IntArray
from summarkov.wording import all_rounded

#: A profile has this many steps, of one event or of some time, and at most this many edges have one.
LAGS, MOST_EDGES = 10, 2000
#: Lengths of time that people like to count in, in billionths: 1, 2, 5 ... of each unit.
_ROUND = [
    unit * 10**9 * n
    for unit, counts in (
        (1, (1, 2, 5, 10, 15, 30)),
        (60, (1, 2, 5, 10, 15, 30)),
        (3600, (1, 2, 3, 4, 6, 12)),
        (86400, (1, 2, 5, 7, 14, 30)),
    )
    for n in counts
]


def lag_content(
    events: EventSequences,
    edges: Sequence[tuple[int, int]],
    lookbacks: Sequence[int | None] | None = None,
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
    chosen = list(edges[:MOST_EDGES])
    places = _Places(events)
    asked = [None] * len(chosen) if lookbacks is None else lookbacks[: len(chosen)]
    widths = [step_of(k) if isinstance(k, Duration) and places.times is not None else None for k in asked]
    n = {z: places.hits(z, None).tolist() for (z, _), width in zip(chosen, widths, strict=True) if not width}
    found: list[dict[str, Any]] = [{} for _ in chosen]
    for x in dict.fromkeys(x for _, x in chosen):
        there = np.zeros(len(places.sequence), bool)
        there[places.of(x)] = True
        for i, (z, target) in enumerate(chosen):
            if target == x:
                hits = places.hits(z, widths[i], there).tolist()
                shuffled = _shuffled(places, z, x, there, places.pairs(widths[i]))
                found[i] = {"hits": hits, "shuffled": all_rounded(shuffled, 3)}
                if (width := widths[i]) is not None:
                    found[i] |= {"n": places.hits(z, width).tolist(), "width": width // 1000}
    return {"n": n, "edges": found}


def step_of(lookback: Duration) -> int:
    """How long the steps of a profile are, in billionths: round, and some of them make the look-back.

    >>> [step_of(Duration.of(each, "lookback")) // 10**9 for each in ("6h", "1d", "7 days", "90 s", "8")]
    [3600, 14400, 86400, 15, 1]
    """
    if not lookback.is_clock:
        return max(1, int(lookback) // (6 if int(lookback) % 6 == 0 else 8 if int(lookback) % 8 == 0 else 5))
    parts = [int(lookback) // n for n in (6, 7, 5, 8, 4, 3, 2, 1) if int(lookback) % n == 0]
    return max(1, next((part for part in parts if part in _ROUND), int(lookback) // 5))


class _Places:
    """The positions of events, numbered over all sequences: ``sequence[p]`` is that of position p."""

    def __init__(self, events: EventSequences) -> None:
        starts = np.ones(events.n_events, bool) if events.moments is None else events.moments.starts
        self.sequence = np.repeat(np.arange(len(events)), events.lengths)[starts]
        self.lengths = np.bincount(self.sequence, minlength=len(events))
        self.times = None if events.times is None else events.times[starts]
        self.unit = 1 if events.moments is None else events.moments.unit.size
        order = np.argsort(events.codes, kind="stable")
        self._places = (np.cumsum(starts) - 1)[order]
        self._first = np.searchsorted(events.codes[order], np.arange(len(events.labels) + 1))

    def of(self, label: int) -> IntArray:
        """The positions with a label."""
        return np.asarray(self._places[self._first[label] : self._first[label + 1]])

    def hits(self, z: int, width: int | None, there: BoolArray | None = None) -> IntArray:
        """How many positions lie in each step after a Z, or how many of these are ``there``."""
        at = self.of(z)
        if width is None:
            after = [self._after(at, k) for k in range(1, LAGS + 1)]
            return np.array([len(each) if there is None else int(there[each].sum()) for each in after])
        return np.asarray(np.diff(self._until(at, width, there)).sum(axis=0))

    def pairs(self, width: int | None) -> FloatArray:
        """How many pairs of positions of each sequence are k steps apart, ``[sequence, k]``."""
        if width is None:
            return np.asarray(np.maximum(self.lengths[:, None] - np.arange(1, LAGS + 1), 0), float)
        apart = np.diff(self._until(np.arange(len(self.sequence)), width, None))
        return np.stack(
            [np.bincount(self.sequence, each, minlength=len(self.lengths)) for each in apart.T], axis=1
        )

    def _after(self, places: IntArray, k: int) -> IntArray:
        """The positions k after some, in the same sequences."""
        there = places[places + k < len(self.sequence)]
        return np.asarray(there[self.sequence[there + k] == self.sequence[there]] + k)

    def _until(self, at: IntArray, width: int, there: BoolArray | None) -> IntArray:
        """How many positions, or how many that are ``there``, stand after some until the end of each step.

        What has the same time stands at the start of the first step, which counts none of it.
        """
        assert self.times is not None
        last = np.searchsorted(self.sequence, self.sequence[at], side="right")
        ends = np.empty((len(at), LAGS + 1), np.int64)
        for k in range(LAGS + 1):
            low, high = at.copy(), last.copy()  # all binary searches at once
            while (searching := low < high).any():
                middle = np.where(searching, (low + high) // 2, 0)
                near = searching & (self.times[middle] - self.times[at] <= k * width // self.unit)
                low, high = np.where(near, middle + 1, low), np.where(searching & ~near, middle, high)
            ends[:, k] = low
        counts = np.append(0, np.cumsum(np.ones(len(self.sequence), int) if there is None else there))
        return np.asarray(counts[ends])


def _shuffled(places: _Places, z: int, x: int, there: BoolArray, pairs: FloatArray) -> list[float]:
    """The share of x, which is ``there``, k steps after a Z, were each sequence in random order."""
    of_z = places.of(z)
    rows, which, n_z = np.unique(places.sequence[of_z], return_inverse=True, return_counts=True)
    n_x = np.bincount(places.sequence[places.of(x)], minlength=len(places.lengths))[rows]
    both = np.bincount(which, weights=there[of_z], minlength=len(rows))
    length = places.lengths[rows].astype(float)
    expected = (n_z / length) @ pairs[rows]
    hits = ((n_z * n_x - both) / np.maximum(length * (length - 1), 1)) @ pairs[rows]
    shares = np.divide(hits, expected, out=np.zeros(LAGS), where=expected > 0)
    return [float(share) for share in shares]
