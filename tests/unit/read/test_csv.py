"""read_events from comma- and tab-separated files."""

import csv
import io
import pathlib
import tempfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refusals import refused
from summarkov.errors import DataError
from summarkov.read import read_events, scan_events

#: What is said of many ties is the topic of test_ties_warning.
pytestmark = pytest.mark.filterwarnings("ignore::summarkov.errors.TiesWarning")

PROCESS_LOG = """\
case:concept:name,concept:name,time:timestamp,org:resource,cost
A7,register,2024-01-01T09:00:00.500+01:00,Pete,1.5
A8,register,2024-01-01T08:00:00+01:00,,
A7,decide,2024-01-01T08:30:00Z,Sue,
A7,check,2024-01-01T08:20:00Z,Sue,x
A7,pay,2024-01-01T08:30:00Z,Sue,2
"""


def test_process_mining_csv_needs_no_options(write):
    events = read_events(write("log.csv", PROCESS_LOG))
    assert events.ids == ("A7", "A8")
    assert events.to_lists() == [["register", "check", "decide", "pay"], ["register"]]
    assert events.tied_order == 1


def test_tab_separated(write):
    for name, settings in (
        ("log.tsv", {}),
        ("log.TAB", {}),
        ("log", {"format": "tsv"}),
        ("log.csv", {"format": "tsv"}),
    ):
        write(name, "case\tevent\nx\ta,b\nx\tc\n")
        for path in (name, pathlib.Path(name)):
            assert read_events(path, **settings).to_lists() == [["a,b", "c"]]


def test_csv_cells_are_text_as_they_stand(write):
    content = 'case,event\n007,7\n7,007\n7,1.50\n7,NA\n7,null\n7,true\n7, x \n7,""\n7,"a""b"\n7,"a\nb"\n'
    events = read_events(write("log.csv", content))
    assert events.ids == ("007", "7")
    assert events.to_lists() == [["7"], ["007", "1.50", "NA", "null", "true", " x ", "", 'a"b', "a\nb"]]


@pytest.mark.parametrize(
    "content",
    [
        "case,event\nx,a\nx,b\n",
        "case,event\r\nx,a\r\nx,b\r\n",
        "\ufeffcase,event\nx,a\nx,b",
        "\n\ncase,event\n\nx,a\n\nx,b\n\n",
        '"case","event"\n"x","a"\n"x","b"\n',
        '"other\ncolumn",case,event\n1,x,a\n"2\n3",x,b\n',
    ],
)
def test_csv_line_ends_and_quotes(write, content):
    assert read_events(write("log.csv", content)).to_lists() == [["a", "b"]]


def test_other_lines_name_no_separator(write):
    for content in ("x\nsep=;\n", "sep=\nx;y\n", "sep=;;\nx;y\n"):
        assert "no column" in refused(write("log.csv", content))


def test_csv_with_nothing_but_a_header(write):
    for end in ("", "\n", "\n\n"):
        events = read_events(write("log.csv", "case,event" + end), labels=["b", "a"])
        assert (len(events), events.labels) == (0, ("a", "b"))


def test_csv_line_break_in_a_cell_across_blocks(write):
    long = "a\n" * 300_000  # longer than half a block of Arrow's
    rows = f'x,"{long}"\n' * 3
    events = read_events(write("log.csv", "case,event\n" + rows + 'y,"b"\n'))
    assert events.to_lists() == [[long] * 3, ["b"]]


def test_csv_order_kind_may_change_late_in_the_file(write):
    rows = "".join(f"x,a,{i}\n" for i in range(70_000)) + "x,b,-0.5\n"
    events = read_events(write("log.csv", "case,event,order\n" + rows))
    assert events.to_lists()[0][:2] == ["b", "a"]
    assert events.n_events == 70_001


def test_csv_order_that_cannot_be_sorted(write):
    name = write("log.csv", "case,event,time\nx,a,2024-01-01\nx,b,7\n")
    assert refused(name) == (
        "order column 'time' of log.csv cannot be put in order: row 1 of the data holds '2024-01-01' and row "
        "2 '7'; write all of it as numbers, or all as dates like 2024-01-31 18:30:00, or say how dates are "
        "written, as in date_format='%d/%m/%Y %H:%M' (or use order_by=False if the rows are in order)"
    )
    assert read_events(name, order_by=False).to_lists() == [["a", "b"]]


# ------------------------------------------------------------------ quotes


def strict(text):
    """Whether the standard library's strict reader takes a text."""
    try:
        list(csv.reader(io.StringIO(text, newline=""), strict=True))
    except csv.Error:
        return False
    return True


@given(cells=st.lists(st.text(st.sampled_from('"a,\r\n é'), min_size=1, max_size=5), min_size=1, max_size=5))
def test_quotes_that_are_written_well_are_read(cells):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "log.csv"
        with open(path, "w", newline="") as file:
            csv.writer(file).writerows([["case", "event"], *([1, cell] for cell in cells)])
        assert read_events(path, missing="skip").n_events == len(cells)


@given(text=st.text(st.sampled_from('"a,\n'), max_size=12))
def test_quotes_are_read_or_refused(text):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "log.csv"
        path.write_text("case,event\n1,a\n1," + text, newline="")
        try:
            found = read_events(path).to_lists()
        except DataError:
            return
        assert strict(path.read_text())
        with open(path, newline="") as file:
            rows = [row for row in csv.reader(file) if row][1:]
        assert sum(len(labels) for labels in found) == len(rows)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('case,event\n1,x\n1,"a\n2,b\n', "line 3: a quote opens here and is never closed; close it"),
        (
            'case,event\n1,"5" pipe"\n',
            "line 2: something stands between the end of a quoted cell and ','; write quotes inside of a "
            "cell twice, or close the quote before",
        ),
        ('case,event\n1,"' + "x,y\n" * 50_000, "line 2: a quote opens here and is never closed; close it"),
    ],
)
def test_quotes_that_do_not_match(write, text, message):
    write("log.csv", text)
    for read in (read_events, scan_events):
        with pytest.raises(DataError) as error:
            read("log.csv")
        assert str(error.value) == f"log.csv, {message}"


def test_quotes_inside_of_plain_cells_are_what_they_are(write):
    write("log.csv", 'case,event\n1,5" pipe\n1,6" pipe\n1,7"\n')
    assert read_events("log.csv").to_lists() == [['5" pipe', '6" pipe', '7"']]
    with scan_events("log.csv") as source:
        assert source.labels == ('5" pipe', '6" pipe', '7"')
