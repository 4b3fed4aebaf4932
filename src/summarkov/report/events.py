"""What the page shows of the events themselves: shares by lag against shuffled ones, and sequences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from summarkov.errors import SettingError
from summarkov.events import EventSequences
from summarkov.report.numbers import all_rounded
from summarkov.settings import check_whole
from summarkov.typing import BoolArray, IntArray

#: A profile reaches this many events back, and at most this many edges have one.
LAGS, MOST_EDGES = 10, 2000


def lag_content(events: EventSequences, edges: Sequence[tuple[int, int]]) -> dict[str, Any]:
    r"""For every edge Z → x and lag k: how often x stood k positions after a Z, and its share if shuffled.

    A position is an event, or several that happened together. If the positions of each sequence are put in
    random order, a pair of places k apart holds Z and x with probability (c_Z c_x - c) / (L (L - 1)), where
    c_Z and c_x are the positions with each, c those with both, in a sequence of L positions. It has L - k
    such pairs. The shuffled share is the ratio of two expectations:

    .. math:: \frac{\sum (L - k) (c_Z c_x - c) / (L (L - 1))}{\sum (L - k) c_Z / L}

    The page works out shares and intervals from ``hits`` and, for each influencer, ``n``.
    """
    chosen = list(edges[:MOST_EDGES])
    places = _Places(events)
    found: list[dict[str, Any]] = [{} for _ in chosen]
    n = {z: [len(places.after(places.of(z), k)) for k in range(1, LAGS + 1)] for z, _ in chosen}
    for x in dict.fromkeys(x for _, x in chosen):
        there = np.zeros(len(places.sequence), bool)
        there[places.of(x)] = True
        for i, (z, target) in enumerate(chosen):
            if target == x:
                hits = [int(there[places.after(places.of(z), k)].sum()) for k in range(1, LAGS + 1)]
                found[i] = {"hits": hits, "shuffled": all_rounded(_shuffled(places, z, x, there), 3)}
    return {"n": n, "edges": found}


class _Places:
    """The positions of events, numbered over all sequences: ``sequence[p]`` is that of position p."""

    def __init__(self, events: EventSequences) -> None:
        starts = np.ones(events.n_events, bool) if events.moments is None else events.moments.starts
        self.sequence = np.repeat(np.arange(len(events)), events.lengths)[starts]
        self.lengths = np.bincount(self.sequence, minlength=len(events))
        order = np.argsort(events.codes, kind="stable")
        self._places = (np.cumsum(starts) - 1)[order]
        self._first = np.searchsorted(events.codes[order], np.arange(len(events.labels) + 1))

    def of(self, label: int) -> IntArray:
        """The positions with a label."""
        return np.asarray(self._places[self._first[label] : self._first[label + 1]])

    def after(self, places: IntArray, k: int) -> IntArray:
        """The positions k after some, in the same sequences."""
        there = places[places + k < len(self.sequence)]
        return np.asarray(there[self.sequence[there + k] == self.sequence[there]] + k)


def _shuffled(places: _Places, z: int, x: int, there: BoolArray) -> list[float]:
    """The share of x, which is ``there``, k positions after a Z, were each sequence in random order."""
    of_z = places.of(z)
    rows, which, n_z = np.unique(places.sequence[of_z], return_inverse=True, return_counts=True)
    n_x = np.bincount(places.sequence[places.of(x)], minlength=len(places.lengths))[rows]
    both = np.bincount(which, weights=there[of_z], minlength=len(rows))
    length = places.lengths[rows].astype(float)
    found = []
    for k in range(1, LAGS + 1):
        pairs = np.maximum(length - k, 0)
        expected = float((pairs * n_z / length).sum())
        hits = float((pairs * (n_z * n_x - both) / np.maximum(length * (length - 1), 1)).sum())
        found.append(hits / expected if expected else 0.0)
    return found


#: A page holds at most this many sequences, and at most this many events of each.
MOST_SEQUENCES, MOST_EVENTS = 200, 300


def sequence_content(events: EventSequences | None, labels: tuple[str, ...], n: int) -> list[list[Any]]:
    """``n`` sequences, spread evenly over all that hold an event: name, codes, how many events were cut."""
    check_whole("sequences", n, 1, MOST_SEQUENCES)
    if events is None:
        raise SettingError("sequences are taken from the events: give these too (events=, --events)")
    known = events.recode(labels)
    some = np.flatnonzero(known.lengths > 0)
    chosen = some[np.unique(np.linspace(0, len(some) - 1, min(n, len(some))).round().astype(int))]
    found = []
    for number in chosen.tolist():
        start, stop = known.offsets[number], known.offsets[number + 1]
        codes = known.codes[start : min(stop, start + MOST_EVENTS)].tolist()
        found.append([known.ids[number], codes, int(stop - start) - len(codes)])
    return found
