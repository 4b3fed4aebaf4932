"""Shuffles within periods, such as months: those of the oracle, and the same wherever the events are."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracle_order as oracle
import summarkov as sm
from strategies import examples
from summarkov.engines import MemorySource
from summarkov.engines.shuffles import OrderQuestion, Shuffles, count_moved, position_strata
from summarkov.errors import DataError, SettingError
from summarkov.summaries import Reach

#: Numbers as the paper counts them.
pytestmark = pytest.mark.cut_off

LABELS = ("a", "b", "c")
MONTHS = ("May", "June", "July")


@st.composite
def problems(draw):
    """Sequences of labels and months, and shuffles."""
    months = st.lists(st.tuples(st.sampled_from(LABELS), st.sampled_from(MONTHS)), max_size=12)
    sequences = draw(st.lists(months, min_size=1, max_size=5))
    return sequences, Shuffles(3, draw(st.integers(0, 9)), None, draw(st.integers(0, 2)), True)


def in_memory(sequences):
    lists = [[label for label, _ in some] for some in sequences]
    events = sm.EventSequences.from_lists(lists, labels=LABELS, ends="cut off")
    return MemorySource(events).with_periods([month for some in sequences for _, month in some])


@given(problems())
@examples(60)
def test_counts_are_those_of_the_oracle(problem):
    sequences, shuffles = problem
    found = []
    question = OrderQuestion(0, 1, Reach(0, 2), (2, 1), (Reach(0, 3), Reach(0, 2)))
    count_moved(in_memory(sequences), [question], shuffles, found.append)
    edge = {"influencer": "a", "target": "b", "lookback": (2, False), "delay": (0, False)}
    edge |= {"strata": [("c", (3, False)), ("b", (2, False))], "left_out": [], "only": False}
    ticks = [[(at, {label}) for at, (label, _) in enumerate(some)] for some in sequences]
    cuts = [oracle.blocks_of_periods([month for _, month in some], shuffles.kept) for some in sequences]
    seeds = [[oracle.block_seed(shuffles.seed, s, place) for place in some] for s, some in enumerate(cuts)]
    one = found[0]
    for replicate in range(shuffles.n + 1):
        numbers = one.positions, one.with_[replicate], one.hits_with[replicate], one.hits[replicate]
        cells = {
            (key >> 2, key & 1, key >> 1 & 1): tuple(int(each[row]) for each in numbers)
            for row, key in enumerate(one.keys.tolist())
            if one.positions[row]
        }
        ends, weights = position_strata(2), [1] * len(sequences)
        assert cells == oracle.counts(ticks, cuts, seeds, weights, edge, ends, replicate)


def table(seed=4, n=60):
    """Cases of unequal length, their rows in order, with a month that changes along the case."""
    rng = np.random.default_rng(seed)
    rows = []
    for case in range(n):
        for place in range(int(rng.integers(1, 60))):
            month = (place + case % 7) // 13
            label = LABELS[int(rng.choice(3, p=np.roll([0.6, 0.3, 0.1], month)))]
            rows.append({"case": f"c{case}", "event": label, "time": place // 2, "month": f"month {month}"})
    return rows


def csv(rows):
    names = ["case", "event", "time", "month"]
    return "\n".join([",".join(names), *(",".join(str(row[name]) for name in names) for row in rows)]) + "\n"


def shuffled(rows):
    """Rows in another order, but ties as they were."""
    rng = np.random.default_rng(1)
    keys = rng.permutation(len(rows))
    places = sorted(range(len(rows)), key=lambda at: keys[at])
    of = {}
    for at in places:
        of.setdefault((rows[at]["case"], rows[at]["time"]), []).append(at)
    kept = {at: sorted(some)[rank] for some in of.values() for rank, at in enumerate(some)}
    return [rows[kept[at]] for at in places]


@pytest.mark.parametrize("ties", ["in row order", "together"])
@pytest.mark.parametrize(("arranged", "memory"), [(list, 1 << 20), (shuffled, 1 << 20), (shuffled, 30_000)])
def test_streams_give_the_test_of_memory(tmp_path, ties, arranged, memory):
    rows = [row | {"month": f"month {row['time'] // 7}"} for row in table()]
    (tmp_path / "log.csv").write_text(csv(rows))
    how = {"period": "month", "ties": ties}
    events = sm.read_events(tmp_path / "log.csv", **how)
    graph = sm.InfluenceGraph(sm.BSuMM(lookback=3, gamma=0.1, false_edges=None)).fit(events)
    expected = graph.order_test(events, n=19, within="month")
    assert expected.within == "month"
    assert len(expected.edges) > 3
    assert expected.edges != graph.order_test(events, n=19).edges
    (tmp_path / "log.csv").write_text(csv(arranged(rows)))
    with sm.scan_events(tmp_path / "log.csv", memory=memory, **how) as source:
        assert graph.order_test(source, n=19, within="month") == expected
        mapped = source.map_labels({"a": "z"})  # seen in another way
        renamed = sm.InfluenceGraph(graph.model).fit(events.map_labels({"a": "z"}))
        expected = renamed.order_test(events.map_labels({"a": "z"}), n=19, within="month")
        assert renamed.order_test(mapped, n=19, within="month") == expected


def test_one_case_that_is_larger_than_memory(tmp_path):
    rng = np.random.default_rng(2)
    rows = [
        {"case": "c", "event": LABELS[int(code)], "time": place, "month": place // 25}
        for place, code in enumerate(rng.integers(0, 3, 1500))
    ]
    (tmp_path / "log.csv").write_text(csv(rows[::-1]))
    events = sm.read_events(tmp_path / "log.csv", period="month")
    assert np.count_nonzero(np.diff(events.moments.periods)) == 59
    graph = sm.InfluenceGraph(sm.BSuMM(lookback=2, gamma=0.01, false_edges=None)).fit(events)
    expected = graph.order_test(events, n=19, within="month")
    assert len(expected.edges) > 0
    with sm.scan_events(tmp_path / "log.csv", memory=15_000, period="month") as source:
        assert graph.order_test(source, n=19, within="month") == expected
        whole = graph.order_test(events, n=19, within=None)
        assert graph.order_test(source, n=19, within=None) == whole


def test_attributes_starts_and_ends_stay_beside_periods(tmp_path):
    rows = [row | {"region": "north" if int(row["case"][1:]) % 2 else "south"} for row in table()]
    names = ["case", "event", "time", "month", "region"]
    lines = [",".join(names), *(",".join(str(row[name]) for name in names) for row in rows)]
    (tmp_path / "log.csv").write_text("\n".join(lines) + "\n")
    how = {"period": "month", "attributes": ["region"], "ties": "in row order"}
    events = sm.read_events(tmp_path / "log.csv", **how).add_start()
    graph = sm.InfluenceGraph(sm.BSuMM(lookback=3, gamma=0.1, false_edges=None)).fit(events)
    expected = graph.order_test(events, n=19, within="month")
    assert len(expected.edges) > 3
    with sm.scan_events(tmp_path / "log.csv", **how) as source:
        prepared = source.add_start()
        assert graph.order_test(prepared, n=19, within="month") == expected


def test_the_order_column_may_tell_the_periods():
    rows = table()
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    how = {"case": "case", "event": "event", "ties": "in row order"}
    events = sm.read_events(columns, period="time", **how)
    assert events.origin.order == ("time",)
    assert events.origin.period == "time"
    expected = sm.read_events(columns, **how)
    assert events.to_lists() == expected.to_lists()
    graph = sm.InfluenceGraph(sm.BSuMM(lookback=2, gamma=0.1, false_edges=None)).fit(events)
    found = graph.order_test(events, n=19, within="time")
    named = graph.order_test(expected, n=19, within=[row["time"] for row in rows])
    assert found.edges == named.edges
    assert named.within == "periods"


def test_a_column_that_is_not_there_or_was_not_read_is_named(tmp_path):
    rows = table()
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    how = {"case": "case", "event": "event", "ties": "in row order"}
    with pytest.raises(DataError, match=r"no column 'mont'; the columns are .*did you mean 'month'"):
        sm.read_events(columns, period="mont", **how)
    events = sm.read_events(columns, **how)
    graph = sm.InfluenceGraph(sm.BSuMM(lookback=2, gamma=0.1, false_edges=None)).fit(events)
    with pytest.raises(SettingError, match="these were read without one; read them with period='month'"):
        graph.order_test(events, within="month")
    events = sm.read_events(columns, period="month", **how)
    with pytest.raises(SettingError, match="these have the periods of column 'month'; read them with"):
        graph.order_test(events, within="week")
    columns["month"][3] = None
    with pytest.raises(
        DataError, match="column 'month' of the table has no value in 1 row, the first is row 4"
    ):
        sm.read_events(columns, period="month", **how)
    with pytest.raises(DataError, match="happened together are in different periods"):
        sm.read_events(columns | {"month": range(len(rows))}, period="month", **how | {"ties": "together"})
    with pytest.raises(SettingError, match="period, session_gap and drop_duplicates are about columns"):
        sm.read_events([["a"]], period="month")
    (tmp_path / "log.jsonl").write_text('["a", "b"]\n')
    for read in (sm.read_events, sm.scan_events):
        with pytest.raises(SettingError, match="leave out lifecycle=, period= and further keys"):
            read(tmp_path / "log.jsonl", period="month")


def test_xes_and_tables_are_read_alike(tmp_path):
    rows = table(n=5)
    traces = []
    for case in dict.fromkeys(row["case"] for row in rows):
        events = "".join(
            f'<event><string key="concept:name" value="{row["event"]}"/>'
            f'<string key="month" value="{row["month"]}"/></event>'
            for row in rows
            if row["case"] == case
        )
        traces.append(f'<trace><string key="concept:name" value="{case}"/>{events}</trace>')
    (tmp_path / "log.xes").write_text(f"<log>{''.join(traces)}</log>")
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    of_table = sm.read_events(columns, case="case", event="event", order=False, period="month")
    of_log = sm.read_events(tmp_path / "log.xes", period="month")
    assert of_log == of_table
    assert of_log.moments.periods.tolist() == of_table.moments.periods.tolist()
    with pytest.raises(DataError, match=r"has no 'week', only .*name another key with period="):
        sm.read_events(tmp_path / "log.xes", period="week")
