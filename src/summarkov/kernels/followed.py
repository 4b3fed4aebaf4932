"""How often one label follows another within a window: occurrences, sequences, and how long it takes."""

from __future__ import annotations

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
    found, stops = [], index.bounds[1:] - complete  # one past the last event of each sequence
    sums = np.zeros((len(pairs), 8), np.int64)
    sequence = np.repeat(np.arange(len(complete)), np.diff(index.bounds))  # of each position
    each = np.ones(len(complete), np.int64) if weights is None else weights
    for number, (z, label, *window) in enumerate(pairs.tolist()):
        x = index.tick[index.codes == label]
        first_x = np.full(len(complete), UNLIMITED)
        np.minimum.at(first_x, sequence[x], x)
        is_attribute = z >= 0 and index.attributes is not None and index.attributes[z]
        if z == EVERY_SEQUENCE or is_attribute:
            some = np.arange(len(complete))
            if is_attribute:
                some = index.sequence[index.codes == z]
            sums[number, [0, 4, 6]] = each[some].sum()
            sums[number, [1, 5, 7]] = each[some[first_x[some] < UNLIMITED]].sum()
            continue
        if z == EVERY_POSITION:
            at = np.arange(len(sequence))
            at = at[at < stops[sequence]]
        else:
            at = index.tick[index.codes == z]
            some, first = np.unique(sequence[at], return_index=True)
            both = first_x[some] < UNLIMITED
            sums[number, 0], sums[number, 2] = each[some].sum(), each[some[both]].sum()
            sums[number, 3] = each[some[both & (at[first] < first_x[some])]].sum()
        delay, lookback, delay_in_time, in_time = window
        in_time = in_time and lookback < UNLIMITED
        of, clock = sequence[at], index.tick_times if in_time else np.arange(len(sequence))
        assert clock is not None
        when = None if index.tick_times is None else index.tick_times[at]
        first, beyond = (
            index.beyond(at, when, of, span)
            for span in (Span(delay, bool(delay_in_time)), Span(lookback, bool(in_time)))
        )
        next_x = np.append(x, len(sequence))[np.searchsorted(x, first)]
        hit = next_x < beyond
        later = clock[stops[of] - 1] - clock[at]  # how long the sequence goes on
        lag = clock[np.where(hit, next_x, at)] - clock[at]
        over = complete[of] | (later >= (-(-lookback // index.unit) if in_time else lookback))
        if z >= 0:
            sums[number, 1] = each[np.unique(of[hit])].sum()
        n = each[of]
        sums[number, 4:] = [n.sum(), *(n[which].sum() for which in (hit, over, hit & over))]
        for kind, (which, lags) in enumerate(((hit, lag), (~hit & ~over, later))):
            of_bin = np.zeros(LAG_BINS, np.int64)
            np.add.at(of_bin, lag_bins(lags[which]), n[which])
            used = np.flatnonzero(of_bin)
            rows = np.full((len(used), 4), (number, kind, 0, 0))
            rows[:, 2], rows[:, 3] = used, of_bin[used]
            found.append(rows)
    return sums, np.concatenate(found) if found else np.zeros((0, 4), np.int64)
