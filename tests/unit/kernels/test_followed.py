"""Followings over long lags, and in times of a coarse unit: both kernels count the same."""

import numpy as np
import pytest

from summarkov.kernels import Index, edges
from summarkov.kernels.edges import lag_bins
from summarkov.kernels.index import UNLIMITED

try:
    from summarkov.kernels import native_kernels
except ImportError:
    native_kernels = None

BOTH = [
    pytest.param(edges, id="numpy"),
    pytest.param(
        native_kernels,
        id="native",
        marks=pytest.mark.skipif(native_kernels is None, reason="the C++ kernels were not built"),
    ),
]


def test_bins_of_lags_are_exact_where_they_are_short_and_in_order():
    lags = np.unique(np.concatenate([np.arange(3000), 2 ** np.arange(63), 2 ** np.arange(1, 63) - 1]))
    bins = lag_bins(lags)
    assert bins[:256].tolist() == list(range(256))
    assert (np.diff(bins) >= 0).all()
    assert bins.max() < edges.LAG_BINS
    for number in np.unique(bins):
        same = lags[bins == number]
        assert same.max() <= same.min() * 1.01


@pytest.mark.skipif(native_kernels is None, reason="the C++ kernels were not built")
@pytest.mark.parametrize("unit", [None, 1, 7])
def test_both_kernels_count_the_same_in_long_sequences(unit):
    rng = np.random.default_rng(3)
    lengths = np.array([1500, 0, 3, 700, 1, 40])
    offsets = np.append(0, np.cumsum(lengths))
    codes = rng.choice(4, size=lengths.sum(), p=[0.9, 0.08, 0.018, 0.002]).astype(np.int32)
    complete = np.array([False, False, True, True, False, False])
    codes[offsets[1:][complete] - 1] = 3
    times = np.concatenate([np.cumsum(rng.integers(0, 9, size=n)) for n in lengths])
    index = Index(codes, offsets, 4) if unit is None else Index(codes, offsets, 4, times=times, unit=unit)
    spans = [(0, 5, 0, 0), (2, 1000, 0, 0), (0, UNLIMITED, 0, 0)]
    if unit is not None:
        spans += [(0, 50, 0, 1), (9, 20_000, 1, 1), (3, UNLIMITED, 1, 1)]
    pairs = np.array([(z, x, *span) for z in (-2, -1, 0, 1, 2) for x in (1, 2) for span in spans])
    for weights in (None, np.array([2, 5, 1, 3, 7, 0])):
        (a, lags), (b, others) = (
            kernel.count_followed(index, weights, complete, pairs) for kernel in (edges, native_kernels)
        )
        assert a.tolist() == b.tolist()
        assert lags.tolist() == others.tolist()
    assert (lags[:, 2] > 255).any()


@pytest.mark.parametrize("kernel", BOTH)
def test_a_window_is_over_once_all_of_it_has_passed(kernel):
    """Times in steps of 10, a look-back of 25: x after 20 is in the window, which is over after 30 only."""
    times = np.array([0, 2, 0, 3])
    index = Index(np.array([0, 1, 0, 1], np.int32), np.array([0, 2, 4]), 2, times=times, unit=10)
    pairs = np.array([[0, 1, 0, 25, 0, 1]])
    sums, lags = kernel.count_followed(index, None, np.zeros(2, bool), pairs)
    assert sums.tolist() == [[2, 1, 2, 2, 2, 1, 1, 0]]
    assert lags.tolist() == [[0, 0, 2, 1]]


@pytest.mark.parametrize("kernel", BOTH)
def test_nothing_is_counted_in_no_sequences(kernel):
    index = Index(np.empty(0, np.int32), np.array([0]), 2)
    pairs = np.array([[z, 1, 0, 3, 0, 0] for z in (-2, -1, 0)])
    sums, lags = kernel.count_followed(index, None, np.zeros(0, bool), pairs)
    assert (sums.tolist(), lags.shape) == ([[0] * 8] * 3, (0, 4))
