"""Learned look-backs: planted ones are found, shared passes stay shared, files and words carry them."""

import io
import json

import pytest

import summarkov as sm
from strategies import drawn_weights
from summarkov.engines import Bootstrap, MemorySource
from summarkov.errors import SettingError, StoreError
from summarkov.summaries import BinarySummary, Names

STATES = [(0, 0), (0, 1), (1, 0), (1, 1)]
PLANTED = (0.06, 0.15, 0.18, 0.35)  # X after neither, C within 10 positions, B within 2 positions, both


def planted() -> sm.Dynamics:
    """X depends on B within 2 and on C within 10; Z takes the rest."""
    return sm.Dynamics(
        {
            "X": (("B", "C"), dict(zip(STATES, PLANTED, strict=True))),
            "Z": (("B", "C"), {s: 0.6 - p for s, p in zip(STATES, PLANTED, strict=True)}),
            **dict.fromkeys("BC", 0.05),
            **dict.fromkeys("DEFGHI", 0.05),
        },
        lookback={"B": 2, "C": 10},
    )


@pytest.fixture(scope="module")
def events() -> sm.EventSequences:
    return planted().simulate(100, 40, random_state=0)


@pytest.fixture(scope="module")
def graph(events: sm.EventSequences) -> sm.InfluenceGraph:
    return sm.InfluenceGraph(sm.BSuMM(lookback="auto")).fit(events)


def test_planted_look_backs_are_found_nearly_always():
    found = [
        sm.BSuMM("X", lookback="auto").fit(planted().simulate(100, 40, seed)).lookbacks_ for seed in range(20)
    ]
    assert sum(each == {"B": 2, "C": 10} for each in found) >= 18


def test_auto_is_a_choice_among_seven(events):
    auto, given = (sm.BSuMM("X", lookback=k).fit(events) for k in ("auto", (None, 20, 10, 5, 3, 2, 1)))
    assert auto.lookbacks_ == given.lookbacks_ == {"B": 2, "C": 10}
    assert auto.score_ == given.score_
    assert auto.trace_ == given.trace_
    assert [(s.action, s.label, s.lookback) for s in auto.trace_] == [("add", "C", 10), ("add", "B", 2)]


def test_a_look_back_is_changed_once_another_label_is_there():
    """Alone, B looks best at another look-back than beside C; seeds at which this happens are known."""
    changed = 0
    for seed in range(30):
        model = sm.BSuMM("X", lookback="auto", gamma=0.2, false_edges=None).fit(
            planted().simulate(15, 40, seed)
        )
        for step in model.trace_:
            if step.action == "change":
                changed += 1
                assert step.gain > 0
    assert changed > 0


def test_with_a_delay_only_longer_look_backs_are_tried():
    model = sm.BSuMM("X", lookback="auto", delay=3)
    assert model._choices() == (5, 10, 20, None)
    assert sm.BSuMM("X", lookback=(None, 4, 2))._choices() == (2, 4, None)
    assert sm.BSuMM("X", lookback=4)._choices() is None


def test_the_look_backs_of_other_models_are_as_given(events):
    assert sm.BSuMM("X", lookback=3).fit(events).lookbacks_ == {"B": 3, "C": 3}
    mapping = {"B": 2, "C": 10}
    given = sm.BSuMM("X", lookback=mapping, candidates=mapping).fit(events)
    assert given.lookbacks_ == mapping
    assert given.table_[1].words == "no B within 2 positions, C within 10 positions"


def test_the_first_round_of_all_targets_is_counted_as_one(events):
    """One request a look-back, whatever the number of targets; later ones are shared where places agree."""
    asked = []

    class Recorder(MemorySource):
        def count(self, requests):
            asked.append([(id(request.summary), request.influencers) for request in requests])
            return super().count(requests)

    graph = sm.InfluenceGraph(sm.BSuMM(lookback="auto", false_edges=None)).fit(Recorder(events))
    assert len(asked[0]) == 7 * 10
    assert len(set(asked[0])) == 7
    deepest = max(len(model.trace_) for model in graph.models_.values())
    assert len(asked) <= deepest + 2
    alone = {x: sm.BSuMM(x, lookback="auto", false_edges=None).fit(events) for x in events.labels}
    assert {x: model.lookbacks_ for x, model in graph.models_.items()} == {
        x: model.lookbacks_ for x, model in alone.items()
    }


def test_a_graph_predicts_and_simulates(graph, events):
    few = events[:3]
    after = graph.predict_next([few.to_lists()[0][:n] for n in range(5)]).probabilities
    assert after == pytest.approx(graph.predict_proba(few)[:5], rel=1e-12)
    drawn = graph.simulate(400, 40, random_state=3)
    again = sm.BSuMM("X", lookback="auto").fit(drawn)
    assert again.lookbacks_ == {"B": 2, "C": 10}


def test_files_keep_what_was_learned(graph, events, tmp_path):
    graph.save(tmp_path / "g.json")
    loaded = sm.load(tmp_path / "g.json")
    for x, model in graph.models_.items():
        assert loaded.models_[x].lookbacks_ == model.lookbacks_
        assert loaded.models_[x].trace_ == model.trace_
        assert (loaded.models_[x].predict_proba(events) == model.predict_proba(events)).all()
    loaded.save(tmp_path / "again.json")
    assert (tmp_path / "g.json").read_bytes() == (tmp_path / "again.json").read_bytes()
    one = sm.CSuMM("X", lookback=(3, None), cap=2).fit(events)
    one.save(tmp_path / "one.json")
    assert sm.load(tmp_path / "one.json").lookback == (3, None)
    assert sm.load(tmp_path / "one.json").lookbacks_ == one.lookbacks_


@pytest.mark.parametrize(
    ("edit", "sentence"),
    [
        (lambda t: t["lookbacks"].pop("B"), "expected 'lookbacks' for each of B, C"),
        (lambda t: t["lookbacks"].update(B=4), "one of the look-backs 1, 2, 3, 5, 10, 20, None, found 4"),
        (lambda t: t["trace"][0].update(lookback=4), "expected one of the look-backs"),
    ],
)
def test_damaged_look_backs_are_refused(events, edit, sentence):
    document = json.loads(json.dumps(sm.BSuMM("X", lookback="auto").fit(events).to_document()))
    edit(document["targets"][0])
    with pytest.raises(StoreError, match=sentence):
        sm.load(io.StringIO(json.dumps(document)))


def test_words_say_where_each_influencer_is_looked_for(events):
    model = sm.BSuMM("X", lookback="auto").fit(events)
    assert [row.words for row in model.table_] == [
        "no B within 2 positions, no C within 10 positions",
        "no B within 2 positions, C within 10 positions",
        "B within 2 positions, no C within 10 positions",
        "B within 2 positions, C within 10 positions",
    ]
    assert model.explain(["C", "D", "D", "B"]).words == "B within 2 positions, C within 10 positions"
    assert model.explain(["B", "C", "D", "D"]).words == "no B within 2 positions, C within 10 positions"
    names = Names(("A", "B"), "AB")
    assert BinarySummary({"A": 1, "B": None}).words((1, 0), names) == "A just before, no B ever"
    delayed = BinarySummary({"A": 4}, delay=1).words((1, 0), names)
    assert delayed == "A 2 to 4 positions before, no B 2 or more positions before"


@pytest.mark.parametrize("lookback", ["auto", (1, 2)])
def test_an_ordinal_model_has_one_window(events, lookback):
    with pytest.raises(SettingError, match="an OSuMM has one window for all its influencers"):
        sm.OSuMM("X", lookback=lookback).fit(events)


def test_each_replicate_learns_its_own_look_backs():
    """The bootstrap of a model with learned look-backs is that of models fitted to the drawn weights."""
    events = planted().simulate(25, 40, random_state=3)
    settings = {"lookback": (1, 2, 10), "gamma": 0.5}
    n, draws = 12, Bootstrap(12, 5)
    found = [
        sm.BSuMM("X", **settings).fit(events, sample_weight=drawn_weights(draws, b, len(events))).lookbacks_
        for b in range(n)
    ]
    graph = sm.InfluenceGraph(sm.BSuMM(**settings), targets=["X"]).fit(events)
    confidence = graph.confidence(events, n=n, random_state=5)
    frequencies = {edge.influencer: edge.frequency for edge in confidence.edges}
    frequencies |= {z: share for z, _, share in confidence.others}
    assert frequencies == {z: sum(z in each for each in found) / n for z in frequencies}
    assert {z for each in found for z in each} <= set(frequencies)
    graph.n_jobs = 3
    assert graph.confidence(events, n=n, random_state=5) == confidence


@pytest.mark.parametrize("lookback", ["auto", (2, 10)])
def test_groups_are_compared_at_given_look_backs(events, lookback):
    with pytest.raises(SettingError, match="groups are compared at the same look-backs"):
        sm.compare_groups(sm.BSuMM(lookback=lookback), events[:50], events[50:])
