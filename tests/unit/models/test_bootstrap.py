"""Edge confidence as people use it."""

import copy
import json
import math

import pytest

import summarkov as sm
from strategies import drawn_weights
from summarkov.engines import Bootstrap
from summarkov.errors import DataError, NotFittedError, SettingError, StoreError
from summarkov.simulate.example import web_shop

pytestmark = pytest.mark.cut_off


@pytest.fixture(scope="module")
def events():
    return web_shop().simulate(n_sequences=120, length=25, random_state=1)


@pytest.fixture(scope="module")
def learned(events):
    return sm.InfluenceGraph(sm.BSuMM(lookback=5)).fit(events)


@pytest.fixture
def graph(learned):
    return copy.deepcopy(learned)


def test_edges_know_their_confidence(graph, events):
    assert graph.confidence_ is None
    assert all(edge.frequency is None for edge in graph.edges_)
    confidence = graph.confidence(events, n=20)
    assert graph.confidence_ is confidence
    assert (confidence.n, confidence.seed, confidence.level) == (20, 0, 0.95)
    assert confidence.n_sequences == 120
    for edge in graph.edges_:
        sure = confidence.of(edge.influencer, edge.target)
        assert (edge.frequency, edge.low, edge.high) == (sure.frequency, sure.low, sure.high)
        assert sure.ratio == pytest.approx(edge.ratio)
        assert sure.low <= sure.ratio <= sure.high
        assert edge.interval in ("robust", "counts", "resampled")
    strongest = confidence.of("purchase", "write review")
    assert (strongest.frequency, strongest.effect) == (1.0, "amplifies")
    assert confidence.of("browse", "out of stock") is None
    assert graph.fit(events).confidence_ is None  # of the counts before


def test_one_sequence_cannot_be_resampled(events):
    joined = sm.EventSequences(events.codes, [0, events.n_events], events.labels)
    graph = sm.InfluenceGraph(sm.BSuMM(lookback=5)).fit(joined)
    with pytest.raises(SettingError, match="sequences are drawn again, and these events have one; cut it"):
        graph.confidence(joined, n=10)


def test_an_interrupt_leaves_the_graphs_that_are_learned(graph, events):
    def stop(done, total):
        if done > share * total:
            raise KeyboardInterrupt

    share = 0
    with pytest.raises(KeyboardInterrupt):
        graph.confidence(events, n=35, progress=stop)
    assert graph.confidence_ is None
    whole, share = graph.confidence(events, n=20), 0.7
    with pytest.warns(UserWarning, match="interrupted: this is about the first 20 of 35 resampled graphs"):
        found = graph.confidence(events, n=35, progress=stop)
    frequencies = [{(e.influencer, e.target): e.frequency for e in one.edges} for one in (found, whole)]
    assert (found.n, frequencies[0]) == (20, frequencies[1])
    assert all(one.low <= one.ratio <= one.high for one in found.edges)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n": 0}, "n must be a whole number from 1"),
        ({"n": 2.5}, "n must be"),
        ({"level": 1}, "level must be"),
    ],
)
def test_settings_that_make_no_sense_are_refused(graph, events, settings, message):
    with pytest.raises(SettingError, match=message):
        graph.confidence(events, **settings)


def test_other_events_and_models_are_refused(graph, events):
    with pytest.raises(DataError, match="not the events that the model was learned from"):
        graph.confidence(events[:100])
    with pytest.raises(DataError, match="with their weights"):
        graph.confidence(events, sample_weight=[2] * 120)
    with pytest.raises(SettingError, match="MarkovChain has no edges"):
        sm.InfluenceGraph(sm.MarkovChain()).fit(events).confidence(events)
    with pytest.raises(NotFittedError):
        sm.InfluenceGraph(sm.BSuMM()).confidence(events)


def test_confidence_is_saved_with_the_graph(graph, events, tmp_path):
    graph.confidence(events, n=10, random_state=4, level=0.9)
    graph.save(tmp_path / "graph.json")
    loaded = sm.load(tmp_path / "graph.json")
    assert loaded.confidence_ == graph.confidence_
    assert loaded.edges_ == graph.edges_
    assert loaded.confidence(events, n=10, random_state=4, level=0.9) == graph.confidence_


def test_ratios_of_nothing_are_kept(tmp_path):
    events = sm.read_events([["A", "B"] * 5, ["C"]] * 3)
    graph = sm.InfluenceGraph(sm.BSuMM(lookback=None, required=["A", "B", "C"])).fit(events)
    edges = graph.confidence(events, n=3).edges
    assert any(math.isnan(edge.ratio) and (edge.low, edge.high) == (0.0, math.inf) for edge in edges)
    graph.save(tmp_path / "graph.json")
    assert repr(sm.load(tmp_path / "graph.json").confidence_) == repr(graph.confidence_)


@pytest.fixture(scope="module")
def document(learned, events):
    graph = copy.deepcopy(learned)
    graph.confidence(events, n=10)
    return json.loads(json.dumps(graph.to_document()))


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        ({"n": 0}, "confidence: expected 'n' from 1 on"),
        ({"level": 1.5}, "confidence: expected 'n' from 1 on, and a 'level' between"),
        ({"influencer": "nobody"}, "edges from labels to targets of the graph"),
        ({"frequency": 1.2}, "expected 'frequency' from 0 to 1"),
        ({"low": -1.0}, "expected 'low' from 0 on"),
        ({"ratio": "1.5"}, "ratio: expected a number, found a text"),
    ],
)
def test_damaged_confidence_is_refused(document, tmp_path, damage, message):
    document = copy.deepcopy(document)
    sure = next(edge for edge in document["confidence"]["edges"] if edge["effect"] == "amplifies")
    (document["confidence"] if damage.keys() & {"n", "level"} else sure).update(damage)
    (tmp_path / "graph.json").write_text(json.dumps(document))
    with pytest.raises(StoreError) as caught:
        sm.load(tmp_path / "graph.json")
    assert message in str(caught.value)


def test_confidence_is_drawn(graph, events):
    assert ' 100%"' not in graph.to_dot()
    assert "frequency" not in next(iter(graph.to_networkx().edges(data=True)))[2]
    graph.confidence(events, n=10)
    assert 'label="×' in graph.to_dot()
    assert ' 100%"' in graph.to_dot()
    drawn = graph.to_networkx().edges["purchase", "write review"]
    assert drawn["frequency"] == 1.0
    assert drawn["low"] < drawn["ratio"] < drawn["high"]


@pytest.mark.parametrize(
    "template", [sm.TreeSuMM(), sm.BSuMM(lookback=3, search="exact")], ids=["tree", "exact"]
)
def test_models_that_are_learned_again_replicate_by_replicate(template, events):
    some, targets = events[:40], ["purchase", "write review"]
    graph = sm.InfluenceGraph(template, targets=targets).fit(some)
    confidence = graph.confidence(some, n=4, random_state=1)
    graphs = [graph.copy().fit(some, sample_weight=drawn_weights(Bootstrap(4, 1), b, 40)) for b in range(4)]
    assert len(confidence.edges) > 0
    known = {(e.influencer, e.target): e.ratio for e in graph.edges_}
    assert {(e.influencer, e.target) for e in confidence.edges} == known.keys()
    shares = {(edge.influencer, edge.target): edge.frequency for edge in confidence.edges}
    for (z, x), share in (shares | {(z, x): share for z, x, share in confidence.others}).items():
        assert share == pytest.approx(sum(z in one.influencers_[x] for one in graphs) / 4)
    if isinstance(template, sm.TreeSuMM):
        assert all(edge.ratio == known[edge.influencer, edge.target] for edge in confidence.edges)
