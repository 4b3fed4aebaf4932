"""Dataframes that are not always the same, whose rows have no order, or that are opened twice."""

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

import summarkov as sm
from strategies import assert_same
from summarkov.engines import MemorySource, StatesRequest, Target
from summarkov.spark.session import map_partitions
from summarkov.errors import DataError, SettingError

#: What is said of many ties is the topic of test_ties_warning.
pytestmark = [pytest.mark.cut_off, pytest.mark.filterwarnings("ignore::summarkov.errors.TiesWarning")]

SCHEMA = "case bigint, event string, time bigint"


def rows(n=400, n_cases=20, seed=0):
    rng = np.random.default_rng(seed)
    events = rng.choice(["A", "B", "C"], size=n)
    return pa.table({"case": rng.integers(n_cases, size=n), "event": events, "time": np.arange(n)})


def changing(frame, folder, change):
    """The same rows whenever they are worked out, and from time number ``change`` on with labels reversed.

    Each time that all are worked out, a file is written.
    """

    def step(batches):
        import pathlib
        import uuid

        seen = pathlib.Path(folder)
        after = len(list(seen.iterdir())) >= change
        for batch in batches:
            events = batch.column("event").to_pylist()
            if after:  # as many rows, and as many of each label
                events = events[::-1]
            yield pa.record_batch([batch.column(0), pa.array(events), batch.column(2)], batch.schema.names)
        (seen / uuid.uuid4().hex).touch()

    return map_partitions(frame.coalesce(1), step, SCHEMA)


def test_labels_that_change_from_pass_to_pass_are_noticed(spark):
    """As many rows each time, with other labels: no count would be of anything that ever was."""

    def shaken(batches):
        import os

        for batch in batches:  # not by random, whose state new workers share; 16 labels hardly come as often
            events = ["ABCDEFGHIJKLMNOP"[byte % 16] for byte in os.urandom(batch.num_rows)]
            yield pa.record_batch([batch.column(0), pa.array(events), batch.column(2)], batch.schema.names)

    frame = map_partitions(spark.createDataFrame(rows()), shaken, SCHEMA)
    before = spark.sparkContext._jsc.getPersistentRDDs().size()
    with pytest.raises(DataError, match=r"labels were counted twice, .* write it to a table, or call"):
        sm.scan_spark(frame)
    assert spark.sparkContext._jsc.getPersistentRDDs().size() == before


def test_a_label_that_comes_up_later_is_noticed(spark):
    def new(batches):
        import uuid

        for batch in batches:
            events = [uuid.uuid4().hex] * batch.num_rows
            yield pa.record_batch([batch.column(0), pa.array(events), batch.column(2)], batch.schema.names)

    frame = map_partitions(spark.createDataFrame(rows()), new, SCHEMA)
    with pytest.raises(DataError, match=r"there was no label '\w{32}' when labels were looked up"):
        sm.scan_spark(frame)


def test_a_lost_cache_that_comes_out_differently_is_noticed(spark, tmp_path):
    """The same labels as often, in another order."""
    before = tmp_path / "before"
    before.mkdir()
    frame = changing(spark.createDataFrame(rows()), before, 10**9)
    with sm.scan_spark(frame) as source:
        needed = len(list(before.iterdir()))
        source._codes.unpersist()
        chain = sm.MarkovChain("A", order=1)
        again = chain.fit(source).log_likelihood_  # lost, and the same again
        assert again == chain.fit(sm.read_events(rows())).log_likelihood_
    after = tmp_path / "after"
    after.mkdir()
    with sm.scan_spark(changing(spark.createDataFrame(rows()), after, needed)) as source:
        source._codes.unpersist()
        with pytest.raises(DataError, match=r"was lost, and came out differently .* call its checkpoint"):
            sm.BSuMM("A").fit(source)


def test_two_sources_of_one_dataframe_have_a_cache_each(spark):
    frame = spark.createDataFrame(rows())
    before = spark.sparkContext._jsc.getPersistentRDDs().size()
    with sm.scan_spark(frame) as one:
        with sm.scan_spark(frame) as other:
            assert spark.sparkContext._jsc.getPersistentRDDs().size() == before + 2
            assert other.n_events == 400
        assert spark.sparkContext._jsc.getPersistentRDDs().size() == before + 1
        assert one._codes.storageLevel.useMemory
    assert spark.sparkContext._jsc.getPersistentRDDs().size() == before


@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_rows_of_files_are_in_the_order_of_the_files(spark, tmp_path, kind):
    """Spark reads the largest file first, and so its rows came first."""
    table = rows(n=3000, n_cases=5).drop_columns("time")
    for name, start, stop in (("a", 0, 100), ("b", 100, 2900), ("c", 2900, 3000)):
        part = table.slice(start, stop - start)
        if kind == "parquet":
            parquet.write_table(part, tmp_path / f"{name}.parquet")
        else:
            part.to_pandas().to_csv(tmp_path / f"{name}.csv", index=False)
    reader = spark.read.option("header", "true").option("inferSchema", "true")
    frame = reader.format(kind).load(str(tmp_path))
    request = StatesRequest(sm.OSuMM(lookback=None).make_summary(), (0, 1), Target((2,), 3))
    with pytest.raises(
        SettingError, match="Spark keeps no order of rows; name one with order=, or say order=F"
    ):
        sm.scan_spark(frame)
    with sm.scan_spark(frame, order=False) as source, sm.scan_events(tmp_path) as streamed:
        assert_same(source.count([request])[0], streamed.count([request])[0])
        assert_same(source.count([request])[0], MemorySource(sm.read_events(table)).count([request])[0])
