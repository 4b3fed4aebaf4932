"""A session as people have it: other Pythons, none at all, Ctrl-C, and what its jobs are called."""

import os
import re
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import summarkov as sm
from summarkov.errors import SettingError
from summarkov.spark.session import map_partitions


def rows(n=60):
    rng = np.random.default_rng(0)
    columns = {"case": rng.integers(7, size=n), "event": rng.choice(["A", "B"], size=n)}
    return pa.table({**columns, "time": range(n)})


def other_pythons():
    """Pythons of other minor versions, as far as they lie beside this one."""
    here = f"3.{sys.version_info.minor}."
    found = sorted(Path(sys.base_prefix).parent.glob("3.1[0-9].*/bin/python3"))
    return [path for path in found if not path.parents[1].name.startswith(here)]


@pytest.fixture
def workers_run(spark, monkeypatch):
    """Say which Python the workers are to be, as PYSPARK_PYTHON does before a session is started."""

    def run(path):
        monkeypatch.setenv("PYSPARK_PYTHON", str(path))
        monkeypatch.setattr(spark.sparkContext, "pythonExec", str(path))

    return run


def test_another_version_of_python_on_the_workers(spark, workers_run):
    if not other_pythons():
        pytest.skip("there is no Python of another version beside this one")
    other = other_pythons()[0]
    version, here = ".".join(other.parents[1].name.split(".")[:2]), f"3.{sys.version_info.minor}"
    workers_run(other)
    words = f"another Python ({version}) than the driver ({here}); set PYSPARK_PYTHON to a Python {here} with"
    with pytest.raises(SettingError, match=re.escape(words)):
        sm.scan_spark(spark.createDataFrame(rows()))


def test_no_python_on_the_workers(spark, workers_run):
    workers_run("/no/such/python")
    words = r"the workers cannot start their Python, '/no/such/python'; set PYSPARK_PYTHON to one that is"
    with pytest.raises(SettingError, match=words):
        sm.scan_spark(spark.createDataFrame(rows()))


def wait_for(file, goes_on=lambda: True):
    """Whether a file comes to be, in two minutes at most and while something goes on."""
    end = time.monotonic() + 120
    while not file.exists() and goes_on() and time.monotonic() < end:
        time.sleep(0.05)
    return file.exists()


class Waits:
    """Work that says that it has begun, and takes long."""

    def __init__(self, began):
        self.began = str(began)

    def run(self, part):
        Path(self.began).touch()
        time.sleep(120)
        return 0

    def total(self, answers):
        return sum(answers)


def test_ctrl_c_is_ctrl_c_and_the_session_goes_on(spark, tmp_path):
    began = tmp_path / "began"

    def press():
        if wait_for(began):
            os.kill(os.getpid(), signal.SIGINT)

    with sm.scan_spark(spark.createDataFrame(rows()), partitions=2) as source:
        threading.Thread(target=press, daemon=True).start()
        with pytest.raises(KeyboardInterrupt):
            source.run(Waits(began))
        chain = sm.MarkovChain("A", order=1).fit(source)
    assert chain.log_likelihood_ == sm.MarkovChain("A", order=1).fit(sm.read_events(rows())).log_likelihood_


ALONE = """
import sys, time
from pathlib import Path

import pyarrow as pa
from pyspark import sql

import summarkov as sm


class Waits:
    def __init__(self, began):
        self.began = began

    def run(self, part):
        Path(self.began).touch()
        time.sleep(120)

    def total(self, answers):
        return answers


builder = sql.SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
for name in ("bindAddress", "host"):
    builder = builder.config(f"spark.driver.{name}", "127.0.0.1")
frame = builder.getOrCreate().createDataFrame(pa.table({"case": [1, 1], "event": ["A", "B"], "time": [1, 2]}))
sm.scan_spark(frame, partitions=1).run(Waits(sys.argv[1]))
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_process_that_is_ended_in_a_pass_leaves_nothing(spark, number, tmp_path):
    """Neither files nor processes; the signal goes to all of them, as that of a terminal does."""
    scratch, began = tmp_path / "scratch", tmp_path / "began"
    scratch.mkdir()
    running = subprocess.Popen(
        [sys.executable, "-c", ALONE, str(began)],
        env={**os.environ, "TMPDIR": str(scratch), "SPARK_LOCAL_DIRS": str(scratch)},
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        assert wait_for(began, lambda: running.poll() is None)
        os.killpg(running.pid, number)
        _, said = running.communicate(timeout=60)  # until the last process that could say something has ended
    finally:
        with suppress(ProcessLookupError):
            os.killpg(running.pid, signal.SIGKILL)
    assert running.returncode == -number
    assert ("\nKeyboardInterrupt\n" in said) == (number == signal.SIGINT)
    assert list(scratch.iterdir()) == []


def test_jobs_are_called_by_what_they_do(spark):
    store = spark.sparkContext._jsc.sc().statusStore()

    def jobs():
        found = store.jobsList(None)
        told = {}
        for at in range(found.size()):
            name = found.apply(at).description()
            told[found.apply(at).jobId()] = name.get() if name.isDefined() else None
        return told

    before = jobs()
    with sm.scan_spark(spark.createDataFrame(rows()), partitions=2) as source:
        graph = sm.InfluenceGraph(sm.BSuMM()).fit(source)
        graph.confidence(source, n=3)
    new = {description for number, description in jobs().items() if number not in before}
    told = ("reading", "CountWork", "ReplicatesWork", "keys of sequences")
    assert {f"summarkov: {what}" for what in told} <= new
    assert all(name.startswith("summarkov: ") for name in new)
    assert spark.sparkContext.getLocalProperty("spark.job.description") is None


def test_workers_pass_over_modules_when_they_look_for_garbage(spark):
    def held(batches):
        import gc

        for _ in batches:
            pass
        yield pa.record_batch({"n": [gc.get_freeze_count()]})

    (row,) = map_partitions(spark.range(0, 1, 1, 1), held, "n long").collect()
    assert row["n"] > 10_000
