"""Attributes of sequences, from columns, keys, traces and second tables: values, ranges, what is refused."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import summarkov as sm
from summarkov.errors import DataError, SettingError
from summarkov.read.case_attributes import quartiles

pd = pytest.importorskip("pandas")

CASES = {
    "x": {"region": "north", "age": 31},
    "y": {"region": "south", "age": 64},
    "z": {"region": None, "age": 18},
}
EVENTS = {"x": ["a", "b"], "y": ["a"], "z": ["b", "b", "a"]}
EXPECTED = {
    "x": {"region=north", "age=30 to <50"},
    "y": {"region=south", "age=50 or more"},
    "z": {"region=(missing)", "age=below 30"},
}
HOW = {"attributes": ["region", "age"], "cuts": {"age": [30, 50]}}


def names_of(events):
    """The names that every sequence has."""
    names = np.array(events.attributes.names)
    found = zip(events.ids, events.attributes.present, strict=True)
    return {name: set(names[row].tolist()) for name, row in found}


def rows():
    return [{"case": case, "event": event, **CASES[case]} for case in EVENTS for event in EVENTS[case]]


@pytest.fixture
def files(tmp_path):
    table = pd.DataFrame(rows())
    table.sample(frac=1, random_state=1).to_csv(tmp_path / "mixed.csv", index=False)
    table.to_csv(tmp_path / "log.csv", index=False)
    pq.write_table(pa.Table.from_pylist(rows()), tmp_path / "log.parquet")
    lines = [{"id": case, "events": EVENTS[case], **CASES[case]} for case in EVENTS]
    (tmp_path / "log.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    traces = ""
    for case, values in CASES.items():
        inside = f'<string key="concept:name" value="{case}"/><int key="age" value="{values["age"]}"/>'
        if values["region"] is not None:
            inside += f'<string key="region" value="{values["region"]}"/>'
        for event in EVENTS[case]:
            inside += f'<event><string key="concept:name" value="{event}"/></event>'
        traces += f"<trace>{inside}</trace>"
    (tmp_path / "log.xes").write_text(f"<log>{traces}</log>")
    return tmp_path


@pytest.mark.parametrize("name", ["log.csv", "mixed.csv", "log.parquet", "log.jsonl", "log.xes"])
def test_attributes_of_every_format(files, name):
    found = sm.read_events(files / name, **HOW)
    assert names_of(found) == EXPECTED
    assert found.attributes.of == ("age", "age", "age", "region", "region", "region")
    assert found.origin.attributes == ("region", "age")


def test_sessions_have_the_attributes_of_their_case():
    table = pd.DataFrame({"case": "x", "event": ["a", "b"], "time": [1, 90], "region": "north"})
    found = sm.read_events(table, session_gap=5, attributes=["region"])
    assert names_of(found) == {"x/1": {"region=north"}, "x/2": {"region=north"}}


def test_a_value_that_changes_is_refused_with_the_name_of_the_case(files):
    table = pd.DataFrame(rows())
    table.loc[table["event"] == "b", "region"] = "west"
    with pytest.raises(DataError) as error:
        sm.read_events(table, attributes=["region"])
    assert str(error.value) == (
        "column 'region' of the table changes during case 'x': 'north' in one row and 'west' in another; it "
        "must have one value per case: correct it, or leave it out"
    )


def test_many_values_are_refused():
    n = 10_000
    table = pa.table({"case": range(n), "event": ["a"] * n, "who": [f"u{i}" for i in range(n)]})
    with pytest.raises(DataError) as error:
        sm.read_events(table, attributes=["who"])
    assert str(error.value) == (
        "attribute 'who' of the table has 10,000 different values, more than 100, and they are not all "
        "numbers, such as 'u0'; leave it out, or make groups of its values first"
    )


@given(st.lists(st.integers(-9, 30), min_size=1, max_size=60))
def test_numbers_are_cut_at_their_quartiles(numbers):
    """The twin looks at every sequence: the least value with at least that share of all below it."""
    events = sm.read_events(
        pa.table({"case": range(len(numbers)), "event": ["a"] * len(numbers), "n": numbers}),
        attributes=["n"],
    )
    found = [next(iter(names)) for names in names_of(events).values()]
    if len(set(numbers)) <= 5:
        assert found == [f"n={number}" for number in numbers]
        return
    cuts = []
    for share in (0.25, 0.5, 0.75):
        fit = [v for v in sorted(set(numbers)) if sum(x < v for x in numbers) >= share * len(numbers)]
        cuts += fit[:1]
    cuts = sorted(set(cuts))
    values, counts = np.unique(numbers, return_counts=True)
    assert quartiles(values, counts) == cuts
    for number, name in zip(numbers, found, strict=True):
        below = [cut for cut in cuts if cut <= number]
        above = [cut for cut in cuts if cut > number]
        if not below:
            assert name == f"n=below {above[0]}"
        elif not above:
            assert name == f"n={below[-1]} or more"
        else:
            assert name == f"n={below[-1]} to <{above[0]}"


def test_numbers_that_are_names_stay_as_they_are():
    table = pa.table({"case": range(9), "event": ["a"] * 9, "zip": [f"1000{i}" for i in range(9)]})
    plain = sm.read_events(table, attributes=["zip"], cuts={"zip": None})
    assert plain.attributes.names == tuple(f"zip=1000{i}" for i in range(9))
    assert len(sm.read_events(table, attributes=["zip"]).attributes.names) == 4


@pytest.mark.parametrize(
    ("attributes", "cuts", "why"),
    [
        (None, {"age": [30]}, "cuts are about attributes; name these with attributes="),
        (["region"], {"age": [30]}, "cuts are given for 'age', which is no attribute"),
        (["age"], {"age": [50, 30]}, "cuts of 'age' must increase"),
        (["age"], {"age": ["old"]}, "cuts of 'age' must be numbers"),
        (["age"], [30], "cuts must be a dict"),
        (pd.DataFrame(rows()), None, "attributes must be a list of names of columns; join a table of"),
    ],
)
def test_settings_that_make_no_sense(attributes, cuts, why):
    with pytest.raises(SettingError, match=why):
        sm.read_events(pd.DataFrame(rows()), attributes=attributes, cuts=cuts)
