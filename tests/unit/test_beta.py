"""Quantiles of the beta distribution, against SciPy."""

import numpy as np
import pytest
from scipy.stats import beta

from summarkov.confidence import credible_intervals
from summarkov.confidence.beta import beta_quantile

SEED = 20240607


@pytest.mark.parametrize("q", [0.001, 0.025, 0.4, 0.5, 0.6, 0.975, 0.999])
def test_quantiles_equal_those_of_scipy(q: float) -> None:
    rng = np.random.default_rng(SEED)
    a, b = 10 ** rng.uniform(-2, 3.2, 400), 10 ** rng.uniform(-2, 6, 400)
    np.testing.assert_allclose(beta_quantile(q, a, b), beta.ppf(q, a, b), rtol=1e-6, atol=1e-280)
    np.testing.assert_allclose(1 - beta_quantile(q, b, a), beta.ppf(1 - q, a, b), rtol=1e-6, atol=1e-12)


def test_large_parameters_use_an_expansion_that_is_close_enough() -> None:
    a, b = np.array([2000.0, 1e5, 1e9]), np.array([3000.0, 2000.0, 1e9])
    sd = beta.std(a, b)
    np.testing.assert_allclose(beta_quantile(0.025, a, b) / sd, beta.ppf(0.025, a, b) / sd, rtol=0, atol=1e-4)


def test_tiny_pseudo_counts_and_mass_at_one_end() -> None:
    assert beta_quantile([0.025, 0.975], 1e-12, 1.0).tolist() == [0.0, 0.0]
    assert beta_quantile([0.025, 0.975], 3.0, 0.0).tolist() == [1.0, 1.0]
    assert beta_quantile([0.025, 0.975], 0.0, 3.0).tolist() == [0.0, 0.0]
    assert beta_quantile(np.empty(0), 1.0, 1.0).tolist() == []


def test_intervals_of_an_outcome_without_alternative() -> None:
    assert credible_intervals([[5.0]], np.array([0.1])).tolist() == [[[1.0, 1.0]]]
