"""Edge confidence as people use it."""

import pytest

import summarkov as sm
from summarkov.errors import DataError, NotFittedError, SettingError
from summarkov.simulate.example import web_shop


@pytest.fixture(scope="module")
def events():
    return web_shop().simulate(n_sequences=120, length=25, seed=1)


@pytest.fixture
def graph(events):
    return sm.InfluenceGraph(sm.BSuMM(lookback=5)).fit(events)


def test_edges_know_their_confidence(graph, events):
    assert graph.confidence_ is None
    assert all(edge.frequency is None for edge in graph.edges_)
    confidence = graph.confidence(events, n=20)
    assert graph.confidence_ is confidence
    assert (confidence.n, confidence.seed, confidence.level) == (20, 0, 0.95)
    assert (confidence.units, confidence.n_units) == ("sequences", 120)
    for edge in graph.edges_:
        sure = confidence.of(edge.influencer, edge.target)
        assert (edge.frequency, edge.low, edge.high) == (sure.frequency, sure.low, sure.high)
        assert sure.strength == pytest.approx(edge.strength)
        assert sure.low <= sure.high
    strongest = confidence.of("purchase", "write review")
    assert (strongest.frequency, strongest.effect) == (1.0, "amplifies")
    assert confidence.of("browse", "out of stock") is None


def test_new_counts_forget_the_confidence(graph, events):
    graph.confidence(events, n=5)
    graph.partial_fit(events)
    assert graph.confidence_ is None
    graph.confidence(events[[*range(120), *range(120)]], n=5)
    graph.fit(events)
    assert graph.confidence_ is None


def test_more_replicates_go_on_where_fewer_stopped(graph, events):
    few, more = (graph.confidence(events, n=n) for n in (10, 20))
    for edge in few.edges:
        if edge.in_graph:
            grown = 20 * more.of(edge.influencer, edge.target).frequency - 10 * edge.frequency
            assert -1e-9 <= grown <= 10 + 1e-9


def test_one_long_sequence_is_cut_into_blocks(events):
    joined = sm.EventSequences(events.codes, [0, events.n_events], events.labels)
    graph = sm.InfluenceGraph(sm.BSuMM(lookback=5)).fit(joined)
    confidence = graph.confidence(joined, n=10)
    assert (confidence.units, confidence.n_units) == ("blocks", 200)  # of 15 events, the cube root of 3000
    documents = [event // 25 for event in range(events.n_events)]
    assert graph.confidence(joined, n=10, blocks=documents).n_units == 120
    assert graph.confidence(joined, n=10, blocks=documents) == graph.confidence(joined, n=10, blocks=25)


def test_a_model_of_one_target(events):
    model = sm.BSuMM("purchase", lookback=5).fit(events)
    graph = sm.InfluenceGraph(sm.BSuMM(lookback=5), targets=["purchase"]).fit(events)
    assert model.confidence(events, n=10) == graph.confidence(events, n=10)
    joint = sm.BSuMM(["purchase", "search"], lookback=5).fit(events).confidence(events, n=10)
    assert {edge.target for edge in joint.edges} == {"purchase", "search"}


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n": 0}, "n must be a whole number from 1"),
        ({"n": 2.5}, "n must be"),
        ({"seed": -1}, "seed must be"),
        ({"level": 1}, "level must be"),
        ({"blocks": [1, 2]}, "blocks must name"),
        ({"blocks": 0}, "blocks must have"),
    ],
)
def test_settings_that_make_no_sense_are_refused(graph, events, settings, message):
    with pytest.raises(SettingError, match=message):
        graph.confidence(events, **settings)


def test_other_events_are_refused(graph, events):
    with pytest.raises(DataError, match="not the events that the model was learned from"):
        graph.confidence(events[:100])
    with pytest.raises(DataError, match="with their weights"):
        graph.confidence(events, sample_weight=[2] * 120)


def test_models_without_edges_and_graphs_that_are_not_fitted_are_refused(events):
    with pytest.raises(SettingError, match="MarkovChain has no edges"):
        sm.InfluenceGraph(sm.MarkovChain()).fit(events).confidence(events)
    with pytest.raises(NotFittedError):
        sm.InfluenceGraph(sm.BSuMM()).confidence(events)
