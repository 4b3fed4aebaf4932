"""Quotes that do not match are refused; whatever a strict reader takes, is taken."""

import csv
import io
import pathlib
import tempfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from summarkov.errors import DataError
from summarkov.read import read_events, scan_events

TEXTS = st.text(st.sampled_from('"a,\n'), max_size=12)


def strict(text):
    """Whether the standard library's strict reader takes a text."""
    try:
        list(csv.reader(io.StringIO(text, newline=""), strict=True))
    except csv.Error:
        return False
    return True


@given(cells=st.lists(st.text(st.sampled_from('"a,\r\n é'), min_size=1, max_size=5), min_size=1, max_size=5))
def test_what_is_written_well_is_read(cells):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "log.csv"
        with open(path, "w", newline="") as file:
            csv.writer(file).writerows([["case", "event"], *([1, cell] for cell in cells)])
        assert read_events(path, missing="skip").n_events == len(cells)


@given(text=TEXTS)
def test_read_or_refused(text):
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
        ('case,event\n1,x\n1,"a\n2,b\n', "log.csv, line 3: a quote opens here and is never closed; close it"),
        (
            'case,event\n1,"5" pipe"\n',
            "log.csv, line 2: something stands between the end of a quoted cell and ','; write quotes "
            "inside of a "
            "cell twice, or close the quote before",
        ),
        (
            'case,event\n1,"' + "x,y\n" * 50_000,
            "log.csv, line 2: a quote opens here and is never closed; close it",
        ),
    ],
)
def test_refused(tmp_path, monkeypatch, text, message):
    monkeypatch.chdir(tmp_path)
    pathlib.Path("log.csv").write_text(text)
    for read in (read_events, scan_events):
        with pytest.raises(DataError) as error:
            read("log.csv")
        assert str(error.value) == message


def test_quotes_inside_of_plain_cells_are_what_they_are(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text('case,event\n1,5" pipe\n1,6" pipe\n1,7"\n')
    assert read_events(path).to_lists() == [['5" pipe', '6" pipe', '7"']]
    with scan_events(path) as source:
        assert source.labels == ('5" pipe', '6" pipe', '7"')
