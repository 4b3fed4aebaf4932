"""A store of counts: a month by days is the month at once, and little is counted twice."""

import json
from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from pyarrow import parquet

import summarkov as sm
from summarkov.engines import MappedSource, messages
from summarkov.engines.work import CountWork
from summarkov.errors import DataError, SettingError, StoreError, UnknownLabelError
from summarkov.simulate.example import web_shop

#: Numbers as the paper counts them.
pytestmark = pytest.mark.cut_off

DAYS = [f"2024-05-{day:02}" for day in range(1, 7)]


@pytest.fixture(scope="module")
def month():
    events = web_shop().simulate(n_sequences=240, length=25, seed=4)
    return sm.EventSequences(events.codes, events.offsets, events.labels, [f"visit {k}" for k in range(240)])


def of_day(month, number):
    return month[np.arange(40 * number, 40 * number + 40)]


@pytest.fixture
def store(tmp_path, month):
    made = sm.CountStore(tmp_path / "store")
    for number, day in enumerate(DAYS):
        made.add(day, of_day(month, number))
    return made


def graph_of(data):
    return sm.InfluenceGraph(sm.BSuMM(lookback=3)).fit(data)


def test_days_are_the_month_to_the_last_bit(store, month, tmp_path):
    expected = graph_of(month)
    assert graph_of(store).to_document() == expected.to_document()
    again = sm.CountStore(tmp_path / "store")
    assert again.names == tuple(DAYS)
    assert (again.labels, again.n_sequences, again.n_events) == (month.labels, 240, month.n_events)
    assert graph_of(again).to_document() == expected.to_document()
    graph = graph_of(again)
    assert graph.confidence(again, n=10) == expected.confidence(month, n=10)
    assert graph.order_test(again, n=19) == expected.order_test(month, n=19)
    assert graph.log_likelihood(again) == expected.log_likelihood(month)
    tree = sm.TreeSuMM("purchase", max_depth=2)
    assert tree.fit(again).to_document() == tree.fit(month).to_document()


def test_another_day_is_searched_anew_and_the_others_are_hardly_counted(tmp_path, month, monkeypatch):
    store = sm.CountStore(tmp_path / "store")
    for number, day in enumerate(DAYS[:5]):
        store.add(day, of_day(month, number))
    graph_of(store)
    counted = []
    run = CountWork.run

    def watched(self, part):
        counted.append((part.number, len(self.requests)))
        return run(self, part)

    monkeypatch.setattr(CountWork, "run", watched)
    graph_of(store)
    assert counted == []
    store.add(DAYS[5], of_day(month, 5))
    assert graph_of(store).to_document() == graph_of(month).to_document()
    of_old_days = sum(n for part, n in counted if part < 5) / 5
    of_the_new = sum(n for part, n in counted if part == 5 and n)
    assert of_the_new > 0
    assert of_old_days < of_the_new / 2


def test_a_day_cannot_be_added_twice_and_can_be_forgotten(store, month):
    with pytest.raises(SettingError, match="there is a part '2024-05-01' already; forget it first"):
        store.add("2024-05-01", of_day(month, 0))
    store.forget("2024-05-01")
    assert store.names == tuple(DAYS[1:])
    assert graph_of(store).to_document() == graph_of(month[np.arange(40, 240)]).to_document()
    assert len(list(store.folder.glob("part-*"))) == 5
    with pytest.raises(SettingError, match="has no part 'monday'; it has 2024-05-02"):
        store.forget("monday")
    for wrong in ("", 3):
        with pytest.raises(SettingError, match="a part needs a name"):
            store.add(wrong, month)


def test_two_stores_become_one(tmp_path, month):
    halves = [sm.CountStore(tmp_path / name) for name in ("one", "other")]
    for number, day in enumerate(DAYS):
        halves[number % 2].add(day, of_day(month, number))
    halves[0].merge(halves[1])
    order = np.concatenate([np.arange(40 * k, 40 * k + 40) for k in (0, 2, 4, 1, 3, 5)])
    assert halves[0].n_sequences == 240
    assert graph_of(halves[0]).to_document() == graph_of(month[order]).to_document()
    with pytest.raises(SettingError, match="both stores have a part '2024-05-02'"):
        halves[0].merge(halves[1])


def test_labels_that_come_up_later(tmp_path):
    first, later = [["a", "b", "a", "b"]] * 5, [["a", "c", "b"], ["d", "a"]]
    stores = {
        policy: sm.CountStore(tmp_path / policy, new_labels=policy) for policy in ("add", "refuse", "pool")
    }
    for store in stores.values():
        store.add("first", first)
        sm.BSuMM("b").fit(store)
    stores["add"].add("later", later)
    assert stores["add"].labels == ("a", "b", "c", "d")
    assert sm.BSuMM("b").fit(stores["add"]).to_document() == sm.BSuMM("b").fit([*first, *later]).to_document()
    with pytest.raises(UnknownLabelError, match="unknown label 'c'"):
        stores["refuse"].add("later", later)
    assert stores["refuse"].names == ("first",)
    stores["pool"].add("later", later)
    pooled = [*first, ["a", "(rare)", "b"], ["(rare)", "a"]]
    assert sm.BSuMM("b").fit(stores["pool"]).to_document() == sm.BSuMM("b").fit(pooled).to_document()
    assert stores["pool"].label_counts.tolist() == [2, 12, 11]


def test_cases_that_are_cut_at_midnight(tmp_path, month):
    """Carried over, they are what they would have been; else the second half has no past."""
    lists = dict(zip(month.ids, month.to_lists(), strict=True))
    late = list(lists)[30:50]
    carried, cut = sm.CountStore(tmp_path / "carried"), sm.CountStore(tmp_path / "cut")
    monday = {name: events[:10] if name in late else events for name, events in list(lists.items())[:50]}
    tuesday = {name: lists[name][10:] if name in late else lists[name] for name in list(lists)[30:]}
    tuesday = {name: tuesday[name] for name in [*late, *list(lists)[50:]]}
    carried.add("monday", monday, open=late)
    assert set(carried.waiting) == set(late)
    assert carried.n_sequences == 30
    carried.add("tuesday", tuesday)
    assert carried.waiting == ()
    assert graph_of(carried).to_document() == graph_of(month).to_document()
    cut.add("monday", monday)
    cut.add("tuesday", tuesday)
    assert (carried.n_events, cut.n_events) == (month.n_events, month.n_events)
    assert (carried.n_sequences, cut.n_sequences) == (240, 260)
    with pytest.raises(SettingError, match="open= names 'nobody', of which there are no events"):
        cut.add("wednesday", {"x": ["browse"]}, open=["nobody"])


def test_streams_and_what_cannot_be_kept(tmp_path, month):
    path = tmp_path / "log.jsonl"
    sm.write_events(month, path)
    store = sm.CountStore(tmp_path / "store")
    with sm.scan_events(path, names=True) as source:
        store.add("all", source)
        with pytest.raises(SettingError, match="must be in memory"):
            store.add("more", source, open=["visit 1"])
    with sm.scan_events(path) as source, pytest.raises(SettingError, match="names=True"):
        store.add("again", source)
    assert store.names == ("all",)
    assert len(list(store.folder.glob("part-*"))) == 1
    assert graph_of(store).to_document() == graph_of(month).to_document()

    class Last:
        lookback = 1

        def state(self, history, influencers):
            return tuple(history[-1:])

        def n_states(self, n_influencers):
            return n_influencers + 1

    found, expected = (sm.SuMM("purchase", summary=Last()).fit(each) for each in (store, month))
    assert found.log_likelihood_ == expected.log_likelihood_


def test_other_folders_and_damage(tmp_path, store):
    with pytest.raises(DataError, match="there are no events to learn from"):
        graph_of(sm.CountStore(tmp_path / "empty"))
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("mine")
    with pytest.raises(StoreError, match="holds something else"):
        sm.CountStore(tmp_path / "mine")
    with pytest.raises(SettingError, match="new_labels must be"):
        sm.CountStore(tmp_path / "other", new_labels="drop")
    says = json.loads((store.folder / "store.json").read_text())
    (store.folder / says["parts"][2]["folder"] / "codes").write_bytes(b"abcd")
    with pytest.raises(StoreError, match=r"is damaged \(.*codes has not its 4000 bytes"):
        sm.CountStore(store.folder)
    (store.folder / "store.json").write_text(json.dumps({**says, "version": 9}))
    with pytest.raises(StoreError, match="expected 1 or 2, the versions of stores, found 9"):
        sm.CountStore(store.folder)


def test_questions_are_told_apart():
    def spelt(*values):
        import hashlib

        digest = hashlib.sha256()
        messages.spell(values, digest)
        return digest.hexdigest()

    several = [
        spelt(1, 2), spelt(12), spelt("1", 2), spelt((1,), 2), spelt(1, (2,)), spelt(np.arange(3)),
        spelt(np.arange(3, dtype=np.int32)), spelt(np.arange(4)), spelt(None), spelt(0.5), spelt(True),
    ]  # fmt: skip
    assert len(set(several)) == len(several)
    with pytest.raises(messages.NotPlainError):
        spelt(print)


def ticking(n=900, n_cases=60, seed=1):
    """Rows of cases, some at the same time; the cases of every third of the rows are others."""
    rng = np.random.default_rng(seed)
    case = np.sort(rng.integers(n_cases, size=n))
    time = np.cumsum(rng.integers(3, size=n))
    event = rng.choice(["A", "B", "C", "D"], size=n)
    event[1:][(event[:-1] == "A") & (rng.random(n - 1) < 0.5)] = "B"
    return pa.table({"case": [f"visit {k}" for k in case], "event": event, "time": time}), case


@pytest.mark.parametrize("how", [{"ties": "together"}, {"times": True}, {"ties": "together", "times": True}])
@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.filterwarnings("ignore::summarkov.errors.TiesWarning")
def test_days_of_ticks_and_times_are_the_month(tmp_path, how, streamed):
    table, case = ticking()
    days = [table.filter(pa.array(case // 20 == day)) for day in range(3)]
    days[2] = days[2].filter(pc.not_equal(days[2].column("event"), "D"))
    whole = sm.read_events(pa.concat_tables(days), **how)
    store = sm.CountStore(tmp_path / "store")
    for number, day in enumerate(days):
        if streamed:
            parquet.write_table(day, tmp_path / f"{number}.parquet")
            with sm.scan_events(tmp_path / f"{number}.parquet", names=True, **how) as source:
                store.add(f"day {number}", source)
        else:
            store.add(f"day {number}", sm.read_events(day, **how))
    openers = [partial(sm.read_events, day, **how) for day in days]
    model = sm.BSuMM(lookback=4, gamma=0.1, false_edges=None)
    expected = sm.InfluenceGraph(model).fit(whole)
    document, sure = expected.to_document(), expected.confidence(whole, n=5)
    order = expected.order_test(whole, n=19)
    assert len(expected.edges_) > 2
    for source in (store, sm.CountStore(tmp_path / "store"), MappedSource(openers, map=map)):
        graph = sm.InfluenceGraph(model).fit(source)
        assert graph.to_document() == document
        assert (graph.confidence(source, n=5), graph.order_test(source, n=19)) == (sure, order)
        assert (source.n_events, source.n_positions) == (whole.n_events, whole.n_ticks)


@pytest.mark.parametrize("streamed", [False, True])
def test_days_of_weighted_sequences_are_the_month(tmp_path, streamed, monkeypatch):
    """Whole weights, then fractions, then none: the unit of all changes, and counts with it."""
    table, case = ticking()
    weight = np.where(case < 20, case % 4, np.where(case < 40, 0.25 * (case % 5), 1.0))
    table = table.append_column("n", pa.array(weight))
    whole = sm.read_events(table, weight="n", order=False)
    model = sm.BSuMM(lookback=4, gamma=0.1, false_edges=None)

    def learned(data):
        return sm.InfluenceGraph(model).fit(data)

    store = sm.CountStore(tmp_path / "store")
    for day in range(3):
        how = {"order": False, "weight": "n"} if day < 2 else {"order": False}
        rows = table.filter(pa.array(case // 20 == day)).drop_columns([] if day < 2 else ["n"])
        parquet.write_table(rows, tmp_path / f"{day}.parquet")
        if streamed:
            with sm.scan_events(tmp_path / f"{day}.parquet", names=True, **how) as source:
                store.add(f"day {day}", source)
        else:
            store.add(f"day {day}", sm.read_events(tmp_path / f"{day}.parquet", **how))
        so_far = whole[np.arange(len(np.unique(case[case < 20 * day + 20])))]
        assert learned(store).to_document() == learned(so_far).to_document()
    expected = learned(whole)
    assert len(expected.edges_) > 2
    again = sm.CountStore(tmp_path / "store")
    counted = []
    run = CountWork.run
    with monkeypatch.context() as patch:
        patch.setattr(CountWork, "run", lambda self, part: counted.append(part.number) or run(self, part))
        graph = learned(again)
    assert counted == []
    assert graph.to_document() == expected.to_document()
    assert graph.confidence(again, n=5) == expected.confidence(whole, n=5)
    assert graph.order_test(again, n=19) == expected.order_test(whole, n=19)
    assert graph.log_likelihood(again) == expected.log_likelihood(whole)
    assert (again.n_events, again.n_sequences) == (whole.n_events, len(whole))
    store.forget("day 1")
    rest = whole[np.flatnonzero((np.unique(case) < 20) | (np.unique(case) >= 40))]
    assert learned(store).to_document() == learned(rest).to_document()
    other = sm.CountStore(tmp_path / "other")
    other.merge(store)
    assert learned(other).to_document() == learned(rest).to_document()


def test_finer_units_change_nothing_in_what_drifted(store, month, tmp_path):
    weighted = sm.CountStore(tmp_path / "weighted")
    for number, day in enumerate(DAYS):
        visits = dict(zip(of_day(month, number).ids, of_day(month, number).to_lists(), strict=True))
        some = sm.read_events({**visits, f"nothing {number}": []}, labels=month.labels)
        weighted.add(day, some.with_weights([1.0] * 40 + [0.5]))
    assert (store.scale, weighted.scale) == (1, 1 << 20)
    graph = graph_of(store)
    assert sm.drift(graph, weighted).changes == sm.drift(graph, store).changes


def test_what_parts_cannot_tell_is_refused_with_what_to_do(tmp_path):
    """In a store, and in parts that are counted anywhere."""
    rows = pa.table({"case": [1, 1, 1], "event": ["A", "B", "A"], "time": [1, 2, 3], "who": ["x"] * 3})
    store = sm.CountStore(tmp_path / "store")
    for how, words in (
        ({"attributes": ["who"]}, "named from all of the data at once; read parts without attributes="),
    ):
        events = sm.read_events(rows, **how)
        with pytest.raises(SettingError, match=words):
            store.add("monday", events)
        with pytest.raises(SettingError, match=words):
            MappedSource([lambda events=events: events], map=map)
    assert store.names == ()
    plain, timed = sm.read_events(rows), sm.read_events(rows, times=True)
    store.add("monday", timed)
    other = sm.CountStore(tmp_path / "other")
    other.add("tuesday", plain)
    for ask in (
        lambda: store.add("tuesday", plain),
        lambda: store.merge(other),
        lambda: MappedSource([lambda: plain, lambda: timed], map=map),
    ):
        with pytest.raises(
            SettingError, match=r"some parts have times and others have none, .* read all parts"
        ):
            ask()
    with pytest.raises(SettingError, match="only events one after the other, without times, can be joined"):
        store.add("tuesday", timed, open=["1"])
    with pytest.raises(SettingError, match="a sequence with a weight cannot wait for a later part"):
        other.add("wednesday", plain.with_weights([2]), open=["1"])
    heavy = sm.CountStore(tmp_path / "heavy")
    heavy.add("monday", sm.read_events([["A"] * (1 << 20)] * 2).with_weights([2.0**41, 2.0**41]))
    with pytest.raises(SettingError, match="more than can be counted exactly; scale the weights down"):
        heavy.add("tuesday", sm.read_events([["A"]]).with_weights([0.5]))
    assert sm.CountStore(tmp_path / "heavy").names == ("monday",)
