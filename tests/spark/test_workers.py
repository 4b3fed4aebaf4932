"""Workers as people have them: other Pythons, none at all, errors, Ctrl-C, and executors that are lost."""

import os
import signal
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import summarkov as sm
from strategies import CopyOfBinary, assert_same
from summarkov import kernels
from summarkov.engines import MemorySource, StatesRequest, Target
from summarkov.engines.source import Gathered
from summarkov.errors import DataError, SettingError
from summarkov.spark.source import explained

#: Depends on the order of events.
REQUEST = StatesRequest(sm.OSuMM(lookback=None).make_summary(), (0, 1), Target((1,), 2))
pytestmark = pytest.mark.cut_off


def rows(n=60, n_cases=7):
    rng = np.random.default_rng(0)
    columns = {"case": rng.integers(n_cases, size=n), "event": rng.choice(["A", "B"], size=n)}
    return pa.table({**columns, "time": range(n)})


def same_counts(source, table):
    assert_same(source.count([REQUEST])[0], MemorySource(sm.read_events(table)).count([REQUEST])[0])
    return True


@pytest.fixture
def workers_run(spark, monkeypatch):
    """Say which Python the workers are to be, as PYSPARK_PYTHON does before a session is started."""

    def run(path):
        monkeypatch.setenv("PYSPARK_PYTHON", str(path))
        monkeypatch.setattr(spark.sparkContext, "pythonExec", str(path))

    return run


def test_pythons_of_workers(spark, workers_run, monkeypatch):
    frame = spark.createDataFrame(rows())
    workers_run("/no/such/python")
    words = r"the workers cannot start their Python, '/no/such/python'; set PYSPARK_PYTHON to one that is"
    with pytest.raises(SettingError, match=words):
        sm.scan_spark(frame)
    other = Path(sys.base_prefix, "bin", "python3")
    if sys.prefix != sys.base_prefix and other.exists():
        monkeypatch.delenv("PYTHONPATH", raising=False)
        workers_run(other)
        with pytest.raises(SettingError, match=r"workers' Python has no module .* PYSPARK_PYTHON"):
            sm.scan_spark(frame)


def test_workers_of_this_machine_are_this_python(spark, monkeypatch):
    monkeypatch.delenv("PYSPARK_PYTHON", raising=False)
    monkeypatch.setattr(spark.sparkContext, "pythonExec", "no such python")
    with sm.scan_spark(spark.createDataFrame(rows())) as source:
        assert same_counts(source, rows())
    assert spark.sparkContext.pythonExec == "no such python"  # only ours were told
    assert "PYSPARK_PYTHON" not in os.environ


def test_errors_of_spark_are_sentences(spark):
    from pyspark.errors import PySparkException

    said = "[PYTHON_VERSION_MISMATCH] Python in worker has different version: 3.9 than that in driver: 3.11"
    version = "RuntimeError: SummarkovVersion: 0.0.9 on workers, 0.1.0 on the driver"
    for error, words, text in (
        (SettingError, r"another Python \(3.9\) than the driver .* set PYSPARK_PYTHON", said),
        (SettingError, "the workers have summarkov 0.0.9 and the driver 0.1.0; install one", version),
        (DataError, "Spark could not do its part: disk full", "disk full"),
    ):
        with pytest.raises(error, match=words), explained():
            raise PySparkException(text)


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


def test_workers_without_the_kernels_of_cpp_count_the_same(spark, monkeypatch):
    monkeypatch.setitem(spark.sparkContext.environment, "SUMMARKOV_KERNELS", "numpy")
    with pytest.warns(UserWarning, match="2 of 2 tasks count in NumPy, .* install a wheel") as told:
        source = sm.scan_spark(spark.createDataFrame(rows()), partitions=2)
    assert [one.filename for one in told if "NumPy" in str(one.message)] == [__file__]
    with source:
        assert source.map(lambda _: Gathered([kernels.backend()])).parts == ["numpy"] * 2
        assert same_counts(source, rows())


def test_ctrl_c_is_ctrl_c_and_the_session_goes_on(spark, tmp_path):
    began = tmp_path / "began"

    def wait(_):
        """Say that it has begun, and take long."""
        began.touch()
        time.sleep(120)

    def press():
        end = time.monotonic() + 120
        while not began.exists() and time.monotonic() < end:
            time.sleep(0.05)
        os.kill(os.getpid(), signal.SIGINT)

    with sm.scan_spark(spark.createDataFrame(rows()), partitions=2) as source:
        threading.Thread(target=press, daemon=True).start()
        with pytest.raises(KeyboardInterrupt):
            source.map(wait)
        assert same_counts(source, rows())


def test_what_was_cached_is_made_again_where_it_is_lost(spark):
    frame = spark.createDataFrame(rows())
    before = spark.sparkContext._jsc.getPersistentRDDs().size()
    with sm.scan_spark(frame, partitions=3) as source:
        with sm.scan_spark(frame) as other:  # which has a cache of its own
            assert spark.sparkContext._jsc.getPersistentRDDs().size() == before + 2
            assert other.n_events == 60
        assert source._shards.rows.storageLevel.useMemory
        source._shards.rows.unpersist()
        assert same_counts(source, rows())


def test_an_executor_that_is_killed(spark):
    """On a cluster: its tasks and what it had cached go to another one, with the same counts."""
    if not spark.sparkContext.master.startswith("local-cluster"):
        pytest.skip("there is one process here; test_cluster.py runs this on two executors")

    def executor(_):
        """The process that runs the tasks: the parent of those that fork workers."""
        stat = Path(f"/proc/{os.getppid()}/stat").read_text()
        return Gathered([int(stat.rpartition(")")[2].split()[1])])

    table = rows(2000, n_cases=60)
    with sm.scan_spark(spark.createDataFrame(table), partitions=4) as source:
        assert same_counts(source, table)
        os.kill(min(source.map(executor).parts), signal.SIGKILL)
        assert same_counts(source, table)
