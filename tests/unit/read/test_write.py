"""Events written and read again are the same events, or refused with what to do."""

import gzip
import os
import re
import tempfile
from pathlib import Path

import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

import summarkov as sm
from summarkov.errors import DataError, SettingError, StoreError

TEXT = st.text(max_size=5)
_ODD = (
    "",
    " ",
    "a\nb",
    "\r\n",
    "\r",
    '"',
    "a,b;c",
    "\t",
    "-1",
    "-2",
    "#x",
    "@ITEM=1=x",
    "é",
    "e\u0301",
    "NA",
)
AWKWARD = st.sampled_from((*_ODD, "\ufeff", "007", "7", "\u2028", "\x85"))
LABELS = st.one_of(st.sampled_from("AB"), AWKWARD, TEXT)
LISTS = st.lists(st.tuples(st.one_of(AWKWARD, TEXT), st.lists(st.one_of(LABELS), max_size=5)), max_size=5)

FORMATS = ["csv", "tsv", "parquet", "jsonl"]
PACKED = ["", ".gz", ".zst"]


def events_of(pairs):
    return sm.EventSequences.from_lists([labels for _, labels in pairs], ids=[name for name, _ in pairs])


def holds(events, format):
    """Whether a format can hold these events, said once more and in other words than in the code."""
    used = [*events.ids, *(label for labels in events for label in labels)]
    if format == "jsonl":
        return not any("\ud800" <= c <= "\udfff" for text in used for c in text)
    surrogate = re.compile("[\ud800-\udfff]")
    return (
        not any(surrogate.search(text) for text in used)
        and all(list(events))
        and len(set(events.ids)) == len(events)
        and all(name.strip() for name in events.ids)
    )


@pytest.mark.parametrize("format", FORMATS)
@given(pairs=LISTS, packed=st.sampled_from(PACKED))
def test_round_trip(format, pairs, packed):
    events = events_of(pairs)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"events.{format}{'' if format == 'parquet' else packed}"
        if holds(events, format):
            sm.write_events(events, path)
            assert sm.read_events(path) == events
            assert os.listdir(folder) == [path.name]
        else:
            with pytest.raises(DataError):
                sm.write_events(events, path)
            assert os.listdir(folder) == []


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


EVENTS = {"ann": ["a", "b <c>"], "bob": ["b <c>"]}
WRITTEN = {
    "events.csv": '"sequence","position","event"\n"ann",1,"a"\n"ann",2,"b <c>"\n"bob",1,"b <c>"\n',
    "events.tsv": '"sequence"\t"position"\t"event"\n"ann"\t1\t"a"\n"ann"\t2\t"b <c>"\n"bob"\t1\t"b <c>"\n',
    "events.jsonl": '{"id": "ann", "events": ["a", "b <c>"]}\n{"id": "bob", "events": ["b <c>"]}\n',
}


@pytest.mark.parametrize("name", WRITTEN)
def test_what_is_written(here, name):
    sm.write_events(EVENTS, name)
    assert Path(name).read_text() == WRITTEN[name]
    sm.write_events(EVENTS, f"{name}.gz")
    assert gzip.decompress(Path(f"{name}.gz").read_bytes()).decode() == WRITTEN[name]


def test_parquet_is_a_long_table(here):
    sm.write_events(EVENTS, "events.parquet")
    assert pyarrow.parquet.read_table("events.parquet").to_pydict() == {
        "sequence": ["ann", "ann", "bob"],
        "position": [1, 2, 1],
        "event": ["a", "b <c>", "b <c>"],
    }


TWINS = sm.EventSequences.from_lists([["a"], ["a"]], ids=["x", "x"])
REFUSED = [
    (
        {"x": []},
        "e.csv",
        DataError,
        "sequence 'x' is empty, which .* write .jsonl, or leave such",
    ),
    (
        TWINS,
        "e.parquet",
        DataError,
        "2 sequences are named 'x', which .* would make one; write .jsonl, or",
    ),
    ([["\ud800"]], "e.csv", DataError, "a label .* holds '.ud800', half of a character, .*; mend the data"),
    (
        [["a"]],
        "e.dat",
        SettingError,
        "cannot tell the format of e.dat; let its name end in one of .csv, .tsv, ",
    ),
    (
        [["a"]],
        "e.txt",
        SettingError,
        "events are not written as text, SPMF or XES, .*; use one of .csv, .tsv, .parquet",
    ),
    (
        [["a"]],
        "e.parquet.gz",
        SettingError,
        "e.parquet.gz: Parquet packs its columns itself; let the name end in",
    ),
    ([["a"]], "no/e.csv", StoreError, "no/e.csv: cannot be written .No such file or directory.$"),
]


@pytest.mark.parametrize(("events", "name", "kind", "message"), REFUSED)
def test_what_cannot_be_written(here, events, name, kind, message):
    if "/" not in name:
        Path(name).write_text("what stood there before")
    with pytest.raises(kind, match=f"^{message}"):
        sm.write_events(events, name)
    if "/" not in name:
        assert Path(name).read_text() == "what stood there before"
    assert len(list(here.iterdir())) == ("/" not in name)


def test_events_of_no_known_label(here):
    events = sm.read_events([["a", "b"]]).recode(["a"], unknown="ignore")
    with pytest.raises(DataError, match="some events have a label outside the vocabulary"):
        sm.write_events(events, "e.jsonl")
