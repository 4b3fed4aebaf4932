"""What all tests share."""

import os
import shutil
from pathlib import Path

import pytest
from hypothesis import settings

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"

# The same examples in every run. SUMMARKOV_EXPLORE=20 tries 20 times as many, new ones each time; 0.1 tries
# a tenth of them, the same ones each time.
TIMES = float(os.environ.get("SUMMARKOV_EXPLORE") or 1)
EXAMPLES = max(1, round(100 * TIMES))  # of tests that do not say how many
settings.register_profile("fixed", derandomize=True, deadline=None, max_examples=EXAMPLES)
settings.register_profile("explore", deadline=None, print_blob=True, max_examples=EXAMPLES)
settings.load_profile("explore" if TIMES > 1 else "fixed")


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of the paper's data sets, or a skip that says why."""
    if not SHARED.is_dir():
        pytest.skip("the paper's data sets (../shared/data) are not here")
    return SHARED


@pytest.fixture(scope="session")
def spark():
    """One Spark session on this machine for all tests, or a skip that says why."""
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        pytest.skip("there is no Java here for Spark")
    sql = pytest.importorskip("pyspark.sql", reason="pyspark is not installed")
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.memory": "1g",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.session.timeZone": "UTC",
        "spark.log.level": "ERROR",
    }
    builder = sql.SparkSession.builder.master("local[2]").appName("summarkov tests")
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    yield session
    session.stop()
