"""Columns, labels, order and weights as asked: equal in memory, streamed, and in an obvious twin."""

import contextlib
import csv
import tempfile

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracle_reading
import summarkov as sm
from strategies import examples
from summarkov.errors import DataError, SettingError

#: What is said of many ties is the topic of test_ties_warning.
pytestmark = [pytest.mark.cut_off, pytest.mark.filterwarnings("ignore::summarkov.errors.TiesWarning")]

COLUMNS = ("case", "activity", "step", "day", "number", "lifecycle")


def rows_of(draw):
    n = draw(st.integers(1, 25))
    days = ["03/01/2024 9:05 PM", "03/01/2024 9:05 AM", "11/02/2023 12:00 AM"]
    values = {
        "case": st.sampled_from("xyz"),
        "activity": st.sampled_from(["a", "b", "c", None]),
        "step": st.sampled_from(["s", "t", None]),
        "day": st.sampled_from(days),
        "number": st.sampled_from(["1", "2", "10"]),
        "lifecycle": st.sampled_from(["start", "complete", "COMPLETE"]),
    }
    return [{name: draw(values[name]) for name in COLUMNS} for _ in range(n)]


DATE = "%d/%m/%Y %I:%M %p"
tables = st.composite(rows_of)()
how = st.fixed_dictionaries(
    {
        "event": st.sampled_from(["activity", "step"]),
        "order_by": st.sampled_from([[], ["number"], ["day"], ["day", "number"], ["number", "day"]]),
        "lifecycle": st.sampled_from([None, "complete"]),
        "missing": st.sampled_from(["skip", "none"]),
    }
)


def as_lists(events):
    """The sequences by name."""
    return dict(zip(events.ids, events.to_lists(), strict=True))


@contextlib.contextmanager
def in_files(rows):
    table = {name: [row[name] for row in rows] for name in COLUMNS}
    with tempfile.TemporaryDirectory() as folder:
        with open(f"{folder}/log.csv", "w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(COLUMNS)
            writer.writerows([[row[name] for name in COLUMNS] for row in rows])
        schema = pa.schema([(name, pa.string()) for name in COLUMNS])
        pq.write_table(pa.table(table, schema), f"{folder}/log.parquet", row_group_size=4)
        yield folder, pa.table(table, schema)


@examples(60)
@given(tables, how)
def test_every_way_reads_alike(rows, asked):
    expected, ties, unlabelled, other = oracle_reading.read_rows(rows, date_format=DATE, **asked)
    given = {**asked, "case": "case", "order_by": asked["order_by"] or False, "date_format": DATE}
    with in_files(rows) as (folder, table):
        if not expected and not unlabelled:
            with pytest.raises(DataError, match="no event of the table has lifecycle='complete'; there are"):
                sm.read_events(table, **given)
            return
        for source in (table, f"{folder}/log.csv", f"{folder}/log.parquet"):
            found = sm.read_events(source, **given)
            assert dict(zip(found.ids, found.to_lists(), strict=True)) == expected
            assert list(found.ids) == list(expected)
            assert found.tied_order == ties
            assert (found.origin.unlabelled, found.origin.other_lifecycle) == (unlabelled, other)
            assert found.origin.event == asked["event"]
            assert found.origin.order == tuple(asked["order_by"])
        for name in ("log.csv", "log.parquet"):
            with sm.scan_events(f"{folder}/{name}", **given, names=True) as source:
                assert as_lists(source) == expected
                assert source.tied_order == ties
                assert source.origin == found.origin


@pytest.mark.parametrize("n_cases", [40, 9000])
@pytest.mark.parametrize("asked", [{"times": True}, {"attributes": ["kind"]}, {"session_gap": 3}], ids=str)
def test_rows_that_come_back_from_the_sort_in_many_batches(n_cases, asked, tmp_path, monkeypatch):
    """The row with which a case begins in the file is anywhere among its sorted rows."""
    monkeypatch.setattr("summarkov.read.scan._ROWS", 3000)
    monkeypatch.setattr("summarkov.read.tables.ROWS", 700)
    rng = np.random.default_rng(1)
    case = rng.integers(0, n_cases, 20_000)
    table = {"case": case, "event": rng.choice(list("abc"), 20_000), "time": rng.integers(0, 10**6, 20_000)}
    pq.write_table(pa.table({**table, "kind": case % 3}), tmp_path / "log.parquet")
    asked = {**asked, "ties": "in row order"}
    expected = sm.read_events(tmp_path / "log.parquet", **asked)
    with sm.scan_events(tmp_path / "log.parquet", names=True, **asked) as source:
        assert (source.to_lists(), [*source.ids]) == (expected.to_lists(), [*expected.ids])
        assert source.attributes == expected.attributes


# ---------------------------------------------------------------------- labels


def test_missing_labels_in_lines_that_are_streamed(tmp_path):
    with pytest.raises(DataError, match="an event has no label"):
        sm.read_events([["a", None, "b"]])
    path = tmp_path / "log.jsonl"
    path.write_text('["a", null, "b"]\n[null]\n')
    with sm.scan_events(path, missing="skip", names=True) as source:
        assert as_lists(source) == {"0": ["a", "b"], "1": []}
        assert source.origin.unlabelled == 2


def test_a_dict_of_columns_is_a_table_only_if_columns_are_named():
    columns = {"case": [1, 1, 2], "event": ["a", "b", "a"], "time": [2, 1, 1]}
    with pytest.raises(DataError, match="this dict looks like a table, one list per column"):
        sm.read_events(columns)
    found = sm.read_events(columns, case="case", event="event")
    assert found.to_lists() == [["b", "a"], ["a"]]
    assert sm.read_events({"case": ["a"], "other": ["b", "c"]}).ids == ("case", "other")
    with pytest.raises(DataError, match="cannot be read as a table"):
        sm.read_events({**columns, "time": [1]}, case="case", event="event")


# ---------------------------------------------------------------------- weights


@pytest.mark.parametrize("weights", [[1, 3, 0], [0.5, 2.25, 1.0]])
@pytest.mark.parametrize("name", ["log.csv", "log.parquet", "log.jsonl"])
def test_weights_are_those_of_the_column(tmp_path, weights, name):
    cases = {case: ["a", "b"] * (2 + len(case)) for case in ("x", "yy", "zzz")}
    weighted = sm.EventSequences.from_lists(cases.values(), ids=cases).with_weights(weights)
    sm.write_events(weighted, tmp_path / name)
    found = sm.read_events(tmp_path / name, weight="weight")
    assert found.weights.tolist() == weights
    expected = sm.BSuMM("b", lookback=1).fit(cases, sample_weight=weights)
    with sm.scan_events(tmp_path / name, weight="weight") as source:
        for events in (found, source):
            model = sm.BSuMM("b", lookback=1).fit(events)
            assert model.table_.to_frame("pyarrow") == expected.table_.to_frame("pyarrow")
            assert model.score_ == expected.score_
    with pytest.raises(SettingError, match="the events have weights of their own"):
        sm.BSuMM("b").fit(found, sample_weight=[1, 1, 1])


@pytest.mark.parametrize(
    ("values", "why"),
    [
        (["1", "2", "1"], "column 'n' of .* changes during case 'x': '1' in one row and '2' in another"),
        (["1", "", "1"], "changes during case 'x': '1' in one row and no value in another"),
        (["1", "1", "-1"], "holds '-1' in case 'y'; a weight is a number from 0 on"),
        (["much", "much", "1"], "holds 'much' in case 'x'; a weight is a number from 0 on"),
        (["inf", "inf", "1"], "holds 'inf' in case 'x'"),
    ],
)
def test_what_is_no_weight(tmp_path, values, why):
    rows = zip("xxy", "aba", values, strict=True)
    (tmp_path / "log.csv").write_text("case,event,n\n" + "".join(f"{c},{e},{n}\n" for c, e, n in rows))
    for read in (sm.read_events, sm.scan_events):
        with pytest.raises(DataError, match=why):
            read(tmp_path / "log.csv", weight="n")


# ---------------------------------------------------------------------- XES


def log_of(*traces):
    """A log of traces: the attributes of each, and of its events."""

    def attributes(given):
        return "".join(f'<string key="{key}" value="{value}"/>' for key, value in given.items())

    body = ""
    for trace, *events in traces:
        inside = "".join(f"<event>{attributes(event)}</event>" for event in events)
        body += f"<trace>{attributes(trace)}{inside}</trace>"
    return f"<log>{body}</log>"


NAME, TIME, LIFE = "concept:name", "time:timestamp", "lifecycle:transition"


def test_xes_joins_leaves_out_and_weighs(tmp_path):
    path = tmp_path / "log.xes"
    path.write_text(
        log_of(
            (
                {NAME: "x", "n": "2"},
                {NAME: "a", LIFE: "start"},
                {NAME: "a", LIFE: "COMPLETE"},
                {LIFE: "complete"},
            ),
            ({NAME: "y", "n": "0.5"}, {NAME: "b", LIFE: "complete"}),
        )
    )
    found = sm.read_events(path, lifecycle="complete", missing="skip", weight="n")
    assert found.to_lists() == [["a"], ["b"]]
    assert (found.origin.unlabelled, found.origin.other_lifecycle) == (1, 1)
    assert found.weights.tolist() == [2.0, 0.5]
    with pytest.raises(
        DataError, match=r"no event of .* has lifecycle='ended'; there are 'COMPLETE', 'complete'"
    ):
        sm.read_events(path, lifecycle="ended", missing="none")
    with pytest.raises(DataError, match=r"weight column 'm' of .* holds no value in case 'x'"):
        sm.read_events(path, weight="m", missing="skip")


def test_xes_counts_ties_and_falls_of_time(tmp_path):
    path = tmp_path / "log.xes"
    days = ["2024-01-02", "2024-01-02", "2024-01-01", "2024-01-03"]
    path.write_text(
        log_of(
            ({NAME: "x"}, *({NAME: name, TIME: day} for name, day in zip("abcd", days, strict=True))),
            ({NAME: "y"}, {NAME: "a", TIME: "2024-01-03"}),
        )
    )
    found = sm.read_events(path)
    assert found.to_lists() == [["a", "b", "c", "d"], ["a"]]
    assert (found.tied_order, found.origin.backwards) == (1, 1)
    told = str(found.describe())
    assert "1 event with the same time as the one before, for example in case 'x'; it keeps" in told
    assert "1 event stands after an event of a later time; it keeps the order of the input" in told
    in_time = sm.read_events(path, order_by=TIME)
    assert in_time.to_lists() == [["c", "a", "b", "d"], ["a"]]
    assert (in_time.tied_order, in_time.origin.backwards, in_time.origin.order) == (1, 0, (TIME,))
    assert sm.read_events(path, order_by=False).tied_order == 0
