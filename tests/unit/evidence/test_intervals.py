"""Intervals of probabilities."""

import numpy as np
import pytest
from scipy.stats import beta, binom

from summarkov.errors import SettingError
from summarkov.evidence import exact_intervals


def test_against_scipy():
    hits, n = np.array([0, 1, 7, 30, 100]), np.array([100, 3, 10, 31, 100])
    found = exact_intervals(hits, n, level=0.9)
    low = [0.0, *(beta.ppf(0.05, k, m - k + 1) for k, m in zip(hits[1:], n[1:], strict=True))]
    high = [*(beta.ppf(0.95, k + 1, m - k) for k, m in zip(hits[:-1], n[:-1], strict=True)), 1.0]
    np.testing.assert_allclose(found, np.column_stack([low, high]), rtol=1e-9)


def test_nothing_seen_says_nothing_and_nothing_hit_leaves_room():
    assert exact_intervals(0, 0).tolist() == [0.0, 1.0]
    assert exact_intervals(0, 100)[1] == pytest.approx(1 - 0.025**0.01, rel=1e-9)  # 0.036
    assert exact_intervals(100, 100)[0] == pytest.approx(0.025**0.01, rel=1e-9)


def test_weights_may_make_counts_fractional():
    low, high = exact_intervals(2.5, 10.5)
    assert exact_intervals(2, 10)[0] < low < 2.5 / 10.5 < high < exact_intervals(3, 10)[1]


@pytest.mark.parametrize("n", [5, 30, 200])
def test_coverage_is_never_less_than_promised(n):
    k = np.arange(n + 1)
    low, high = exact_intervals(k, n).T
    for p in np.linspace(0.5 / n, 1 - 0.5 / n, 101):
        assert binom.pmf(k, n, p)[(low <= p) & (p <= high)].sum() >= 0.95


def test_large_counts():
    low, high = exact_intervals(3e8, 1e9)
    assert low < 0.3 < high
    assert high - low < 1e-4


@pytest.mark.parametrize("level", [0, 1, -0.1, 1.5])
def test_levels(level):
    with pytest.raises(SettingError, match="level must be a number above 0 and below 1"):
        exact_intervals(1, 2, level)
