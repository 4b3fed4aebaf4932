"""What all tests share."""

import functools
import os
import signal
from pathlib import Path

import pytest
import typer.testing
from hypothesis import settings

import needs
from strategies import TIMES, examples
from summarkov.events import vocabulary

# The same examples in every run; with SUMMARKOV_EXPLORE above 1 new ones each time.
settings.register_profile("fixed", examples(100), derandomize=True, deadline=None)
settings.register_profile("explore", examples(100), deadline=None, print_blob=True)
settings.load_profile("explore" if TIMES > 1 else "fixed")

# A process that is started ignores what its parent ignores, as SIGHUP under nohup. What is caught instead
# is in it as it should be, and still does not end the tests.
for name in ("SIGHUP", "SIGINT", "SIGTERM", "SIGQUIT"):
    if hasattr(signal, name) and signal.getsignal(getattr(signal, name)) is signal.SIG_IGN:
        signal.signal(getattr(signal, name), lambda number, frame: None)
os.umask(0o022)  # files have the modes that tests expect

# Typer puts the commands together from the types of all functions; once is enough for all calls of CliRunner.
typer.testing._get_command = functools.cache(typer.testing._get_command)


@pytest.fixture(autouse=True, scope="module")
def ends_as_asked(request):
    """Modules that are marked as ``cut_off`` expect the counts of the paper: those of cut-off sequences."""
    with pytest.MonkeyPatch.context() as patch:
        if any(mark.name == "cut_off" for mark in request.node.iter_markers()):
            patch.setattr(vocabulary, "ENDS", "cut off")
        yield


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of the paper's data sets, or a skip that says why."""
    if why := needs.why_not("the paper's data sets"):
        pytest.skip(why)
    return needs.DATA


@pytest.fixture(scope="session")
def spark():
    """One Spark session on this machine for all tests, or a skip that says why.

    SUMMARKOV_SPARK names another master, such as ``local-cluster[2,1,1024]``: two executors, each a process
    of its own.
    """
    if why := needs.why_not("Java", "pyspark"):
        pytest.skip(why)
    from pyspark import sql

    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.memory": "1g",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.session.timeZone": "UTC",
        "spark.log.level": "ERROR",
        # For a session this short: no second compilation of hot code, and no threads to collect garbage.
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    }
    master = os.environ.get("SUMMARKOV_SPARK") or "local[2]"
    builder = sql.SparkSession.builder.master(master).appName("summarkov tests")
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    yield session
    session.stop()
