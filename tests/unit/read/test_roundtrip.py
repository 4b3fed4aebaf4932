"""Whatever is written comes back the same, from every format and every table."""

import csv
import json
import pathlib
import random
import tempfile

import duckdb
import pyarrow
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from summarkov.events import EventSequences
from summarkov.read import read_events

pandas = pytest.importorskip("pandas")
polars = pytest.importorskip("polars")

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)
LABELS = st.one_of(st.sampled_from("ABC"), TEXT)
WORDS = st.text(st.characters(categories=["L", "N", "P"]), min_size=1, max_size=5)


def sequences(labels, shortest):
    return st.dictionaries(TEXT, st.lists(labels, min_size=shortest, max_size=6), min_size=1, max_size=6)


def through_csv(rows, path, delimiter):
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, delimiter=delimiter, quoting=csv.QUOTE_ALL)
        writer.writerow(["case", "event"])
        writer.writerows(rows)
    return read_events(path)


def through_parquet(table, path):
    parquet.write_table(table, path)
    return read_events(path)


def rows_of(lists):
    return [(name, label) for name, labels in lists.items() for label in labels]


def table_of(rows):
    return pyarrow.table(
        {"case": pyarrow.array([row[0] for row in rows]), "event": pyarrow.array([row[1] for row in rows])}
    )


@pytest.mark.parametrize(
    "through",
    [
        lambda rows, folder: through_csv(rows, folder / "log.csv", ","),
        lambda rows, folder: through_csv(rows, folder / "log.tsv", "\t"),
        lambda rows, folder: through_parquet(table_of(rows), folder / "log.parquet"),
        lambda rows, folder: read_events(table_of(rows)),
        lambda rows, folder: read_events(pandas.DataFrame(rows, columns=["case", "event"])),
        lambda rows, folder: read_events(polars.DataFrame(rows, schema=["case", "event"], orient="row")),
        lambda rows, folder: read_events(duckdb.from_arrow(table_of(rows))),
    ],
    ids=["csv", "tsv", "parquet", "pyarrow", "pandas", "polars", "duckdb"],
)
@given(lists=sequences(LABELS, shortest=1), scattered=st.booleans(), seed=st.integers(0, 99))
def test_rows(through, lists, scattered, seed):
    lists = {f"{name}." if not name.strip() else name: labels for name, labels in lists.items()}
    rows = rows_of(lists)
    if scattered:  # any order of the cases, but the labels of a case in theirs
        mixed = random.Random(seed).sample(rows, len(rows))
        names = [case for case, _ in mixed]
        lists = {case: lists[case] for case in dict.fromkeys(names)}
        rest = {case: iter(labels) for case, labels in lists.items()}
        rows = [(case, next(rest[case])) for case in names]
    with tempfile.TemporaryDirectory() as folder:
        events = through(rows, pathlib.Path(folder))
    assert events == EventSequences.from_lists(lists.values(), ids=list(lists))


@given(lists=sequences(LABELS, shortest=0))
def test_json_lines(lists):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "log.jsonl"
        lines = [json.dumps({"id": name, "events": labels}) + "\n" for name, labels in lists.items()]
        path.write_text("".join(lines), encoding="utf-8")
        assert read_events(path) == EventSequences.from_lists(lists.values(), ids=list(lists))


@given(lists=sequences(LABELS, shortest=0))
def test_lists_in_parquet(lists):
    labels = pyarrow.array(list(lists.values()), pyarrow.list_(pyarrow.string()))
    with tempfile.TemporaryDirectory() as folder:
        events = through_parquet(
            pyarrow.table({"id": list(lists), "events": labels}), pathlib.Path(folder) / "log.parquet"
        )
    assert events == EventSequences.from_lists(lists.values(), ids=list(lists))


@given(lists=st.lists(st.lists(WORDS, max_size=6), min_size=1, max_size=6))
def test_plain_text(lists):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "log.txt"
        path.write_text("".join(" ".join(labels) + "\n" for labels in lists), encoding="utf-8")
        assert read_events(path) == EventSequences.from_lists(lists)
