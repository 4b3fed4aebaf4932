"""Rows without a case, duplicates, starts beside ends of activities: refused, counted, left out if asked."""

import json
from collections import Counter

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import csv, parquet
from typer.testing import CliRunner

import summarkov as sm
from summarkov.cli.main import app
from summarkov.errors import DataError, SettingError

ROWS = st.lists(
    st.tuples(st.sampled_from(["x", "y", " ", "", None, "\u00a0"]), st.sampled_from("ab"), st.integers(0, 3)),
    min_size=1,
    max_size=12,
)


def table(rows):
    case, event, time = ([row[at] for row in rows] for at in range(3))
    columns = pa.array(case, pa.string()), pa.array(event, pa.string()), pa.array(time, pa.int64())
    return pa.table(dict(zip(("case", "event", "time"), columns, strict=True)))


def csv_file(rows, path):
    cells = [[*(f'"{each}"' for each in row[:2]), str(row[2])] for row in rows]
    cells = [["" if cell == '"None"' else cell for cell in row] for row in cells]
    path.write_text("case,event,time\n" + "".join(",".join(row) + "\n" for row in cells))
    return path


def parquet_file(rows, path):
    parquet.write_table(table(rows), path.with_suffix(".parquet"))
    return path.with_suffix(".parquet")


def streamed(path, memory=2**20, **how):
    """The events, the number of rows that were left out or are duplicates, and the number of ties."""
    how = {"ends": "cut off"} | how  # the ends of cases are no rows of a file
    with sm.scan_events(path, memory=memory, names=True, scratch=path.parent, **how) as events:
        found = dict(zip(events.ids, events.to_lists(), strict=True))
        return {k: v for k, v in found.items() if v}, events.origin, events.tied_order


def in_memory(source, **how):
    events = sm.read_events(source, **how)
    return dict(zip(events.ids, events.to_lists(), strict=True)), events.origin, events.tied_order


def twin(rows, drop):
    """Case by case: sorted by time, each (event, time) once if duplicates are to go; and the counts."""
    cases, n_caseless, n_duplicates = {}, 0, 0
    for case, event, time in rows:
        if case is None or not case.strip():
            n_caseless += 1
            continue
        mine = cases.setdefault(case, [])
        again = (event, time) in mine
        n_duplicates += again
        if not (again and drop):
            mine.append((event, time))
    placed = {case: sorted(mine, key=lambda pair: pair[1]) for case, mine in cases.items()}
    ties = sum(n - 1 for mine in placed.values() for n in Counter(time for _, time in mine).values())
    return (
        {case: [event for event, _ in mine] for case, mine in placed.items()},
        n_caseless,
        n_duplicates,
        ties,
    )


DOORS = {
    "arrow": lambda rows, path, how: in_memory(table(rows), **how),
    "csv": lambda rows, path, how: in_memory(csv_file(rows, path), **how),
    "streamed csv": lambda rows, path, how: streamed(csv_file(rows, path), **how),
    "streamed row by row": lambda rows, path, how: streamed(parquet_file(rows, path), memory=1, **how),
    "pandas": lambda rows, path, how: in_memory(table(rows).to_pandas(), **how),
}
EVERY_DOOR = pytest.mark.parametrize(
    "door", [pytest.param(x, marks=pytest.mark.needs(x)) if x == "pandas" else x for x in DOORS]
)


@EVERY_DOOR
@given(rows=ROWS, drop=st.booleans())
def test_what_is_left_out_is_counted(door, rows, drop, tmp_path_factory):
    path = tmp_path_factory.mktemp("rows") / "log.csv"
    expected, n_caseless, n_duplicates, ties = twin(rows, drop)
    how = {"missing": "skip", "drop_duplicates": drop, "ties": "in row order"}
    found, origin, tied_order = DOORS[door](rows, path, how)
    assert found == expected
    assert origin.caseless == n_caseless
    assert (origin.dropped, origin.duplicates) == ((n_duplicates, 0) if drop else (0, n_duplicates))
    assert tied_order == ties
    assert origin.unlabelled == 0


@EVERY_DOOR
def test_rows_without_a_case_are_refused_with_their_number(door, tmp_path):
    rows = [("x", "a", 1), (" ", "a", 2), ("x", "b", 3), (None, "b", 4), ("", "b", 5), *[(" ", "a", 6)] * 4]
    with pytest.raises(DataError) as error:
        DOORS[door](rows, tmp_path / "log.csv", {"missing": "other"})
    words = str(error.value)
    assert "has no value, or only blanks, in 7 rows, the first is row 2 (the first row of data is 1)" in words
    assert words.endswith("; fill them, or leave these rows out with missing='skip'")


def test_rows_that_are_left_out_need_nothing_else(tmp_path):
    """A blank line of a spreadsheet has no time, no weight, and no lifecycle."""
    path = tmp_path / "log.csv"
    rows = "x,b,2,1,complete\n,,,,\n x,a,3,1,start\nx,a,1,1,COMPLETE\n,,,,\n"
    path.write_text(f"case,event,time,n,lifecycle\n{rows}")
    how = {"missing": "skip", "lifecycle": "complete", "weight": "n"}
    for found, origin, _ in (in_memory(path, **how), streamed(path, **how)):
        assert found == {"x": ["a", "b"]}
        assert (origin.caseless, origin.other_lifecycle, origin.unlabelled) == (2, 1, 0)
    path.write_text("case,event,time\n,,\n ,,\n")
    described = str(sm.read_events(path, missing="skip").describe())
    assert described.splitlines()[3] == "Left out: 2 rows without a case."


def test_a_sequence_without_a_name_is_not_written_as_rows(tmp_path):
    events = sm.EventSequences.from_lists([["a"]], ids=[" "])
    with pytest.raises(DataError, match=r"a sequence is named ' ', which a table .* would take for no name"):
        sm.write_events(events, tmp_path / "log.csv")
    sm.write_events(events, tmp_path / "log.jsonl")
    assert sm.read_events(tmp_path / "log.jsonl") == events


# ------------------------------------------------------------------ duplicates


def test_duplicates_need_places(tmp_path):
    lines = tmp_path / "log.jsonl"
    lines.write_text(json.dumps(["a", "a"]) + "\n")
    for read in (sm.read_events, sm.scan_events):
        with pytest.raises(
            SettingError, match=r"in .*log.jsonl a line is a whole sequence, .* leave out .* drop_duplicates"
        ):
            read(lines, drop_duplicates=True)
    with pytest.raises(SettingError, match="drop_duplicates must be True or False, not 1"):
        sm.read_events(lines, drop_duplicates=1)


XES = """<log xes.version="1.0"><trace><string key="concept:name" value="x"/>{}</trace></log>"""
EVENT = """<event><string key="concept:name" value="{}"/><date key="time:timestamp" value="2024-01-0{}"/>
<string key="lifecycle:transition" value="{}"/></event>"""


def test_duplicates_in_a_log(tmp_path):
    path = tmp_path / "log.xes"
    steps = [("a", 1), ("b", 1), ("a", 1), ("a", 2)]
    path.write_text(XES.format("".join(EVENT.format(*step, "complete") for step in steps)))
    events = sm.read_events(path, ties="in row order")
    assert (events.n_events, events.origin.duplicates) == (4, 1)
    kept = sm.read_events(path, ties="in row order", drop_duplicates=True)
    assert (kept.to_lists(), kept.origin.dropped, kept.tied_order) == ([["a", "b", "a"]], 1, 1)


# ------------------------------------------------------------------ lifecycles


def lifecycles(values, name="lifecycle:transition"):
    n = len(values)
    return {"case": ["x"] * n, "event": ["a"] * n, "time": list(range(n)), name: values}


@pytest.mark.parametrize("name", ["lifecycle:transition", "Lifecycle", "transition", "status"])
@pytest.mark.parametrize(("start", "end"), [("start", "complete"), ("START", "End")])
def test_starts_beside_ends_are_named(name, start, end, tmp_path):
    columns = pa.table(lifecycles([start, end, start, end, None, "suspend"], name))
    csv.write_csv(columns, tmp_path / "log.csv")
    for found in (
        sm.read_events(columns).origin,
        sm.read_events(tmp_path / "log.csv").origin,
        streamed(tmp_path / "log.csv")[1],
    ):
        assert found.mixed == (name, start, 2, end, 2)
        assert found.lifecycle is None
        assert list(found.hints()) == [
            f"Hint: column {name!r} has {start!r} in 2 rows and {end!r} in 2, so an activity may count "
            f"twice; lifecycle={end!r} (--lifecycle {end}) keeps one row of each."
        ]
    kept = sm.read_events(columns.slice(0, 4), lifecycle=end)
    assert (kept.n_events, list(kept.origin.hints())) == (2, [])


def test_other_columns_of_such_a_name_are_left_alone():
    several = ["open", "paid", "open", "start", "complete"]
    for values in (["complete"] * 4, ["start"] * 4, several, [None] * 3, [1, 2, 3]):
        assert sm.read_events(pa.table(lifecycles(values, "status"))).origin.mixed is None


@pytest.mark.needs("pandas")
def test_a_column_that_nobody_asked_for_stops_nothing(tmp_path):
    import pandas as pd

    frame = pd.DataFrame({"case": ["x", "x"], "event": ["a", "b"], "status": ["start", 1]})
    assert sm.read_events(frame).to_lists() == [["a", "b"]]
    several = pa.table({**lifecycles(["start", "complete"]), "Lifecycle:transition": ["a", "b"]})
    assert sm.read_events(several).origin.mixed is None
    parquet.write_table(pa.table(lifecycles(["start", "complete"], "status")), tmp_path / "1.parquet")
    parquet.write_table(pa.table(lifecycles([1, 2], "status")), tmp_path / "2.parquet")
    parquet.write_table(pa.table(lifecycles([])).select(["case", "event", "time"]), tmp_path / "3.parquet")
    with sm.scan_events(tmp_path, ties="in row order") as source:
        assert (source.n_events, source.origin.mixed) == (4, ("status", "start", 1, "complete", 1))


def test_starts_and_ends_in_a_log(tmp_path):
    path = tmp_path / "log.xes"
    steps = [("a", 1, "start"), ("a", 1, "complete"), ("b", 2, "start"), ("b", 3, "complete")]
    path.write_text(XES.format("".join(EVENT.format(*step) for step in steps)))
    events = sm.read_events(path, ties="in row order")
    assert events.origin.mixed == ("lifecycle:transition", "start", 2, "complete", 2)
    assert len(list(events.origin.hints())) == 1  # they may look like duplicates, and are none
    assert sm.read_events(path, lifecycle="complete").origin.mixed is None


# ------------------------------------------------------------------ what people are told


def test_each_has_a_line_with_the_option_that_mends_it(tmp_path):
    path, mixed = tmp_path / "log.csv", tmp_path / "mixed.csv"
    csv_file(
        [("x", "go", 1), ("x", "a", 2), ("x", "a", 2), ("y", "go", 1), ("y", "b", 2), ("", "a", 3)], path
    )
    mixed.write_text("case,event,time,lifecycle\nx,a,1,start\nx,a,2,complete\ny,b,1,start\ny,b,2,complete\n")

    def told(command, *arguments):
        return " ".join(CliRunner().invoke(app, [*command, *map(str, arguments)]).stdout.split())

    for command in (["describe"], ["learn", "--no-order-test"]):
        words = told(command, path, "--missing", "skip")
        assert "Left out: 1 row without a case." in words
        assert (
            "Hint: 1 row is a duplicate: same case, event and 'time' as an earlier row; --drop-dup" in words
        )
    found = json.loads(told(["describe"], path, "--missing", "skip", "--drop-duplicates", "--json"))
    assert (found["left_out"]["duplicates"], found["left_out"]["caseless"], found["duplicates"]) == (1, 1, 0)
    assert (
        "Hint: column 'lifecycle' has 'start' in 2 rows and 'complete' in 2, so an activity may count twice; "
        "--lifecycle complete keeps one row of each."
    ) in told(["describe"], mixed)
    assert json.loads(told(["describe"], mixed, "--json"))["mixed_lifecycles"]
