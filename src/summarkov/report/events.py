"""What the page shows of the events themselves: shares by lag against shuffled ones, and sequences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from summarkov.errors import SettingError
from summarkov.events import EventSequences
from summarkov.report.numbers import all_rounded
from summarkov.settings import check_whole
from summarkov.typing import FloatArray, IntArray

#: A profile reaches this many events back, and at most this many edges have one.
LAGS, MOST_EDGES = 10, 2000


def lag_content(events: EventSequences, edges: Sequence[tuple[int, int]]) -> dict[str, Any]:
    r"""For every edge Z → x and lag k: the share of x among the events k after a Z, observed and shuffled.

    If the events of each sequence are put in random order, a pair of places k apart holds Z and x with
    probability c_Z c_x / (L (L - 1)), where c are the counts in a sequence of length L; where x is Z, c_Z - 1
    stands for c_x. A sequence has L - k such pairs. The shuffled share is the ratio of two expectations:

    .. math:: \frac{\sum (L - k) c_Z c_x / (L (L - 1))}{\sum (L - k) c_Z / L}

    The page works out shares and intervals from ``hits`` and, for each influencer, ``n``.
    """
    chosen = list(edges[:MOST_EDGES])
    z, x = np.array(chosen, dtype=np.int64).reshape(-1, 2).T
    hits, n = _counts(events, z, x)
    shuffled = _shuffled(events, z, x)
    return {
        "n": dict(zip(z.tolist(), n.tolist(), strict=True)),
        "edges": [
            {"hits": hits[i].tolist(), "shuffled": all_rounded(shuffled[i].tolist(), 3)}
            for i in range(len(chosen))
        ],
    }


def _counts(events: EventSequences, z: IntArray, x: IntArray) -> tuple[IntArray, IntArray]:
    """How often x, and anything, stood k events after Z; one row per edge, one column per lag."""
    m, codes = len(events.labels), events.codes.astype(np.int64)
    sequence = np.repeat(np.arange(len(events)), events.lengths)
    hits, n = np.zeros((len(z), LAGS), np.int64), np.zeros((len(z), LAGS), np.int64)
    for k in range(1, LAGS + 1):
        together = sequence[k:] == sequence[:-k]
        before, after = codes[:-k][together], codes[k:][together]
        pairs, found = np.unique(before * m + after, return_counts=True)
        where = np.minimum(np.searchsorted(pairs, z * m + x), max(len(pairs) - 1, 0))
        if len(pairs):
            hits[:, k - 1] = np.where(pairs[where] == z * m + x, found[where], 0)
        n[:, k - 1] = np.bincount(before, minlength=m)[z]
    return hits, n


def _shuffled(events: EventSequences, z: IntArray, x: IntArray) -> FloatArray:
    """The share of x among the events k after a Z, were each sequence in random order."""
    length, m, n = events.lengths.astype(float), len(events.labels), len(events)
    sequence = np.repeat(np.arange(n), events.lengths)
    # how often each label occurs in each sequence: sorted by label, then by sequence
    cells, counts = np.unique(events.codes.astype(np.int64) * n + sequence, return_counts=True)
    first = np.searchsorted(cells, np.arange(m + 1) * n)
    found = np.zeros((len(z), LAGS))
    for i, (a, b) in enumerate(zip(z.tolist(), x.tolist(), strict=True)):
        rows, n_z = cells[first[a] : first[a + 1]] - a * n, counts[first[a] : first[a + 1]]
        where = np.minimum(np.searchsorted(cells, b * n + rows), len(cells) - 1)
        n_x = np.where(cells[where] == b * n + rows, counts[where], 0) - (a == b)
        for k in range(1, LAGS + 1):
            pairs = np.maximum(length[rows] - k, 0)
            expected = float((pairs * n_z / length[rows]).sum())
            both = float((pairs * n_z * n_x / np.maximum(length[rows] * (length[rows] - 1), 1)).sum())
            found[i, k - 1] = both / expected if expected else 0.0
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
