"""Edge confidence as people use it."""

import json
import math

import pytest

import summarkov as sm
from strategies import drawn_weights
from summarkov.engines import Bootstrap, replicates
from summarkov.errors import DataError, NotFittedError, SettingError, StoreError
from summarkov.simulate.example import web_shop

#: Numbers as the paper counts them.
pytestmark = pytest.mark.cut_off


@pytest.fixture(scope="module")
def events():
    return web_shop().simulate(n_sequences=120, length=25, random_state=1)


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
        assert sure.ratio == pytest.approx(edge.ratio)
        assert sure.low <= sure.ratio <= sure.high
        assert edge.interval in ("robust", "counts", "resampled")
    strongest = confidence.of("purchase", "write review")
    assert (strongest.frequency, strongest.effect) == (1.0, "amplifies")
    assert confidence.of("browse", "out of stock") is None


def test_new_counts_forget_the_confidence(graph, events):
    graph.confidence(events, n=5)
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


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n": 0}, "n must be a whole number from 1"),
        ({"n": 2.5}, "n must be"),
        ({"random_state": -1}, "random_state must be"),
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


# --------------------------------------------------------------------------------------------- kept and shown


def test_confidence_is_saved_with_the_graph(graph, events, tmp_path):
    graph.confidence(events, n=10, random_state=4, level=0.9)
    graph.save(tmp_path / "graph.json")
    loaded = sm.load(tmp_path / "graph.json")
    assert loaded.confidence_ == graph.confidence_
    assert loaded.edges_ == graph.edges_
    assert loaded.confidence(events, n=10, random_state=4, level=0.9) == graph.confidence_


def test_ratios_of_nothing_are_kept_as_null(tmp_path):
    events = sm.read_events([["A", "B"] * 5, ["C"]] * 3)
    graph = sm.InfluenceGraph(sm.BSuMM(lookback=None, required=["A", "B", "C"])).fit(events)
    edges = graph.confidence(events, n=3).edges
    assert any(math.isnan(edge.ratio) and (edge.low, edge.high) == (0.0, math.inf) for edge in edges)
    graph.save(tmp_path / "graph.json")
    assert repr(sm.load(tmp_path / "graph.json").confidence_) == repr(graph.confidence_)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        ({"n": 0}, "confidence: expected 'n' from 1 on"),
        ({"level": 1.5}, "confidence: expected 'n' from 1 on, a 'level' between 0 and 1"),
        ({"units": "days"}, "'units' sequences or blocks"),
        ({("edges", "influencer"): "nobody"}, "edges from labels to targets of the graph"),
        ({("edges", "frequency"): 1.2}, "expected 'frequency' from 0 to 1"),
        ({("edges", "low"): -1.0}, "expected 'low' from 0 on"),
        ({("edges", "ratio"): "1.5"}, "ratio: expected a number, found a text"),
    ],
)
def test_damaged_confidence_is_refused(graph, events, tmp_path, damage, message):
    graph.confidence(events, n=10)
    graph.save(tmp_path / "graph.json")
    document = json.loads((tmp_path / "graph.json").read_text())
    for name, value in damage.items():
        if isinstance(name, tuple):
            sure = next(edge for edge in document["confidence"]["edges"] if edge["effect"] == "amplifies")
            sure[name[1]] = value
        else:
            document["confidence"][name] = value
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


# ------------------------------------------------------------------------------------------- the slower ways


def test_trees_are_learned_again_replicate_by_replicate(events):
    some = events[:40]
    template = sm.TreeSuMM()
    graph = sm.InfluenceGraph(template, targets=["purchase", "write review"]).fit(some)
    confidence = graph.confidence(some, n=4, random_state=1)
    graphs = [
        sm.InfluenceGraph(template, targets=["purchase", "write review"]).fit(
            some, sample_weight=drawn_weights(Bootstrap(4, 1), b, 40)
        )
        for b in range(4)
    ]
    assert len(confidence.edges) > 0
    for edge in confidence.edges:
        share = sum(edge.influencer in one.influencers_[edge.target] for one in graphs) / 4
        assert edge.frequency == pytest.approx(share)
        known = {(e.influencer, e.target): e.ratio for e in graph.edges_}
        assert edge.in_graph == ((edge.influencer, edge.target) in known)
        assert math.isnan(edge.ratio) or edge.ratio == known[edge.influencer, edge.target]
    with pytest.raises(SettingError, match="blocks must not cut"):
        graph.confidence(some, n=2, blocks=5)


def test_learned_look_backs_and_other_searches(events):
    some = events[:50]
    for template in (sm.BSuMM(lookback=(1, 3)), sm.BSuMM(lookback=3, search="exact")):
        graph = sm.InfluenceGraph(template, targets=["purchase"]).fit(some)
        confidence = graph.confidence(some, n=3, random_state=2)
        found = [
            template.copy(target="purchase")
            .fit(some, sample_weight=drawn_weights(Bootstrap(3, 2), b, 50))
            .influencers_
            for b in range(3)
        ]
        for edge in confidence.edges:
            assert edge.frequency == pytest.approx(sum(edge.influencer in one for one in found) / 3)


def test_little_room_for_what_positions_see_changes_nothing(events, monkeypatch):
    held = []
    positions = replicates.ReplicatedShard.positions

    def watched(shard, summary):
        rows = positions(shard, summary)
        held.append(len(shard.kept))
        return rows

    graph = sm.InfluenceGraph(sm.BSuMM(lookback="auto")).fit(events)
    expected = graph.confidence(events, n=10)
    monkeypatch.setattr(replicates.ReplicatedShard, "positions", watched)
    monkeypatch.setattr(replicates, "_MOST_KEPT", 0)
    assert graph.confidence(events, n=10) == expected
    assert max(held) == 1
