"""read_events from comma- and tab-separated files."""

import pathlib

import pyarrow
import pytest
from pyarrow import csv as arrow_csv

from refusals import refused
from summarkov.errors import UnknownLabelError
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


@pytest.mark.parametrize(
    ("name", "settings"),
    [("log.tsv", {}), ("log.TAB", {}), ("log", {"format": "tsv"}), ("log.csv", {"format": "tsv"})],
)
def test_tab_separated(write, name, settings):
    write(name, "case\tevent\nx\ta,b\nx\tc\n")
    assert read_events(name, **settings).to_lists() == [["a,b", "c"]]
    assert read_events(pathlib.Path(name), **settings).to_lists() == [["a,b", "c"]]


def test_csv_cells_are_text_as_they_stand(write):
    content = 'case,event\n007,7\n7,007\n7,1.50\n7,NA\n7,null\n7,true\n7, x \n7,""\n7,"a""b"\n7,"a\nb"\n'
    events = read_events(write("log.csv", content))
    assert events.ids == ("007", "7")
    assert events.to_lists() == [["7"], ["007", "1.50", "NA", "null", "true", " x ", "", 'a"b', "a\nb"]]


def test_csv_labels_are_sorted_by_code_point(write):
    labels = ["é", "Z", "a", "\U0001f600", "\uffee", "ab"]
    events = read_events(write("log.csv", "case,event\n" + "".join(f"x,{label}\n" for label in labels)))
    assert events.labels == tuple(sorted(labels))
    assert events.to_lists() == [labels]


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


@pytest.mark.parametrize(
    "content",
    [
        "sep=;\ncase;event\nx;a,b\nx;c",
        "\ufeffsep=;\r\ncase;event\r\nx;a,b\r\nx;c\r\n",
        '"sep=;"\n\n"case";"event"\nx;"a,b"\nx;c\n',
        "SEP=#\ncase#event\nx#a,b\nx#c\n",
        "sep=\t\ncase\tevent\nx\ta,b\nx\tc\n",
        'sep=,\ncase,event\nx,"a,b"\nx,c\n',
    ],
)
@pytest.mark.parametrize("name", ["log.csv", "log.tsv"])
def test_a_first_line_that_names_the_separator(write, name, content):
    """As Excel writes and reads it."""
    expected = [["a,b", "c"]]
    assert read_events(write(name, content)).to_lists() == expected
    with scan_events(name) as source:
        assert (source.labels, source.label_counts.tolist()) == (("a,b", "c"), [1, 1])


@pytest.mark.parametrize("content", ["x\nsep=;\n", "sep=\nx;y\n", "sep=;;\nx;y\n"])
def test_other_lines_name_no_separator(write, content):
    assert "no column" in refused(write("log.csv", content))


@pytest.mark.parametrize("end", ["", "\n", "\n\n"])
def test_csv_with_nothing_but_a_header(write, end):
    events = read_events(write("log.csv", "case,event" + end), labels=["b", "a"])
    assert (len(events), events.labels) == (0, ("a", "b"))


def test_csv_line_break_in_a_cell_across_blocks(write):
    long = "a\n" * 300_000  # longer than half a block of Arrow's
    rows = f'x,"{long}"\n' * 3
    events = read_events(write("log.csv", "case,event\n" + rows + 'y,"b"\n'))
    assert events.to_lists() == [[long] * 3, ["b"]]


@pytest.mark.parametrize(
    "values", ["9 10 11", "9.5 10 11", "2024-01-09 2024-01-10 2024-02-01", "9:00 10:00 11:00"]
)
def test_csv_order_is_by_value_not_by_text(write, values):
    first, second, third = values.split()
    if ":" in values:
        first = "0" + first
    name = write("log.csv", f"case,event,when\nx,c,{third}\nx,a,{first}\nx,b,{second}\nx,d,{third}\n")
    events = read_events(name, order="when")
    assert events.to_lists() == [["a", "b", "c", "d"]]
    assert events.tied_order == 1


def test_csv_order_far_in_the_future(write):
    name = write("log.csv", "case,event,time\nx,b,9999-12-31 23:59:59.5\nx,a,2024-01-01 00:00:00\n")
    assert read_events(name).to_lists() == [["a", "b"]]


def test_csv_order_kind_may_change_late_in_the_file(write):
    rows = "".join(f"x,a,{i}\n" for i in range(200_000)) + "x,b,-0.5\n"
    events = read_events(write("log.csv", "case,event,order\n" + rows))
    assert events.to_lists()[0][:2] == ["b", "a"]
    assert events.n_events == 200_001


@pytest.mark.parametrize(
    ("cell", "where"),
    [
        ("NA", "row 2 of the data holds 'NA'"),
        ("01/02/2024", "row 2 of the data holds '01/02/2024'"),
        ("first", "row 2 of the data holds 'first'"),
        ("7", "row 1 of the data holds '2024-01-01' and row 2 '7'"),
    ],
)
def test_csv_order_that_cannot_be_sorted(write, cell, where):
    name = write("log.csv", f"case,event,time\nx,a,2024-01-01\nx,b,{cell}\n")
    assert refused(name) == (
        f"order column 'time' of log.csv cannot be put in order: {where}; "
        "write all of it as numbers, or all as dates like 2024-01-31 18:30:00, or say how dates are written, "
        "as in date_format='%d/%m/%Y %H:%M' (or use order=False if the rows are in order)"
    )
    assert read_events(name, order=False).to_lists() == [["a", "b"]]


def test_csv_times_with_and_without_a_zone(write):
    name = write("log.csv", "case,event,time\nx,a,2024-01-01\nx,b,2024-01-02T00:00:00Z\n")
    assert refused(name) == (
        "order column 'time' of log.csv cannot be put in order: row 1 of the data holds '2024-01-01' and row "
        "2 '2024-01-02T00:00:00Z', one with a time zone and one without, so which came first is not known; "
        "write all with a zone, or all without"
    )


def test_csv_order_of_truth_values(write):
    assert refused(write("log.csv", "case,event,time\nx,a,true\n")) == (
        "order column 'time' of log.csv cannot be put in order: row 1 of the data holds 'true'; write all "
        "of it as numbers, or all as dates like 2024-01-31 18:30:00, or say how dates are written, "
        "as in date_format='%d/%m/%Y %H:%M' (or use order=False if the rows are in order)"
    )


@pytest.mark.parametrize("role", ["case", "event", "time"])
def test_csv_empty_cells(write, role):
    rows = [{"case": "x", "event": "a", "time": "1"} for _ in range(4)]
    rows[2][role] = ""
    rows[3][role] = ""
    content = "".join(",".join(row.values()) + "\n" for row in rows)
    blank, help = (
        (", or only blanks,", "fill them, or leave these rows out with missing='skip'")
        if role == "case"
        else ("", "fill or drop them")
    )
    assert refused(write("log.csv", "case,event,time\n" + content)) == (
        f"column '{role}' of log.csv has no value{blank} in 2 rows, the first is row 3 "
        f"(the first row of data is 1); {help}"
    )


def test_csv_columns_that_are_not_there(write):
    name = write("log.csv", "user,page\nx,a\n")
    assert refused(name, case="user", event="pages") == (
        "log.csv has no column 'pages'; the columns are 'user', 'page'; did you mean 'page'?"
    )
    assert refused(name) == (
        "no column of log.csv is recognised as the event; name it with event=; the columns are 'user', 'page'"
    )


@pytest.mark.parametrize(("row", "cells"), [("x", 1), ("x,b,c", 3)])
def test_csv_ragged_row(write, row, cells):
    assert refused(write("log.csv", f"case,event\nx,a\n{row}\n")) == (
        f"log.csv, row 3 (the header is row 1): {cells} cells where the header has 2; "
        "mend the row, or check that ',' separates cells"
    )


def test_csv_not_utf8(write):
    message = "the text is not UTF-8; save the file as UTF-8"
    assert refused(write("log.csv", b"case,event\nx,a\nx,\xe9\n")) == (
        f"log.csv, row 3 (the header is row 1): {message}"
    )
    assert refused(write("log.csv", b"case,event,time\nx,a,\xe9\n")) == (
        f"log.csv, row 2 (the header is row 1): {message}"
    )
    assert read_events(write("log.csv", b"case,event,cost\nx,a,\xe9\n")).to_lists() == [["a"]]
    assert refused(write("log.csv", b"case,\xe9vent\n")) == f"log.csv, line 1: {message}"


def test_csv_header_that_cannot_be_read(write):
    assert refused(write("log.csv", "case,event\rx,a\rx,b\r")).startswith(
        "log.csv, line 1: the header cannot be read: "
    )
    assert refused(write("log.csv", "\n\n")) == (
        "log.csv holds no lines; expected a header line with the names of the columns"
    )


def test_csv_cell_too_long_for_arrow(write):
    name = write("log.csv", "case,event\nx," + "a" * 10_000_000 + "\nx,b\n")
    assert refused(name) == (
        "log.csv: a row is longer than 4 MiB; close a quote that is left open, or shorten what stands there"
    )


def test_csv_declared_vocabulary(write):
    name = write("log.csv", "case,event\nx,b\nx,a\n")
    assert read_events(name, labels=["c", "a", "b"]).labels == ("a", "b", "c")
    assert refused(name, UnknownLabelError, labels=["a"]) == "unknown label 'b'; the labels are 'a'"


def test_grouped_and_shuffled_files_agree(write, tmp_path):
    rows = [(f"c{s:03d}", f"l{(s * i) % 7}", i) for s in range(200) for i in range(20)]
    grouped = pyarrow.table(dict(zip(["case", "event", "time"], zip(*rows, strict=True), strict=True)))
    mixed = sorted(rows, key=lambda row: (row[2] * 7 % 20, row[0]))
    shuffled = pyarrow.table(dict(zip(["case", "event", "time"], zip(*mixed, strict=True), strict=True)))
    arrow_csv.write_csv(grouped, tmp_path / "grouped.csv")
    arrow_csv.write_csv(shuffled, tmp_path / "shuffled.csv")
    assert read_events("grouped.csv", order=False) == read_events("shuffled.csv")
    assert read_events("grouped.csv") == read_events(shuffled)
