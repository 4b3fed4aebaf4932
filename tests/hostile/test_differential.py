"""What is read does not depend on how it is read, nor on hash seeds, time zones and kernels."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from fuzz.differential import SETTINGS, inside
from fuzz.tables import in_memory, streamed

import summarkov as sm
from summarkov.errors import DataError
from summarkov.read import scan_events

#: What is said of many ties is the topic of test_ties_warning.
pytestmark = pytest.mark.filterwarnings("ignore::summarkov.errors.TiesWarning")

ROOT = Path(__file__).resolve().parents[2]
TABLES = range(1000, 1008)


@pytest.mark.needs("pandas", "polars")
def test_ways_to_read_hash_seeds_time_zones_and_kernels():
    command = [sys.executable, "-m", "fuzz.differential", "--inside"]
    command += ["--tables", str(len(TABLES)), "--first", str(TABLES.start)]
    others = [
        subprocess.Popen(command, cwd=ROOT, env={**os.environ, **setting}, stdout=subprocess.PIPE)
        for setting in SETTINGS[1:]
    ]
    found = inside(TABLES)
    assert found["readings"] > 100
    assert found["learned"] >= 3
    assert found["refused"] >= 1
    assert [json.loads(other.communicate()[0]) for other in others] == [found] * 2


@pytest.mark.parametrize("memory", [1, 1 << 26])
def test_sequences_come_in_the_order_of_their_first_rows(tmp_path, memory):
    cases = [f"case {(7 * i) % 40}" for i in range(400)]
    events = [str(i) for i in range(400)]
    pq.write_table(pa.table({"case": cases, "event": events}), tmp_path / "log.parquet", row_group_size=37)
    whole = in_memory(tmp_path / "log.parquet")
    assert [name for name, _ in whole[0]][:3] == ["case 0", "case 7", "case 14"]
    assert streamed(tmp_path / "log.parquet", memory, tmp_path) == whole


FAR = 2**53


@pytest.mark.parametrize(
    ("times", "expected"),
    [
        ([f"{FAR + 1}", f"{FAR}", "0.5"], "zxy"),  # as floats the first two are a tie
        ([f"{FAR + 1}", f"{FAR}", "5"], "zyx"),
        (["2024-01-01T00:00:00", "2024-01-01T00:00:00Z", "2024-01-02"], None),
    ],
    ids=["floats", "whole", "zones"],
)
@pytest.mark.parametrize("memory", [1, 1 << 26])
def test_types_are_decided_over_all_files(tmp_path, times, expected, memory):
    """Whichever rows come to stand together on the way."""
    folder = tmp_path / "log"
    folder.mkdir()
    for number, (time, label) in enumerate(zip(times, "xyz", strict=True)):
        (folder / f"{number}.csv").write_text(f"case,event,time\nb,w,{times[0]}\na,{label},{time}\n")

    def read():
        return scan_events(folder, memory=memory, scratch=tmp_path, names=True)

    if expected is None:
        with pytest.raises(DataError, match="cannot be put in order: row 1 of the data holds"):
            read()
        return
    with read() as source:
        assert "".join(source.to_lists()[source.ids.index("a")]) == expected


def test_an_attribute_of_views_may_be_missing():
    columns = {"case": ["x", "x", "y"], "event": ["a", "b", "a"]}
    for kind in (pa.string_view(), pa.string()):
        table = pa.table({**columns, "region": pa.array(["north", "north", None], kind)})
        found = sm.read_events(table, attributes=["region"], order_by=False).attributes
        assert found.names == ("region=(missing)", "region=north")
