"""What all tests share."""

import functools
import os
from pathlib import Path

import pytest
import typer.testing
from hypothesis import settings

import needs
from summarkov.events import vocabulary

# The same examples in every run, 0.25 times as many as a test says. SUMMARKOV_EXPLORE=20 tries 20 times as
# many, new ones each time; 0.1 a tenth, the same ones each time.
TIMES = float(os.environ.get("SUMMARKOV_EXPLORE") or 0.25)
EXAMPLES = max(1, round(100 * TIMES))  # of tests that do not say how many
settings.register_profile("fixed", derandomize=True, deadline=None, max_examples=EXAMPLES)
settings.register_profile("explore", deadline=None, print_blob=True, max_examples=EXAMPLES)
settings.load_profile("explore" if TIMES > 1 else "fixed")

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
