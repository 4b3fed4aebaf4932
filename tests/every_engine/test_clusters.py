"""How much sequences move the ratio of an edge: equal to the oracle, however the data are cut."""

from unittest import mock

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracle_clusters as oracle
import summarkov as sm
from strategies import data, examples, weights_of
from summarkov.engines import MemorySource, followings
from summarkov.engines import source as sources
from summarkov.engines.followings import _add_clusters
from summarkov.engines.source import added
from summarkov.models.learning import _clustered

pytestmark = pytest.mark.cut_off

LABELS = ("A", "B", "C", "D")


@st.composite
def cases(draw, with_ticks, with_attributes):
    """Cases of ticks at times."""
    found = []
    for _ in range(draw(st.integers(2, 5))):
        time, places = 0, []
        for _ in range(draw(st.integers(0, 12))):
            time += draw(st.integers(1, 3))
            most = 3 if with_ticks else 1
            places.append((time, draw(st.sets(st.sampled_from(LABELS), min_size=1, max_size=most))))
        found.append((draw(st.sampled_from([set(), {"sex=f"}])) if with_attributes else set(), places))
    return found


def events_of(found, with_ticks, with_attributes):
    """Cases as rows of a table: one for each event."""
    rows = [
        {"case": f"{number:02}", "time": time, "event": label}
        | ({"sex": "f" if attributes else "m"} if with_attributes else {})
        for number, (attributes, places) in enumerate(found)
        for time, labels in places
        for label in sorted(labels)
    ]
    more = {"attributes": ["sex"]} if with_attributes else {}
    more |= {"ties": "together"} if with_ticks else {}
    return sm.read_events(pa.Table.from_pylist(rows), order_by="time", times=True, labels=LABELS, **more)


def check(model, found, weights, lookbacks, delay, block):
    """All edges of a fitted model against the oracle."""
    fitted = model.fitted
    names, targets = fitted.influencer_labels, model.target_
    kinds = oracle.sequences_of(found), oracle.blocks_of(found, *block) if block else None
    kinds = [[c for c in kind if c] for kind in (kinds[0], kinds[1] or kinds[0])]
    for u, z in enumerate(names):
        for t, x in enumerate(targets):
            for kind, some in enumerate(kinds):
                if z in fitted.layout.attributes:
                    some = kinds[0]
                squares, *n = oracle.edge(found, weights, some, z, x, names, lookbacks, delay)
                assert fitted.clusters.squares[kind, t, u] == pytest.approx(squares, rel=1e-5, abs=1e-12)
                assert fitted.clusters.n[kind, u] == pytest.approx(min(n), abs=1e-4)


@examples(100)
@given(data(nonempty=True), st.integers(1, 9), st.data())
def test_it_equals_the_oracle_wherever_the_data_is_cut(events, size, draw):
    weights = draw.draw(weights_of(events))
    names = sorted(draw.draw(st.sets(st.sampled_from(events.labels), min_size=1, max_size=3)))
    target = draw.draw(st.sets(st.sampled_from(events.labels), min_size=1, max_size=2))
    lookback, delay = draw.draw(st.sampled_from([(1, 0), (2, 0), (2, 1), (3, 0), (None, 0)]))
    windows = draw.draw(st.sampled_from([1, 2]))
    if weights and sum(w * len(s) for w, s in zip(weights, events.sequences, strict=True)) < 2:
        weights = None
    kind = draw.draw(st.sampled_from([sm.BSuMM, sm.CSuMM, sm.OSuMM]))
    settings = {"required": names, "candidates": [], "lookback": lookback, "delay": delay}
    with mock.patch.object(sources, "SHARD_EVENTS", size), mock.patch.object(followings, "_WINDOWS", windows):
        model = kind(sorted(target), **settings).fit(MemorySource(events.events, sample_weight=weights))
    found = [(set(), [(i, {label}) for i, label in enumerate(s)]) for s in events.sequences]
    each = [1] * len(found) if weights is None else weights
    lookbacks = dict.fromkeys(names, (lookback, False))
    block = None if lookback is None else (windows * lookback, False)
    check(model, found, each, lookbacks, (delay, False), block)


@pytest.mark.parametrize("with_ticks", [False, True])
@pytest.mark.parametrize("with_attributes", [False, True])
def test_ticks_times_and_attributes(with_ticks, with_attributes):
    @examples(30)
    @given(cases(with_ticks, with_attributes), st.sampled_from(["3 units", 2]), st.integers(1, 4))
    def compare(found, lookback, size):
        if sum(len(places) for _, places in found) < 2:
            return
        events = events_of(found, with_ticks, with_attributes)
        found = [case for case in found if case[1]]  # a table has no rows of empty cases
        names = ["A", "C", *(["sex=f"] if with_attributes and any(a for a, _ in found) else [])]
        with mock.patch.object(sources, "SHARD_EVENTS", size), mock.patch.object(followings, "_WINDOWS", 1):
            model = sm.BSuMM("B", lookback=lookback, required=names, candidates=[]).fit(events)
        span = (3, True) if lookback == "3 units" else (2, False)
        check(model, found, [1] * len(found), dict.fromkeys(names, span), (0, False), span)

    compare()


@examples(40)
@given(data(nonempty=True), st.integers(1, 9))
def test_parts_and_blocks_add_up(events, size):
    model = sm.BSuMM(events.labels[0], lookback=2, required=events.labels[:2], candidates=[])
    asked = _clustered(model.fit(events.events).fitted)

    def add(some):
        return MemorySource(some).map(_add_clusters, [asked])

    (whole,) = add(events.events)
    with mock.patch.object(sources, "SHARD_EVENTS", size):
        (blocks,) = add(events.events)
    half = len(events.events) // 2
    parts = [add(events.events[some]) for some in (slice(half), slice(half, None))]
    for (other,) in ([blocks], added(parts)):
        assert other.clusters.tolist() == whole.clusters.tolist()
        assert other.squares == pytest.approx(whole.squares, rel=1e-9, abs=1e-24)


def made(n=60, seed=4):
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(n):
        often = rng.gamma(1.0)
        rates = np.array([1, often, 1, 2])
        rows.append(["ABCD"[k] for k in rng.choice(4, size=rng.integers(8, 30), p=rates / rates.sum())])
    return sm.read_events(rows)


def test_states_of_a_tree_are_added_up_in_the_same_way():
    """A tree that asks only whether labels occurred within two positions is a BSuMM of one influencer."""
    events = made()
    tree = sm.TreeSuMM("B", lookbacks=[2], counts=[], pairs=False, starts=[], max_depth=1, candidates=["B"])
    plain = sm.BSuMM("B", lookback=2, required=["B"], candidates=[])
    (of_tree,), (expected,) = tree.fit(events).influences_, plain.fit(events).influences_
    assert of_tree.interval == expected.interval == "robust"
    assert tree.fitted.clusters.squares == pytest.approx(plain.fitted.clusters.squares)
    assert (of_tree.low, of_tree.high) == pytest.approx((expected.low, expected.high))


def test_many_influencers_are_added_up_by_state():
    events = made()
    model = sm.BSuMM("B", lookback=2, required=["A", "B", "C"], candidates=[])
    plain = model.copy().fit(events).fitted.clusters
    with mock.patch.object(followings, "_MOST_BITS", 2):
        by_state = model.copy().fit(events).fitted.clusters
    assert by_state.squares == pytest.approx(plain.squares, rel=1e-6)
    assert by_state.n.tolist() == plain.n.tolist()
