"""read_events from files: Parquet, JSON lines, plain text, and files as such."""

import os

import pyarrow
import pytest
from pyarrow import parquet

from refusals import refused
from summarkov.errors import SettingError
from summarkov.read import read_events
from summarkov.read.files import FORMATS

TWICE = "the object has the key '{}' more than once; keep one"

# ------------------------------------------------------------------ Parquet


def test_parquet_messages(write, tmp_path):
    parquet.write_table(pyarrow.table({"case": ["x", None], "event": ["a", "b"]}), tmp_path / "log.parquet")
    assert refused("log.parquet") == (
        "column 'case' of log.parquet has no value, or only blanks, in 1 row, the first is row 2 "
        "(the first row of data is 1); fill them, or leave these rows out with missing='skip'"
    )
    assert refused("log.parquet", event="evnt") == (
        "log.parquet has no column 'evnt'; the columns are 'case', 'event'; did you mean 'event'?"
    )
    write("bad.parquet", "case,event\nx,a\n")
    assert refused("bad.parquet").startswith("bad.parquet cannot be read as Parquet: ")


# ------------------------------------------------------------------ JSON lines


def test_json_lines(write):
    lines = ['{"id": "x", "events": ["b", "a"], "more": {"a": [1]}}', "", '{"id": 7, "events": []}\r']
    content = "\n".join([*lines, '["c", "a"]', '{"events": ["b"]}'])
    events = read_events(write("log.jsonl", content))
    assert events.to_lists() == [["b", "a"], [], ["c", "a"], ["b"]]
    assert events.ids == ("x", "7", "2", "3")
    assert events.labels == ("a", "b", "c")


def test_json_lines_keys_may_be_named(write):
    name = write("log.jsonl", '{"user": 1, "pages": ["a"]}\n{"user": 1, "pages": ["b"]}\n')
    events = read_events(name, case="user", event="pages")
    assert events.to_lists() == [["a"], ["b"]]
    assert events.ids == ("1", "1")


def test_json_numbers_stay_as_they_stand(write):
    huge = "1" * 5000
    events = read_events(write("log.jsonl", f"[7, 1.50, 1e5, -0, {huge}, true]\n"))
    assert events.to_lists() == [["7", "1.50", "1e5", "-0", huge, "True"]]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('["a"', "not JSON (Expecting ',' delimiter, character 5); expected a list of labels"),
        ('"a"', "expected a list of labels, found a single label"),
        ('{"events": {}}', "expected a list of labels, found an object"),
        ('{"id": 1, "event": ["a"]}', "the object has no 'events'; its keys are 'id', 'event'"),
        ('{"id": null, "events": []}', "'id' must be text or a number, not null"),
        ('{"id": [1], "events": []}', "'id' must be text or a number, not a list"),
        ('["a", null]', "an event has no label (None or nan); drop it or give it a name"),
        ('["a", NaN]', "NaN is not a label; drop it or give it a name"),
        ('["a", [["b"]]]', "a label must be text or a number, not list"),
        ('{"id": "a", "events": ["x"], "events": ["q"]}', TWICE.format("events")),
        ('{"id": "a", "events": ["x"], "more": {"b": 1, "b": 2}}', TWICE.format("b")),
        ("[" * 100_000, "too deeply nested; expected a list of labels"),
    ],
)
def test_json_messages_name_the_line(write, line, message):
    assert refused(write("log.jsonl", f'["a"]\n\n{line}\n')) == f"log.jsonl, line 3: {message}"


def test_json_settings(write):
    name = write("log.jsonl", '{"events": ["a"]}\n')
    assert refused(name, SettingError, order_by="time") == (
        "in log.jsonl a line is a whole sequence, in the order of its list; leave out lifecycle=, "
        "session_gap and drop_duplicates, and name a key of times with order_by= only with times=True"
    )
    assert refused(name, case="id") == "log.jsonl, line 1: the object has no 'id'; its keys are 'events'"


# ------------------------------------------------------------------ plain text


@pytest.mark.parametrize(
    ("content", "sequences"),
    [
        ("b a  b\nc\n", [["b", "a", "b"], ["c"]]),
        ("b\ta\r\nc", [["b", "a"], ["c"]]),
        ("a\n\nb\n", [["a"], [], ["b"]]),
        ("a\n\n", [["a"], []]),
        ("\n", [[]]),
        ("\ufeff007 7\n", [["007", "7"]]),
    ],
)
def test_plain_text(write, content, sequences):
    events = read_events(write("log.txt", content))
    assert events.to_lists() == sequences
    assert events.ids == tuple(str(s) for s in range(len(sequences)))
    assert read_events("log.txt", format="text", labels=["7", "007", *"abcd"]).to_lists() == sequences


def test_plain_text_messages(write):
    assert refused(write("log.txt", b"a\n\xff\n")) == (
        "log.txt, line 2: the text is not UTF-8; save the file as UTF-8"
    )
    assert refused("log.txt", SettingError, event="a") == (
        "case, event, order_by, weight, lifecycle, date_format, ties, times, session_gap and drop_duplicates "
        "are about columns, and log.txt has none; make it a table first, for example with pandas.DataFrame"
    )


# ------------------------------------------------------------------ files as such

CHOICES = ", ".join(map(repr, FORMATS))


@pytest.mark.parametrize("name", ["log.csv", "log.parquet", "log.jsonl", "log.txt"])
def test_file_that_is_not_there_or_empty(write, tmp_path, name):
    assert refused(name) == f"there is no file {name}; check the path"
    assert refused(write(name, "")) == f"{name} is empty; expected events in it"
    (tmp_path / f"folder-{name}").mkdir()
    assert refused(f"folder-{name}") == f"folder-{name} is a folder; name a file in it"


def test_format_that_cannot_be_told(write):
    assert refused(write("log.dat", "a b\n")) == (
        f"the format of log.dat cannot be told from its name; pass format= as one of {CHOICES}"
    )
    assert read_events("log.dat", format="text").to_lists() == [["a", "b"]]
    assert refused("log.dat", SettingError, format="json") == (
        f"unknown format 'json'; use one of {CHOICES}; did you mean 'jsonl'?"
    )


def test_file_that_may_not_be_opened(write):
    assert refused("a" * 300 + ".csv").endswith(".csv cannot be opened: File name too long")


@pytest.mark.skipif(not os.path.exists("/dev/fd"), reason="pipes have no path here")
def test_pipe():
    def pipe(content):
        out, into = os.pipe()
        os.write(into, content)
        os.close(into)
        return out

    out = pipe(b"a b\n")
    assert read_events(f"/dev/fd/{out}", format="text").to_lists() == [["a", "b"]]
    os.close(out)
    out = pipe(b"case,event\nx,a\n")
    assert refused(f"/dev/fd/{out}", format="csv") == (
        f"/dev/fd/{out} is not a regular file; save it as one first"
    )
    os.close(out)
