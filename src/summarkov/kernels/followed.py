"""How often one label follows another within a window: occurrences, sequences, and how long it takes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from summarkov.kernels.index import UNLIMITED, Index, Span
from summarkov.typing import BoolArray, IntArray

#: Whose followings are counted, beside a label: all positions, or all sequences.
EVERY_POSITION, EVERY_SEQUENCE = -1, -2
#: Lags up to 255 have bins of their own, longer ones share theirs with lags that are less than 1% longer.
LAG_BINS = 7296


def lag_bins(lags: IntArray) -> IntArray:
    """The bin of each lag; longer lags have later bins.

    >>> lag_bins(np.array([0, 255, 256, 257, 258, 2**62])).tolist()
    [0, 255, 256, 256, 257, 7168]
    """
    shift = np.zeros(len(lags), np.int64)
    while (long := lags >> shift >= 256).any():
        shift += long
    return np.asarray(128 * shift + (lags >> shift))


class FollowPair(NamedTuple):
    """Influencer z (or one of those above), target x, and the window: beyond a delay, up to a look-back."""

    z: int
    x: int
    delay: Span
    lookback: Span

    @classmethod
    def of(cls, row: IntArray) -> FollowPair:
        """From a row of numbers: z, x, the sizes of delay and look-back, and whether these are times."""
        z, x, delay, lookback, delay_in_time, in_time = row.tolist()
        in_time = bool(in_time) and lookback < UNLIMITED
        return cls(z, x, Span(delay, bool(delay_in_time)), Span(lookback, in_time))

    def over(self, unit: int) -> int:
        """How far after an occurrence its window is over, in positions or in units of time."""
        size, in_time = self.lookback
        return -(-size // unit) if in_time else size


class WholeSequences:
    """The positions of whole sequences, numbered through all of them; the last may be an end and no event."""

    def __init__(self, index: Index, complete: BoolArray) -> None:
        self.index, self.complete = index, complete
        placed = not index.in_rows
        #: The position of each row, where rows are none themselves.
        self.of = index.ticks.of if placed else None
        self.bounds = index.ticks.bounds if placed else index.offsets
        #: One past the last event of each sequence.
        self.stops = self.bounds[1:] - complete
        places = index.places
        self.times = None if places is None else index.ticks.times
        self.unit = 1 if places is None else places.unit
        self.attributes = None if places is None or not placed else places.attributes


def count_followed(
    index: Index, weights: IntArray | None, complete: BoolArray, pairs: IntArray
) -> tuple[IntArray, IntArray]:
    """Count followings in whole sequences.

    A row of ``pairs`` is an influencer z, a target x, a delay d and a look-back k, and whether d and k are
    times. ``complete`` tells of each sequence whether its last position is its end, which is no event; a
    window that lies beyond the last event of another is cut off.

    Returns ``sums[pair, 8]``, weighted: sequences with z, those in which x follows z, those with z and x,
    those of them in which the first z comes before the first x; occurrences of z, those that x follows; and
    the same two of those whose window is not cut off. For an attribute, and for every sequence, these are
    sequences with it, and those that contain x. And ``lags``, of which a row is a pair, 0 or 1, the bin of a
    lag, and a number: of occurrences (0) that x first follows after so long, (1) that x does not follow in
    a window that is cut off after so long.
    """
    whole, found = WholeSequences(index, complete), []
    sums = np.zeros((len(pairs), 8), np.int64)
    sequence = np.repeat(np.arange(len(complete)), np.diff(whole.bounds))
    each = np.ones(len(complete), np.int64) if weights is None else weights
    rows_of = np.repeat(np.arange(len(complete)), np.diff(index.offsets))
    for number, row in enumerate(pairs):
        pair = FollowPair.of(row)
        x = np.flatnonzero(index.codes == pair.x)
        x = x if whole.of is None else whole.of[x]
        first_x = np.full(len(complete), UNLIMITED)
        np.minimum.at(first_x, sequence[x], x)
        is_attribute = pair.z >= 0 and whole.attributes is not None and whole.attributes[pair.z]
        if pair.z == EVERY_SEQUENCE or is_attribute:
            some = np.arange(len(complete))
            if is_attribute:
                some = rows_of[index.codes == pair.z]
            sums[number, [0, 4, 6]] = each[some].sum()
            sums[number, [1, 5, 7]] = each[some[first_x[some] < UNLIMITED]].sum()
            continue
        if pair.z == EVERY_POSITION:
            at = np.arange(len(sequence))
            at = at[at < whole.stops[sequence]]
        else:
            at = np.flatnonzero(index.codes == pair.z)
            at = at if whole.of is None else whole.of[at]
            some, first = np.unique(sequence[at], return_index=True)
            both = first_x[some] < UNLIMITED
            sums[number, 0], sums[number, 2] = each[some].sum(), each[some[both]].sum()
            sums[number, 3] = each[some[both & (at[first] < first_x[some])]].sum()
        seen = _followed(whole, pair, at, x, sequence)
        if pair.z >= 0:
            sums[number, 1] = each[np.unique(sequence[at[seen.hit]])].sum()
        n = each[sequence[at]]
        sums[number, 4:] = [
            n.sum(),
            *(n[which].sum() for which in (seen.hit, seen.over, seen.hit & seen.over)),
        ]
        for kind, (which, lag) in enumerate(((seen.hit, seen.lag), (~seen.hit & ~seen.over, seen.later))):
            of_bin = np.zeros(LAG_BINS, np.int64)
            np.add.at(of_bin, lag_bins(lag[which]), n[which])
            used = np.flatnonzero(of_bin)
            rows = np.full((len(used), 4), (number, kind, 0, 0))
            rows[:, 2], rows[:, 3] = used, of_bin[used]
            found.append(rows)
    return sums, np.concatenate(found) if found else np.zeros((0, 4), np.int64)


class _Followed(NamedTuple):
    """Of some positions: whether x follows, after which lag; how much comes later, and if that is enough."""

    hit: BoolArray
    lag: IntArray
    later: IntArray
    over: BoolArray


def _followed(
    whole: WholeSequences, pair: FollowPair, at: IntArray, x: IntArray, sequence: IntArray
) -> _Followed:
    of = sequence[at]
    ends = whole.bounds[of + 1]
    first, beyond = (_beyond(whole, at, of, ends, span) for span in (pair.delay, pair.lookback))
    next_x = np.append(x, len(sequence))[np.searchsorted(x, first)]
    hit = next_x < beyond
    clock = np.arange(len(sequence))
    if pair.lookback.in_time:
        assert whole.times is not None
        clock = whole.times
    later = clock[whole.stops[of] - 1] - clock[at]
    lag = clock[np.where(hit, next_x, at)] - clock[at]
    return _Followed(hit, lag, later, whole.complete[of] | (later >= pair.over(whole.unit)))


def _beyond(whole: WholeSequences, at: IntArray, of: IntArray, ends: IntArray, span: Span) -> IntArray:
    """The first position that is further than a span after each, in its sequence or where that ends."""
    if span.in_time:
        assert whole.times is not None
        return whole.index.ticks.beyond(at, whole.times[at], of, span)
    return np.asarray(at + np.minimum(span.size, ends - at - 1) + 1)
