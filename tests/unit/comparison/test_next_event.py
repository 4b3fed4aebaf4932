"""The log loss of the next event: by hand, as graphs and joint models have it, and at the edges."""

import math

import numpy as np
import pytest

import oracle_next
import summarkov as sm
from summarkov.comparison.measures import NextEvent, logs_among_all

#: Numbers as the paper counts them.
pytestmark = pytest.mark.cut_off

#: The test part knows no "d", which train does, and has an "e", which train does not; some are empty.
TRAIN = [list("abcabdab"), list("bcadb"), [], list("cabcc"), list("aabbcd")]
DEV = [list("abcab"), [], list("dcb")]
TEST = [list("bcabc"), [], list("aceba"), list("b"), []]
ALPHAS = (0.1, 1, 5, 10)


def losses(*parts, models):
    return {line.name: line.next_event_log_loss for line in sm.compare(*parts, models=models).lines}


@pytest.mark.parametrize("order", [0, 1, 2])
def test_single_label_models_by_hand(order):
    models = oracle_next.single_label_chains(TRAIN, DEV, ALPHAS, order)
    assert sorted(models) == list("abcd")
    sums = [sum(model(list(past)) for model in models.values()) for past in ("", "ab", "cad")]
    assert any(abs(total - 1) > 0.01 for total in sums)  # else nothing would be divided
    expected = oracle_next.next_event_log_loss(TEST, models)
    name = f"chain-{order}"
    found = losses(TRAIN, DEV, TEST, models=[name])
    assert found == {name: pytest.approx(expected, rel=1e-12)}


def test_a_graph_divides_in_the_same_way():
    model = sm.BSuMM(lookback=2, false_edges=None)
    test = [sequence for sequence in TEST if "e" not in sequence]
    graph = sm.InfluenceGraph(model).fit(TRAIN)
    (found,) = losses(TRAIN, DEV, test, models=[model]).values()
    assert found == pytest.approx(graph.evaluate(test).next_event.log_loss, rel=1e-12)


def test_what_sums_to_1_is_left_as_it_is():
    class Sums:
        name = "sums"

        def fit_each(self, train, targets):
            yield {}, self

        def probability(self, events, target):
            return np.full(events.n_events, {"a": 0.5, "b": 0.25, "c": 0.125, "d": 0.125}[target])

        def influencers(self, target):
            return None

    came = "".join(map("".join, TEST)).replace("e", "")
    loss = np.mean([{"a": 1, "b": 2, "c": 3}[label] * math.log(2) for label in came])
    assert losses(TRAIN, DEV, TEST, models=[Sums()]) == {"sums": pytest.approx(loss, rel=1e-12)}


def test_what_came_and_had_no_probability_costs_everything():
    p = np.array([[0.5, 0.0], [0.5, 0.0], [0.0, 0.0]])
    assert logs_among_all(np.array([0, 1, 0]), p).tolist() == [0.0, -math.inf, -math.inf]
    assert NextEvent.of(np.array([0, 1, 0]), p).log_loss == math.inf
    certain = NextEvent.of(np.array([0, 0]), p[:2])
    assert str(certain.log_loss) == "0.0"  # and not -0.0


def test_events_that_are_no_targets_are_left_out_and_none_has_no_loss():
    p = np.full((3, 2), 0.7)
    assert NextEvent.of(np.array([0, -1, 1]), p).log_loss == pytest.approx(math.log(2), rel=1e-12)
    nothing = NextEvent.of(np.array([-1, -1, -1]), p)
    assert (nothing.n, nothing.log_loss, nothing.top_3) == (0, None, 0)


def test_parts_add_up():
    rng = np.random.default_rng(4)
    p, codes = rng.random((40, 5)), rng.integers(-1, 5, 40)
    halves = NextEvent.of(codes[:13], p[:13]) + NextEvent.of(codes[13:], p[13:])
    whole = NextEvent.of(codes, p)
    assert (halves.top_1, halves.top_3, halves.n) == (whole.top_1, whole.top_3, whole.n)
    assert halves.logs == pytest.approx(whole.logs, rel=1e-12)


def test_events_that_happened_together_have_no_next_one():
    together = [[["a", "b"], ["c"]], [["a"], ["b", "c"]]] * 10
    assert losses(together, models=["chain-0"]) == {"chain-0": None}
