"""What is special to Spark: the session, its workers, columns of all kinds, and what goes wrong."""

import os
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import summarkov as sm
from strategies import CopyOfBinary, assert_same
from summarkov.engines import MemorySource, StatesRequest, Target
from summarkov.errors import DataError, SettingError, UnknownLabelError
from summarkov.events import draws
from summarkov.spark.session import job

#: What is said of many ties is the topic of test_ties_warning.
pytestmark = [pytest.mark.cut_off, pytest.mark.filterwarnings("ignore::summarkov.errors.TiesWarning")]


def rows(n=60, n_cases=7, seed=0):
    """Rows in any order, with ties."""
    rng = np.random.default_rng(seed)
    columns = {"case": rng.integers(n_cases, size=n), "event": rng.choice(["A", "B", "C"], size=n)}
    return pa.table({**columns, "time": rng.integers(20, size=n)})


def cached(spark):
    return spark.sparkContext._jsc.getPersistentRDDs().size()


def same_counts(source, events):
    """The counts of an order-dependent summary, and what else a source knows."""
    summary = sm.OSuMM(lookback=None).make_summary()
    request = StatesRequest(summary, (0, 1), Target((0,), len(events.labels)))
    assert_same(source.count([request])[0], MemorySource(events).count([request])[0])
    assert source.labels == events.labels
    assert source.label_counts.tolist() == events.label_counts.tolist()
    assert (source.n_sequences, source.tied_order) == (len(events), events.tied_order)
    return True


@pytest.mark.parametrize("kind", ["text", "date", "float", "decimal", "moment", "none"])
def test_any_column_gives_what_is_read_in_memory(spark, kind):
    table = rows()
    step = table.column("time").to_pylist()
    columns = {
        "text": pa.array([str(i) for i in step]),
        "date": pa.array([f"2024-01-{i + 1:02}" for i in step]),
        "float": pa.array([i / 4 for i in step]),
        "decimal": pa.array(step).cast(pa.decimal128(20, 0)),
        "moment": pa.array(step).cast(pa.timestamp("us", "UTC")),
        "none": pa.array(step),
    }
    case = {"text": pa.string(), "float": pa.float64(), "date": pa.date32()}.get(kind, pa.int64())
    table = pa.table(
        {
            "case": table.column("case").cast(pa.int32()).cast(case),
            "event": table.column("event"),
            "time": columns[kind],
        }
    )
    order = False if kind == "none" else None
    events = sm.read_events(table, order=order)
    with sm.scan_spark(spark.createDataFrame(table), order=order, partitions=2) as source:
        assert same_counts(source, events)
    assert (events.tied_order > 0) == (kind != "none")


def test_columns_with_odd_names_and_labels_that_are_numbers(spark):
    table = rows().rename_columns(["a.b", "c`d", "e f"])
    table = table.set_column(1, "c`d", pa.array([ord(x) / 2 for x in table.column(1).to_pylist()]))
    names = {"case": "a.b", "event": "c`d", "order": "e f"}
    with sm.scan_spark(spark.createDataFrame(table), **names) as source:
        assert same_counts(source, sm.read_events(table, **names))
        assert source.labels == ("32.5", "33.0", "33.5")


def test_many_partitions_are_added_up_on_the_workers(spark):
    table = rows(200, n_cases=30)
    before = cached(spark)
    with sm.scan_spark(spark.createDataFrame(table), partitions=20) as source:
        assert same_counts(source, sm.read_events(table))
        assert cached(spark) == before + 1
    assert cached(spark) == before
    with pytest.raises(DataError, match="this source is closed"):
        sm.BSuMM("A").fit(source)


@pytest.mark.parametrize("column", ["case", "event", "time"])
def test_missing_values(spark, column):
    table = rows()
    at = table.column_names.index(column)
    values = table.column(column).to_pylist()
    values[40] = values[55] = None
    table = table.set_column(at, column, pa.array(values))
    with pytest.raises(
        DataError, match=f"column '{column}' of the dataframe has no value.* in some rows; fill"
    ):
        sm.scan_spark(spark.createDataFrame(table))


def test_what_cannot_be_learned_from(spark):
    table = rows()
    frame = spark.createDataFrame(table)
    before = cached(spark)
    mixed = table.set_column(2, "time", pa.array(["1", "2020-01-01"] * 30))
    lists = spark.createDataFrame(pa.table({"events": [["A", "B"], ["A"]]}))
    for error, words, open_ in (
        (
            DataError,
            "cannot be put in order: a row holds '.*' and a row '",
            lambda: spark.createDataFrame(mixed),
        ),
        (SettingError, "holds lists; make a row of every event", lambda: lists),
        (SettingError, "takes a Spark DataFrame, not Table; give other tables to read_events", lambda: table),
    ):
        with pytest.raises(error, match=words):
            sm.scan_spark(open_())
    with pytest.raises(UnknownLabelError, match="unknown label 'C'"):
        sm.scan_spark(frame, labels=["A", "B"])
    with pytest.raises(DataError, match=r"no column 'tme'; .*did you mean 'time'"):
        sm.scan_spark(frame, order="tme")
    with pytest.raises(SettingError, match="partitions must be a whole number"):
        sm.scan_spark(frame, partitions=0)
    with (
        sm.scan_spark(frame.limit(0), labels=["A"]) as nothing,
        pytest.raises(DataError, match="no events to learn from"),
    ):
        sm.BSuMM("A").fit(nothing)
    assert cached(spark) == before


def test_errors_of_the_workers_are_ours(spark):
    """One that our code raises there comes back as it is; a module that is not there is named."""

    class Lists:
        lookback = 1

        def state(self, history, influencers):
            return list(history)

        def n_states(self, n_influencers):
            return 4

    with sm.scan_spark(spark.createDataFrame(rows())) as source:
        with pytest.raises(SettingError, match="states must be hashable"):
            sm.SuMM("A", summary=Lists()).fit(source)
        with pytest.raises(SettingError, match="no module 'strategies', which your own code needs; send it"):
            sm.SuMM("A", summary=CopyOfBinary(1, 0)).fit(source)


def test_another_python_on_the_workers_is_named(spark, monkeypatch):
    other = Path(sys.base_prefix, "bin", "python3")
    if sys.prefix == sys.base_prefix or not other.exists():
        pytest.skip("there is no Python here without this package")
    monkeypatch.delenv("PYTHONPATH", raising=False)
    monkeypatch.setenv("PYSPARK_PYTHON", str(other))
    monkeypatch.setattr(spark.sparkContext, "pythonExec", str(other))
    with pytest.raises(SettingError, match=r"workers' Python has no module .* PYSPARK_PYTHON"):
        sm.scan_spark(spark.createDataFrame(rows()))


def test_other_versions_of_python_are_told(spark):
    from pyspark.errors import PySparkException

    said = "[PYTHON_VERSION_MISMATCH] Python in worker has different version: 3.9 than that in driver: 3.11"
    with (
        pytest.raises(SettingError, match=r"another Python \(3.9\) than the driver .* set PYSPARK_PYTHON"),
        job(spark, "a test"),
    ):
        raise PySparkException(said)
    with pytest.raises(DataError, match="Spark could not do its part: disk full"), job(spark, "a test"):
        raise PySparkException("disk full")


def test_workers_of_this_machine_are_this_python(spark, monkeypatch):
    monkeypatch.delenv("PYSPARK_PYTHON", raising=False)
    monkeypatch.setattr(spark.sparkContext, "pythonExec", "no such python")
    with sm.scan_spark(spark.createDataFrame(rows())) as source:
        assert same_counts(source, sm.read_events(rows()))
    assert spark.sparkContext.pythonExec == "no such python"  # only ours were told
    assert "PYSPARK_PYTHON" not in os.environ


def test_workers_without_the_kernels_of_cpp_count_the_same(spark, monkeypatch):
    class Backend:
        """Tells which kernels a part is counted with."""

        def run(self, part):
            return (sm.backend(),)

        def total(self, answers):
            return tuple(sorted({name for answer in answers for name in answer}))

    monkeypatch.setitem(spark.sparkContext.environment, "SUMMARKOV_KERNELS", "numpy")
    with pytest.warns(UserWarning, match="2 of 2 tasks count in NumPy, .* install a wheel") as told:
        source = sm.scan_spark(spark.createDataFrame(rows()), partitions=2)
    assert [one.filename for one in told if "NumPy" in str(one.message)] == [__file__]
    with source:
        assert source.run(Backend()) == ("numpy",)
        assert same_counts(source, sm.read_events(rows()))


def test_sequences_are_shuffled_as_in_memory(spark):
    table = rows(900, n_cases=40, seed=3)
    names = pa.array([f"visit {case}" for case in table.column("case").to_pylist()])
    table = table.set_column(0, "case", names)
    events = sm.read_events(table)
    graph = sm.InfluenceGraph(sm.BSuMM(lookback=3, gamma=0.1, false_edges=None)).fit(events)
    expected = graph.order_test(events, n=19)
    assert len(expected.edges) > 1
    with sm.scan_spark(spark.createDataFrame(table), partitions=3) as source:
        assert graph.order_test(source, n=19) == expected


def test_what_is_drawn_does_not_depend_on_the_layout(spark, monkeypatch):
    """Sequences are drawn by their names: the same in memory, and in partitions and files of any number."""
    table = rows(1500, n_cases=50, seed=6)
    table = table.set_column(
        0, "case", pa.array([f"visit {case}" for case in table.column("case").to_pylist()])
    )
    table = table.set_column(2, "time", pa.array(range(1500)))
    mixed = table.take(pa.array(np.random.default_rng(1).permutation(1500)))
    for few in (draws.FEW, 4):
        monkeypatch.setattr(draws, "FEW", few)
        monkeypatch.setattr(draws, "_LAST", 20)
        events = sm.read_events(table)
        graph = sm.InfluenceGraph(sm.BSuMM(lookback=3, gamma=0.1, false_edges=None)).fit(events)
        sure = graph.confidence(events, n=10)
        for some, partitions in ((table, 1), (mixed, 3)):
            with sm.scan_spark(spark.createDataFrame(some), partitions=partitions) as source:
                assert graph.confidence(source, n=10) == sure


def test_the_joint_model_is_that_of_memory(spark):
    table = rows(n=400, n_cases=20, seed=4)
    settings = {"lookback": 20, "gamma": 0.01, "rounds": 2}
    events = sm.read_events(table)
    with sm.scan_spark(spark.createDataFrame(table.to_pandas())) as source:
        found = sm.JointSuMM(**settings).fit(source)
        mine, others = found.evaluate(source), found.evaluate(events)
    assert (mine.n_sequences, mine.n_events, mine.top_1) == (
        others.n_sequences,
        others.n_events,
        others.top_1,
    )
    for name, figures in mine.targets.items():  # sums over shards, in another order
        assert vars(figures) == pytest.approx(vars(others.targets[name]), rel=1e-12)
    for name, table in mine.tables.items():
        assert np.array(table) == pytest.approx(np.array(others.tables[name]), rel=1e-12)
    # rows at the same time stand in the order of the dataframe in both
    assert found.to_document() == sm.JointSuMM(**settings).fit(events).to_document()


@pytest.mark.needs("sklearn")
def test_models_are_compared_in_memory(spark):
    words = "on events of this machine, and train is a SparkSource; read them with read_events"
    with (
        sm.scan_spark(spark.createDataFrame(rows()), partitions=1) as source,
        pytest.raises(SettingError, match=words),
    ):
        sm.compare(source, models=["chain-0"])
