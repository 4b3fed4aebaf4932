"""Codes that are kept in a folder: the same counts, also in another session and by other tasks."""

import json
import shutil

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

import summarkov as sm
from strategies import assert_same
from summarkov.engines import MemorySource, StatesRequest, Target
from summarkov.errors import DataError

#: Numbers as the paper counts them.
pytestmark = pytest.mark.cut_off

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
        (
            "empty holds no codes; remove it, or name a folder",
            lambda: sm.scan_spark(frame, codes=tmp_path / "empty"),
        ),
    ):
        with pytest.raises(DataError, match=words):
            ask()


def with_numbers(kind, change):
    """A change of the numbers in the first of some binary values."""

    def changed(values):
        return [change(np.frombuffer(values[0], kind).copy()).tobytes(), *values[1:]]

    return changed


def put(value):
    def changed(numbers):
        numbers[3] = value
        return numbers

    return changed


#: What someone may do to a column of the largest file of codes.
CHANGES = {
    "no label at all": ("codes", with_numbers(np.int32, put(2**29))),
    "another order": ("codes", with_numbers(np.int32, lambda codes: np.roll(codes, 1))),
    "no ends": ("codes", with_numbers(np.int32, lambda codes: codes & 0x7FFFFFFF)),
    "other names": ("keys", with_numbers(np.uint64, put(5))),
    "no partition": ("part", lambda values: [99] * len(values)),
    "nowhere": ("part", lambda values: [None] * len(values)),
    "ties not given": ("ties", lambda values: [None] * len(values)),
    "an error": ("error", lambda values: [b'["sys", "x", {}]'] * len(values)),
    "earlier times": ("times", with_numbers(np.int64, lambda times: times[::-1])),
    "too few times": ("times", with_numbers(np.int64, lambda times: times[:-1])),
    "other ticks": ("codes", with_numbers(np.int32, lambda codes: codes ^ (1 << 30))),
}


@pytest.fixture(scope="module")
def timed(spark, tmp_path_factory):
    """A dataframe, how it is read, and codes of it."""
    frame, folder = spark.createDataFrame(rows(300, 20)), tmp_path_factory.mktemp("timed") / "codes"
    how = {"ties": "together", "times": True}
    sm.scan_spark(frame, codes=folder, partitions=2, **how).close()
    return frame, how, folder


def copied(folder, tmp_path):
    """A copy of codes, without Spark's own checksums, and its largest file."""
    copy = tmp_path / "copy"
    shutil.copytree(folder, copy, ignore=shutil.ignore_patterns(".*.crc"))
    return copy, max(copy.glob("*.parquet"), key=lambda path: path.stat().st_size)


REFUSED = r"copy does not hold the codes that were written there \(.*\); remove it, and they are made anew$"


@pytest.mark.parametrize("change", CHANGES)
def test_codes_that_were_changed_are_refused(change, timed, tmp_path):
    frame, how, folder = timed
    copy, path = copied(folder, tmp_path)
    column, changed = CHANGES[change]
    table = parquet.read_table(path)
    at = table.column_names.index(column)
    values = pa.array(changed(table.column(at).to_pylist()), table.schema.field(at).type)
    parquet.write_table(table.set_column(at, table.schema.field(at), values), path)
    with pytest.raises(DataError, match=REFUSED):
        sm.scan_spark(frame, codes=copy, **how)


@pytest.mark.parametrize("gone", ["a part", "the tally"])
def test_codes_that_are_not_all_there_are_refused(gone, timed, tmp_path):
    frame, how, folder = timed
    copy, path = copied(folder, tmp_path)
    with sm.scan_spark(frame, codes=copy, **how) as source:
        assert source.n_sequences == 20
    path.unlink() if gone == "a part" else shutil.rmtree(copy / "_summarkov")
    with pytest.raises(DataError, match=REFUSED):
        sm.scan_spark(frame, codes=copy, **how)


@pytest.mark.parametrize("n", [0, 10**9, None])
def test_numbers_of_partitions_that_nobody_has(n, timed, tmp_path):
    frame, how, folder = timed
    copy, _ = copied(folder, tmp_path)
    name = b"org.apache.spark.sql.parquet.row.metadata"
    for path in copy.glob("*.parquet"):
        table = parquet.read_table(path)
        about = json.loads(table.schema.metadata[name])
        about["fields"][0]["metadata"]["summarkov"]["partitions"] = n
        parquet.write_table(
            table.replace_schema_metadata({**table.schema.metadata, name: json.dumps(about).encode()}), path
        )
    with pytest.raises(DataError, match="copy holds something else than the codes of these events"):
        sm.scan_spark(frame, codes=copy, **how)
