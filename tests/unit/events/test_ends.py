"""Which sequences are complete: kept by what is done with events, told in several ways, and said."""

import numpy as np
import pytest

import summarkov as sm
from summarkov import EventSequences, read_events
from summarkov.errors import DataError, SettingError

LISTS = [["A", "B", "A"], ["B"], [], ["A", "C"]]
MIXED = EventSequences.from_lists(LISTS, ends=np.array([True, False, True, False]))


def test_sequences_are_complete_unless_said():
    assert read_events(LISTS).complete.all()
    assert not read_events(LISTS, ends="cut off").complete.any()
    assert EventSequences([0], [0, 1], ["A"]).complete.tolist() == [True]
    assert MIXED[1:3].complete.tolist() == [False, True]


def test_events_that_end_otherwise_differ():
    assert MIXED.with_ends("complete") != MIXED
    assert MIXED.with_ends([True, False, True, False]) == MIXED


def test_as_counted_the_end_is_one_more_event():
    counted = MIXED.with_end_rows()
    assert counted.to_lists() == [["A", "B", "A", sm.END], ["B"], [sm.END], ["A", "C"]]
    assert MIXED.n_events == 6
    assert MIXED.to_lists() == LISTS
    assert not counted.complete.any()


@pytest.mark.parametrize("name", ["events.jsonl", "events.csv", "events.parquet"])
def test_files_keep_it(tmp_path, name):
    held = MIXED[np.array([0, 1, 3])]  # a table has no row for a sequence without events
    sm.write_events(held, tmp_path / name)
    how = {} if name.endswith("jsonl") else {"ends_column": "complete"}
    again = read_events(tmp_path / name, **how)
    assert again.complete.tolist() == [True, False, False]
    assert again.to_lists() == held.to_lists()
    assert again.attributes is None
    with sm.scan_events(tmp_path / name, **how) as source:
        assert source.complete.tolist() == [True, False, False]
    sm.write_events(held.with_ends("complete"), tmp_path / name)
    assert read_events(tmp_path / name).complete.all()
    assert b"complete" not in (tmp_path / name).read_bytes()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"ends": "open"}, "ends must be 'complete' or 'cut off', not 'open'"),
        ({"closed_by": "C"}, "closed_by must be a list of labels; write ['C']"),
        ({"closed_by": []}, "closed_by is empty"),
        ({"closed_by": ["Z"]}, "closed_by names 'Z', which is no label of the data"),
        ({"ends": "cut off", "closed_by": ["C"]}, "ends='cut off' is about all sequences"),
        ({"open_since": "2024-01-01"}, "times, session_gap and drop_duplicates are about columns"),
    ],
)
def test_refused(settings, message):
    with pytest.raises(SettingError) as error:
        read_events(LISTS, **settings)
    assert message in str(error.value)


def test_a_column_that_tells_something_else_is_refused():
    table = {"case": [1, 2], "event": ["A", "B"], "done": ["yes", "perhaps"]}
    with pytest.raises(DataError, match="holds 'perhaps', which does not tell whether a case is complete"):
        read_events(table, case="case", event="event", ends_column="done")


def test_dates_are_read_or_refused():
    table = {"case": ["a", "b"], "event": ["A", "B"], "time": ["2024-01-01", "2024-03-01"]}
    how = {"case": "case", "event": "event", "order_by": "time"}
    for since in ("2024-02-01", "2024-02-01T00:00:00+00:00"):
        assert read_events(table, **how, open_since=since).complete.tolist() == [True, False]
    with pytest.raises(SettingError, match="open_since must be a date such as 2012-03-01, not 'soon'"):
        read_events(table, **how, open_since="soon")
    with pytest.raises(SettingError, match="these events have dates and times"):
        read_events(table, **how, open_since=3)
    numbers = {**table, "time": [1, 9]}
    assert read_events(numbers, **how, open_since=9).complete.tolist() == [True, False]


def test_what_was_assumed_is_said():
    told = str(read_events([["A", "B"], ["B", "A", "C"]]).describe())
    assert "All 2 cases are taken as complete" in told
    assert "Every case has" not in told
    assert "Every case has 2 events, as if it had been cut off there" in str(
        read_events([["A", "B"]] * 9).describe()
    )
    assert "All 4 cases are taken as cut off" in str(MIXED.with_ends("cut off").describe())
    assert "2 of 4 cases are taken as complete, the others as cut off" in str(MIXED.describe())
    assert MIXED.describe().to_dict()["ends"]["n_complete"] == 2


def test_cases_that_end_where_the_data_end_are_named():
    rows = [
        (f"c{k:03}", label, f"2024-{1 + k // 28:02}-{1 + k % 28:02}") for k in range(280) for label in "AB"
    ]
    rows += [(f"late {k}", "A", "2024-10-28") for k in range(40)]
    table = dict(zip(("case", "event", "time"), map(list, zip(*rows, strict=True)), strict=True))
    how = {"case": "case", "event": "event", "ties": "in row order"}
    told = str(read_events(table, **how).describe())
    assert "41 of 320 cases have an event at 2024-10-27" in told
    assert "--open-since 2024-10-27" in told
    even = {name: values[:560] for name, values in table.items()}
    assert "near the end" not in str(
        read_events(even, case="case", event="event", ties="in row order").describe()
    )


def test_the_end_influences_nothing():
    cases = [["A", "B"], ["B", "A", "A"]] * 20
    with pytest.raises(SettingError, match="comes after all events of a sequence and influences none"):
        sm.BSuMM("A", required=[sm.END]).fit(cases)
    model = sm.BSuMM(sm.END, lookback=2).fit(cases)
    assert sm.END not in model.influencers_


def test_a_simulated_case_ends():
    graph = sm.InfluenceGraph(sm.BSuMM(lookback=2)).fit([["A", "B"], ["A", "C", "B"]] * 50)
    drawn = graph.simulate(200, 10, random_state=1)
    assert sm.END not in drawn.labels
    assert drawn.complete.mean() > 0.9
    assert drawn.lengths.mean() == pytest.approx(2.5, abs=0.2)


def test_an_ended_case_is_what_predictions_say():
    log = [["open", "resolve", "closed"]] * 99 + [["open", "resolve", "closed", "reopen", "closed"]]
    graph = sm.InfluenceGraph(sm.BSuMM(lookback=5)).fit(log)
    after = graph.predict_next([["open", "resolve", "closed"]])
    assert after.most_likely == (sm.END,)
    assert after.probabilities.max() > 0.95
