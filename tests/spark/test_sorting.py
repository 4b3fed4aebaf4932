"""Rows of cases are put in order by the workers, or by Spark where they are too many for that."""

import datetime
from operator import itemgetter

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

import summarkov as sm
from strategies import assert_same
from summarkov.engines import MemorySource, StatesRequest, Target
from summarkov.engines.spark import source as spark_source
from summarkov.engines.spark.sorting import ROW_BYTES, Packing, Sorting
from summarkov.errors import TooLargeError

#: What is said of many ties is the topic of test_ties_warning.
pytestmark = pytest.mark.filterwarnings("ignore::summarkov.errors.TiesWarning")
#: Depends on the order of events.
REQUEST = StatesRequest(sm.OSuMM(lookback=None).make_summary(), (0, 1), Target((2,), 3))


def rows(n=400, n_cases=20, seed=0):
    rng = np.random.default_rng(seed)
    events = rng.choice(["A", "B", "C"], size=n)
    case = pa.array([f"visit {number}" for number in rng.integers(n_cases, size=n)])
    return pa.table({"case": case, "event": events, "time": rng.integers(n // 4, size=n)})


def sorted_by(monkeypatch):
    """What is told of each sort: the memory of the workers, or None where Spark sorts."""
    told = []
    sort = spark_source.SparkSource._sort

    def noted(self, frame, heads, memory):
        told.append(memory)
        return sort(self, frame, heads, memory)

    monkeypatch.setattr(spark_source.SparkSource, "_sort", noted)
    return told


def test_workers_and_spark_put_rows_in_the_same_order(spark, monkeypatch):
    table = rows()
    events = sm.read_events(table)
    expected = MemorySource(events).count([REQUEST])[0]
    told = sorted_by(monkeypatch)
    for memory in (1 << 27, 100):
        with sm.scan_spark(spark.createDataFrame(table), partitions=2, memory=memory) as source:
            assert_same(source.count([REQUEST])[0], expected)
            assert source.tied_order == events.tied_order > 0
    assert told == [1 << 27, None]


def test_a_case_too_large_for_a_worker_is_sorted_by_spark(spark, monkeypatch):
    table = rows(n_cases=8)
    large = pa.array(["visit 0"] * 390 + table.column("case").to_pylist()[390:])
    table = table.set_column(0, "case", large)
    told = sorted_by(monkeypatch)
    memory = 400 * ROW_BYTES // 3  # all fits into four partitions, but not most of it into one
    before = spark.sparkContext._jsc.getPersistentRDDs().size()
    with sm.scan_spark(spark.createDataFrame(table), partitions=4, memory=memory) as source:
        assert told == [memory, None]
        assert_same(source.count([REQUEST])[0], MemorySource(sm.read_events(table)).count([REQUEST])[0])
        assert spark.sparkContext._jsc.getPersistentRDDs().size() == before + 1
    assert spark.sparkContext._jsc.getPersistentRDDs().size() == before


@pytest.mark.parametrize("kind", ["whole", "moment", "day", "files"])
def test_the_order_in_which_rows_come_does_not_matter(kind):
    """What Spark fetches from other machines first is a matter of chance."""
    day = datetime.date(2024, 1, 1)
    table = rows(300, 12).rename_columns(["case", "event", "order0"])
    part = [int(name.split()[1]) % 3 for name in table.column("case").to_pylist()]
    table = table.append_column("row", pa.array(range(300))).append_column("part", pa.array(part))
    orders = (("order0", "time"),)
    if kind == "files":
        names = pa.array([f"file {9 - number // 60}" for number in range(300)])
        table = table.drop_columns("order0").append_column("file", names)
        table, orders = table.append_column("start", pa.array([number // 30 for number in range(300)])), ()
    elif kind != "whole":
        moments = [day + datetime.timedelta(number) for number in table.column("order0").to_pylist()]
        at = pa.array(moments, pa.date32())
        table = table.set_column(2, "order0", at if kind == "day" else at.cast(pa.timestamp("us", "UTC")))
    labels, found = ("A", "B", "C"), []
    packing = Packing((("case", "case"), *orders), labels, 3, 70 * ROW_BYTES)  # 70 rows at a time
    packed = [
        row for one in packing(table.drop_columns("row").to_batches(max_chunksize=20)) for row in _single(one)
    ]
    assert len(packed) == (3 * 10 if kind == "files" else 3 * 5)  # a row per partition and 60 rows, or file
    for number in range(3):
        mine = [row for row in packed if int(row.column("case")[0].as_py().split()[1]) % 3 == number]
        by = [name for name in ("case", "order0", "file", "start", "row") if name in table.column_names]
        expected = table.filter(pc.equal(table.column("part"), number))
        expected = expected.sort_by([(name, "ascending") for name in by])
        order = [name for name in ("case", "event", "order0") if name in table.column_names]
        for seed in range(3):
            mixed = [mine[at] for at in np.random.default_rng(seed).permutation(len(mine))]
            (sorted_,) = Sorting(orders, labels, 1 << 20)(mixed)
            assert sorted_.column("case").to_pylist() == found or seed == 0  # cases by their first row
            found = sorted_.column("case").to_pylist()
            again = sorted(sorted_.select(order).to_pylist(), key=itemgetter("case"))
            assert again == expected.select(order).to_pylist()
        with pytest.raises(TooLargeError, match=r"more than 79 rows .* give memory= a larger number"):
            list(Sorting(orders, labels, 79 * ROW_BYTES)(mine))
    assert list(Sorting(orders, labels, 1 << 20)([])) == []


def _single(batch):
    return [batch.slice(at, 1) for at in range(batch.num_rows)]
