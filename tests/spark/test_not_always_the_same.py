"""Dataframes whose rows come in any order, or that are opened twice; and executors that are lost."""

import os
import signal

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

import summarkov as sm
from strategies import assert_same
from summarkov.engines import MemorySource, StatesRequest, Target
from summarkov.errors import SettingError

#: What is said of many ties is the topic of test_ties_warning.
pytestmark = [pytest.mark.cut_off, pytest.mark.filterwarnings("ignore::summarkov.errors.TiesWarning")]
#: Depends on the order of events.
REQUEST = StatesRequest(sm.OSuMM(lookback=None).make_summary(), (0, 1), Target((2,), 3))


def rows(n=400, n_cases=20, seed=0):
    rng = np.random.default_rng(seed)
    events = rng.choice(["A", "B", "C"], size=n)
    return pa.table({"case": rng.integers(n_cases, size=n), "event": events, "time": rng.integers(n, size=n)})


def cached(spark):
    return spark.sparkContext._jsc.getPersistentRDDs().size()


@pytest.mark.parametrize("kind", ["grouped", "shuffled", "single"])
def test_counts_are_those_of_memory(spark, kind):
    table = rows(n_cases=1 if kind == "single" else 20)
    if kind == "grouped":
        table = table.sort_by([("case", "ascending"), ("time", "ascending")])
    events = sm.read_events(table)
    with sm.scan_spark(spark.createDataFrame(table), partitions=3) as source:
        assert_same(source.count([REQUEST])[0], MemorySource(events).count([REQUEST])[0])
        assert source.tied_order == events.tied_order


def test_what_was_cached_is_made_again_where_it_is_lost(spark):
    table = rows()
    with sm.scan_spark(spark.createDataFrame(table), partitions=3) as source:
        source._data.shards.unpersist()
        assert_same(source.count([REQUEST])[0], MemorySource(sm.read_events(table)).count([REQUEST])[0])


def test_an_executor_that_is_killed(spark):
    """On a cluster: its tasks and what it had cached go to another one, with the same counts."""
    if not spark.sparkContext.master.startswith("local-cluster"):
        pytest.skip("there is one process here; test_cluster.py runs this on two executors")

    class Executors:
        """The numbers of the processes that run the tasks: the parents of those that fork workers."""

        def run(self, part):
            from pathlib import Path

            stat = Path(f"/proc/{os.getppid()}/stat").read_text()
            return {int(stat.rpartition(")")[2].split()[1])}

        def total(self, answers):
            return set().union(*answers)

    table = rows(2000, n_cases=60)
    expected = MemorySource(sm.read_events(table)).count([REQUEST])[0]
    with sm.scan_spark(spark.createDataFrame(table), partitions=4) as source:
        assert_same(source.count([REQUEST])[0], expected)
        os.kill(min(source.run(Executors())), signal.SIGKILL)
        assert_same(source.count([REQUEST])[0], expected)


def test_two_sources_of_one_dataframe_have_a_cache_each(spark):
    frame = spark.createDataFrame(rows())
    before = cached(spark)
    with sm.scan_spark(frame) as one:
        with sm.scan_spark(frame) as other:
            assert cached(spark) == before + 2
            assert other.n_events == 400
        assert cached(spark) == before + 1
        assert one._data.shards.storageLevel.useMemory
    assert cached(spark) == before


@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_rows_of_files_are_in_the_order_of_the_files(spark, tmp_path, kind):
    """Spark reads the largest file first, and so its rows came first; rows with one time keep the order."""
    table = rows(n=3000, n_cases=5).drop_columns("time").append_column("day", pa.array([1, 2, 3] * 1000))
    for name, start, stop in (("a", 0, 100), ("b", 100, 2900), ("c", 2900, 3000)):
        part = table.slice(start, stop - start)
        if kind == "parquet":
            parquet.write_table(part, tmp_path / f"{name}.parquet")
        else:
            part.to_pandas().to_csv(tmp_path / f"{name}.csv", index=False)
    reader = spark.read.option("header", "true").option("inferSchema", "true")
    frame = reader.format(kind).load(str(tmp_path))
    with pytest.raises(
        SettingError, match="Spark keeps no order of rows; name one with order=, or say order=F"
    ):
        sm.scan_spark(frame)
    for order in (False, "day"):
        expected = MemorySource(sm.read_events(table, order=order)).count([REQUEST])[0]
        with sm.scan_spark(frame, order=order) as source:
            assert_same(source.count([REQUEST])[0], expected)


def test_prepared_as_in_memory(spark):
    """With attributes, weights, times and ends of cases."""
    table = rows(900, n_cases=30)
    table = table.append_column("region", pa.array([f"r{case % 2}" for case in table["case"].to_pylist()]))
    table = table.append_column("n", pa.array([1.5 + case % 3 for case in table["case"].to_pylist()]))
    how = {"ends": "complete", "attributes": ["region"], "weight": "n", "times": True}
    events = sm.read_events(table, **how)
    steps = {
        "map": lambda data: data.map_labels({"C": "A"}),
        "collapse": lambda data: data.collapse_repeats(),
        "start": lambda data: data.add_start().map_labels(str.lower),
    }
    with sm.scan_spark(spark.createDataFrame(table), partitions=3, **how) as source:
        for name, step in steps.items():
            mine, others = step(source), MemorySource(step(events), sample_weight=events.weights)
            assert mine.labels == others.labels
            assert mine.label_counts.tolist() == others.label_counts.tolist()
            assert mine.n_events == others.n_events
            document = sm.BSuMM("a" if name == "start" else "B", lookback=3).fit(mine).to_document()
            expected = sm.BSuMM("a" if name == "start" else "B", lookback=3).fit(step(events)).to_document()
            assert document == expected
    plain = sm.read_events(table, ends="complete")
    with sm.scan_spark(spark.createDataFrame(table), partitions=3, ends="complete") as source:
        least = int(np.sort(plain.label_counts)[1]) + 1
        assert source.pool_rare(least).labels == ("(end of case)", *plain.pool_rare(least).labels)
