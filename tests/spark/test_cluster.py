"""What went wrong on clusters, tested on one: two executors, each a process of its own, on this machine."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import needs

HERE = Path(__file__).parent
#: Rows in any order, lost executors and caches, draws and the layout of files.
TESTS = [
    "test_scan.py::test_rows_in_any_order[shuffled]",
    "test_scan.py::test_rows_in_any_order[many partitions]",
    "test_scan.py::test_rows_of_files_are_in_the_order_of_the_files",
    "test_scan.py::test_shuffles_and_draws_do_not_depend_on_the_layout",
    "test_workers.py::test_what_was_cached_is_made_again_where_it_is_lost",
    "test_workers.py::test_an_executor_that_is_killed",
]


def test_a_cluster_of_two_executors(tmp_path):
    if why := needs.why_not("Java", "pyspark"):
        pytest.skip(why)
    command = [sys.executable, "-m", "pytest", "-q", "-n0", "-p", "no:cacheprovider", *TESTS]
    master = {"SUMMARKOV_SPARK": "local-cluster[2,1,1024]", "PYSPARK_PYTHON": sys.executable}
    done = subprocess.run(
        [*command, f"--basetemp={tmp_path}/tests"],
        cwd=HERE,
        env={**os.environ, **master, "SPARK_WORKER_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
        timeout=900,
    )
    assert done.returncode == 0, done.stdout[-3000:]
    assert "6 passed" in done.stdout, done.stdout[-3000:]
