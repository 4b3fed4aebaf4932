"""Every measure against a loop that anyone can check, however the events are cut."""

import math
from unittest import mock

import numpy as np
import pytest

from summarkov.comparison import measures
from summarkov.comparison.measures import Measures, log_likelihoods, pieces, report
from summarkov.events import EventSequences
from summarkov.models.measures import BINS, hits

#: Numbers as the paper counts them.
pytestmark = pytest.mark.cut_off

SEED = 5


class Given:
    """Says what it was given, position by position."""

    def __init__(self, p):
        self.p, self.at_position = np.asarray(p, float), 0

    def probability(self, events, target):
        start, self.at_position = self.at_position, self.at_position + events.n_events
        return self.p[start : self.at_position]

    def influencers(self, target):
        return None


def measured(events, p, targets, cut, *, next_event=False):
    """The report on some targets, ``p`` a column each, from pieces of about ``cut`` events."""
    asked = {target: Given(p[:, at]) for at, target in enumerate(targets)}
    with mock.patch.object(measures, "_MOST_ROWS", cut):
        return report(pieces(events, len(targets)), "given", asked, next_event=next_event)


def measure(events, target, p, cut=1 << 20):
    found = measured(events, np.asarray(p)[:, None], [target], cut)
    return found.measures[target], found.by_sequence


def random_case():
    rng = np.random.default_rng(SEED)
    lists = [[str(rng.choice(["a", "b", "c"])) for _ in range(n)] for n in (0, 4, 0, 1, 9, 0)]
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
    found, found_by_sequence = measure(events, target, p)
    assert found_by_sequence == pytest.approx(by_sequence, rel=1e-12)
    assert found.log_likelihood == pytest.approx(sum(by_sequence), rel=1e-12)
    assert found.brier == pytest.approx(sum(squares) / len(squares), rel=1e-12)
    assert found.reliability == pytest.approx(np.array(bins), rel=1e-12)
    assert log_likelihoods([events], "given", {target: Given(p)}) == {target: found.log_likelihood}


@pytest.mark.parametrize("cut", [1, 2, 3, 5, 13])
def test_cuts_change_nothing(cut):
    _, events, matrix = random_case()
    whole, cut_up = (
        measured(events, matrix, ["a", "b", "c"], most, next_event=True) for most in (1 << 20, cut)
    )
    assert cut_up.by_sequence.tolist() == whole.by_sequence.tolist()
    assert vars(cut_up.next_event) == pytest.approx(vars(whole.next_event), rel=1e-12)
    assert whole.next_event.n == events.n_events
    for target, sums in whole.measures.items():
        assert cut_up.measures[target].log_likelihood == pytest.approx(sums.log_likelihood, rel=1e-12)
        assert cut_up.measures[target].brier == pytest.approx(sums.brier, rel=1e-12)
        assert cut_up.measures[target].reliability == pytest.approx(sums.reliability, rel=1e-12)


def test_the_likelihood_of_a_sequence_is_the_mean_over_the_targets():
    _, events, matrix = random_case()
    each = [measure(events, x, matrix[:, at])[1] for at, x in enumerate(events.labels)]
    found = measured(events, matrix, events.labels, 1 << 20)
    assert found.by_sequence == pytest.approx(np.mean(each, axis=0), rel=1e-12)


@pytest.mark.parametrize(
    ("p", "bin"),
    [(0.0, 0), (0.0099, 0), (0.01, 1), (0.02, 2), (0.05, 3), (0.5, 8), (0.8999, 11), (0.9, 12), (1.0, 12)],
)
def test_a_bin_holds_its_lower_edge_and_the_last_one_both(p, bin):
    events = EventSequences.from_lists([["a"]], labels=["a", "b"])
    expected = np.zeros((13, 3))
    expected[bin] = 1, p, 1
    assert np.array_equal(measure(events, "a", [p])[0].reliability, expected)


def test_certainty_that_comes_true_costs_nothing():
    events = EventSequences.from_lists([["a", "b"]])
    found, by_sequence = measure(events, "a", [1.0, 0.0])
    assert by_sequence.tolist() == [0.0]
    assert found.brier == 0


def test_what_was_ruled_out_and_happened_concerns_its_sequence_only():
    events = EventSequences.from_lists([["a"], ["b", "a"], ["b"]])
    found, by_sequence = measure(events, "a", [0.5, 1.0, 0.5, 0.5], cut=2)
    assert by_sequence.tolist() == [math.log(0.5), -math.inf, math.log(0.5)]
    assert found.log_likelihood == -math.inf


def test_a_sequence_is_summed_on_its_own():
    """A difference of running totals would lose the digits of the small one after the large one."""
    events = EventSequences.from_lists([["a"] * 1000, ["a"]], labels=["a", "b"])
    p = np.full(1001, 1e-300)
    p[-1] = 1 - 1e-12
    assert measure(events, "a", p)[1][1] == math.log(p[-1])


def test_no_events():
    events = EventSequences.from_lists([[], []], labels=["a"])
    found, by_sequence = measure(events, "a", np.empty(0))
    assert by_sequence.tolist() == [0.0, 0.0]
    assert (found.brier, found.reliability.sum(), found.log_likelihood) == (0.0, 0.0, 0.0)
    assert hits(events.codes, np.empty((0, 1)), 1) == 0


def test_measures_survive_json_to_the_last_bit():
    _, events, matrix = random_case()
    found, _ = measure(events, "b", matrix[:, 1])
    back = Measures.from_dict(found.to_dict())
    assert np.array_equal(back.reliability, found.reliability)
    assert (back.log_likelihood, back.brier) == (found.log_likelihood, found.brier)


@pytest.mark.parametrize("k", [1, 2, 3])
def test_hits_against_a_loop(k):
    lists, events, matrix = random_case()
    matrix = matrix.round(1)  # so that there are ties
    expected = 0
    for row, label in zip(matrix.tolist(), [label for each in lists for label in each], strict=True):
        ranked = sorted(range(3), key=lambda m: (-row[m], m))
        expected += "abc".index(label) in ranked[:k]
    assert hits(events.codes, matrix, k) == expected
    if k != 2:
        found = measured(events, matrix, "abc", 4, next_event=True).next_event
        assert getattr(found, f"top_{k}") == expected


def test_ties_go_to_the_first_labels():
    events = EventSequences.from_lists([["a", "b", "c"]])
    assert [hits(events.codes, np.full((3, 3), 0.5), k) for k in (1, 2, 3)] == [1, 2, 3]


def test_an_event_of_no_label_is_missed_not_left_out():
    events = EventSequences.from_lists([["a", "b", "b"]]).recode(["a"], unknown="ignore")
    assert hits(events.codes, np.ones((3, 1)), 1) == 1
