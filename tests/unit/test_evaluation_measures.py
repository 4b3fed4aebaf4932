"""Every measure against a loop that anyone can check."""

import math

import numpy as np
import pytest

from summarkov.evaluation.measures import BINS, Measures, log_likelihood, measure, top_k
from summarkov.events import EventSequences

SEED = 5


def random_case():
    rng = np.random.default_rng(SEED)
    lists = [[str(rng.choice(["a", "b", "c"])) for _ in range(n)] for n in (4, 0, 1, 9, 0)]
    events = EventSequences.from_lists(lists, labels=["a", "b", "c"])
    return lists, events, rng.random((events.n_events, 3))


@pytest.mark.parametrize("target", ["a", "b", "c"])
def test_measures_against_loops(target):
    lists, events, matrix = random_case()
    p = matrix[:, events.code(target)]
    at, by_sequence, squares = 0, [], []
    bins = [[0, 0.0, 0] for _ in BINS[:-1]]
    for sequence in lists:
        total = 0.0
        for label in sequence:
            total += math.log(p[at] if label == target else 1 - p[at])
            squares.append((p[at] - (label == target)) ** 2)
            (bin,) = [b for b in range(len(BINS) - 1) if BINS[b] <= p[at] < BINS[b + 1]]
            bins[bin][0] += 1
            bins[bin][1] += p[at]
            bins[bin][2] += label == target
            at += 1
        by_sequence.append(total)
    found = measure(events, target, p)
    assert found.by_sequence == pytest.approx(by_sequence, rel=1e-12)
    assert found.log_likelihood == pytest.approx(sum(by_sequence), rel=1e-12)
    assert found.brier == pytest.approx(sum(squares) / len(squares), rel=1e-12)
    assert found.reliability == pytest.approx(np.array(bins), rel=1e-12)
    occurred = events.codes == events.code(target)
    assert log_likelihood(p, occurred) == pytest.approx(sum(by_sequence), rel=1e-12)


@pytest.mark.parametrize(
    ("p", "bin"),
    [(0.0, 0), (0.0099, 0), (0.01, 1), (0.02, 2), (0.05, 3), (0.5, 8), (0.8999, 11), (0.9, 12), (1.0, 12)],
)
def test_a_bin_holds_its_lower_edge_and_the_last_one_both(p, bin):
    events = EventSequences.from_lists([["a"]], labels=["a", "b"])
    expected = np.zeros((13, 3))
    expected[bin] = 1, p, 1
    assert np.array_equal(measure(events, "a", np.array([p])).reliability, expected)


def test_certainty_that_comes_true_costs_nothing():
    events = EventSequences.from_lists([["a", "b"]])
    found = measure(events, "a", np.array([1.0, 0.0]))
    assert found.by_sequence.tolist() == [0.0]
    assert found.brier == 0


def test_what_was_ruled_out_and_happened_concerns_its_sequence_only():
    events = EventSequences.from_lists([["a"], ["b", "a"], ["b"]])
    found = measure(events, "a", np.array([0.5, 1.0, 0.5, 0.5]))
    assert found.by_sequence.tolist() == [math.log(0.5), -math.inf, math.log(0.5)]
    assert found.log_likelihood == -math.inf
    assert log_likelihood(np.array([0.0]), np.array([True])) == -math.inf


def test_a_sequence_is_summed_on_its_own():
    """A difference of running totals would lose the digits of the small one after the large one."""
    events = EventSequences.from_lists([["a"] * 1000, ["a"]], labels=["a", "b"])
    p = np.full(1001, 1e-300)
    p[-1] = 1 - 1e-12
    assert measure(events, "a", p).by_sequence[1] == math.log(p[-1])


def test_no_events():
    events = EventSequences.from_lists([[], []], labels=["a"])
    found = measure(events, "a", np.empty(0))
    assert found.by_sequence.tolist() == [0.0, 0.0]
    assert (found.brier, found.reliability.sum(), found.log_likelihood) == (0.0, 0.0, 0.0)
    assert top_k(events, np.empty((0, 1)), 1) == 0.0


def test_measures_survive_json_to_the_last_bit():
    _, events, matrix = random_case()
    found = measure(events, "b", matrix[:, 1])
    back = Measures.from_dict(found.to_dict())
    assert np.array_equal(back.by_sequence, found.by_sequence)
    assert np.array_equal(back.reliability, found.reliability)
    assert back.brier == found.brier


@pytest.mark.parametrize("k", [1, 2, 3])
def test_top_k_against_a_loop(k):
    lists, events, matrix = random_case()
    matrix = matrix.round(1)  # so that there are ties
    hits = 0
    for row, label in zip(matrix.tolist(), [label for each in lists for label in each], strict=True):
        ranked = sorted(range(3), key=lambda m: (-row[m], m))
        hits += "abc".index(label) in ranked[:k]
    assert top_k(events, matrix, k) == pytest.approx(hits / events.n_events, rel=1e-12)


def test_ties_go_to_the_first_labels():
    events = EventSequences.from_lists([["a", "b", "c"]])
    assert [top_k(events, np.full((3, 3), 0.5), k) for k in (1, 2, 3)] == [1 / 3, 2 / 3, 1.0]


def test_an_event_of_no_label_is_missed_not_left_out():
    events = EventSequences.from_lists([["a", "b", "b"]]).recode(["a"], unknown="ignore")
    assert top_k(events, np.ones((3, 1)), 1) == pytest.approx(1 / 3, rel=1e-12)
