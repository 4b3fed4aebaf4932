"""Which files a path means: folders of tables are refused, and lists of files are read in their order."""

import os
from pathlib import Path
from unittest import mock

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import dataset, parquet

import summarkov as sm
from summarkov.errors import DataError, SettingError
from summarkov.read.files import find_files

#: Numbers as the paper counts them.
pytestmark = pytest.mark.cut_off


def write(path, *labels):
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = {"case": ["x"] * len(labels), "event": list(labels), "position": range(len(labels))}
    parquet.write_table(pa.table(rows), path)
    return str(path)


@pytest.mark.parametrize(
    ("inside", "words"),
    [
        ("_delta_log/00000000000000000000.json", r"is a Delta table, .*DeltaTable\(path\)\.file_uris\(\)"),
        ("metadata/v1.metadata.json", r"is an Iceberg table, .*plan_files"),
    ],
)
@pytest.mark.parametrize("deeper", ["", "lake/"])
def test_folders_of_tables_are_refused_with_what_to_do(tmp_path, inside, words, deeper):
    """They also hold files that were deleted from the table: here all of them twice."""
    for name in ("old", "new"):
        write(tmp_path / f"{deeper}{name}.parquet", "a", "b")
    log = tmp_path / f"{deeper}{inside}"
    log.parent.mkdir()
    log.write_text("{}")
    for format in (None, "parquet"):
        with pytest.raises(DataError, match=words):
            sm.scan_events(tmp_path, format=format)
    with sm.scan_events([tmp_path / f"{deeper}new.parquet"]) as source:
        assert source.n_events == 2


def test_somebodys_folder_of_metadata_is_no_table(tmp_path):
    write(tmp_path / "events.parquet", "a", "b")
    write(tmp_path / "metadata" / "more.parquet", "c")
    assert len(find_files([tmp_path])[1]) == 2


def test_several_files_are_read_in_their_order(tmp_path):
    late, early = write(tmp_path / "a.parquet", "a"), write(tmp_path / "b.parquet", "b", "b")
    assert find_files([early, late, early]) == ("parquet", [early, late])
    with sm.scan_events([early, late], order_by=False) as source:
        assert source.codes.tolist() == [1, 1, 0]
    (tmp_path / "c.jsonl").write_text('["a"]\n')
    with pytest.raises(DataError, match="of several formats, jsonl and parquet; name those of one"):
        sm.scan_events([early, tmp_path / "c.jsonl"])
    for wrong in ([], [["a", "b"]], 3):
        with pytest.raises(SettingError, match="a list of these, or a stream of Arrow, not"):
            sm.scan_events(wrong)


def test_what_is_no_regular_file_is_named_and_never_opened(tmp_path):
    """A pipe would be waited for."""
    path = write(tmp_path / "a.parquet", "a", "b")
    os.mkfifo(tmp_path / "pipe.parquet")
    os.mkfifo(tmp_path / "unasked.csv")
    (tmp_path / "z.parquet").symlink_to(tmp_path / "nothing")
    said = r"pipe\.parquet is skipped, and 1 more: it is a pipe, a device or a link to nothing; save what"
    for place in (tmp_path, tmp_path / "*.parquet"):
        with pytest.warns(UserWarning, match=said), sm.scan_events(place) as source:
            assert source.n_events == 2
    with pytest.warns(UserWarning, match="it is a pipe"):
        assert find_files([tmp_path / "*.parquet"]) == ("parquet", [path])
    os.remove(path)
    with pytest.raises(DataError, match="holds no parquet, csv or jsonl files"):
        sm.scan_events(tmp_path)


def test_addresses_are_refused_with_what_to_do(tmp_path):
    events = sm.read_events([["a", "b"]])
    for call in (
        lambda: sm.read_events("s3://me:SECRET@bucket/log.csv"),
        lambda: sm.read_events(Path("s3://bucket/log.csv")),
        lambda: sm.scan_events(["s3://bucket/lake/"]),
        lambda: sm.write_events(events, "s3://bucket/log.csv"),
        lambda: sm.load("s3://bucket/model.json"),
    ):
        with pytest.raises(
            SettingError, match=r"addresses \(s3://\) are not opened; copy the file, or let"
        ) as error:
            call()
        assert "SECRET" not in str(error.value)
    there = tmp_path / "s3:" / "log.csv"
    there.parent.mkdir()
    with pytest.raises(DataError, match="there is no file"):
        sm.read_events(there)


def test_streams_of_arrow_are_scanned(tmp_path):
    """What is in an object store comes in so."""
    rng = np.random.default_rng(1)
    table = pa.table(
        {"case": rng.integers(0, 9, 500), "event": rng.choice([*"abc"], 500), "time": range(500)}
    )
    parquet.write_table(table, tmp_path / "log.parquet", row_group_size=40)
    expected = sm.read_events(table)
    with mock.patch("summarkov.read.scan.ROWS", 90):
        for reader in (table.to_reader(70), dataset.dataset(tmp_path).scanner(batch_size=33).to_reader()):
            with sm.scan_events(reader, names=True) as events:
                assert events == expected
    with pytest.raises(SettingError, match="format='csv' is for files; leave it out for a table"):
        sm.scan_events(table, format="csv")
    with pytest.raises(DataError, match="the table has no column 'x'"):
        sm.scan_events(table, event="x")
