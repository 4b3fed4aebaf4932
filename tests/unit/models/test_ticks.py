"""Models of events that happened together, at times, and of attributes: planted truth, and files."""

import numpy as np
import pytest

import summarkov as sm
from summarkov.errors import DataError, SettingError
from summarkov.events.attributes import Attributes
from summarkov.events.moments import NANOSECONDS, WHOLE_NUMBERS, Moments

pytestmark = pytest.mark.cut_off

HOUR = 3600 * 10**9
LABELS = [chr(97 + i) for i in range(12)]


def ticks(n=250, length=30, factor=3.0, seed=0):
    """Bags of labels; b is ``factor`` times as likely in a tick after one with a."""
    rng = np.random.default_rng(seed)
    sequences = []
    for _ in range(n):
        sequence, before = [], set()
        for _ in range(length):
            p = np.full(12, 0.12)
            p[1] *= factor if "a" in before else 1
            tick = [label for label, hit in zip(LABELS, rng.random(12) < p, strict=True) if hit]
            sequence.append(tick)
            before = set(tick)
        sequences.append(sequence)
    return sequences


def in_time(unit=NANOSECONDS, seed=0, step=HOUR):
    """Events at irregular times; pain is four times as likely within six hours after a dose."""
    rng = np.random.default_rng(seed)
    labels = ["dose", "meal", "pain", "walk"]
    codes, times, offsets = [], [], [0]
    for _ in range(250):
        now, dosed = 0.0, -1e9
        for _ in range(40):
            now += rng.exponential(1) * rng.choice([0.2, 3.0])
            p = np.array([0.2, 0.35, 0.1, 0.35]) if now - dosed > 6 else np.array([0.2, 0.2, 0.4, 0.2])
            code = int(rng.choice(4, p=p))
            dosed = now if code == 0 else dosed
            codes.append(code)
            times.append(int(now * step))
        offsets.append(len(codes))
    return made(codes, offsets, labels, np.ones(len(codes), bool), times, unit)


def made(codes, offsets, labels, starts, times=None, unit=NANOSECONDS):
    codes, offsets, moments = Moments.made(codes, np.array(offsets), starts, times, unit)
    return sm.EventSequences(codes, offsets, labels, moments=moments)


def with_class(seed=0, n=400):
    """Three classes of sequences with rates of their own, and no influence at all."""
    rng = np.random.default_rng(seed)
    which, rates = rng.integers(0, 3, n), rng.dirichlet(np.ones(8), 3)
    sequences = [[f"e{j}" for j in rng.choice(8, 40, p=rates[k])] for k in which]
    attributes = Attributes(["class=0", "class=1", "class=2"], which[:, None] == np.arange(3))
    return sm.EventSequences.from_lists(sequences), attributes


def edges(graph):
    return {(edge.influencer, edge.target): edge for edge in graph.edges_}


def test_what_follows_a_tick_is_found_and_nothing_else():
    graph = sm.InfluenceGraph(sm.BSuMM(lookback=1)).fit(sm.read_events(ticks()))
    found = edges(graph)
    assert set(found) == {("a", "b")}
    assert 2.7 <= found["a", "b"].ratio <= 3.3
    assert found["a", "b"].low > 2
    tested = graph.order_test(sm.read_events(ticks()), n=49)
    assert [edge.order for edge in tested.edges] == ["depends on order"]


def test_every_label_has_its_own_probability_in_the_next_tick():
    events = sm.read_events(ticks(100))
    graph = sm.InfluenceGraph(sm.BSuMM(lookback=1)).fit(events)
    p = graph.predict_proba(events)
    assert p.shape == (events.n_ticks, 12)
    assert p.sum(axis=1).max() > 1.2
    after = graph.predict_next([[["a", "c"]], [["c"], []]]).probabilities[:, 1]
    assert after[0] > 2 * after[1]
    by_model = sum(model.log_likelihood(events) for model in graph.models_.values())
    assert graph.log_likelihood(events) == pytest.approx(by_model, rel=1e-12)
    assert graph.score(events) == pytest.approx(by_model / events.n_ticks, rel=1e-12)
    drawn = graph.simulate(50, 10, random_state=3)
    assert drawn.n_ticks == 500
    assert drawn.moments.has_ticks


def test_an_effect_of_hours_that_no_number_of_positions_tells():
    events = in_time(seed=2)
    model = sm.BSuMM("pain", lookback="6h").fit(events)
    assert model.influencers_ == ("dose",)
    assert 3.5 < model.influences_[0].ratio < 4.6
    for lookback in (1, 3, 5, 10, "auto"):
        assert sm.BSuMM("pain", lookback=lookback).fit(events).log_likelihood_ < model.log_likelihood_ - 100
    chosen = sm.BSuMM("pain", lookback=("1h", "6h", "1d")).fit(events)
    assert chosen.lookbacks_ == {"dose": "6h"}
    tree = sm.TreeSuMM("pain", lookbacks=("1h", "6h", "1d", None)).fit(events)
    assert [row.words for row in tree.table_] == ["dose within 6h", "no dose within 6h"]
    late = sm.BSuMM("pain", lookback="6h", delay="1h").fit(events)
    assert late.lookbacks_ == {"dose": "6h"}
    assert late.log_likelihood_ < model.log_likelihood_


def test_numbers_measure_time_too(tmp_path):
    events = in_time(WHOLE_NUMBERS, step=10)
    model = sm.BSuMM("pain", lookback="60").fit(events)
    assert model.influencers_ == ("dose",)
    model.save(tmp_path / "model.json")
    loaded = sm.load(tmp_path / "model.json")
    assert loaded.to_document() == model.to_document()
    assert np.array_equal(loaded.predict_proba(events), model.predict_proba(events))
    with pytest.raises(SettingError, match=r"these events have numbers; write '7 units'"):
        sm.BSuMM("pain", lookback="6h").fit(events)
    with pytest.raises(SettingError, match="is a time, and these events have no times; read them with"):
        sm.BSuMM("b", lookback="6h").fit([["a", "b"]])


def test_known_classes_leave_no_false_edges():
    events, attributes = with_class()
    plain = sm.InfluenceGraph(sm.BSuMM()).fit(events)
    assert len(plain.edges_) > 10
    known = events.with_attributes(attributes)
    chosen = sm.InfluenceGraph(sm.BSuMM()).fit(known)
    assert {z for z, _ in edges(chosen)} <= set(attributes.names)
    given = sm.InfluenceGraph(sm.BSuMM(given=["class"])).fit(known)
    assert list(given.edges_) == []
    assert given.influencers_["e0"] == attributes.names
    sure = given.confidence(known, n=5)
    assert not sure.edges
    assert list(given.order_test(known, n=19).edges) == []


def test_attributes_are_no_targets_and_are_asked_for_again(tmp_path):
    events, attributes = with_class(n=60)
    known = events.with_attributes(attributes)
    graph = sm.InfluenceGraph(sm.BSuMM()).fit(known)
    assert set(graph.models_) == set(events.labels)
    assert np.allclose(graph.predict_proba(known).sum(axis=1), 1)
    graph.save(tmp_path / "graph.json")
    loaded = sm.load(tmp_path / "graph.json")
    assert np.array_equal(loaded.predict_proba(known), graph.predict_proba(known))
    assert loaded.score(known) == graph.score(known)
    with pytest.raises(SettingError, match="'class=0' is an attribute of sequences"):
        sm.BSuMM("class=0").fit(known)
    with pytest.raises(DataError, match=r"these events have none; read them with attributes=\['class'\]"):
        graph.predict_proba(events)
    for model in (sm.MarkovChain("e0"), sm.JointSuMM()):
        with pytest.raises(SettingError, match="looks at events alone, and these have attributes"):
            model.fit(known)
    with pytest.raises(SettingError, match="given names 'region', and the data have no such attribute"):
        sm.BSuMM("e0", given=["region"]).fit(known)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (sm.BSuMM(["a", "b"]), "'a' and 'b' can happen together here"),
        (sm.MarkovChain("a"), "MarkovChain looks at events in a row"),
        (sm.JointSuMM(), "some of these happened together"),
    ],
)
def test_what_cannot_look_at_ticks_says_so(model, message):
    with pytest.raises(SettingError, match=message):
        model.fit(ticks(5, 5))


@pytest.mark.filterwarnings("ignore::summarkov.errors.TiesWarning")
@pytest.mark.parametrize(("delay", "expected"), [(0, (2, 2)), ("0s", (1, 1)), ("1h", (1, 1))])
def test_what_counts_as_before_at_one_time(delay, expected):
    """A dose at 0 h; at 5 h a dose, then pain; at 7 h pain: positions after a dose, and pain there."""
    hours, labels = [0, 5, 5, 7], ["dose", "dose", "pain", "pain"]
    day = [f"2026-01-01 {hour:02}:00" for hour in hours]
    table = {"case": ["c"] * 4, "event": labels, "time": day}
    events = sm.read_events(table, case="case", event="event", order_by="time", times=True)
    model = sm.BSuMM("pain", lookback="2h", delay=delay, required=["dose"], candidates=["dose"]).fit(events)
    rows = {row.words: (row.n, row.counts[0]) for row in model.table_}
    assert rows["dose"] == expected
