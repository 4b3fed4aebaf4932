"""A column that tells the time and is not used: never silently in the order of the rows."""

import datetime

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import summarkov as sm
from summarkov.errors import DataError

WHEN = [datetime.datetime(2024, 5, day) for day in (3, 1, 2)]
COLUMNS = {"case": ["x", "x", "x"], "event": ["c", "a", "b"]}


def words(name: str) -> str:
    return (
        rf"column '{name}' of .* looks like the time of an event.* say order_by='{name}', or order_by=False"
    )


@pytest.mark.parametrize("name", ["date", "datetime", "ts", "created_at", "eventDate", "Log-Time", "when"])
def test_a_name_that_tells_the_time_is_not_passed_over(tmp_path, name):
    path = tmp_path / "log.csv"
    path.write_text(f"case,event,{name}\nx,c,3\nx,a,1\nx,b,2\n")
    with pytest.raises(DataError, match=words(name)):
        sm.read_events(path)
    assert sm.read_events(path, order_by=name).to_lists() == [["a", "b", "c"]]
    assert sm.read_events(path, order_by=False).to_lists() == [["c", "a", "b"]]


@pytest.mark.parametrize("name", ["update", "at", "rate", "sometimes", "flat", "stats", "cost", "Datumsatz"])
def test_other_names_are_other_things(tmp_path, name):
    path = tmp_path / "log.csv"
    path.write_text(f"case,event,{name}\nx,c,3\nx,a,1\n")
    assert sm.read_events(path).to_lists() == [["c", "a"]]


@pytest.mark.parametrize("cell", ["2024-05-01", "2024-05-01T09Z", "1.5.2024", "5/1/24", '"2024-05-01 9:00"'])
def test_cells_that_are_dates_tell_the_time(tmp_path, cell):
    path = tmp_path / "log.csv"
    path.write_text(f"case,event,Datum\nx,c,{cell}\nx,a,{cell}\n")
    with pytest.raises(DataError, match=words("Datum")):
        sm.read_events(path)


@pytest.mark.parametrize("cell", ["1.5", "10.0.0.1", "1.2.3.4", "12/7", "2024", "20240501123", ""])
def test_cells_that_are_no_dates_do_not(tmp_path, cell):
    path = tmp_path / "log.csv"
    path.write_text(f"case,event,Datum\nx,c,{cell}\nx,a,{cell}\n")
    assert sm.read_events(path).to_lists() == [["c", "a"]]


def test_types_tell_the_time_in_tables_and_parquet(tmp_path):
    table = pa.table({**COLUMNS, "Datum": WHEN})
    pq.write_table(table, tmp_path / "log.parquet")
    for source in (table, tmp_path / "log.parquet"):
        with pytest.raises(DataError, match=words("Datum")):
            sm.read_events(source)
        assert sm.read_events(source, order_by="Datum").to_lists() == [["a", "b", "c"]]


@pytest.mark.needs("pandas", "polars")
def test_types_tell_the_time_in_frames():
    import pandas as pd
    import polars as pl

    for frame in (pd.DataFrame({**COLUMNS, "Datum": WHEN}), pl.DataFrame({**COLUMNS, "Datum": WHEN})):
        with pytest.raises(DataError, match=words("Datum")):
            sm.read_events(frame)
        assert sm.read_events(frame, order_by=False).to_lists() == [["c", "a", "b"]]
