"""What the page shows of the events themselves: sequences, times, the share of a target by lag; groups."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from summarkov.confidence import Difference
from summarkov.errors import SettingError
from summarkov.events import EventSequences
from summarkov.explain import EdgeDifference, GroupComparison, Influence, SeveralGroups
from summarkov.settings import Duration, check_whole
from summarkov.typing import BoolArray, FloatArray, IntArray
from summarkov.wording import all_rounded, rounded, whole

#: A page holds at most this many sequences, and at most this many events of each.
MOST_SEQUENCES, MOST_EVENTS = 200, 300
#: Times in the page are whole numbers of millionths of a second, or of one: times here are in billionths.
_BILLIONTHS = 1000


def sequence_content(
    events: EventSequences | None,
    labels: Sequence[str],
    n: int,
    *,
    is_timed: bool = False,
    attributes: Sequence[str] = (),
) -> list[list[Any]]:
    """``n`` sequences, spread evenly over all that hold an event: name, codes, how many events were cut.

    Where there is more to tell, it follows: ``joined``, the events that happened together with the one
    before; ``gaps``, how much time passed before each; ``given``, the attributes that hold.
    """
    check_whole("sequences", n, 1, MOST_SEQUENCES)
    if events is None:
        raise SettingError("sequences are taken from the events: give these too (events=, --events)")
    if is_timed and events.times is None:
        raise SettingError(
            "the model looks back over times, and these events have none; read them with times=True (--times)"
        )
    if attributes and events.attributes is None:
        columns = sorted({name.partition("=")[0] for name in attributes})
        raise SettingError(
            "the model looks at attributes, and these events have none; read them with "
            f"attributes={columns!r} ({' '.join(f'--attribute {column}' for column in columns)})"
        )
    known = events.with_attributes(None).recode(labels)
    found = []
    for number in spread(np.flatnonzero(known.lengths > 0), n).tolist():
        start, stop = known.offsets[number], known.offsets[number + 1]
        rows = slice(start, min(stop, start + MOST_EVENTS))
        codes = known.codes[rows].tolist()
        more = _more(known, rows, is_timed) | _given(events, number, labels)
        found.append([known.ids[number], codes, int(stop - start) - len(codes), *([more] if more else [])])
    return found


def spread(places: IntArray, most: int) -> IntArray:
    """At most ``most`` of some places, spread evenly."""
    some = np.linspace(0, len(places) - 1, min(most, len(places)))
    return np.asarray(places[np.unique(some.round().astype(int))])


def _more(events: EventSequences, rows: slice, is_timed: bool) -> dict[str, Any]:
    moments, found = events.moments, {}
    if moments is not None and moments.has_ticks:
        found["joined"] = np.flatnonzero(~moments.starts[rows]).tolist()
    if moments is not None and moments.times is not None and is_timed:
        found["gaps"] = _millionths(np.diff(moments.times[rows], prepend=moments.times[rows][:1]), moments)
    return found


def _millionths(steps: IntArray, moments: Any) -> list[int]:
    """Differences of times from millionth to millionth, so that rounding does not add up."""
    at = [round(t * moments.unit.size / _BILLIONTHS) for t in np.cumsum(steps).tolist()]
    return [b - a for a, b in zip([0, *at], at, strict=False)]


def _given(events: EventSequences, number: int, labels: Sequence[str]) -> dict[str, Any]:
    given = events.attributes
    if given is None:
        return {}
    names = [name for name, holds in zip(given.names, given.present[number], strict=True) if holds]
    return {"given": [labels.index(name) for name in names if name in labels]}


def clock_content(durations: Iterable[Duration], cases: Sequence[list[Any]] | None) -> dict[str, Any] | None:
    """How the page measures times: in steps, the longest of which all times are multiples.

    ``spans`` are the look-backs and delays in steps, by how they were written. The gaps between the events of
    sequences become steps too.
    """
    spans = {each.text: round(int(each) / _BILLIONTHS) for each in durations}
    if not spans:
        return None
    told = [case[3]["gaps"] for case in cases or () if len(case) > 3 and "gaps" in case[3]]
    step = math.gcd(*spans.values(), *(gap for gaps in told for gap in gaps)) or 1
    for gaps in told:
        gaps[:] = [gap // step for gap in gaps]
    return {
        "step": step,
        "isClock": all(each.is_clock for each in durations),
        "spans": {text: span // step for text, span in spans.items()},
    }


def groups_content(given: Any, labels: Sequence[str]) -> list[dict[str, Any]]:
    """What ``compare_groups`` found, once or several times.

    A label has its reach and its share of events in each group, and by how many times each differs; an edge
    has what was counted in each group, and by how many times the ratio differs.
    """
    if isinstance(given, SeveralGroups):
        given = given.comparisons
    found = [given] if isinstance(given, GroupComparison) or not isinstance(given, Iterable) else list(given)
    codes = {label: code for code, label in enumerate(labels)}
    for each in found:
        if not isinstance(each, GroupComparison):
            raise SettingError(
                f"groups must be what compare_groups returned, or several of these, not {type(each).__name__}"
            )
        if unknown := {one.label for one in each.labels} - codes.keys():
            raise SettingError(
                f"the groups have labels that the model does not know, such as {min(unknown)!r}; learn the "
                "model from the sequences of all groups"
            )
    return [_comparison(each, codes) for each in found]


def _comparison(found: GroupComparison, codes: Mapping[str, int]) -> dict[str, Any]:
    return {
        "names": list(found.names),
        "sizes": list(found.sizes),
        "level": found.level,
        "labels": [
            [
                codes[one.label],
                all_rounded((one.reach_first, one.reach_second), 4),
                _limits(one.reach),
                all_rounded((one.rate_first, one.rate_second), 4),
                _limits(one.rate),
            ]
            for one in found.labels
        ],
        "edges": [_edge(edge, codes) for edge in found.edges],
    }


def _edge(edge: EdgeDifference, codes: Mapping[str, int]) -> list[Any]:
    groups = [_in_group(edge.first, edge.in_first), _in_group(edge.second, edge.in_second)]
    return [codes[edge.influencer], codes[edge.target], groups, _limits(edge.change)]


def _in_group(edge: Influence, is_found: bool) -> list[Any]:
    """The ratio with its interval, hits and positions after the influencer and otherwise, and whether the
    graph of the group alone has the edge.
    """
    counts = (edge.hits_with, edge.n_with, edge.hits_without, edge.n_without)
    return [*_limits(edge), *(whole(n) for n in counts), is_found]


def _limits(found: Difference | Influence) -> list[Any]:
    return numbers_or_none((found.ratio, found.low, found.high), 4)


def numbers_or_none(values: Iterable[float], digits: int) -> list[Any]:
    """Numbers as JSON has them: none for what is not known, and more than 1e300 for what has no end."""
    return [None if math.isnan(value) else rounded(min(value, 1e301), digits) for value in values]


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
