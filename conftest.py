"""Documents whose examples need what is not here are not run, and the head of the report says so."""

import importlib.util
import os
import shutil

_JAVA = shutil.which("java") is not None or "JAVA_HOME" in os.environ
_SPARK = _JAVA and importlib.util.find_spec("pyspark") is not None
collect_ignore = [] if _SPARK else ["docs/guide/spark.md"]


def pytest_report_header() -> str | None:
    """Name what is left out."""
    return None if _SPARK else "docs/guide/spark.md is left out: there is no Java or no pyspark"
