"""Codes that are kept in a folder: the same counts, also in another session and by other tasks."""

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

import summarkov as sm
from strategies import assert_same
from summarkov.engines import MemorySource, StatesRequest, Target
from summarkov.errors import DataError

REQUEST = StatesRequest(sm.OSuMM(lookback=None).make_summary(), (0, 1), Target((2,), 3))


def rows(n=3000, n_cases=60, seed=0):
    rng = np.random.default_rng(seed)
    case = pa.array([f"visit {number}" for number in rng.integers(n_cases, size=n)])
    return pa.table({"case": case, "event": rng.choice(["A", "B", "C"], size=n), "time": rng.permutation(n)})


def test_codes_are_kept_and_taken_again(spark, tmp_path):
    table, folder = rows(), tmp_path / "codes"
    events = sm.read_events(table)
    frame = spark.createDataFrame(table)
    graph = sm.InfluenceGraph(sm.BSuMM(lookback=3, gamma=0.1, false_edges=None)).fit(events)
    sure = graph.confidence(events, n=5)
    expected = MemorySource(events).count([REQUEST])[0]
    before = spark.sparkContext._jsc.getPersistentRDDs().size()
    first = {}
    for partitions in (5, 5, None):  # the second and third take what the first has written
        with sm.scan_spark(frame, codes=folder, partitions=partitions) as source:
            assert_same(source.count([REQUEST])[0], expected)
            assert graph.confidence(source, n=5) == sure
            assert source.n_partitions == 5
            assert spark.sparkContext._jsc.getPersistentRDDs().size() == before  # nothing is cached
        written = {path.name: path.stat().st_mtime_ns for path in folder.iterdir()}
        assert written == first if first else first.update(written) is None
    with pytest.raises(DataError, match="this source is closed"):
        source.count([REQUEST])
    files = list(folder.glob("*.parquet"))
    assert len(files) == 5
    assert {parquet.ParquetFile(path).num_row_groups for path in files} == {1}


def test_codes_of_several_partitions_in_one_task(spark, tmp_path):
    """Spark reads small files together, and cuts large ones; neither may change what is counted."""
    table = rows()
    frame = spark.createDataFrame(table)
    expected = MemorySource(sm.read_events(table)).count([REQUEST])[0]
    with sm.scan_spark(frame, codes=tmp_path / "codes", partitions=4) as source:
        tally = source._tally
        for setting, value in (("openCostInBytes", "0"), ("maxPartitionBytes", "300")):
            name = f"spark.sql.files.{setting}"
            was = spark.conf.get(name)
            try:
                spark.conf.set(name, value)
                source._codes = spark.read.parquet(str(tmp_path / "codes"))
                n_tasks = source._codes.rdd.getNumPartitions()
                assert n_tasks != 4
                assert_same(source.count([REQUEST])[0], expected)  # and the checksums are the same
                assert source._tally == tally
            finally:
                spark.conf.set(name, was)


def test_pieces_of_partitions_are_refused(spark, tmp_path):
    """A file that Spark cuts between row groups would cut sequences."""
    frame, folder = spark.createDataFrame(rows(30_000)), tmp_path / "codes"
    sm.scan_spark(frame, codes=folder, partitions=1).close()
    (path,) = folder.glob("*.parquet")
    whole, size = parquet.read_table(path), path.stat().st_size
    parquet.write_table(whole, path, row_group_size=2)  # Spark's own description stays with it
    (folder / f".{path.name}.crc").unlink()
    name = "spark.sql.files.maxPartitionBytes"
    was = spark.conf.get(name)
    try:
        spark.conf.set(name, str(size // 4))
        with pytest.raises(DataError, match="read in pieces; make them anew, with more partitions="):
            sm.scan_spark(frame, codes=folder)
    finally:
        spark.conf.set(name, was)


def test_codes_of_something_else_are_refused(spark, tmp_path):
    frame, folder = spark.createDataFrame(rows()), str(tmp_path / "codes")
    sm.scan_spark(frame, codes=folder, partitions=3).close()
    more = spark.createDataFrame(pa.concat_tables([rows(), rows(1, seed=5)]))
    renamed = frame.withColumnRenamed("time", "when")
    frame.write.parquet(str(tmp_path / "other"))
    (tmp_path / "empty").mkdir()
    for words, ask in (
        ("codes holds something else .* remove it, or name", lambda: sm.scan_spark(more, codes=folder)),
        ("holds something else", lambda: sm.scan_spark(renamed, order="when", codes=folder)),
        ("holds something else", lambda: sm.scan_spark(frame, ties="together", codes=folder)),
        ("other holds something else", lambda: sm.scan_spark(frame, codes=tmp_path / "other")),
        ("empty holds no codes; name a folder", lambda: sm.scan_spark(frame, codes=tmp_path / "empty")),
    ):
        with pytest.raises(DataError, match=words):
            ask()
    max((tmp_path / "codes").glob("*.parquet"), key=lambda path: path.stat().st_size).unlink()
    with pytest.raises(DataError, match=r"codes does not hold all of the codes; remove it, and they are"):
        sm.scan_spark(frame, codes=folder)
