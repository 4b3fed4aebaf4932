"""Many irrelevant labels: half of all positions hold one of 300 that mean nothing.

Appendix dynamics given the last 3 positions, sequences of 20 events, target A, truth {B, C}, seeds 0..19,
with the default settings.
"""

import functools

import numpy as np

import summarkov as sm

TRUTH = {"B", "C"}
TABLES = {  # by whether B and C are among the last 3
    "A": {(0, 0): 0.3, (0, 1): 0.1, (1, 0): 0.35, (1, 1): 0.2},
    "B": {(0, 0): 0.1, (0, 1): 0.3, (1, 0): 0.05, (1, 1): 0.2},
}
IRRELEVANT = [f"irrelevant {i}" for i in range(300)]


@functools.cache
def simulate(n_sequences, seed):
    """Position by position, in all sequences: one of the irrelevant labels, or a draw from the dynamics."""
    rng = np.random.default_rng(seed)
    codes = np.zeros((n_sequences, 20), int)
    for at in range(20):
        recent = codes[:, max(0, at - 3) : at]
        seen = zip(*((recent == z).any(axis=1).astype(int).tolist() for z in (1, 2)), strict=True)
        chance = np.array([[TABLES["A"][state], TABLES["B"][state], 0.3, 0.2, 0.1] for state in seen])
        drawn = (rng.random((n_sequences, 1)) * chance.sum(axis=1)[:, None] > chance.cumsum(axis=1)).sum(
            axis=1
        )
        irrelevant = rng.integers(5, 305, n_sequences)
        codes[:, at] = np.where(rng.random(n_sequences) < 0.5, irrelevant, drawn)
    names = np.array([*"ABCDE", *IRRELEVANT])
    return sm.read_events(names[codes].tolist())


def measure(n_sequences, **settings):
    """Mean precision and F1 over seeds."""
    precision, f1 = [], []
    for seed in range(20):
        found = set(sm.BSuMM("A", lookback=3, **settings).fit(simulate(n_sequences, seed)).influencers_)
        precision.append(len(found & TRUTH) / len(found) if found else 1.0)
        f1.append(2 * len(found & TRUTH) / (len(found) + len(TRUTH)))
    print(f"{n_sequences} sequences: precision {np.mean(precision):.3f}, F1 {np.mean(f1):.3f}, seeds 0..19")
    return np.mean(precision), np.mean(f1)


def test_little_data():
    precision, f1 = measure(400)
    assert precision >= 0.95
    assert f1 >= 0.88


def test_more_data():
    precision, f1 = measure(1600)
    assert precision >= 0.98
    assert f1 >= 0.99


def test_a_lax_criterion_is_fooled():
    """The measure can fail: with a small penalty much of what is found is noise."""
    precision, _ = measure(400, criterion="aic", false_edges=None)
    assert precision < 0.75
