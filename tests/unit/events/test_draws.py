"""What is drawn by the names of sequences: as often as it should be, and the same in any order."""

import pickle

import numpy as np
import pytest

from summarkov.errors import DataError
from summarkov.events.draws import FEW, Bootstrap, distinct_keys, sequence_keys, split_by_key, stable_hashes

MANY = np.sort(sequence_keys(f"case {number}" for number in range(FEW + 3617)))


def test_of_many_each_is_drawn_as_often_as_with_replacement():
    drawn = [Bootstrap(40, seed=5).drawn(b, MANY) for b in range(40)]
    weights = np.array([each.weights(MANY) for each in drawn])
    assert weights.sum(axis=1) == pytest.approx(len(MANY), rel=0.03)
    shares = np.bincount(weights.ravel(), minlength=8)[:6] / weights.size
    expected = np.exp(-1) / np.array([1, 1, 2, 6, 24, 120])
    assert shares == pytest.approx(expected, abs=0.002)
    together = np.corrcoef(weights)  # replicates have nothing to do with each other
    assert np.abs(together - np.eye(40)).max() < 0.04
    assert weights.mean(axis=0).var() == pytest.approx(1 / 40, rel=0.05)
    mixed = np.random.default_rng(0).permutation(len(MANY))[:500]  # any part knows what was drawn of it
    assert drawn[0].weights(MANY[mixed]).tolist() == weights[0, mixed].tolist()
    assert len(pickle.dumps(drawn)) < 10_000


def test_other_seeds_and_replicates_draw_others():
    first = Bootstrap(2, seed=2).drawn(0, MANY).weights(MANY)
    for other in (Bootstrap(2, seed=3).drawn(0, MANY), Bootstrap(2, seed=2).drawn(1, MANY)):
        assert abs(np.corrcoef(first, other.weights(MANY))[0, 1]) < 0.03


@pytest.mark.parametrize("n", [5, 40, 1001])
def test_parts_have_their_sizes_and_nothing_in_common(n):
    keys = MANY[:n]
    parts = np.array([np.isin(keys, part) for part in split_by_key(keys, (0.7, 0.15, 0.15), seed=1)])
    assert parts.sum(axis=0).tolist() == [1] * n
    assert parts.sum(axis=1).tolist() == np.diff(np.rint(np.array([0, 0.7, 0.85, 1]) * n)).tolist()
    assert not np.array_equal(parts[0], np.isin(keys, split_by_key(keys, (0.7, 0.3), seed=2)[0]))
    few, rest = (len(part) for part in split_by_key(keys, (0.1 / n, 1 - 0.1 / n), seed=0))
    assert (few, rest) == (0, n)


def test_fractions_that_make_no_sense():
    for wrong in ((0.5, 0.6), (1.5, -0.5), ()):
        with pytest.raises(DataError, match="fractions must be positive and sum to 1"):
            split_by_key(MANY, wrong, seed=0)


def test_equal_names_go_by_numbers():
    assert distinct_keys(sequence_keys(["b", "a", "b"])).tolist() == [0, 1, 2]


def test_only_plain_whole_numbers_stand_for_themselves():
    whole = ["0", "5", "17", "9" * 18]
    others = ["00", "017", "9" * 19, "", "-1", "1.0", "²", "١٢", "visit 5"]
    keys = sequence_keys([*others, *whole]).tolist()
    assert keys[len(others) :] == [int(name) for name in whole]
    assert keys[: len(others)] == stable_hashes(others).tolist()
    assert sequence_keys([]).tolist() == []
