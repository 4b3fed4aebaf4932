"""Lists of lists, which are ticks: in Python and JSON lines, in memory and streamed."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

import summarkov as sm
from summarkov.errors import DataError

#: Numbers as the paper counts them.
pytestmark = pytest.mark.cut_off

TICKS = [[["b", "a"], [], ["c"]], [], [["a"], ["a", "a"]], [[]]]
SORTED = [[["a", "b"], [], ["c"]], [], [["a"], ["a"]], [[]]]
LISTS = st.lists(st.lists(st.lists(st.sampled_from("abc"), max_size=3), max_size=4), max_size=5)


def files_of(lists, folder):
    """The same sequences in a file that can hold them."""
    lines = folder / "log.jsonl"
    lines.write_text("".join(json.dumps(each) + "\n" for each in lists) or "\n")
    return [lines]


def test_every_way_in(tmp_path):
    found = sm.read_events(TICKS)
    assert found.to_lists() == SORTED
    assert (found.n_events, found.n_rows, found.n_ticks, len(found)) == (5, 7, 6, 4)
    assert found.describe().n_events == 5
    for way in files_of(TICKS, tmp_path):
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
    ways = [lists, *files_of(lists, tmp_path)]
    for way in ways:
        found = sm.read_events(way, missing=missing)
        assert found.to_lists() == expected
        assert (found.origin.unlabelled if found.origin else 0) == left_out
    for way in ways[1:]:
        with pytest.raises(DataError, match=r"row 1|line 1"):
            sm.read_events(way)
