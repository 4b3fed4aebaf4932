"""The order test: what is said of an edge, and what it is worth on worlds whose truth is known."""

import io
import json
import math
from dataclasses import replace

import numpy as np
import pytest

import summarkov as sm
from summarkov.errors import DataError, SettingError
from summarkov.evidence import Difference, EdgeOrder, Remainder
from summarkov.evidence.order import against_shuffled, order_word
from summarkov.evidence.ratios import benjamini_hochberg

#: Numbers as the paper counts them.
pytestmark = pytest.mark.cut_off

LABELS = tuple("abcdefgh")


def simulated(rates, edges=(), seed=0, lookback=3, first=None):
    """Labels at ``rates[sequence, position, label]``; an edge multiplies the rate of its target."""
    rng = np.random.default_rng(seed)
    n, length, m = rates.shape
    codes, last = np.empty((n, length), int), np.full((n, m), -(10**6))
    for i in range(length):
        weights = rates[:, i].copy()
        for z, x, times in edges:
            weights[i - last[:, z] <= lookback, x] *= times
        ends = np.cumsum(weights / weights.sum(axis=1, keepdims=True), axis=1)
        codes[:, i] = np.minimum((rng.random(n)[:, None] > ends).sum(axis=1), m - 1)
        if first is not None and i == 0:
            codes[:, 0] = first
        last[np.arange(n), codes[:, i]] = i
    return sm.read_events([[LABELS[c] for c in row] for row in codes], labels=LABELS[:m], ends="cut off")


def even(n, length, m=6):
    return np.ones((n, length, m))


def classes(n, length, m=6, times=4.0, seed=0):
    """Rates of sequences of two kinds, which prefer other labels."""
    rates = even(n, length, m)
    kind = np.random.default_rng(seed).integers(2, size=n)
    rates[kind == 0, :, : m // 2] *= times
    rates[kind == 1, :, m // 2 :] *= times
    return rates


def order_tested(events, **settings):
    graph = sm.InfluenceGraph(sm.BSuMM(lookback=3)).fit(events)
    return graph, graph.order_test(events, **settings)


# ---------------------------------------------------------------------- the numbers


def sums(shares, hits=1000):
    """Sums in which each replicate has such a share of hits with, half of the positions being with."""
    shares = np.asarray(shares, float)
    return [shares * hits / 2, (1 - shares) * hits / 2, shares * hits, (1 - shares) * hits]


def test_p_values_are_the_mid_p_values_of_a_binomial_variable():
    from scipy import stats

    rng = np.random.default_rng(0)
    drawn = rng.binomial(50, 0.1, size=20_000) / 50
    for k in (0, 1, 5, 12, 15):
        found = against_shuffled(sums([k / 50, *drawn]))
        half = stats.binom.pmf(k, 50, 0.1) / 2
        mid = 2 * min(stats.binom.cdf(k, 50, 0.1) - half, stats.binom.sf(k, 50, 0.1) + half)
        assert float(found.p_value) == pytest.approx(mid, rel=0.1)
        assert float(found.shuffled) == pytest.approx(0.1 / 0.9, rel=0.02)


def test_weights_of_hits_do_not_change_the_tails():
    """Hits with weigh more than hits without where few positions are with: the p-value is that of hits."""
    rng = np.random.default_rng(1)
    hits_with = np.append(0, rng.binomial(130, 0.04, size=999)).astype(float)
    hits_without = 130 - hits_with
    found = against_shuffled([hits_with * 0.96, hits_without * 0.04, hits_with, hits_without])
    assert float(found.p_value) == pytest.approx(0.96**130, rel=0.25)


def test_few_shuffles_are_paid_for():
    drawn = np.tile([0.4, 0.6], 10)
    few, many = (float(against_shuffled(sums([0.7, *drawn[:n]])).p_value) for n in (10, 20))
    assert few > many > 0.05 > 2 * 0.5 * math.erfc(0.2 / 0.1 / math.sqrt(2))


@pytest.mark.parametrize("share", [0.0, 0.02, 0.2, 0.33, 0.41, 0.5, 0.8, 1.0])
def test_the_interval_leaves_out_1_just_where_p_is_small(share):
    drawn = np.random.default_rng(2).normal(0.3, 0.05, 60).clip(0.01, 0.99)
    found = against_shuffled(sums([share, *drawn]))
    assert (float(found.p_value) < 0.05) == (not found.low <= 1 <= found.high)
    assert found.low <= found.ratio <= found.high


def test_nothing_is_said_where_all_shuffles_agree():
    for shares in ([0.5, 0.2, 0.2, 0.2], [math.nan, 0.2, 0.3, 0.1]):
        found = against_shuffled(sums(shares))
        assert (float(found.p_value), float(found.low), float(found.high)) == (1.0, 0.0, math.inf)
        assert math.isnan(found.ratio)


def test_adjusted_p_values():
    assert benjamini_hochberg([0.02, 0.01, 0.04], 3) == pytest.approx([0.03, 0.03, 0.04])
    assert benjamini_hochberg([0.02, 0.01, 0.04], 30) == pytest.approx([0.3, 0.3, 0.4])
    assert benjamini_hochberg([0.9], 30) == [1.0]
    assert benjamini_hochberg([], 4) == []


@pytest.mark.parametrize(
    ("ratio", "low", "high", "adjusted", "word"),
    [
        (2.0, 1.2, 3.0, 0.05, "depends on order"),
        (2.0, 0.5, 0.8, 0.01, "depends on order"),
        (2.0, 0.9, 1.9, 0.06, "co-occurrence only"),
        (0.5, 0.6, 1.2, 0.06, "co-occurrence only"),
        (2.0, 0.9, 2.0, 0.06, "unclear"),
        (2.0, 1.1, 1.9, 0.06, "unclear"),
        (math.inf, 0.9, 1.9, 0.6, "unclear"),
        (math.nan, 0.9, 1.9, 0.6, "unclear"),
        (0.0, 0.0, math.inf, 1.0, "unclear"),
    ],
)
def test_words(ratio, low, high, adjusted, word):
    assert order_word(ratio, low, high, adjusted) == word
    assert order_word(ratio, low, high, adjusted, evidence=10) == word
    few = "unclear" if word == "co-occurrence only" else word
    assert order_word(ratio, low, high, adjusted, evidence=9.9) == few


def test_grades():
    edge = EdgeOrder("a", "c", "depends on order", 1.5, 1.3, 1.7, 1e-4, 0.01, 1.6, 1.1, local_ratio=2.0)
    there, gone = Difference(2.1, 1.5, 2.9, 1e-4, 0.01), Difference(1.1, 0.8, 1.5, 0.5, 1.0)
    assert edge.order_scale is None
    assert replace(edge, short=there).order_scale == "short range"
    assert replace(edge, short=gone).order_scale == "slow change"
    assert replace(edge, short=replace(gone, high=2.1)).order_scale is None
    assert replace(edge, order="fixed order", short=there).order_scale is None


def test_what_is_crowding_out():
    left = Remainder(0.5, 0.4, 0.7, 0.0001, 0.01, ("b",))
    edge = EdgeOrder("a", "c", "depends on order", 0.4, 0.3, 0.5, 0.0001, 0.01, 0.5, 1.1)
    assert not edge.is_crowding_out
    assert not replace(edge, remainder=left).is_crowding_out
    assert replace(edge, remainder=replace(left, adjusted=0.06)).is_crowding_out
    assert replace(edge, remainder=replace(left, ratio=1.4)).is_crowding_out
    assert replace(edge, ratio=1.5, remainder=left).is_crowding_out
    assert not replace(edge, ratio=1.5, remainder=replace(left, ratio=1.4)).is_crowding_out
    for ratio in (0.4, 2.5):  # of its effect a little less than half is left, or a little more
        weaker, stronger = ratio**0.49, ratio**0.51
        assert replace(edge, ratio=ratio, remainder=replace(left, ratio=weaker)).is_crowding_out
        assert not replace(edge, ratio=ratio, remainder=replace(left, ratio=stronger)).is_crowding_out


# ---------------------------------------------------------------------- worlds whose truth is known


def test_company_is_not_order():
    graph, found = order_tested(simulated(classes(600, 30)))
    assert len(graph.edges_) > 10
    assert found.depends_on_order == ()
    assert sum(edge.order == "co-occurrence only" for edge in found.edges) > 0.8 * len(found.edges)


def test_a_fixed_start_and_drift_are_not_order():
    graph, found = order_tested(simulated(even(3000, 8), first=0))
    assert len(graph.edges_) > 10
    assert found.depends_on_order == ()
    slope = np.linspace(1, 6, 60)
    rates = np.stack([slope, slope, slope, slope[::-1], slope[::-1], slope[::-1]], axis=1)
    events = simulated(np.repeat(rates[None], 300, axis=0))
    graph, found = order_tested(events)
    assert (found.within, len(graph.edges_) > 5) == (12, True)
    assert found.depends_on_order == ()
    assert (
        graph.order_test(events, within=None).depends_on_order == ()
    )  # positions are compared with their like


def test_changes_at_any_place_are_order_if_whole_sequences_are_shuffled():
    late = np.arange(60) >= np.random.default_rng(1).integers(60, size=300)[:, None]
    rates = np.where(late[..., None], [6, 6, 6, 1, 1, 1], [1, 1, 1, 6, 6, 6]).astype(float)
    assert len(order_tested(simulated(rates), within=None)[1].depends_on_order) > 5


def test_true_edges_among_classes_are_depends_on_order():
    truth = [(0, 1, 2.0), (2, 5, 2.0), (6, 0, 2.0)]
    _, found = order_tested(simulated(classes(500, 40, 8, times=3.0), truth))
    up = {(edge.influencer, edge.target) for edge in found.depends_on_order if edge.ratio > 1}
    assert up == {("a", "b"), ("c", "f"), ("g", "a")}


@pytest.mark.parametrize(("n", "times"), [(1500, 8.0), (3000, 0.1)])
def test_room_that_others_take_or_leave_is_crowding_out(n, times):
    graph, found = order_tested(simulated(even(n, 30), [(0, 1, times)]))
    others = [edge for edge in found.depends_on_order if (edge.ratio < 1) == (times > 1)]
    assert len(others) >= 4
    for edge in others:
        assert edge.influencer == "a" or times < 1
        assert edge.remainder.without == ("b",)
        assert edge.is_crowding_out
        assert next(
            e for e in graph.edges_ if (e.influencer, e.target) == (edge.influencer, edge.target)
        ).competition
    assert not found.of("a", "b").is_crowding_out
    assert times < 1 or found.of("a", "b").remainder is None  # whom others only make room for


def test_an_inhibition_beside_an_amplification_is_left():
    graph, found = order_tested(simulated(even(1500, 30), [(0, 1, 4.0), (0, 2, 0.2)]))
    edge = found.of("a", "c")
    assert edge.order == "depends on order"
    assert not edge.is_crowding_out
    assert edge.remainder.ratio < 0.4
    assert found.of("a", "b").remainder.without == ("c",)
    assert found.of("a", "b").remainder.ratio > 1.2
    assert found.of("a", "b").local_ratio > 3
    told = {(e.influencer, e.target): e.competition for e in graph.edges_}
    assert (told["a", "c"], told["a", "b"], told["a", "d"]) == (False, False, True)


def test_order_may_work_the_other_way_round():
    """a and b keep company, but b comes less often soon after a."""
    graph = sm.InfluenceGraph(sm.BSuMM(lookback=3, required=["a"], candidates=[]), targets=["b"])
    events = simulated(classes(1500, 30, times=8.0), [(0, 1, 0.6)])
    found = graph.fit(events).order_test(events)
    (edge,) = graph.edges_
    assert (edge.effect, edge.order) == ("amplifies", "depends on order")
    assert edge.order_high < 1
    assert edge.is_turned
    assert (edge.shown_effect, edge.set_aside) == ("unclear", "unclear direction")
    assert not replace(edge, order_ratio=1.2).is_turned
    assert found.of("a", "b").shuffled > found.of("a", "b").observed


def runs(n, length, seed, m=6, again=0.7):
    """The last label comes again with such a chance, else any does."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, m, (n, length))
    for i in range(1, length):
        same = rng.random(n) < again
        codes[same, i] = codes[same, i - 1]
    return sm.read_events([[LABELS[c] for c in row] for row in codes], labels=LABELS[:m], ends="cut off")


def of_others(found):
    """Edges between different labels that depend on order and are more than crowding out."""
    return [e for e in found.depends_on_order if e.influencer != e.target and not e.is_crowding_out]


def test_runs_and_self_excitation_are_no_influence_on_others():
    graph, found = order_tested(runs(400, 40, 1))
    assert len(graph.edges_) > 12
    assert of_others(found) == []
    assert {e.influencer for e in found.depends_on_order} == set("abcdef")  # each on itself
    excited = [(z, z, 12.0) for z in range(6)]
    assert of_others(order_tested(simulated(even(400, 40), excited, seed=3))[1]) == []


def test_a_slow_cycle_is_graded_as_slow_change():
    rng = np.random.default_rng(2)
    phase, own = rng.random((600, 1, 1)), np.arange(6) / 6
    turn = np.arange(40)[None, :, None] / 40 + phase + own
    _, found = order_tested(simulated(np.exp(np.cos(2 * np.pi * turn))), within=24)
    grades = [edge.order_scale for edge in of_others(found)]
    assert grades.count("slow change") > len(grades) / 2 > 3
    assert grades.count("short range") <= 1


def test_a_true_edge_is_graded_as_short_range_but_not_in_short_sequences():
    _, found = order_tested(simulated(even(800, 40), [(0, 1, 4.0)]))
    assert found.within_short == 4
    assert found.of("a", "b").order_scale == "short range"
    assert 2 < found.of("a", "b").local_ratio < 4
    _, found = order_tested(simulated(even(3000, 12), [(0, 1, 4.0)]))
    assert found.of("a", "b").order == "depends on order"
    assert found.of("a", "b").short is None


def order_of_pair(cases, **settings):
    """The order test of a on b."""
    events = sm.read_events(cases)
    graph = sm.InfluenceGraph(sm.BSuMM(lookback=3, required=["a"]), targets=["b"]).fit(events)
    return graph.order_test(events, **settings)


@pytest.mark.parametrize(("n", "apart", "late"), [(1125, 0, 8), (1500, 6, 1)])
def test_steps_in_fixed_order(n, apart, late):
    """b comes after a in nearly all cases, near or far: whatever shuffled cases show, the order is fixed."""
    rng = np.random.default_rng(n)
    cases = []
    for number in range(n):
        between = rng.choice(list("cdef"), apart).tolist()
        pair = ["b", *between, "a"] if number < late else ["a", *between, "b"]
        cases.append([*rng.choice(list("cdef"), 1).tolist(), *pair, *rng.choice(list("cdef"), 4).tolist()])
    found = order_of_pair(cases, n=19)
    assert found.of("a", "b").order == "fixed order"
    assert found.of("a", "b").order_scale is None
    assert "b" not in {edge.target for edge in found.depends_on_order if edge.influencer == "a"}


def test_few_steps_in_order_are_not_called_co_occurrence():
    """All 41 second steps come after the first, 39 immediately."""
    cases = np.random.default_rng(0).choice(list("cdefgh"), (200, 8)).tolist()
    for number in range(41):
        cases[number][3:5] = ["a", "b"] if number < 39 else ["a", "g", "b"]
    assert order_of_pair(cases).of("a", "b").order == "depends on order"


@pytest.mark.parametrize(
    "world", [lambda seed: simulated(even(60, 40), seed=seed), lambda seed: runs(60, 40, seed)]
)
def test_p_values_of_given_edges_that_are_not_there(world):
    """In 100 small worlds about one in twenty is below .05, with runs of labels and without."""
    below = 0
    for seed in range(100):
        events = world(seed)
        graph = sm.InfluenceGraph(sm.BSuMM(lookback=3, required=["a"], candidates=[]), targets=["b"])
        below += graph.fit(events).order_test(events, n=39, random_state=seed).edges[0].p_value < 0.05
    assert 1 <= below <= 11


# ---------------------------------------------------------------------- in a graph


@pytest.fixture(scope="module")
def events():
    return simulated(even(200, 20), [(0, 1, 6.0), (2, 3, 0.1)])


@pytest.fixture(scope="module")
def learned(events):
    """A graph with its order test, which no test changes."""
    return order_tested(events, n=19)


def test_what_was_found_is_merged_into_the_edges_and_forgotten_with_new_events(events):
    graph, found = order_tested(events, n=19, random_state=3)
    assert (found.n, found.seed, found.within, found.n_pairs) == (19, 3, 12, 36)
    assert graph.order_ is found
    for edge in graph.edges_:
        of = found.of(edge.influencer, edge.target)
        merged = (edge.order, edge.order_ratio, edge.order_low, edge.order_high, edge.order_p, edge.order_q)
        assert merged == (of.order, of.ratio, of.low, of.high, of.p_value, of.adjusted)
    assert found.of("f", "f") is None
    table = graph.edges_.to_frame("pyarrow")
    assert table.column("order").to_pylist() == [edge.order for edge in graph.edges_]
    assert table.schema.field("order_q").type == "double"
    assert graph.to_networkx().edges["a", "b"]["order"] == "depends on order"
    graph.fit(events)
    assert graph.order_ is None
    assert graph.edges_[0].order is None
    assert graph.edges_.to_frame("pyarrow").schema == table.schema


def test_learned_look_backs_are_said_to_be_chosen_before_the_test(events, learned):
    graph = sm.InfluenceGraph(sm.BSuMM(lookback="auto"), targets=["b"]).fit(events)
    found = graph.order_test(events, n=19)
    assert found.after_selection
    assert "after selection" in repr(found)
    assert not learned[1].after_selection


def test_edges_near_the_decision_get_more_shuffles(events, learned, monkeypatch):
    """The others keep the numbers of the first shuffles; more of them are those of a longer test."""
    graph, found = sm.InfluenceGraph(sm.BSuMM(lookback=3), n_jobs=2).fit(events), learned[1]
    assert graph.order_test(events, n=19) == found  # whatever the number of threads
    assert graph.order_test(events, n=19, random_state=1) != found
    monkeypatch.setattr("summarkov.evidence.order._NEAR", 1.0)
    few, many = graph.order_test(events, n=19), graph.order_test(events, n=190)
    near = [0.005 <= edge.adjusted < 1 for edge in few.edges]
    assert any(near)
    assert not all(near)
    for at, edge in enumerate(found.edges):
        assert edge.p_value == (many if near[at] else few).edges[at].p_value


def test_large_data_are_decided_by_a_part_as_by_all(monkeypatch):
    """The same verdicts, whatever the engine; what is near the decision gets all sequences and shuffles."""
    events = simulated(classes(500, 40, 8, times=3.0), [(0, 1, 2.0), (2, 5, 2.0), (6, 0, 2.0)])
    graph, whole = order_tested(events)
    monkeypatch.setattr("summarkov.evidence.order.LARGE", 10_000)
    monkeypatch.setattr("summarkov.evidence.order._BASE", 4_000)
    monkeypatch.setattr("summarkov.evidence.order._ENOUGH", 1_500)
    found = graph.order_test(events)
    assert found != whole
    assert {e.order for e in found.edges} > {"depends on order"}
    for one, other in zip(found.edges, whole.edges, strict=True):
        assert one.ratio == pytest.approx(other.ratio, rel=0.4)
        if other.adjusted < 0.005 or other.adjusted > 0.3:
            assert (one.order == "depends on order") == (other.order == "depends on order")
    monkeypatch.setattr("summarkov.engines.source.SHARD_EVENTS", 3_000)
    assert sm.InfluenceGraph(sm.BSuMM(lookback=3), n_jobs=2).fit(events).order_test(events) == found


def test_sequences_of_no_weight_are_not_there():
    events = simulated(even(60, 12), [(0, 1, 6.0)])
    weights = np.arange(60) % 3
    graph = sm.InfluenceGraph(sm.BSuMM(lookback=2)).fit(events, sample_weight=weights)
    found = graph.order_test(events, sample_weight=weights, n=19)
    light = graph.order_test(events[weights > 0], sample_weight=weights[weights > 0], n=19)
    assert light.of("a", "b").observed == found.of("a", "b").observed


@pytest.mark.parametrize(
    "model", [sm.OSuMM(lookback=3), sm.CSuMM(lookback=3), sm.TreeSuMM(), sm.BSuMM(lookback=(1, 3, None))]
)
def test_every_family_with_edges_is_order_tested(events, model):
    found = sm.InfluenceGraph(model).fit(events).order_test(events, n=39)
    assert found.of("a", "b").order == "depends on order"
    assert found.of("a", "b").ratio > 1


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"n": 18}, "at least 19 shuffles"),
        ({"n": True}, "n must be a whole number"),
        ({"random_state": -1}, "random_state must be a whole number"),
        ({"within": 1}, "a number of positions from 2 on"),
        ({"within": "all"}, ", not 'all'"),
        ({"within": "0d"}, "within must be a number of positions, or a time above 0"),
        ({"within": True}, "a number of positions from 2 on"),
    ],
)
def test_settings_that_make_no_sense(events, learned, settings, words):
    with pytest.raises(SettingError, match=words):
        learned[0].order_test(events, **settings)


def test_other_events_are_refused_and_graphs_that_can_have_no_edges(events, learned):
    with pytest.raises(DataError, match="not the events that the model was learned from"):
        learned[0].order_test(events[:10])
    with pytest.raises(SettingError, match="no edges"):
        sm.InfluenceGraph(sm.MarkovChain(order=1)).fit(events).order_test(events)
    graph = sm.InfluenceGraph(sm.BSuMM(candidates=[])).fit(events)
    assert graph.order_test(events, n=19).edges == ()


# ---------------------------------------------------------------------- in a file


def test_it_is_saved_with_the_graph(learned, tmp_path):
    graph, found = learned
    graph.save(tmp_path / "graph.json")
    again = sm.load(tmp_path / "graph.json")
    assert again.order_ == found
    assert again.edges_ == graph.edges_


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        (["edges", 0, "order"], "perhaps", "'order' one of depends on order"),
        (["edges", 0, "adjusted"], "0.5", "expected a number, found a text"),
        (["edges", 0, "p_value"], 2, "'p_value' from 0 to 1"),
        (["edges", 0, "low"], -1, "'low' from 0 on"),
        (["edges", 0, "target"], "z", "edges from labels to targets of the graph"),
        (["within"], "", "'within' above 0 or null"),
    ],
)
def test_a_damaged_block_is_refused(learned, path, value, words):
    document = json.loads(json.dumps(learned[0].to_document()))
    place = document["order"]
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    with pytest.raises(sm.errors.StoreError, match=words):
        sm.load(io.StringIO(json.dumps(document)))
