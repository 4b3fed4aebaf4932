"""Lists of lists, which are ticks: in Python, JSON lines, Parquet and data frames, in memory and streamed."""

import json

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

import summarkov as sm
from summarkov.errors import DataError

#: Numbers as the paper counts them.
pytestmark = pytest.mark.cut_off

TICKS = [[["b", "a"], [], ["c"]], [], [["a"], ["a", "a"]], [[]]]
SORTED = [[["a", "b"], [], ["c"]], [], [["a"], ["a"]], [[]]]
LISTS = st.lists(st.lists(st.lists(st.sampled_from("abc"), max_size=3), max_size=4), max_size=5)


def column_of(lists, kind=pa.list_):
    return pa.array(lists, kind(kind(pa.string())))


def files_of(lists, folder):
    """The same sequences in files of every format that can hold them."""
    lines, table = folder / "log.jsonl", folder / "log.parquet"
    lines.write_text("".join(json.dumps(each) + "\n" for each in lists) or "\n")
    parquet.write_table(pa.table({"events": column_of(lists)}), table)
    return [lines, table]


def test_every_way_in(tmp_path):
    found = sm.read_events(TICKS)
    assert found.to_lists() == SORTED
    assert (found.n_events, found.n_rows, found.n_ticks, len(found)) == (5, 7, 6, 4)
    assert found.describe().n_events == 5
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    table = pa.table({"events": column_of(TICKS)})
    tables = [table, pa.table({"events": column_of(TICKS, pa.large_list)}), polars.from_arrow(table)]
    tables.append(pandas.DataFrame({"events": TICKS}))
    for way in (*tables, *files_of(TICKS, tmp_path)):
        assert sm.read_events(way) == found


@given(LISTS)
def test_streams_are_equal_to_memory(tmp_path_factory, lists):
    events = sm.read_events(lists)
    for path in files_of(lists, tmp_path_factory.mktemp("nested")):
        with sm.scan_events(path) as source:
            assert source.labels == events.labels
            assert (source.n_events, source.n_sequences) == (events.n_events, len(events))
            assert source.label_counts.tolist() == events.label_counts.tolist()
            assert source.n_ticks == events.n_ticks
            assert source.codes.tolist() == events.codes.tolist()


@pytest.mark.parametrize(
    ("missing", "expected", "left_out"),
    [
        ("skip", [[["a"], [], ["c"]], [["b"]]], 4),
        ("nobody", [[["a", "nobody"], ["nobody"], [], ["c"]], [["nobody"], ["b"]]], 0),
    ],
)
def test_missing_labels(missing, expected, left_out, tmp_path):
    lists = [[["a", None], [None], [], ["c"]], [[None, None], ["b"]]]
    ways = [lists, pa.table({"events": column_of(lists)}), *files_of(lists, tmp_path)]
    for way in ways:
        found = sm.read_events(way, missing=missing)
        assert found.to_lists() == expected
        assert (found.origin.unlabelled if found.origin else 0) == left_out
    for way in ways[1:]:
        with pytest.raises(DataError, match=r"row 1|line 1"):
            sm.read_events(way)


def test_a_tick_that_is_missing_itself():
    table = pa.table({"events": column_of([[["a"], None], [None, ["b", "c"]]])})
    with pytest.raises(DataError, match=r"has 2 events without a label, the first in row 1 "):
        sm.read_events(table)
    assert sm.read_events(table, missing="skip").to_lists() == [[["a"]], [["b", "c"]]]
    assert sm.read_events(table, missing="none").to_lists() == [[["a"], ["none"]], [["none"], ["b", "c"]]]
