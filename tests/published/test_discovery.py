"""The paper's discovery experiment: are the influencers found, given ever more data?

Dynamics of the appendix, sequences of 10 events, look-back 3, alpha 0.1, gamma 1, target A, truth {B, C}. The
figure is the mean F1 score over seeds 0..39, and must lie within two standard errors of the known one. (The
paper reports .23, .59, .69, .93, 1.)
"""

import numpy as np
import pytest

import summarkov as sm

SEEDS = range(40)
TRUTH = {"B", "C"}


@pytest.fixture(scope="module")
def dynamics():
    table_a = {(0, 0): 0.3, (0, 1): 0.1, (1, 0): 0.35, (1, 1): 0.2}
    table_b = {(0, 0): 0.1, (0, 1): 0.3, (1, 0): 0.05, (1, 1): 0.2}
    rules = {"A": (("B", "C"), table_a), "B": (("B", "C"), table_b), "C": 0.3, "D": 0.2, "E": 0.1}
    return sm.Dynamics(rules, lookback=3)


def f1(found):
    """Harmonic mean of precision and recall: 2 |hits| / (|found| + |truth|); 0 for an empty set."""
    return 2 * len(TRUTH & set(found)) / (len(found) + len(TRUTH))


def f1_scores(dynamics, n_sequences):
    return np.array(
        [
            f1(sm.BSuMM("A", lookback=3, alpha=0.1, gamma=1.0, false_edges=None).fit(data).influencers_)
            for data in (dynamics.simulate(n_sequences, 10, seed) for seed in SEEDS)
        ]
    )


def test_the_measure():
    assert [f1(found) for found in ((), ("B",), ("A", "D"), ("B", "C"), ("B", "C", "D", "E"))] == (
        pytest.approx([0, 2 / 3, 0, 1, 2 / 3], rel=1e-12)
    )


@pytest.mark.parametrize(("n_sequences", "figure"), [(10, 0.375), (50, 0.725), (100, 0.817)])
def test_little_data(dynamics, n_sequences, figure):
    scores = f1_scores(dynamics, n_sequences)
    standard_error = scores.std(ddof=1) / np.sqrt(len(SEEDS))
    print(f"K = {n_sequences}: mean F1 {scores.mean():.4f}, standard error {standard_error:.4f}, seeds 0..39")
    assert 0 < standard_error < 0.1
    assert scores.mean() == pytest.approx(figure, abs=2 * standard_error)


@pytest.mark.parametrize("n_sequences", [500, 1000])
def test_much_data(dynamics, n_sequences):
    """Every run finds the truth, so the standard error is 0 and nothing but a mean of 1 will do.

    The seeds are fixed, so this is no more of a gamble than any other test.
    """
    assert f1_scores(dynamics, n_sequences).tolist() == [1.0] * len(SEEDS)
