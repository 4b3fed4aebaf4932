"""Weights of sequences in fixed point."""

import re

import numpy as np
import pytest

from summarkov.engines.weights import FIXED_POINT, fixed_point
from summarkov.errors import SettingError


def test_no_weights():
    assert fixed_point(None, 5) == (None, 1)


@pytest.mark.parametrize(
    "given",
    [[0, 1, 7], [0.0, 1.0, 7.0], np.array([0, 1, 7], np.uint8), np.array([0, 1, 7], np.float32), (0, 1, 7)],
)
def test_whole_weights_stay_as_they_are(given):
    weights, scale = fixed_point(given, 3)
    assert scale == 1
    assert weights.dtype == np.int64
    assert weights.tolist() == [0, 1, 7]


def test_true_and_false_are_one_and_none():
    weights, scale = fixed_point([True, False], 2)
    assert (weights.tolist(), scale) == ([1, 0], 1)


def test_others_become_multiples_of_a_millionth_or_so():
    weights, scale = fixed_point([0.5, 1, 0.1, 1e-9, 3.25], 5)
    assert scale == FIXED_POINT == 2**20
    assert weights.tolist() == [2**19, 2**20, round(0.1 * 2**20), 0, 13 * 2**18]
    assert weights / scale == pytest.approx([0.5, 1, 0.1, 0, 3.25], abs=2**-21)


def test_halves_round_to_even():
    step = 2.0**-20
    weights, _ = fixed_point([0.5 * step, 1.5 * step, 2.5 * step], 3)
    assert weights.tolist() == [0, 2, 2]


def test_no_sequences():
    weights, scale = fixed_point([], 0)
    assert (weights.tolist(), scale) == ([], 1)


def test_the_largest():
    assert fixed_point([2**42], 1)[0].tolist() == [2**42]
    assert fixed_point([2.0**22 - 0.5], 1)[0].tolist() == [2**42 - 2**19]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ([1], "one number a sequence (2), not shape (1,)"),
        ([[1, 2]], "not shape (1, 2)"),
        (1.5, "not shape ()"),
        ([1, -1], "must be finite numbers from 0 on"),
        ([1, np.nan], "must be finite numbers from 0 on"),
        ([1, np.inf], "must be finite numbers from 0 on"),
        (["1", "2"], "must be finite numbers from 0 on"),
        ([None, 1], "must be finite numbers from 0 on"),
        ([1j, 2], "must be finite numbers from 0 on"),
        ([1, 2**42 + 1], "is too large; scale the weights down"),
        ([0.5, 2**23], "sample_weight 8.38861e+06 is too large; scale the weights down"),
    ],
)
def test_weights_that_make_no_sense(given, words):
    with pytest.raises(SettingError, match=re.escape(words)):
        fixed_point(given, 2)
