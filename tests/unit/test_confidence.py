"""Quantiles of the beta distribution, and credible intervals, against SciPy."""

import itertools

import numpy as np
import pytest
from scipy.stats import beta, dirichlet

from summarkov.confidence import credible_intervals
from summarkov.confidence.beta import beta_quantile
from summarkov.errors import SettingError

QUANTILES = (0.005, 0.025, 0.3, 0.5, 0.9, 0.975, 0.995)
SMALL = (0.1, 0.5, 1.0, 1.1, 2.0, 7.5, 60.1, 400.0, 1999.0)
LARGE = (2000.0, 2001.5, 1e4, 1e6, 1e8)


def grid(first, second):
    """All combinations as three flat arrays: q, a, b."""
    return (np.array(v) for v in zip(*itertools.product(QUANTILES, first, second), strict=True))


def test_small_parameters():
    q, a, b = grid(SMALL, SMALL)
    assert beta_quantile(q, a, b) == pytest.approx(beta.ppf(q, a, b), rel=1e-8, abs=1e-15)


def test_next_to_one():
    """Where the quantile is nearly 1, what is left of it is precise as well."""
    q, a, b = grid((30.1, 1000.0), (1.0, 2.0, 0.5))
    assert 1 - beta_quantile(q, a, b) == pytest.approx(beta.ppf(1 - q, b, a), rel=1e-6, abs=1e-15)


def test_one_large_parameter():
    """A label that is rare in much data: b is large, a is not."""
    q, a, b = grid((0.1, 1.0, 3.1, 250.0), LARGE)
    for x, y in ((a, b), (b, a)):
        error = np.abs(beta_quantile(q, x, y) - beta.ppf(q, x, y)) / beta.std(x, y)
        assert error.max() < 1e-4


def test_two_large_parameters():
    """The expansion that stands in from 2000 on is exact to 1e-5 standard deviations."""
    q, a, b = grid(LARGE, LARGE)
    error = np.abs(beta_quantile(q, a, b) - beta.ppf(q, a, b)) / beta.std(a, b)
    assert error.max() < 1e-5


def test_tiny_parameters():
    """Mass at both ends, as with alpha = 0.001 and few counts."""
    q, a, b = grid((1e-3, 1e-2), (1e-3, 1e-2, 1.0))
    assert beta_quantile(q, a, b) == pytest.approx(beta.ppf(q, a, b), rel=1e-6, abs=1e-12)


def test_closed_forms():
    q = np.linspace(0.01, 0.99, 50)
    assert beta_quantile(q, 1.0, 1.0) == pytest.approx(q, rel=1e-10)
    assert beta_quantile(q, 3.0, 1.0) == pytest.approx(q ** (1 / 3), rel=1e-10)
    assert beta_quantile(q, 1.0, 3.0) == pytest.approx(1 - (1 - q) ** (1 / 3), rel=1e-10)
    assert beta_quantile(q, 0.5, 0.5) == pytest.approx(np.sin(np.pi * q / 2) ** 2, rel=1e-10)
    assert beta_quantile(0.5, 42.0, 42.0) == pytest.approx(0.5, rel=1e-12)


def test_shapes():
    assert beta_quantile(0.5, 1.0, 1.0).shape == ()
    assert beta_quantile([0.1, 0.2], np.ones((3, 1)), 2.0).shape == (3, 2)
    assert beta_quantile(np.empty(0), 1.0, 1.0).shape == (0,)
    one_by_one = [float(beta_quantile(q, 3.3, 0.7)) for q in QUANTILES]
    assert beta_quantile(QUANTILES, 3.3, 0.7) == pytest.approx(one_by_one, rel=1e-12)


def test_intervals_are_those_of_the_marginals():
    counts, pseudo = np.array([[8, 2, 0], [0, 0, 0], [500, 3000, 4000]]), np.array([0.1, 1.0, 2.0])
    found = credible_intervals(counts, pseudo, level=0.9)
    a = counts + pseudo
    b = a.sum(axis=1, keepdims=True) - a
    assert found.shape == (3, 3, 2)
    assert found[..., 0] == pytest.approx(beta.ppf(0.05, a, b), rel=1e-6, abs=1e-12)
    assert found[..., 1] == pytest.approx(beta.ppf(0.95, a, b), rel=1e-6, abs=1e-12)


def test_intervals_cover_as_often_as_they_say():
    """Draw theta from the posterior itself: 95% of it must lie inside."""
    counts, pseudo = np.array([12, 5, 40]), np.array([0.1, 0.1, 0.1])
    drawn = dirichlet.rvs(counts + pseudo, size=40_000, random_state=11)
    low, high = np.moveaxis(credible_intervals(counts, pseudo), -1, 0)
    inside = ((low <= drawn) & (drawn <= high)).mean(axis=0)
    assert inside == pytest.approx([0.95] * 3, abs=0.005)


@pytest.mark.parametrize("level", [0, 1, -0.5, 95, float("nan")])
def test_levels_that_make_no_sense(level):
    with pytest.raises(SettingError, match="level must lie between 0 and 1, not "):
        credible_intervals([[1, 2]], np.ones(2), level)
