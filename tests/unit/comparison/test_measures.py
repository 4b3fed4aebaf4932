"""Every measure against a loop that anyone can check; the next event by hand."""

import math

import numpy as np
import pytest

import oracle_next
import summarkov as sm
from summarkov.comparison.comparison import Tuned
from summarkov.comparison.run import Split, logs_among_all, tune
from summarkov.events import EventSequences
from summarkov.models.prediction import BINS, hits

#: Numbers as the paper counts them.
pytestmark = pytest.mark.cut_off


class Given:
    """Says what it was given, a column per target."""

    name = "given"

    def __init__(self, p, targets):
        self.p = {x: np.asarray(p, float)[:, at] for at, x in enumerate(targets)}

    def fit_each(self, train, targets):
        yield {}, self

    def probability(self, events, target):
        return self.p[target]

    def influencers(self, target):
        return None


def measured(events, p, targets) -> Tuned:
    """What is told of some targets."""
    return tune(Given(p, targets), Split(events, events, events), targets)


def random_case():
    rng = np.random.default_rng(5)
    lists = [[str(rng.choice(["a", "b", "c"])) for _ in range(n)] for n in (0, 4, 0, 1, 9, 0)]
    events = EventSequences.from_lists(lists, labels=["a", "b", "c"])
    return lists, events, rng.random((events.n_events, 3))


def test_measures_against_loops():
    lists, events, matrix = random_case()
    found, means = measured(events, matrix, "abc"), np.zeros(len(lists))
    for one in found.chosen:
        p = matrix[:, events.code(one.target)]
        at, squares, bins = 0, [], [[0, 0.0, 0] for _ in BINS[:-1]]
        for s, sequence in enumerate(lists):
            for label in sequence:
                means[s] += math.log(p[at] if label == one.target else 1 - p[at]) / 3
                squares.append((p[at] - (label == one.target)) ** 2)
                (bin,) = [b for b in range(len(BINS) - 1) if BINS[b] <= p[at] < BINS[b + 1]]
                bins[bin] = [bins[bin][0] + 1, bins[bin][1] + p[at], bins[bin][2] + (label == one.target)]
                at += 1
        assert one.brier == pytest.approx(sum(squares) / len(squares), rel=1e-12)
        assert np.array(one.reliability) == pytest.approx(np.array(bins), rel=1e-12)
        assert one.dev_log_likelihood == one.log_likelihood
    assert found.by_sequence == pytest.approx(means, rel=1e-12)
    assert found.log_likelihood == pytest.approx(means.sum(), rel=1e-12)


@pytest.mark.parametrize(
    ("p", "bin"), [(0.0, 0), (0.0099, 0), (0.01, 1), (0.05, 3), (0.5, 8), (0.8999, 11), (0.9, 12), (1.0, 12)]
)
def test_a_bin_holds_its_lower_edge_and_the_last_one_both(p, bin):
    events = EventSequences.from_lists([["a"]], labels=["a", "b"])
    expected = np.zeros((13, 3))
    expected[bin] = 1, p, 1
    assert measured(events, [[p]], "a").chosen[0].reliability == expected.tolist()


def test_certainty_and_what_was_ruled_out():
    found = measured(EventSequences.from_lists([["a", "b"]]), [[1.0], [0.0]], "a")
    assert (found.by_sequence.tolist(), found.chosen[0].brier) == ([0.0], 0)
    events = EventSequences.from_lists([["a"], ["b", "a"], ["b"]])
    found = measured(events, [[0.5], [1.0], [0.5], [0.5]], "a")
    assert found.by_sequence.tolist() == [math.log(0.5), -math.inf, math.log(0.5)]
    assert found.log_likelihood == -math.inf
    nothing = measured(EventSequences.from_lists([[], []], labels=["a"]), np.empty((0, 1)), "a")
    assert nothing.by_sequence.tolist() == [0.0, 0.0]
    assert (nothing.chosen[0].brier, nothing.log_likelihood) == (0.0, 0.0)


def test_a_sequence_is_summed_on_its_own():
    """A difference of running totals would lose the digits of the small one after the large one."""
    events = EventSequences.from_lists([["a"] * 1000, ["a"]], labels=["a", "b"])
    p = np.full((1001, 1), 1e-300)
    p[-1] = 1 - 1e-12
    assert measured(events, p, "a").by_sequence[1] == math.log(p[-1, 0])


@pytest.mark.parametrize("k", [1, 2, 3])
def test_hits_against_a_loop(k):
    """Ties go to the first labels; an event of no label is missed, not left out."""
    lists, events, matrix = random_case()
    matrix, expected = matrix.round(1), 0
    for row, label in zip(matrix.tolist(), [label for each in lists for label in each], strict=True):
        ranked = sorted(range(3), key=lambda m: (-row[m], m))
        expected += "abc".index(label) in ranked[:k]
    assert hits(events.codes, matrix, k) == expected
    if k != 2:
        assert getattr(measured(events, matrix, "abc"), f"top_{k}") == expected / events.n_events
    unknown = EventSequences.from_lists([["a", "b", "b"]]).recode(["a"], unknown="ignore")
    assert hits(unknown.codes, np.ones((3, 1)), 1) == 1


# ------------------------------------------------------------------ the next event

#: The test part knows no "d", which train does, and has an "e", which train does not; some are empty.
TRAIN = [list("abcabdab"), list("bcadb"), [], list("cabcc"), list("aabbcd")]
DEV = [list("abcab"), [], list("dcb")]
TEST = [list("bcabc"), [], list("aceba"), list("b"), []]


def losses(*parts, models):
    return {line.name: line.next_event_log_loss for line in sm.compare(*parts, models=models).lines}


@pytest.mark.parametrize("order", [0, 1, 2])
def test_single_label_models_by_hand(order):
    models = oracle_next.single_label_chains(TRAIN, DEV, (0.1, 1, 5, 10), order)
    assert sorted(models) == list("abcd")
    sums = [sum(model(list(past)) for model in models.values()) for past in ("", "ab", "cad")]
    assert any(abs(total - 1) > 0.01 for total in sums)  # else nothing would be divided
    expected = oracle_next.next_event_log_loss(TEST, models)
    found = losses(TRAIN, DEV, TEST, models=[f"chain-{order}"])
    assert found == {f"chain-{order}": pytest.approx(expected, rel=1e-12)}


def test_what_came_and_had_no_probability_costs_everything():
    p = np.array([[0.5, 0.0], [0.5, 0.0], [0.0, 0.0]])
    assert logs_among_all(np.array([0, 1, 0]), p).tolist() == [0.0, -math.inf, -math.inf]
    events = EventSequences.from_lists([["a", "b", "a"]])
    assert measured(events, p, "ab").next_event_log_loss == math.inf
    certain = measured(EventSequences.from_lists([["a", "a"]], labels=["a", "b"]), p[:2], "ab")
    assert str(certain.next_event_log_loss) == "0.0"  # and not -0.0


def test_events_of_no_target_are_left_out_and_ticks_have_no_next_event():
    events = EventSequences.from_lists([list("axb")]).recode(["a", "b"], unknown="ignore")
    assert measured(events, np.full((3, 2), 0.7), "ab").next_event_log_loss == pytest.approx(math.log(2))
    together = [[["a", "b"], ["c"]], [["a"], ["b", "c"]]] * 10
    assert losses(together, models=["chain-0"]) == {"chain-0": None}
