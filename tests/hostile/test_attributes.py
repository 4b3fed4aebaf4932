"""Columns and values of attributes that nobody meant: the same refusal in memory and streamed."""

from __future__ import annotations

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import summarkov as sm
from summarkov.cli.main import app
from summarkov.errors import DataError, SettingError
from summarkov.read.case_attributes import cuts_of
from summarkov.read.columns import check_cuts

READING = {"case": "case", "event": "event", "order_by": False}


def table(**columns):
    """20 sequences of two events, the values of each attribute in turn."""
    rows = {"case": [str(i // 2) for i in range(40)], "event": ["a", "b"] * 20}
    return pa.table(
        {**rows, **{name: [v[i // 2 % len(v)] for i in range(40)] for name, v in columns.items()}}
    )


@pytest.fixture(params=["memory", "stream"])
def names_of(request, tmp_path):
    """What the attributes of a table are called, in memory and streamed."""

    def read(given, **reading):
        if request.param == "memory":
            return sm.read_events(given, **READING, **reading).attributes.names
        pq.write_table(given, tmp_path / "log.parquet")
        with sm.scan_events(tmp_path / "log.parquet", scratch=tmp_path, **READING, **reading) as source:
            return source.attributes.names

    return read


def test_two_columns_never_share_a_name(names_of):
    """ "a" of "b=c" and "a=b" of "c" would both be "a=b=c"."""
    given = table(**{"a": ["b=c", "x"], "a=b": ["z", "c"]})
    with pytest.raises(DataError, match=r"attribute 'a=b' of .* holds '=', .* rename the column"):
        names_of(given, attributes=["a", "a=b"])
    assert names_of(given, attributes=["a"]) == ("a=b=c", "a=x")


def test_a_value_that_is_called_like_missing_ones(names_of):
    with pytest.raises(DataError, match=r"holds '\(missing\)' as a value, and lacks others"):
        names_of(table(region=["(missing)", None, "x"]), attributes=["region"])
    assert names_of(table(region=["(missing)", "x"]), attributes=["region"]) == (
        "region=(missing)",
        "region=x",
    )


def test_numbers_with_underscores_are_names(names_of):
    found = names_of(table(code=[f"1{i}_2" for i in range(10)]), attributes=["code"])
    assert found == tuple(f"code=1{i}_2" for i in range(10))


def test_numbers_that_were_cut_before_stay_as_they_are(names_of):
    given = table(age=["below 30", "30 or more", "12", "30"])
    found = names_of(given, attributes=["age"], cuts={"age": [30]})
    assert found == ("age=30 or more", "age=below 30")
    with pytest.raises(DataError, match="holds 'old', which is no number"):
        names_of(table(age=["below 30", "old"]), attributes=["age"], cuts={"age": [30]})


@pytest.mark.parametrize("cut", [1e308, 2.5e-7, 1e16, 30.0, -0.5, 123456789012345.0])
def test_names_of_ranges_tell_where_they_were_cut(cut):
    given = table(v=[cut - abs(cut) / 2, cut, 0.0])
    names = sm.read_events(given, **READING, attributes=["v"], cuts={"v": [cut]}).attributes.names
    assert cuts_of(names) == {"v": [cut]}
    assert max(map(len, names)) < 40


def test_a_column_is_cut_only_if_all_its_values_are_ranges():
    assert cuts_of(["age=below 30", "age=(missing)"]) == {"age": [30.0]}
    assert cuts_of(["age=below 30", "age=unknown"]) == {"age": None}
    assert cuts_of([f"age=below {'9' * 400}"]) == {"age": None}


@pytest.mark.parametrize("cut", [10**400, -(10**400), float("inf"), float("nan"), True, "30", None])
def test_cuts_that_no_number_holds(cut):
    with pytest.raises(SettingError, match="must be numbers such as"):
        check_cuts({"age": [cut]})


def test_a_model_reads_ranges_that_were_there_as_text(tmp_path):
    ages = ("below 30", "30 or more")
    rows = [f"{c},{'ab'[(c + i) % 2]},{ages[c % 2]}" for c in range(40) for i in range(4)]
    (tmp_path / "log.csv").write_text("\n".join(["case,event,age", *rows]) + "\n")
    log, model = str(tmp_path / "log.csv"), str(tmp_path / "model.json")
    learning = ["learn", log, "--in-order", "--attribute", "age", "-o", model, "--no-order-test"]
    assert CliRunner().invoke(app, learning).exit_code == 0
    found = CliRunner().invoke(app, ["evaluate", model, log, "--in-order", "--json"])
    assert json.loads(found.stdout)["events"] == 160
