"""Which columns are chosen, what is said where none can be, and that no time is passed over in silence."""

import datetime

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import summarkov as sm
from summarkov.errors import DataError
from summarkov.read.columns import CASE_NAMES, EVENT_NAMES, ORDER_NAMES, Columns, choose_columns


def test_recognised_names():
    for case, event, order in (
        *((name, "event", "time") for name in sum(CASE_NAMES, ())),
        *(("case", name, "time") for name in sum(EVENT_NAMES, ())),
        *(("case", "event", name) for name in sum(ORDER_NAMES, ())),
    ):
        names = ["cost", order.upper(), event.title(), case]
        assert choose_columns(names, Columns(), "log") == Columns.of(case, event.title(), order.upper())


def test_names_of_process_mining_and_names_that_were_asked_for_win():
    names = ["case", "event", "time", "case:concept:name", "concept:name", "time:timestamp"]
    xes = Columns.of("case:concept:name", "concept:name", "time:timestamp")
    assert choose_columns(names, Columns(), "log") == xes
    names = ["case", "event", "activity", "time"]
    asked = Columns.of(event="time", order=False)
    assert choose_columns(names, asked, "log") == Columns.of("case", "time", False)
    assert choose_columns(names, Columns.of(case="event"), "log") == Columns.of("event", "activity", "time")


def test_lists_and_ids_are_not_taken():
    with pytest.raises(DataError, match=r"column 'events' of log holds lists, .* one row per event; make"):
        choose_columns(["id", "events"], Columns(), "log", list_columns={"events"})
    with pytest.raises(DataError, match="no column of log is recognised as the case"):
        choose_columns(["id", "event"], Columns(), "log")


NONE = "no column of log.csv is recognised as the"
EACH = "log.csv has columns {} and {}, and each could be the {}; say which with {}="


MANY = [f"c{i}" for i in range(21)]


@pytest.mark.parametrize(
    ("names", "asked", "message"),
    [
        (["case", "event", "activity"], {}, EACH.format("'event'", "'activity'", "event", "event")),
        (
            ["case", "event", "Time", "timestamp"],
            {},
            EACH.format("'Time'", "'timestamp'", "order", "order_by"),
        ),
        (["case", "x", "x"], {"event": "x"}, EACH.format("'x'", "'x'", "event", "event")),
        (["user", "event"], {}, f"{NONE} case; name it with case=; the columns are 'user', 'event'"),
        (
            ["user", "event"],
            {"case": "usr"},
            "log.csv has no column 'usr'; the columns are 'user', 'event'; did you mean 'user'?",
        ),
        (MANY, {}, f"{NONE} event; name it with event=; the columns are {str(MANY[:20])[1:-1]}, ..."),
    ],
)
def test_messages(names, asked, message):
    with pytest.raises(DataError) as error:
        choose_columns(names, Columns.of(**asked), "log.csv")
    assert str(error.value) == message


# ---------------------------------------------------------------------- times that are not used

WHEN = [datetime.datetime(2024, 5, day) for day in (3, 1, 2)]


def words(name):
    return (
        rf"column '{name}' of .* looks like the time of an event.* say order_by='{name}', or order_by=False"
    )


@pytest.mark.parametrize(
    ("name", "cell"),
    [
        *((name, "3") for name in ("date", "ts", "created_at", "eventDate", "Log-Time", "when")),
        *(("Datum", cell) for cell in ("2024-05-01", "2024-05-01T09Z", "1.5.2024", '"2024-05-01 9:00"')),
    ],
)
def test_a_name_or_a_cell_that_tells_the_time_is_not_passed_over(tmp_path, name, cell):
    path = tmp_path / "log.csv"
    path.write_text(f"case,event,{name}\nx,c,{cell}\nx,a,1\nx,b,2\n")
    with pytest.raises(DataError, match=words(name)):
        sm.read_events(path)
    assert sm.read_events(path, order_by=False).to_lists() == [["c", "a", "b"]]


@pytest.mark.parametrize(
    ("name", "cell"),
    [
        *((name, "3") for name in ("update", "at", "rate", "sometimes", "cost", "Datumsatz")),
        *(("Datum", cell) for cell in ("1.5", "10.0.0.1", "12/7", "2024", "20240501123", "")),
    ],
)
def test_others_are_other_things(tmp_path, name, cell):
    path = tmp_path / "log.csv"
    path.write_text(f"case,event,{name}\nx,c,{cell}\nx,a,{cell}\n")
    assert sm.read_events(path).to_lists() == [["c", "a"]]


@pytest.mark.needs("pandas", "polars")
def test_types_tell_the_time(tmp_path):
    import pandas as pd
    import polars as pl

    columns = {"case": ["x", "x", "x"], "event": ["c", "a", "b"], "Datum": WHEN}
    pq.write_table(pa.table(columns), tmp_path / "log.parquet")
    for source in (pa.table(columns), tmp_path / "log.parquet", pd.DataFrame(columns), pl.DataFrame(columns)):
        with pytest.raises(DataError, match=words("Datum")):
            sm.read_events(source)
        assert sm.read_events(source, order_by="Datum").to_lists() == [["a", "b", "c"]]
        assert sm.read_events(source, order_by=False).to_lists() == [["c", "a", "b"]]
