"""The carry: what is remembered of a sequence that is cut."""

import numpy as np
import pytest

from summarkov.engines import Past
from summarkov.engines.work import joint_memory
from summarkov.kernels import Index
from summarkov.summaries import (
    BinarySummary,
    ChainSummary,
    CountSummary,
    CustomSummary,
    Memory,
    OrdinalSummary,
)

#: Numbers as the paper counts them.
pytestmark = pytest.mark.cut_off

LABELS = ("A", "B", "C")


def codes(text):
    """ "AB?" as codes; "?" is a label that is not known."""
    return np.array(["ABC?".index(c) if c != "?" else -1 for c in text], np.int32)


def remembered(past):
    return list(zip(past.positions.tolist(), ["ABC"[c] if c >= 0 else "?" for c in past.codes], strict=True))


def test_nothing_has_happened():
    assert remembered(Past()) == []
    assert remembered(Past().extend(codes(""), Memory(3, None))) == []


def test_only_the_recent():
    past = Past().extend(codes("ABCA"), Memory(2, None))
    assert remembered(past) == [(-2, "C"), (-1, "A")]
    assert remembered(past.extend(codes("B"), Memory(2, None))) == [(-2, "A"), (-1, "B")]
    assert remembered(past.extend(codes(""), Memory(2, None))) == [(-2, "C"), (-1, "A")]
    assert remembered(past.extend(codes("BC?"), Memory(2, None))) == [(-2, "C"), (-1, "?")]


def test_nothing_at_all_for_a_chain_of_order_0():
    assert remembered(Past().extend(codes("ABC"), ChainSummary(0).memory())) == []


def test_first_and_last_of_each_label():
    """Unlimited look-back: the first occurrence (for "first"), the last (for "last"), whatever is between."""
    past = Past().extend(codes("AABAACA"), Memory(0, 1))
    assert remembered(past) == [(-7, "A"), (-5, "B"), (-2, "C"), (-1, "A")]
    assert remembered(past.extend(codes("B"), Memory(0, 1))) == [
        (-8, "A"),
        (-6, "B"),
        (-3, "C"),
        (-2, "A"),
        (-1, "B"),
    ]


def test_as_many_firsts_as_a_cap_can_tell_apart():
    past = Past().extend(codes("AAAAA"), CountSummary(None, cap=3).memory())
    assert remembered(past) == [(-5, "A"), (-4, "A"), (-3, "A"), (-1, "A")]


def test_unknown_labels_are_not_carried_far():
    assert remembered(Past().extend(codes("?A?"), Memory(0, 1))) == [(-2, "A")]


def test_in_pieces_or_at_once():
    rng = np.random.default_rng(0)
    text = rng.integers(-1, 3, 60).astype(np.int32)
    for memory in [Memory(4, None), Memory(0, 1), Memory(3, 2), Memory(0, 3)]:
        whole = Past().extend(text, memory)
        pieces = Past()
        for part in np.split(text, [1, 2, 10, 10, 33, 59]):
            pieces = pieces.extend(part, memory)
        assert remembered(pieces)[-4:] == remembered(whole)[-4:]
        assert len(pieces.codes) <= memory[0] + 3 * ((memory[1] or 0) + 1)


def test_bounded_by_the_labels_not_by_the_length():
    past = Past()
    for _ in range(200):
        past = past.extend(codes("ABCABCAB"), BinarySummary(None).memory())
    assert len(past.codes) <= 6
    assert past.positions.min() == -1600


@pytest.mark.parametrize(
    "summary",
    [
        BinarySummary(3),
        BinarySummary(None),
        BinarySummary(None, delay=2),
        BinarySummary({"A": 1, "B": 4}),
        OrdinalSummary(4),
        OrdinalSummary(None),
        OrdinalSummary(None, mask="first"),
        OrdinalSummary(5, 1, "first"),
        CountSummary(5, cap=3),
        CountSummary(None, delay=1, cap=2),
        ChainSummary(3),
    ],
    ids=repr,
)
def test_states_after_a_cut_are_those_of_the_whole(summary):
    """Wherever a sequence is cut, and cut again, its states are those of the sequence in one piece."""
    rng = np.random.default_rng(5)
    text = rng.integers(-1, 3, 40).astype(np.int32)
    influencers = (0, 1, 2)

    def states(index):
        ids, keys = summary.encode(index, influencers, LABELS)
        return [tuple(keys[i].tolist()) for i in ids]

    whole = states(Index(text, np.array([0, 40]), 3))
    for first in range(0, 41, 3):
        for second in range(first, 41, 7):
            past, pieces = Past(), []
            for part in np.split(text, [first, second]):
                pieces += states(past.index(part, np.array([0, len(part)]), 3))
                past = past.extend(part, summary.memory())
            assert pieces == whole


def test_the_past_is_of_the_first_sequence_only():
    past = Past().extend(codes("A"), Memory(3, None))
    index = past.index(codes("BCBC"), np.array([0, 2, 4]), 3)
    ids, keys = BinarySummary(3).encode(index, (0,), LABELS)
    assert keys[ids, 0].tolist() == [1, 1, 0, 0]


def test_joint_memory():
    class Own:
        lookback = 7

        def state(self, history, influencers):
            return 0

        def n_states(self, n):
            return 1

    assert joint_memory([BinarySummary(3), ChainSummary(5)]) == Memory(5, None)
    assert joint_memory([BinarySummary(3), CountSummary(None, cap=4), OrdinalSummary(None)]) == Memory(3, 4)
    assert joint_memory([CustomSummary(Own()), BinarySummary(2)]) == Memory(7, None)
    assert BinarySummary({"A": 2}).memory() == Memory(2, 1)  # labels that are not named: the whole past
    assert BinarySummary(None, delay=3).memory() == Memory(3, 1)
